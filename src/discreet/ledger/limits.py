"""Limits of an account within its cap: what a charge counts as, and the day that it counts for.

A charge counts as the epsilon that its answer shows as its cost. For most events that is the sum of
their epsilons. Noise that has none by itself (Gaussian, by concentrated accounting) is charged with
the epsilon that was stated for the query, which its entry notes. Where nobody stated one, it is the
epsilon that its rho implies at the delta of the total.

The day of an account is that of the clock or that of the account's last charge, whichever is later.
So a clock that jumps back gives no second allowance.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import NamedTuple

from discreet.account_limits import LIMITS, AccountLimits
from discreet.accounting import Budget, Event
from discreet.accounting.approximate import basic_cost
from discreet.accounting.zcdp import epsilon_from_rho
from discreet.errors import UnsupportedEventError
from discreet.ledger.analysts import OWNER, Analyst
from discreet.ledger.charges import events_from_text, one_event, shortened, simple_costs

STATED = "stated_epsilon"
"""Under this name the epsilon that was stated for a charge stands among its notes."""

_NAMED = f'"{STATED}"'

_AMOUNT = re.compile(r"[0-9]{1,400}(/[1-9][0-9]{0,399})?")


class DaySpending(NamedTuple):
    """What an account was charged on the last day on which it was charged."""

    day: str
    """By UTC, as 2026-01-31."""
    epsilon: Fraction


class NewSpending:
    """Charges that are read one after the other, of which the last day of each account counts."""

    def __init__(self, known: Mapping[str, DaySpending]) -> None:
        self._known = known
        self._found: dict[str, tuple[str, Counter[tuple[str, str | None]]]] = {}

    def add(self, account: str, written: str, events: str, about: str) -> None:
        """Note the charge of an entry; the owner's account has no limits."""
        if account == OWNER:
            return
        day, charges = self._found.get(account, ("", None))
        if charges is None or written[:10] > day:
            known = self._known[account].day if account in self._known else ""
            day = max(day, known, written[:10])
            charges = Counter()
            self._found[account] = day, charges
        charges[events, _stated_in(about)] += 1

    def spent(self, total: Budget) -> Mapping[str, DaySpending]:
        """Return what accounts spent on their last days, with what was known before."""
        if not self._found:
            return self._known
        days = dict(self._known)
        for account, (day, charges) in self._found.items():
            known = days.get(account)
            spent = Fraction(0) if known is None or known.day < day else known.epsilon
            for (events, stated), count in charges.items():
                spent += count * _epsilon_of_text(total, events, stated)
            days[account] = DaySpending(day, Fraction(shortened(spent)))
        return days


def _stated_in(about: str) -> str | None:
    """Return what was stated for a charge; notes of older entries may have this name, too."""
    if _NAMED not in about:
        return None
    found = json.loads(about).get(STATED)
    return found if isinstance(found, str) and _AMOUNT.fullmatch(found) else None


def _epsilon_of_text(total: Budget, events: str, stated: str | None) -> Fraction:
    if stated is not None:
        return Fraction(stated)
    costs = simple_costs(events, is_basic=True)
    ratios = [] if costs is None else [each.epsilon for each in costs]
    if ratios and None not in ratios:
        return sum((Fraction(*each) for each in ratios if each is not None), Fraction(0))
    return epsilon_of(total, events_from_text(events))


def epsilon_of(total: Budget, events: tuple[Event, ...]) -> Fraction:
    """Return the epsilon of events, or what their rho implies if they have none by themselves."""
    event = one_event(events)
    try:
        return basic_cost(event)[0]
    except UnsupportedEventError:
        rho = Fraction(total.price(event).rho)
        return Fraction(epsilon_from_rho(rho, total.delta - total.set_aside))


def stated_note(events: tuple[Event, ...], stated: Fraction | None) -> dict[str, str]:
    """Return what an entry notes of the epsilon that was stated; nothing if its events say it."""
    try:
        is_told = stated is None or basic_cost(one_event(events))[0] == stated
    except UnsupportedEventError:
        is_told = False
    return {} if is_told else {STATED: str(stated)}


def limits_on(analyst: Analyst, spent: DaySpending | None, now: datetime) -> AccountLimits:
    """Return the limits of an account at a moment, and how much of the day's is left."""
    limits = AccountLimits(**{name: getattr(analyst, name) for name in LIMITS})
    if analyst.per_day is None:
        return limits
    today = now.astimezone(UTC).date().isoformat()
    day, epsilon = (today, Fraction(0)) if spent is None or spent.day < today else spent
    begins = date.fromisoformat(day) + timedelta(days=1)
    return AccountLimits(
        **{name: getattr(analyst, name) for name in LIMITS},
        remaining_today=max(Fraction(0), analyst.per_day - epsilon),
        renewed=datetime.combine(begins, time(), UTC),
    )
