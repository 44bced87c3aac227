"""The geometric mechanism: its odds, its shape, its price, its error."""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.compose import compose
from discreet.accounting.pure import pure_epsilon
from discreet.mechanisms import Geometric
from discreet.noise import discrete_laplace, geometric
from tests.mechanisms.checks import is_covered
from tests.mechanisms.strategies import epsilons, whole_sensitivities
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, misfit


@given(epsilons, whole_sensitivities, st.integers(), st.integers(), st.data())
def test_no_output_has_worse_odds_than_its_price(
    epsilon: Fraction, sensitivity: int, output: int, exact: int, data: st.DataObject
) -> None:
    mechanism = Geometric(epsilon=epsilon, sensitivity=sensitivity)
    moved = data.draw(st.integers(min_value=-sensitivity, max_value=sensitivity))
    here, there = mechanism.distribution(exact), mechanism.distribution(exact + moved)
    assert here.privacy_loss(output, there) <= pure_epsilon(mechanism.event)


@given(epsilons, whole_sensitivities)
def test_some_output_has_just_the_odds_of_its_price(epsilon: Fraction, sensitivity: int) -> None:
    mechanism = Geometric(epsilon=epsilon, sensitivity=sensitivity)
    assert mechanism.distribution(0).privacy_loss(0, mechanism.distribution(sensitivity)) == epsilon
    # The broken twin: one more than the sensitivity is beyond the price.
    assert (
        mechanism.distribution(0).privacy_loss(0, mechanism.distribution(sensitivity + 1)) > epsilon
    )


@given(epsilons, whole_sensitivities, st.integers(min_value=1, max_value=6), st.data())
def test_vectors_within_the_l1_sensitivity_keep_the_price(
    epsilon: Fraction, sensitivity: int, answers: int, data: st.DataObject
) -> None:
    mechanism = Geometric(epsilon=epsilon, sensitivity=sensitivity)
    whole = st.integers(min_value=-100, max_value=100)
    left, odds = sensitivity, Fraction(0)
    for _ in range(answers):
        exact, output = data.draw(whole), data.draw(whole)
        moved = data.draw(st.integers(min_value=-left, max_value=left))
        left -= abs(moved)
        odds += mechanism.distribution(exact).privacy_loss(
            output, mechanism.distribution(exact + moved)
        )
    assert odds <= epsilon


@given(epsilons, whole_sensitivities)
def test_calibration_and_accounting_are_inverse(epsilon: Fraction, sensitivity: int) -> None:
    mechanism = Geometric.for_epsilon(epsilon, sensitivity=sensitivity)
    assert pure_epsilon(mechanism.event) == mechanism.epsilon == epsilon


@pytest.mark.parametrize(("off", "fits"), [(1.0, True), (1.05, False)])
@pytest.mark.parametrize("exact", [0, 17, -5])
def test_released_counts_have_the_stated_law(exact: int, off: float, fits: bool) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin states 5 % less privacy."""
    entropy = ReplayableEntropy(seed=71)
    mechanism = Geometric(epsilon=Fraction(1, 2), sensitivity=2)
    law = Geometric(epsilon=0.5 * off, sensitivity=2).distribution(exact)
    samples = mechanism.release(np.full(200_000, exact), entropy=entropy)
    p = misfit(samples - exact, lambda z: law.pmf(exact + z), 40)
    assert (p > FALSE_ALARM) is fits


def test_single_counts_have_the_stated_law() -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin draws 0 with either sign."""
    entropy = ReplayableEntropy(seed=72)
    mechanism = Geometric(epsilon=1, sensitivity=1)
    law = mechanism.distribution(3)
    samples = [mechanism.release(3, entropy=entropy) - 3 for _ in range(20_000)]
    assert misfit(samples, lambda z: law.pmf(3 + z), 12) > FALSE_ALARM
    sizes = geometric(1, 20_000, entropy=entropy)
    signs = 1 - 2 * (np.frombuffer(entropy.draw(20_000), np.uint8) & 1).astype(np.int64)
    assert misfit(sizes * signs, lambda z: law.pmf(3 + z), 12) < FALSE_ALARM


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("answers", [1, 10])
def test_the_error_is_kept_as_often_as_it_says(confidence: float, answers: int) -> None:
    """A fresh seed cries wolf once in 10^6. One less is exceeded too often: the error is least."""
    mechanism = Geometric(epsilon=0.2, sensitivity=1)
    error = mechanism.margin(confidence, answers)
    noise = mechanism.release(
        np.zeros((10_000, answers), np.int64), entropy=ReplayableEntropy(seed=73)
    )
    worst = np.abs(noise).max(axis=1)
    assert is_covered(int((worst <= error).sum()), 10_000, confidence)
    law = mechanism.distribution(0)
    miss = Fraction(1 - Fraction(str(confidence))) / answers
    assert 2 * (1 - law.cdf(error)) <= float(miss) * (1 + 1e-9)
    assert 2 * (1 - law.cdf(error - 1)) > float(miss)


@given(
    st.integers(min_value=1, max_value=10**6),
    st.sampled_from([0.5, 0.9, 0.95, 0.999999]),
    whole_sensitivities,
    st.integers(min_value=1, max_value=100),
)
def test_calibration_by_error_finds_the_least_epsilon_of_six_digits(
    within: int, confidence: float, sensitivity: int, answers: int
) -> None:
    mechanism = Geometric.for_margin(
        within=within, confidence=confidence, sensitivity=sensitivity, answers=answers
    )
    assert mechanism.margin(confidence, answers) <= within
    less = Geometric(epsilon=mechanism.epsilon * (1 - Fraction(2, 10**5)), sensitivity=sensitivity)
    assert less.margin(confidence, answers) > within


@pytest.mark.parametrize(("releases", "delta"), [(1, 0), (10, 0), (10, 1e-6), (200, 1e-6)])
def test_a_budget_is_used_up_and_not_exceeded(releases: int, delta: float) -> None:
    mechanism = Geometric.for_budget(epsilon=2, delta=delta, releases=releases, sensitivity=1)
    if delta == 0:
        assert pure_epsilon(mechanism.event * releases) == 2
    else:
        spent = compose(mechanism.event * releases, delta=Fraction(str(delta))).epsilon
        assert 0.98 * 2 <= spent <= 2


def test_the_largest_and_smallest_noise_is_whole_and_never_nothing() -> None:
    entropy = ReplayableEntropy(seed=74)
    huge = Geometric(epsilon=Fraction(1, 100), sensitivity=10**15)
    samples = huge.release(np.zeros(1000, np.int64), entropy=entropy)
    assert np.abs(samples).max() > 10**16
    assert len(set((samples % 16).tolist())) == 16
    assert discrete_laplace(huge.scale, 3, entropy=entropy).dtype == np.int64
    assert ceil(huge.scale) == 10**17
