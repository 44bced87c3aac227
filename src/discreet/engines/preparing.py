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
from discreet.engines.writer import EVERY, KEPT, RANK, UNIT, column_name, prepared_name, write_rows
from discreet.query.tree import Scan

REST = "rest"
"""The schema of rows that do not count."""

PART = 8_000_000
"""Rows that are ranked at a time."""

DONE = '"kept"."__done"'

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


def scans_to_prepare(catalog: Catalog) -> tuple[Scan, ...]:
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
    """Make the prepared form of loaded tables and drop these; goes on where it was interrupted."""
    all_scans = tuple(scans)
    for schema in (KEPT, REST, EVERY):
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    connection.execute(f"CREATE TABLE IF NOT EXISTS {DONE} (name VARCHAR, part INTEGER)")
    for each in all_scans:
        _prepare_table(connection, each, progress)
    for each in all_scans:
        connection.execute(f"DROP TABLE IF EXISTS {DUCKDB.quoted(each.table.name)}")


def _prepare_table(
    connection: duckdb.DuckDBPyConnection, scan: Scan, progress: Progress | None
) -> None:
    name = scan.table.name
    rows = write_rows(scan, DUCKDB)
    kept, rest, every = (prepared_name(name, DUCKDB, each) for each in (KEPT, REST, EVERY))
    connection.execute(f"CREATE TABLE IF NOT EXISTS {rest} AS FROM ({rows}) LIMIT 0")
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {kept} AS "
        f"SELECT *, CAST(0 AS INTEGER) AS {RANK} FROM {rest} LIMIT 0"
    )
    connection.execute(
        f"CREATE OR REPLACE VIEW {every} AS "
        f"SELECT * EXCLUDE ({RANK}) FROM {kept} UNION ALL SELECT * FROM {rest}"
    )
    parts = _number_of_parts(connection, scan.table)
    done = connection.execute(f"SELECT part FROM {DONE} WHERE name = ?", [name]).fetchall()
    for number in sorted(set(range(parts)) - {each for (each,) in done}):
        if progress is not None:
            progress(name, number, parts)
        _prepare_part(connection, scan, rows, number, parts)
    if progress is not None:
        progress(name, parts, parts)


def _number_of_parts(connection: duckdb.DuckDBPyConnection, table: PrivateTable) -> int:
    ((rows,),) = connection.execute(f"SELECT count(*) FROM {DUCKDB.quoted(table.name)}").fetchall()
    return max(1, -(-int(rows) // PART))


def _prepare_part(
    connection: duckdb.DuckDBPyConnection, scan: Scan, rows: str, number: int, parts: int
) -> None:
    name, limit = scan.table.name, scan.table.rows_per_unit
    kept, rest = (prepared_name(name, DUCKDB, each) for each in (KEPT, REST))
    columns = [DUCKDB.quoted(column_name(each.name)) for each in scan.table.columns]
    chosen = "" if parts == 1 else f" WHERE hash({UNIT}) % {parts} = {number}"
    hashed = ", ".join(["'discreet'", UNIT, *columns])
    order = ", ".join([f"hash({hashed})", *columns])
    ranked = (
        f"SELECT *, CAST(row_number() OVER (PARTITION BY {UNIT} ORDER BY {order}) AS BIGINT) "
        f'AS {RANK} FROM (SELECT * FROM ({rows}) AS "rows"{chosen}) AS "part"'
    )
    connection.execute("BEGIN")
    try:
        connection.execute(f'CREATE OR REPLACE TEMP TABLE "__ranked" AS {ranked}')
        connection.execute(f'INSERT INTO {kept} FROM "__ranked" WHERE {RANK} <= {limit}')
        connection.execute(
            f'INSERT INTO {rest} SELECT * EXCLUDE ({RANK}) FROM "__ranked" WHERE {RANK} > {limit}'
        )
        connection.execute(f"INSERT INTO {DONE} VALUES (?, ?)", [name, number])
        connection.execute('DROP TABLE "__ranked"')
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
