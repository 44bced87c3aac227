"""The interface of an engine. It runs exact queries, never SQL that an analyst wrote."""

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from discreet.catalog.schema import Column
from discreet.query.exact import Bounding, ExactQuery
from discreet.tables import ExactTable

__all__ = ["Bounding", "Engine", "ExactQuery", "Holder", "Statement"]

SCALAR = "$released_"
"""Begins the name that stands for a noisy number which is not known yet."""

Scalars = tuple[int | float | None, ...]
"""Noisy numbers that earlier releases of a question give to the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """An exact query that an engine has accepted, and the SQL that it runs."""

    query: ExactQuery
    sql: str
    """Noisy numbers that are not known yet stand as names."""

    @property
    def reads_scalars(self) -> bool:
        """Whether it may name any: then it is written again when they are known."""
        return SCALAR in self.sql


class Engine(Protocol):
    """A database that holds the tables."""

    dialect: str

    def columns(self, table: str) -> tuple[Column, ...]:
        """Return the table's columns and kinds; reads the schema, no rows."""
        ...

    def bind(self, query: ExactQuery) -> Statement:
        """Return what `run` will run, or reject what it could not; reads no rows.

        What is rejected follows from the schema, and from a run on synthetic rows.
        """
        ...

    def run(self, statement: Statement, scalars: Scalars) -> ExactTable:
        """Run it, with the noisy numbers that earlier releases of the question gave."""
        ...

    def close(self) -> None: ...


class Holder(Engine, Protocol):
    """An engine that holds the tables themselves, public ones among them."""

    version: str
    """What changes when the tables do, as far as the engine notices."""

    def table(self, name: str) -> pa.Table:
        """Return a whole table; only ever called for tables that the catalog declares public."""
        ...
