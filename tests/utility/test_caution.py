"""Cautious users: the best for the answer with which it is worst."""

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.utility import (
    Belief,
    Channel,
    cautious_remap,
    design,
    geometric_channel,
    identity_channel,
    optimal_mechanism,
    path,
    worst_utility,
)


@pytest.mark.parametrize("gain", ["identity", "absolute", "squared"])
@pytest.mark.parametrize("epsilon", [0.3, 1])
def test_on_a_path_nothing_serves_them_better_than_the_geometric_mechanism(
    gain: str, epsilon: float
) -> None:
    noisy = geometric_channel(0, 12, epsilon=epsilon)
    served = noisy.then(cautious_remap(noisy, gain))
    best = optimal_mechanism(path(0, 12), epsilon, gain=gain)
    assert served.is_private(epsilon, path(0, 12))
    assert worst_utility(noisy, gain) < worst_utility(served, gain) <= best.bound
    assert best.bound - worst_utility(served, gain) < Fraction(1, 10**7)


def test_guesses_are_drawn_where_no_fixed_guess_is_safe() -> None:
    """Of an output that says nothing, any fixed guess is worth nothing for some answer."""
    silent = Channel([[1], [1]], outputs=("?",))
    found = cautious_remap(silent)
    assert [float(each) for each in found.matrix[0]] == pytest.approx([0.5, 0.5])


def test_outputs_that_are_best_as_they_are_are_left_so() -> None:
    exact = identity_channel(range(5))
    assert cautious_remap(exact).matrix == exact.matrix


def test_a_design_for_the_worst_answer_judges_all_by_it() -> None:
    found = design(0, 8, 1, prior=Belief.WORST)
    worth = [each.utility for each in found.candidates]
    assert worth[0] < worth[1] < worth[2] <= found.optimum.bound < found.truth == 8
    assert found.is_universal
    assert all(each.utility == worst_utility(each.channel, found.gain) for each in found.candidates)


def test_an_unknown_belief_is_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="'uniform' or 'worst'"):
        design(0, 8, 1, prior="best")
