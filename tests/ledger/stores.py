"""The stores that keep the ledger's contract, and children that may be killed."""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Protocol

from discreet.accounting import Budget, PureEvent
from discreet.ledger import Ledger, SqliteLedger

TENTH = PureEvent(epsilon=Fraction(1, 10))
ONE = Budget(epsilon=1)


class Store(Protocol):
    """Somewhere to keep one book."""

    durable: bool

    def open(self, budget: Budget = ONE, *, neighbours: str = "add-remove") -> Ledger:
        """Open the book, the same one each time if the store is durable."""


class FileStore:
    """A SQLite file."""

    durable = True

    def __init__(self, folder: Path) -> None:
        self.path = folder / "ledger.db"

    def open(self, budget: Budget = ONE, *, neighbours: str = "add-remove") -> SqliteLedger:
        return SqliteLedger(self.path, budget=budget, neighbours=neighbours)


class MemoryStore:
    """SQLite in memory."""

    durable = False

    def __init__(self, folder: Path) -> None:
        """Take a folder as the others do, and leave it alone."""

    def open(self, budget: Budget = ONE, *, neighbours: str = "add-remove") -> SqliteLedger:
        return SqliteLedger(budget=budget, neighbours=neighbours)


STORES: dict[str, Callable[[Path], Store]] = {"file": FileStore, "memory": MemoryStore}
"""Each is held to the whole contract; one for PostgreSQL is to be added here."""


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
