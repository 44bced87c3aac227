"""The ledger: the durable record of charges and answers."""

from discreet.ledger.base import (
    OWNER,
    AccountBalance,
    Analyst,
    Entry,
    Incident,
    Item,
    Kept,
    Ledger,
    LedgerView,
    Receipt,
    Report,
)
from discreet.ledger.incidents import bits_told
from discreet.ledger.opening import existing_ledger, is_on_server, open_ledger
from discreet.ledger.postgres import PostgresLedger
from discreet.ledger.sqlite import SqliteLedger
from discreet.ledger.tokens import Token, make_token

__all__ = [
    "OWNER",
    "AccountBalance",
    "Analyst",
    "Entry",
    "Incident",
    "Item",
    "Kept",
    "Ledger",
    "LedgerView",
    "PostgresLedger",
    "Receipt",
    "Report",
    "SqliteLedger",
    "Token",
    "bits_told",
    "existing_ledger",
    "is_on_server",
    "make_token",
    "open_ledger",
]
