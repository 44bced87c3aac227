"""Where exact answers live: whole numbers, or reals on a grid so fine that nobody notices.

Noise is drawn in whole steps of the grid, so no float is ever added to a secret: floating-point
attacks find nothing to read. Flooring to the grid moves two answers apart by less than one step
each, which the sensitivity in steps includes.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import HIDDEN, ParameterError, readable
from discreet.noise.geometric import SCALE_LEAST, SCALE_MOST
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import rational

Integers: TypeAlias = IntArray | list[int] | tuple[int, ...]
Reals: TypeAlias = FloatArray | IntArray | list[float] | list[int] | tuple[float, ...]

FARTHEST = 1 << 61
"""Arrays hold 64-bit integers: steps beyond ±FARTHEST are moved there, which brings answers closer
together, never farther apart. Single numbers are unbounded."""

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
        """Return the grid points at or below exact answers, in steps."""
        steps = np.floor(exact_reals(exact) / float(self.step))
        return np.clip(steps, -float(FARTHEST), float(FARTHEST)).astype(np.int64)

    def value(self, place: int) -> float:
        """Return a grid point as a float."""
        return float(place * self.step)

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


def checked_noise_scale(scale: Fraction, *, instead: str) -> Fraction:
    """Refuse parameters whose noise the samplers do not cover, before any release."""
    if not SCALE_LEAST <= scale <= SCALE_MOST:
        ends = f"{readable(SCALE_LEAST)} to {readable(SCALE_MOST)}"
        rule = f"must give noise of a scale from {ends} ({instead})"
        raise ParameterError("sensitivity / epsilon", float(scale), rule)
    return scale


def is_scalar(exact: object) -> bool:
    """Tell one answer from an array of them."""
    return np.ndim(_array(exact)) == 0


def is_whole(exact: object) -> bool:
    """Tell whole numbers from reals, by type and not by value."""
    return isinstance(exact, int) or _array(exact).dtype.kind in "iu"


def exact_integer(exact: object) -> int:
    """Return one exact answer as an int; an error does not show it."""
    number = exact_real(exact)
    if number.denominator != 1:
        raise ParameterError("exact", HIDDEN, "must be a whole number; Laplace is for real answers")
    return int(number)


def exact_real(exact: object) -> Fraction:
    """Return one exact answer as a fraction; an error does not show it."""
    if isinstance(exact, float | np.floating) and np.isfinite(exact):
        return Fraction(float(exact))
    try:
        return rational("exact", exact)
    except ParameterError:
        raise ParameterError("exact", HIDDEN, "must be a finite number") from None


def exact_integers(exact: object) -> IntArray:
    """Return exact answers as 64-bit integers within ±FARTHEST; an error does not show them."""
    array = _array(exact)
    if array.dtype.kind not in "iu":
        raise ParameterError("exact", HIDDEN, "must be whole numbers; Laplace is for real answers")
    # 2**61 fits every kind that could exceed it; smaller kinds are left alone.
    if array.dtype.itemsize == 8:
        array = np.clip(array, -FARTHEST if array.dtype.kind == "i" else 0, FARTHEST)
    return array.astype(np.int64)


def exact_reals(exact: object) -> FloatArray:
    """Return exact answers as finite floats; an error does not show them."""
    array = _array(exact)
    if array.dtype.kind not in "iuf" or not np.all(np.isfinite(array)):
        raise ParameterError("exact", HIDDEN, "must be finite numbers")
    return array.astype(np.float64)


def _array(exact: object) -> NDArray[Any]:
    try:
        return np.asarray(exact)
    except ValueError:
        raise ParameterError("exact", HIDDEN, "must be numbers in rows of equal length") from None
