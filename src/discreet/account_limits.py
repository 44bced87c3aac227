"""What an account may be charged for one query and in one day, within its cap."""

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from discreet.amounts import JsonValue, exact_and_float
from discreet.errors import BudgetError, PerDayLimitError, PerQueryLimitError

LIMITS = ("per_query", "per_day", "default_epsilon", "confirm_above")
"""The names of limits, as accounts and their entries have them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLimits:
    """The limits of an account within its cap, and how much of the day's is left. None: no limit.

    They are for convenience and are no part of the privacy guarantee, which the cap and the total
    give.
    """

    per_query: Fraction | None = None
    """The most epsilon that one query may be charged."""
    per_day: Fraction | None = None
    """The most epsilon that may be charged in one day, by UTC."""
    remaining_today: Fraction | None = None
    """How much of it may still be charged; the cap and the total hold besides."""
    default_epsilon: Fraction | None = None
    """What a query costs that comes from a client which has no place to state an epsilon."""
    confirm_above: Fraction | None = None
    """A query of an agent that costs more needs the confirmation of a person."""
    renewed: datetime | None = None
    """When the next day begins for this account; None without a limit per day."""

    def rejection(self, account: str, epsilon: Fraction) -> BudgetError | None:
        """Return the error for a query that costs more than is allowed; None if it is allowed."""
        if self.per_query is not None and epsilon > self.per_query:
            return PerQueryLimitError(account, epsilon, self.per_query)
        left, most, renewed = self.remaining_today, self.per_day, self.renewed
        if left is None or most is None or renewed is None or epsilon <= left:
            return None
        return PerDayLimitError(account, epsilon, left, most, renewed)

    def to_json(self) -> dict[str, JsonValue]:
        """Return each amount as a number and as an exact fraction; null is no limit."""
        told: dict[str, JsonValue] = {}
        for name in (*LIMITS, "remaining_today"):
            amount = getattr(self, name)
            none = {name: None, f"{name}_exact": None}
            told |= none if amount is None else exact_and_float(**{name: amount})
        return told | {"renewed": None if self.renewed is None else self.renewed.isoformat()}
