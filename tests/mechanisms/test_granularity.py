"""The last bits of released floats tell nothing (N1), and those of naive noise tell all."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.audit.broken_mechanisms import Floats, float_laplace
from discreet.mechanisms import Gaussian, Laplace
from tests.mechanisms.auditor import Codes, epsilon_lower_bound, low_bits
from tests.replay import ReplayableEntropy

RUNS = 200_000


def last_steps(values: Floats, step: Fraction) -> Codes:
    """Code floats by their sign and the last three bits of their number of steps."""
    steps = values / float(step)
    assert np.all(steps == np.floor(steps)), "a value off the grid"
    last = np.mod(steps, 8).astype(np.int64)
    return np.signbit(values).astype(np.int64) << 3 | last


@pytest.mark.parametrize(
    "sensitivity", [Fraction(1), Fraction(100), Fraction(2**40), Fraction(1, 10)]
)
@pytest.mark.parametrize("epsilon", [1, Fraction(1, 1000)])
def test_last_bits_of_reals_give_no_more_than_the_price(
    sensitivity: Fraction, epsilon: Fraction
) -> None:
    """Each coordinate of a vector is audited; a fresh seed cries wolf three times in 10^6."""
    entropy = ReplayableEntropy(seed=171)
    mechanism = Laplace(epsilon=epsilon, sensitivity=sensitivity, answers=RUNS)
    here, there = (
        mechanism.release(np.full(RUNS, exact), entropy=entropy)
        for exact in (0.0, float(sensitivity))
    )
    unit = float(sensitivity)
    assert epsilon_lower_bound(low_bits(here), low_bits(there)) <= epsilon
    assert epsilon_lower_bound(low_bits(here / unit), low_bits(there / unit)) <= epsilon
    steps = [last_steps(values, mechanism.step) for values in (here, there)]
    assert epsilon_lower_bound(*steps) <= epsilon


def test_last_bits_of_single_reals_give_no_more_than_the_price() -> None:
    """A fresh seed cries wolf twice in 10^6."""
    entropy, mechanism = ReplayableEntropy(seed=172), Laplace(epsilon=1, sensitivity=1)
    here, there = (
        np.array([mechanism.release(exact, entropy=entropy) for _ in range(10_000)])
        for exact in (0.0, 1.0)
    )
    assert epsilon_lower_bound(low_bits(here), low_bits(there)) <= 1
    steps = [last_steps(values, mechanism.step) for values in (here, there)]
    assert epsilon_lower_bound(*steps) <= 1


def test_last_bits_of_gaussian_reals_tell_no_more_than_their_size() -> None:
    """Audited with the slack of (epsilon, delta): a fresh seed cries wolf once in 10^6."""
    entropy = ReplayableEntropy(seed=173)
    mechanism = Gaussian(epsilon=1, delta=1e-6, sensitivity=1, answers=RUNS)
    here, there = (mechanism.release(np.full(RUNS, exact), entropy=entropy) for exact in (0.0, 1.0))
    assert epsilon_lower_bound(low_bits(here), low_bits(there)) <= 1


def test_last_bits_of_naive_noise_give_everything_away() -> None:
    """The broken twin: 1 plus a small float has no bits below 2**-53, 0 plus it has."""
    entropy = ReplayableEntropy(seed=174)
    here, there = (exact + float_laplace(1.0, (RUNS,), entropy) for exact in (0.0, 1.0))
    assert epsilon_lower_bound(low_bits(here), low_bits(there)) > 5
    # Looked at coarsely, the same noise passes: the low bits are what must be audited.
    coarse = [np.floor(2 * values).astype(np.int64) for values in (here, there)]
    assert epsilon_lower_bound(*coarse) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.01, 1.0, 1e6])
def test_last_bits_of_many_reals_give_no_more_than_the_price(scale: float) -> None:
    """A fresh seed cries wolf once in 10^6."""
    entropy, runs = ReplayableEntropy(seed=175), 4_000_000
    mechanism = Laplace(epsilon=1, sensitivity=scale, answers=runs)
    here, there = (
        mechanism.release(np.full(runs, exact), entropy=entropy) for exact in (0.0, scale)
    )
    assert epsilon_lower_bound(low_bits(here / scale), low_bits(there / scale)) <= 1
