"""Covariance, correlation and regression from noisy moments of pairs: arithmetic only.

Moments are shares: u and v lie in [0, 1], as x and y lie between their bounds. Everything here is
about the noise that the moments have, and is free.

A ratio N / V, such as a slope, has the interval of all ratios p for which N - p V is no farther
from 0 than its noise takes it (Fieller 1954). That stays true where V is small. Where V itself may
be 0 the interval has no end.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

Weights = tuple[Fraction, ...]

Margins = Callable[[FloatArray], FloatArray]
"""From weights of noisy components, a row for each group, to the ± of their weighted sums."""


class PairStatistic(Enum):
    """What is computed from the moments of pairs."""

    COVARIANCE = "covariance"
    PRODUCTS = "sum of products about the means"
    SQUARES = "sum of squares of x about its mean"
    SLOPE = "slope"
    INTERCEPT = "intercept"
    CORRELATION = "correlation"
    DETERMINATION = "square of the correlation"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairEstimator:
    """A statistic of the moments of pairs, which are weighted sums of a measure's components."""

    measure: int
    statistic: PairStatistic
    count: Weights
    x: Weights
    y: Weights
    xx: Weights
    xy: Weights
    yy: Weights
    x_low: Fraction
    x_width: Fraction
    y_low: Fraction
    y_width: Fraction
    is_sample: bool = False

    @property
    def moments(self) -> tuple[Weights, ...]:
        """The weights of Σ1, Σu, Σv, Σu², Σuv and Σv², in this order."""
        return (self.count, self.x, self.y, self.xx, self.xy, self.yy)


@dataclass(frozen=True, slots=True)
class Centred:
    """Moments about the means, of each group, and how fast they change with each component."""

    count: FloatArray
    mean_x: FloatArray
    mean_y: FloatArray
    xx: FloatArray
    xy: FloatArray
    yy: FloatArray
    slope_count: FloatArray
    slope_mean_x: FloatArray
    slope_mean_y: FloatArray
    slope_xx: FloatArray
    slope_xy: FloatArray
    slope_yy: FloatArray


def centred(estimator: PairEstimator, sums: tuple[FloatArray, ...]) -> Centred:
    """Return the centred moments, moved into what is possible, from the six noisy sums.

    c = P/n - (F/n) (G/n), so that dc = (dP - P/n dn)/n - F/n (dG - G/n dn)/n - G/n (dF - F/n dn)/n.
    """
    count = np.maximum(sums[0], 1)
    x, y, xx, xy, yy = (np.clip(each / count, 0, 1) for each in sums[1:])
    ones, *weights = (
        np.array([float(each) for each in weights])[None, :] for weights in estimator.moments
    )
    dx, dy, dxx, dxy, dyy = (
        (weight - share[:, None] * ones) / count[:, None]
        for weight, share in zip(weights, (x, y, xx, xy, yy), strict=True)
    )
    # A variable between 0 and 1 of mean m has a variance of m (1 - m) at most.
    widest = np.sqrt(x * (1 - x) * y * (1 - y))
    return Centred(
        count=sums[0],
        mean_x=x,
        mean_y=y,
        xx=np.clip(xx - x**2, 0, 0.25),
        xy=np.clip(xy - x * y, -widest, widest),
        yy=np.clip(yy - y**2, 0, 0.25),
        slope_count=np.repeat(ones, len(count), axis=0),
        slope_mean_x=dx,
        slope_mean_y=dy,
        slope_xx=dxx - 2 * x[:, None] * dx,
        slope_xy=dxy - x[:, None] * dy - y[:, None] * dx,
        slope_yy=dyy - 2 * y[:, None] * dy,
    )


def pair_values(estimator: PairEstimator, moments: Centred) -> FloatArray:
    """Return a statistic of each group; 0 where there are too few pairs, or none that differ."""
    x_width, y_width = float(estimator.x_width), float(estimator.y_width)
    match estimator.statistic:
        case PairStatistic.COVARIANCE:
            found = moments.xy * x_width * y_width * _factor(estimator, moments)
        case PairStatistic.PRODUCTS:
            found = moments.xy * x_width * y_width * np.maximum(moments.count, 1)
        case PairStatistic.SQUARES:
            found = moments.xx * x_width**2 * np.maximum(moments.count, 1)
        case PairStatistic.SLOPE:
            found = _ratio(moments.xy, moments.xx) * (y_width / x_width)
        case PairStatistic.INTERCEPT:
            slope = _ratio(moments.xy, moments.xx) * (y_width / x_width)
            mean_x = float(estimator.x_low) + x_width * moments.mean_x
            found = float(estimator.y_low) + y_width * moments.mean_y - slope * mean_x
        case PairStatistic.CORRELATION:
            found = _correlations(moments)
        case PairStatistic.DETERMINATION:
            found = _correlations(moments) ** 2
    return np.where(_are_too_few(estimator, moments), 0.0, found)


def pair_margins(estimator: PairEstimator, moments: Centred, margins: Margins) -> FloatArray:
    """Return ± of a statistic of each group; NaN where the noise leaves no limit."""
    area = float(estimator.x_width) * float(estimator.y_width)
    square = float(estimator.x_width) ** 2
    count = np.maximum(moments.count, 1)[:, None]
    match estimator.statistic:
        case PairStatistic.COVARIANCE:
            factor = _factor(estimator, moments)
            largest = area / (2 if estimator.is_sample else 4)
            wide = margins(moments.slope_xy) * area * factor
            few, most = largest, 2 * largest
        case PairStatistic.PRODUCTS:
            slopes = moments.slope_xy * count + moments.xy[:, None] * moments.slope_count
            wide, few, most = margins(slopes) * area, np.nan, np.inf
        case PairStatistic.SQUARES:
            slopes = moments.slope_xx * count + moments.xx[:, None] * moments.slope_count
            wide, few, most = margins(slopes) * square, np.nan, np.inf
        case PairStatistic.SLOPE:
            wide = _ratio_margins(
                moments.xy, moments.xx, moments.slope_xy, moments.slope_xx, margins
            )
            wide, few, most = wide * area / square, np.nan, np.inf
        case PairStatistic.INTERCEPT:
            wide, few, most = _intercept_margins(estimator, moments, margins), np.nan, np.inf
        case PairStatistic.CORRELATION:
            wide, few, most = _correlation_margins(moments, margins), 1.0, np.inf
        case PairStatistic.DETERMINATION:
            found = np.abs(_correlations(moments))
            above = np.minimum(found + _correlation_margins(moments, margins), 1)
            below = np.maximum(found - _correlation_margins(moments, margins), 0)
            wide = np.maximum(above**2 - found**2, found**2 - below**2)
            few, most = 1.0, 1.0
    return np.where(_are_too_few(estimator, moments), few, np.minimum(wide, most))


def _factor(estimator: PairEstimator, moments: Centred) -> FloatArray:
    count = np.maximum(moments.count, 1)
    return count / np.maximum(count - 1, 1) if estimator.is_sample else np.ones(len(count))


def _are_too_few(estimator: PairEstimator, moments: Centred) -> NDArray[np.bool_]:
    sums = {PairStatistic.PRODUCTS, PairStatistic.SQUARES}
    is_of_one = estimator.statistic in sums or (
        estimator.statistic is PairStatistic.COVARIANCE and not estimator.is_sample
    )
    return np.asarray(moments.count < (1 if is_of_one else 2))


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return quotients, 0 where the divisor is not above 0."""
    return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1), 0.0)


def _ratio_margins(
    top: FloatArray,
    bottom: FloatArray,
    slope_top: FloatArray,
    slope_bottom: FloatArray,
    margins: Margins,
) -> FloatArray:
    """Return ± of N / V: h with h V = m(dN - p dV) + h m(dV), which is Fieller's or wider.

    Any ratio p + h is farther away than the noise of N - (p + h) V takes it, which is at most the
    right-hand side.
    """
    ratio = _ratio(top, bottom)
    wide = margins(slope_top - ratio[:, None] * slope_bottom)
    clear = bottom - margins(slope_bottom)
    return np.where(clear > 0, wide / np.where(clear > 0, clear, 1), np.nan)


def _intercept_margins(estimator: PairEstimator, moments: Centred, margins: Margins) -> FloatArray:
    """Return ± of the mean of y minus slope times the mean of x, as a ratio over the variance."""
    x_width, y_width = float(estimator.x_width), float(estimator.y_width)
    mean_x = (float(estimator.x_low) / x_width + moments.mean_x)[:, None]
    mean_y = (float(estimator.y_low) / y_width + moments.mean_y)[:, None]
    xx, xy = moments.xx[:, None], moments.xy[:, None]
    top = (mean_y * xx - mean_x * xy)[:, 0]
    slope_top = (
        moments.slope_mean_y * xx
        + mean_y * moments.slope_xx
        - moments.slope_mean_x * xy
        - mean_x * moments.slope_xy
    )
    return y_width * _ratio_margins(top, moments.xx, slope_top, moments.slope_xx, margins)


def _correlations(moments: Centred) -> FloatArray:
    return np.clip(_ratio(moments.xy, np.sqrt(moments.xx * moments.yy)), -1, 1)


def _correlation_margins(moments: Centred, margins: Margins) -> FloatArray:
    """Return ± of xy / √(xx yy); everything from -1 to 1 where a variance may be 0.

    √(xx yy) ≤ (k xx + yy / k) / 2 for every k, with equality for k = √(yy / xx): so the k that the
    noisy moments give is off in second order only.
    """
    spread = np.sqrt(moments.xx * moments.yy)
    found = np.clip(_ratio(moments.xy, spread), -1, 1)
    k = np.sqrt(_ratio(moments.yy, moments.xx))[:, None]
    inverse = np.sqrt(_ratio(moments.xx, moments.yy))[:, None]
    slope = (k * moments.slope_xx + inverse * moments.slope_yy) / 2
    top = found * spread
    wide = _ratio_margins(top, spread, moments.slope_xy, slope, margins)
    whole = 1 + np.abs(found)
    are_clear = (moments.xx > margins(moments.slope_xx)) & (moments.yy > margins(moments.slope_yy))
    return np.where(are_clear & (wide < whole), wide, whole)
