"""Bounds from counts: their chance of being wrong, computed exactly."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from discreet.binomial import (
    Count,
    delta_down,
    epsilon_down,
    likely_shares,
    probability_at_least,
    probability_at_most,
)

RUNS = 60
shares = st.floats(min_value=0.001, max_value=0.999)
misses = st.sampled_from([0.1, 0.01, 1e-6])


def chance(p: float, is_wrong: list[bool]) -> float:
    """Return the exact chance of those outcomes of RUNS coins that make a bound wrong."""
    return float(binom.pmf(np.flatnonzero(is_wrong), RUNS, p).sum())


@given(shares, misses)
def test_a_share_is_bounded_from_both_sides_but_for_the_stated_chance(
    p: float, miss: float
) -> None:
    counts = [Count(hits=k, runs=RUNS) for k in range(RUNS + 1)]
    assert (
        chance(p, [probability_at_least(each.hits, each.runs, miss) > p for each in counts]) <= miss
    )
    assert (
        chance(p, [probability_at_most(each.hits, each.runs, miss) < p for each in counts]) <= miss
    )


def test_a_share_bounded_by_its_own_estimate_would_be_wrong_half_of_the_time() -> None:
    """The broken twin of the test above."""
    assert chance(0.5, [k / RUNS > 0.5 for k in range(RUNS + 1)]) > 0.4


@pytest.mark.parametrize("p", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("q", [0.01, 0.2, 0.9])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_no_bound_exceeds_the_truth_more_often_than_stated(
    p: float, q: float, delta: float
) -> None:
    """All pairs of counts are weighed by their exact chance."""
    miss, epsilon = 0.05, 1.0
    weights = np.outer(*(binom.pmf(np.arange(RUNS + 1), RUNS, each) for each in (p, q)))
    least_epsilon = max(0.0, log((p - delta) / q)) if p > delta else 0.0
    least_delta = max(0.0, p - exp(epsilon) * q)
    wrong = np.zeros((2, RUNS + 1, RUNS + 1), np.bool_)
    for k in range(RUNS + 1):
        for j in range(RUNS + 1):
            if weights[k, j] > 1e-9:
                more, fewer = Count(hits=k, runs=RUNS), Count(hits=j, runs=RUNS)
                found = epsilon_down(more, fewer, delta=delta, miss=miss)
                wrong[0, k, j] = found > least_epsilon
                wrong[1, k, j] = delta_down(more, fewer, epsilon=epsilon, miss=miss) > least_delta
    assert weights[wrong[0]].sum() <= miss
    assert weights[wrong[1]].sum() <= miss


def test_nothing_seen_proves_nothing() -> None:
    none, all_ = Count(hits=0, runs=RUNS), Count(hits=RUNS, runs=RUNS)
    assert epsilon_down(none, none, miss=0.1) == 0
    assert epsilon_down(all_, all_, miss=0.1) == 0
    assert delta_down(none, all_, epsilon=0, miss=0.1) == 0
    assert delta_down(all_, none, epsilon=1e4, miss=0.1) == 0


def test_an_event_of_one_side_only_is_worth_as_much_as_its_runs() -> None:
    """With 0 of n there, e^epsilon is about n / ln(2 / miss) at least."""
    here, there = Count(hits=10**6, runs=10**6), Count(hits=0, runs=10**6)
    found = epsilon_down(here, there, miss=1e-6)
    assert found == pytest.approx(log(10**6 / log(2e6)), abs=0.01)


@given(st.integers(0, 1000), misses)
def test_intervals_to_compare_by_are_close_to_those_that_are_proved(hits: int, miss: float) -> None:
    count = Count(hits=hits, runs=1000)
    low, high = likely_shares(hits, hits, runs=(1000, 1000), miss=miss)
    assert float(low) == pytest.approx(
        probability_at_least(count.hits, count.runs, miss / 2), abs=0.03
    )
    assert float(high) == pytest.approx(
        probability_at_most(count.hits, count.runs, miss / 2), abs=0.03
    )
