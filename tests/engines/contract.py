"""What every engine must do alike: one way to make each, and tables on which they can differ.

An engine is added by one entry of `MAKERS`; the tests of `test_contract.py` then run on it too.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Protocol

import pyarrow as pa

from discreet.engines.base import Engine
from discreet.engines.duckdb import DuckDbEngine
from discreet.query.tree import ExactQuery
from tests.engines.on_postgresql import postgresql_engine
from tests.engines.on_spark import spark_engine
from tests.statements import unbound


class Holder(Engine, Protocol):
    """An engine that also hands out whole tables, as it does with public ones."""

    def table(self, name: str) -> pa.Table: ...


def _duckdb(tables: Mapping[str, pa.Table]) -> Holder:
    return DuckDbEngine.load(dict(tables))


MAKERS: dict[str, Callable[[Mapping[str, pa.Table]], Holder]] = {
    "duckdb": _duckdb,
    "postgresql": postgresql_engine,
    "spark": spark_engine,
}
"""How an engine that holds these tables is made, by the name of its dialect."""

ENGINES = tuple(MAKERS)
OTHERS = tuple(name for name in ENGINES if name != "duckdb")
"""Those that are held against the embedded engine."""


def engine_of(kind: str, tables: Mapping[str, pa.Table]) -> Holder:
    """Return an engine of a kind that holds these tables; whoever asks closes it."""
    return MAKERS[kind](tables)


Row = tuple[tuple[str, object], ...]


def exact_rows(engine: Engine, query: ExactQuery, *released: float) -> list[Row]:
    """Return what an exact query gives, as plain Python values, in an order of their own."""
    found = engine.run(unbound(query), released).unseal().to_pylist()
    return sorted(
        (tuple((name, _plain(each)) for name, each in row.items()) for row in found), key=repr
    )


def _plain(value: Any) -> object:
    """Return a whole number of any width as one of Python's."""
    return int(value) if isinstance(value, Decimal) else value
