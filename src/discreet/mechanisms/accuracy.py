"""Margins of error of noise, and the smallest epsilon that meets a margin."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, exp, floor, log, log1p, sqrt

from scipy.special import ndtri

from discreet.errors import ParameterError
from discreet.mechanisms.digits import DIGITS, few_digits_up
from discreet.mechanisms.ranges import EPSILON_LEAST, EPSILON_MOST
from discreet.noise.enclosures import is_at_most, laplace_tail
from discreet.parameters import confidence_level, rational, whole

EXACT_MOST = 1 << 26
"""Up to this scale the error is the smallest integer; beyond, at most one part in 10**13 more."""


def miss_probability(confidence: object, answers: object) -> Fraction:
    """Return the probability of a miss that each answer may have (union bound)."""
    level = confidence_level(confidence)
    return (1 - level) / whole("answers", answers, least=1)


def laplace_error(scale: Fraction, miss: Fraction) -> int:
    """Return the smallest n with P(|X| > n) ≤ miss for discrete Laplace X."""
    # P(|X| ≥ n + 1) = 2 q**(n + 1) / (1 + q) ≤ miss, solved in floats and decided exactly.
    near = float(scale) * (log_of(2 / miss) - log1p(exp(-1 / scale)))
    if scale > EXACT_MOST:
        return ceil(near * (1 + 1e-13))
    n = max(0, floor(near) - 2)
    while not is_at_most(laplace_tail(scale, n + 1), miss):
        n += 1
    return n


def gaussian_error(deviation: float, miss: Fraction) -> float:
    """Return t with P(|X| > t) ≤ miss for normal X, rounded up in its last digits."""
    return -float(ndtri(float(miss / 2))) * deviation * (1 + 1e-12)


def log_of(value: Fraction) -> float:
    """Return ln(value), even if value itself is too large or too small for a float."""
    return log(value.numerator) - log(value.denominator)


def least_epsilon(
    error_at: Callable[[Fraction], float],
    within: object,
    *,
    least: Fraction = EPSILON_LEAST,
    most: Fraction = EPSILON_MOST,
) -> Fraction:
    """Return the smallest epsilon, with few digits, whose error meets the target.

    `error_at` must not grow with epsilon, except by the last step of a grid.
    """
    target = rational("within", within, above=0)
    low, high = least, most
    if error_at(high) > target:
        raise ParameterError("within", within, f"must be at least {error_at(high):.3g} here")
    if error_at(low) <= target:
        return low
    while high > low * (1 + Fraction(1, 10 ** (DIGITS + 2))):
        middle = Fraction(sqrt(low * high))
        low, high = (low, middle) if error_at(middle) <= target else (middle, high)
    readable = few_digits_up(high)
    return readable if error_at(readable) <= target else high
