"""What the samplers assume of this machine's floats, checked when the package is loaded.

The filters assume exp within 2**-46 (relative) and log within 2**-46 (absolute, on [2**-20, 1]):
at least five bits more than a good library needs. A broken one is caught here, before any draw.
"""

from collections.abc import Callable
from fractions import Fraction
from math import exp, isfinite, log

import numpy as np

from discreet.errors import ArithmeticDriftError
from discreet.noise.enclosures import exp_neg
from discreet.noise.uniform import FloatArray

ASSUMED = Fraction(1, 1 << 46)
BITS = 90
POINTS = np.linspace(-13.8, -(2.0**-12), 61)
"""Where the functions are tried: an odd number, so that wide and narrow loops both run."""

Function = Callable[[FloatArray], FloatArray]


def check_floats(vector_exp: Function = np.exp, vector_log: Function = np.log) -> None:
    """Raise `ArithmeticDriftError` unless NumPy's and the C library's exp and log are in bounds."""
    points = POINTS.tolist()
    powers = [exp(x) for x in points]
    _check_exp("numpy.exp", points, vector_exp(POINTS).tolist())
    _check_exp("math.exp", points, powers)
    _check_log("numpy.log", powers, vector_log(np.array(powers)).tolist())
    _check_log("math.log", powers, [log(w) for w in powers])


def _check_exp(function: str, points: list[float], values: list[float]) -> None:
    for x, value in zip(points, values, strict=True):
        if not isfinite(value):
            raise ArithmeticDriftError(function)
        low, high = exp_neg(Fraction(-x), BITS)
        scaled = Fraction(value) * (1 << BITS)
        if not low * (1 - ASSUMED) <= scaled <= high * (1 + ASSUMED):
            raise ArithmeticDriftError(function)


def _check_log(function: str, powers: list[float], values: list[float]) -> None:
    for w, value in zip(powers, values, strict=True):
        if not isfinite(value):
            raise ArithmeticDriftError(function)
        # |value - ln w| ≤ ASSUMED exactly if exp(value - ASSUMED) ≤ w ≤ exp(value + ASSUMED).
        scaled = Fraction(w) * (1 << BITS)
        least = exp_neg(ASSUMED - Fraction(value), BITS)[0]
        most = exp_neg(max(Fraction(0), -ASSUMED - Fraction(value)), BITS)[1]
        if not least <= scaled <= most:
            raise ArithmeticDriftError(function)
