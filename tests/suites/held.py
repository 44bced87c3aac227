"""The tables of a suite on each engine, and in a DuckDB that knows nothing of privacy."""

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

import discreet
from discreet.catalog.arguments import declare
from discreet.catalog.catalog import budget_from
from discreet.catalog.resolve import resolve
from discreet.curator import Curator
from discreet.engines.public_store import PublicStore
from discreet.ledger import SqliteLedger
from tests.engines.contract import engine_of
from tests.properties.comparison import CLAMP

SUITES = Path(__file__).parent.parent / "golden" / "suites"

BUDGET: Mapping[str, Any] = {"epsilon": 10**6, "delta": 0.5, "question_delta": 1e-6}

ANSWERED, FREE, EMPTY = "answered", "free", "empty"
"""With noise; over public tables alone; all groups are of one unit, so that none is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A query of a suite, and what becomes of it."""

    name: str
    sql: str
    outcome: str
    """One of the above, or the class of an error."""
    says: str = ""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Tables, what a catalog says of them, and queries."""

    name: str
    tables: Mapping[str, pa.Table]
    settings: Mapping[str, Any]

    @property
    def queries(self) -> list[Asked]:
        text = (SUITES / f"{self.name}.toml").read_text(encoding="utf-8")
        return [Asked(**each) for each in tomllib.loads(text)["query"]]

    @contextmanager
    def held(self, kind: str) -> Iterator[Curator]:
        """Yield a curator of the tables; "prepared" is DuckDB with rows that are chosen once."""
        if kind == "prepared":
            with discreet.open(dict(self.tables), **BUDGET, **self.settings) as curator:
                yield curator
            return
        engine = engine_of(kind, self.tables)
        declared = declare(dict.fromkeys(self.tables), **BUDGET, **self.settings)
        catalog = resolve(declared, engine.columns)
        public = {name: self.tables[name] for name in self.settings.get("public", ())}
        with Curator(
            catalog=catalog,
            engine=engine,
            public=PublicStore(public),
            ledger=SqliteLedger(":memory:", budget=budget_from(catalog.budget)),
        ) as curator:
            yield curator

    @contextmanager
    def plain(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a DuckDB of the same tables."""
        with duckdb.connect(":memory:") as connection:
            connection.execute(CLAMP)
            for name, table in self.tables.items():
                connection.register("frame", table)
                connection.sql("SELECT * FROM frame").create(name)
                connection.unregister("frame")
            yield connection
