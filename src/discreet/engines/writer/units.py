"""The identity of the units of a relation, so only units of the same kind are compared."""

from discreet.catalog.schema import ColumnUnit, Kind, PrivateTable
from discreet.errors import JoinError
from discreet.query.tree import PerUnit, Rows, Scan, Select, Union


def kind_in(table: PrivateTable, column: str) -> Kind | None:
    """Return the kind of a table's column, whatever the letter case of its name."""
    folded = column.casefold()
    return next((each.kind for each in table.columns if each.name.casefold() == folded), None)


def unit_kind(rows: Rows) -> Kind | None:
    """Return the kind of a relation's units; None if they are rows."""
    match rows:
        case Scan(table=table, parents=parents):
            last = (table, *parents)[-1]
            return kind_in(last, last.unit.column) if isinstance(last.unit, ColumnUnit) else None
        case Select(source=source) | PerUnit(source=source):
            return unit_kind(source)
        case Union(parts=parts):
            return unit_kind(parts[0])


def refuse_other_units(first: Rows, second: Rows) -> None:
    """Reject a comparison of units of different kinds: 7 is not '7', and it could fail."""
    if unit_kind(first) is not unit_kind(second):
        raise JoinError(
            "The privacy units of two tables have different types", "Store both with the same type"
        )
