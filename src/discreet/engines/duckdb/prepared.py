"""Prepared tables: the rows of each unit that are used are chosen once, before any query.

Of every unit the rows are ordered by a hash of the unit and their contents, then by the contents:
the first `rows_per_unit` are kept in one table, the others in another. Which these are follows from
the unit's own rows alone, so a query over kept rows is bounded without a look at the others.
Beside columns that groups_per_unit names is stored which value of its unit a kept row has.

A large table is prepared in parts, by a hash of the unit, each in a transaction of its own: memory
stays small, and what was done when the process ended need not be done again.
"""

# ruff: noqa: S608 - names are quoted and values are numbers

from collections.abc import Iterable

import duckdb

from discreet.catalog.schema import PrivateTable
from discreet.engines.base import Progress
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.held import PARTS, drop_held, note_held
from discreet.engines.duckdb.rewrites import StoredColumn, ranked_columns, stored_columns
from discreet.engines.writer import (
    ABOUT,
    EVERY,
    KEPT,
    UNIT,
    column_name,
    column_rank,
    prepared_name,
    rank_name,
    write_expression,
    write_rows,
)
from discreet.query.tree import Scan

REST = "rest"
"""The schema of rows that do not count."""


PART = 8_000_000
"""Rows that are ranked at a time."""


ALL = -1
"""Stands for all parts."""


def prepare(
    connection: duckdb.DuckDBPyConnection,
    scans: Iterable[Scan],
    progress: Progress | None = None,
    *,
    may_grow: bool = False,
) -> None:
    """Make the prepared form of loaded tables; goes on where it was interrupted.

    What growth asks of it is stored too, if it `may_grow`.
    """
    for schema in (KEPT, REST, EVERY, ABOUT):
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {PARTS} (name VARCHAR, part INTEGER, units BIGINT)"
    )
    for each in scans:
        _prepare_table(connection, each, progress, may_grow=may_grow)


def columns_of_kept(connection: duckdb.DuckDBPyConnection) -> frozenset[tuple[str, str]]:
    """Return which columns kept rows have, each by the names of its table and its own."""
    found = connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() "
        "WHERE database_name = 'memory' AND schema_name = ?",
        [KEPT],
    ).fetchall()
    return frozenset((str(table), str(column)) for table, column in found)


def drop_plain(connection: duckdb.DuckDBPyConnection, scans: Iterable[Scan]) -> None:
    """Drop the loaded form of tables that are prepared, when none needs it any more."""
    for each in scans:
        connection.execute(f"DROP TABLE IF EXISTS {DUCKDB.quoted(each.table.name)}")


def _prepare_table(
    connection: duckdb.DuckDBPyConnection,
    scan: Scan,
    progress: Progress | None,
    *,
    may_grow: bool,
) -> None:
    name = scan.table.name
    if ALL in _done(connection, name):
        return
    rows = write_rows(scan, DUCKDB)
    _make_tables(connection, scan, rows)
    done = _done(connection, name)
    parts = _number_of_parts(connection, scan.table)
    for number in sorted(set(range(parts)) - done):
        if progress is not None:
            progress(name, number, parts)
        part = _part(rows, number, parts)
        _prepare_part(connection, scan, part, number, may_grow=may_grow)
    connection.execute(f"INSERT INTO {PARTS} VALUES (?, ?, 0)", [name, ALL])
    if progress is not None:
        progress(name, parts, parts)


def _done(connection: duckdb.DuckDBPyConnection, name: str) -> set[int]:
    found = connection.execute(f"SELECT part FROM {PARTS} WHERE name = ?", [name]).fetchall()
    return {int(each) for (each,) in found}


def _make_tables(connection: duckdb.DuckDBPyConnection, scan: Scan, rows: str) -> None:
    """Make the tables that parts go to; those that were made for other bounds begin again."""
    name = scan.table.name
    kept, rest = (prepared_name(name, DUCKDB, each) for each in (KEPT, REST))
    made = {
        kept: f'SELECT *{added_columns(scan, "part")} FROM ({rows}) AS "part" LIMIT 0',
        rest: f"FROM ({rows}) LIMIT 0",
    }
    for table, form in made.items():
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table} AS {form}")
    found, wanted = (
        connection.execute(f"DESCRIBE {each}").fetchall() for each in (f"FROM {kept}", made[kept])
    )
    if found != wanted:
        for table, form in made.items():
            connection.execute(f"CREATE OR REPLACE TABLE {table} AS {form}")
        drop_held(connection, name)
        connection.execute(f"DELETE FROM {PARTS} WHERE name = ?", [name])
    connection.execute(view_of_every(name, [each.name for each in scan.table.columns]))


def view_of_every(table: str, columns: Iterable[str]) -> str:
    """Return the statement that makes the view of all rows, with the table's own columns."""
    kept, rest, every = (prepared_name(table, DUCKDB, each) for each in (KEPT, REST, EVERY))
    listed = ", ".join([UNIT, *(DUCKDB.quoted(column_name(each)) for each in columns)])
    parts = " UNION ALL ".join(f"SELECT {listed} FROM {each}" for each in (kept, rest))
    return f"CREATE OR REPLACE VIEW {every} AS {parts}"


def _number_of_parts(connection: duckdb.DuckDBPyConnection, table: PrivateTable) -> int:
    counted = f"SELECT count(*) FROM {DUCKDB.quoted(table.name)}"
    ((rows,),) = connection.execute(counted).fetchall()
    return max(1, -(-int(rows) // PART))


def _part(rows: str, number: int, parts: int) -> str:
    """Return the rows of one part of the units, called "part"."""
    chosen = "" if parts == 1 else f" WHERE hash({UNIT}) % {parts} = {number}"
    return f'(SELECT * FROM ({rows}) AS "rows"{chosen}) AS "part"'


def _prepare_part(
    connection: duckdb.DuckDBPyConnection, scan: Scan, part: str, number: int, *, may_grow: bool
) -> None:
    """Keep all rows of units that have few; order and divide those of the others.

    Rows of a unit are stored together, so that joins and groups by unit find them in the cache.
    """
    name, limit = scan.table.name, scan.table.rows_per_unit
    kept, rest = (prepared_name(name, DUCKDB, each) for each in (KEPT, REST))
    units = f"SELECT {UNIT}, count(*) AS n FROM {part} GROUP BY {UNIT}"
    many = f'(SELECT {UNIT} FROM "__units" WHERE n > {limit}) AS "many" USING ({UNIT})'
    order = f"ORDER BY {UNIT}"
    ranked = 'SELECT 1 FROM "__ranked"'
    connection.execute("BEGIN")
    try:
        connection.execute(f'CREATE OR REPLACE TEMP TABLE "__units" AS {units}')
        few = f"SELECT *{added_columns(scan, 'part')} FROM {part} ANTI JOIN {many} {order}"
        insert_some(connection, kept, few, f'SELECT 1 FROM "__units" WHERE n <= {limit}')
        rows = ranked_rows(scan, f"{part} SEMI JOIN {many}")
        connection.execute(f'CREATE OR REPLACE TEMP TABLE "__ranked" AS {rows}')
        first = (
            f'SELECT * EXCLUDE ("__rank"){added_columns(scan, "__ranked")} '
            f'FROM "__ranked" WHERE "__rank" <= {limit} {order}'
        )
        insert_some(connection, kept, first, ranked)
        others = f'SELECT * EXCLUDE ("__rank") FROM "__ranked" WHERE "__rank" > {limit} {order}'
        insert_some(connection, rest, others, ranked)
        counted = f'INSERT INTO {PARTS} SELECT ?, ?, count(*) FROM "__units"'
        connection.execute(counted, [name, number])
        if may_grow:
            note_held(connection, scan.table, is_first=number == 0)
        connection.execute('DROP TABLE "__ranked"')
        connection.execute('DROP TABLE "__units"')
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def insert_some(connection: duckdb.DuckDBPyConnection, table: str, rows: str, some: str) -> None:
    """Insert rows in an order, if there are any: `some` has a row then.

    After an insert of none, DuckDB 2.0 does not see those that the same transaction orders and
    inserts next: nobody who has the database open does.
    """
    if connection.execute(f"{some} LIMIT 1").fetchone() is not None:
        connection.execute(f"INSERT INTO {table} {rows}")


def ranked_rows(scan: Scan, rows: str) -> str:
    """Return rows with their places in the order of their unit, in which the first are kept."""
    columns = [DUCKDB.quoted(column_name(each.name)) for each in scan.table.columns]
    order = DUCKDB.ordered([DUCKDB.hash_of(["'discreet'", UNIT, *columns]), *columns])
    over = f"OVER (PARTITION BY {UNIT} ORDER BY {order})"
    return f'SELECT *, row_number() {over} AS "__rank" FROM {rows}'


PLACES = {"SMALLINT": 2**15 - 1, "INTEGER": 2**31 - 1, "BIGINT": 2**63 - 1}
"""What places are stored as, the smallest type that has room for all: unsigned ones are slower."""


def added_columns(scan: Scan, source: str) -> str:
    """Return the columns of places and ranks, after those of rows of this name."""
    places = [_place(each, source) for each in stored_columns(scan.table)]
    ranks = [_rank(scan, each) for each in ranked_columns(scan.table)]
    return "".join(f", {each}" for each in (*places, *ranks))


def _rank(scan: Scan, name: str) -> str:
    """Return which value of its unit a kept row has, for limits on groups."""
    kind = next(each for each, most in PLACES.items() if scan.table.rows_per_unit <= most)
    rank = column_rank(scan.table, name, DUCKDB)
    return f"CAST({rank} AS {kind}) AS {DUCKDB.quoted(column_name(rank_name(name)))}"


def _place(placed: StoredColumn, source: str) -> str:
    kind = next(each for each, most in PLACES.items() if placed.grid.steps <= most)
    text = write_expression(placed.expression(source), DUCKDB)
    return f"TRY_CAST({text} AS {kind}) AS {DUCKDB.quoted(column_name(placed.name))}"
