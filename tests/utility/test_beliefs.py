"""Beliefs before and after answers, and the bounds that hold for any of them."""

from fractions import Fraction
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.mechanisms import Geometric
from discreet.utility import (
    Channel,
    Prior,
    belief_after,
    belief_after_counts,
    belief_bounds,
    complete,
    event_bounds,
    independent,
    mean_is_exact,
    posterior,
    response_channel,
    uniform,
    world_bounds,
)

chances = st.fractions(min_value=Fraction(1, 100), max_value=Fraction(99, 100), max_denominator=100)
epsilons = st.fractions(min_value=Fraction(1, 10), max_value=5, max_denominator=50)
SLACK = 1e-12


def test_eve_learns_little_about_aisha() -> None:
    """Two women, each failed with chance 0.4; asked how many did, the noisy answer is 1."""
    belief = belief_after_counts(independent(0.4, 0.4), [1], alpha=0.6, of=sum)
    assert belief.probability(lambda database: database[0] == 1) == Fraction(14, 33)


@given(
    chances,
    st.lists(st.lists(st.integers(1, 50), min_size=3, max_size=3), min_size=2, max_size=2),
)
def test_no_private_answer_moves_a_belief_beyond_its_bounds(
    chance: Fraction, rows: list[list[int]]
) -> None:
    channel = Channel.from_weights(rows)
    true = channel.epsilon(complete((0, 1)))
    assert true is not None
    low, high = belief_bounds(chance, max(true, Fraction(1, 1000)))
    for output in channel.outputs:
        moved = float(belief_after(channel, Prior([1 - chance, chance]), output)[1])
        assert low - SLACK <= moved <= high + SLACK


@given(chances, epsilons)
def test_randomized_response_reaches_both_bounds(chance: Fraction, epsilon: Fraction) -> None:
    channel = response_channel(2, epsilon=epsilon)
    moved = [float(belief_after(channel, Prior([1 - chance, chance]), z)[1]) for z in (0, 1)]
    assert moved == pytest.approx(belief_bounds(chance, epsilon), rel=1e-9)


def test_the_odds_of_two_worlds_move_by_twice_epsilon_with_the_parity_of_a_count() -> None:
    """So the interval for events is not one for beliefs: 0.5 becomes 0.1 at epsilon = ln 3."""
    response = response_channel(2, alpha=Fraction(1, 3))
    prior = Prior([Fraction(3, 4), Fraction(1, 4)])
    with_bob = belief_after(response, prior, 1)[1]
    without = posterior(prior, lambda others: response.probability(1, 1 - others))[1]
    assert (with_bob, without) == (Fraction(1, 2), Fraction(1, 10))
    assert float(without) < event_bounds(0.5, log(3))[0]
    assert float(without) == pytest.approx(world_bounds(0.5, log(3))[0], rel=1e-12)


@given(chances, epsilons)
def test_events_keep_both_halves_of_the_definition(p: Fraction, epsilon: Fraction) -> None:
    low, high = event_bounds(p, epsilon)
    growth = exp(epsilon)
    assert 0 <= low <= p <= high <= 1
    for other in (low, high):
        for a, b in ((float(p), other), (1 - float(p), 1 - other)):
            assert a <= b * growth + SLACK
            assert b <= a * growth + SLACK


def test_asking_again_and_again_makes_a_count_certain() -> None:
    """The averaging attack, with noise that happens to be 2, -1, 0, …: certainty grows."""
    noise = [2, -1, 0, 1, -2, 0, 0, 1, -1, 0]
    sure = [
        belief_after_counts(uniform(0, 100), [55 + z for z in noise[:k]], epsilon=1)[55]
        for k in (1, 3, 10)
    ]
    assert sure[0] < sure[1] < sure[2]
    assert sure[2] > Fraction(9, 10)


def test_the_mean_of_more_answers_is_exact_more_often() -> None:
    law = Geometric(epsilon=1, sensitivity=1).distribution(55)
    found = [mean_is_exact(law, k) for k in (1, 10, 40)]
    assert found[0] == pytest.approx(law.pmf(55), rel=1e-12)
    assert found[0] < found[1] < found[2]


def test_what_was_held_impossible_cannot_have_happened() -> None:
    with pytest.raises(ParameterError, match="possible"):
        belief_after(Channel([[1, 0], [0, 1]]), Prior([1, 0]), 1)
