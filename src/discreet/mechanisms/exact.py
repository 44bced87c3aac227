"""Exact answers, checked by type, and the grid on which real answers are released.

The grid holds the multiples of a very small step. Noise is drawn in whole steps of the grid, so no
float is ever added to a secret, and floating-point attacks do not apply. Flooring to the grid moves
each of two answers by less than one step, which the sensitivity in steps includes.
"""

from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor
from numbers import Integral, Rational
from sys import float_info
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import HIDDEN, ParameterError
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import rational

Integers: TypeAlias = IntArray | list[int] | tuple[int, ...]


Reals: TypeAlias = FloatArray | IntArray | list[float] | list[int] | tuple[float, ...]


FARTHEST = 1 << 61
"""Arrays hold 64-bit integers: steps beyond ±FARTHEST are clamped to it, which brings answers
closer together, never farther apart. Single numbers are unbounded."""


def is_scalar(exact: object) -> bool:
    """Return whether this is one answer and not an array."""
    return np.ndim(array_of(exact)) == 0


def is_integer(exact: object) -> bool:
    """Return whether the numbers are integers, by type and not by value."""
    array = array_of(exact)
    return array.dtype.kind in "iu" or (array.dtype.kind == "O" and _are_integers(array))


def exact_integer(exact: object) -> int:
    """Return one exact answer that is an integer by type. An error does not show it."""
    if not is_integer(exact):
        raise ParameterError("exact", HIDDEN, f"must be a whole number{_hint(array_of(exact))}")
    return int(exact_real(exact))


def integer_number(exact: object) -> int:
    """Return an answer that is an integer by value. An error does not show it."""
    number = exact_real(exact)
    if number.denominator != 1:
        raise ParameterError("exact", HIDDEN, f"must be a whole number{LAPLACE_HINT}")
    return int(number)


def exact_real(exact: object, name: str = "exact") -> Fraction:
    """Return one exact answer as a fraction. An error does not show it."""
    if isinstance(exact, np.ndarray) and exact.ndim == 0:
        exact = exact[()]
    if isinstance(exact, float | np.floating) and np.isfinite(exact):
        return Fraction(*exact.as_integer_ratio())
    with suppress(ParameterError):
        return rational(name, exact)
    # Raised outside of the handler, so it does not carry the first error, which shows the answer.
    raise ParameterError(name, HIDDEN, "must be a finite number")


def exact_integers(exact: object) -> IntArray:
    """Return exact answers as 64-bit integers within ±FARTHEST. An error does not show them."""
    array = array_of(exact)
    if array.dtype.kind == "O" and not isinstance(exact, np.ndarray) and _are_integers(array):
        return clamped(list(array.flat), array.shape)
    if array.dtype.kind not in "iu" and array.size:
        raise ParameterError("exact", HIDDEN, f"must be whole numbers{_hint(array)}")
    # 2**61 fits every type that could exceed it. Smaller types need no clamping.
    if array.dtype.itemsize == 8:
        least = -FARTHEST if array.dtype.kind == "i" else 0
        array = np.minimum(np.maximum(array, least), FARTHEST)  # as np.clip does, in less time
    return array.astype(np.int64)


def array_of(exact: object, name: str = "exact") -> NDArray[Any]:
    """Return exact answers as an array of their own type.

    NumPy turns a list of ints and floats, or of ints around 64 bits, into floats and rounds them.
    Such a list, or any other input without a type of its own, becomes an array of objects.
    """
    with suppress(ValueError):
        array = np.asarray(exact)
        if array.ndim and array.dtype.kind == "f" and not hasattr(exact, "dtype"):
            objects = np.asarray(exact, dtype=object)
            return array if all(isinstance(each, float) for each in objects.flat) else objects
        return array
    raise ParameterError(name, HIDDEN, "must be numbers in rows of equal length")


def clamped(numbers: list[int], shape: tuple[int, ...]) -> IntArray:
    """Return integers of any size within ±FARTHEST."""
    inside = [max(-FARTHEST, min(FARTHEST, int(each))) for each in numbers]
    return np.array(inside, np.int64).reshape(shape)


LAPLACE_HINT = ". Use Laplace for real numbers"


def _hint(array: NDArray[Any]) -> str:
    """Return advice to use Laplace if real numbers were given, by type; not for text or None."""
    kinds = (float, np.floating, Rational, Decimal)
    are_objects = array.dtype.kind == "O" and array.size > 0
    are_real = are_objects and all(isinstance(each, kinds) for each in array.flat)
    return LAPLACE_HINT if array.dtype.kind == "f" or are_real else ""


def _are_integers(array: NDArray[Any]) -> bool:
    return all(isinstance(each, Integral) and not isinstance(each, bool) for each in array.flat)


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
