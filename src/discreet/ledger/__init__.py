"""The durable book of what was charged and what was answered."""

from discreet.ledger.base import OWNER, Analyst, Entry, Kept, Ledger, Receipt, Report
from discreet.ledger.sqlite import SqliteLedger
from discreet.ledger.tokens import Token, make_token

__all__ = [
    "OWNER",
    "Analyst",
    "Entry",
    "Kept",
    "Ledger",
    "Receipt",
    "Report",
    "SqliteLedger",
    "Token",
    "make_token",
]
