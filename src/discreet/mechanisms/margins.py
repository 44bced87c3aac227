"""Margins of error of weighted sums of independent noises, for ratios, differences and totals.

A sum X of independent Laplace noises of scales b_i has P(|X| > t) = Σ c_i exp(-t / b_i) with
c_i = ∏_(j≠i) b_i² / (b_i² - b_j²), the partial fractions of its transform φ(s) = ∏ 1/(1 - b_i² s²).
If scales are nearly equal the c_i cancel, and the integral from which they come,

    P(|X| > t) = 1/(πi) ∫ exp(-t s) φ(s) / s ds,   from -i∞ to +i∞, between 0 and 1 / max b_i,

is summed at a few points of a path instead. Both are sums of weights times exponentials, so the
same search solves both. Error bounds: docs/proofs/spread.md.
"""

from fractions import Fraction
from functools import lru_cache
from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import HIDDEN, ParameterError
from discreet.mechanisms.accuracy import gaussian_accuracy, miss_probability
from discreet.noise.uniform import CHUNK, BoolArray, FloatArray
from discreet.parameters import Real

COMPONENTS_MOST = 10


CANCELLING = 1e6
"""Up to this Σ|c_i| the partial fractions give P(|X| > t) to three parts in 10**8."""


ROUNDS = 60
"""Far more steps than a search needs: Newton's method doubles the digits each time."""


RAISED = 1 + 1e-5
"""A margin is raised by this factor, which is more than rounding can have lowered it."""


MISS_LEAST = Fraction(1, 10**100)


STEP = 0.2
"""The distance between points of the path, in the variable in which it is a hyperbola."""


POINTS = 40
"""The number of points on one half of the path. The other half mirrors it."""


OPENING = 0.6
"""How fast the path turns to the right, where exp(-t s) vanishes."""


FEW = 4
"""The most rows that are solved one by one and cached."""


Roots = NDArray[np.float64] | NDArray[np.complex128]
"""Weights or exponents of a sum of exponentials, a row for each sum."""


NOTHING = 1e-150
"""A noise with a smaller share of the largest scale changes h by less than float precision."""


def laplace_margin(scales: ArrayLike, confidence: Real) -> FloatArray:
    """Return h with P(|X| ≤ h) = confidence for each row's sum X of independent Laplace noises.

    A row holds the scale of each noise times the absolute value of its weight, up to ten of them.
    Zeros add nothing. h is never too small, and too large by at most one part in a thousand, for
    every confidence of 1% or more. For integer noise of scale 10 or more, ⌈h⌉ has this confidence.
    """
    b = _checked("scales", scales)
    miss = float(_miss(confidence))
    widest = b.max(axis=1, initial=0.0)
    # Sorted shares of the largest scale, so rows that differ only in order and size become equal.
    shares = -np.sort(-b / np.where(widest > 0, widest, 1.0)[:, None], axis=1)
    shares[shares < NOTHING] = 0.0
    shares[:, 0] = 1.0  # even if all are 0, because those h are multiplied by 0
    h = np.zeros(len(b))
    for start in range(0, len(b), CHUNK):
        piece = slice(start, start + CHUNK)
        h[piece] = _half_widths(shares[piece], miss)
    h *= widest * RAISED
    return h


def gaussian_margin(variances: ArrayLike, confidence: Real) -> FloatArray:
    """Return h with P(|X| ≤ h) = confidence for each row's sum X of independent Gaussian noises.

    A row holds the variance of each noise times the square of its weight.
    """
    deviations: FloatArray = np.sqrt(_checked("variances", variances).sum(axis=1))
    return deviations * gaussian_accuracy(1.0, _miss(confidence))


def _half_widths(b: FloatArray, miss: float) -> FloatArray:
    """Return h for rows of shares, the first of which is 1."""
    rates, weights = _partial_fractions(b)
    are_cancelling = ~(np.abs(weights).sum(axis=1) <= CANCELLING)
    weights[are_cancelling] = np.eye(b.shape[1])[0]
    h = _solved(rates, weights, miss, np.full(len(b), -log(miss)))
    if are_cancelling.any():
        alike, place = np.unique(b[are_cancelling], axis=0, return_inverse=True)
        found = _remembered if len(alike) <= FEW else _half_widths_by_path
        h[are_cancelling] = found(alike, miss)[place.reshape(-1)]
    return h


def _remembered(b: FloatArray, miss: float) -> FloatArray:
    """Return h of a few rows from a cache: linear statistics repeat their rows at every epsilon."""
    return np.array([_half_width_by_path(tuple(row), miss) for row in b.tolist()])


@lru_cache(maxsize=1024)
def _half_width_by_path(b: tuple[float, ...], miss: float) -> float:
    return float(_half_widths_by_path(np.array([b]), miss)[0])


def _half_widths_by_path(b: FloatArray, miss: float) -> FloatArray:
    """Return h by the integral, along a path made for that h: first roughly, then again."""
    least = np.full(len(b), -log(miss))
    h: FloatArray = np.sqrt((b**2).sum(axis=1)) * least
    for _ in range(2):
        h = _solved(*_path(b, h), miss, least)
    return h


def _partial_fractions(b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the exponents 1 / b_i and the weights c_i, not finite if two scales are equal."""
    weights = np.where(b > 0, 1.0, 0.0)
    squares = b**2
    with np.errstate(divide="ignore", invalid="ignore"):
        for j in range(b.shape[1]):
            other = b[:, j : j + 1]
            factors = squares / ((b - other) * (b + other))
            factors[:, j] = 1.0
            weights *= np.where(other > 0, factors, 1.0)
        return np.where(b > 0, 1 / b, 1.0), weights


def _path(b: FloatArray, t: FloatArray) -> tuple[Roots, Roots]:
    """Return points s of a path and the weights of exp(-t s), for t near the one it is made for.

    s(u) = saddle + i width sinh u + OPENING width (cosh u - 1), at u = 0, STEP, 2 STEP, …
    """
    saddle, width = _saddle(b, t)
    u = STEP * np.arange(POINTS)
    right, up = OPENING * width[:, None] * (np.cosh(u) - 1), width[:, None] * np.sinh(u)
    s = saddle[:, None] + right + 1j * up
    slope = width[:, None] * (np.cosh(u) - 1j * OPENING * np.sinh(u))  # ds/du / i
    transform = (1 - (b[:, :, None] * s[:, None, :]) ** 2).prod(axis=1)
    # Both halves of the path give the same real part; u = 0 belongs to both.
    both = np.where(u > 0, 2.0, 1.0) * STEP / np.pi
    return s, both * slope / (s * transform)


def _saddle(b: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the minimum of exp(-t s) φ(s) / s on (0, 1), and 1 / √ of its log's curvature there.

    The log is convex and its slope rises from -∞ to ∞. Bisection in 1 - s finds the zero.
    """
    low, high = np.zeros(len(b)), np.ones(len(b))  # of 1 - s
    for _ in range(ROUNDS):
        away = np.where(low > 0, np.sqrt(low * high), high / 16)
        is_left = _slopes(b, 1 - away)[0] < t
        low, high = np.where(is_left, low, away), np.where(is_left, away, high)
    saddle = 1 - high
    return saddle, 1 / np.sqrt(_slopes(b, saddle)[1])


def _slopes(b: FloatArray, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first two derivatives of ln(φ(s) / s)."""
    x = b * s[:, None]
    room = (1 - x) * (1 + x)
    first: FloatArray = (2 * b * x / room).sum(axis=1) - 1 / s
    second: FloatArray = (2 * b**2 * (1 + x**2) / room**2).sum(axis=1) + 1 / s**2
    return first, second


def _solved(rates: Roots, weights: Roots, miss: float, least: FloatArray) -> FloatArray:
    """Return t with Re Σ weights · exp(-t · rates) = miss, at or above it.

    ln P(|X| > t) is concave, because the density is log-concave. So its tangents lie above it, and
    each Newton step ends at or beyond the root. `least` is at or below the root.
    """
    t, goal = least.copy(), log(miss)
    open_still: BoolArray = np.ones(len(t), np.bool_)
    for _ in range(ROUNDS):
        z, g, here = rates[open_still], weights[open_still], t[open_still]
        terms = g * np.exp(-z * here[:, None])
        beyond = terms.real.sum(axis=1)
        density = (terms * z).real.sum(axis=1)
        there = np.maximum(here + (np.log(beyond) - goal) * beyond / density, least[open_still])
        t[open_still] = there
        open_still[open_still] = np.abs(there - here) > 1e-8 * there
        if not open_still.any():
            break
    return t


def _miss(confidence: Real) -> Fraction:
    """Return 1 - confidence, if floats can represent the tail."""
    miss = miss_probability(confidence, 1)
    if miss < MISS_LEAST:
        raise ParameterError("confidence", confidence, "must be less than 1 by 1e-100 or more")
    return miss


def _checked(name: str, values: ArrayLike) -> FloatArray:
    """Return rows of numbers, 0 or more. An error does not show them."""
    array = np.asarray(values)
    rule = f"must be rows of 1 to {COMPONENTS_MOST} finite numbers, 0 or more"
    are_rows = array.ndim == 2 and 1 <= array.shape[1] <= COMPONENTS_MOST
    are_numbers = array.dtype.kind in "iuf"
    if not (are_rows and are_numbers) or not np.all(np.isfinite(array) & (array >= 0)):
        raise ParameterError(name, HIDDEN, rule)
    return array.astype(np.float64)
