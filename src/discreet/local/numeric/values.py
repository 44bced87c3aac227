"""Bounded numbers on a fine grid: 2**32 steps from the lower bound to the upper one.

A value is moved to the nearest step before anything else is done with it, on the device. That is
all the rounding there is: what follows is exact, whatever the value.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import HIDDEN, ParameterError
from discreet.local.base import array_of
from discreet.noise import Entropy
from discreet.noise.uniform import BoolArray, IntArray, words
from discreet.parameters import rational

FINE_BITS = 32
FINE = 1 << FINE_BITS
"""Steps between the bounds."""

WIDTH_LEAST, WIDTH_MOST = Fraction(1, 10**12), Fraction(10**15)
DIGITS_SPARE = 1 << 21
"""Floats place a value to within a step of bounds whose numbers are up to so many widths."""


def checked_bounds(bounds: object) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound, or refuse them by name."""
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ParameterError("bounds", bounds, "must be a lower and an upper number")
    low, high = (rational("bounds", each, least=-WIDTH_MOST, most=WIDTH_MOST) for each in bounds)
    if high - low < WIDTH_LEAST:
        raise ParameterError("bounds", bounds, "must be a lower number and a larger upper one")
    if (high - low) * DIGITS_SPARE < max(abs(low), abs(high)):
        raise ParameterError("bounds", bounds, "must be farther apart for numbers so large")
    return low, high


def fine_steps(values: ArrayLike, bounds: tuple[Fraction, Fraction]) -> IntArray:
    """Return the nearest step to each value, or refuse them all without showing any."""
    low, high = map(float, bounds)
    found = _floats(values)
    if found is None or not np.all((found >= low) & (found <= high)):
        rule = f"must be numbers from {low:.12g} to {high:.12g}; clip them on the device"
        raise ParameterError("values", HIDDEN, rule)
    steps = np.rint((found - low) * (FINE / (high - low)))
    return np.clip(steps, 0, FINE).astype(np.int64)


def _floats(values: ArrayLike) -> "np.ndarray[tuple[int], np.dtype[np.float64]] | None":
    found = array_of(values)
    if found is None or found.ndim != 1 or (found.dtype.kind not in "iuf" and found.size):
        return None
    return found.astype(np.float64)


def rounded_up(parts: IntArray, bits: int, entropy: Entropy) -> BoolArray:
    """Flip a coin for each part, True with chance exactly part / 2**bits, bits ≤ 32."""
    u = words(len(parts), np.uint32, entropy) & np.uint32((1 << bits) - 1)
    return u < parts
