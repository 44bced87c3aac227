"""Randomized response: odds by brackets, reports, estimates without bias."""

from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.pure import pure_epsilon
from discreet.errors import ParameterError
from discreet.mechanisms import RandomizedResponse
from tests.mechanisms.checks import are_odds_within, indices_misfit, is_covered, is_wasteful
from tests.mechanisms.strategies import epsilons
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, share_misfit

categories_of = st.integers(min_value=2, max_value=7)


def all_odds_within(mechanism: RandomizedResponse, epsilon: Fraction) -> bool:
    """Tell whether no report has worse odds than e^epsilon between any two true values."""
    laws = [mechanism.distribution(true) for true in range(mechanism.categories)]
    return all(
        are_odds_within(p.enclose(report), q.enclose(report), epsilon)
        for p in laws
        for q in laws
        for report in range(mechanism.categories)
    )


@given(epsilons, categories_of)
def test_no_report_has_worse_odds_than_its_price(epsilon: Fraction, categories: int) -> None:
    mechanism = RandomizedResponse(epsilon=epsilon, categories=categories)
    assert all_odds_within(mechanism, epsilon)
    assert pure_epsilon(mechanism.event) == mechanism.epsilon == epsilon
    # The broken twin: a price a thousandth lower is not kept.
    assert not all_odds_within(mechanism, epsilon * Fraction(999, 1000))


@given(categories_of, st.fractions(min_value=0, max_value=1, max_denominator=1000))
def test_a_stated_truth_has_no_worse_odds_than_its_price(categories: int, share: Fraction) -> None:
    truth = Fraction(1, categories) + (1 - Fraction(1, categories)) * (share * 998 + 1) / 1000
    mechanism = RandomizedResponse.truthful(truth, categories=categories)
    assert all_odds_within(mechanism, mechanism.epsilon)
    odds = truth * (categories - 1) / (1 - truth)
    assert float(mechanism.epsilon) == pytest.approx(log(odds), rel=1e-9)
    assert mechanism.probability == float(truth)


def test_fair_coins_cost_ln_3() -> None:
    mechanism = RandomizedResponse.fair_coins()
    assert mechanism.truth == Fraction(3, 4)
    assert log(3) <= mechanism.epsilon <= log(3) * (1 + 1e-12)
    assert all_odds_within(mechanism, mechanism.epsilon)
    assert not all_odds_within(mechanism, Fraction(109, 100))


@pytest.mark.parametrize(
    "mechanism",
    [
        RandomizedResponse(epsilon=1),
        RandomizedResponse(epsilon=1, categories=5),
        RandomizedResponse.fair_coins(),
        RandomizedResponse.truthful(0.4, categories=4),
    ],
    ids=repr,
)
def test_reports_have_the_stated_law(mechanism: RandomizedResponse) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin shares out what is lost to itself too.

    (It says "a random value" instead of "a random other value".)
    """
    true = mechanism.categories - 1
    reports = mechanism.release(np.full(100_000, true), entropy=ReplayableEntropy(seed=121))
    law = list(mechanism.distribution(true).probabilities)
    assert sum(law) == pytest.approx(1, abs=1e-12)
    assert indices_misfit(reports.tolist(), law) > FALSE_ALARM
    lost = (1 - law[true]) / mechanism.categories
    twin = [lost] * mechanism.categories
    twin[true] += law[true]
    assert indices_misfit(reports.tolist(), twin) < FALSE_ALARM


def test_single_reports_have_the_stated_law_and_kind() -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin never lies."""
    mechanism, entropy = RandomizedResponse.fair_coins(), ReplayableEntropy(seed=122)
    reports = [mechanism.release(True, entropy=entropy) for _ in range(5_000)]
    assert {type(report) for report in reports} == {bool}
    assert share_misfit(sum(reports), 5_000, 0.75) > FALSE_ALARM
    assert share_misfit(5_000, 5_000, 0.75) < FALSE_ALARM
    assert type(mechanism.release(1, entropy=entropy)) is int


@pytest.mark.parametrize("categories", [2, 4])
def test_estimates_have_no_bias_and_keep_their_error(categories: int) -> None:
    """A fresh seed cries wolf at most once in 10^6 for each of two claims."""
    mechanism, entropy = (
        RandomizedResponse(epsilon=1, categories=categories),
        ReplayableEntropy(seed=123),
    )
    people, trials = 400, 2_000
    held = np.arange(people) % categories
    values = np.tile(held, trials)
    reports = mechanism.release(values, entropy=entropy).reshape(trials, people)
    kept, first = 0, []
    for one in reports:
        found = mechanism.estimate(one, confidence=0.95)
        true = people / categories
        first.append(found.counts[0])
        kept += bool(abs(found.counts[0] - true) <= found.error[0])
    # The normal law's error for a binomial count is right to a percent or so, not to the digit.
    assert is_covered(kept, trials, 0.935)
    assert not is_wasteful(kept, trials, 0.965)
    deviation = float(np.std(first)) / np.sqrt(trials)
    assert abs(float(np.mean(first)) - people / categories) < 4.9 * deviation


def test_the_largest_error_is_above_each_one() -> None:
    mechanism = RandomizedResponse(epsilon=1, categories=3)
    reports = mechanism.release(np.arange(300) % 3, entropy=ReplayableEntropy(seed=124))
    found = mechanism.estimate(reports)
    assert np.all(found.error <= mechanism.margin(0.95, people=300) * (1 + 1e-12))
    assert found.shares.sum() == pytest.approx(1)
    assert found.people == 300


@pytest.mark.parametrize("categories", [2, 5])
def test_calibration_by_error_finds_the_least_epsilon(categories: int) -> None:
    mechanism = RandomizedResponse.for_margin(
        within=200, confidence=0.95, people=10_000, categories=categories
    )
    assert mechanism.margin(0.95, people=10_000) <= 200
    cheaper = RandomizedResponse(
        epsilon=mechanism.epsilon * (1 - Fraction(1, 10**5)), categories=categories
    )
    assert cheaper.margin(0.95, people=10_000) > 200


def test_nobody_is_estimated_without_a_warning() -> None:
    found = RandomizedResponse(epsilon=1).estimate([])
    assert found.people == 0
    assert found.shares.tolist() == [0, 0]


def test_the_channel_holds_the_laws() -> None:
    channel = RandomizedResponse.truthful(0.5, categories=3).channel()
    assert channel.tolist() == [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]


@pytest.mark.parametrize("probability", [0, 0.5, 1, -1, 2, float("nan"), True, "0.7", None])
def test_a_truth_that_gives_no_price_is_refused(probability: object) -> None:
    with pytest.raises(ParameterError, match="probability must be"):
        RandomizedResponse.truthful(probability)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("categories", [0, 1, 2.5, -3, True, "2", None, 1 << 40])
def test_categories_that_are_none_are_refused(categories: object) -> None:
    with pytest.raises(ParameterError, match="categories must be"):
        RandomizedResponse(epsilon=1, categories=categories)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "exact", [2, -1, 10**30, [0, 2], np.array([5]), 0.5, "1", None, [[0], [1, 0]], 1j], ids=repr
)
def test_values_outside_the_categories_are_refused_without_being_shown(exact: object) -> None:
    with pytest.raises(ParameterError, match="must be") as caught:
        RandomizedResponse(epsilon=1).release(exact)  # type: ignore[call-overload]
    assert "given" not in str(caught.value)
