"""Floats with errors in a known direction.

Every float that an accountant returns is an upper bound of the real number it represents, or a
lower bound if its name ends in `_down`. The elementary functions of C, NumPy and SciPy are not
correctly rounded. So the relative error of one call is assumed to be up to `TRUST`, which is
several times what their test suites and ours observe.
"""

from collections.abc import Callable
from fractions import Fraction
from math import floor, frexp, inf, isinf, ldexp, log, nextafter, sqrt

from discreet.parameters import rational

TRUST = 2.0**-49
"""The relative error allowed for one call of exp, log, ndtr, erfcx, gammaln: eight half-ulps."""

LEAST_DELTA = Fraction(1, 10**300)
"""Positive deltas below this cannot be distinguished from zero in floats, and are rejected."""

LARGEST_FLOAT = 1.7976931348623157e308


def positive_delta(value: object) -> Fraction:
    """Return a delta that floats can be compared with: at least 1e-300 and below 1."""
    return rational("delta", value, least=LEAST_DELTA, below=1)


def float_up(value: Fraction) -> float:
    """Return the least float that is at least value."""
    try:
        near = float(value)
    except OverflowError:
        return inf if value > 0 else -LARGEST_FLOAT
    return near if Fraction(near) >= value else nextafter(near, inf)


def float_down(value: Fraction) -> float:
    """Return the largest float that is at most value."""
    return -float_up(-value)


def log_up(value: Fraction) -> float:
    """Return an upper bound of ln(value), for any positive fraction."""
    top, bottom = log(value.numerator), log(value.denominator)
    return top - bottom + TRUST * (top + bottom)


def short_up(value: float, *, bits: int = 32) -> Fraction:
    """Return a fraction with few digits, at least value and at most (1 + 2^(1-bits)) times it."""
    mantissa, exponent = frexp(value)
    return (floor(ldexp(mantissa, bits)) + 1) * Fraction(2) ** (exponent - bits)


def short_down(value: float, *, bits: int = 32) -> Fraction:
    """Return a fraction with few digits, at most value and at least (1 - 2^(1-bits)) times it."""
    mantissa, exponent = frexp(value)
    return floor(ldexp(mantissa, bits)) * Fraction(2) ** (exponent - bits)


def least_float(holds: Callable[[float], bool], *, relative: float = 2.0**-46) -> float:
    """Return a float for which `holds` is true, within `relative` of the smallest, or inf if none.

    `holds` must be true from some point on. Only values for which it was true are returned, so
    rounding errors in `holds` cost tightness and never validity.
    """
    if holds(0.0):
        return 0.0
    low, high = _bracket(holds)
    while high - low > relative * high:
        middle = low + (high - low) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _bracket(holds: Callable[[float], bool]) -> tuple[float, float]:
    """Return (low, high), a factor of two apart, with `holds` false at low and true at high."""
    high = 1.0
    while not holds(high):
        high *= 2
        if isinf(high):
            return inf, inf
    if high > 1.0:
        return high / 2, high
    while high > 0 and holds(high / 2):
        high /= 2
    return high / 2, high


def golden_minimum(
    function: Callable[[float], float], low: float, high: float, *, steps: int = 48
) -> float:
    """Return a point near the minimum of a function that falls and then rises on [low, high]."""
    ratio = (sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(steps):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return (low + high) / 2
