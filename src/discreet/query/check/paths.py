"""Columns that lead from a private table to the row of another that has the unit."""

from discreet.catalog.schema import PathUnit, PrivateTable
from discreet.query.check.relations import OutputColumn, PrivateRows, TableRef
from discreet.query.tree import Relation


def is_path(child: tuple[TableRef, OutputColumn], parent: tuple[TableRef, OutputColumn]) -> bool:
    """Return whether the child's column is the declared path to the parent's row."""
    path = _path_of(*child)
    source, out = parent
    if path is None or out.origin is None or not isinstance(source.relation, PrivateRows):
        return False
    return out.origin == (path.table.casefold(), path.key.casefold())


def _path_of(child: TableRef, out: OutputColumn) -> PathUnit | None:
    if out.origin is None or not isinstance(child.relation, PrivateRows):
        return None
    table = _table_behind(child.relation.rows)
    if table is None or not isinstance(table.unit, PathUnit):
        return None
    is_path = out.origin == (table.name.casefold(), table.unit.column.casefold())
    return table.unit if is_path else None


def _table_behind(rows: Relation) -> PrivateTable | None:
    while hasattr(rows, "source"):
        rows = rows.source
    return getattr(rows, "table", None)
