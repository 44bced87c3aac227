"""What every engine does: run an exact query, and nothing that an analyst wrote."""

from typing import Protocol

from discreet.catalog.schema import Column
from discreet.query.exact import Bounding, ExactQuery
from discreet.tables import ExactTable

__all__ = ["Bounding", "Engine", "ExactQuery"]


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
        """Refuse what `run` could not be told, from the schema alone; reads no rows."""
        ...

    def run(self, query: ExactQuery, released: tuple[float | int | None, ...]) -> ExactTable:
        """Run it, with the noisy numbers that earlier releases of the question gave."""
        ...

    def close(self) -> None: ...
