"""How many kept rows each unit has: stored in a copy, so that growth need not count all of them.

Growth asks this of the units of new rows: which of them exceed their limit by now, and which are
there for the first time. The numbers are as private as the rows, and are stored beside them.
"""

# ruff: noqa: S608 - names are quoted and values are numbers

import duckdb

from discreet.catalog.schema import PrivateTable
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.writer import ABOUT, KEPT, UNIT, prepared_name

HELD = "held"
"""The schema of these tables; queries do not read it."""


FEWEST = 8
"""Kept rows that units have on average where numbers are stored: these are small beside them."""


PARTS = f'"{ABOUT}"."parts"'
"""What was prepared: each part of each table, and how many units it has."""


STORED = -2
"""Stands among the parts of a table for its numbers, where they are stored."""


def held_numbers(table: str) -> str:
    """Return the name of the table of units, each with the number n of its kept rows."""
    return prepared_name(table, DUCKDB, HELD)


def note_held(
    connection: duckdb.DuckDBPyConnection, table: PrivateTable, *, is_first: bool
) -> None:
    """Store the numbers of a part of the units, of which "__units" has all rows as n.

    The first part decides for all of them: which unit is in which part is settled by a hash.
    """
    kept = f"least(n, {table.rows_per_unit})"
    if is_first:
        counted = f'SELECT sum({kept}) >= {FEWEST} * count(*) FROM "__units"'
        if connection.execute(counted).fetchone() == (True,):
            _make(connection, table.name, f'SELECT {UNIT}, n FROM "__units" LIMIT 0')
    if _is_stored(connection, table.name):
        connection.execute(
            f'INSERT INTO {held_numbers(table.name)} SELECT {UNIT}, {kept} FROM "__units"'
        )


def has_held(connection: duckdb.DuckDBPyConnection, table: PrivateTable) -> bool:
    """Return whether the numbers are stored, all of them; count rows where they should be.

    Copies that were made before there were such numbers are counted when they grow next.
    """
    kept = prepared_name(table.name, DUCKDB, KEPT)
    rows = _number(connection, f"SELECT count(*) FROM {kept}")
    if _is_stored(connection, table.name):
        if _number(connection, f"SELECT sum(n) FROM {held_numbers(table.name)}") == rows:
            return True
        drop_held(connection, table.name)
    summed = f"SELECT sum(units) FROM {PARTS} WHERE name = {DUCKDB.text(table.name)}"
    if not rows or rows < FEWEST * _number(connection, summed):
        return False
    counted = f"SELECT {UNIT}, count(*) AS n FROM {kept} GROUP BY {UNIT}"
    _make(connection, table.name, counted)
    return True


def add_held(connection: duckdb.DuckDBPyConnection, table: PrivateTable) -> None:
    """Add new rows to the numbers: "__touched" has theirs as n, and what was kept as held."""
    held, limit = held_numbers(table.name), table.rows_per_unit
    connection.execute(
        f'UPDATE {held} AS "__held" SET n = least("__held".n + "__touched".n, {limit}) '
        f'FROM "__touched" WHERE "__held".{UNIT} = "__touched".{UNIT} AND "__held".n < {limit}'
    )
    connection.execute(
        f'INSERT INTO {held} SELECT {UNIT}, least(n, {limit}) FROM "__touched" WHERE held IS NULL'
    )


def drop_held(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """Remove the numbers of a table, if there are any."""
    connection.execute(f"DROP TABLE IF EXISTS {held_numbers(table)}")
    connection.execute(f"DELETE FROM {PARTS} WHERE name = ? AND part = {STORED}", [table])


def _make(connection: duckdb.DuckDBPyConnection, table: str, numbers: str) -> None:
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {HELD}")
    # An earlier version that prepared the table anew has left numbers there that it does not know.
    connection.execute(f"CREATE OR REPLACE TABLE {held_numbers(table)} AS {numbers}")
    connection.execute(f"INSERT INTO {PARTS} VALUES (?, {STORED}, 0)", [table])


def _is_stored(connection: duckdb.DuckDBPyConnection, table: str) -> bool:
    told = f"SELECT 1 FROM {PARTS} WHERE name = ? AND part = {STORED}"
    return connection.execute(told, [table]).fetchone() is not None


def _number(connection: duckdb.DuckDBPyConnection, counted: str) -> int:
    ((number,),) = connection.execute(counted).fetchall()
    return int(number or 0)
