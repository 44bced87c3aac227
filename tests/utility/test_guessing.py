"""Rational users: best guesses, by exhaustion where that is possible."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.utility import (
    Channel,
    Gain,
    Prior,
    bayes_risk,
    best_remap,
    binomial,
    empirical,
    expected_error,
    gain_over,
    geometric_channel,
    identity_channel,
    independent,
    leakage,
    plain_utility,
    threshold_gain,
    uniform,
    utility,
    vulnerability,
    worst_utility,
)

HALF = Fraction(1, 2)
small = st.integers(0, 6)
squares = st.lists(st.lists(small, min_size=3, max_size=3), min_size=3, max_size=3)


def positive(rows: list[list[int]]) -> list[list[int]]:
    return [[each + (j == 0) for j, each in enumerate(row)] for row in rows]


@given(squares, st.lists(small, min_size=3, max_size=3), squares)
def test_no_table_of_guesses_beats_the_best_remap(
    channel: list[list[int]], prior: list[int], gain: list[list[int]]
) -> None:
    law = Channel.from_weights(positive(channel))
    belief, worth = Prior([prior[0] + 1, *prior[1:]]), Gain(gain)
    every = (
        sum(
            p * law.matrix[y][z] * worth.matrix[table[z]][y]
            for y, p in enumerate(belief.probabilities)
            for z in range(3)
        )
        for table in product(range(3), repeat=3)
    )
    remap = best_remap(law, belief, worth)
    assert remap.utility == max(every)
    assert plain_utility(law.then(remap.channel), belief, worth) == remap.utility


@given(squares, squares, st.lists(small, min_size=3, max_size=3))
def test_post_processing_never_helps_a_rational_user(
    channel: list[list[int]], after: list[list[int]], prior: list[int]
) -> None:
    law, belief = Channel.from_weights(positive(channel)), Prior([prior[0] + 1, *prior[1:]])
    worse = law.then(Channel.from_weights(positive(after)))
    for gain in ("identity", "absolute", "squared", "parity"):
        assert utility(worse, belief, gain) <= utility(law, belief, gain)


@pytest.mark.parametrize("n", [1, 5, 20])
def test_identity_utility_of_the_geometric_mechanism_is_the_formula_s(n: int) -> None:
    a = HALF
    expected = (2 + (n - 1) * (1 - a)) / ((n + 1) * (1 + a))
    assert utility(geometric_channel(0, n, alpha=a), uniform(0, n)) == expected


def test_chances_too_small_for_floats_still_decide() -> None:
    """Two guesses that differ by 10^-400 of what they are worth."""
    tiny = Fraction(1, 10**400)
    channel = Channel([[HALF + tiny, HALF - tiny], [HALF, HALF]])
    assert best_remap(channel, Prior([1, 1])).guesses == (0, 1)
    assert vulnerability(channel, Prior([1, 1])) == HALF + tiny / 2


def test_gains_that_floats_cannot_tell_apart_still_decide() -> None:
    large = Gain([[10**90, 0], [10**90 - 1, 1]])
    assert best_remap(identity_channel((0, 1)), Prior([1, 1]), large).guesses == (0, 1)
    with pytest.raises(ParameterError, match="gain"):
        Gain([[10**200]])


def test_a_strong_prior_overrules_what_was_released() -> None:
    remap = best_remap(geometric_channel(0, 4, alpha=HALF), Prior([1, 1, 100, 1, 1]))
    assert set(remap.guesses) == {2}
    assert remap[0] == 2


def test_vulnerability_risk_and_leakage_of_the_truth_and_of_nothing() -> None:
    prior = uniform(0, 3)
    truth, nothing = identity_channel(range(4)), Channel([[1]] * 4)
    told = [vulnerability(truth, prior), bayes_risk(truth, prior), leakage(truth, prior)]
    assert told == [1, 0, 4]
    assert [vulnerability(nothing, prior), leakage(nothing, prior)] == [Fraction(1, 4), 1]
    assert expected_error(nothing, prior) == 1


def test_general_mechanisms_are_judged_by_the_answer_of_the_database() -> None:
    prior = independent(HALF, HALF)
    noisy = geometric_channel(0, 2, alpha=HALF).lifted(prior.labels, sum)
    by_answers = utility(geometric_channel(0, 2, alpha=HALF), binomial(2, HALF), "absolute")
    assert utility(noisy, prior, "absolute", of=sum) == by_answers


def test_gains_know_whether_they_are_anti_monotone() -> None:
    answers = range(6)
    named = {name: gain_over(name, answers).is_anti_monotone for name in ("identity", "absolute")}
    assert all(named.values())
    assert threshold_gain(2, answers).is_anti_monotone
    assert not gain_over("parity", answers).is_anti_monotone
    assert not gain_over(lambda w, y: w - y, answers).is_anti_monotone
    assert gain_over(lambda w, y: -y * abs(w - y), answers).is_anti_monotone


def test_priors_are_exact() -> None:
    assert binomial(2, Fraction(1, 3)).probabilities == (
        Fraction(4, 9),
        Fraction(4, 9),
        Fraction(1, 9),
    )
    assert [*empirical([1, 1, 9], 0, 2, besides=0).probabilities] == [
        0,
        Fraction(2, 3),
        Fraction(1, 3),
    ]
    assert independent(0.4, 0.4)[1, 0] == Fraction(6, 25)
    assert uniform(0, 4).mapped(lambda y: y % 2)[1] == Fraction(2, 5)


def test_the_worst_answer_counts_where_there_is_no_prior() -> None:
    assert worst_utility(geometric_channel(0, 9, alpha=HALF)) == Fraction(1, 3)


@pytest.mark.parametrize("prior", [[0, 0], []])
def test_a_prior_without_chances_is_refused(prior: list[int]) -> None:
    with pytest.raises(ParameterError, match="prior"):
        Prior(prior)


def test_an_unknown_gain_is_refused_by_the_names_there_are() -> None:
    with pytest.raises(ParameterError, match="'identity' or 'absolute'"):
        gain_over("abs", range(3))
