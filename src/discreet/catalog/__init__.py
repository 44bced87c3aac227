"""The catalog: what the owner declares. Everything in it is public.

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
"""

from discreet.catalog.complete import complete
from discreet.catalog.declare import declare
from discreet.catalog.declared import Declared, DeclaredTable, declared_from
from discreet.catalog.draft import Found, TableDraft, draft, unit_guess
from discreet.catalog.load import catalog_from, load, read
from discreet.catalog.magnitudes import (
    BINS,
    Bin,
    bin_of,
    bounds_from_noisy,
    threshold_for,
)
from discreet.catalog.policy import (
    Accounting,
    AnalystPolicy,
    BudgetPolicy,
    Catalog,
    SourcePolicy,
    column_of,
    nearest,
)
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
from discreet.catalog.times import number_from_time, time_from_number
from discreet.catalog.write import toml_from

__all__ = [
    "AUTO",
    "BINS",
    "Accounting",
    "AnalystPolicy",
    "Auto",
    "Bin",
    "Bounds",
    "BudgetPolicy",
    "Catalog",
    "Column",
    "ColumnUnit",
    "Declared",
    "DeclaredTable",
    "Found",
    "Kind",
    "PathUnit",
    "PrivateTable",
    "PublicTable",
    "RowUnit",
    "SourcePolicy",
    "Table",
    "TableDraft",
    "Unit",
    "Value",
    "bin_of",
    "bounds_from_noisy",
    "catalog_from",
    "column_of",
    "complete",
    "declare",
    "declared_from",
    "draft",
    "load",
    "nearest",
    "number_from_time",
    "read",
    "threshold_for",
    "time_from_number",
    "toml_from",
    "unit_guess",
]
