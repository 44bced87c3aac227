"""DuckDB connections that have access only to their own tables.

**Optimizers.** An optimizer that trusts what it knows of the data can be wrong about it, and then a
statement fails for some data and not for others: a noiseless answer to whatever the analyst made it
depend on. Statistics once proved a side of an outer join empty, the bounds of a sum followed from
that, and the sum was cast to a type too small for it. So an optimizer runs only if it is listed
here; one that a later DuckDB adds is off until somebody has read it.

**Folders.** Tables that exceed memory go to private folders, which are removed even after a kill.
`locked_folders` says how.
"""

import logging
import os
import threading
import weakref
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from functools import cache

import duckdb

from discreet.engines.base import LIMITS, ResourceLimits, deadlines, log
from discreet.locked_folders import LockedFolder, make_locked_folder, remove_abandoned_folders

RUNNING = {
    "expression_rewriter": "folds constants and simplifies expressions, from the expressions alone",
    "filter_pullup": "moves conditions; all conditions of ours are total, in whatever order",
    "filter_pushdown": "moves conditions to where rows are read",
    "empty_result_pullup": "drops what a constant condition leaves empty",
    "in_clause": "turns long lists of constants into joins with them",
    "deliminator": "simplifies the joins that EXISTS becomes",
    "unused_columns": "leaves out columns that nothing reads",
    "common_subexpressions": "computes equal expressions once",
    "common_aggregate": "computes equal aggregates once",
    "column_lifetime": "drops columns after their last use",
    "duplicate_groups": "leaves out keys that stand in GROUP BY twice",
    "reorder_filter": "tests cheap conditions first, by what they are made of",
    "join_order": "chooses among equal joins by numbers of rows; no plan assumes them",
    "build_side_probe_side": "chooses the side that is hashed by numbers of rows; likewise",
}
"""Each with what it goes by."""


OFF = {
    "statistics_propagation": "trusts column statistics: folds conditions, narrows types, picks "
    "aggregates and joins that fail on values outside",
    "compressed_materialization": "casts columns to types that statistics call wide enough",
    "join_filter_pushdown": "filters one side by values found on the other while running",
    "row_group_pruner": "skips rows by the statistics of their group",
    "late_materialization": "reads rows a second time by their numbers",
    "top_n_window_elimination": "turns a rank that is limited into a slower form",
    "cte_filter_pusher": "is for WITH, which statements here do not use",
    "cte_inlining": "is for WITH",
    "materialized_cte": "is for WITH",
    "regex_range": "is for regular expressions, which statements here do not use",
    "unnest_rewriter": "is for UNNEST",
    "limit_pushdown": "is for LIMIT",
    "top_n": "is for ORDER BY with LIMIT",
    "redundant_order_keys": "is for ORDER BY",
    "sampling_pushdown": "is for samples",
    "grouping_sets": "is for GROUPING SETS",
    "remote_pushdown": "is for tables elsewhere",
    "extension": "runs what extensions bring",
    **dict.fromkeys(
        (
            "aggregate_function_rewriter",
            "aggregate_reuse",
            "common_subplan",
            "distinct_aggregate_rewrite",
            "join_elimination",
            "outer_join_simplification",
            "partial_aggregate_pushdown",
            "partitioned_execution",
            "projection_placement",
            "projection_pullup",
            "scalar_fn_pushdown",
            "type_pushdown",
            "window_rewriter",
            "window_self_join",
        ),
        "is not needed; what it goes by was not read",
    ),
}
"""Each with why."""


def disabled_optimizers(
    connection: duckdb.DuckDBPyConnection, besides: Collection[str] = ()
) -> str:
    """Return the names of all optimizers that must not run, as the setting wants them."""
    found = connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()
    return ",".join(sorted(name for (name,) in found if name not in {*RUNNING, *besides}))


PREFIX = "discreet-spill-"


def make_spill() -> LockedFolder:
    """Make a folder of mode 700 below the system's folder for temporary files."""
    return make_locked_folder(PREFIX)


def remove_abandoned() -> None:
    """Remove the folders of this user's processes that ended without doing so."""
    remove_abandoned_folders(PREFIX)


log.addHandler(logging.NullHandler())  # nothing is shown until the owner asks for it
"""For the owner: what engines say in their own words."""


FIXED = (
    "python_enable_replacements = false",
    "python_scan_all_frames = false",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "allow_community_extensions = false",
    "default_null_order = 'NULLS_LAST'",
    "ieee_floating_point_ops = true",
    "integer_division = false",
    "TimeZone = 'UTC'",
)
"""So that results follow from tables and SQL alone. All are set globally: a cursor does not inherit
what is set on a connection."""


SEALED = ("enable_external_access = false", "lock_configuration = true")
"""From then on: no files, no network, no extensions, no settings."""


class Store:
    """A DuckDB of this process. Once sealed, nothing outside can be read or written from it.

    Tables that outgrow the memory limit spill to a private folder, which is removed at the end, or
    by the next process of the same user if this one was killed.
    """

    def __init__(self, limits: ResourceLimits = LIMITS) -> None:
        self.limits = limits
        _remove_abandoned_once()
        self._spill = make_spill()
        self.connection = duckdb.connect(":memory:")
        self._end = weakref.finalize(self, _end, self.connection, self._spill, os.getpid())
        for each in (*FIXED, *self._own_settings()):
            self.connection.execute(f"SET GLOBAL {each}")

    def _own_settings(self) -> Iterator[str]:
        yield f"disabled_optimizers = '{disabled_optimizers(self.connection)}'"
        folder = str(self._spill.folder).replace("'", "''")
        yield f"temp_directory = '{folder}'"
        if self.limits.memory is not None:
            yield f"memory_limit = '{self.limits.memory.replace(chr(39), '')}'"
        if self.limits.threads is not None:
            yield f"threads = {int(self.limits.threads)}"

    def seal(self) -> None:
        for each in SEALED:
            self.connection.execute(f"SET GLOBAL {each}")

    def open_cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a cursor of one's own; whoever asks closes it."""
        return self.connection.cursor()

    @contextmanager
    def cursor(self, *, timeout: float | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a cursor of one's own, interrupted when the time is over, and close it.

        The time is that of the limits, or `timeout` if that is less.
        """
        cursor = self.open_cursor()
        try:
            with self.timed(cursor, timeout=timeout):
                yield cursor
        finally:
            cursor.close()

    @contextmanager
    def timed(
        self, cursor: duckdb.DuckDBPyConnection, *, timeout: float | None = None
    ) -> Iterator[None]:
        """Interrupt a cursor when the time is over; whoever opened it closes it."""
        seconds = self.limits.timeout if timeout is None else min(timeout, self.limits.timeout)
        with deadlines().within(seconds, cursor.interrupt):
            yield

    def close(self) -> None:
        self._end()


def bound(cursor: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
    """Return what one statement gives, bound and not run; it is parsed once."""
    (statement,) = cursor.extract_statements(sql)
    return cursor.sql(statement)


class BoundQueries:
    """Queries that were bound when they were checked, to be run without binding them again.

    Whoever takes one has it alone, and puts it back if it ran well: the tables never change, so it
    is bound for all that ask the same.
    """

    def __contains__(self, text: str) -> bool:
        with self._lock:
            return text in self._held

    def __init__(self, most: int = 32) -> None:
        self._most, self._lock = most, threading.Lock()
        self._held: dict[str, Bound] = {}

    def put(
        self, text: str, cursor: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation
    ) -> None:
        """Hold a query; the oldest goes where there are too many."""
        with self._lock:
            gone = [self._held.pop(text)] if text in self._held else []
            self._held[text] = (cursor, relation)
            while len(self._held) > self._most:
                gone.append(self._held.pop(next(iter(self._held))))
        for held, _ in gone:
            held.close()

    def taken(self, text: str) -> "Bound | tuple[None, None]":
        """Return a query that is held, for this caller alone."""
        with self._lock:
            return self._held.pop(text, (None, None))

    def close(self) -> None:
        """Let go of all, and of each that is still put back."""
        self._most = 0
        self.clear()

    def clear(self) -> None:
        """Let go of all."""
        with self._lock:
            held, self._held = list(self._held.values()), {}
        for cursor, _ in held:
            cursor.close()


Bound = tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyRelation]


_remove_abandoned_once = cache(remove_abandoned)
"""Folders of processes that were killed are looked for when the first store is made."""


_of_parents: list[duckdb.DuckDBPyConnection] = []
"""Held until the process ends: closing them would wait for threads that a fork left behind."""


def _end(connection: duckdb.DuckDBPyConnection, spill: LockedFolder, process: int) -> None:
    """Close a database and remove its folder; a forked child leaves both to its parent."""
    if process != os.getpid():
        _of_parents.append(connection)
        return
    with suppress(duckdb.Error):
        connection.close()
    spill.remove()
