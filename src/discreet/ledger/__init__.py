"""The ledger: its public names, and which storage an address means."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.account_limits import AccountLimits
from discreet.accounting import Budget
from discreet.deprecated import deprecated_names
from discreet.ledger.analysts import OWNER, Analyst
from discreet.ledger.base import (
    AccountBalance,
    Entry,
    Incident,
    Item,
    Ledger,
    LedgerView,
    Receipt,
    Report,
    SavedAnswer,
)
from discreet.ledger.incidents import bits_told
from discreet.ledger.inputs import Token, make_token
from discreet.ledger.postgres import PostgresLedger
from discreet.ledger.requests import Request
from discreet.ledger.sqlite import SqliteLedger

__all__ = [
    "OWNER",
    "AccountBalance",
    "AccountLimits",
    "Analyst",
    "Entry",
    "Incident",
    "Item",
    "Ledger",
    "LedgerView",
    "PostgresLedger",
    "Receipt",
    "Report",
    "Request",
    "SavedAnswer",
    "SqliteLedger",
    "Token",
    "bits_told",
    "existing_ledger",
    "is_on_server",
    "make_token",
    "open_ledger",
]

if not TYPE_CHECKING:
    __getattr__ = deprecated_names(
        __name__,
        {
            "Kept": "discreet.ledger.SavedAnswer",
        },
    )


SERVER = ("postgresql://", "postgres://")


def open_ledger(
    address: str | Path,
    *,
    budget: Budget,
    neighbours: str = "add-remove",
    disjoint: Iterable[Collection[str]] = (),
    data: Collection[str] = (),
) -> Ledger:
    """Return the ledger at an address: of a PostgreSQL server, of a file, or ":memory:"."""
    if is_on_server(address):
        return PostgresLedger(
            str(address), budget=budget, neighbours=neighbours, disjoint=disjoint, data=data
        )
    return SqliteLedger(address, budget=budget, neighbours=neighbours, disjoint=disjoint, data=data)


def existing_ledger(address: str | Path) -> Ledger:
    """Return the ledger at an address under the policy that it records; none is made."""
    if is_on_server(address):
        return PostgresLedger.existing(str(address))
    return SqliteLedger.existing(address)


def is_on_server(address: str | Path) -> bool:
    """Return whether an address is that of a server."""
    return isinstance(address, str) and address.startswith(SERVER)
