"""Universality: one mechanism for everyone on a path, and a proof that others have none."""

from fractions import Fraction
from itertools import accumulate
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.utility import (
    Channel,
    Gain,
    NeighbourGraph,
    Prior,
    binomial,
    compare_geometric,
    complete,
    conflict,
    geometric_channel,
    histograms,
    path,
    plain_utility,
    refinement,
    sums,
    threshold_gain,
    uniform,
    utility,
)

HALF = Fraction(1, 2)

EDGES = Prior({**dict.fromkeys(range(16), 1), 0: 50, 15: 80})


@pytest.mark.parametrize("prior", [uniform(0, 15), binomial(15, 0.2), EDGES])
@pytest.mark.parametrize("gain", ["identity", "absolute", threshold_gain(2, range(16))])
def test_on_a_path_nothing_beats_the_geometric_mechanism(prior: Prior, gain: str) -> None:
    found = compare_geometric(path(0, 15), 0.5, prior, gain)
    assert found.shortfall <= Fraction(1, 10**12)
    assert found.doubt < Fraction(1, 10**5)


@pytest.mark.parametrize("gain", ["identity", "absolute", "squared"])
def test_nor_does_anything_on_a_path_of_a_hundred(gain: str) -> None:
    for prior in (uniform(0, 100), binomial(100, 0.3)):
        found = compare_geometric(path(0, 100), 1, prior, gain)
        assert found.shortfall <= Fraction(1, 10**12)
        assert found.doubt < Fraction(1, 10**14) * 100**2


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([0, 1, 100, 10**6]), min_size=21, max_size=21).filter(any),
    st.lists(st.lists(st.integers(0, 9), min_size=20, max_size=20), min_size=21, max_size=21),
    st.sampled_from([0.05, 0.5, 2]),
)
def test_whatever_the_prior_and_however_gains_fall(
    weights: list[int], steps: list[list[int]], epsilon: float
) -> None:
    """For each answer y, a guess that is d away is worth -(steps[y][0] + … + steps[y][d - 1])."""
    falls = [[0, *accumulate(row)] for row in steps]
    gain = Gain([[-falls[y][abs(w - y)] for y in range(21)] for w in range(21)])
    assert gain.is_anti_monotone
    found = compare_geometric(path(0, 20), epsilon, Prior(weights), gain)
    assert found.shortfall <= gain.spread / 10**12
    assert found.doubt <= gain.spread / 10**10


def test_the_parity_of_a_count_is_better_told_by_another_mechanism() -> None:
    found = compare_geometric(path(0, 20), log(2), uniform(0, 20), "parity")
    assert float(found.geometric) == pytest.approx(0.569664909726, abs=1e-12)
    assert float(found.optimum.utility) == pytest.approx(2 / 3, abs=1e-9)
    assert found.shortfall > Fraction(9, 100)


def test_the_geometric_mechanism_tells_parity_wrong_in_43_of_100_to_the_last_digit() -> None:
    noisy = geometric_channel(0, 20, alpha=HALF)
    for worth in (utility, plain_utility):
        assert 1 - worth(noisy, uniform(0, 20), "parity") == Fraction(2369005, 5505024)


def test_randomized_response_tells_parity_wrong_in_one_of_three() -> None:
    response = Channel.from_weights(
        [[2, 1, *[0] * 19] if y % 2 == 0 else [1, 2, *[0] * 19] for y in range(21)]
    )
    assert response.likelihood_ratio(path(0, 20)) == 2
    assert 1 - plain_utility(response, uniform(0, 20), "parity") == Fraction(1, 3)


def test_no_mechanism_tells_parity_wrong_less_often() -> None:
    """Shares of the two ends of an edge, between 1 : 2 and 2 : 1, that give every answer 1.

    c(y) is how often the parity of y is told right: c(y) + c(y') / 2 ≤ 1 for neighbours, as what is
    wrong of y' is at least half of what is right of y. An edge with shares s, s' is a positive sum
    of its two inequalities, s c(y) + s' c(y') ≤ (s + s') / (1 + 1/2). All together: Σ c ≤ 14.
    """
    ends = (Fraction(1), HALF)
    shares = [ends, *[(HALF, HALF)] * 18, ends[::-1]]
    at_answers = [Fraction(0)] * 21
    for y, (here, there) in enumerate(shares):
        # here = a + b / 2 and there = a / 2 + b for weights a, b of the two inequalities.
        a, b = (here - there / 2) / Fraction(3, 4), (there - here / 2) / Fraction(3, 4)
        assert min(a, b) >= 0
        at_answers[y] += here
        at_answers[y + 1] += there
    assert set(at_answers) == {1}
    assert sum(map(sum, shares)) / (1 + HALF) / 21 == Fraction(2, 3)


@pytest.mark.parametrize(
    "graph",
    [complete(range(3)), sums(0, 4, most=2), histograms(2, 3)],
    ids=["value", "sum", "histogram"],
)
def test_where_neighbours_form_a_triangle_two_users_cannot_both_be_served_best(
    graph: NeighbourGraph,
) -> None:
    everyone = Prior(dict.fromkeys(graph.nodes, 1))
    pair = Prior({**dict.fromkeys(graph.nodes, 0), **dict.fromkeys(graph.nodes[:2], 1)})
    found = conflict(graph, log(2), (everyone, "identity"), (pair, "identity"))
    assert found.is_proved
    assert found.loss > Fraction(1, 200)


def test_on_a_path_both_are() -> None:
    pair = Prior([1, 1, 0, 0, 0])
    found = conflict(path(0, 4), log(2), (Prior([1] * 5), "identity"), (pair, "identity"))
    assert not found.is_proved
    assert abs(found.loss) < Fraction(1, 10**9)


def test_less_noise_refines_more_noise_and_the_proof_is_post_processing() -> None:
    less, more = (geometric_channel(0, 6, alpha=Fraction(k, 4)) for k in (2, 3))
    found = refinement(less, more)
    assert found.holds
    assert less.then(found.after).matrix == more.matrix


def test_more_noise_does_not_refine_less_and_the_proof_is_a_gain() -> None:
    less, more = (geometric_channel(0, 6, alpha=Fraction(k, 4)) for k in (2, 3))
    found = refinement(more, less)
    assert not found.holds
    assert found.witness is not None


def test_channels_that_tell_different_things_refine_in_neither_direction() -> None:
    first = Channel([[1, 0], [0, 1], [0, 1]])
    second = Channel([[1, 0], [1, 0], [0, 1]])
    assert refinement(first, second).witness is not None
    assert refinement(second, first).witness is not None
