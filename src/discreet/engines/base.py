"""The interface of an engine. It runs exact queries, never SQL that an analyst wrote."""

from typing import Protocol

import pyarrow as pa

from discreet.catalog.schema import Column
from discreet.query.exact import Bounding, ExactQuery
from discreet.tables import ExactTable

__all__ = ["Bounding", "Engine", "ExactQuery", "Holder"]


class Engine(Protocol):
    """A database that holds the tables."""

    dialect: str

    def columns(self, table: str) -> tuple[Column, ...]:
        """Return the table's columns and kinds; reads the schema, no rows."""
        ...

    def sql(self, query: ExactQuery) -> str:
        """Return what `run` would run; works with no database at hand."""
        ...

    def check(self, query: ExactQuery) -> None:
        """Reject a query that `run` could not run, from the schema alone. Reads no rows."""
        ...

    def run(self, query: ExactQuery, released: tuple[float | int | None, ...]) -> ExactTable:
        """Run it, with the noisy numbers that earlier releases of the query gave."""
        ...

    def close(self) -> None: ...


class Holder(Engine, Protocol):
    """An engine that holds the tables themselves, public ones among them."""

    version: str
    """What changes when the tables do, as far as the engine notices."""

    def table(self, name: str) -> pa.Table:
        """Return a whole table; only ever called for tables that the catalog declares public."""
        ...
