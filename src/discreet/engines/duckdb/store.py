"""DuckDB connections that have access only to their own tables."""

import logging
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

import duckdb

from discreet.engines.base import LIMITS, ResourceLimits, deadlines, log
from discreet.engines.duckdb.optimizers import disabled_optimizers
from discreet.engines.spill_folders import Spill, make_spill, remove_abandoned

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
    def cursor(
        self, opened: duckdb.DuckDBPyConnection | None = None
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a cursor of one's own, interrupted when the time is over, and close it."""
        cursor = opened or self.open_cursor()
        try:
            with deadlines().within(self.limits.timeout, cursor.interrupt):
                yield cursor
        finally:
            cursor.close()

    def close(self) -> None:
        self._end()


def bound(cursor: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
    """Return what one statement gives, bound and not run; it is parsed once."""
    (statement,) = cursor.extract_statements(sql)
    return cursor.sql(statement)


class BoundQueries:
    """Queries that were bound when they were checked, to be run without binding them again."""

    def __init__(self, most: int = 8) -> None:
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


def _end(connection: duckdb.DuckDBPyConnection, spill: Spill, process: int) -> None:
    """Close a database and remove its folder; a forked child leaves both to its parent."""
    if process != os.getpid():
        _of_parents.append(connection)
        return
    with suppress(duckdb.Error):
        connection.close()
    spill.remove()
