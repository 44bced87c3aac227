"""What every ledger promises, whatever it is stored in, and the values that it hands out.

A question is paid once. Its charge is durable before any data are read, its answer is durable
before anyone sees it, and nothing that was written is changed: there is no reset, refund or edit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias

from discreet.accounting import Charge, Event, Remaining

Kind: TypeAlias = Literal["policy", "charge", "answer"]
"""What an entry says: the total in force, a question paid for, or its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A question is paid for: its charge is durable, and its answer may be computed."""

    question: str
    events: tuple[Event, ...]
    account: str
    number: int
    """The number of the entry that holds the charge."""
    already_paid: bool
    """Whether an earlier call paid; then this one charged nothing."""
    remaining: Remaining
    """What was left when this receipt was handed out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The one answer of a question that was paid for."""

    receipt: Receipt
    answer: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the book, as it was written; its digest covers it and all before it."""

    number: int
    kind: Kind
    written: datetime
    question: str
    account: str
    events: tuple[Event, ...]
    about: Mapping[str, str]
    """The total in force, what the caller noted of a question, or the answer's SHA-256."""
    digest: str


class Ledger(Protocol):
    """A book that several threads and processes write together and never overspend.

    Every method raises LedgerError, in words that do not depend on data, when the book cannot be
    read or written as it must; after a failed commit all of them do.
    """

    def find(self, question: str) -> Receipt | Kept | None:
        """Return the kept answer, else the receipt of a question that was paid for, else None."""

    def charge(
        self,
        question: str,
        events: Sequence[Event],
        *,
        account: str = "owner",
        about: Mapping[str, str] = MappingProxyType({}),
    ) -> Receipt:
        """Charge for all of the events or raise BudgetError; durable when it returns.

        A question that was paid for is not charged again.
        """

    def keep(self, receipt: Receipt, answer: bytes) -> bytes:
        """Return the answer that is kept, the first one handed in; durable when it returns."""

    def remaining(self) -> Remaining:
        """Return what is left of the total in force."""

    def charged(self) -> Charge:
        """Return what all entries together have taken."""

    def entries(self) -> Iterator[Entry]:
        """Return all entries in the order in which they were written."""

    def head(self) -> str:
        """Return the digest of the last entry; noted elsewhere, it shows a dropped tail."""

    def verify(self, head: str | None = None) -> None:
        """Raise LedgerError unless every entry is as it was written and head is among them."""

    def close(self) -> None:
        """Let go of the book; charges and answers are in it already."""
