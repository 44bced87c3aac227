"""The auditor has power: it finds what is given away, and no more than that (R1, R2)."""

import numpy as np
import pytest

from discreet.mechanisms import Geometric, Laplace
from tests.mechanisms.auditor import epsilon_lower_bound
from tests.mechanisms.naive import float_laplace
from tests.replay import ReplayableEntropy

RUNS = 400_000


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_geometric_noise_is_measured_at_its_price(epsilon: float) -> None:
    """A fresh seed cries wolf once in 10^6; below epsilon = 1 there is little to see."""
    entropy = ReplayableEntropy(seed=61)
    mechanism = Geometric(epsilon=epsilon, sensitivity=1)
    here = mechanism.release(np.zeros(RUNS, np.int64), entropy=entropy)
    there = mechanism.release(np.ones(RUNS, np.int64), entropy=entropy)
    found = epsilon_lower_bound(here, there)
    assert found <= epsilon
    assert found >= (0.9 if epsilon >= 1 else 0.5) * epsilon


def test_half_the_noise_is_caught() -> None:
    entropy = ReplayableEntropy(seed=62)
    half = Geometric(epsilon=2, sensitivity=1)
    here = half.release(np.zeros(RUNS, np.int64), entropy=entropy)
    there = half.release(np.ones(RUNS, np.int64), entropy=entropy)
    assert epsilon_lower_bound(here, there) > 1.8


def test_a_sensitivity_off_by_one_is_caught() -> None:
    """Replacing a unit moves two cells of a histogram; noise for one of them is too little."""
    entropy = ReplayableEntropy(seed=63)
    mechanism = Geometric(epsilon=1, sensitivity=1)
    codes = [
        np.clip(mechanism.release(np.tile(cells, (RUNS, 1)), entropy=entropy), -8, 8)
        @ np.array([32, 1])
        for cells in ([1, 0], [0, 1])
    ]
    assert epsilon_lower_bound(codes[0], codes[1]) > 1.8


def test_half_the_noise_on_reals_is_caught() -> None:
    """Laplace releases in one vector: each coordinate alone is what is audited."""
    entropy = ReplayableEntropy(seed=64)
    for epsilon, is_caught in ((1, False), (2, True)):
        mechanism = Laplace(epsilon=epsilon, sensitivity=1, answers=RUNS)
        codes = [
            np.floor(4 * mechanism.release(np.full(RUNS, exact), entropy=entropy)).astype(np.int64)
            for exact in (0.0, 1.0)
        ]
        assert (epsilon_lower_bound(*codes) > 1) is is_caught


def test_a_maximum_that_is_shown_is_caught() -> None:
    """Five scores that all rise by 1 push their noisy maximum far more than one would."""
    entropy = ReplayableEntropy(seed=65)
    codes = []
    for score in (0, 1):
        noisy = score + float_laplace(2.0, (RUNS, 5), entropy)
        codes.append(np.clip(np.floor(noisy.max(axis=1)), -16, 15).astype(np.int64))
    assert epsilon_lower_bound(*codes) > 1.8


def test_equal_samples_prove_nothing() -> None:
    codes = np.zeros(1000, np.int64)
    assert epsilon_lower_bound(codes, codes) <= 0
