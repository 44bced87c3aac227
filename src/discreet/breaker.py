"""The breaker: what fails after its charge is recorded before anything else is done.

Whether a statement fails may depend on data. So every failure is written into the ledger, where it
suspends the account that caused it, and a failure that could not be written is owed: nothing is
answered in this process until it is.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from discreet.catalog.catalog import Suspends
from discreet.errors import Failure
from discreet.ledger import Ledger, Receipt

MOST_UNANSWERED = 10
"""An account with so many charges that have no answer is charged for no more: a process that dies
tells as much as a failure, and nobody is left to record it. What this process runs now is not
counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Failed:
    """A failure to be recorded."""

    receipt: Receipt
    failure: Failure
    account: str
    answer: bytes | None


class Breaker:
    """Records failures of one curator, for all of its accounts and threads."""

    def __init__(self, ledger: Ledger, suspends: Suspends = Suspends.ACCOUNT) -> None:
        self._ledger, self._suspends = ledger, suspends
        self._recording = Lock()
        # Lists grow and shrink by single steps of the interpreter, so that threads need no lock.
        self._owed: list[Failed] = []
        self._running: list[str] = []

    @contextmanager
    def asking(self, account: str, releases: int) -> Iterator[Callable[[], int]]:
        """Yield what says how many charges of an account may have no answer when it is called.

        Those that run now in this process are not lost, and come on top.
        """
        self._running.extend([account] * releases)
        try:
            yield lambda: MOST_UNANSWERED + self._running.count(account) - releases
        finally:
            for _ in range(releases):
                self._running.remove(account)

    def settle(self) -> None:
        """Record all that is owed, or raise LedgerError: nothing is answered without it."""
        while self._owed:  # what is being recorded by another thread is owed until it is
            with self._recording:
                if not self._owed:
                    return
                owed = self._owed[0]
                self._ledger.record_incident(
                    owed.receipt,
                    owed.failure,
                    account=owed.account,
                    suspends=self._suspends.value,
                    answer=owed.answer,
                )
                del self._owed[0]

    def record(
        self, receipt: Receipt, failure: Failure, *, account: str, answer: bytes | None = None
    ) -> None:
        """Record a failure, and keep an answer in its place if one is handed in."""
        self._owed.append(Failed(receipt, failure, account, answer))
        self.settle()
