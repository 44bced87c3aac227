"""The stores that keep the ledger's contract, and children that may be killed."""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from discreet.accounting import Budget, PureEvent
from discreet.ledger import PerMonth, PostgresLedger, SqliteLedger
from discreet.ledger.stored import StoredLedger
from tests.postgresql import shared_server

TENTH = PureEvent(epsilon=Fraction(1, 10))
ONE = Budget(epsilon=1)

Groups: TypeAlias = Sequence[Sequence[str]]
"""Tables that have no unit in common."""


class Store(Protocol):
    """Somewhere to keep one book."""

    def open(
        self,
        budget: Budget = ONE,
        *,
        neighbours: str = "add-remove",
        disjoint: Groups = (),
        per_month: PerMonth | None = None,
    ) -> StoredLedger:
        """Open the book, the same one each time if the store is durable."""

    def existing(self) -> StoredLedger:
        """Open the book under the policy that it records."""

    def renew(self) -> None:
        """Turn to a new book."""

    def trace(self, ledger: StoredLedger, begins: Callable[[], None]) -> None:
        """Call back before each statement that the ledger runs from now on."""


class FileStore:
    """A SQLite file."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "ledger.db"

    def open(
        self,
        budget: Budget = ONE,
        *,
        neighbours: str = "add-remove",
        disjoint: Groups = (),
        per_month: PerMonth | None = None,
    ) -> SqliteLedger:
        return SqliteLedger(
            self.path, budget=budget, neighbours=neighbours, disjoint=disjoint, per_month=per_month
        )

    def existing(self) -> SqliteLedger:
        return SqliteLedger.existing(self.path)

    def renew(self) -> None:
        self.path.unlink(missing_ok=True)

    def trace(self, ledger: StoredLedger, begins: Callable[[], None]) -> None:
        connection_of(ledger).set_trace_callback(lambda _: begins())


class PostgresStore:
    """A schema of its own on a real PostgreSQL server."""

    def __init__(self, _: Path) -> None:
        self.server = shared_server()
        self.renew()

    @property
    def address(self) -> str:
        return f"{self.server}#{self.schema}"

    def open(
        self,
        budget: Budget = ONE,
        *,
        neighbours: str = "add-remove",
        disjoint: Groups = (),
        per_month: PerMonth | None = None,
    ) -> PostgresLedger:
        return PostgresLedger(
            self.address,
            budget=budget,
            neighbours=neighbours,
            disjoint=disjoint,
            per_month=per_month,
        )

    def existing(self) -> PostgresLedger:
        return PostgresLedger.existing(self.address)

    def renew(self) -> None:
        self.schema = f"book_{os.getpid()}_{next(_numbers)}"

    def trace(self, ledger: StoredLedger, begins: Callable[[], None]) -> None:
        connection = connection_of(ledger)
        execute = connection.execute

        def traced(*given: object) -> object:
            begins()
            return execute(*given)

        connection.execute = traced


_numbers = count()


def connection_of(ledger: StoredLedger) -> Any:
    """Return the connection that a ledger is using now."""
    ledger.remaining()  # connects
    storage: Any = ledger._storage
    return storage._connection


class MemoryStore:
    """SQLite in memory."""

    def __init__(self, folder: Path) -> None:
        """Take a folder as the others do, and leave it alone."""

    def open(
        self,
        budget: Budget = ONE,
        *,
        neighbours: str = "add-remove",
        disjoint: Groups = (),
        per_month: PerMonth | None = None,
    ) -> SqliteLedger:
        return SqliteLedger(
            budget=budget, neighbours=neighbours, disjoint=disjoint, per_month=per_month
        )

    def existing(self) -> SqliteLedger:
        raise NotImplementedError

    def renew(self) -> None:
        """Every book that is opened is a new one."""

    def trace(self, ledger: StoredLedger, begins: Callable[[], None]) -> None:
        raise NotImplementedError


STORES: dict[str, Callable[[Path], Store]] = {
    "file": FileStore,
    "memory": MemoryStore,
    "postgres": PostgresStore,
}
"""Each is held to the whole contract."""


def child(act: Callable[[], None]) -> int:
    """Start a process that does something and ends; return its number."""
    sys.stdout.flush()
    sys.stderr.flush()
    number = os.fork()
    if number:
        return number
    status = 1
    try:
        act()
        status = 0
    except BaseException:  # noqa: BLE001 - shown by the parent's output
        traceback.print_exc()
    finally:
        os._exit(status)


def end_of(number: int) -> int:
    """Return how a child ended: its exit status, or minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def die() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def told_by_children(count: int, work: Callable[[int], list[str]]) -> list[str]:
    """Run work in so many processes at once and return all lines that they tell."""
    pipes = [os.pipe() for _ in range(count)]

    def tell(i: int) -> None:
        with os.fdopen(pipes[i][1], "w") as out:
            out.write("\n".join(work(i)))

    children = [child(lambda i=i: tell(i)) for i in range(count)]  # type: ignore[misc]
    lines = []
    for reading, writing in pipes:
        os.close(writing)
        with os.fdopen(reading) as told:
            lines += told.read().split()
    assert [end_of(each) for each in children] == [0] * count
    return lines
