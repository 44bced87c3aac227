"""The durable book of what was charged and what was answered."""

from discreet.ledger.base import Entry, Kept, Ledger, Receipt
from discreet.ledger.sqlite import SqliteLedger

__all__ = ["Entry", "Kept", "Ledger", "Receipt", "SqliteLedger"]
