"""Heavy units as engines know them: those with more rows of a table than its limit."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from time import monotonic
from typing import Protocol

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


class TableLocks:
    """A lock for each table: whoever asks about others does not wait while units are counted."""

    def __init__(self) -> None:
        self._own, self._locks = Lock(), dict[str, Lock]()

    @contextmanager
    def held(self, tables: Sequence[HeavyTable], until: float) -> Iterator[None]:
        """Hold those of these tables, all in one order, or raise TimeoutError at a moment."""
        with ExitStack() as stack:
            for name in sorted({each.name for each in tables}):
                with self._own:
                    lock = self._locks.setdefault(name, Lock())
                if not lock.acquire(timeout=seconds_until(until)):
                    raise TimeoutError
                stack.callback(lock.release)
            yield


def seconds_until(moment: float) -> float:
    """Return how long it is to a moment of `monotonic`; never 0, which would be no limit."""
    return max(0.001, moment - monotonic())
