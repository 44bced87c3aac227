"""Statistics read off noisy cells, and their half widths: post-processing, free of charge."""

from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from discreet.query.plan.expected import (
    FloatArray,
    Noise,
    as_floats,
    half_widths,
    linear_half_width,
    variance_slopes,
)
from discreet.query.plan.measures import Linear, Mean, Reading, Variance

IntArray = NDArray[np.int64]

SAFE = 1 << 62
"""Sums of products that stay below are computed with 64-bit integers, others with unbounded."""


def values_of(reading: Reading, cells: IntArray) -> IntArray | FloatArray:
    """Return a statistic of each group from its noisy cells, a row for each group."""
    match reading:
        case Linear(is_whole=True):
            return _rounded(reading.weights, cells)
        case Linear():
            return _weighted(cells, reading.weights)
        case Mean():
            return _means(reading, cells)
        case Variance():
            return _variances(reading, cells)


def half_widths_of(
    reading: Reading, cells: IntArray, noise: Noise, confidence: Fraction
) -> FloatArray:
    """Return ± of a statistic of each group; of ratios, to first order in the noise."""
    match reading:
        case Linear():
            return np.full(len(cells), linear_half_width(reading, noise, confidence))
        case Mean():
            return _mean_half_widths(reading, cells, noise, confidence)
        case Variance():
            return _variance_half_widths(reading, cells, noise, confidence)


def combined(cells: NDArray[np.generic], rows: tuple[tuple[int, ...], ...]) -> NDArray[np.generic]:
    """Return whole combinations of whole numbers, exactly, whatever their size."""
    largest = [max(int(each.max(initial=0)), -int(each.min(initial=0))) for each in cells.T]
    most = max(sum(abs(a) * x for a, x in zip(row, largest, strict=True)) for row in rows)
    are_small = most < SAFE and all(abs(a) < SAFE for row in rows for a in row)
    kind = np.int64 if cells.dtype != object and are_small else object
    return np.asarray(cells.astype(kind) @ np.array(rows, dtype=kind).T)


def _rounded(weights: tuple[Fraction, ...], cells: IntArray) -> IntArray:
    """Return weighted sums to the nearest whole number, halves upwards."""
    bottom = lcm(*(each.denominator for each in weights))
    top = combined(cells, (tuple(int(each * bottom) for each in weights),))[:, 0]
    if top.dtype != object and bottom < SAFE:
        return np.asarray((top + bottom // 2) // bottom, np.int64)
    inside = [max(-SAFE, min(SAFE, (2 * int(each) + bottom) // (2 * bottom))) for each in top]
    return np.array(inside, np.int64)


def _weighted(cells: IntArray, weights: tuple[Fraction, ...]) -> FloatArray:
    return np.asarray(cells.astype(np.float64) @ as_floats(weights))


def _counted(cells: IntArray, weights: tuple[Fraction, ...]) -> FloatArray:
    """Return weighted sums, divided at the end: a count of 1 is not a little less than 1."""
    bottom = lcm(*(each.denominator for each in weights))
    top = combined(cells, (tuple(int(each * bottom) for each in weights),))[:, 0]
    return np.asarray(np.true_divide(top, bottom), np.float64)


def _means(reading: Mean, cells: IntArray) -> FloatArray:
    count, share = _shares(reading, cells)
    low, most = float(reading.low), float(reading.most)
    value = low + float(reading.high - reading.low) * share
    return np.where(count < 1, (low + most) / 2, np.clip(value, low, most))


def _shares(reading: Mean, cells: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return each group's noisy count, and its mean as a share of the width."""
    count = _counted(cells, reading.count)
    return count, _weighted(cells, reading.first) / np.maximum(count, 1)


def _mean_half_widths(
    reading: Mean, cells: IntArray, noise: Noise, confidence: Fraction
) -> FloatArray:
    # F/n - (F + f)/(n + e) = (F/n e - f) / n, to first order in the noises e and f.
    count, share = _shares(reading, cells)
    width = float(reading.high - reading.low)
    first, ones = as_floats(reading.first), as_floats(reading.count)
    inside = np.clip(share, 0, 1)[:, None]
    slopes = width * (first[None, :] - inside * ones[None, :]) / np.maximum(count, 1)[:, None]
    most = float(reading.most - reading.low)
    wide = np.minimum(half_widths(slopes, noise, confidence), most)
    return np.where(count < 1, most / 2, wide)


def _moments(
    reading: Variance, cells: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return count, both moments as shares, and what a variance is multiplied by for a sample."""
    count = _counted(cells, reading.count)
    at_least_one = np.maximum(count, 1)
    first = np.clip(_weighted(cells, reading.first) / at_least_one, 0, 1)
    second = np.clip(_weighted(cells, reading.second) / at_least_one, 0, 1)
    factor = np.ones(len(count))
    if reading.is_sample:
        factor = at_least_one / np.maximum(at_least_one - 1, 1)
    return count, first, second, factor


def _variances(reading: Variance, cells: IntArray) -> FloatArray:
    """Return variances moved into what is possible; its middle where the count is too small."""
    count, first, second, factor = _moments(reading, cells)
    square = float(reading.width) ** 2
    value = np.clip(second - first**2, 0, 0.25) * square * factor
    found = np.where(_is_too_small(reading, count), _largest(reading) / 2, value)
    return np.sqrt(found) if reading.is_root else found


def _variance_half_widths(
    reading: Variance, cells: IntArray, noise: Noise, confidence: Fraction
) -> FloatArray:
    count, first, second, factor = _moments(reading, cells)
    largest = _largest(reading)
    slopes = variance_slopes(reading, np.maximum(count, 1), first, second)
    wide = np.minimum(half_widths(slopes * factor[:, None], noise, confidence), largest)
    wide = np.where(_is_too_small(reading, count), largest / 2, wide)
    if not reading.is_root:
        return wide
    root = _variances(reading, cells)
    above = np.sqrt(root**2 + wide) - root
    below = root - np.sqrt(np.maximum(root**2 - wide, 0))
    return np.maximum(above, below)


def _largest(reading: Variance) -> float:
    """Return the largest variance that there is: half at each end, of two values for a sample."""
    return float(reading.width) ** 2 / (2 if reading.is_sample else 4)


def _is_too_small(reading: Variance, count: FloatArray) -> NDArray[np.bool_]:
    return np.asarray(count < (2 if reading.is_sample else 1))
