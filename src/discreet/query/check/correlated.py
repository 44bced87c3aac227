"""Queries that read the row around them, in place of values: rewritten as joins on what ties them.

A query of one value becomes a column of groups by what ties it to the outer row, joined by LEFT
JOIN: at most one group belongs to each row. COUNT of nothing is 0, any other aggregate NULL.
EXISTS stays EXISTS, over a query in FROM that has all but the ties; IN, ANY and ALL become EXISTS.
Proof: docs/proofs/sql_forms.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.errors import JoinError, NotGroupedError, UnsupportedError
from discreet.query.check.aggregates import WRITTEN, is_aggregate, same_level
from discreet.query.check.inner_nodes import (
    TURNED,
    clauses_of,
    group_keys,
    has_groups,
    is_aggregated,
    is_none,
    keep_texts,
    listed_nodes,
    query_of,
    select_of,
    text_of,
    values_in,
)
from discreet.query.check.outer_columns import (
    KnownColumns,
    Visible,
    free_columns,
    visible_in,
)
from discreet.query.check.post_select import is_first_only, written_name
from discreet.query.check.relations import TIED
from discreet.query.check.tied_query import Around, TiedQuery, column_of
from discreet.query.check.tied_values import exposed, first_rows, lookup, of_groups, several_rows
from discreet.query.parse import DIALECT, span_of

CLAUSES = ("where", "group", "expressions", "having", "qualify", "order")
"""Where values of an outer row may be read."""

SIMPLE = {"expressions", "from_", "where"}
"""The clauses of EXISTS that need no other form."""

IsSingle = Callable[[TiedQuery], bool]
"""Returns whether the catalog promises at most one row of a query for each outer row."""


def tie_queries(
    node: exp.Select,
    known: KnownColumns,
    is_single: IsSingle,
    is_wanted: Callable[[exp.Expr], bool] = bool,
) -> list[exp.Join]:
    """Rewrite the queries of a SELECT that read its rows; return the joins that it needs then.

    Of those that are wanted: an EXISTS, IN, ANY, ALL, or a query of one value.
    """
    if not any(True for _ in _queries_in(node)):
        return []
    around = Around(node=node, visible=visible_in(node, known), known=known)
    return _Tying(around=around, is_single=is_single, is_wanted=is_wanted).joins_of()


def _queries_in(node: exp.Select) -> Iterator[tuple[str, exp.Expr]]:
    """Yield the queries in a SELECT that may read its rows, each with its clause."""
    for clause in CLAUSES:
        for part in listed_nodes(node.args.get(clause)):
            for each in values_in(part):
                yield clause, each


def is_correlated(query: exp.Expr, visible: Visible, known: KnownColumns) -> bool:
    """Return whether a query reads the row around it."""
    return any(visible.has(each) for each in free_columns(query, known))


@dataclass(kw_only=True)
class _Tying:
    around: Around
    is_single: IsSingle
    is_wanted: Callable[[exp.Expr], bool]
    joins: list[exp.Join] = field(default_factory=list)
    made: dict[str, exp.Expr] = field(default_factory=dict)
    """What stands for a query, by its text."""
    number: int = 0

    def joins_of(self) -> list[exp.Join]:
        node = self.around.node
        found = [
            (clause, each)
            for clause, each in list(_queries_in(node))
            if self.is_wanted(each) and self._is_tied(each)
        ]
        if not found:
            return []
        keep_texts(node, [each for _, each in found])
        keys = _Keys(node=node, visible=self.around.visible)
        for clause, each in found:
            value = self._value(each)
            if clause in ("expressions", "having", "qualify", "order"):
                value = self._grouped(each, value, keys)
            _replace(each, value)
        return self.joins

    def _is_tied(self, node: exp.Expr) -> bool:
        query = query_of(node)
        is_tied = is_correlated(query, self.around.visible, self.around.known)
        if isinstance(node, exp.Exists) and is_tied:
            inner = query.unnest() if isinstance(query, exp.Subquery) else query
            return bool(clauses_of(inner) - SIMPLE)
        return is_tied

    def _grouped(self, node: exp.Expr, value: exp.Expr, keys: "_Keys") -> exp.Expr:
        """Return a value beside groups: the same for all rows of a group, if keys fix it."""
        if isinstance(node, exp.Exists) or not keys.are_there or is_aggregated(node):
            return value
        if text_of(node) in keys.queries:
            return value
        free = free_columns(query_of(node), self.around.known)
        for each in free:
            if self.around.visible.has(each) and not keys.has(each):
                raise NotGroupedError(
                    f"{each.sql(dialect=DIALECT)} must appear in GROUP BY or inside an aggregate",
                    "Add it to GROUP BY, or put the subquery inside an aggregate",
                    span=span_of(each),
                )
        return exp.Max(this=value)

    def _value(self, node: exp.Expr) -> exp.Expr:
        text, span = text_of(node), span_of(node)
        if text not in self.made:
            self.made[text] = self._rewritten(node)
        value = self.made[text].copy()
        for each in value.find_all(exp.Column):
            if each.table.startswith(TIED) and span is not None:
                each.meta.update(start=span[0], end=span[1] - 1)
        return value

    def _rewritten(self, node: exp.Expr) -> exp.Expr:
        match node:
            case exp.Exists():
                return self._exists(select_of(node.this))
            case exp.In():
                return self._any(node.this, exp.EQ, select_of(node.args["query"]))
            case exp.Binary(this=left, expression=exp.Any() as right):
                return self._any(left, type(node), select_of(right.this))
            case exp.Binary(this=left, expression=exp.All() as right):
                return exp.paren(
                    exp.not_(self._any(left, TURNED[type(node)], select_of(right.this)))
                )
            case _:
                return self._scalar(select_of(node))

    # ----------------------------------------------------------------------- values

    def _scalar(self, inner: exp.Select) -> exp.Expr:
        """Return the only value of a query, as a column of what is joined."""
        if len(inner.expressions) != 1:
            raise UnsupportedError(
                "A subquery that is used as a value must have one column",
                "Select one column",
                span=span_of(inner),
            )
        if is_none(inner):
            return exp.null()
        written = inner.copy()
        query = TiedQuery(node=inner, around=self.around)
        value = inner.expressions[0].unalias()
        having = inner.args.get("having")
        aggregates = query.aggregates(value, None if having is None else having.this)
        self.number += 1
        name = f"{TIED}{self.number - 1}"
        if aggregates or inner.args.get("group"):
            return exp.paren(self._of_groups(query, value, aggregates, name))
        return self._of_row(query, value, name, written)

    def _of_groups(
        self, query: TiedQuery, value: exp.Expr, aggregates: list[exp.Expr], name: str
    ) -> exp.Expr:
        having = query.node.args.get("having")
        whole = value if having is None else _only_if(having.this, value)
        (found,) = of_groups(query, [exp.paren(whole, copy=False)], aggregates, name)
        self._join(query, name)
        return found

    def _of_row(
        self, query: TiedQuery, value: exp.Expr, name: str, written: exp.Select
    ) -> exp.Expr:
        """Return a value of the first row for each outer row."""
        inner = query.node
        if inner.args.get("having") or inner.args.get("distinct"):
            raise several_rows(written)
        if not (is_first_only(inner) or (not inner.args.get("limit") and self.is_single(query))):
            raise several_rows(written)
        order = inner.args.get("order")
        query.take_in(value, *(() if order is None else (order,)))
        value = inner.expressions[0].unalias()
        column = written_name(written.expressions[0])
        first_rows(query, [exp.Ordered(this=value.copy())], 1)
        inner.set("expressions", [*query.keys(), exp.alias_(value.copy(), column, quoted=True)])
        self._join(query, name)
        return column_of(name, column)

    def _join(self, query: TiedQuery, name: str) -> None:
        self.joins.append(lookup(query, name))

    # ----------------------------------------------------------------------- truth

    def _any(self, left: exp.Expr, test: type[exp.Binary], inner: exp.Select) -> exp.Expr:
        """Return whether the test is true for any value; NULL if that hangs on a NULL."""
        if len(inner.expressions) != 1 or has_groups(inner) or inner.args.get("limit"):
            raise UnsupportedError(
                "IN, ANY and ALL cannot have groups or LIMIT in a subquery of the outer row",
                "Write EXISTS (SELECT ...) with the comparison in its WHERE clause",
                span=span_of(inner),
            )
        value = inner.expressions[0].unalias()
        bare = inner.copy()
        bare.set("expressions", [exp.Literal.number(1)])
        bare.set("distinct", None)
        visible = visible_in(inner, self.around.known)
        if any(visible.has(each) for each in left.find_all(exp.Column)):
            raise UnsupportedError(
                f"{left.sql(dialect=DIALECT)} is a column of the subquery as well",
                "Give the tables different aliases, and write the alias before it",
                span=span_of(left),
            )
        is_true = self._found(bare, test(this=_operand(left), expression=_operand(value)))
        if test is exp.EQ and not self._has_ties(bare):
            return is_true  # an equality of both units, which are never NULL
        nulls = [
            exp.Is(this=exp.paren(each.copy()), expression=exp.Null()) for each in (value, left)
        ]
        is_unknown = self._found(bare, exp.paren(exp.or_(*nulls)))
        return exp.paren(
            exp.Case(
                ifs=[
                    exp.If(this=is_true, true=exp.true()),
                    exp.If(this=is_unknown, true=exp.null()),
                ],
                default=exp.false(),
            )
        )

    def _has_ties(self, inner: exp.Select) -> bool:
        try:
            return bool(TiedQuery(node=inner.copy(), around=self.around).ties)
        except JoinError:
            return False

    def _found(self, inner: exp.Select, condition: exp.Expr) -> exp.Expr:
        node = inner.copy().where(condition.copy(), copy=False, dialect=DIALECT)
        return self._exists(node)

    def _exists(self, inner: exp.Select) -> exp.Expr:
        """Return EXISTS over a query in FROM, with what ties it in its WHERE clause."""
        if is_none(inner):
            return exp.false()
        for clause in ("order", "limit", "distinct"):
            inner.set(clause, None)
        is_grouped, having = inner.args.get("group") is not None, inner.args.get("having")
        if not is_grouped and has_groups(inner):
            inner.set("expressions", [exp.true()])
            return exp.Coalesce(this=self._always(inner), expressions=[exp.false()])
        if not clauses_of(inner) - SIMPLE:
            return exp.Exists(this=inner)
        query = TiedQuery(node=inner, around=self.around)
        name = f"{TIED}{self.number}"
        self.number += 1
        columns = query.keys()
        conditions = query.conditions(name)
        if is_grouped:
            read = [*inner.args["group"].expressions, *([] if having is None else [having.this])]
            query.take_in(*read)
            columns, conditions = query.keys(), query.conditions(name)
            keys = [*query.key_copies(), *group_keys(inner, query.own)]
            inner.set("group", exp.Group(expressions=keys))
        else:
            columns += exposed(query, name)
            conditions += query.mixed
        inner.set("expressions", columns)
        alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
        return exp.Exists(
            this=exp.Select(
                expressions=[exp.Literal.number(1)],
                from_=exp.From(this=exp.Subquery(this=inner, alias=alias)),
                where=exp.Where(this=exp.and_(*conditions, copy=False)),
            )
        )

    def _always(self, inner: exp.Select) -> exp.Expr:
        """Return TRUE where the one row of an aggregate passes HAVING."""
        if inner.args.get("having") is None:
            return exp.true()
        return self._scalar(inner)


@dataclass(kw_only=True)
class _Keys:
    """What a SELECT groups its rows by, as it is written."""

    node: exp.Select
    visible: Visible
    are_there: bool = field(init=False)
    queries: set[str] = field(init=False)
    columns: list[exp.Column] = field(init=False)

    def __post_init__(self) -> None:
        node, group = self.node, self.node.args.get("group")
        values = [*node.expressions, *listed_nodes(node.args.get("having"))]
        has_aggregate = any(is_aggregate(part) for each in values for part in same_level(each))
        self.are_there = group is not None or has_aggregate
        nodes = [] if group is None else group_keys(node, self.visible)
        if group is not None and group.args.get("all"):
            nodes = [
                each.unalias()
                for each in node.expressions
                if not any(is_aggregate(part) for part in same_level(each))
            ]
        self.queries = {text_of(each) for key in nodes for each in values_in(key)}
        self.columns = [each for each in nodes if isinstance(each, exp.Column)]

    def has(self, column: exp.Column) -> bool:
        """Return whether a column is a key."""
        return any(
            each.name.casefold() == column.name.casefold()
            and (not each.table or not column.table or each.table == column.table)
            for each in self.columns
        )


def _only_if(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=value)])


def _operand(node: exp.Expr) -> exp.Expr:
    return node.copy() if isinstance(node, exp.Column) else exp.paren(node.copy(), copy=False)


def _replace(node: exp.Expr, value: exp.Expr) -> None:
    if WRITTEN in node.meta:
        value.meta[WRITTEN] = node.meta[WRITTEN]
    node.replace(value)
