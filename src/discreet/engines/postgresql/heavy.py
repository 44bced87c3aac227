"""Which units may be heavy, told by a few bits for each snapshot, while tables go on changing.

When it is first needed, the units with more rows than the limit are counted on the server, in one
snapshot. What is kept of them is a row of bits, always of the same length: a unit whose hash falls
on a bit that is set may be heavy. Nothing is written on the server, and no unit leaves it.

A later snapshot may show more rows. Whoever wrote a row that the first one did not show had not
ended then, so that its number is at least `horizon`, the oldest that was running (a row's `xmin`).
Such rows are called fresh, and so is every row of another table that came in a table's place.
Deleting rows makes no unit heavy. So as long as a query reads no fresh row of a light unit, its
light units have as few rows as they had then. Each query counts the fresh rows that it reads, in
its own snapshot; if there are any, what it computed is dropped and the units are counted again.

That needs a snapshot that sees at least what the first one saw: a row that was deleted in between
was not counted. Snapshots are taken under a lock, one after the other, and compared besides.

Numbers of transactions are compared as the server stores them, with 32 bits. They are compared
only while they are far from beginning again, and for a server that has not been started since, nor
recovered by itself: what was committed last may be lost then, and its numbers are given again.

No row is fresh where columns change under rows that stay: when they are renamed, or added with a
default. So tables are locked against that before a snapshot is taken, and what their columns were
is compared. Texts that stand in the catalog, as those of enumerations, tell no units apart.
"""

# ruff: noqa: S608 - this file writes SQL; every name in it is quoted and every value a literal

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from discreet.catalog.schema import ColumnUnit, Kind, PathUnit
from discreet.engines.heavy import TableLocks
from discreet.engines.postgresql.dialect import POSTGRESQL
from discreet.engines.postgresql.tables import Stored, sees_all_rows
from discreet.engines.writer import UNIT, HeavyTable, write_rows
from discreet.engines.writer.units import unit_kind

if TYPE_CHECKING:
    from psycopg import Connection

BITS = 2**22
"""One in a hundred is set where forty thousand units are heavy."""

CYCLE, LONGEST = 2**32, 2**26
"""Numbers of transactions begin again after so many; a row of bits is used for so many at most."""

PATIENCE = 15.0
"""Seconds that an open transaction waits for another one that counts; the server ends idle ones."""

AGAIN = 60.0
"""Seconds until units are counted again of tables in which fresh rows never end."""

NOW = (
    "SELECT concat(pg_postmaster_start_time(), '|', pg_stat_get_bgwriter_stat_reset_time()), "
    "CAST(pg_current_snapshot() AS text)"
)
"""Statistics begin again when the server recovers from a crash, after which it goes on running."""

COLUMNS = """
SELECT CAST(array_agg(ROW(attrelid, attnum, attname, atttypid, atttypmod)
  ORDER BY attrelid, attnum) AS text)
FROM pg_attribute WHERE attrelid = ANY(CAST(%s AS oid[])) AND attnum > 0
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSnapshot:
    """A snapshot of a server: which transactions had ended that began before the next one."""

    server: str
    first: int
    """The oldest transaction that was running."""
    next: int
    running: frozenset[int]

    @classmethod
    def of(cls, connection: "Connection[Any]") -> Self:
        """Return the snapshot of a transaction, which is taken now if it has none yet."""
        found = connection.execute(NOW).fetchone()
        assert found is not None  # noqa: S101 - one row always
        first, following, running = str(found[1]).split(":")
        return cls(
            server=str(found[0]),
            first=int(first),
            next=int(following),
            running=frozenset(map(int, filter(None, running.split(",")))),
        )

    def sees_all_of(self, earlier: Self) -> bool:
        """Return whether all transactions that had ended then have ended here."""
        running = {each for each in self.running if each < earlier.next}
        is_later = self.next >= earlier.next and self.first >= earlier.first
        return self.server == earlier.server and is_later and running <= earlier.running


@dataclass(frozen=True, slots=True, kw_only=True)
class Bits:
    """Which units may be heavy in a snapshot, and from which transaction on rows are fresh."""

    seen: ServerSnapshot
    columns: str
    """What columns the tables had."""
    bits: bytes = field(repr=False)

    @property
    def arguments(self) -> list[bytes]:
        """What a statement is given: $1, the bits, and $2, where fresh rows begin."""
        return [self.bits, (self.seen.first % CYCLE).to_bytes(4, "big")]

    def hold_at(self, moment: ServerSnapshot) -> bool:
        """Return whether fresh rows can be told in a snapshot."""
        first = self.seen.first
        is_near = first % CYCLE + LONGEST < CYCLE and moment.next < first + LONGEST
        return is_near and moment.sees_all_of(self.seen)


class HeavyInSnapshots:
    """Bits of units with more rows of a table than its limit."""

    def __init__(self, tables: Mapping[str, Stored], reads: Callable[[str], str]) -> None:
        self._tables, self._reads, self._locks = tables, reads, TableLocks()
        self._known: dict[str, Bits] = {}
        self._restless: dict[str, float] = {}

    def knows(self, tables: Sequence[HeavyTable]) -> bool:
        """Return whether all of these are plain tables, and rows alone tell whose they are."""
        return all(
            each is not None and each.is_plain and each.named.isdisjoint(_leading(one))
            for one in tables
            for each in self._path(one)
        )

    def test(self, unit: str, tables: Sequence[HeavyTable]) -> str:
        """Return the condition that a unit may be heavy in one of these tables."""
        return f"(get_bit(CAST($1 AS bytea), {_place(unit, tables[0])}) = 1)"

    def rows(self, table: HeavyTable, columns: Sequence[str], others: str) -> None:  # noqa: ARG002
        """Return None: no rows are kept."""
        return

    def counts(self, table: HeavyTable) -> None:  # noqa: ARG002
        """Return None: rows come and go."""
        return

    def wait(self, tables: Sequence[HeavyTable], until: float) -> None:
        """Wait until nobody counts these tables, before a transaction begins.

        Raise TimeoutError at a moment.
        """
        with self._locks.held(tables, until):
            return

    def of(self, connection: "Connection[Any]", tables: Sequence[HeavyTable]) -> list[bytes] | None:
        """Return what a statement about these tables is given, counted now where it must be.

        None where fresh rows cannot be told, or come faster than units are counted.
        """
        stored = {each.place for one in tables for each in self._path(one) if each is not None}
        connection.execute(f"LOCK TABLE {', '.join(sorted(stored))} IN ACCESS SHARE MODE")
        try:
            with self._locks.held(tables, monotonic() + PATIENCE):
                now = ServerSnapshot.of(connection)
                found = [self._of(connection, now, each) for each in tables]
        except TimeoutError:
            return None
        known = [each for each in found if each is not None]
        if len(known) < len(found):
            return None
        bits = np.bitwise_or.reduce([np.frombuffer(each.bits, np.uint8) for each in known])
        oldest = min(known, key=lambda each: each.seen.first)
        return replace(oldest, bits=bits.tobytes()).arguments

    def forget(self, tables: Sequence[HeavyTable], *, is_restless: bool) -> None:
        """Count these again, when they are needed or, where that was no use, after a while."""
        for each in tables:
            self._known.pop(each.name, None)
            if is_restless:
                self._restless[each.name] = monotonic() + AGAIN

    def _of(
        self, connection: "Connection[Any]", now: ServerSnapshot, table: HeavyTable
    ) -> Bits | None:
        known, columns = self._known.get(table.name), self._columns(connection, table)
        if known is None or known.columns != columns or not known.hold_at(now):
            is_restless = monotonic() < self._restless.get(table.name, 0)
            if is_restless or not self._sees_all(connection, table):
                return None
            known = Bits(seen=now, columns=columns, bits=self._counted(connection, table))
            if not known.hold_at(now) or not self._sees_all(connection, table):
                return None
            self._known[table.name] = known
        return known

    def _counted(self, connection: "Connection[Any]", table: HeavyTable) -> bytes:
        """Count the units of a table in the snapshot of a transaction."""
        rows = write_rows(table.scan, POSTGRESQL)
        heavy = (
            f'SELECT {UNIT} FROM ({rows}) AS "all" GROUP BY {UNIT} HAVING count(*) > {table.limit}'
        )
        places = f'SELECT DISTINCT {_place(UNIT, table)} FROM ({heavy}) AS "heavy"'
        found = np.zeros(BITS, np.uint8)
        with connection.cursor(binary=True) as cursor:
            cursor.execute(f"WITH {self._reads(rows)} {places}")
            found[[place for (place,) in cursor.fetchall()]] = 1
        return np.packbits(found, bitorder="little").tobytes()

    def _sees_all(self, connection: "Connection[Any]", table: HeavyTable) -> bool:
        """Return whether no policy hides rows that may be shown later."""
        return sees_all_rows(connection, self._numbers(table))

    def _columns(self, connection: "Connection[Any]", table: HeavyTable) -> str:
        return str(connection.execute(COLUMNS, (self._numbers(table),)).fetchone())

    def _numbers(self, table: HeavyTable) -> list[int]:
        return [each.oid for each in self._path(table) if each is not None]

    def _path(self, table: HeavyTable) -> list[Stored | None]:
        path = (table.scan.table, *table.scan.parents)
        return [self._tables.get(each.name.casefold()) for each in path]


def _leading(table: HeavyTable) -> set[str]:
    """Return the columns that lead to the unit of a row, or say when it arrived."""
    found = set()
    for each in (table.scan.table, *table.scan.parents):
        found |= set() if each.by_month is None else {each.by_month.column}
        match each.unit:
            case ColumnUnit(column=column):
                found.add(column)
            case PathUnit(column=column, key=key):
                found |= {column, key}
    return {each.casefold() for each in found}


def _place(unit: str, table: HeavyTable) -> str:
    """Return the bit of a unit: equal units have the same one."""
    if unit_kind(table.scan) is Kind.INTEGER:
        hashed = f"hashint8(CAST({unit} AS BIGINT))"
    else:
        hashed = f'hashtext(CAST({unit} AS TEXT) COLLATE "C")'
    return f"CAST({hashed} & {BITS - 1} AS BIGINT)"
