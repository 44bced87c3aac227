"""The Gaussian mechanism: its delta, its shape, its neighbours in L2, whole numbers."""

from fractions import Fraction
from math import ceil, exp, floor, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf, ncdf

from discreet.accounting.compose import compose
from discreet.accounting.zcdp import rho_for_budget, zcdp_rho
from discreet.errors import ParameterError
from discreet.mechanisms import Calibration, Gaussian
from discreet.mechanisms.accuracy import gaussian_accuracy, miss_probability
from discreet.mechanisms.distributions import DiscreteGaussianDistribution
from discreet.mechanisms.exact import Grid
from discreet.mechanisms.gaussian import VARIATION, _rounded
from tests.mechanisms.checks import cdf_misfit, is_covered, is_wasteful
from tests.mechanisms.strategies import (
    l2_neighbours,
    moderate_epsilons,
    moderate_sensitivities,
    neighbours,
)
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, misfit

deltas = st.sampled_from([Fraction(1, 10**5), Fraction(1, 10**9), Fraction(1, 100), Fraction(1, 2)])


def continuous_delta(epsilon: Fraction, mu: float) -> float:
    """Return the least delta of continuous Gaussian noise (Balle, Wang 2018, Theorem 8)."""
    mp.dps = 40
    e, m = mpf(epsilon.numerator) / epsilon.denominator, mpf(mu)
    return float(ncdf(m / 2 - e / m) - mp.exp(e) * ncdf(-m / 2 - e / m))


def drawn_delta(mechanism: Gaussian, *, noise: float = 1.0) -> float:
    """Return the delta of all releases at the mechanism's epsilon, the grid's part included."""
    event = mechanism.event
    mu = sqrt(mechanism.releases * event.sensitivity_squared / event.variance) / noise
    rounding = mechanism.releases * mechanism.answers * VARIATION
    return continuous_delta(mechanism.epsilon, mu) + (1 + exp(mechanism.epsilon)) * float(rounding)


@settings(max_examples=50)
@given(
    moderate_epsilons,
    deltas,
    moderate_sensitivities,
    st.sampled_from([1, 2, 100]),
    st.sampled_from([1, 30]),
)
def test_the_noise_keeps_its_delta_and_half_of_it_does_not(
    epsilon: Fraction, delta: Fraction, sensitivity: Fraction, answers: int, releases: int
) -> None:
    mechanism = Gaussian(
        epsilon=epsilon, delta=delta, sensitivity=sensitivity, answers=answers, releases=releases
    )
    assert drawn_delta(mechanism) <= delta * (1 + Fraction(1, 10**12))
    assert drawn_delta(mechanism, noise=0.999) > delta, "the least noise was not found"
    assert drawn_delta(mechanism, noise=0.5) > delta


@given(moderate_epsilons.filter(lambda epsilon: epsilon < 1), deltas)
def test_the_classical_noise_keeps_its_delta_too(epsilon: Fraction, delta: Fraction) -> None:
    classical = Gaussian(epsilon=epsilon, delta=delta, sensitivity=1, calibration="classical")
    assert drawn_delta(classical) <= delta
    assert classical.calibration is Calibration.CLASSICAL
    analytic = Gaussian(epsilon=epsilon, delta=delta, sensitivity=1)
    assert classical.scale >= analytic.scale * (1 - 1e-9)


@given(moderate_epsilons, deltas, moderate_sensitivities, st.sampled_from([1, 2, 100]))
def test_noise_for_a_rho_costs_exactly_that(
    epsilon: Fraction, delta: Fraction, sensitivity: Fraction, answers: int
) -> None:
    """And its epsilon is one that it has at its delta."""
    rho = epsilon**2 / 2
    made = Gaussian.for_rho(rho, delta=delta, sensitivity=sensitivity, answers=answers)
    assert zcdp_rho(made.event) == made.rho == rho
    assert made.scale == pytest.approx(sensitivity / epsilon, rel=1e-5)
    assert continuous_delta(made.epsilon, sqrt(2 * rho)) <= delta


@pytest.mark.parametrize("rho", [Fraction(1, 200), Fraction(1, 8), Fraction(2)])
def test_no_divergence_is_more_than_rho_allows(rho: Fraction) -> None:
    """Summed over the whole numbers, for a count; nine tenths of the noise would be too little."""
    deviation = 1 / sqrt(2 * rho)
    reach = range(-ceil(60 * deviation) - 60, ceil(60 * deviation) + 60)

    def divergence(alpha: float, part: float) -> float:
        variance = (part * deviation) ** 2
        logs = [
            -(z**2) * alpha / (2 * variance) - (z - 1) ** 2 * (1 - alpha) / (2 * variance)
            for z in reach
        ]
        whole = sum(exp(-(z**2) / (2 * variance)) for z in reach)
        return log(sum(map(exp, logs)) / whole) / (alpha - 1)

    for alpha in (1.01, 1.5, 2, 5):
        assert divergence(alpha, 1.0) <= alpha * rho * (1 + 1e-9)
    assert divergence(2, 0.9) > 2 * rho


def test_a_calibration_by_rho_can_be_asked_for_by_epsilon() -> None:
    by_rho = Gaussian(epsilon=1, delta=1e-6, sensitivity=1, calibration="concentrated")
    assert by_rho.rho == rho_for_budget(Fraction(1), Fraction(1, 10**6))
    assert drawn_delta(by_rho) <= Fraction(1, 10**6)


@pytest.mark.parametrize(("deviation", "moved"), [(20, 20), (40, 60), (33.3, 33)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_discrete_noise_has_the_delta_of_continuous_noise_up_to_its_variation(
    deviation: float, moved: int, epsilon: float
) -> None:
    """Summed over a grid that is coarse enough to sum over: the bound that calibration pays."""
    spread = Fraction(deviation) ** 2
    here, there = (
        DiscreteGaussianDistribution(centre=Fraction(at), spread=spread) for at in (0, moved)
    )
    reach = range(-int(15 * deviation), int(15 * deviation) + moved)
    delta = sum(max(0.0, here.pmf(z) - exp(epsilon) * there.pmf(z)) for z in reach)
    variation = 1 / (24 * deviation**2)
    allowed = continuous_delta(Fraction(epsilon), moved / deviation) + variation * (
        1 + exp(epsilon)
    )
    assert delta <= allowed
    twin = continuous_delta(Fraction(epsilon), moved / (2 * deviation))
    assert delta > twin + variation * (1 + exp(epsilon)), "twice the noise would have fitted too"


@given(moderate_epsilons, moderate_sensitivities, st.data())
def test_real_neighbours_stay_within_the_sensitivity_in_steps(
    epsilon: Fraction, sensitivity: Fraction, data: st.DataObject
) -> None:
    mechanism = Gaussian(epsilon=epsilon, delta=Fraction(1, 10**6), sensitivity=sensitivity)
    grid = Grid(mechanism.step)
    here, there = data.draw(neighbours(sensitivity))
    moved = grid.place(here) - grid.place(there)
    assert moved**2 <= mechanism.event.sensitivity_squared


@given(moderate_sensitivities, st.integers(min_value=1, max_value=6), st.data())
def test_real_vectors_stay_within_the_l2_sensitivity_in_steps(
    sensitivity: Fraction, answers: int, data: st.DataObject
) -> None:
    mechanism = Gaussian(epsilon=1, delta=1e-6, sensitivity=sensitivity, answers=answers)
    grid = Grid(mechanism.step)
    here, there = data.draw(l2_neighbours(sensitivity, answers))
    moved = sum((grid.place(x) - grid.place(y)) ** 2 for x, y in zip(here, there, strict=True))
    assert moved <= mechanism.event.sensitivity_squared


TRUE_OR_OFF = ((1, True), (1.2, False), (0.5, False))
"""The broken twins state 20 % more noise than is drawn, and half of it."""


def test_released_reals_have_the_stated_law() -> None:
    """A fresh seed cries wolf twice in 10^6."""
    entropy, exact = ReplayableEntropy(seed=101), 12.34
    mechanism = Gaussian(epsilon=1, delta=1e-5, sensitivity=0.1, answers=8_000)
    one = Gaussian(epsilon=1, delta=1e-5, sensitivity=0.1)
    arrays = mechanism.release(np.full(8_000, exact), entropy=entropy).tolist()
    singles = [one.release(exact, entropy=entropy) for _ in range(4_000)]
    for samples, law in (
        (arrays, mechanism.distribution(exact)),
        (singles, one.distribution(exact)),
    ):
        for off, fits in TRUE_OR_OFF:
            assert isinstance(law, DiscreteGaussianDistribution)
            spread = law.spread * Fraction(off) ** 2
            stated = DiscreteGaussianDistribution(centre=law.centre, spread=spread, step=law.step)
            assert (cdf_misfit(samples, stated.cdf) > FALSE_ALARM) is fits


def test_whole_answers_have_the_stated_law() -> None:
    """A fresh seed cries wolf twice in 10^6; the broken twin rounds down."""
    entropy = ReplayableEntropy(seed=102)
    mechanism = Gaussian(epsilon=2, delta=1e-5, sensitivity=1, answers=50_000)
    law = mechanism.distribution(7)
    arrays = mechanism.release(np.full(50_000, 7), entropy=entropy)
    one = Gaussian(epsilon=2, delta=1e-5, sensitivity=1)
    singles = [one.release(7, entropy=entropy) for _ in range(10_000)]
    assert misfit(arrays - 7, lambda z: law.pmf(7 + z), 12) > FALSE_ALARM
    assert misfit(np.array(singles) - 7, lambda z: law.pmf(7 + z), 12) > FALSE_ALARM
    floored = np.floor(mechanism.release(np.full(50_000, 7.0), entropy=entropy)).astype(np.int64)
    assert misfit(floored - 7, lambda z: law.pmf(7 + z), 12) < FALSE_ALARM


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("answers", [1, 10])
def test_the_error_is_kept_as_often_as_it_says(confidence: float, answers: int) -> None:
    """A fresh seed cries wolf twice in 10^6."""
    trials = 10_000
    mechanism = Gaussian(epsilon=1, delta=1e-6, sensitivity=0.01, answers=trials * answers)
    noise = mechanism.release(np.zeros((trials, answers)), entropy=ReplayableEntropy(seed=103))
    kept = int((np.abs(noise).max(axis=1) <= mechanism.margin(confidence, answers)).sum())
    assert is_covered(kept, trials, confidence)
    assert answers > 1 or not is_wasteful(kept, trials, confidence)


@pytest.mark.parametrize("epsilon", [4, 10])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("answers", [1, 10])
def test_whole_answers_keep_the_error_at_small_deviations_too(
    epsilon: int, confidence: float, answers: int
) -> None:
    """A fresh seed cries wolf once in 10^6."""
    trials = 10_000
    mechanism = Gaussian(epsilon=epsilon, delta=0.01, sensitivity=1, answers=trials * answers)
    exact = np.zeros((trials, answers), np.int64)
    noise = mechanism.release(exact, entropy=ReplayableEntropy(seed=105))
    largest = np.abs(noise).max(axis=1)
    assert is_covered(
        int((largest <= mechanism.margin(confidence, answers)).sum()), trials, confidence
    )


def test_an_error_that_forgets_rounding_is_not_kept() -> None:
    """The broken twin of the test above: the error of real answers."""
    mechanism = Gaussian(epsilon=10, delta=0.01, sensitivity=1, answers=10_000)
    noise = mechanism.release(np.zeros(10_000, np.int64), entropy=ReplayableEntropy(seed=105))
    unrounded = gaussian_accuracy(mechanism.scale, miss_probability(0.95, 1)) + float(
        mechanism.step
    )
    assert not is_covered(int((np.abs(noise) <= unrounded).sum()), 10_000, 0.95)


@given(st.floats(min_value=0, max_value=40), st.floats(min_value=-1, max_value=1))
def test_a_rounded_error_is_within_the_error_rounded(t: float, part: float) -> None:
    """The step of the proof: |⌊x + ½⌋| ≤ ⌊t + ½⌋ whenever |x| ≤ t; ⌈t - ½⌉ fails for x = ½."""
    x = Fraction(t) * Fraction(part)
    assert abs(_rounded(x)) <= floor(t + 0.5)
    assert _rounded(Fraction(1, 2)) > ceil(0.5 - 0.5)


@settings(max_examples=15)
@given(
    st.fractions(min_value=4, max_value=1000, max_denominator=10),
    st.sampled_from([Fraction(1, 10**6), Fraction(1, 10**9)]),
    st.sampled_from([1, 10]),
)
def test_calibration_by_error_finds_the_least_epsilon(
    within: Fraction, delta: Fraction, answers: int
) -> None:
    mechanism = Gaussian.for_margin(
        within=within, confidence=0.95, delta=delta, sensitivity=1, answers=answers
    )
    assert mechanism.margin(0.95, answers) <= within
    less = mechanism.epsilon * Fraction(9999, 10000)
    noisier = Gaussian(epsilon=less, delta=delta, sensitivity=1, answers=answers)
    assert noisier.margin(0.95, answers) > within


def test_an_error_that_no_delta_allows_is_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="within must be at least"):
        Gaussian.for_margin(within=1e-9, confidence=0.95, delta=1e-6, sensitivity=1)
    with pytest.raises(ParameterError, match="delta must "):
        Gaussian.for_margin(within=1, confidence=0.95, delta=1e-18, sensitivity=1)


@pytest.mark.parametrize("releases", [1, 10, 100])
def test_a_budget_is_used_up_and_not_exceeded(releases: int) -> None:
    mechanism = Gaussian.for_budget(epsilon=2, delta=1e-6, releases=releases, sensitivity=1)
    spent = compose(mechanism.event * releases, delta=Fraction(1, 10**6)).epsilon
    assert 0.98 * 2 <= spent <= 2 * (1 + 1e-9)


def test_whole_numbers_beyond_64_bits_are_moved_to_the_farthest() -> None:
    mechanism = Gaussian(epsilon=1e-6, delta=1e-6, sensitivity=1e15, answers=100)
    samples = mechanism.release(np.zeros(100, np.int64), entropy=ReplayableEntropy(seed=104))
    assert samples.dtype == np.int64
    assert set(np.sign(samples).tolist()) == {-1, 1}
    assert np.abs(samples).max() > 1 << 62


@pytest.mark.parametrize(("delta", "answers"), [(1e-14, 1), (1e-10, 10**4)])
def test_noise_too_wide_to_draw_is_refused_before_any_release(delta: float, answers: int) -> None:
    with pytest.raises(ParameterError, match=r"^epsilon must be larger \(or delta larger"):
        Gaussian(epsilon=1e-12, delta=delta, sensitivity=1, answers=answers)
    far = Gaussian.for_margin(
        within=10**30, confidence=0.95, delta=delta, sensitivity=1, answers=answers
    )
    assert np.isfinite(far.release(0.5))
