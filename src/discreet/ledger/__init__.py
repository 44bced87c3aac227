"""The ledger: its public names, and which storage an address means."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

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
from discreet.ledger.blocks import PerMonth
from discreet.ledger.incidents import bits_told
from discreet.ledger.inputs import Token, make_token
from discreet.ledger.requests import Request
from discreet.ledger.sqlite import SqliteLedger
from discreet.on_use import names_of

if TYPE_CHECKING:
    from discreet.ledger.postgres import PostgresLedger

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
    "PerMonth",
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

_later = names_of(__name__, {"postgres": "PostgresLedger"})

if not TYPE_CHECKING:
    __getattr__ = deprecated_names(
        __name__,
        {
            "Kept": "discreet.ledger.SavedAnswer",
        },
        _later,
    )


SERVER = ("postgresql://", "postgres://")


def open_ledger(  # noqa: PLR0913 - the policy, field by field
    address: str | Path,
    *,
    budget: Budget,
    neighbours: str = "add-remove",
    disjoint: Iterable[Collection[str]] = (),
    per_month: PerMonth | None = None,
    data: Collection[str] = (),
) -> Ledger:
    """Return the ledger at an address: of a PostgreSQL server, of a file, or ":memory:"."""
    policy: dict[str, Any] = {
        "budget": budget,
        "neighbours": neighbours,
        "disjoint": disjoint,
        "per_month": per_month,
        "data": data,
    }
    if is_on_server(address):
        return _on_server()(str(address), **policy)
    return SqliteLedger(address, **policy)


def _on_server() -> "type[PostgresLedger]":
    return cast("type[PostgresLedger]", _later("PostgresLedger"))


def existing_ledger(address: str | Path) -> Ledger:
    """Return the ledger at an address under the policy that it records; none is made."""
    if is_on_server(address):
        return _on_server().existing(str(address))
    return SqliteLedger.existing(address)


def is_on_server(address: str | Path) -> bool:
    """Return whether an address is that of a server."""
    return isinstance(address, str) and address.startswith(SERVER)
