"""The Laplace mechanism: real answers on a grid, for any sensitivity and any vector."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.compose import compose
from discreet.accounting.pure import pure_epsilon
from discreet.mechanisms import Laplace
from discreet.mechanisms.exact import Grid
from tests.mechanisms.checks import cdf_misfit, is_covered, is_wasteful, l1
from tests.mechanisms.strategies import (
    epsilons,
    l1_neighbours,
    moderate_epsilons,
    neighbours,
    sensitivities,
)
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM


@given(epsilons, sensitivities, st.integers(min_value=-(10**9), max_value=10**9), st.data())
def test_no_output_has_worse_odds_than_its_price(
    epsilon: Fraction, sensitivity: Fraction, place: int, data: st.DataObject
) -> None:
    mechanism = Laplace(epsilon=epsilon, sensitivity=sensitivity)
    here, there = data.draw(neighbours(sensitivity))
    odds = mechanism.distribution(here).privacy_loss(
        place * mechanism.step, mechanism.distribution(there)
    )
    assert odds <= pure_epsilon(mechanism.event) == epsilon


@given(epsilons, sensitivities, st.data())
def test_real_neighbours_stay_within_the_sensitivity_in_steps(
    epsilon: Fraction, sensitivity: Fraction, data: st.DataObject
) -> None:
    mechanism = Laplace(epsilon=epsilon, sensitivity=sensitivity)
    grid = Grid(mechanism.step)
    here, there = data.draw(neighbours(sensitivity))
    assert abs(grid.place(here) - grid.place(there)) <= mechanism.event.sensitivity


@given(epsilons, sensitivities, st.integers(min_value=1, max_value=6), st.data())
def test_real_vectors_stay_within_the_l1_sensitivity_in_steps(
    epsilon: Fraction, sensitivity: Fraction, answers: int, data: st.DataObject
) -> None:
    mechanism = Laplace(epsilon=epsilon, sensitivity=sensitivity, answers=answers)
    grid = Grid(mechanism.step)
    here, there = data.draw(l1_neighbours(sensitivity, answers))
    moved = sum(abs(grid.place(x) - grid.place(y)) for x, y in zip(here, there, strict=True))
    assert moved <= mechanism.event.sensitivity


def test_flooring_two_coordinates_takes_the_step_that_was_paid_for() -> None:
    """The sensitivity in steps is attained, so that it may not be any less."""
    mechanism = Laplace(epsilon=1, sensitivity=1, answers=2)
    step = mechanism.step
    grid, tiny = Grid(step), step / 2
    here = [Fraction(0), Fraction(0)]
    there = [-tiny, 1 - tiny]
    assert sum(abs(x - y) for x, y in zip(here, there, strict=True)) == 1
    farther = [-tiny, -(1 - tiny)]
    assert sum(abs(x - y) for x, y in zip(here, farther, strict=True)) == 1
    moved = sum(abs(grid.place(x) - grid.place(y)) for x, y in zip(here, farther, strict=True))
    assert moved == mechanism.event.sensitivity


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3),
    st.lists(st.floats(-0.4, 0.4), min_size=3, max_size=3),
)
def test_arrays_of_floats_stay_within_the_sensitivity_in_steps(
    exact: list[float], moves: list[float]
) -> None:
    here = np.array(exact)
    there = here + np.array(moves)
    apart = sum(
        abs(Fraction(x) - Fraction(y)) for x, y in zip(here.tolist(), there.tolist(), strict=True)
    )
    mechanism = Laplace(epsilon=1, sensitivity=max(apart, Fraction(1, 10**6)), answers=3)
    grid = Grid(mechanism.step)
    assert l1(grid.places(here), grid.places(there)) <= mechanism.event.sensitivity


@given(epsilons, sensitivities, st.integers(min_value=1, max_value=1000))
def test_calibration_and_accounting_are_inverse(
    epsilon: Fraction, sensitivity: Fraction, answers: int
) -> None:
    mechanism = Laplace.for_epsilon(epsilon, sensitivity=sensitivity, answers=answers)
    assert pure_epsilon(mechanism.event) == mechanism.epsilon == epsilon
    least = sensitivity / epsilon
    assert least <= mechanism.scale <= least * Fraction(1002, 1000)


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1e-6, 1e15), (1e6, 1e-12), (1, 0.1)])
def test_extreme_noise_is_neither_nothing_nor_infinite(epsilon: float, sensitivity: float) -> None:
    mechanism = Laplace(epsilon=epsilon, sensitivity=sensitivity)
    entropy = ReplayableEntropy(seed=81)
    samples = [mechanism.release(0.0, entropy=entropy) for _ in range(200)]
    assert np.all(np.isfinite(samples))
    assert len(set(samples)) > 190
    assert mechanism.scale >= Fraction(str(sensitivity)) / Fraction(str(epsilon))


TRUE_OR_OFF = ((1, True), (1.2, False), (0.5, False))
"""The broken twins state 20 % less noise than is drawn, and twice as much."""


@pytest.mark.parametrize("exact", [0.0, 1234.56789])
def test_released_reals_have_the_stated_law(exact: float) -> None:
    """A fresh seed cries wolf once in 10^6."""
    entropy = ReplayableEntropy(seed=82)
    mechanism = Laplace(epsilon=0.5, sensitivity=0.1)
    samples = [mechanism.release(exact, entropy=entropy) for _ in range(8_000)]
    for off, fits in TRUE_OR_OFF:
        law = Laplace(epsilon=0.5 * off, sensitivity=0.1).distribution(exact)
        assert (cdf_misfit(samples, law.cdf) > FALSE_ALARM) is fits


def test_released_vectors_have_the_stated_law() -> None:
    """A fresh seed cries wolf once in 10^6."""
    answers = 8_000
    mechanism = Laplace(epsilon=2, sensitivity=1, answers=answers)
    samples = mechanism.release(np.full(answers, 7.3), entropy=ReplayableEntropy(seed=83))
    for off, fits in TRUE_OR_OFF:
        law = Laplace(epsilon=2 * off, sensitivity=1, answers=answers).distribution(7.3)
        assert (cdf_misfit(samples.tolist(), law.cdf) > FALSE_ALARM) is fits


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("answers", [1, 10])
def test_the_error_is_kept_as_often_as_it_says(confidence: float, answers: int) -> None:
    """A fresh seed cries wolf once in 10^6. The error is within 1 % of the least there is."""
    trials, entropy = 10_000, ReplayableEntropy(seed=84)
    many = Laplace(epsilon=1, sensitivity=Fraction(1), answers=trials * answers)
    noise = many.release(np.zeros((trials, answers)), entropy=entropy)
    worst = np.abs(noise).max(axis=1)
    error = many.margin(confidence, answers)
    assert is_covered(int((worst <= error).sum()), trials, confidence)
    ln = -float(many.scale) * np.log(1 - confidence ** (1 / answers))
    assert 0.999 * ln <= error <= 1.01 * -float(many.scale) * np.log((1 - confidence) / answers)
    # The broken twin: four fifths of the error are kept too seldom, and ours is not far above.
    assert not is_covered(int((worst <= 0.8 * error).sum()), trials, confidence)
    if answers == 1:
        assert not is_wasteful(int((worst <= error).sum()), trials, confidence)


@given(
    st.fractions(min_value=Fraction(1, 10), max_value=1000, max_denominator=100),
    st.sampled_from([0.5, 0.95, 0.999999]),
    st.sampled_from([Fraction(1, 10), Fraction(7, 4), Fraction(1), Fraction(120)]),
    st.sampled_from([1, 3, 100]),
)
def test_calibration_by_error_finds_the_least_epsilon_of_six_digits(
    within: Fraction, confidence: float, sensitivity: Fraction, answers: int
) -> None:
    mechanism = Laplace.for_margin(
        within=within, confidence=confidence, sensitivity=sensitivity, answers=answers
    )
    assert mechanism.margin(confidence, answers) <= within
    # The grid's step moves with epsilon, hence a little more than one digit in the sixth place.
    less = mechanism.epsilon * (1 - Fraction(1, 10**3))
    noisier = Laplace(epsilon=less, sensitivity=sensitivity, answers=answers)
    assert noisier.margin(confidence, answers) > within


@given(moderate_epsilons)
def test_the_grid_does_not_depend_on_the_answer(epsilon: Fraction) -> None:
    mechanism = Laplace(epsilon=epsilon, sensitivity=1)
    steps = {
        mechanism.distribution(exact).support.step for exact in (0, 0.1, 1e-9, 1e9, Fraction(1, 3))
    }
    assert steps == {mechanism.step}


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_budget_is_used_up_and_not_exceeded(delta: float) -> None:
    mechanism = Laplace.for_budget(epsilon=2, delta=delta, releases=20, sensitivity=0.1)
    if delta == 0:
        assert pure_epsilon(mechanism.event * 20) == 2
    else:
        spent = compose(mechanism.event * 20, delta=Fraction(str(delta))).epsilon
        assert 0.98 * 2 <= spent <= 2
