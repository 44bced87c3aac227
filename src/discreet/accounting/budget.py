"""Budgets: privacy filters that stay valid if every query is chosen after the previous answer.

A filter decides before each release whether it still fits. Two filters are proved for full
adaptivity, if the cost of each release is known before it runs:

basic           Σ epsilon ≤ epsilon and Σ delta ≤ delta (Rogers, Roth, Ullman, Vadhan 2016,
                the filter of basic composition);
concentrated    Σ rho ≤ rho, the largest that implies (epsilon, delta - set_aside), and Σ delta of
                (epsilon, delta) releases ≤ set_aside (Feldman, Zrnic 2021, the Rényi filter;
                Whitehouse, Ramdas, Rogers, Wu 2023, the filter for approximate zCDP),
                or else Σ epsilon ≤ epsilon, if all charges are pure
                (docs/proofs/composition.md, "Either bound will do").

All comparisons are between exact fractions.
"""

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from math import inf, isinf
from typing import TYPE_CHECKING, Self

from discreet.accounting.approximate import basic_cost
from discreet.accounting.events import (
    LARGEST_NUMBER,
    LEAST_NUMBER,
    Event,
    check_event,
    sampling_of,
    shared_sampling,
)
from discreet.accounting.zcdp import concentrated_cost, rho_for_budget
from discreet.errors import BudgetError, ParameterError, UnsupportedEventError
from discreet.parameters import Real, choice, rational

Amount = Fraction | float
"""An exact amount, or infinity; no other float."""


class Filter(Enum):
    """Which theorem decides whether a release still fits."""

    BASIC = "basic"
    CONCENTRATED = "concentrated"


def _amount(name: str, value: object) -> Amount:
    return inf if isinstance(value, float) and value == inf else rational(name, value, least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """The cost for each bound, infinite if the bound has no theorem for the release."""

    epsilon: Amount = Fraction(0)
    rho: Amount = Fraction(0)
    delta: Fraction = Fraction(0)
    sampling: frozenset[str] = frozenset()
    """The kinds of samples that were charged. All must have the same neighbours."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _amount("epsilon", self.epsilon))
        object.__setattr__(self, "rho", _amount("rho", self.rho))
        object.__setattr__(self, "delta", rational("delta", self.delta, least=0))

    def __add__(self, other: Self) -> Self:
        return replace(
            self,
            epsilon=self.epsilon + other.epsilon,
            rho=self.rho + other.rho,
            delta=self.delta + other.delta,
            sampling=shared_sampling(self.sampling | other.sampling),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """The remaining amount of each bound, 0 for a bound that can no longer be used.

    A release fits if its epsilon or its rho is at most the remaining one, and its delta too.
    """

    epsilon: Fraction
    rho: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A total (epsilon, delta) for all charges, even if they are chosen adaptively.

    A budget is an immutable state: `charge` returns the next one. By default the filter is basic if
    delta = 0, else concentrated. A concentrated budget never allows less than a basic one with the
    same epsilon and no delta. `set_aside` is the part of delta for events that have a delta
    themselves. It must be fixed before the first charge.

    Proof: docs/proofs/composition.md, "Either bound will do".
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    filter: Filter | None = None
    set_aside: Fraction = Fraction(0)
    charged: Charge = Charge()

    if TYPE_CHECKING:
        # The types that callers may give. __post_init__ converts them to fractions.
        def __init__(
            self,
            *,
            epsilon: Real,
            delta: Real = 0,
            filter: Filter | str | None = None,  # noqa: A002 - the field's name
            set_aside: Real = 0,
            charged: Charge = Charge(),  # noqa: B008 - frozen
        ) -> None: ...

    def __post_init__(self) -> None:
        delta = rational("delta", self.delta, least=0, below=1)
        checked = {
            "epsilon": rational("epsilon", self.epsilon, least=LEAST_NUMBER, most=LARGEST_NUMBER),
            "delta": delta,
            "filter": (kind := _checked_filter(self.filter, delta)),
            "set_aside": _checked_aside(self.set_aside, delta, kind),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if not isinstance(self.charged, Charge):
            raise ParameterError("charged", self.charged, "must be a Charge")
        if kind is Filter.CONCENTRATED:
            rho_for_budget(self.epsilon, delta - self.set_aside)  # raises if there is no rho

    def price(self, event: Event) -> Charge:
        """Return the cost of charging the event."""
        event = check_event("event", event)
        if self.filter is Filter.BASIC:
            epsilon, delta = basic_cost(event)
            return Charge(epsilon=epsilon, rho=inf, delta=delta, sampling=sampling_of(event))
        rho, delta = concentrated_cost(event)
        pure = _pure_or_infinite(event)
        return Charge(epsilon=pure, rho=rho, delta=delta, sampling=sampling_of(event))

    def remaining(self) -> Remaining:
        """Return the remaining amount of each bound."""
        return self.remaining_after(self.charged)

    def remaining_after(self, charged: Charge) -> Remaining:
        """Return what would remain of each bound if all of this, and no more, were charged."""
        zero, limit = Fraction(0), self._rho_limit
        # Delta belongs to the same bound as rho, so it is lost with it.
        holds_delta = self.filter is Filter.BASIC or charged.rho <= limit
        delta = self._delta_limit - charged.delta if holds_delta else zero
        return Remaining(
            epsilon=_left(self.epsilon, charged.epsilon),
            rho=_left(limit, charged.rho),
            delta=max(zero, delta),
        )

    def affords(self, event: Event) -> bool:
        """Return whether the budget is enough for the event now."""
        return self._holds(self.charged + self.price(event))

    def charge(self, event: Event) -> Self:
        """Return the budget after the event, or raise `BudgetError` and change nothing."""
        price = self.price(event)
        charged = self.charged + price
        if not self._holds(charged):
            raise self._refusal(price)
        return replace(self, charged=charged)

    def affords_after(self, charged: Charge, event: Event) -> bool:
        """Return whether the budget would be enough for the event if all of this were charged."""
        return self._holds(charged + self.price(event))

    def _holds(self, charged: Charge) -> bool:
        """Return whether one of the bounds proves (epsilon, delta) for all charges."""
        by_sums = charged.epsilon <= self.epsilon
        by_rho = charged.rho <= self._rho_limit
        return charged.delta <= self._delta_limit and (by_sums or by_rho)

    @property
    def _rho_limit(self) -> Fraction:
        if self.filter is Filter.BASIC:
            return Fraction(0)
        return rho_for_budget(self.epsilon, self.delta - self.set_aside)

    @property
    def _delta_limit(self) -> Fraction:
        return self.delta if self.filter is Filter.BASIC else self.set_aside

    def _refusal(self, price: Charge) -> BudgetError:
        left = self.remaining()
        if price.delta > left.delta:
            return BudgetError(delta=(price.delta, left.delta))
        shown = {"epsilon": (price.epsilon, left.epsilon), "rho": (price.rho, left.rho)}
        return BudgetError(
            **{
                name: (Fraction(requested), remaining)
                for name, (requested, remaining) in shown.items()
                if not isinf(requested)
            }
        )


def _pure_or_infinite(event: Event) -> Amount:
    """Return the epsilon of a pure event, or infinity, which rules out sums of epsilon for good."""
    try:
        epsilon, delta = basic_cost(event)
    except UnsupportedEventError:
        return inf
    return inf if delta else epsilon


def _left(limit: Fraction, charged: Amount) -> Fraction:
    return limit - Fraction(charged) if charged <= limit else Fraction(0)


def _checked_filter(given: object, delta: Fraction) -> Filter:
    if given is None:
        return Filter.CONCENTRATED if delta else Filter.BASIC
    kind = choice("filter", given, Filter)
    if kind is Filter.CONCENTRATED and delta == 0:
        raise ParameterError("delta", delta, "must be more than 0 for the concentrated filter")
    return kind


def _checked_aside(given: object, delta: Fraction, kind: Filter) -> Fraction:
    if kind is Filter.CONCENTRATED:
        return rational("set_aside", given, least=0, below=delta)
    aside = rational("set_aside", given, least=0)
    if aside:
        rule = "must be 0 for the basic filter, which uses all of delta for events that have one"
        raise ParameterError("set_aside", given, rule)
    return aside
