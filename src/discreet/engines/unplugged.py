"""An engine without a database. It writes SQL for explanations and runs none."""

from discreet.catalog.schema import Column
from discreet.engines.base import ExactQuery, Scalars, Statement
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

    def bind(self, query: ExactQuery) -> Statement:
        """Return what the embedded engine would run: there is nobody to ask whether it can."""
        return Statement(query=query, sql=sql(query))

    def run(self, statement: Statement, scalars: Scalars) -> ExactTable:  # noqa: ARG002
        """Reject: there are no data."""
        raise SourceError("The data were not opened, so this curator can only explain queries")

    def close(self) -> None:
        """Do nothing: nothing is held."""
