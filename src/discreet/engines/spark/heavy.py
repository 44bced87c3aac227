"""Which units may be heavy, told by a few bits for each table, while its files stay the same.

When it is first needed, one aggregate counts the rows of units. What leaves Spark is a row of bits,
always of the same length: a unit whose hash falls on a bit that is set may be heavy. No unit does,
and no row is broadcast or joined to find its unit's bit.

Spark has no snapshots. So units are told apart only in tables of which it is known which files they
are, how long and how old, or which version of a Delta table. What a statement computed is dropped
if that is not the same afterwards. Prepared forms are our own files, which are never written twice.
"""

# ruff: noqa: S608 - this file writes SQL; every name in it is quoted and every value a literal

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from discreet.catalog.schema import Kind
from discreet.engines.heavy import TableLocks
from discreet.engines.spark.bits import WORD, is_set, words_text
from discreet.engines.spark.conditions import with_our_names
from discreet.engines.spark.dialect import SPARK
from discreet.engines.spark.sessions import silent
from discreet.engines.spark.tables import Registered, state_now
from discreet.engines.writer import UNIT, HeavyTable, write_rows
from discreet.engines.writer.units import unit_kind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BITS = 2**22
"""One in a hundred is set where forty thousand units are heavy."""

Collect = Callable[[str], pa.Table]
"""Runs a statement of ours and returns what it gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCounts:
    """What was counted of a table."""

    units: int
    rows: int
    """Those within the limit."""
    words: "np.ndarray[tuple[int], np.dtype[np.int64]]" = field(repr=False)


class HeavyInFiles:
    """Bits of units with more rows of a table than its limit, in views of a session."""

    def __init__(self, session: "SparkSession", tables: Mapping[str, Registered]) -> None:
        self._session, self._tables = session, tables
        self._showing, self._counting = Lock(), TableLocks()
        self._counted: dict[str, UnitCounts] = {}
        self._shown: dict[str, bool] = {}

    def knows(self, tables: Sequence[HeavyTable]) -> bool:
        """Return whether it can be seen that none of these has changed."""
        return all(_is_prepared(each) or self._has_states(each) for each in tables)

    def test(self, unit: str, tables: Sequence[HeavyTable]) -> str:
        """Return the condition that a unit may be heavy in one of these tables."""
        words, hashed = f"(SELECT words FROM {_name(tables)})", _hashed(unit, tables[0])
        return is_set(words, hashed, BITS)

    def rows(self, table: HeavyTable, columns: Sequence[str], others: str) -> None:  # noqa: ARG002
        """Return None: no rows are kept."""
        return

    def counts(self, table: HeavyTable) -> str | None:
        """Return where the numbers of units and of rows within the limit are."""
        if not self.knows((table,)):
            return None
        return f"(SELECT units AS `units`, `rows` FROM {_name((table,))})"

    def make(self, tables: Sequence[HeavyTable]) -> None:
        """Make the view that a statement names, with no bit set; reads no rows."""
        name = _name(tables)
        with self._showing:
            if name not in self._shown:
                empty = UnitCounts(units=0, rows=0, words=np.zeros(BITS // WORD, np.int64))
                self._show(name, [empty], is_counted=False)

    def count(self, tables: Sequence[HeavyTable], collect: Collect, until: float) -> bool:
        """Find the units that may be heavy; return False where tables change meanwhile.

        Whoever comes while others count waits for them, and raises TimeoutError at a moment.
        """
        self.make(tables)
        name = _name(tables)
        with self._counting.held(tables, until):
            if self._shown[name]:
                return True
            for each in tables:
                if each.name not in self._counted:
                    found = _counted(each, collect)
                    # Other files may be there for a while, and these may come back later.
                    if not self.are_same((each,)):
                        return False
                    self._counted[each.name] = found
            if not self.are_same(tables):
                return False
            with self._showing:
                self._show(name, [self._counted[each.name] for each in tables], is_counted=True)
        return True

    def are_same(self, tables: Sequence[HeavyTable]) -> bool:
        """Return whether the files of tables are those that were there when they were opened."""
        own = {
            each.name.casefold()
            for one in tables
            if not _is_prepared(one)
            for each in (one.scan.table, *one.scan.parents)
        }
        found = [self._tables[each] for each in sorted(own)]
        return all(each.state is not None and state_now(each) == each.state for each in found)

    def _show(self, name: str, counted: Sequence[UnitCounts], *, is_counted: bool) -> None:
        words = np.bitwise_or.reduce([each.words for each in counted])
        table = pa.table(
            {
                "words": pa.array([words], pa.list_(pa.int64())),
                "units": pa.array([counted[0].units], pa.int64()),
                "rows": pa.array([counted[0].rows], pa.int64()),
            }
        )
        with silent():
            self._session.createDataFrame(table).createOrReplaceTempView(name)
        self._shown[name] = is_counted

    def _has_states(self, table: HeavyTable) -> bool:
        path = (table.scan.table, *table.scan.parents)
        found = [self._tables.get(each.name.casefold()) for each in path]
        return all(each is not None and each.state is not None for each in found)


def _is_prepared(table: HeavyTable) -> bool:
    return table.scan.table.is_prepared


def _name(tables: Sequence[HeavyTable]) -> str:
    """Return what the view of these tables is called; no name of a table begins so."""
    names = ",".join(each.name for each in tables)
    return f"__heavy_{sha256(names.encode()).hexdigest()[:16]}"


def _hashed(unit: str, table: HeavyTable) -> str:
    """Return the hash of a unit: equal units have the same one, also 7 as a decimal."""
    is_whole = unit_kind(table.scan) is Kind.INTEGER
    return f"xxhash64(try_cast({unit} AS BIGINT))" if is_whole else f"xxhash64({unit})"


def _counted(table: HeavyTable, collect: Collect) -> UnitCounts:
    """Count the rows of each unit; what is collected is as long for any table."""
    rows = f'SELECT {UNIT}, count(*) AS n FROM ({write_rows(table.scan, SPARK)}) AS "all"'
    units = f"SELECT {_hashed(UNIT, table)} AS h, n FROM ({rows} GROUP BY {UNIT}) AS each"
    summed = f"h, n > {table.limit} AS is_in, 1L AS units, least(n, {table.limit}) AS `rows`"
    hashed = f"SELECT {summed} FROM ({units}) AS counted"
    found = collect(with_our_names(words_text(hashed, BITS, ("units", "`rows`"))))
    bits = np.array(found.column("words")[0].as_py(), np.int64)
    number, within = (int(found.column(each)[0].as_py()) for each in ("units", "rows"))
    return UnitCounts(units=number, rows=within, words=bits)
