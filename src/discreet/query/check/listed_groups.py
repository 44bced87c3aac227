"""Declared groups without any aggregate: a list that the catalog states, which costs nothing.

Dashboards ask for it to fill the choices of a filter.
"""

from collections.abc import Sequence
from datetime import date, datetime

from sqlglot import exp

from discreet.catalog.schema import Kind, Value
from discreet.query.check.filtered_rows import Filtered, needed_rows
from discreet.query.check.keys import groups_of
from discreet.query.check.relations import Names, PostQuery, PublicReader
from discreet.query.questions import DeclaredGroups
from discreet.query.tree import Call, Case, ColumnOf, Expression, Literal, Scan, parts_of

LISTED = "__listed"
"""What the list is called in the SQL that sorts and cuts it."""

TYPES = {
    Kind.BOOLEAN: exp.DType.BOOLEAN,
    Kind.INTEGER: exp.DType.BIGINT,
    Kind.TEXT: exp.DType.TEXT,
    Kind.DATE: exp.DType.DATE,
    Kind.TIMESTAMP: exp.DType.TIMESTAMP,
}
"""Kinds of values that a list can have."""


def listed_groups(
    keys: Sequence[Expression], filtered: Filtered, names: Names, public: PublicReader
) -> PostQuery | None:
    """Return the declared groups of a private table as rows that anyone may see.

    No row is read: the list follows from the catalog and the query. None if a join, or a condition
    on anything but the keys, would decide with private rows which groups there are.
    """
    is_plain = isinstance(filtered.joined.rows, Scan) and not filtered.joined.joins
    if not keys or not is_plain or filtered.unmatched or not _is_about(filtered.where, keys):
        return None
    inner, _ = needed_rows(filtered, list(keys), [])
    groups = groups_of(tuple(keys), names, public, inner)
    kinds = [each.facts.kind for each in keys]
    if not isinstance(groups, DeclaredGroups) or not groups.rows or not set(kinds) <= TYPES.keys():
        return None
    columns = tuple(f"k{i}" for i in range(len(keys)))
    return PostQuery(tree=_list(groups.rows, kinds, columns), columns=columns)


def _is_about(where: Expression | None, keys: Sequence[Expression]) -> bool:
    """Return whether a condition reads nothing but columns that are keys."""
    if where is None:
        return True
    return all(
        isinstance(each, Call | Case | Literal) or (isinstance(each, ColumnOf) and each in keys)
        for each in parts_of(where)
    )


def _list(
    rows: Sequence[Sequence[Value]], kinds: Sequence[Kind], columns: Sequence[str]
) -> exp.Select:
    tuples = [
        exp.Tuple(expressions=[_node(value, kind) for value, kind in zip(row, kinds, strict=True)])
        for row in rows
    ]
    alias = exp.TableAlias(
        this=exp.to_identifier(LISTED, quoted=True),
        columns=[exp.to_identifier(each, quoted=True) for each in columns],
    )
    values = exp.Values(expressions=tuples, alias=alias)
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=values))


def _node(value: Value, kind: Kind) -> exp.Expr:
    if value is None:
        inner: exp.Expr = exp.Null()
    elif isinstance(value, datetime):
        inner = exp.Literal.string(value.isoformat(sep=" "))
    elif isinstance(value, date):
        inner = exp.Literal.string(value.isoformat())
    else:
        inner = exp.Literal.string(str(value))
    return exp.Cast(this=inner, to=exp.DataType(this=TYPES[kind], nested=False))
