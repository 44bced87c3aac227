"""What a catalog declares, as JSON: no address, no path and nothing of the data."""

from discreet.answer.columns import json_value
from discreet.catalog import Catalog
from discreet.catalog.schema import Auto, Bounds, Column, PrivateTable, Table
from discreet.catalog.shown import end_text, unit_text


def schema_of(catalog: Catalog) -> dict[str, object]:
    """Return tables, columns and the budget's terms."""
    return {"tables": [_table(each) for each in catalog.tables]}


def _table(table: Table) -> dict[str, object]:
    told: dict[str, object] = {
        "name": table.name,
        "protects": unit_text(table),
        "is_private": isinstance(table, PrivateTable),
        "columns": [_column(each) for each in table.columns],
    }
    if isinstance(table, PrivateTable):
        told["rows_per_unit"] = table.rows_per_unit
    return told


def _column(column: Column) -> dict[str, object]:
    told: dict[str, object] = {"name": column.name, "type": column.kind.value}
    if isinstance(column.bounds, Bounds):
        told["bounds"] = [
            end_text(column, each) for each in (column.bounds.low, column.bounds.high)
        ]
    if isinstance(column.bounds, Auto):
        told["bounds"] = "auto"
    if column.values is not None:
        told["values"] = [json_value(each) for each in column.values]
    return told
