"""An engine without a database. It writes SQL for explanations and runs none."""

from discreet.catalog.schema import Column, Value
from discreet.engines.base import ExactQuery
from discreet.engines.duckdb import sql
from discreet.engines.duckdb_dialect import DUCKDB
from discreet.errors import SourceError
from discreet.tables import ExactTable


class UnpluggedEngine:
    """Stands for the embedded engine where no private data are at hand."""

    dialect = DUCKDB.name

    def columns(self, table: str) -> tuple[Column, ...]:
        """Reject: there is no schema to read."""
        raise SourceError(f"{table} was not opened, so its columns are not known")

    def sql(self, query: ExactQuery) -> str:
        """Return what the embedded engine would run."""
        return sql(query)

    def check(self, query: ExactQuery) -> None:
        """Take it as it is: there is nobody to ask."""

    def run(self, query: ExactQuery, released: tuple[Value, ...]) -> ExactTable:  # noqa: ARG002
        """Reject: there are no data."""
        raise SourceError("The data were not opened, so this curator can only explain queries")

    def close(self) -> None:
        """Do nothing: nothing is held."""
