"""The exponential mechanism and permute-and-flip: odds by brackets, choices, errors."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.pure import pure_epsilon
from discreet.errors import ParameterError
from discreet.mechanisms import REPLACE, Exponential, PermuteAndFlip, counting_query, histogram
from discreet.mechanisms.distributions import ChoiceDistribution
from discreet.mechanisms.exponential import exponential_distribution, permute_and_flip_distribution
from discreet.noise.uniform import IntArray
from tests.mechanisms.checks import are_odds_within, indices_misfit, is_covered
from tests.mechanisms.strategies import (
    epsilons,
    moderate_epsilons,
    moderate_sensitivities,
    score_lists,
    sensitivities,
)
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM

Selector = Exponential | PermuteAndFlip
SELECTORS = [Exponential, PermuteAndFlip]
either = pytest.mark.parametrize("kind", SELECTORS)


def law_of(mechanism: Selector, scores: list[Fraction]) -> ChoiceDistribution:
    """Return the law of scores that are any fractions, floored as single answers are."""
    places: IntArray = np.array([mechanism.grid.place(score) for score in scores], np.int64)
    made = (
        exponential_distribution
        if isinstance(mechanism, Exponential)
        else permute_and_flip_distribution
    )
    return made(places, mechanism.rate_in_steps)


def all_odds_within(mechanism: Selector, here: list[Fraction], there: list[Fraction]) -> bool:
    """Tell whether no candidate, in either direction, has worse odds than e^epsilon."""
    p, q = law_of(mechanism, here), law_of(mechanism, there)
    return all(
        are_odds_within(p.enclose(i), q.enclose(i), mechanism.epsilon)
        and are_odds_within(q.enclose(i), p.enclose(i), mechanism.epsilon)
        for i in range(len(here))
    )


@either
@pytest.mark.parametrize("monotone", [False, True])
@settings(max_examples=40)
@given(moderate_epsilons, moderate_sensitivities, st.data())
def test_no_candidate_has_worse_odds_than_its_price(
    kind: type[Selector],
    monotone: bool,
    epsilon: Fraction,
    sensitivity: Fraction,
    data: st.DataObject,
) -> None:
    mechanism = kind(epsilon=epsilon, sensitivity=sensitivity, monotone=monotone)
    here, there = data.draw(score_lists(sensitivity, monotone=monotone))
    assert all_odds_within(mechanism, here, there)


@either
def test_scores_that_are_not_monotone_break_a_monotone_price(kind: type[Selector]) -> None:
    """The broken twin: one score rises, another falls, and both odds add up."""
    mechanism = kind(epsilon=1, sensitivity=1, monotone=True)
    here, there = [Fraction(0), Fraction(5)], [Fraction(-1), Fraction(6)]
    assert not all_odds_within(mechanism, here, there)
    assert all_odds_within(kind(epsilon=1, sensitivity=1), here, there)


@either
def test_half_the_sensitivity_breaks_the_price(kind: type[Selector]) -> None:
    mechanism = kind(epsilon=1, sensitivity=Fraction(1, 2))
    here, there = [Fraction(3), Fraction(0)], [Fraction(2), Fraction(1)]
    assert not all_odds_within(mechanism, here, there)


@either
@given(epsilons, sensitivities, st.booleans())
def test_calibration_and_accounting_are_inverse(
    kind: type[Selector], epsilon: Fraction, sensitivity: Fraction, monotone: bool
) -> None:
    mechanism = kind(epsilon=epsilon, sensitivity=sensitivity, monotone=monotone)
    assert pure_epsilon(mechanism.event) == mechanism.epsilon == epsilon


@given(sensitivities, st.data())
def test_scores_stay_within_the_sensitivity_in_steps(
    sensitivity: Fraction, data: st.DataObject
) -> None:
    mechanism = Exponential(epsilon=1, sensitivity=sensitivity)
    here, there = data.draw(score_lists(sensitivity, monotone=False))
    places = [[mechanism.grid.place(score) for score in scores] for scores in (here, there)]
    most = 1 / (2 * mechanism.rate_in_steps)
    assert all(abs(x - y) <= most for x, y in zip(*places, strict=True))


SCORES = [3.0, 2.5, 2.5, 0.0, -1.25]


@either
def test_choices_have_the_stated_law(kind: type[Selector]) -> None:
    """A fresh seed cries wolf once in 10^6; the twins claim half the noise, and the other rule."""
    entropy, draws = ReplayableEntropy(seed=111), 10_000
    mechanism = kind(epsilon=1, sensitivity=1)
    chosen = [mechanism.release(SCORES, entropy=entropy) for _ in range(draws)]
    (other,) = {*SELECTORS} - {kind}
    assert indices_misfit(chosen, mechanism.distribution(SCORES).probabilities) > FALSE_ALARM
    for twin in (kind(epsilon=2, sensitivity=1), other(epsilon=1, sensitivity=1)):
        assert indices_misfit(chosen, twin.distribution(SCORES).probabilities) < FALSE_ALARM


@either
def test_floats_and_brackets_state_the_same_law(kind: type[Selector]) -> None:
    law = kind(epsilon=1, sensitivity=1).distribution(SCORES)
    assert sum(law.probabilities) == pytest.approx(1, abs=1e-12)
    for i in range(len(SCORES)):
        low, high = law.enclose(i)(60)
        assert low * 2.0**-60 <= law.pmf(i) * (1 + 1e-12)
        assert law.pmf(i) * (1 - 1e-12) <= high * 2.0**-60


def test_the_exponential_law_is_the_textbook_one() -> None:
    law = Exponential(epsilon=1, sensitivity=1).distribution([1, 0])
    assert law.pmf(0) == pytest.approx(exp(0.5) / (1 + exp(0.5)), rel=1e-9)


@settings(max_examples=40)
@given(moderate_epsilons, st.data())
def test_permute_and_flip_is_never_worse_than_the_exponential_mechanism(
    epsilon: Fraction, data: st.DataObject
) -> None:
    """McKenna, Sheldon 2020, Theorem 2: its expected shortfall is no larger."""
    scores, _ = data.draw(score_lists(Fraction(1), monotone=False))
    short = [float(max(scores) - score) for score in scores]
    flip, choice = (
        law_of(kind(epsilon=epsilon, sensitivity=1), scores)
        for kind in (PermuteAndFlip, Exponential)
    )
    assert np.dot(flip.probabilities, short) <= np.dot(choice.probabilities, short) + 1e-12


@either
@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize("fall", [0.1, 2.0, 7.3])
def test_the_shortfall_is_kept_as_often_as_it_says(
    kind: type[Selector], confidence: float, fall: float
) -> None:
    """By the law itself, without sampling: many candidates fall short by the same."""
    mechanism, candidates = kind(epsilon=1, sensitivity=1), 30
    scores = [0.0] + [-fall] * (candidates - 1)
    error = mechanism.margin(confidence, candidates=candidates)
    kept = 1.0 if fall <= error else mechanism.distribution(scores).pmf(0)
    assert kept >= confidence


@either
def test_the_shortfall_of_releases_is_within_the_error(kind: type[Selector]) -> None:
    """A fresh seed cries wolf once in 10^6."""
    mechanism, entropy = kind(epsilon=1, sensitivity=1), ReplayableEntropy(seed=112)
    scores = np.linspace(-20, 0, 50)
    error = mechanism.margin(0.9, candidates=50)
    short = [-scores[mechanism.release(scores, entropy=entropy)] for _ in range(3_000)]
    assert is_covered(sum(each <= error for each in short), 3_000, 0.9)


@either
@given(
    st.fractions(min_value=Fraction(1, 10), max_value=1000, max_denominator=100),
    st.sampled_from([0.5, 0.95, 0.999]),
    st.integers(min_value=2, max_value=10**6),
    moderate_sensitivities,
)
def test_calibration_by_error_finds_the_least_epsilon_of_six_digits(
    kind: type[Selector],
    within: Fraction,
    confidence: float,
    candidates: int,
    sensitivity: Fraction,
) -> None:
    mechanism = kind.for_margin(
        within=within, confidence=confidence, candidates=candidates, sensitivity=sensitivity
    )
    assert mechanism.margin(confidence, candidates=candidates) <= within
    less = kind(epsilon=mechanism.epsilon * (1 - Fraction(2, 10**5)), sensitivity=sensitivity)
    assert less.margin(confidence, candidates=candidates) > within


@either
def test_candidates_are_chosen_by_their_utility(kind: type[Selector]) -> None:
    mechanism, entropy = kind(epsilon=1000, sensitivity=1), ReplayableEntropy(seed=113)
    assert mechanism.choose(["a", "bbb", "cc"], len, entropy=entropy) == "bbb"


@either
def test_monotone_is_refused_where_it_is_known_to_be_false(kind: type[Selector]) -> None:
    with pytest.raises(ParameterError, match="monotone must be False"):
        kind(epsilon=1, sensitivity=histogram(REPLACE), monotone=True)
    assert kind(epsilon=1, sensitivity=counting_query(), monotone=True).monotone


@either
def test_bad_scores_are_refused_without_being_shown(kind: type[Selector]) -> None:
    mechanism = kind(epsilon=1, sensitivity=1)
    for scores in ([], [[1.0, 2.0]], [1.0, float("nan")], ["a"], [None], 3.0):
        with pytest.raises(ParameterError, match="must be") as caught:
            mechanism.release(scores)  # type: ignore[arg-type]  # wrong on purpose
        assert "given" not in str(caught.value)
