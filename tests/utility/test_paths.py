"""Programs on a path: bounds that hold whatever the prices, and vertices that reach them."""

from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.utility import (
    Gain,
    Method,
    Prior,
    binomial,
    gain_over,
    geometric_channel,
    optimal_mechanism,
    path,
    plain_utility,
    threshold_gain,
    uniform,
    utility,
)
from discreet.utility.makers import alpha_down
from discreet.utility.optimal import bound_of_rows, geometric_vertex

HALF = Fraction(1, 2)
SIZE = 6


@settings(max_examples=50)
@given(
    st.lists(st.integers(0, 9), min_size=SIZE, max_size=SIZE),
    st.lists(st.lists(st.integers(-5, 5), min_size=SIZE, max_size=SIZE), min_size=SIZE, max_size=7),
    st.lists(st.floats(-3, 3), min_size=SIZE, max_size=SIZE),
)
def test_no_mechanism_exceeds_the_bound_whatever_the_prices(
    weights: list[int], gains: list[list[int]], prices: list[float]
) -> None:
    prior, gain = Prior([weights[0] + 1, *weights[1:]]), Gain(gains)
    most = bound_of_rows(gain, prior, np.array(prices), HALF)
    assert utility(geometric_channel(0, SIZE - 1, alpha=HALF), prior, gain) <= most
    assert (
        max(Fraction(sum(map(lambda p, g: p * g, prior.probabilities, row))) for row in gains)
        <= most
    )


@given(st.lists(st.integers(0, 10**6), min_size=21, max_size=21).filter(any))
def test_the_bound_of_the_best_prices_is_just_above_the_optimum_and_never_below(
    weights: list[int],
) -> None:
    prior, gain = Prior(weights), gain_over("absolute", range(21))
    floats = np.array([float(each) for each in prior.probabilities])
    vertex = geometric_vertex(gain.to_floats() / 20, floats, log(2))
    most = bound_of_rows(gain, prior, vertex.rows, HALF)
    exact = utility(geometric_channel(0, 20, alpha=HALF), prior, gain)
    assert exact <= most < exact + Fraction(1, 10**12)


def test_prices_of_rows_that_leave_a_ray_a_profit_prove_less() -> None:
    """Broken on purpose: of true prices any change raises the bound, and a large one by much."""
    prior, gain = uniform(0, 20), gain_over("absolute", range(21))
    best = optimal_mechanism(path(0, 20), 1, prior=prior, gain=gain, method=Method.LINEAR_PROGRAM)
    for y in range(0, 21, 5):
        for by in (-1e-3, 1e-3):
            prices = np.zeros(21)
            prices[y] = by
            assert bound_of_rows(gain, prior, prices, alpha_down(1)) > best.bound


@pytest.mark.parametrize("gain", ["identity", "absolute", "squared", threshold_gain(3, range(61))])
@pytest.mark.parametrize("prior", [uniform(0, 60), binomial(60, 0.3), binomial(60, 0.01)])
@pytest.mark.parametrize("epsilon", [1e-5, 0.1, 1, 50])
def test_the_geometric_vertex_is_proved_optimal_without_a_solver(
    gain: str | Gain, prior: Prior, epsilon: float
) -> None:
    line = path(0, 60)
    found = optimal_mechanism(line, epsilon, prior=prior, gain=gain, method=Method.LINEAR_PROGRAM)
    assert "vertex" in found.why
    assert found.channel.is_private(epsilon, line)
    assert found.utility == plain_utility(found.channel, prior, gain)
    assert 0 < found.gap < gain_over(gain, line.nodes).spread / 10**9


def test_a_vertex_that_is_not_optimal_is_left_to_the_solver() -> None:
    found = optimal_mechanism(path(0, 20), 1, prior=uniform(0, 20), gain="parity")
    assert "vertex" not in found.why
    assert found.gap < Fraction(1, 10**12)
