"""Prepared tables: which rows of each unit count is settled once, before any question.

Of every unit the rows are ordered by a hash of the unit and their contents, then by the contents:
the first `rows_per_unit` are kept in one table, the others in another. Which these are follows from
the unit's own rows alone, so a question over kept rows is bounded without a look at the others.

A large table is prepared in parts, by a hash of the unit, each in a transaction of its own: memory
stays small, and what was done when the process ended need not be done again.
"""

# ruff: noqa: S608 - names are quoted and values are numbers

from collections.abc import Callable, Iterable
from dataclasses import replace

import duckdb

from discreet.catalog.policy import Catalog
from discreet.catalog.schema import PrivateTable, RowUnit
from discreet.engines.duckdb_dialect import DUCKDB
from discreet.engines.writer import ABOUT, EVERY, KEPT, UNIT, column_name, prepared_name, write_rows
from discreet.query.tree import Scan

REST = "rest"
"""The schema of rows that do not count."""

PART = 8_000_000
"""Rows that are ranked at a time."""

PARTS = f'"{ABOUT}"."parts"'
"""What was done: each part of each table, and how many units it has."""

ALL = -1
"""Stands for all parts."""

Scans = tuple[Scan, ...]
"""Tables that are to be prepared."""

Progress = Callable[[str, int, int], None]
"""Told of a table how many of its parts are done, and how many there are."""


def as_prepared(catalog: Catalog) -> Catalog:
    """Return the catalog with all tables prepared whose rows belong to units of a column."""
    tables = (
        replace(each, is_prepared=True)
        if isinstance(each, PrivateTable) and _is_of_column(catalog, each)
        else each
        for each in catalog.tables
    )
    return replace(catalog, tables=tuple(tables))


def scans_to_prepare(catalog: Catalog) -> Scans:
    """Return what prepared tables are made of: plain tables, joined to their units."""
    return tuple(
        Scan(table=_plain(each), parents=tuple(map(_plain, catalog.parents(each))))
        for each in catalog.tables
        if isinstance(each, PrivateTable) and each.is_prepared
    )


def _is_of_column(catalog: Catalog, table: PrivateTable) -> bool:
    owner = (table, *catalog.parents(table))[-1]
    return not isinstance(owner.unit, RowUnit)


def _plain(table: PrivateTable) -> PrivateTable:
    return replace(table, is_prepared=False)


def prepare(
    connection: duckdb.DuckDBPyConnection,
    scans: Iterable[Scan],
    progress: Progress | None = None,
) -> None:
    """Make the prepared form of loaded tables; goes on where it was interrupted."""
    for schema in (KEPT, REST, EVERY, ABOUT):
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {PARTS} (name VARCHAR, part INTEGER, units BIGINT)"
    )
    for each in scans:
        _prepare_table(connection, each, progress)


def drop_plain(connection: duckdb.DuckDBPyConnection, scans: Iterable[Scan]) -> None:
    """Drop the loaded form of tables that are prepared, when none needs it any more."""
    for each in scans:
        connection.execute(f"DROP TABLE IF EXISTS {DUCKDB.quoted(each.table.name)}")


def _prepare_table(
    connection: duckdb.DuckDBPyConnection, scan: Scan, progress: Progress | None
) -> None:
    name = scan.table.name
    done = connection.execute(f"SELECT part FROM {PARTS} WHERE name = ?", [name]).fetchall()
    if (ALL,) in done:
        return
    rows = write_rows(scan, DUCKDB)
    kept, rest, every = (prepared_name(name, DUCKDB, each) for each in (KEPT, REST, EVERY))
    for table in (kept, rest):
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table} AS FROM ({rows}) LIMIT 0")
    connection.execute(f"CREATE OR REPLACE VIEW {every} AS FROM {kept} UNION ALL FROM {rest}")
    parts = _number_of_parts(connection, scan.table)
    for number in sorted(set(range(parts)) - {each for (each,) in done}):
        if progress is not None:
            progress(name, number, parts)
        _prepare_part(connection, scan, _part(rows, number, parts), number)
    connection.execute(f"INSERT INTO {PARTS} VALUES (?, ?, 0)", [name, ALL])
    if progress is not None:
        progress(name, parts, parts)


def _number_of_parts(connection: duckdb.DuckDBPyConnection, table: PrivateTable) -> int:
    counted = f"SELECT count(*) FROM {DUCKDB.quoted(table.name)}"
    ((rows,),) = connection.execute(counted).fetchall()
    return max(1, -(-int(rows) // PART))


def _part(rows: str, number: int, parts: int) -> str:
    """Return the rows of one part of the units, called "part"."""
    chosen = "" if parts == 1 else f" WHERE hash({UNIT}) % {parts} = {number}"
    return f'(SELECT * FROM ({rows}) AS "rows"{chosen}) AS "part"'


def _prepare_part(
    connection: duckdb.DuckDBPyConnection, scan: Scan, part: str, number: int
) -> None:
    """Keep all rows of units that have few; order and divide those of the others."""
    name, limit = scan.table.name, scan.table.rows_per_unit
    kept, rest = (prepared_name(name, DUCKDB, each) for each in (KEPT, REST))
    units = f"SELECT {UNIT}, count(*) AS n FROM {part} GROUP BY {UNIT}"
    many = f'(SELECT {UNIT} FROM "__units" WHERE n > {limit}) AS "many" USING ({UNIT})'
    steps = (
        f'CREATE OR REPLACE TEMP TABLE "__units" AS {units}',
        f"INSERT INTO {kept} FROM {part} ANTI JOIN {many}",
        f'CREATE OR REPLACE TEMP TABLE "__ranked" AS {_ranked(scan, f"{part} SEMI JOIN {many}")}',
        f'INSERT INTO {kept} SELECT * EXCLUDE ("__rank") FROM "__ranked" WHERE "__rank" <= {limit}',
        f'INSERT INTO {rest} SELECT * EXCLUDE ("__rank") FROM "__ranked" WHERE "__rank" > {limit}',
        f'INSERT INTO {PARTS} SELECT $name, $number, count(*) FROM "__units"',
        'DROP TABLE "__ranked"',
        'DROP TABLE "__units"',
    )
    connection.execute("BEGIN")
    try:
        for each in steps:
            given = {"name": name, "number": number} if "$name" in each else None
            connection.execute(each, given)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _ranked(scan: Scan, rows: str) -> str:
    columns = [DUCKDB.quoted(column_name(each.name)) for each in scan.table.columns]
    hashed = ", ".join(["'discreet'", UNIT, *columns])
    order = ", ".join([f"hash({hashed})", *columns])
    over = f"OVER (PARTITION BY {UNIT} ORDER BY {order})"
    return f'SELECT *, row_number() {over} AS "__rank" FROM {rows}'
