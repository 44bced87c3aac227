"""The catalog: tables, privacy units, bounds and the budget, as the data owner declares them.

Everything in it is public.

>>> from discreet.catalog import catalog_from
>>> catalog = catalog_from(
...     {
...         "budget": {"epsilon": 3},
...         "tables": {
...             "visits": {
...                 "unit": "patient_id",
...                 "columns": {
...                     "patient_id": {"type": "integer"},
...                     "age": {"type": "integer", "bounds": [0, 120]},
...                 },
...             }
...         },
...     }
... )
>>> catalog.table("Visits").unit
ColumnUnit(column='patient_id')

| file | holds |
|---|---|
| `schema.py` | types, bounds, columns, units and tables; times as numbers |
| `catalog.py` | `Catalog` and its policies: budget, source, analysts |
| `entries.py` | single entries, checked, with the file and line of each |
| `columns.py` | a declared column and a declared unit |
| `analysts.py` | declared analysts, their caps and limits |
| `sources.py` | the declared database, its limits and its address |
| `declaration.py` | `Declaration`: a catalog before the tables' schemas are known |
| `arguments.py` | the arguments of `discreet.open` as a declaration |
| `resolve.py` | reads `discreet.toml`; declaration + schemas = catalog |
| `toml.py` | a catalog as text: written, or drafted |
"""

from typing import TYPE_CHECKING

from discreet.catalog.catalog import (
    Accounting,
    AnalystPolicy,
    BudgetPolicy,
    Catalog,
    RowChoice,
    SourcePolicy,
)
from discreet.catalog.resolve import catalog_from, load
from discreet.catalog.schema import (
    AUTO,
    Auto,
    Bounds,
    Column,
    ColumnUnit,
    Kind,
    PathUnit,
    PrivateTable,
    PublicTable,
    RowUnit,
    Table,
    Unit,
    Value,
)
from discreet.catalog.toml import toml_from
from discreet.deprecated import private_names

__all__ = [
    "AUTO",
    "Accounting",
    "AnalystPolicy",
    "Auto",
    "Bounds",
    "BudgetPolicy",
    "Catalog",
    "Column",
    "ColumnUnit",
    "Kind",
    "PathUnit",
    "PrivateTable",
    "PublicTable",
    "RowChoice",
    "RowUnit",
    "SourcePolicy",
    "Table",
    "Unit",
    "Value",
    "catalog_from",
    "load",
    "toml_from",
]

if not TYPE_CHECKING:
    __getattr__ = private_names(
        __name__,
        {
            "BINS": "discreet.bounds.histogram.BINS",
            "Bin": "discreet.bounds.histogram.Bin",
            "Declared": "discreet.catalog.declaration.Declaration",
            "DeclaredTable": "discreet.catalog.declaration.TableDeclaration",
            "Found": "discreet.catalog.toml.PrivateFacts",
            "TableDraft": "discreet.catalog.toml.TableDraft",
            "bin_of": "discreet.bounds.histogram.bin_of",
            "bounds_from_noisy": "discreet.bounds.histogram.bounds_from_noisy",
            "column_of": "discreet.catalog.catalog.column_of",
            "complete": "discreet.catalog.resolve.resolve",
            "declare": "discreet.catalog.arguments.declare",
            "declared_from": "discreet.catalog.declaration.declaration_from",
            "draft": "discreet.catalog.toml.draft",
            "nearest": "discreet.parameters.nearest_name",
            "number_from_time": "discreet.catalog.schema.number_from_time",
            "read": "discreet.catalog.resolve.read",
            "threshold_for": "discreet.bounds.histogram.threshold_for",
            "time_from_number": "discreet.catalog.schema.time_from_number",
            "unit_guess": "discreet.catalog.unit_names.unit_guess",
        },
    )
