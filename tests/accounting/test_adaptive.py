"""Whole adaptive runs, enumerated: what a budget lets through is (epsilon, delta)-DP.

An analyst chooses each release by the answers so far. Every transcript that can be seen is listed
with its probability under both neighbours, in 50 digits, so the delta of the whole run is exact.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, Self

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from discreet.accounting import (
    Budget,
    DiscreteGaussianEvent,
    Event,
    RandomizedResponseEvent,
    budget,
    pure_epsilon,
    rho_for_budget,
    zcdp_rho,
)
from discreet.errors import UnsupportedEventError
from tests.accounting import exact

EPSILON, DELTA = Fraction(1), Fraction(1, 100)
RHO = rho_for_budget(EPSILON, DELTA)
STEPS = 5

Losses = tuple[tuple[mpf, mpf], ...]
"""The loss of each answer and its probability under P."""


class Filtered(Protocol):
    """A budget, or a broken twin of one."""

    def affords(self, event: Event) -> bool: ...

    def charge(self, event: Event) -> Self: ...


def response(epsilon: Fraction) -> tuple[Event, Losses]:
    law = exact.response_law(epsilon)
    losses = tuple((mpf(x.numerator) / x.denominator, p) for x, p in law.items())
    return RandomizedResponseEvent(epsilon=epsilon), losses


def clipped_gaussian(variance: int) -> tuple[Event, Losses]:
    """Return a discrete Gaussian, neighbours 1 apart, its answer clipped: 6 answers to list."""
    event = DiscreteGaussianEvent(sensitivity_squared=Fraction(1), variance=Fraction(variance))
    weights = {z: mp.exp(-mpf(z * z) / (2 * variance)) for z in range(-60, 61)}
    total = mp.fsum(weights.values())
    p: dict[int, mpf] = defaultdict(lambda: mpf(0))
    q: dict[int, mpf] = defaultdict(lambda: mpf(0))
    for z, weight in weights.items():
        p[max(-2, min(3, z))] += weight / total
        q[max(-2, min(3, z + 1))] += weight / total
    return event, tuple((mp.log(p[z] / q[z]), p[z]) for z in p)


MENU = (
    response(Fraction(1, 10)),
    response(Fraction(1, 5)),
    response(Fraction(1, 2)),
    response(Fraction(1)),
    clipped_gaussian(100),
    clipped_gaussian(9),
    clipped_gaussian(1),
)

Run = tuple[Filtered, int, mpf, mpf]
"""A transcript: the budget after it, answers that spoke for P, its loss, its probability."""

Analyst = Mapping[tuple[int, int], int]
"""What is asked for, by the number of questions so far and of answers that spoke for P."""

analysts = st.fixed_dictionaries(
    {
        (step, high): st.integers(0, len(MENU) - 1)
        for step in range(STEPS)
        for high in range(step + 1)
    }
)


def delta_of_the_run(start: Filtered, analyst: Analyst) -> mpf:
    """Return the exact delta, at EPSILON = 1, of all transcripts of the analyst's run."""
    runs: list[Run] = [(start, 0, mpf(0), mpf(1))]
    for step in range(STEPS):
        runs = [after for run in runs for after in _answered(run, analyst, step)]
    return mp.fsum(p * (1 - mp.exp(1 - loss)) for _, _, loss, p in runs if loss > 1)


def _answered(run: Run, analyst: Analyst, step: int) -> list[Run]:
    """Return the runs that the next question leads to, or this one if it is refused."""
    before, high, loss, p = run
    event, answers = MENU[analyst[step, high]]
    if not before.affords(event):
        return [run]
    after = before.charge(event)
    return [(after, high + (more > 0), loss + more, p * q) for more, q in answers]


@settings(max_examples=60, deadline=None)
@given(analysts)
def test_no_adaptive_run_exceeds_its_budget(analyst: Analyst) -> None:
    assert delta_of_the_run(Budget(epsilon=EPSILON, delta=DELTA), analyst) <= DELTA


@pytest.mark.parametrize("first", range(len(MENU)))
@pytest.mark.parametrize("low", range(len(MENU)))
@pytest.mark.parametrize("high", [0, 1, 4, 5])
def test_no_run_that_turns_on_its_first_answer_exceeds_its_budget(
    first: int, low: int, high: int
) -> None:
    assert (
        delta_of_the_run(Budget(epsilon=EPSILON, delta=DELTA), turning(first, low, high)) <= DELTA
    )


def turning(first: int, low: int, high: int) -> Analyst:
    """Return an analyst who goes on with one question or another, by the answers so far."""
    choices = {(step, k): high if k else low for step in range(STEPS) for k in range(step + 1)}
    return choices | {(0, 0): first}


# -------------------------------------------------------------------------------- broken twins


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """Charges each release to either bound by itself, so that both are used up."""

    by_sums: Fraction = EPSILON
    by_rho: Fraction = RHO

    def affords(self, event: Event) -> bool:
        return self._epsilon(event) <= self.by_sums or zcdp_rho(event) <= self.by_rho

    def charge(self, event: Event) -> Self:
        if self._epsilon(event) <= self.by_sums:
            return replace(self, by_sums=self.by_sums - Fraction(self._epsilon(event)))
        return replace(self, by_rho=self.by_rho - zcdp_rho(event))

    def _epsilon(self, event: Event) -> Fraction | float:
        return Budget(epsilon=EPSILON, delta=DELTA).price(event).epsilon


def test_a_twin_that_uses_up_both_bounds_is_caught() -> None:
    assert delta_of_the_run(Apart(), turning(3, 1, 1)) > DELTA


def test_a_twin_that_counts_gaussians_as_nothing_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    analyst = turning(6, 6, 6)
    fresh = Budget(epsilon=EPSILON, delta=DELTA)
    assert delta_of_the_run(fresh, analyst) <= DELTA
    monkeypatch.setattr(budget, "_pure_or_infinite", _pure_or_nothing)
    assert delta_of_the_run(fresh, analyst) > DELTA


def _pure_or_nothing(event: Event) -> Fraction:
    try:
        return pure_epsilon(event)
    except UnsupportedEventError:
        return Fraction(0)
