"""Budgets: filters that stay valid when every question is chosen after the last answer.

A filter decides before each release whether it still fits. Two are proved for full adaptivity, the
price of each release being known before it runs:

basic           Σ epsilon ≤ epsilon and Σ delta ≤ delta (Rogers, Roth, Ullman, Vadhan 2016,
                the filter of basic composition);
concentrated    Σ rho ≤ rho, the largest that implies (epsilon, delta - set_aside), and Σ delta of
                (epsilon, delta) releases ≤ set_aside (Feldman, Zrnic 2021, the Rényi filter;
                Whitehouse, Ramdas, Rogers, Wu 2023, the filter for approximate zCDP).

All comparisons are between exact fractions.
"""

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING, Self

from discreet.accounting.approximate import Cost, basic_cost
from discreet.accounting.events import (
    ApproximateEvent,
    ComposedEvent,
    Event,
    RepeatedEvent,
    an_event,
)
from discreet.accounting.rounding import float_down
from discreet.accounting.zcdp import epsilon_from_rho, rho_for_budget, zcdp_rho
from discreet.errors import BudgetError, ParameterError
from discreet.parameters import Real, rational


class Filter(Enum):
    """Which theorem decides whether a release still fits."""

    BASIC = "basic"
    CONCENTRATED = "concentrated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """What is left: in the filter's own unit, epsilon or rho, and of delta for releases' own."""

    unit: str
    amount: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """(epsilon, delta) for all that is ever charged to it, however the charges are chosen.

    A state, not an account: `charge` returns the next one. With delta = 0 the filter is basic, else
    concentrated, unless one is named. set_aside is the part of delta kept for events that have a
    delta of their own; it must be fixed before the first charge.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    filter: Filter | None = None
    set_aside: Fraction = Fraction(0)
    spent: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)

    if TYPE_CHECKING:
        # What people may write; __post_init__ makes fractions of it.
        def __init__(  # noqa: PLR0913 - the fields
            self,
            *,
            epsilon: Real,
            delta: Real = 0,
            filter: Filter | None = None,  # noqa: A002 - the field's name
            set_aside: Real = 0,
            spent: Fraction = Fraction(0),
            spent_delta: Fraction = Fraction(0),
        ) -> None: ...

    def __post_init__(self) -> None:
        delta = rational("delta", self.delta, least=0, below=1)
        kind = self.filter or (Filter.CONCENTRATED if delta else Filter.BASIC)
        if not isinstance(kind, Filter):
            raise ParameterError("filter", kind, "must be Filter.BASIC or Filter.CONCENTRATED")
        if kind is Filter.CONCENTRATED and delta == 0:
            raise ParameterError("delta", delta, "must be more than 0 for the concentrated filter")
        aside = delta if kind is Filter.BASIC else self.set_aside
        checked = {
            "epsilon": rational("epsilon", self.epsilon, above=0),
            "delta": delta,
            "filter": kind,
            "set_aside": _checked_aside(aside, delta, kind),
            "spent": rational("spent", self.spent, least=0),
            "spent_delta": rational("spent_delta", self.spent_delta, least=0),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def unit(self) -> str:
        return "epsilon" if self.filter is Filter.BASIC else "rho"

    @property
    def limit(self) -> Fraction:
        """The most that may be charged in all, in the filter's unit."""
        if self.filter is Filter.BASIC:
            return self.epsilon
        return rho_for_budget(self.epsilon, self.delta - self.set_aside)

    def price(self, event: Event) -> Cost:
        """Return what charging the event takes: (epsilon or rho, delta)."""
        event = an_event("event", event)
        return basic_cost(event) if self.filter is Filter.BASIC else concentrated_cost(event)

    def remaining(self) -> Remaining:
        return Remaining(
            unit=self.unit,
            amount=self.limit - self.spent,
            delta=self.set_aside - self.spent_delta,
        )

    def affords(self, event: Event) -> bool:
        """Return whether the event could be charged now."""
        amount, delta = self.price(event)
        left = self.remaining()
        return amount <= left.amount and delta <= left.delta

    def charge(self, event: Event) -> Self:
        """Return the budget after the event, or refuse and change nothing."""
        amount, delta = self.price(event)
        left = self.remaining()
        if amount > left.amount:
            raise BudgetError(unit=left.unit, requested=amount, remaining=left.amount)
        if delta > left.delta:
            raise BudgetError(unit="delta", requested=delta, remaining=left.delta)
        return replace(self, spent=self.spent + amount, spent_delta=self.spent_delta + delta)

    def epsilon_left(self) -> Fraction:
        """Return the part of epsilon not yet proved spent, rounded down."""
        if self.filter is Filter.BASIC:
            return self.epsilon - self.spent
        used_up = epsilon_from_rho(self.spent, self.delta - self.set_aside)
        return max(Fraction(0), Fraction(float_down(self.epsilon - Fraction(used_up))))


@singledispatch
def concentrated_cost(event: Event) -> Cost:
    """Return (rho, delta) for which the event is proved delta-approximately rho-zCDP."""
    return zcdp_rho(event), Fraction(0)


@concentrated_cost.register
def _(event: ApproximateEvent) -> Cost:
    # With probability 1 - delta it is an epsilon-DP release (Bun, Steinke 2016, Section 8).
    return event.epsilon**2 / 2, event.delta


@concentrated_cost.register
def _(event: RepeatedEvent) -> Cost:
    rho, delta = concentrated_cost(event.event) if event.count else (Fraction(0), Fraction(0))
    return rho * event.count, delta * event.count


@concentrated_cost.register
def _(event: ComposedEvent) -> Cost:
    costs = [concentrated_cost(each) for each in event.events]
    return sum((c[0] for c in costs), Fraction(0)), sum((c[1] for c in costs), Fraction(0))


def _checked_aside(aside: object, delta: Fraction, kind: Filter) -> Fraction:
    if kind is Filter.BASIC:
        return delta
    return rational("set_aside", aside, least=0, below=delta)
