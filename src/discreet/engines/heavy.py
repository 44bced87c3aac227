"""Heavy units as engines know them: those with more rows of a table than its limit."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from time import monotonic, sleep
from typing import Protocol
from weakref import ref

from discreet.query.tree import Scan


@dataclass(frozen=True, slots=True, kw_only=True)
class HeavyTable:
    """All rows of a table, whatever a query reads of it, and how many of them make a unit heavy."""

    scan: Scan
    limit: int

    @property
    def name(self) -> str:
        """What is the same only for tables with the same units, limit and path to the unit."""
        path = (self.scan.table, *self.scan.parents)
        told = [(each.name, repr(each.unit)) for each in path]
        whole = repr((told, repr(self.scan.table.by_month), self.limit))
        return sha256(whole.encode()).hexdigest()[:16]


class Heavy(Protocol):
    """What an engine knows of units with more rows of a table than its limit."""

    def knows(self, tables: Sequence[HeavyTable]) -> bool:
        """Return whether it can tell for all of these tables; follows from no rows."""
        ...

    def test(self, unit: str, tables: Sequence[HeavyTable]) -> str:
        """Return the condition that a unit may be heavy in one of these tables."""
        ...

    def rows(self, table: HeavyTable, columns: Sequence[str], others: str) -> str | None:
        """Return a SELECT of the unit and these columns of rows of heavy units, if they are kept.

        `others` are all rows of the table, of which none need be read then.
        """
        ...

    def counts(self, table: HeavyTable) -> str | None:
        """Return where the numbers of units and of rows within the limit are, if anywhere."""
        ...


@dataclass(eq=False, slots=True, weakref_slot=True)
class _Holder:
    """Who holds tables, until it says that it is done, or is there no longer."""

    is_done: bool = False


class TableLocks:
    """Who counts which tables: whoever asks about others does not wait meanwhile.

    An interruption may come at any moment, also between taking a lock and noting that it was taken.
    So what is held follows from who is still there to hold it, and nothing needs to be given back.
    """

    def __init__(self) -> None:
        self._own, self._holders = Lock(), dict[str, ref[_Holder]]()

    @contextmanager
    def held(self, tables: Sequence[HeavyTable], until: float) -> Iterator[None]:
        """Hold all of these tables, or raise TimeoutError at a moment."""
        own, names = _Holder(), {each.name for each in tables}
        try:
            while not self._taken(own, names):
                if monotonic() >= until:
                    raise TimeoutError
                sleep(PAUSE)
            yield
        finally:
            own.is_done = True

    def _taken(self, own: _Holder, names: Iterable[str]) -> bool:
        """Take all of these tables if nobody holds one of them."""
        with self._own:
            if any(map(self._is_held, names)):
                return False
            self._holders.update(dict.fromkeys(names, ref(own)))
            return True

    def _is_held(self, name: str) -> bool:
        holder = self._holders[name]() if name in self._holders else None
        return holder is not None and not holder.is_done


PAUSE = 0.002
"""Seconds until somebody who waits looks again."""


def seconds_until(moment: float) -> float:
    """Return how long it is to a moment of `monotonic`; never 0, which would be no limit."""
    return max(0.001, moment - monotonic())
