"""What every engine offers: statements, limits, deadlines, and prepared tables.

Prepared tables are a form of the data. A form belongs to one state of the data and to what the
catalog says of units and limits. Its tables have names of their own, so that who opened one form
never reads another in its place.
"""

import json
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from itertools import count
from math import inf
from pathlib import Path
from time import monotonic
from typing import Protocol, runtime_checkable

import pyarrow as pa

from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import Column, Kind, PrivateTable, RowUnit
from discreet.engines.growth import Told, tell_nobody
from discreet.query.tree import ContributionBounding, ExactQuery, Scan
from discreet.tables import ExactTable

__all__ = ["ContributionBounding", "Engine", "ExactQuery", "Statement", "TableEngine"]


log = logging.getLogger("discreet.engine")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLimits:
    """What a query may use; public, and the same for all data."""

    timeout: float = 300
    """Seconds."""
    memory: str | None = None
    """As "4GB"; most of the machine's if not set."""
    threads: int | None = None


LIMITS = ResourceLimits()


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


SCALAR = "$released_"
"""Begins the name that stands for a noisy number which is not known yet."""


Scalars = tuple[int | float | None, ...]
"""Noisy numbers that earlier releases of a question give to the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """An exact query that an engine has accepted, and the SQL that it runs."""

    query: ExactQuery
    sql: str
    """Noisy numbers that are not known yet stand as names."""

    @property
    def reads_scalars(self) -> bool:
        """Whether it may name any: then it is written again when they are known."""
        return SCALAR in self.sql


class Engine(Protocol):
    """A database that holds the tables."""

    dialect: str

    def columns(self, table: str) -> tuple[Column, ...]:
        """Return the table's columns and kinds; reads the schema, no rows."""
        ...

    def bind(self, query: ExactQuery) -> Statement:
        """Return what `run` will run, or reject what it could not; reads no rows.

        What is rejected follows from the schema, and from a run on synthetic rows.
        """
        ...

    def run(self, statement: Statement, scalars: Scalars) -> ExactTable:
        """Run it, with the noisy numbers that earlier releases of the question gave."""
        ...

    def close(self) -> None: ...


class TableEngine(Engine, Protocol):
    """An engine that holds the tables themselves, public ones among them."""

    version: str
    """What changes when the tables do, as far as the engine notices."""

    def table(self, name: str) -> pa.Table:
        """Return a whole table; only ever called for tables that the catalog declares public."""
        ...


FORM = 3
"""Changes when forms are made in another way: older ones are made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedTables:
    """What is to be prepared."""

    tables: Mapping[str, str]
    """Private tables by name, as the catalog says where they are."""
    declared: str
    """What the catalog says of units and limits."""
    place: Path | None = None
    """The folder for forms of engines that write files."""

    @property
    def family(self) -> str:
        """What all forms of these tables have in common, whatever the data and the limits."""
        return _digest(sorted(self.tables.items()))

    def key(self, state: str) -> str:
        """Return what is the same only for forms of the same catalog and data in this state."""
        return _digest([FORM, state, self.declared, sorted(self.tables.items())])


@runtime_checkable
class PreparingEngine(Protocol):
    """An engine that can make a prepared form of the tables that it holds, where they are."""

    is_prepared: bool
    """Whether it reads a form that was made before."""
    is_outdated: bool
    """Whether there is a form of these tables, but of other data or another catalog."""

    def prepare(
        self,
        form: PreparedTables,
        scans: Scans,
        progress: Progress | None = None,
        told: Told = tell_nobody,
    ) -> bool:
        """Make the form, let one grow, or go on; return False if it was there.

        `told` hears which tables grow, and why others are prepared anew.
        """
        ...


def _digest(told: object) -> str:
    return sha256(json.dumps(told).encode()).hexdigest()


def columns_text(columns: tuple[Column, ...]) -> str:
    """Return columns as a text, from which `columns_from` has them back."""
    return json.dumps([_told(each) for each in columns])


def _told(column: Column) -> list[str | bool | None]:
    step = None if column.step is None else str(column.step)
    return [column.name, column.kind.value, step, column.nulls, column.is_rounded]


def columns_from(told: str) -> tuple[Column, ...]:
    """Return the columns that a text tells of."""
    return tuple(
        Column(
            name=name,
            kind=Kind(kind),
            step=None if step is None else Fraction(step),
            nulls=null,
            is_rounded=any(is_rounded),
        )
        for name, kind, step, null, *is_rounded in json.loads(told)
    )


Stop = Callable[[], object]


class Deadlines:
    """Calls what was handed in when its time is over, and again until it has ended.

    Beginning and ending take microseconds. The thread is woken early only for a deadline that is
    earlier than the one it waits for, so that queries with the same time to run never wake it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._numbers = count()
        self._open: dict[int, tuple[float, Stop]] = {}
        self._wakes_at = inf
        self._thread: threading.Thread | None = None

    @contextmanager
    def within(self, seconds: float, stop: Stop) -> Iterator[None]:
        """Call `stop`, from another thread, if what is inside lasts longer."""
        number = self._begin(monotonic() + seconds, stop)
        try:
            yield
        finally:
            # Under the lock: once this has returned, `stop` is not called any more.
            with self._changed:
                self._open.pop(number, None)

    def _begin(self, deadline: float, stop: Stop) -> int:
        with self._changed:
            number = next(self._numbers)
            self._open[number] = (deadline, stop)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
                self._thread.start()
            elif deadline < self._wakes_at:
                self._changed.notify()
        return number

    def _run(self) -> None:
        with self._changed:
            while True:
                self._stop_late_ones()
                self._wakes_at = min((each for each, _ in self._open.values()), default=inf)
                left = self._wakes_at - monotonic()
                self._changed.wait(None if left == inf else max(0.0, min(left, LONGEST_WAIT)))

    def _stop_late_ones(self) -> None:
        now = monotonic()
        late = [number for number, (deadline, _) in self._open.items() if deadline <= now]
        for number in late:
            _, stop = self._open[number]
            self._open[number] = (now + AGAIN_AFTER, stop)
            try:
                stop()
            except Exception:
                log.exception("a query that takes too long could not be stopped")


AGAIN_AFTER = 0.1
"""Seconds; an engine may miss a call that comes before it has begun to run."""


LONGEST_WAIT = min(threading.TIMEOUT_MAX, 86_400.0)
"""Seconds; the system cannot wait for any longer time."""


_watch = Deadlines()


def deadlines() -> Deadlines:
    """Return the watch of this process."""
    return _watch


def _begin_anew() -> None:
    """Threads and locks of the parent do not live on in a child that was forked."""
    global _watch  # noqa: PLW0603 - one for each process
    _watch = Deadlines()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
