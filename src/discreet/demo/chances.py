"""Made-up values: pure functions of a row's number, the same on every machine.

This is no noise: it hides nothing and must never be added to an answer. Noise comes from
`noise.source` alone.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

ODD = np.uint64(0x9E3779B97F4A7C15)
"""The golden ratio in 64 bits, and below the multipliers of SplitMix64 (Steele and others 2014)."""

FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def spread(numbers: Integers, column: int) -> Floats:
    """Return a value in [0, 1) for each number, evenly spread; another one for each column."""
    mixed = numbers.astype(np.uint64) * np.uint64(256) + np.uint64(column + 1)
    mixed = mixed * ODD
    mixed = (mixed ^ (mixed >> np.uint64(30))) * FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * SECOND
    mixed = mixed ^ (mixed >> np.uint64(31))
    return (mixed >> np.uint64(11)).astype(np.float64) / 2.0**53


def bell(numbers: Integers, column: int) -> Floats:
    """Return a value for each number that is roughly normal: a sum of four, mean 0, variance 1."""
    total = sum(spread(numbers, 4 * column + i) for i in range(4))
    return np.asarray((total - 2) * np.sqrt(3.0))


def chosen(at: Floats, weights: Sequence[float] | Floats) -> Integers:
    """Return which of the weighted choices each value in [0, 1) falls on."""
    ends = np.cumsum(np.asarray(weights, dtype=np.float64))
    return np.searchsorted(ends / ends[-1], at, side="right").astype(np.int64)
