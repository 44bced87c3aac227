"""The staircase mechanism: its odds, its shape, its error."""

from fractions import Fraction
from itertools import pairwise
from math import exp, expm1

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.pure import pure_epsilon
from discreet.mechanisms import Laplace, Staircase
from discreet.mechanisms.exact import Grid
from discreet.parameters import freeze_fields
from tests.mechanisms.checks import cdf_misfit, is_covered, is_wasteful
from tests.mechanisms.strategies import moderate_epsilons, neighbours, sensitivities
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, misfit

served = st.one_of(moderate_epsilons, st.sampled_from([Fraction(1, 10**6), Fraction(60)]))


@given(served, sensitivities, st.integers(min_value=-(10**7), max_value=10**7), st.data())
def test_no_output_has_worse_odds_than_its_price(
    epsilon: Fraction, sensitivity: Fraction, place: int, data: st.DataObject
) -> None:
    mechanism = Staircase(epsilon=epsilon, sensitivity=sensitivity)
    here, there = data.draw(neighbours(sensitivity))
    odds = mechanism.distribution(here).privacy_loss(
        place * mechanism.step, mechanism.distribution(there)
    )
    assert odds <= pure_epsilon(mechanism.event) == epsilon


@given(served, sensitivities, st.data())
def test_outputs_at_every_edge_of_a_stair_keep_the_price(
    epsilon: Fraction, sensitivity: Fraction, data: st.DataObject
) -> None:
    mechanism = Staircase(epsilon=epsilon, sensitivity=sensitivity)
    here, there = data.draw(neighbours(sensitivity))
    centre = data.draw(st.sampled_from([here, there]))
    edge = data.draw(st.sampled_from([0, mechanism.tread, mechanism.width]))
    stairs = data.draw(st.integers(min_value=-3, max_value=3)) * mechanism.width
    place = Grid(mechanism.step).place(centre) + stairs + edge + data.draw(st.integers(-1, 1))
    odds = mechanism.distribution(here).privacy_loss(
        place * mechanism.step, mechanism.distribution(there)
    )
    assert odds <= epsilon


@given(served, sensitivities, st.data())
def test_real_neighbours_stay_within_one_stair(
    epsilon: Fraction, sensitivity: Fraction, data: st.DataObject
) -> None:
    mechanism = Staircase(epsilon=epsilon, sensitivity=sensitivity)
    grid = Grid(mechanism.step)
    here, there = data.draw(neighbours(sensitivity))
    assert abs(grid.place(here) - grid.place(there)) <= mechanism.width


@given(served, sensitivities)
def test_one_step_beyond_the_sensitivity_breaks_the_price(
    epsilon: Fraction, sensitivity: Fraction
) -> None:
    """The broken twin of the odds: a stair is no longer than it must be."""
    mechanism = Staircase(epsilon=epsilon, sensitivity=sensitivity)
    step, width, tread = mechanism.step, mechanism.width, mechanism.tread
    here, there = mechanism.distribution(0), mechanism.distribution(-(width + 1) * step)
    assert here.privacy_loss((tread - 1) * step, there) == 2 * epsilon


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_released_reals_have_the_stated_law(epsilon: float) -> None:
    """A fresh seed cries wolf once in 10^6; the twins state 25 % less noise and twice as much."""
    entropy = ReplayableEntropy(seed=91)
    mechanism = Staircase(epsilon=epsilon, sensitivity=2)
    samples = [mechanism.release(5.5, entropy=entropy) for _ in range(6_000)]
    for off, fits in ((1, True), (1.25, False), (0.5, False)):
        law = Staircase(epsilon=epsilon * off, sensitivity=2).distribution(5.5)
        assert (cdf_misfit(samples, law.cdf) > FALSE_ALARM) is fits


def coarse(epsilon: Fraction, *, width: int, tread: int) -> Staircase:
    """Return a mechanism of so few steps that each of them can be counted."""
    mechanism = Staircase(epsilon=epsilon, sensitivity=width)
    freeze_fields(mechanism, step=Fraction(1), width=width, tread=tread)
    return mechanism


@pytest.mark.parametrize(("width", "tread"), [(5, 2), (2, 1), (7, 6)])
def test_every_step_of_a_coarse_grid_has_the_stated_law(width: int, tread: int) -> None:
    """A fresh seed cries wolf once in 10^6; the twins draw 0 twice as often, and half."""
    entropy = ReplayableEntropy(seed=94)
    mechanism = coarse(Fraction(1), width=width, tread=tread)
    samples = np.array([mechanism.release(0, entropy=entropy) for _ in range(6_000)], np.int64)
    law = mechanism.distribution(0)
    assert misfit(samples, law.pmf, 4 * width) > FALSE_ALARM
    zeros = int(np.count_nonzero(samples == 0))
    twice = np.concatenate([samples, np.zeros(zeros, np.int64)])
    assert misfit(twice, law.pmf, 4 * width) < FALSE_ALARM
    never = samples[(samples != 0) | (np.arange(len(samples)) % 2 == 0)]
    assert misfit(never, law.pmf, 4 * width) < FALSE_ALARM


def test_laplace_noise_is_told_from_staircase_noise() -> None:
    """A broken twin: noise of the same price and another shape."""
    entropy = ReplayableEntropy(seed=92)
    laplace, law = (
        Laplace(epsilon=3, sensitivity=2),
        Staircase(epsilon=3, sensitivity=2).distribution(0),
    )
    samples = [laplace.release(0.0, entropy=entropy) for _ in range(6_000)]
    assert cdf_misfit(samples, law.cdf) < FALSE_ALARM


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_error_is_kept_as_often_as_it_says(confidence: float) -> None:
    """A fresh seed cries wolf twice in 10^6."""
    entropy, trials = ReplayableEntropy(seed=93), 5_000
    mechanism = Staircase(epsilon=1, sensitivity=1)
    error = mechanism.margin(confidence)
    kept = sum(abs(mechanism.release(0.0, entropy=entropy)) <= error for _ in range(trials))
    assert is_covered(kept, trials, confidence)
    assert not is_wasteful(kept, trials, confidence)


@given(moderate_epsilons)
def test_less_error_than_laplace_at_the_same_price(epsilon: Fraction) -> None:
    """The mean of |noise| is what the stairs are cut for (Geng, Viswanath 2016, Theorem 3)."""
    law = Staircase(epsilon=epsilon, sensitivity=1).distribution(0)
    edges = [j * law.width + place for j in range(int(45 / epsilon)) for place in (0, law.tread)]
    edges[0] = 1
    # E|K| = Σ P(|K| ≥ n); between two edges the tail falls in equal steps.
    mean = sum((b - a) * (law.tail(a) + law.tail(b - 1)) for a, b in pairwise(edges))
    assert mean * float(law.step) == pytest.approx(exp(epsilon / 2) / expm1(epsilon), rel=1e-3)
    assert mean * float(law.step) < 1 / epsilon


@settings(max_examples=25)
@given(st.fractions(min_value=Fraction(1, 2), max_value=100, max_denominator=10))
def test_calibration_by_error_finds_the_least_epsilon(within: Fraction) -> None:
    mechanism = Staircase.for_margin(within=within, confidence=0.95, sensitivity=1)
    assert mechanism.margin(0.95) <= within
    less = Staircase(epsilon=mechanism.epsilon * Fraction(999, 1000), sensitivity=1)
    assert less.margin(0.95) > within
