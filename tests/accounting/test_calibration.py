"""Calibration: enough noise, and hardly more."""

from collections.abc import Callable
from fractions import Fraction
from math import log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    LaplaceEvent,
    analytic_gaussian_multiplier,
    calibrate,
    classical_gaussian_multiplier_squared,
    compose,
    gdp_epsilon,
)
from discreet.accounting.gdp import gaussian_epsilon
from discreet.errors import ParameterError
from tests.accounting import exact
from tests.accounting.made import deltas, epsilons, gaussian, tenth


@settings(deadline=None)
@given(epsilons, deltas)
def test_the_analytic_gaussian_is_enough_and_hardly_more(
    epsilon: Fraction, delta: Fraction
) -> None:
    multiplier = analytic_gaussian_multiplier(epsilon, delta)
    assert exact.gaussian_delta_of(epsilon, 1 / multiplier) <= delta
    assert exact.gaussian_delta_of(epsilon, 1 / (multiplier * (1 - Fraction(1, 2**28)))) > delta
    assert compose(gaussian(multiplier), delta).epsilon <= epsilon


def test_variation_is_paid_for() -> None:
    epsilon, delta, variance = Fraction(1), tenth(6), 2**48
    variation = Fraction(10, 24 * variance)
    multiplier = analytic_gaussian_multiplier(epsilon, delta, variation=variation)
    squared = Fraction(variance) / multiplier**2
    event = DiscreteGaussianEvent(
        sensitivity_squared=squared, variance=Fraction(variance), answers=10
    )
    assert gdp_epsilon(event, delta) <= epsilon
    assert multiplier >= analytic_gaussian_multiplier(epsilon, delta)


def test_a_delta_that_variation_uses_up_is_refused() -> None:
    with pytest.raises(ParameterError, match="larger delta"):
        analytic_gaussian_multiplier(Fraction(1), tenth(6), variation=tenth(6))


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        (Fraction(10) ** 300, Fraction(1, 10)),
        (tenth(300), tenth(6)),
        (tenth(300), tenth(300)),
        (Fraction(1000), tenth(300)),
    ],
)
def test_extreme_targets_give_noise_that_is_enough(epsilon: Fraction, delta: Fraction) -> None:
    multiplier = analytic_gaussian_multiplier(epsilon, delta)
    assert multiplier > 0
    assert gaussian_epsilon(delta, 1 / multiplier**2) <= epsilon


def test_the_classical_gaussian_is_the_one_of_the_course() -> None:
    squared = classical_gaussian_multiplier_squared(Fraction(1, 2), tenth(5))
    known = 2 * log(1.25e5) / 0.25
    assert known <= float(squared) <= known * (1 + 1e-12)
    assert squared > analytic_gaussian_multiplier(Fraction(1, 2), tenth(5)) ** 2
    with pytest.raises(ParameterError, match="less than 1"):
        classical_gaussian_multiplier_squared(Fraction(1), tenth(5))


def test_a_scale_is_found_for_a_composition() -> None:
    scale = calibrate(
        lambda s: LaplaceEvent(sensitivity=Fraction(1), scale=s) * 10, epsilon=1, delta=1e-6
    )
    event = LaplaceEvent(sensitivity=Fraction(1), scale=scale) * 10
    less = LaplaceEvent(sensitivity=Fraction(1), scale=scale * Fraction(999, 1000)) * 10
    assert compose(event, 1e-6).epsilon <= 1 < compose(less, 1e-6).epsilon


@given(st.integers(1, 100))
def test_pure_calibration_finds_the_inverse(inverse: int) -> None:
    scale = calibrate(
        lambda s: DiscreteLaplaceEvent(sensitivity=3, scale=s), epsilon=Fraction(1, inverse)
    )
    assert 3 * inverse <= scale <= 3 * inverse * (1 + Fraction(1, 2**20))


BAD_EPSILONS = [0, -1, float("nan"), float("inf"), True, "1", None]


@pytest.mark.parametrize("bad", BAD_EPSILONS, ids=repr)
@pytest.mark.parametrize(
    "multiplier", [analytic_gaussian_multiplier, classical_gaussian_multiplier_squared]
)
def test_targets_that_are_none_are_refused(multiplier: Callable[..., Fraction], bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        multiplier(bad, tenth(6))
    with pytest.raises(ParameterError, match="delta"):
        multiplier(Fraction(1, 2), bad)
