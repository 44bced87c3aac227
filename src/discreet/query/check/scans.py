"""A private table's rows, with their units and the limit on the rows of each."""

from discreet.catalog.catalog import Catalog, column_of
from discreet.catalog.schema import ColumnUnit, PathUnit, PrivateTable, RowUnit, Unit
from discreet.query.check.relations import PrivateRows, output_from_column
from discreet.query.questions import LeftOut, NoPathToUnit, NullUnit, RowIsUnit, RowsPerUnit
from discreet.query.tree import Scan


def without_unit(table: PrivateTable, unit: Unit) -> tuple[LeftOut, ...]:
    """Return which rows of a table belong to no unit."""
    if isinstance(table.unit, PathUnit):
        path = table.unit
        return (NoPathToUnit(table=table.name, column=path.column, parent=path.table),)
    column = column_of(table, unit.column) if isinstance(unit, ColumnUnit) else None
    if column is None or column.nulls is False:
        return ()
    return (NullUnit(table=table.name, column=column.name),)


def scan(table: PrivateTable, catalog: Catalog) -> PrivateRows:
    """Return a private table's rows with their units."""
    parents = catalog.parents(table)
    owner = parents[-1] if parents else table
    unit = owner.unit
    unit_column = column_of(owner, unit.column) if isinstance(unit, ColumnUnit) else None
    own = unit.column.casefold() if isinstance(unit, ColumnUnit) and not parents else None
    is_row = isinstance(unit, RowUnit) and not parents
    return PrivateRows(
        rows=Scan(table=table, parents=parents),
        columns=tuple(
            output_from_column(
                each,
                is_unit=each.name.casefold() == own,
                table=table.name,
                leads_to=path_keys(table, each.name, catalog),
            )
            for each in table.columns
        ),
        unit_kind=None if unit_column is None else unit_column.kind,
        contribution_limit=1 if is_row else table.rows_per_unit,
        reason=RowIsUnit(table=table.name)
        if is_row
        else RowsPerUnit(
            table=table.name, rows=table.rows_per_unit, is_default=table.is_default_limit
        ),
        one_row_per_unit=is_row,
        left_out=without_unit(table, unit),
    )


def path_keys(table: PrivateTable, column: str, catalog: Catalog) -> frozenset[tuple[str, str]]:
    """Return the keys of declared paths that a column holds, by table and column.

    Rows with equal values lead to the same row there, and so to the same unit.
    """
    here = (table.name.casefold(), column.casefold())
    paths = [
        ((each.name.casefold(), each.unit.column.casefold()), each.unit)
        for each in catalog.tables
        if isinstance(each, PrivateTable) and isinstance(each.unit, PathUnit)
    ]
    keys = [(start, (unit.table.casefold(), unit.key.casefold())) for start, unit in paths]
    return frozenset(key for start, key in keys if here in (start, key))
