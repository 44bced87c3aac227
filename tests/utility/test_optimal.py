"""Optimal mechanisms: certified epsilon, certified gap, exact draws."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import PureEvent
from discreet.errors import ParameterError
from discreet.utility import (
    Channel,
    ChannelMechanism,
    Gain,
    Method,
    Prior,
    binomial,
    complete,
    cycle,
    gain_over,
    geometric_channel,
    histograms,
    optimal_mechanism,
    path,
    response_channel,
    uniform,
    utility,
)
from discreet.utility.programs import bayesian, best_guesses_of, bound, repaired
from tests.statistics import FALSE_ALARM, counts_misfit

HALF = Fraction(1, 2)


@settings(max_examples=15)
@given(
    st.fractions(min_value=Fraction(1, 10), max_value=12, max_denominator=100),
    st.lists(st.integers(0, 9), min_size=6, max_size=6),
    st.lists(st.lists(st.integers(-5, 5), min_size=6, max_size=6), min_size=2, max_size=4),
)
def test_every_optimum_is_private_and_near_its_bound(
    epsilon: Fraction, prior: list[int], gain: list[list[int]]
) -> None:
    belief, worth = Prior([prior[0] + 1, *prior[1:]]), Gain(gain)
    for graph in (path(0, 5), complete(range(6)), cycle(6)):
        found = optimal_mechanism(graph, epsilon, prior=belief, gain=worth)
        assert found.channel.is_private(epsilon, graph)
        assert found.utility <= found.bound
        assert found.gap < Fraction(1, 10**6)


@pytest.mark.parametrize("gain", ["identity", "absolute", "squared"])
@pytest.mark.parametrize("prior", [uniform(0, 12), binomial(12, 0.3)], ids=["uniform", "binomial"])
def test_closed_form_and_linear_program_agree(gain: str, prior: Prior) -> None:
    closed, program = (
        optimal_mechanism(path(0, 12), 0.7, prior=prior, gain=gain, method=method)
        for method in (Method.CLOSED_FORM, Method.LINEAR_PROGRAM)
    )
    assert closed.channel.is_private(0.7, path(0, 12))
    assert 0 < closed.gap < Fraction(1, 10**9)
    assert abs(closed.utility - program.utility) < Fraction(1, 10**6)
    assert closed.utility <= program.bound


def test_a_raw_solution_of_a_solver_is_not_private_and_its_repair_is() -> None:
    graph, prior = path(0, 30), binomial(30, 0.3)
    worth = np.array(gain_over("absolute", graph.nodes).matrix, np.float64) / 30
    raw = bayesian(worth, np.array(prior.probabilities, np.float64), graph, 1.0).probabilities
    assert not Channel.nearest(raw, inputs=graph.nodes).is_private(1, graph)
    mended = Channel.from_weights(repaired(raw, graph, Fraction(27, 10)), inputs=graph.nodes)
    assert mended.is_private(1, graph)


def test_only_guesses_that_none_is_as_good_as_need_variables() -> None:
    parity = np.array(gain_over("parity", range(6)).matrix, np.float64).T
    assert best_guesses_of(parity).tolist() == [0, 1, 0, 1, 0, 1]
    worse = np.array([[3.0, 2.0, 3.0, 1.0], [1.0, 2.0, 1.0, 2.0]])
    assert best_guesses_of(worse).tolist() == [0, 1, 0, 1]


def test_the_bound_holds_whatever_the_prices() -> None:
    """Broken on purpose: bad prices prove less, never something false."""
    graph, prior = path(0, 6), uniform(0, 6)
    gain = gain_over("identity", graph.nodes)
    best = optimal_mechanism(graph, 1, prior=prior, gain=gain)
    alpha = Fraction(36, 100)
    edges = 2 * len(graph.edges)
    for prices in (np.zeros((edges, 7)), np.full((edges, 7), 0.01), np.eye(edges, 7)):
        assert bound(gain, prior, graph, prices, alpha) >= best.utility


def test_randomized_response_is_optimal_for_guessing_one_value() -> None:
    graph = complete(range(5))
    found = optimal_mechanism(graph, 1, prior=uniform(0, 4))
    assert found.method is Method.LINEAR_PROGRAM
    assert abs(found.utility - utility(response_channel(5, epsilon=1), uniform(0, 4))) < 1e-9


def test_without_a_prior_the_worst_answer_is_served_best() -> None:
    found = optimal_mechanism(path(0, 8), 1)
    assert found.gap < Fraction(1, 10**8)
    # Inside, any mechanism treats some answer no better than (1 - a) / (1 + a), nearly.
    assert 0.4621 < found.utility < 0.47


def test_graphs_without_an_order_have_optima_too() -> None:
    graph = histograms(2, 3)
    found = optimal_mechanism(graph, 1, prior=Prior(dict.fromkeys(graph.nodes, 1)))
    assert found.channel.is_private(1, graph)
    assert found.gap < Fraction(1, 10**8)


def test_the_closed_form_is_refused_where_no_theorem_gives_it() -> None:
    with pytest.raises(ParameterError, match="anti-monotone"):
        optimal_mechanism(
            path(0, 4), 1, prior=uniform(0, 4), gain="parity", method=Method.CLOSED_FORM
        )


@pytest.mark.parametrize(("claimed", "fits"), [(3, True), (4, False)])
def test_draws_have_exactly_the_chances_of_the_row(claimed: int, fits: bool) -> None:
    """Fresh draws cry wolf once in a million runs; another row is the broken twin."""
    channel = geometric_channel(0, 6, alpha=HALF)
    mechanism = ChannelMechanism(channel=channel, graph=path(0, 6), epsilon=Fraction(7, 10))
    drawn = [mechanism.release(3) for _ in range(20_000)]
    counts = np.bincount(np.array(drawn, np.int64), minlength=7)
    shares = [float(each) for each in mechanism.distribution(claimed).values()]
    assert (counts_misfit(counts, shares) > FALSE_ALARM) is fits


def test_a_mechanism_is_charged_as_what_was_certified() -> None:
    found = optimal_mechanism(path(0, 6), 1, prior=uniform(0, 6), gain="parity")
    assert found.mechanism.event == PureEvent(epsilon=Fraction(1))
    assert found.mechanism.release(2) in range(7)


def test_a_mechanism_with_an_epsilon_below_its_channel_s_is_refused() -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        ChannelMechanism(
            channel=geometric_channel(0, 6, alpha=HALF), graph=path(0, 6), epsilon=HALF
        )


def test_an_exact_answer_outside_the_range_is_refused_without_being_shown() -> None:
    mechanism = optimal_mechanism(path(0, 6), 1, prior=uniform(0, 6)).mechanism
    with pytest.raises(ParameterError) as refusal:
        mechanism.release(4711)
    assert "4711" not in str(refusal.value)
