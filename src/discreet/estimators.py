"""Statistics from noisy components, and their margins, before and after release: arithmetic only.

A margin is the half width of a confidence interval, and covers the noise alone. Nothing here costs
anything: the noise has been drawn, or is only planned.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor, lcm, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.accuracy import gaussian_accuracy, laplace_accuracy, miss_probability
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.margins import gaussian_margin, laplace_margin
from discreet.pair_moments import (
    Centred,
    PairEstimator,
    PairStatistic,
    centred,
    pair_margins,
    pair_values,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Noise = Geometric | Gaussian

Weights = tuple[Fraction, ...]
"""What each component of a measure counts for in a statistic."""

SAFE = 1 << 62
"""Sums of products that stay below are computed with 64-bit integers, others with unbounded."""


# --------------------------------------------------------------------------- estimators


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearEstimator:
    """A statistic that is a weighted sum of a measure's components."""

    measure: int
    weights: Weights
    is_integer: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimator:
    """low + width · first / count, moved into the bounds; their middle where count is below 1."""

    measure: int
    count: Weights
    first: Weights
    low: Fraction
    high: Fraction
    """Of the ruler, which may end a little beyond the bounds."""
    most: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceEstimator:
    """The second moment about the mean of a measure of degree 2, or its root."""

    measure: int
    count: Weights
    first: Weights
    second: Weights
    width: Fraction
    is_sample: bool
    is_root: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedValue:
    """The value that a mechanism selected: a quantile, an extreme or a mode."""

    selection: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCount:
    """The noisy count by which the key of a group was selected."""


ComponentEstimator = LinearEstimator | MeanEstimator | VarianceEstimator | PairEstimator
"""How a statistic follows from noisy components."""

Estimator = ComponentEstimator | SelectedValue | KeyCount
"""How an aggregate follows from all that is released of its group."""


# --------------------------------------------------------------------------- before release


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginPerCount:
    """± numerator / n ** power in a group of n rows that have a value."""

    numerator: float
    power: Fraction = Fraction(1)
    is_typical: bool = False
    """Whether it is that of values spread evenly between their bounds, and others have more."""

    def at(self, count: float) -> float:
        """Return the margin in a group of `count` rows."""
        return self.numerator / float(count ** float(self.power))


@dataclass(frozen=True, slots=True, kw_only=True)
class RankMargin:
    """The rank of the value is at most `rows` away from the one asked for."""

    rows: float


ExpectedMargin = float | MarginPerCount | RankMargin | None
"""A margin; None where there is none, as for the most common value."""


def margins(weights: FloatArray, noise: Noise, confidence: Fraction) -> FloatArray:
    """Return ± of a weighted sum of a group's noisy components, for each row of weights."""
    size = np.abs(weights)
    if isinstance(noise, Gaussian):
        # By a power of two, which rounds nothing: squares of large weights would overflow.
        unit: FloatArray = np.exp2(np.frexp(size.max(axis=1, initial=0.0))[1])
        shares = size / unit[:, None]
        wide: FloatArray = unit * gaussian_margin(shares**2 * float(noise.variance), confidence)
        return wide
    return laplace_margin(size * float(noise.scale), confidence)


def linear_margin(estimator: LinearEstimator, noise: Noise, confidence: Fraction) -> float:
    """Return ± of a weighted sum of components: the same for every group.

    A single component has the exact error of its whole-numbered noise.
    """
    weights = [abs(each) for each in estimator.weights if each]
    if len(weights) == 1 and isinstance(noise, Geometric):
        miss = miss_probability(confidence, 1)
        wide = float(weights[0] * laplace_accuracy(noise.scale, miss))
    elif len(weights) == 1 and isinstance(noise, Gaussian):
        miss = miss_probability(confidence, 1)
        wide = float(weights[0]) * (gaussian_accuracy(noise.scale, miss) + float(noise.step))
    else:
        wide = float(margins(as_floats(estimator.weights)[None, :], noise, confidence)[0])
    return float(floor(wide + 0.5)) if estimator.is_integer else wide


def expected_mean_margin(
    estimator: MeanEstimator, noise: Noise, confidence: Fraction
) -> MarginPerCount:
    """Return ± of a mean in a group of n rows, where all values are at one end: the widest."""
    count, first = as_floats(estimator.count), as_floats(estimator.first)
    width = float(estimator.high - estimator.low)
    slopes = np.array([width * (first - share * count) for share in (0.0, 0.5, 1.0)])
    return MarginPerCount(numerator=float(margins(slopes, noise, confidence).max()))


def expected_variance_margin(
    estimator: VarianceEstimator, noise: Noise, confidence: Fraction
) -> MarginPerCount:
    """Return ± of a variance or deviation in a group of n rows, the widest of some shapes."""
    shares = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    first = np.concatenate([shares, shares])
    second = np.concatenate([shares**2, shares])
    slopes = variance_slopes(estimator, np.ones(len(first)), first, second)
    numerator = float(margins(slopes, noise, confidence).max())
    if not estimator.is_root:
        return MarginPerCount(numerator=numerator)
    # |√v - √w| ≤ √|v - w|.
    return MarginPerCount(numerator=sqrt(numerator), power=Fraction(1, 2))


def variance_slopes(
    estimator: VarianceEstimator, count: FloatArray, first: FloatArray, second: FloatArray
) -> FloatArray:
    """Return how fast the variance changes with each component, where the moments are these shares.

    v = S/n - (F/n)², so that dv = (dS - S/n dn)/n - 2 F/n (dF - F/n dn)/n.
    """
    c, f, s = (as_floats(each) for each in (estimator.count, estimator.first, estimator.second))
    by_second = s[None, :] - second[:, None] * c[None, :]
    by_first = f[None, :] - first[:, None] * c[None, :]
    slopes: FloatArray = (by_second - 2 * first[:, None] * by_first) / count[:, None]
    return slopes * float(estimator.width) ** 2


def expected_pair_margin(
    estimator: PairEstimator, noise: Noise, confidence: Fraction
) -> float | MarginPerCount:
    """Return ± of a statistic of n pairs: the widest of some shapes, of ratios that of even values.

    Ratios have a wider one where x or y varies less, so that none is the widest.
    """
    area = float(estimator.x_width) * float(estimator.y_width)
    match estimator.statistic:
        case PairStatistic.COVARIANCE:
            moments = centred(estimator, PAIR_SHAPES)
            wide = float(margins(moments.slope_xy, noise, confidence).max())
            return MarginPerCount(numerator=wide * area)
        case PairStatistic.PRODUCTS | PairStatistic.SQUARES:
            moments = centred(estimator, PAIR_SHAPES)
            wides = pair_margins(estimator, moments, lambda each: margins(each, noise, confidence))
            return float(wides.max())
        case _:
            moments = centred(estimator, EVEN_PAIRS)
            wides = pair_margins(estimator, moments, lambda each: margins(each, noise, confidence))
            return MarginPerCount(numerator=float(wides[0]) * MANY_PAIRS, is_typical=True)


MANY_PAIRS = 1e12
"""So many that their noise is all but nothing, and margins are in inverse proportion to it."""


EVEN_PAIRS = tuple(np.array([MANY_PAIRS * share]) for share in (1, 0.5, 0.5, 1 / 3, 0.3, 1 / 3))
"""Sums over u and v that are spread evenly over [0, 1], with a correlation of 0.6."""


def _pair_shapes() -> tuple[FloatArray, ...]:
    """Return sums over one pair, by means of u and v and means of u v that these allow."""
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    x, y, mix = (each.ravel() for each in np.meshgrid(shares, shares, (0.0, 0.5, 1.0)))
    both = mix * np.minimum(x, y) + (1 - mix) * np.maximum(0.0, x + y - 1)
    return np.ones(len(x)), x, y, x, both, y


PAIR_SHAPES = _pair_shapes()


def as_floats(weights: Weights) -> FloatArray:
    """Return weights for NumPy."""
    return np.array([float(each) for each in weights])


# --------------------------------------------------------------------------- after release


def values_of(estimator: ComponentEstimator, components: IntArray) -> IntArray | FloatArray:
    """Return a statistic of each group from its noisy components, a row for each group."""
    match estimator:
        case LinearEstimator(is_integer=True):
            return _rounded(estimator.weights, components)
        case LinearEstimator():
            return _weighted(components, estimator.weights)
        case MeanEstimator():
            return _means(estimator, components)
        case VarianceEstimator():
            return _variances(estimator, components)
        case PairEstimator():
            return pair_values(estimator, _centred(estimator, components))


def margins_of(
    estimator: ComponentEstimator, components: IntArray, noise: Noise, confidence: Fraction
) -> FloatArray:
    """Return ± of a statistic of each group; of ratios, to first order in the noise."""
    match estimator:
        case LinearEstimator():
            return np.full(len(components), linear_margin(estimator, noise, confidence))
        case MeanEstimator():
            return _mean_margins(estimator, components, noise, confidence)
        case VarianceEstimator():
            return _variance_margins(estimator, components, noise, confidence)
        case PairEstimator():
            moments = _centred(estimator, components)
            return pair_margins(estimator, moments, lambda each: margins(each, noise, confidence))


def combined(
    components: NDArray[np.generic], rows: tuple[tuple[int, ...], ...]
) -> NDArray[np.generic]:
    """Return whole combinations of whole numbers, exactly, whatever their size."""
    largest = [max(int(each.max(initial=0)), -int(each.min(initial=0))) for each in components.T]
    most = max(sum(abs(a) * x for a, x in zip(row, largest, strict=True)) for row in rows)
    are_small = most < SAFE and all(abs(a) < SAFE for row in rows for a in row)
    kind = np.int64 if components.dtype != object and are_small else object
    return np.asarray(components.astype(kind) @ np.array(rows, dtype=kind).T)


def _rounded(weights: tuple[Fraction, ...], components: IntArray) -> IntArray:
    """Return weighted sums to the nearest whole number, halves upwards."""
    bottom = lcm(*(each.denominator for each in weights))
    top = combined(components, (tuple(int(each * bottom) for each in weights),))[:, 0]
    if top.dtype != object and bottom < SAFE:
        return np.asarray((top + bottom // 2) // bottom, np.int64)
    inside = [max(-SAFE, min(SAFE, (2 * int(each) + bottom) // (2 * bottom))) for each in top]
    return np.array(inside, np.int64)


def _weighted(components: IntArray, weights: tuple[Fraction, ...]) -> FloatArray:
    return np.asarray(components.astype(np.float64) @ as_floats(weights))


def _counted(components: IntArray, weights: tuple[Fraction, ...]) -> FloatArray:
    """Return weighted sums, divided at the end: a count of 1 is not a little less than 1."""
    bottom = lcm(*(each.denominator for each in weights))
    top = combined(components, (tuple(int(each * bottom) for each in weights),))[:, 0]
    return np.asarray(np.true_divide(top, bottom), np.float64)


def _centred(estimator: PairEstimator, components: IntArray) -> Centred:
    count, *others = estimator.moments
    sums = (_counted(components, count), *(_weighted(components, each) for each in others))
    return centred(estimator, sums)


def _means(estimator: MeanEstimator, components: IntArray) -> FloatArray:
    count, share = _shares(estimator, components)
    low, most = float(estimator.low), float(estimator.most)
    value = low + float(estimator.high - estimator.low) * share
    return np.where(count < 1, (low + most) / 2, np.clip(value, low, most))


def _shares(estimator: MeanEstimator, components: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return each group's noisy count, and its mean as a share of the width."""
    count = _counted(components, estimator.count)
    return count, _weighted(components, estimator.first) / np.maximum(count, 1)


def _mean_margins(
    estimator: MeanEstimator, components: IntArray, noise: Noise, confidence: Fraction
) -> FloatArray:
    # F/n - (F + f)/(n + e) = (F/n e - f) / n, to first order in the noises e and f.
    count, share = _shares(estimator, components)
    width = float(estimator.high - estimator.low)
    first, ones = as_floats(estimator.first), as_floats(estimator.count)
    inside = np.clip(share, 0, 1)[:, None]
    slopes = width * (first[None, :] - inside * ones[None, :]) / np.maximum(count, 1)[:, None]
    most = float(estimator.most - estimator.low)
    wide = np.minimum(margins(slopes, noise, confidence), most)
    return np.where(count < 1, most / 2, wide)


def _moments(
    estimator: VarianceEstimator, components: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return count, both moments as shares, and what a variance is multiplied by for a sample."""
    count = _counted(components, estimator.count)
    at_least_one = np.maximum(count, 1)
    first = np.clip(_weighted(components, estimator.first) / at_least_one, 0, 1)
    second = np.clip(_weighted(components, estimator.second) / at_least_one, 0, 1)
    factor = np.ones(len(count))
    if estimator.is_sample:
        factor = at_least_one / np.maximum(at_least_one - 1, 1)
    return count, first, second, factor


def _variances(estimator: VarianceEstimator, components: IntArray) -> FloatArray:
    """Return variances moved into what is possible; its middle where the count is too small."""
    count, first, second, factor = _moments(estimator, components)
    square = float(estimator.width) ** 2
    value = np.clip(second - first**2, 0, 0.25) * square * factor
    found = np.where(_is_too_small(estimator, count), _largest(estimator) / 2, value)
    return np.sqrt(found) if estimator.is_root else found


def _variance_margins(
    estimator: VarianceEstimator, components: IntArray, noise: Noise, confidence: Fraction
) -> FloatArray:
    count, first, second, factor = _moments(estimator, components)
    largest = _largest(estimator)
    slopes = variance_slopes(estimator, np.maximum(count, 1), first, second)
    wide = np.minimum(margins(slopes * factor[:, None], noise, confidence), largest)
    wide = np.where(_is_too_small(estimator, count), largest / 2, wide)
    if not estimator.is_root:
        return wide
    root = _variances(estimator, components)
    above = np.sqrt(root**2 + wide) - root
    below = root - np.sqrt(np.maximum(root**2 - wide, 0))
    return np.maximum(above, below)


def _largest(estimator: VarianceEstimator) -> float:
    """Return the largest variance that there is: half at each end, of two values for a sample."""
    return float(estimator.width) ** 2 / (2 if estimator.is_sample else 4)


def _is_too_small(estimator: VarianceEstimator, count: FloatArray) -> NDArray[np.bool_]:
    return np.asarray(count < (2 if estimator.is_sample else 1))
