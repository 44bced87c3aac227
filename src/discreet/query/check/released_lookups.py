"""Aggregates of private rows beside a public row that they read: released by groups, and looked up.

`(SELECT SUM(cost) FROM visits v WHERE v.clinic_id = c.clinic_id)` beside rows of a public table c
becomes a query of `SELECT clinic_id, SUM(cost) FROM visits GROUP BY clinic_id`, which is released
as if it had been written so. After the noise, the row of its group is found.
Nothing is decided here about privacy.
"""

from collections.abc import Sequence

from sqlglot import exp

from discreet.errors import RowLevelError, UnsupportedError
from discreet.query.check.correlated import is_correlated
from discreet.query.check.named_tables import QueryTables
from discreet.query.check.outer_columns import relations_of, visible_in
from discreet.query.check.tied_query import Around, TiedQuery
from discreet.query.check.tied_values import of_groups
from discreet.query.parse import span_of

LOOKUP = "__lookup"
"""What the released groups are called beside a public row."""

HANDLED = {"expressions", "from_", "joins", "where"}
"""The clauses that such an aggregate may have."""


def look_up_releases(node: exp.Select, queries: Sequence[exp.Expr], tables: QueryTables) -> None:
    """Rewrite the queries in a SELECT over public rows that aggregate private ones for each row."""
    found = [each for each in queries if _reads_private(each.unnest(), tables)]
    if not found:
        return
    around = Around(node=node, visible=visible_in(node, tables.columns), known=tables.columns)
    for each in found:
        inner = each.unnest()
        if isinstance(inner, exp.Select) and is_correlated(each, around.visible, around.known):
            inner.replace(_lookup(inner, around))


def _reads_private(query: exp.Expr, tables: QueryTables) -> bool:
    return isinstance(query, exp.Select) and any(
        isinstance(each, exp.Table) and tables.is_private(each.name) for each in relations_of(query)
    )


def _lookup(inner: exp.Select, around: Around) -> exp.Select:
    """Return a query of the group that a public row belongs to: one value, NULL without a group."""
    query = TiedQuery(node=inner.copy(), around=around)
    value = query.node.expressions[0].unalias()
    aggregates = query.aggregates(value)
    is_other = {name for name, each in inner.args.items() if each} - HANDLED
    if query.mixed or not aggregates or is_other or len(inner.expressions) != 1:
        raise UnsupportedError(
            "A subquery of private rows that reads a public row must be one aggregate of the rows "
            "that are equal to it in some columns",
            "Join both tables in FROM, and group by the columns of the public table",
            span=span_of(inner),
        )
    (found,) = of_groups(query, [exp.paren(value, copy=False)], aggregates, LOOKUP)
    for each in list(found.find_all(exp.Column)):
        each.replace(exp.AnyValue(this=each.copy()))
    alias = exp.TableAlias(this=exp.to_identifier(LOOKUP, quoted=True))
    made = exp.Select(
        expressions=[found],
        from_=exp.From(this=exp.Subquery(this=query.node, alias=alias)),
        where=exp.Where(this=exp.and_(*query.conditions(LOOKUP), copy=False)),
    )
    made.meta[LOOKUP] = span_of(inner)
    return made


def refuse_groups_of_one(node: exp.Select) -> None:
    """Reject a query of groups that turned out to be of one unit each: these are not released."""
    if LOOKUP in node.meta:
        raise RowLevelError(
            "This subquery would show a number of one privacy unit for each public row",
            "Compare other columns than the privacy unit, or join both tables in FROM",
            span=node.meta[LOOKUP],
        )
