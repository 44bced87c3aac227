"""Which engine an address means."""

from collections.abc import Mapping

from discreet.engines.base import Holder
from discreet.engines.connection import LIMITS, Limits
from discreet.engines.postgresql import PostgreSqlEngine


def open_engine(address: str, tables: Mapping[str, str], *, limits: Limits = LIMITS) -> Holder:
    """Return the engine at an address, with tables as it calls them by their names in questions."""
    return PostgreSqlEngine.open(address, tables, limits=limits)
