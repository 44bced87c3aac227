"""Where exact answers live: whole numbers, or reals on a grid so fine that nobody notices.

Noise is drawn in whole steps of the grid, so no float is ever added to a secret: floating-point
attacks find nothing to read. Flooring to the grid moves two answers apart by less than one step
each, which the sensitivity in steps includes.
"""

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from numbers import Integral
from sys import float_info
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import HIDDEN, ParameterError, readable
from discreet.noise.laplace import SCALE_LEAST, SCALE_MOST
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import rational

Integers: TypeAlias = IntArray | list[int] | tuple[int, ...]
Reals: TypeAlias = FloatArray | IntArray | list[float] | list[int] | tuple[float, ...]

FARTHEST = 1 << 61
"""Arrays hold 64-bit integers: steps beyond ±FARTHEST are moved there, which brings answers closer
together, never farther apart. Single numbers are unbounded."""

CLOSEST = FARTHEST - (1 << 32)
"""Noisy answers of an array are moved into ±CLOSEST, so that they are functions of exact + noise
even where noise was cut to 64 bits (docs/proofs/samplers.md, section 10)."""

EPSILON_LEAST = Fraction(1, 10**12)
EPSILON_MOST = Fraction(10**6)
SENSITIVITY_LEAST = Fraction(1, 10**100)
SENSITIVITY_MOST = Fraction(10**100)


@dataclass(frozen=True, slots=True)
class Grid:
    """The multiples of a step, which is a power of two, so that floats divide by it exactly."""

    step: Fraction

    def place(self, exact: object) -> int:
        """Return the grid point at or below an exact answer, in steps."""
        return floor(exact_real(exact) / self.step)

    def places(self, exact: object) -> IntArray:
        """Return the grid points at or below exact answers, in steps within ±FARTHEST.

        Nothing is rounded before the floor: a rounding would move neighbours farther apart.
        """
        array = _array(exact)
        match array.dtype.kind:
            case "i" | "u":
                return self._whole_places(array)
            case "f" if np.all(np.isfinite(array)):
                wide = array.astype(np.promote_types(array.dtype, np.float64))
                with np.errstate(over="ignore"):  # infinitely far is moved to FARTHEST as well
                    steps = np.floor(wide / float(self.step))
                return np.clip(steps, -float(FARTHEST), float(FARTHEST)).astype(np.int64)
            case "O" if not isinstance(exact, np.ndarray):
                return _clamped([self.place(each) for each in array.flat], array.shape)
        raise ParameterError("exact", HIDDEN, "must be finite numbers")

    def _whole_places(self, array: NDArray[Any]) -> IntArray:
        if self.step > 1:
            shift = min(self.step.numerator.bit_length() - 1, 63)
            wide = array if array.dtype == np.uint64 else array.astype(np.int64)
            return exact_integers(wide >> shift)
        # Integers that steps of 2**-shift take beyond FARTHEST are moved there.
        most = FARTHEST // self.step.denominator
        near = np.clip(exact_integers(array), -most - 1, most + 1)
        steps = near * min(self.step.denominator, FARTHEST)
        return np.where(np.abs(near) > most, np.sign(near) * FARTHEST, steps)

    def value(self, place: int) -> float:
        """Return a grid point as a float, the farthest one if it is beyond all floats."""
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


def checked_epsilon(epsilon: object) -> Fraction:
    """Return an epsilon in the range that mechanisms serve."""
    return rational("epsilon", epsilon, above=0, least=EPSILON_LEAST, most=EPSILON_MOST)


def checked_sensitivity(sensitivity: Fraction) -> Fraction:
    """Return a sensitivity in the range that floats can carry."""
    return rational("sensitivity", sensitivity, least=SENSITIVITY_LEAST, most=SENSITIVITY_MOST)


def checked_noise_scale(scale: Fraction, *, instead: str, most: Fraction = SCALE_MOST) -> Fraction:
    """Refuse parameters whose noise the samplers do not cover, before any release."""
    if not SCALE_LEAST <= scale <= most:
        ends = f"{readable(SCALE_LEAST)} to {readable(most)}"
        rule = f"must give noise of a scale from {ends} ({instead})"
        raise ParameterError("sensitivity / epsilon", float(scale), rule)
    return scale


def noisy_sum(exact: IntArray, noise: IntArray) -> IntArray:
    """Return exact + noise, of the exact answers' shape, within ±CLOSEST."""
    total: IntArray = exact + noise.reshape(exact.shape)
    return total.clip(-CLOSEST, CLOSEST)


def is_scalar(exact: object) -> bool:
    """Tell one answer from an array of them."""
    return np.ndim(_array(exact)) == 0


def is_whole(exact: object) -> bool:
    """Tell whole numbers from reals, by type and not by value."""
    array = _array(exact)
    return array.dtype.kind in "iu" or (array.dtype.kind == "O" and _are_integers(array))


def exact_integer(exact: object) -> int:
    """Return one exact answer that is whole by type, not by value; an error does not show it."""
    if not is_whole(exact):
        raise ParameterError("exact", HIDDEN, "must be a whole number; Laplace is for real answers")
    return int(exact_real(exact))


def whole_number(exact: object) -> int:
    """Return an answer that is whole by value, for laws; an error does not show it."""
    number = exact_real(exact)
    if number.denominator != 1:
        raise ParameterError("exact", HIDDEN, "must be a whole number; Laplace is for real answers")
    return int(number)


def exact_real(exact: object) -> Fraction:
    """Return one exact answer as a fraction; an error does not show it."""
    if isinstance(exact, np.ndarray) and exact.ndim == 0:
        exact = exact[()]
    if isinstance(exact, float | np.floating) and np.isfinite(exact):
        return Fraction(*exact.as_integer_ratio())
    with suppress(ParameterError):
        return rational("exact", exact)
    # Raised out here, the error does not carry the first one, which shows the answer.
    raise ParameterError("exact", HIDDEN, "must be a finite number")


def exact_integers(exact: object) -> IntArray:
    """Return exact answers as 64-bit integers within ±FARTHEST; an error does not show them."""
    array = _array(exact)
    if array.dtype.kind == "O" and not isinstance(exact, np.ndarray) and _are_integers(array):
        return _clamped(list(array.flat), array.shape)
    if array.dtype.kind not in "iu" and array.size:
        raise ParameterError("exact", HIDDEN, "must be whole numbers; Laplace is for real answers")
    # 2**61 fits every kind that could exceed it; smaller kinds are left alone.
    if array.dtype.itemsize == 8:
        array = np.clip(array, -FARTHEST if array.dtype.kind == "i" else 0, FARTHEST)
    return array.astype(np.int64)


def _array(exact: object) -> NDArray[Any]:
    """Return exact answers as an array of their own kind.

    NumPy makes floats of a list that holds ints and floats, or ints on both sides of 64 bits, and
    rounds them. Such a list stays one of objects.
    """
    with suppress(ValueError):
        array = np.asarray(exact)
        if array.dtype.kind == "f" and isinstance(exact, list | tuple):
            objects = np.asarray(exact, dtype=object)
            return array if all(isinstance(each, float) for each in objects.flat) else objects
        return array
    raise ParameterError("exact", HIDDEN, "must be numbers in rows of equal length")


def _are_integers(array: NDArray[Any]) -> bool:
    return all(isinstance(each, Integral) and not isinstance(each, bool) for each in array.flat)


def _clamped(numbers: list[int], shape: tuple[int, ...]) -> IntArray:
    inside = [max(-FARTHEST, min(FARTHEST, int(each))) for each in numbers]
    return np.array(inside, np.int64).reshape(shape)
