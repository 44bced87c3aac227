"""A ledger on a PostgreSQL server, which several machines can share."""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from typing import Self

from discreet.accounting import Budget
from discreet.ledger.book import Book, Line, Policy
from discreet.ledger.postgres.storage import PostgresStorage
from discreet.ledger.scopes import disjoint_from
from discreet.ledger.stored import StoredLedger

SCHEMA = "discreet"
"""The schema of an address that names none."""


class PostgresLedger(StoredLedger):
    """The book of one data set's budget, in one schema of a PostgreSQL database.

    The address is libpq's, "postgresql://role@host/database", and may name the schema after a
    "#". It promises what SqliteLedger promises. A server that fails or cannot be reached means that
    nothing is answered meanwhile; afterwards the ledger goes on by itself. If a connection is lost
    while a charge is committed, nobody knows whether it was: the call raises LedgerError, and
    charging for the same question again finds out, and never charges twice.
    """

    def __init__(
        self,
        address: str,
        *,
        budget: Budget,
        neighbours: str = "add-remove",
        disjoint: Iterable[Collection[str]] = (),
        data: Collection[str] = (),
    ) -> None:
        policy = Policy(
            total=budget,
            neighbours=neighbours,
            disjoint=disjoint_from(disjoint),
            data=frozenset(data),
        )
        storage = PostgresStorage(*parted(address))
        storage.make(Book().row(Line(kind="policy", about=policy.record), datetime.now(UTC)))
        super().__init__(storage, policy)

    @classmethod
    def existing(cls, address: str) -> Self:
        """Open a ledger under the policy that it records; none is made where there is none."""
        storage = PostgresStorage(*parted(address))
        storage.check_made()
        ledger = cls.__new__(cls)
        StoredLedger.__init__(ledger, storage, None)
        return ledger


def parted(address: str) -> tuple[str, str]:
    """Return libpq's part of an address, and the schema."""
    server, _, schema = address.partition("#")
    return server, schema or SCHEMA
