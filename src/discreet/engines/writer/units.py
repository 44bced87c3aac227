"""What units are compared by: their kind, and whether a month is part of them.

With a budget per month, the unit of a row is a text of the unit and the month in which it arrived.
"""

from datetime import UTC, date, datetime

from discreet.catalog.schema import ByMonth, ColumnUnit, Kind, PrivateTable, Value
from discreet.errors import JoinError
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.tree import (
    ColumnOf,
    Expression,
    Facts,
    GroupByUnit,
    PublicRelation,
    Relation,
    Scan,
    Select,
    UnionAll,
)


def kind_in(table: PrivateTable, column: str) -> Kind | None:
    """Return the kind of a table's column, whatever the letter case of its name."""
    folded = column.casefold()
    return next((each.kind for each in table.columns if each.name.casefold() == folded), None)


def unit_kind(rows: Relation) -> Kind | None:
    """Return the kind of a relation's units; None if they are rows."""
    scan = _scan_of(rows)
    last = (scan.table, *scan.parents)[-1]
    if not isinstance(last.unit, ColumnUnit):
        return None
    return Kind.TEXT if last.is_by_month else kind_in(last, last.unit.column)


def _scan_of(rows: Relation) -> Scan:
    """Return the scan whose units a relation has."""
    match rows:
        case Scan():
            return rows
        case Select(source=source) | GroupByUnit(source=source):
            return _scan_of(source)
        case UnionAll(parts=parts):
            return _scan_of(parts[0])


def refuse_other_units(first: Relation, second: Relation) -> None:
    """Reject a comparison of units of different kinds: 7 is not '7', and it could fail."""
    if unit_kind(first) is not unit_kind(second):
        raise JoinError(
            "The privacy units of two tables have different types", "Store both with the same type"
        )
    if _scan_of(first).table.is_by_month is not _scan_of(second).table.is_by_month:
        raise JoinError(
            "One of two tables has a budget per month, and the other does not",
            "Query each table by itself",
        )


def private_names(select: Select) -> tuple[str, ...]:
    """Return what the private relations are called that a row of a SELECT is made of."""
    joined = (each for each in select.joins if not isinstance(each.source, PublicRelation))
    return (select.name, *(each.name for each in joined))


MONTH = '"__month"'
"""The month in which a row arrived, a number; no column of a table is called so."""


def month_of_row(by_month: ByMonth, kind: Kind, source: str) -> Expression:
    """Return the month of a row of this source, a number as `discreet.months` has it.

    It is NULL where the arrival is, or outside of the years 1 to 9999. One expression decides for
    which month a row counts, and whether that month is read.
    """
    arrival = ColumnOf(source=source, name=by_month.column, facts=Facts(kind=kind))
    return call("date_diff", literal("month"), literal(_beginning(kind)), arrival)


def _beginning(kind: Kind) -> Value:
    if kind is Kind.DATE:
        return date(1, 1, 1)
    zone = UTC if kind is Kind.TIMESTAMP_TZ else None
    return datetime(1, 1, 1, tzinfo=zone)
