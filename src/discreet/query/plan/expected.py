"""How far noise moves a released statistic: half widths, before and after the numbers are known."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.accuracy import gaussian_error, laplace_error, miss_probability
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.spread import gaussian_spread, laplace_spread
from discreet.query.plan.measures import Linear, Mean, Variance, Weights

FloatArray = NDArray[np.float64]
Noise = Geometric | Gaussian


@dataclass(frozen=True, slots=True, kw_only=True)
class PerCount:
    """± numerator / n ** power in a group of n rows that have a value."""

    numerator: float
    power: Fraction = Fraction(1)

    def at(self, count: float) -> float:
        """Return the half width in a group of so many rows."""
        return self.numerator / float(count ** float(self.power))


@dataclass(frozen=True, slots=True, kw_only=True)
class RankError:
    """The value has a rank that is so many rows from the one asked for, at most."""

    rows: float


Expected = float | PerCount | RankError | None
"""A half width; None where there is none, as for the most common value."""


def half_widths(weights: FloatArray, noise: Noise, confidence: Fraction) -> FloatArray:
    """Return ± of a weighted sum of a group's noisy cells, for each row of weights."""
    size = np.abs(weights)
    if isinstance(noise, Gaussian):
        # By a power of two, which rounds nothing: squares of large weights would overflow.
        unit: FloatArray = np.exp2(np.frexp(size.max(axis=1, initial=0.0))[1])
        shares = size / unit[:, None]
        wide: FloatArray = unit * gaussian_spread(shares**2 * float(noise.variance), confidence)
        return wide
    return laplace_spread(size * float(noise.scale), confidence)


def linear_half_width(reading: Linear, noise: Noise, confidence: Fraction) -> float:
    """Return ± of a weighted sum of cells: the same for every group.

    A single cell has the exact error of its whole-numbered noise.
    """
    weights = [abs(each) for each in reading.weights if each]
    if len(weights) == 1 and isinstance(noise, Geometric):
        miss = miss_probability(confidence, 1)
        wide = float(weights[0] * laplace_error(noise.scale, miss))
    elif len(weights) == 1 and isinstance(noise, Gaussian):
        miss = miss_probability(confidence, 1)
        wide = float(weights[0]) * (gaussian_error(noise.scale, miss) + float(noise.step))
    else:
        wide = float(half_widths(as_floats(reading.weights)[None, :], noise, confidence)[0])
    return float(floor(wide + 0.5)) if reading.is_whole else wide


def expected_mean(reading: Mean, noise: Noise, confidence: Fraction) -> PerCount:
    """Return ± of a mean in a group of n rows, where all values are at one end: the widest."""
    count, first = as_floats(reading.count), as_floats(reading.first)
    width = float(reading.high - reading.low)
    slopes = np.array([width * (first - share * count) for share in (0.0, 0.5, 1.0)])
    return PerCount(numerator=float(half_widths(slopes, noise, confidence).max()))


def expected_variance(reading: Variance, noise: Noise, confidence: Fraction) -> PerCount:
    """Return ± of a variance or deviation in a group of n rows, the widest of some shapes."""
    shares = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    first = np.concatenate([shares, shares])
    second = np.concatenate([shares**2, shares])
    slopes = variance_slopes(reading, np.ones(len(first)), first, second)
    numerator = float(half_widths(slopes, noise, confidence).max())
    if not reading.is_root:
        return PerCount(numerator=numerator)
    # |√v - √w| ≤ √|v - w|.
    return PerCount(numerator=sqrt(numerator), power=Fraction(1, 2))


def variance_slopes(
    reading: Variance, count: FloatArray, first: FloatArray, second: FloatArray
) -> FloatArray:
    """Return how fast the variance changes with each cell, where the moments are these shares.

    v = S/n - (F/n)², so that dv = (dS - S/n dn)/n - 2 F/n (dF - F/n dn)/n.
    """
    c, f, s = (as_floats(each) for each in (reading.count, reading.first, reading.second))
    by_second = s[None, :] - second[:, None] * c[None, :]
    by_first = f[None, :] - first[:, None] * c[None, :]
    slopes: FloatArray = (by_second - 2 * first[:, None] * by_first) / count[:, None]
    return slopes * float(reading.width) ** 2


def as_floats(weights: Weights) -> FloatArray:
    """Return weights for NumPy."""
    return np.array([float(each) for each in weights])
