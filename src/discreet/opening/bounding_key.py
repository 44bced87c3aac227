"""The text that says which rows of which units a catalog uses: prepared tables lie under it."""

import json
from collections.abc import Iterator, Mapping

from discreet.catalog import BudgetPolicy, ColumnUnit, Kind, RowUnit
from discreet.catalog.columns import UnitDeclaration, UnitPath
from discreet.catalog.declaration import Declaration, TableDeclaration, path_unit
from discreet.catalog.resolve import DEFAULT_ROWS_PER_UNIT
from discreet.catalog.schema import GroupsPerUnit
from discreet.engines.duckdb.loading import Identifying


def kinds_of(declared: Declaration) -> dict[str, dict[str, Kind | Identifying]]:
    """Return the declared types of columns by table, and which columns identify units or rows."""
    kinds: dict[str, dict[str, Kind | Identifying]] = {
        table.name: {
            each.name.casefold(): each.kind for each in table.columns if each.kind is not None
        }
        for table in declared.tables
    }
    for table, column in _identifying(declared):
        kind = kinds[table].get(column.casefold())
        if not isinstance(kind, Identifying):
            kinds[table][column.casefold()] = Identifying(kind)
    return kinds


def _identifying(declared: Declaration) -> Iterator[tuple[str, str]]:
    """Yield tables and columns that identify units or rows."""
    for table in declared.tables:
        if table.key is not None:
            yield table.name, table.key
        if isinstance(table.unit, ColumnUnit):
            yield table.name, table.unit.column
        if isinstance(table.unit, UnitPath):
            path = path_unit(table, table.unit, declared.tables)
            yield table.name, path.column
            yield path.table, path.key


DECIDES_NOTHING = {"location", "source", "columns"}
"""Fields of a declared table that do not decide which rows are used, and for which unit.

Its location in the catalog; its source, which its contents represent; and its columns, whose types
are part of the key separately.
"""


def bounding_key(declared: Declaration) -> str:
    """Return text that is equal for catalogs that use the same rows of the same data.

    It has everything except the fields that are known not to matter: units and paths to them, keys
    that paths lead to, contribution limits, and types of columns, by which units are compared.
    Prepared tables are stored under this text, so its words stay, whatever the code calls things.
    """
    tables = [
        {
            "name": repr(table.name),
            "unit": _unit_text(table.unit),
            "rows_per_unit": repr(table.rows_per_unit or DEFAULT_ROWS_PER_UNIT),
            "key": repr(table.key),
            **_ranked_columns(table.groups_per_unit),
            **_months(declared.budget, table),
        }
        for table in declared.tables
    ]
    kinds = kinds_of(declared)
    columns = (f"({name!r}, [{_columns_text(kinds[name])}])" for name in sorted(kinds))
    return json.dumps([tables, f"[{', '.join(columns)}]"])


def _ranked_columns(limits: GroupsPerUnit | None) -> dict[str, str]:
    """Return the columns whose groups are ranked in prepared tables, if there are any."""
    if limits is None or isinstance(limits, int):
        return {}
    return {"groups_per_unit": repr(sorted(name for name, _ in limits))}


def _months(budget: BudgetPolicy, table: TableDeclaration) -> dict[str, str]:
    """Return how rows are used by month, if they are: prepared tables choose them for each."""
    if budget.per is None or table.arrival is None:
        return {}
    return {"arrival": repr(table.arrival.casefold()), "months": repr(budget.months_per_unit)}


def _unit_text(unit: UnitDeclaration | None) -> str:
    match unit:
        case None:
            return "None"
        case RowUnit():
            return "RowUnit()"
        case ColumnUnit():
            return f"ColumnUnit(column={unit.column!r})"
        case UnitPath():
            ends = f"table={unit.table!r}, column={unit.column!r}, via={unit.via!r}"
            return f"UnitPath({ends})"


def _columns_text(kinds: Mapping[str, Kind | Identifying]) -> str:
    return ", ".join(sorted(f"({name!r}, {_kind_text(kind)})" for name, kind in kinds.items()))


def _kind_text(kind: Kind | Identifying | None) -> str:
    match kind:
        case None:
            return "None"
        case Identifying():
            return f"Identifying(kind={_kind_text(kind.kind)})"
        case Kind():
            return KIND_TEXTS[kind]


KIND_TEXTS: Mapping[Kind, str] = {
    Kind.BOOLEAN: "<Kind.BOOLEAN: 'boolean'>",
    Kind.INTEGER: "<Kind.INTEGER: 'integer'>",
    Kind.REAL: "<Kind.REAL: 'real'>",
    Kind.TEXT: "<Kind.TEXT: 'text'>",
    Kind.DATE: "<Kind.DATE: 'date'>",
    Kind.TIMESTAMP: "<Kind.TIMESTAMP: 'timestamp'>",
    Kind.TIMESTAMP_TZ: "<Kind.TIMESTAMP_TZ: 'timestamp with time zone'>",
    Kind.INTERVAL: "<Kind.INTERVAL: 'interval'>",
    Kind.OTHER: "<Kind.OTHER: 'other'>",
}
"""How types of columns are written in stored texts."""
