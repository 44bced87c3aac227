"""The cost of several releases together, by the accountant that proves the smallest."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from types import MappingProxyType
from typing import cast

from discreet.accounting.approximate import advanced_bound, basic_cost, optimal_bound
from discreet.accounting.events import ComposedEvent, Event, counted, sampling_of, shared_sampling
from discreet.accounting.gdp import gdp_epsilon
from discreet.accounting.pure import pure_epsilon
from discreet.accounting.rounding import LEAST_DELTA, float_up
from discreet.accounting.zcdp import epsilon_from_rho, zcdp_rho
from discreet.errors import ParameterError, UnsupportedEventError, shown
from discreet.on_use import names_of
from discreet.parameters import rational

Refusal = UnsupportedEventError | ParameterError

Epsilon = Fraction | float
"""Exact if only exact numbers were added, else a float that was rounded up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedPrice:
    """(epsilon, delta), the accountant that proved it, and the results of the others."""

    epsilon: Epsilon
    delta: Fraction
    accountant: str
    alternatives: Mapping[str, Epsilon]

    def __str__(self) -> str:
        return (
            f"epsilon {_shown_up(self.epsilon)} at delta {float(self.delta):g} ({self.accountant})"
        )


def compose(events: Event | Iterable[Event], delta: object = 0) -> ComposedPrice:
    """Return the smallest proved epsilon of all the events together, at this delta.

    Valid for events whose parameters were fixed in advance, before the first answer was seen. If
    events are chosen after earlier answers, charge a `Budget` instead.
    """
    target = _checked_delta(delta)
    together = _together(events)
    shared_sampling(sampling_of(together))
    alternatives = _alternatives(together, target)
    best = min(alternatives, key=lambda name: alternatives[name])
    return ComposedPrice(
        epsilon=alternatives[best],
        delta=target,
        accountant=best,
        alternatives=MappingProxyType(alternatives),
    )


def _together(events: Event | Iterable[Event]) -> ComposedEvent:
    """Return all events as one, with equal events counted."""
    return ComposedEvent(events=tuple(event * count for event, count in counted(events).items()))


def _checked_delta(delta: object) -> Fraction:
    target = rational("delta", delta, least=0, below=1)
    if 0 < target < LEAST_DELTA:
        raise ParameterError("delta", delta, "must be 0, or 1e-300 or more")
    return target


def _pure(events: ComposedEvent, _: Fraction) -> Epsilon:
    return pure_epsilon(events)


def _basic(events: ComposedEvent, delta: Fraction) -> Epsilon:
    epsilon, taken = basic_cost(events)
    if taken > delta:
        raise ParameterError(
            "delta", delta, f"must be {shown(taken)} or more, the sum of all events"
        )
    return epsilon


def _zcdp(events: ComposedEvent, delta: Fraction) -> Epsilon:
    return epsilon_from_rho(zcdp_rho(events), delta)


_later = names_of("discreet.accounting", {"pld": "pld_epsilon", "rdp": "epsilon_from_rdp"})


def _rdp(events: ComposedEvent, delta: Fraction) -> Epsilon:
    return cast("Accountant", _later("epsilon_from_rdp"))(events, delta)


def _pld(events: ComposedEvent, delta: Fraction) -> Epsilon:
    return cast("Accountant", _later("pld_epsilon"))(events, delta)


Accountant = Callable[[ComposedEvent, Fraction], Epsilon]


EXACT: Mapping[str, Accountant] = {
    "pure": _pure,
    "basic": _basic,
}
"""Accountants that work at delta = 0."""

ACCOUNTANTS: Mapping[str, Accountant] = {
    **EXACT,
    "GDP": gdp_epsilon,
    "advanced": advanced_bound,
    "optimal": optimal_bound,
    "zCDP": _zcdp,
    "RDP": _rdp,
    "PLD": _pld,
}
"""All accountants, simplest first. If two agree, the simpler one is named."""


def _alternatives(events: ComposedEvent, delta: Fraction) -> dict[str, Epsilon]:
    """Return the cost by every accountant that has one, or raise if none has."""
    prices: dict[str, Epsilon] = {}
    refusals: list[Refusal] = []
    for name, price in (ACCOUNTANTS if delta else EXACT).items():
        try:
            epsilon = price(events, delta)
        except (UnsupportedEventError, ParameterError) as refusal:
            refusals.append(refusal)
        else:
            # NaN would win every comparison, so only finite costs are used.
            if isinstance(epsilon, Fraction) or 0 <= epsilon < inf:
                prices[name] = epsilon
    if not prices:
        raise _plainest(refusals, delta)
    return prices


def _plainest(refusals: list[Refusal], delta: Fraction) -> Refusal:
    """Return the most helpful error: about a number, or else about the event."""
    numbers = [each for each in refusals if isinstance(each, ParameterError)]
    if numbers:
        return numbers[0]
    if refusals:
        # Without a delta, the first error says to give one. With a delta, the last accountant
        # supports the most kinds of events.
        return refusals[0] if delta == 0 else refusals[-1]
    return ParameterError(
        "delta", delta, "is too small for any accountant to compute the cost of these events"
    )


def _shown_up(epsilon: Epsilon) -> str:
    """Return epsilon with six decimals, rounded up, without trailing zeros."""
    up = -(-Fraction(epsilon) * 10**6 // 1)
    return f"{float_up(Fraction(up, 10**6)):.6f}".rstrip("0").rstrip(".")
