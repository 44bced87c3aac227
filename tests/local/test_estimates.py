"""Estimates: no bias, the stated variance, intervals that hold, consistent counts."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom, chi2

from discreet.local import Client, FrequencyOracle, Server, standard_error
from discreet.local.estimates import nearest_counts, probability_intervals
from discreet.noise import SYSTEM
from discreet.noise.uniform import FloatArray, IntArray
from tests.local.mechanisms import MAKERS
from tests.statistics import FALSE_ALARM

RUNS, PEOPLE, CATEGORIES = 300, 600, 11
TRUE = np.bincount(np.arange(PEOPLE) % 4, minlength=CATEGORIES)


def _estimates(mechanism: FrequencyOracle) -> FloatArray:
    """Return the estimated counts of many surveys of the same people."""
    values = np.tile(np.arange(PEOPLE) % 4, RUNS)
    rows = mechanism.draw(values, SYSTEM)
    spoken_for: IntArray = mechanism.supports(rows).reshape(RUNS, PEOPLE, -1).sum(axis=1)
    p, q = float(mechanism.p), float(mechanism.q)
    estimates: FloatArray = (spoken_for.astype(np.float64) - PEOPLE * q) / (p - q)
    return estimates


def _variances(mechanism: FrequencyOracle) -> FloatArray:
    p, q = float(mechanism.p), float(mechanism.q)
    spread = TRUE * p * (1 - p) + (PEOPLE - TRUE) * q * (1 - q)
    variances: FloatArray = spread / (p - q) ** 2
    return variances


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(("claimed", "fits"), [(1, True), (Fraction(4, 3), False)])
def test_estimates_have_no_bias_and_the_stated_variance(
    name: str, claimed: Fraction, *, fits: bool
) -> None:
    """Both by the normal distribution, three in 10^6 for each value.

    The broken variant claims too small a variance.

    Values are judged one by one, since their estimates depend on each other.
    """
    off = _estimates(MAKERS[name](epsilon=1, categories=CATEGORIES)) - TRUE
    variances = _variances(MAKERS[name](epsilon=claimed, categories=CATEGORIES))
    bias = chi2.sf(off.mean(axis=0) ** 2 * RUNS / variances, 1)
    spread = (off**2).sum(axis=0) / variances
    p = float(min(bias.min(), chi2.sf(spread, RUNS).min(), chi2.cdf(spread, RUNS).min()))
    assert (p > FALSE_ALARM) is fits


@pytest.mark.parametrize("name", MAKERS)
def test_the_error_of_all_values_is_the_same_whoever_holds_what(name: str) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=CATEGORIES)
    assert standard_error(mechanism, PEOPLE) ** 2 == pytest.approx(_variances(mechanism).mean())


def test_the_stated_standard_errors_are_those_of_the_estimated_counts() -> None:
    mechanism = MAKERS["k-ary"](epsilon=3, categories=4)
    server = Server(mechanism)
    server.add(Client(mechanism).report_many(np.zeros(1000, np.int64)))
    found = server.estimate()
    p, q = float(mechanism.p), float(mechanism.q)
    held = np.clip(found.counts, 0, 1000)
    variance = (held * p * (1 - p) + (1000 - held) * q * (1 - q)) / (p - q) ** 2
    assert found.standard_errors == pytest.approx(np.sqrt(variance))
    assert found.shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("trials", [1, 20, 400])
@pytest.mark.parametrize("miss", [0.2, 0.01])
def test_intervals_miss_no_more_often_than_stated(trials: int, miss: float) -> None:
    """No sampling: the probability of each number of hits is known."""
    hits = np.arange(trials + 1)
    low, high = probability_intervals(hits, trials, miss)
    for mean in np.linspace(0, 1, 101):
        is_missed = (mean < low) | (mean > high)
        assert binom.pmf(hits[is_missed], trials, mean).sum() <= miss
        assert is_missed.any() or trials == 1


def test_intervals_of_nobody_say_nothing() -> None:
    found = Server(MAKERS["k-ary"](epsilon=1, categories=3)).estimate()
    assert found.counts.tolist() == [0, 0, 0]
    assert found.shares.tolist() == [0, 0, 0]
    assert found.consistent().tolist() == [0, 0, 0]


counts = arrays(np.float64, st.integers(1, 12), elements=st.floats(-1000, 1000))


@given(counts, st.integers(0, 2000), counts)
def test_consistent_counts_are_the_nearest_that_can_be(
    found: FloatArray, people: int, other: FloatArray
) -> None:
    near = nearest_counts(found, people)
    assert near.min() >= 0
    assert near.sum() == pytest.approx(people, abs=1e-6)
    rival = np.resize(np.abs(other), len(found)) + 1e-9
    rival *= people / rival.sum()
    distance = np.square(near - found).sum()
    assert distance <= np.square(rival - found).sum() * (1 + 1e-9) + 1e-6


def test_counts_that_can_be_are_left_as_they_are() -> None:
    assert nearest_counts(np.array([3.0, 0.0, 5.0]), 8).tolist() == [3, 0, 5]
    assert nearest_counts(np.array([4.0, -1.0, 5.0]), 8).tolist() == [3.5, 0, 4.5]
