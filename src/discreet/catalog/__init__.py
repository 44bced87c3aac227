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
| `sources.py` | the declared database, its limits and its address |
| `declaration.py` | `Declaration`: a catalog before the tables' schemas are known |
| `arguments.py` | the arguments of `discreet.open` as a declaration |
| `resolve.py` | reads `discreet.toml`; declaration + schemas = catalog |
| `toml.py` | a catalog as text: written, or drafted |
"""

from importlib import import_module
from warnings import warn

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

PRIVATE_NOW = {
    "BINS": "magnitudes",
    "TableDraft": "toml",
    "bin_of": "magnitudes",
    "bounds_from_noisy": "magnitudes",
    "declare": "arguments",
    "draft": "toml",
    "read": "resolve",
    "threshold_for": "magnitudes",
}
"""Names that were public in 0.1 and that its pages use, and the modules that have them."""


def __getattr__(name: str) -> object:
    """Return a name that was public in 0.1, with a warning."""
    if name not in PRIVATE_NOW:
        raise AttributeError(f"module 'discreet.catalog' has no attribute {name!r}")
    warn(
        f"discreet.catalog.{name} is not public any more and will be removed in 0.4.",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(import_module(f"discreet.catalog.{PRIVATE_NOW[name]}"), name)
