"""Shuffled reports: the numeric bound against exact sums, known values, monotonicity."""

from fractions import Fraction
from itertools import product
from math import comb, expm1, log, prod
from typing import Any, TypedDict

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.local import (
    shuffled_epsilon,
    shuffled_epsilon_2021,
    shuffled_epsilon_closed,
    shuffled_epsilon_closed_2021,
    shuffled_event,
)
from discreet.local.prices import PEOPLE_MOST, binomial_window


class Stated(TypedDict):
    """What a bound is asked for."""

    epsilon: float
    delta: float
    people: int


CLONES = [
    [Fraction(3, 4), Fraction(1, 4), Fraction(0)],
    [Fraction(1, 4), Fraction(3, 4), Fraction(0)],
    [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)],
]
"""What the proof reduces every randomizer of epsilon = ln 3 to; the others hold the value 2."""


def shuffled_law(
    values: tuple[int, ...], channel: list[list[Fraction]]
) -> dict[tuple[int, ...], Fraction]:
    """Return the exact law of how often each report occurs."""
    law: dict[tuple[int, ...], Fraction] = {}
    reports = range(len(channel[0]))
    for outcome in product(reports, repeat=len(values)):
        p = prod((channel[v][y] for v, y in zip(values, outcome, strict=True)), start=Fraction(1))
        seen = tuple(outcome.count(y) for y in reports)
        law[seen] = law.get(seen, Fraction(0)) + p
    return law


def exact_delta(channel: list[list[Fraction]], others: tuple[int, ...], epsilon: float) -> float:
    """Return the hockey-stick divergence between the first person's value being 0 and being 1."""
    here, there = (shuffled_law((value, *others), channel) for value in (0, 1))
    growth = Fraction(epsilon).limit_denominator(10**12)
    factor = Fraction(float(np.exp(float(growth))))
    return float(sum(max(Fraction(0), p - factor * there[seen]) for seen, p in here.items()))


def krr(odds: int, categories: int) -> list[list[Fraction]]:
    total = odds + categories - 1
    return [
        [Fraction(odds if y == v else 1, total) for y in range(categories)]
        for v in range(categories)
    ]


@pytest.mark.parametrize("people", [2, 3, 5, 7])
@pytest.mark.parametrize("delta", [0.3, 0.03, 0.001])
def test_the_bound_is_exact_for_clones_and_holds_for_binary_responses(
    people: int, delta: float
) -> None:
    """For clones nothing is lost: the exact delta is the asked one."""
    epsilon = shuffled_epsilon(epsilon=Fraction(log(3)), delta=delta, people=people)
    found = exact_delta(CLONES, (2,) * (people - 1), epsilon)
    assert found <= delta * (1 + 1e-9)
    assert exact_delta(krr(3, 2), (0,) * (people - 1), epsilon) <= found * (1 + 1e-9)
    if 0 < epsilon < log(3) * (1 - 1e-9):
        assert found == pytest.approx(delta, rel=1e-4)


@pytest.mark.parametrize("categories", [3, 4])
@pytest.mark.parametrize("other", [0, 2])
def test_the_bound_holds_for_more_answers_whatever_the_others_say(
    categories: int, other: int
) -> None:
    for delta in (0.2, 0.02, 0.002):
        epsilon = shuffled_epsilon(epsilon=Fraction(log(3)), delta=delta, people=6)
        assert exact_delta(krr(3, categories), (other,) * 5, epsilon) <= delta * (1 + 1e-9)


def test_known_values_are_met() -> None:
    """With n = 10⁵, ε₀ = 1, δ = 10⁻⁶: Feldman, McMillan, Talwar's program says 0.0155.

    It counts in coarse steps; 0.0153 is what its theorem gives. 0.0753 is e^ε - 1 of the closed
    form, before the logarithm.
    """
    stated: Stated = {"epsilon": 1, "delta": 1e-6, "people": 10**5}
    assert 0.0152 < shuffled_epsilon_2021(**stated) <= 0.0155
    assert expm1(shuffled_epsilon_closed_2021(**stated)) == pytest.approx(0.0753, abs=5e-5)
    assert shuffled_epsilon_closed_2021(**stated) == pytest.approx(0.07255, abs=5e-6)
    assert shuffled_epsilon(**stated) == pytest.approx(0.01243, abs=1e-5)
    assert shuffled_epsilon_closed(**stated) == pytest.approx(0.06036, abs=1e-5)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_more_people_hide_better_and_no_bound_exceeds_the_next(epsilon: float) -> None:
    last = epsilon
    for people in (1, 10, 300, 10**4, 10**6):
        stated: Stated = {"epsilon": epsilon, "delta": 1e-5, "people": people}
        found = shuffled_epsilon(**stated)
        assert found <= last
        assert found <= shuffled_epsilon_2021(**stated) * (1 + 1e-6) <= epsilon * (1 + 2e-6)
        assert found <= shuffled_epsilon_closed(**stated) <= epsilon
        last = found


def test_coarse_steps_only_raise_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    stated: Stated = {"epsilon": 1, "delta": 1e-6, "people": 20_000}
    fine = shuffled_epsilon(**stated)
    monkeypatch.setattr("discreet.local.prices.STEPS", 8)
    coarse = shuffled_epsilon(**stated)
    assert fine < coarse < fine * 1.05


def test_crowds_beyond_the_largest_are_counted_as_the_largest() -> None:
    largest = shuffled_epsilon(people=PEOPLE_MOST, epsilon=9, delta=1e-6)
    assert shuffled_epsilon(people=10 * PEOPLE_MOST, epsilon=9, delta=1e-6) == largest


@pytest.mark.parametrize("share", [1e-4, 0.3, 0.5, 1.0])
def test_windows_hold_the_binomial_law(share: float) -> None:
    first, law = binomial_window(200, share, 1e-12)
    exact = [comb(200, k) * share**k * (1 - share) ** (200 - k) for k in range(201)]
    assert law == pytest.approx(exact[first : first + len(law)], rel=1e-9, abs=1e-300)
    assert law.sum() == pytest.approx(1)


def test_an_event_states_what_is_charged() -> None:
    event = shuffled_event(epsilon=1, delta=1e-6, people=1000)
    assert event.epsilon == Fraction(shuffled_epsilon(epsilon=1, delta=1e-6, people=1000))
    assert event.delta == Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0),
        ("epsilon", -1),
        ("epsilon", 51),
        ("epsilon", float("nan")),
        ("delta", 0),
        ("delta", 1),
        ("delta", 1e-250),
        ("people", 0),
        ("people", 2.5),
    ],
)
def test_bad_parameters_are_refused_by_name(name: str, value: float) -> None:
    stated: dict[str, Any] = {"epsilon": 1, "delta": 1e-6, "people": 100} | {name: value}
    for bound in (shuffled_epsilon, shuffled_epsilon_closed):
        with pytest.raises(ParameterError, match=name):
            bound(**stated)
