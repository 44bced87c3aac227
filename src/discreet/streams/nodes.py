"""Nodes of trees over ticks: which ones a running total adds up, and how far their noise goes.

Ticks are written in base `arity`. Level l has nodes of arity**l ticks each. The digit of a tick at
level l says how many nodes of that level its total adds up, or subtracts if the digit is negative.
Plain digits are 0, …, arity - 1, and the digit of the highest level is what is left. Balanced
digits are -half, …, half with half = (arity - 1) / 2, for odd arities.
"""

from collections.abc import Iterator
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, log, sinh, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammaln

from discreet.mechanisms.accuracy import gaussian_accuracy
from discreet.mechanisms.exact import clamped, exact_integers
from discreet.noise.uniform import FloatArray, IntArray


class Digits(Enum):
    """How ticks are written."""

    PLAIN = "plain"
    BALANCED = "balanced"


def levels_needed(ticks: int, arity: int, digits: Digits) -> int:
    """Return the least number of levels with which every tick up to the last can be written."""
    levels = 1
    while (arity**levels if digits is Digits.PLAIN else (arity**levels - 1) // 2) < ticks:
        levels += 1
    return levels


def digits_of(
    ticks: IntArray, arity: int, levels: int, digits: Digits
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the digits of ticks at each level, the lowest first, and what is above them."""
    for level in range(levels):
        if digits is Digits.BALANCED:
            digit = (ticks + arity // 2) % arity - arity // 2
        else:
            digit = ticks % arity if level < levels - 1 else ticks
        ticks = (ticks - digit) // arity
        yield digit, ticks


@lru_cache(maxsize=16)
def noises_used(
    ticks: int, arity: int, levels: int, digits: Digits, window: int | None
) -> IntArray:
    """Return how many noises are in the running total, or in a window, at each tick.

    A window is the difference of two running totals. Nodes that both use cancel. Those are all
    nodes above the first level at which the ticks differ, and some of that level.
    """
    here = np.arange(1, ticks + 1)
    before = np.zeros_like(here) if window is None else np.maximum(here - window, 0)
    total = np.zeros(ticks, np.int64)
    ours, theirs = (digits_of(each, arity, levels, digits) for each in (here, before))
    for (one, above_one), (other, above_other) in zip(ours, theirs, strict=True):
        apart = np.abs(one) + np.abs(other)
        total += np.where(above_one == above_other, np.abs(one - other), apart)
    total.flags.writeable = False
    return total


def mean_noises(ticks: int, arity: int, levels: int, digits: Digits) -> float:
    """Return the mean number of noises in a running total, without a list of all ticks."""
    total = 0
    for level in range(levels):
        size = arity**level
        is_top = digits is Digits.PLAIN and level == levels - 1
        cycle = np.arange(arity + is_top)
        if digits is Digits.BALANCED:
            cycle = np.minimum(cycle, arity - cycle)
        # Rounded to this level, the last tick is `whole` nodes, and `rest` ticks have that value.
        shift = (size - 1) // 2 if digits is Digits.BALANCED else 0
        whole, rest = divmod(ticks + shift, size)
        cycles, partial = divmod(whole, len(cycle))
        full = cycles * int(cycle.sum()) + int(cycle[:partial].sum())
        total += full * size + int(cycle[partial]) * (rest + 1)
    return total / ticks


WORD_MOST = 1 << 62


def exact_totals(increments: IntArray) -> NDArray[Any]:
    """Return the exact total before the first tick, 0, and at each tick: objects if they are large.

    The type depends on the data, and what is computed from it does not.
    """
    before = np.zeros((1, increments.shape[1]), np.int64)
    steps = np.concatenate([before, increments])
    farthest = max(int(increments.max(initial=0)), -int(increments.min(initial=0)))
    is_large = farthest * len(increments) >= WORD_MOST
    return np.cumsum(steps.astype(object) if is_large else steps, axis=0)


def clamped_integers(numbers: NDArray[Any]) -> IntArray:
    """Return integers of any type, clamped to what arrays of answers can hold."""
    if numbers.dtype == object:
        return clamped(list(numbers.flat), numbers.shape)
    return exact_integers(numbers)


def laplace_variance(scale: Fraction) -> float:
    """Return the variance of discrete Laplace noise: 2a / (1 - a)² with a = e^(-1 / scale)."""
    # 1 / (2 sinh²(1 / (2 scale))), which does not cancel for large scales.
    return 1 / (2 * sinh(1 / (2 * scale)) ** 2)


SMALL_SCALE = 10
"""Below this scale, margins are computed for integers; from here on, ⌈h⌉ of continuous noise."""

COUNTED_MOST = 20_000
"""Sums of more noises than this are normal to one part in a thousand, at every confidence."""

FEWER = 1.005
"""Numbers of noises are rounded up to powers of about this number: their margins are close."""


def laplace_sum_margins(scale: Fraction, noises: IntArray, miss: Fraction) -> FloatArray:
    """Return t with P(|X| > t) ≤ miss for each sum X of so many discrete Laplace noises."""
    powers = np.ceil(np.log(np.maximum(noises, 1)) / log(FEWER))
    rounded = np.where(noises > 0, np.maximum(noises, np.floor(FEWER**powers)), 0).astype(np.int64)
    counts, place = np.unique(rounded, return_inverse=True)
    found = np.array([_margin(scale, int(each), miss) for each in counts])
    return found[place.reshape(-1)]


@lru_cache(maxsize=4096)
def _margin(scale: Fraction, noises: int, miss: Fraction) -> float:
    if not noises:
        return 0.0
    if noises > COUNTED_MOST:
        deviation = sqrt(noises * laplace_variance(scale))
        return ceil(gaussian_accuracy(deviation, miss) * 1.001)
    near = float(scale) * _unit_margin(noises, float(miss))
    if scale < SMALL_SCALE:
        return _whole_margin(float(scale), noises, float(miss), near)
    return ceil(near * (1 + 1e-9))


def _unit_margin(noises: int, miss: float) -> float:
    """Return t with P(|X| > t) = miss for the sum X of so many Laplace noises of scale 1.

    |X| is a mixture of Gamma(n - j) variables with weights 2 binom(n - 1 + j, j) / 2**(n + j), by
    the partial fractions of (1 - s²)**-n.
    """
    j = np.arange(noises)
    logs = gammaln(noises + j) - gammaln(noises) - gammaln(j + 1)
    weights = 2 * np.exp(logs - (noises + j) * np.log(2))
    low, high = 0.0, 1.0
    while weights @ gammaincc(noises - j, high) > miss:
        low, high = high, 2 * high
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        is_missed = weights @ gammaincc(noises - j, middle) > miss
        low, high = (middle, high) if is_missed else (low, middle)
    return high


def _whole_margin(scale: float, noises: int, miss: float, near: float) -> float:
    """Return the least integer t with P(|X| > t) ≤ miss, from the transform of the integers."""
    if miss < 1e-12:
        return ceil(near) + noises  # |⌊E⌋ - E| < 1 for each half of each noise
    size = 1 << (8 * (ceil(near) + noises)).bit_length()
    a = exp(-1 / scale)
    angles = 2 * np.pi * np.arange(size // 2 + 1) / size
    powers = ((1 - a) ** 2 / (1 - 2 * a * np.cos(angles) + a * a)) ** noises
    probabilities = np.maximum(np.fft.irfft(powers, size), 0)
    beyond = 1 - probabilities[0] - 2 * np.cumsum(probabilities[1 : size // 2])
    return float(np.argmax(np.concatenate([[1 - probabilities[0]], beyond]) <= miss))
