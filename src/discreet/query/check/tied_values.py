"""What a tied query becomes: groups by its ties, or the first rows of each, and a join."""

from collections.abc import Sequence

from sqlglot import exp

from discreet.errors import NotGroupedError, UnsupportedError
from discreet.query.check.inner_nodes import group_keys, text_of
from discreet.query.check.tied_query import KEY, TiedQuery, column_of, is_zero_for_none
from discreet.query.parse import DIALECT, span_of


def of_groups(
    query: TiedQuery, values: Sequence[exp.Expr], aggregates: Sequence[exp.Expr], name: str
) -> list[exp.Expr]:
    """Make groups of a query by its ties; return its values as expressions of these groups."""
    inner = query.node
    is_grouped = inner.args.get("group") is not None
    _check_group(query)
    query.take_in(*aggregates)
    columns = query.keys()
    made: dict[int, exp.Expr] = {}
    for each in aggregates:
        column = text_of(each)
        if column not in [known.alias for known in columns]:
            columns.append(exp.alias_(each.copy(), column, quoted=True))
        made[id(each)] = column_of(name, column)
        if is_zero_for_none(each) and not is_grouped:
            zero = exp.Literal.number(0)
            made[id(each)] = exp.Coalesce(this=made[id(each)], expressions=[zero])
    found = [with_columns(each, made) for each in values]
    for each in found:
        _check_values(query, each, name)
    inner.set("expressions", columns)
    inner.set("group", exp.Group(expressions=query.key_copies()))
    for clause in ("having", "order", "limit", "distinct"):
        inner.set(clause, None)
    return found


def lookup(query: TiedQuery, name: str) -> exp.Join:
    """Return the join of a query with the outer rows, by what ties both."""
    alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    return exp.Join(
        this=exp.Subquery(this=query.node, alias=alias),
        side="LEFT",
        on=exp.and_(*query.conditions(name), copy=False),
    )


def first_rows(query: TiedQuery, order: Sequence[exp.Expr], most: int) -> None:
    """Keep the first rows that belong to an outer row, in the query's order or else in this."""
    inner = query.node
    given = inner.args.get("order")
    number = exp.Window(
        this=exp.RowNumber(),
        partition_by=query.key_copies(),
        order=exp.Order(expressions=list(order)) if given is None else given.copy(),
        over="OVER",
    )
    test = exp.LTE(this=number, expression=exp.Literal.number(most))
    inner.set("qualify", exp.Qualify(this=test))
    inner.set("order", None)
    inner.set("limit", None)


def exposed(query: TiedQuery, name: str) -> list[exp.Expr]:
    """Return the columns that conditions on both read, and let these read them there."""
    made: dict[str, exp.Expr] = {}
    for each in query.mixed:
        for column in list(query.inner_columns(each)):
            text = text_of(column)
            label = f"{KEY}{len(query.ties) + len(made)}"
            if text not in made:
                made[text] = exp.alias_(column.copy(), label, quoted=True)
            column.replace(column_of(name, made[text].alias))
    return list(made.values())


def with_columns(node: exp.Expr, made: dict[int, exp.Expr]) -> exp.Expr:
    """Return an expression with columns in place of its aggregates."""
    if id(node) in made:
        return made[id(node)].copy()
    for name, value in list(node.args.items()):
        if isinstance(value, exp.Expr):
            node.set(name, with_columns(value, made))
        elif isinstance(value, list):
            node.set(
                name,
                [with_columns(x, made) if isinstance(x, exp.Expr) else x for x in value],
            )
    return node


def _check_group(query: TiedQuery) -> None:
    """Reject groups that are more than what ties the query: then it may have several rows."""
    if query.node.args.get("group") is None:
        return
    tied = {text_of(each.inner) for each in query.ties}
    for each in group_keys(query.node, query.own):
        if text_of(each) not in tied:
            raise several_rows(query.node)
    query.node.set("group", None)


def _check_values(query: TiedQuery, value: exp.Expr, name: str) -> None:
    """Put ties in place of columns; any other column of the query is not grouped."""
    tied = {text_of(each.inner): i for i, each in enumerate(query.ties)}
    for each in list(query.inner_columns(value)):
        if each.table == name:
            continue
        if text_of(each) not in tied:
            text = each.sql(dialect=DIALECT)
            raise NotGroupedError(
                f"{text} must appear inside an aggregate",
                f"Write MAX({text}), or remove it from the subquery",
                span=span_of(each),
            )
        each.replace(column_of(name, f"{KEY}{tied[text_of(each)]}"))


def several_rows(written: exp.Select) -> UnsupportedError:
    """Return the error for a query that may have several rows where one value is needed."""
    return UnsupportedError(
        "A subquery that is used as a value may return several rows for one outer row",
        "Use an aggregate such as MAX, or add ORDER BY ... LIMIT 1",
        span=span_of(written),
    )
