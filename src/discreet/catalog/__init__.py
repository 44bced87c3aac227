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
from discreet.catalog.load import catalog_from, load, read
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
    "Declared",
    "DeclaredTable",
    "Kind",
    "PathUnit",
    "PrivateTable",
    "PublicTable",
    "RowUnit",
    "SourcePolicy",
    "Table",
    "Unit",
    "Value",
    "catalog_from",
    "column_of",
    "complete",
    "declare",
    "declared_from",
    "load",
    "nearest",
    "number_from_time",
    "read",
    "time_from_number",
]
