"""The interface between the ledger's operations and its storage: transactions over rows.

A storage keeps rows and answers and knows nothing of prices. Every transaction sees all that was
committed before it began; one that writes has the whole ledger to itself; and when it ends without
an error, what it wrote is durable.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Literal, Protocol, TypeAlias

from discreet.ledger.base import Kind
from discreet.ledger.book import Row

Mode: TypeAlias = Literal["read", "write"]

Words: TypeAlias = tuple[str, str]
"""What is wrong, and what to do instead."""

BUSY = ("Another process locked the ledger for too long", "Run the query again")
CLOSED = ("This ledger is closed", "Open it again")
FORKED = ("The ledger was opened by another process", "Open it in this process")
NEWER = ("The ledger was written by a newer version of Discreet", "Install that version")


class Transaction(Protocol):
    """What one transaction can read and write."""

    def rows(self, first: int, most: int | None = None) -> Iterator[Row]:
        """Return the rows from this number on, in order, no more than `most`."""

    def answered(self) -> Iterator[tuple[Row, bytes | None]]:
        """Return all rows with the answers that stand beside them, whatever an index says."""

    def of_question(self, question: str, kind: Kind) -> tuple[Row, bytes | None] | None:
        """Return the one row of this kind for a query, and the answer beside it."""

    def charges_under(self, beginning: str, most: int) -> list[Row]:
        """Return the last charges of queries that begin with these ASCII characters."""

    def digest(self, number: int) -> bytes | None:
        """Return the digest of the row of this number."""

    def append(self, row: Row, answer: bytes | None) -> None:
        """Write a row after the last."""

    def check_schema(self) -> None:
        """Reject tables, indices or triggers that are not ours."""

    def check_pages(self) -> None:
        """Reject a store that finds itself damaged."""


class Storage(Protocol):
    """Where a ledger is kept: one connection at a time, shared by the threads of a process.

    Words of a failed transaction are fixed and tell nothing about data.
    """

    def transaction(self, mode: Mode) -> AbstractContextManager[Transaction]:
        """Commit what is done inside, durably, or leave nothing of it."""

    def alone(self) -> AbstractContextManager[None]:
        """Keep the other threads of this process out."""

    def may_begin(self) -> bool:
        """Return whether the store was made just now, so that it has no entry yet."""

    def has_begun(self) -> None:
        """Note that the first entry is durable: from now on a store without it has lost it."""

    def key(self) -> bytes | None:
        """Return the secret that belongs to the ledger: the same for all who have it open.

        None if it may not be read.
        """

    def rest(self) -> None:
        """Let go of the connection, and of what it remembers, until it is needed again."""

    def close(self) -> None:
        """Reject everything from now on."""
