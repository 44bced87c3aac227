"""Queries inside expressions, as they are written: where they stand, and what clauses they have."""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from discreet.errors import UnsupportedError
from discreet.query.check.aggregates import WRITTEN, is_aggregate, same_level
from discreet.query.check.outer_columns import Visible, shallow
from discreet.query.check.post_select import written_name
from discreet.query.parse import DIALECT, span_of

TURNED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
}
"""Each comparison, and the one that is true where it is false."""


def values_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield EXISTS, IN, ANY, ALL and queries of one value in an expression, outermost ones."""
    if isinstance(node, exp.Exists | exp.Subquery) or (
        isinstance(node, exp.In) and node.args.get("query")
    ):
        yield node
        return
    if isinstance(node, exp.Binary) and _quantified(node) is not None:
        yield node
        return
    for each in node.iter_expressions():
        yield from values_in(each)


def query_of(node: exp.Expr) -> exp.Expr:
    """Return the query of EXISTS, IN, ANY, ALL, or the query itself."""
    found: exp.Expr | None = _quantified(node)
    if isinstance(node, exp.Exists):
        found = node.this
    elif isinstance(node, exp.In):
        found = node.args["query"]
    return node if found is None else found


def _quantified(node: exp.Expr) -> exp.Expr | None:
    right = node.args.get("expression")
    if type(node) in TURNED and isinstance(right, exp.Any | exp.All):
        return right.this if isinstance(right.this, exp.Query) else None
    return None


def select_of(node: exp.Expr) -> exp.Select:
    """Return a copy of the SELECT in brackets, or reject any other query."""
    inner = node.unnest() if isinstance(node, exp.Subquery) else node
    if not isinstance(inner, exp.Select):
        raise UnsupportedError(
            "A subquery that reads the outer row must be one SELECT",
            "Write it without UNION, INTERSECT and EXCEPT",
            span=span_of(node),
        )
    return inner.copy()


def has_groups(select: exp.Select) -> bool:
    """Return whether a SELECT aggregates."""
    values = [*select.expressions, *listed_nodes(select.args.get("having"))]
    return (
        select.args.get("group") is not None
        or select.args.get("having") is not None
        or any(is_aggregate(part) for each in values for part in same_level(each))
    )


def group_keys(select: exp.Select, visible: Visible) -> list[exp.Expr]:
    """Return what GROUP BY names; numbers and aliases stand for columns of SELECT."""
    aliases = {each.alias.casefold(): each.unalias() for each in select.expressions if each.alias}
    found = []
    for each in _keys_in(select.args["group"]):
        if isinstance(each, exp.Literal) and each.is_int:
            place = int(each.name) - 1
            if place < len(select.expressions):
                found.append(select.expressions[place].unalias())
                continue
        is_alias = isinstance(each, exp.Column) and not each.table and not visible.has(each)
        found.append(aliases.get(each.name.casefold(), each) if is_alias else each)
    return found


def _keys_in(group: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the keys of GROUP BY, those of ROLLUP, CUBE and GROUPING SETS among them."""
    for value in group.args.values():
        for each in listed_nodes(value):
            if isinstance(each, exp.Rollup | exp.Cube | exp.GroupingSets | exp.Tuple | exp.Paren):
                yield from _keys_in(each)
            else:
                yield each


def clauses_of(select: exp.Expr) -> set[str]:
    """Return the clauses that a query has."""
    return {name for name, value in select.args.items() if value}


def is_none(select: exp.Select) -> bool:
    """Return whether LIMIT 0 leaves no rows."""
    limit = select.args.get("limit")
    return isinstance(limit, exp.Limit) and limit.expression.sql() == "0"


def is_aggregated(node: exp.Expr) -> bool:
    """Return whether a node stands inside an aggregate of its SELECT."""
    parent = node.parent
    while parent is not None and not isinstance(parent, exp.Query):
        if is_aggregate(parent):
            return True
        parent = parent.parent
    return False


def keep_texts(node: exp.Select, found: Sequence[exp.Expr]) -> None:
    """Let columns and aggregates be called as they were written."""
    changed = {id(parent) for each in found for parent in _parents(each)}
    columns = []
    for each in node.expressions:
        if id(each) not in changed:
            columns.append(each)
            continue
        for part in shallow(each):
            if id(part) in changed and is_aggregate(part):
                part.meta[WRITTEN] = part.sql(dialect=DIALECT)
                if isinstance(part.this, exp.Expr):
                    part.this.meta[WRITTEN] = part.this.sql(dialect=DIALECT)
        name = exp.to_identifier(written_name(each), quoted=True)
        inner = each.unalias()
        if isinstance(inner, exp.Subquery):
            inner.set("alias", None)
        columns.append(exp.Alias(this=inner, alias=name))
    node.set("expressions", columns)


def _parents(node: exp.Expr) -> Iterator[exp.Expr]:
    each: exp.Expr | None = node
    while each is not None and not isinstance(each, exp.Select):
        yield each
        each = each.parent


def listed_nodes(value: object) -> list[exp.Expr]:
    """Return the nodes of a clause, be it one or a list."""
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, exp.Expr)]


def text_of(node: exp.Expr) -> str:
    """Return a node as it is compared with others."""
    return node.sql(dialect=DIALECT)
