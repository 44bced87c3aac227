"""Tables on a real PostgreSQL server, for tests: each set in a schema of its own."""

from collections.abc import Mapping
from itertools import count
from os import getpid
from typing import Any

import psycopg
import pyarrow as pa
from psycopg import sql

from discreet.engines.base import LIMITS, ResourceLimits
from discreet.engines.postgresql import PostgreSqlEngine
from tests.postgresql import shared_server

_numbers = count()

FLUSH = "SELECT pg_stat_force_next_flush()"
"""Has what was changed counted when the next statement begins, and not a second later."""


def type_of(kind: pa.DataType) -> str:
    """Return what a column of an Arrow type is on the server."""
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamptz" if kind.tz else "timestamp"
    return {
        pa.bool_(): "boolean",
        pa.int16(): "smallint",
        pa.int32(): "integer",
        pa.int64(): "bigint",
        pa.float32(): "real",
        pa.float64(): "double precision",
        pa.string(): "text",
        pa.date32(): "date",
    }[kind]


def stored(tables: Mapping[str, pa.Table], address: str | None = None) -> str:
    """Copy tables into a new schema of the server and return its name."""
    schema = f"contract_{getpid()}_{next(_numbers)}"
    with psycopg.connect(address or shared_server(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        for name, table in tables.items():
            place = sql.Identifier(schema, name)
            columns = sql.SQL(", ").join(
                sql.SQL("{} " + type_of(each.type)).format(sql.Identifier(each.name))
                for each in table.schema
            )
            connection.execute(sql.SQL("CREATE TABLE {} ({})").format(place, columns))
            with (
                connection.cursor() as cursor,
                cursor.copy(sql.SQL("COPY {} FROM STDIN").format(place)) as copy,
            ):
                for row in zip(*(each.to_pylist() for each in table.columns), strict=True):
                    copy.write_row(row)
        connection.execute(FLUSH)
        connection.execute("SELECT 1")
    return schema


def postgresql_engine(
    tables: Mapping[str, pa.Table], *, limits: ResourceLimits = LIMITS
) -> PostgreSqlEngine:
    """Return an engine of tables that were copied to the server."""
    schema = stored(tables)
    places = {name: f'{schema}."{name}"' for name in tables}
    return PostgreSqlEngine.open(shared_server(), places, limits=limits)


def run(*statements: str, address: str | None = None) -> list[Any]:
    """Return the rows of the last of some statements, run as the owner or whoever is named."""
    found: list[Any] = []
    with psycopg.connect(address or shared_server(), autocommit=True) as connection:
        for each in statements:
            cursor = connection.execute(each)
            found = cursor.fetchall() if cursor.description else []
    return found
