"""Channels: exact chances, certified odds, post-processing."""

from fractions import Fraction
from math import e, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.local import KaryResponse
from discreet.mechanisms import Geometric, Laplace
from discreet.utility import (
    Channel,
    complete,
    exponential_channel,
    geometric_channel,
    identity_channel,
    laplace_channel,
    local_channel,
    path,
    response_channel,
)
from discreet.utility.makers import alpha_down, alpha_up

HALF = Fraction(1, 2)
epsilons = st.fractions(min_value=Fraction(1, 100), max_value=8, max_denominator=1000)


@given(epsilons, st.integers(1, 12))
def test_no_channel_made_for_an_epsilon_exceeds_it_and_none_wastes_it(
    epsilon: Fraction, high: int
) -> None:
    line = path(0, high)
    scores = [[-abs(z - y) for z in range(high + 1)] for y in range(high + 1)]
    for channel, graph in (
        (geometric_channel(0, high, epsilon=epsilon), line),
        (laplace_channel(0, high, epsilon=epsilon), line),
        (response_channel(high + 1, epsilon=epsilon), complete(range(high + 1))),
        (exponential_channel(scores, sensitivity=1, epsilon=epsilon), line),
    ):
        assert channel.is_private(epsilon, graph)
    assert not geometric_channel(0, high, epsilon=epsilon).is_private(
        epsilon * (1 - Fraction(1, 10**9)), line
    )


def test_the_geometric_channel_is_that_of_the_mechanism() -> None:
    ours = geometric_channel(3, 9, epsilon=0.7).to_floats()
    theirs = Geometric(epsilon=0.7, sensitivity=1).truncated(3, 9).channel()
    assert np.abs(ours - theirs).max() < 1e-14


def test_chances_with_a_rational_alpha_are_exact() -> None:
    channel = geometric_channel(0, 4, alpha=HALF)
    assert channel.probability(0, 0) == Fraction(2, 3)
    assert channel.probability(2, 2) == Fraction(1, 3)
    assert channel.probability(0, 4) == Fraction(1, 24)
    assert all(sum(row) == 1 for row in channel.matrix)
    assert channel.likelihood_ratio(path(0, 4)) == 2


def test_rounded_laplace_is_what_rounding_gives() -> None:
    channel = laplace_channel(0, 20, epsilon=1)
    law = Laplace(epsilon=1, sensitivity=1).distribution(8)
    near = [law.cdf(z + 0.5) - law.cdf(z - 0.5) for z in range(1, 20)]
    assert channel.to_floats()[8][1:20] == pytest.approx(near, rel=1e-4)
    ends = channel.probability(0, 8), channel.probability(20, 8)
    assert [float(each) for each in ends] == pytest.approx([e**-7.5 / 2, e**-11.5 / 2], rel=1e-12)


def test_laplace_of_a_rational_alpha_stays_below_it() -> None:
    odds = laplace_channel(0, 6, alpha=HALF).likelihood_ratio(path(0, 6))
    assert odds is not None
    assert 2 - Fraction(1, 2**40) < odds <= 2


def test_local_mechanisms_are_channels_too() -> None:
    mechanism = KaryResponse(epsilon=1, categories=4)
    channel = local_channel(mechanism)
    assert channel.is_private(1, complete(range(4)))
    assert channel.to_floats() == pytest.approx(
        response_channel(4, epsilon=1).to_floats(), rel=1e-12
    )


def test_a_zero_beside_a_positive_chance_has_no_epsilon() -> None:
    graph = path(0, 1)
    leaky = Channel([[1, 0], [HALF, HALF]])
    assert leaky.likelihood_ratio(graph) is None
    assert leaky.epsilon(graph) is None
    assert not leaky.is_private(100, graph)
    assert identity_channel((0, 1)).epsilon(graph) is None
    assert Channel([[1, 0], [1, 0]]).epsilon(graph) == 0


def test_epsilon_is_the_logarithm_of_the_odds_rounded_up() -> None:
    epsilon = geometric_channel(0, 5, alpha=HALF).epsilon(path(0, 5))
    assert epsilon is not None
    assert log(2) <= epsilon < log(2) * (1 + 1e-14)


def test_alpha_brackets_the_exponential_tightly() -> None:
    for epsilon in (Fraction(1, 1000), Fraction(1), Fraction(50)):
        low, high = alpha_down(epsilon), alpha_up(epsilon)
        assert low < high <= low * (1 + Fraction(1, 2**51))


@given(st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_post_processing_never_raises_the_odds(rows: list[list[int]]) -> None:
    graph, channel = path(0, 2), geometric_channel(0, 2, alpha=HALF)
    after = channel.then(Channel.from_weights(rows))
    odds = after.likelihood_ratio(graph)
    assert odds is not None
    assert odds <= 2
    by_hand = np.array(channel.matrix, object) @ np.array(Channel.from_weights(rows).matrix, object)
    assert (np.array(after.matrix, object) == by_hand).all()


def test_an_oblivious_mechanism_sees_answers_only() -> None:
    databases = [(a, b) for a in (0, 1) for b in (0, 1)]
    lifted = geometric_channel(0, 2, alpha=HALF).lifted(databases, sum)
    assert lifted.is_oblivious(sum)
    assert not identity_channel(databases).is_oblivious(sum)


def test_rows_that_do_not_add_up_are_refused_unless_they_are_said_to_be_rounded() -> None:
    thirds = [[0.333, 0.333, 0.333]] * 2
    with pytest.raises(ParameterError, match="add up to exactly 1"):
        Channel(thirds)
    assert Channel.nearest(np.array(thirds)).probability(0, 1) == Fraction(1, 3)


@pytest.mark.parametrize("number", [None, HALF])
def test_a_channel_needs_one_of_epsilon_and_alpha(number: Fraction | None) -> None:
    with pytest.raises(ParameterError, match="only one of them"):
        geometric_channel(0, 5, epsilon=number, alpha=number)


def test_graphs_of_other_answers_are_refused() -> None:
    with pytest.raises(ParameterError, match="same answers"):
        geometric_channel(0, 5, alpha=HALF).likelihood_ratio(path(0, 6))


@given(
    st.lists(
        st.lists(
            st.sampled_from([0, 1, 2, 3, 2**60, 2**60 + 1, 3 * 2**59, 10**400]),
            min_size=3,
            max_size=3,
        ).filter(any),
        min_size=2,
        max_size=4,
    )
)
def test_odds_are_the_largest_ratio_to_the_last_digit(weights: list[list[int]]) -> None:
    """Floats leave out what is surely smaller; numbers that floats cannot tell apart are here."""
    channel = Channel.from_weights(weights)
    graph = complete(range(len(weights)))
    pairs = [
        (here, there)
        for i, j in graph.directed
        for here, there in zip(channel.matrix[i], channel.matrix[j], strict=True)
    ]
    infinite = any(here > 0 == there for here, there in pairs)
    ratios = [here / there for here, there in pairs if there]
    assert channel.likelihood_ratio(graph) == (None if infinite else max([Fraction(1), *ratios]))
