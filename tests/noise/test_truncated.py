"""Truncated Laplace noise, by either way of drawing it."""

from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.noise import discrete_laplace, truncated_laplace
from tests.noise.laws import Law
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, misfit


def truncated_law(scale: float, reach: int) -> Law:
    total = sum(exp(-abs(x) / scale) for x in range(-reach, reach + 1))
    return lambda x: exp(-abs(x) / scale) / total if abs(x) <= reach else 0.0


@pytest.mark.parametrize(("scale", "reach"), [(1, 3), (3, 3), (4, 3), (1000, 3), (5, 40)])
def test_noise_has_the_claimed_law_and_never_exceeds_its_reach(scale: int, reach: int) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin moves what is beyond to the ends."""
    entropy, draws = ReplayableEntropy(seed=81), 200_000
    samples = truncated_laplace(scale, reach, draws, entropy=entropy)
    assert np.abs(samples).max() <= reach
    assert misfit(samples, truncated_law(scale, reach), reach) > FALSE_ALARM
    if reach < 10:
        moved = np.clip(discrete_laplace(scale, draws, entropy=entropy), -reach, reach)
        assert misfit(moved, truncated_law(scale, reach), reach) < FALSE_ALARM


def test_a_reach_far_below_the_scale_takes_no_longer() -> None:
    """Discrete Laplace noise of this scale is within reach once in 10^14 draws."""
    samples = truncated_laplace(10**15, 5, 10_000, entropy=ReplayableEntropy(seed=82))
    assert misfit(samples, lambda _: 1 / 11, 5) > FALSE_ALARM


def test_a_reach_of_nothing_is_no_noise() -> None:
    assert not truncated_laplace(1, 0, 100).any()


@pytest.mark.parametrize("reach", [-1, 1.5, True, None, 1 << 61])
def test_a_reach_outside_the_proof_is_refused(reach: Any) -> None:
    with pytest.raises(ParameterError, match=r"^reach must be"):
        truncated_laplace(Fraction(1), reach, 3)
