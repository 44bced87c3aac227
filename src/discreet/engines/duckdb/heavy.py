"""Which units are heavy, kept beside the loaded tables: they do not change while they are open.

Nothing is counted before the first query that needs it has been charged. The tables are there as
soon as such a query is bound, and empty until then.
"""

# ruff: noqa: S608 - names are quoted and values are numbers

from collections.abc import Iterator, Sequence
from threading import Lock

import duckdb

from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.held import PARTS
from discreet.engines.duckdb.prepared import REST
from discreet.engines.duckdb.store import Store
from discreet.engines.heavy import TableLocks, seconds_until
from discreet.engines.writer import KEPT, UNIT, HeavyTable, prepared_name, write_rows

HEAVY = "heavy"
"""The schema of units that are heavy, a table for each of the data."""

SHARE = 8
"""Rows of heavy units are kept apart, where they are at most one in so many."""

COUNTS = f'"{HEAVY}"."counts"'
"""How many units such a table has, and how many rows within the limit."""


class HeavyNames:
    """How statements ask which units are heavy: by the names of the tables that say it."""

    def knows(self, tables: Sequence[HeavyTable]) -> bool:  # noqa: ARG002 - all of them
        """Return True: all tables are in the store."""
        return True

    def test(self, unit: str, tables: Sequence[HeavyTable]) -> str:
        """Return the condition that a unit is heavy in one of these tables."""
        listed = " UNION ALL ".join(f"SELECT u FROM {_name(each)}" for each in tables)
        return f"({unit} IN ({listed}))"

    def rows(self, table: HeavyTable, columns: Sequence[str], others: str) -> str | None:
        """Return rows of heavy units: those that are kept, or if they are many, of the table."""
        if table.scan.table.by_month is not None:
            return None
        listed = ", ".join([UNIT, *columns])
        many = f"{UNIT} IN (SELECT u FROM {_name(table, MANY)})"
        return (
            f"SELECT {listed} FROM {_name(table, ROWS)} "
            f'UNION ALL SELECT {listed} FROM ({others}) AS "others" WHERE {many}'
        )

    def counts(self, table: HeavyTable) -> str:
        """Return where the numbers of units and of rows within the limit are."""
        name = DUCKDB.text(table.name)
        return f'(SELECT "units", "rows" FROM {COUNTS} WHERE "name" = {name})'


class HeavyInStore:
    """Units with more rows of a table than its limit, in tables of a store."""

    def __init__(self, store: Store) -> None:
        self._store, self._making, self._counting = store, Lock(), TableLocks()
        self._made: set[str] = set()
        self._counted: set[str] = set()

    def make(self, tables: Sequence[HeavyTable]) -> None:
        """Make the tables that a statement names, empty; reads no rows."""
        missing = [each for each in tables if each.name not in self._made]
        if not missing:
            return
        with self._making, self._store.cursor() as cursor:
            cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {HEAVY}")
            cursor.execute(
                f'CREATE TABLE IF NOT EXISTS {COUNTS} ("name" VARCHAR, "units" BIGINT, '
                '"rows" BIGINT)'
            )
            for each in missing:
                rows = f'FROM ({write_rows(each.scan, DUCKDB)}) AS "all" LIMIT 0'
                units = f"SELECT {UNIT} AS u {rows}"
                empty = {"": units, MANY: units, ROWS: f"SELECT * {rows}"}
                for kind, text in empty.items():
                    cursor.execute(f"CREATE TABLE IF NOT EXISTS {_name(each, kind)} AS {text}")
                self._made.add(each.name)

    def count(self, tables: Sequence[HeavyTable], until: float) -> None:
        """Find the units that are heavy in these tables, unless that was done before.

        Whoever comes while others count waits for them, and raises TimeoutError at a moment.
        """
        if all(each.name in self._counted for each in tables):
            return
        self.make(tables)
        with self._counting.held(tables, until):
            for each in tables:
                if each.name not in self._counted:
                    with self._store.cursor(timeout=seconds_until(until)) as cursor:
                        _run(cursor, each)
                    self._counted.add(each.name)


ROWS, MANY = "rows", "many"
"""Beside all heavy units: their rows, if they are few; else the units themselves once more."""


def _name(table: HeavyTable, kind: str = "") -> str:
    return f'"{HEAVY}".{DUCKDB.quoted(table.name + kind)}'


def _run(cursor: duckdb.DuckDBPyConnection, table: HeavyTable) -> None:
    """Fill the tables of one in a transaction, so that nobody finds them by half."""
    rows = write_rows(table.scan, DUCKDB)
    cursor.execute("BEGIN")
    try:
        for each in _steps(table, rows):
            cursor.execute(each)
        of_heavy = f'FROM ({rows}) AS "all" WHERE {UNIT} IN (SELECT u FROM {_name(table)})'
        sizes = (f"SELECT count(*) {each}" for each in (of_heavy, f'FROM ({rows}) AS "all"'))
        few, every = (int(cursor.execute(each).fetchall()[0][0]) for each in sizes)
        if SHARE * few <= every:
            cursor.execute(f"INSERT INTO {_name(table, ROWS)} SELECT * {of_heavy}")
        else:
            cursor.execute(f"INSERT INTO {_name(table, MANY)} FROM {_name(table)}")
        cursor.execute("COMMIT")
    except BaseException:
        cursor.execute("ROLLBACK")
        raise


def _steps(table: HeavyTable, rows: str) -> Iterator[str]:
    """Yield what counts the units of a table, or reads off its prepared form which are heavy."""
    own = table.scan.table
    # An interruption may come when all was written before.
    for kind in ("", MANY, ROWS):
        yield f"DELETE FROM {_name(table, kind)}"
    yield f'DELETE FROM {COUNTS} WHERE "name" = {DUCKDB.text(table.name)}'
    told = f"INSERT INTO {COUNTS} SELECT {DUCKDB.text(table.name)}"
    if own.is_prepared and table.limit == own.rows_per_unit:
        kept, rest = (prepared_name(own.name, DUCKDB, each) for each in (KEPT, REST))
        units = f'SELECT sum("units") FROM {PARTS} WHERE "name" = {DUCKDB.text(own.name)}'
        yield f"INSERT INTO {_name(table)} SELECT DISTINCT {UNIT} FROM {rest}"
        yield f"{told}, ({units}), (SELECT count(*) FROM {kept})"
        return
    yield (
        'CREATE OR REPLACE TEMP TABLE "__counted" AS '
        f'SELECT {UNIT} AS u, count(*) AS n FROM ({rows}) AS "all" GROUP BY {UNIT}'
    )
    yield f'INSERT INTO {_name(table)} SELECT u FROM "__counted" WHERE n > {table.limit}'
    yield f'{told}, count(*), coalesce(sum(least(n, {table.limit})), 0) FROM "__counted"'
    yield 'DROP TABLE "__counted"'
