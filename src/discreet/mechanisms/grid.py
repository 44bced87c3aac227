"""The grid: multiples of a very small step, on which real answers are released.

Noise is drawn in whole steps of the grid, so no float is ever added to a secret, and floating-point
attacks do not apply. Flooring to the grid moves each of two answers by less than one step, which
the sensitivity in steps includes.
"""

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from sys import float_info
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import HIDDEN, ParameterError
from discreet.mechanisms.exact import FARTHEST, array_of, clamped, exact_integers, exact_real
from discreet.noise.uniform import FloatArray, IntArray

CLOSEST = FARTHEST - (1 << 32)
"""Noisy answers of an array are clamped to ±CLOSEST. So they are functions of exact + noise, even
where noise was clamped to 64 bits (docs/proofs/samplers.md, section 10)."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The multiples of a step. It is a power of two, so floats divide by it exactly."""

    step: Fraction

    def place(self, exact: object, name: str = "exact") -> int:
        """Return the grid point at or below an exact answer, in steps."""
        return floor(exact_real(exact, name) / self.step)

    def places(self, exact: object, name: str = "exact") -> IntArray:
        """Return the grid points at or below exact answers, in steps within ±FARTHEST.

        Nothing is rounded before the floor, because rounding could move neighbours farther apart.
        """
        array = array_of(exact, name)
        match array.dtype.kind:
            case "i" | "u":
                return self._whole_places(array)
            case "f" if np.all(np.isfinite(array)):
                wide = array.astype(np.promote_types(array.dtype, np.float64))
                with np.errstate(over="ignore"):  # infinity is clamped to FARTHEST as well
                    steps = np.floor(wide / float(self.step))
                return np.clip(steps, -float(FARTHEST), float(FARTHEST)).astype(np.int64)
            case "O" if not isinstance(exact, np.ndarray):
                with suppress(ParameterError):
                    return clamped([self.place(each) for each in array.flat], array.shape)
        raise ParameterError(name, HIDDEN, "must be finite numbers")

    def _whole_places(self, array: NDArray[Any]) -> IntArray:
        if self.step > 1:
            shift = self.step.numerator.bit_length() - 1
            if array.dtype.kind == "u" and shift > 63:
                return np.zeros(array.shape, np.int64)
            wide = array if array.dtype == np.uint64 else array.astype(np.int64)
            return exact_integers(wide >> min(shift, 63))
        # Integers that exceed FARTHEST in steps of 2**-shift are clamped to it.
        most = FARTHEST // self.step.denominator
        near = np.clip(exact_integers(array), -most - 1, most + 1)
        steps = near * min(self.step.denominator, FARTHEST)
        return np.where(np.abs(near) > most, np.sign(near) * FARTHEST, steps)

    def value(self, place: int) -> float:
        """Return a grid point as a float, or the largest float if it is beyond all floats."""
        with suppress(OverflowError):
            return float(place * self.step)
        return float_info.max if place > 0 else -float_info.max

    def values(self, places: IntArray) -> FloatArray:
        """Return grid points as floats."""
        return places.astype(np.float64) * float(self.step)


def power_of_two_below(limit: Fraction) -> Fraction:
    """Return the largest power of two at most limit."""
    exponent = limit.numerator.bit_length() - limit.denominator.bit_length()
    power = Fraction(2) ** exponent
    return power if power <= limit else power / 2


def noisy_sum(exact: IntArray, noise: IntArray) -> IntArray:
    """Return exact + noise, in the shape of the exact answers, within ±CLOSEST."""
    total: IntArray = exact + noise.reshape(exact.shape)
    return total.clip(-CLOSEST, CLOSEST)
