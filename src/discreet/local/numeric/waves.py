"""From square-wave reports to a histogram: the distribution that explains them best."""

from dataclasses import dataclass
from math import exp

import numpy as np

from discreet.local.numeric.square_wave import SquareWave
from discreet.local.tallies import Tally, check_counts
from discreet.noise import SYSTEM, Entropy, uniform_integers
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import flag, whole

ROUNDS_MOST = 10_000
"""Rounds of expectation maximisation before it is left as it is."""

FINE_FROM = 32
"""From so many buckets on neighbours are alike enough to be smoothed."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Histogram:
    """Shares of all people in equal buckets between the bounds; they sum to 1.

    The shares maximise a likelihood and are biased towards smooth shapes where reports are few;
    `spread` is the standard deviation of each share among reports drawn anew (a bootstrap).
    """

    people: int
    edges: FloatArray
    shares: FloatArray
    spread: FloatArray | None

    @property
    def mean(self) -> float:
        """The mean, with each bucket at its middle."""
        return float(self.shares @ (self.edges[1:] + self.edges[:-1])) / 2

    def quantile(self, level: float) -> float:
        """Return the value below which this share of the histogram lies."""
        heights = np.concatenate([[0.0], np.cumsum(self.shares)])
        return float(np.interp(level, heights / heights[-1], self.edges))


def reconstruct(
    tally: Tally[SquareWave],
    *,
    smooth: bool | None = None,
    resamples: int = 0,
    entropy: Entropy = SYSTEM,
) -> Histogram:
    """Return the histogram that explains the reports best.

    By expectation maximisation, and smoothed by (1, 2, 1) / 4 after each round if `smooth` (EMS; Li
    et al. 2020, Algorithm 1): better for shapes without spikes, worse for shapes with them, and too
    much where buckets are few: by default from 32 buckets on. Of nobody, all buckets are equal.
    `resamples` bootstrap histograms tell the spread.
    """
    mechanism, n = tally.mechanism, tally.people
    check_counts(tally, tally.cells)
    is_smooth = mechanism.buckets >= FINE_FROM if smooth is None else flag("smooth", smooth)
    times = whole("resamples", resamples, least=0, most=10_000)
    shares = _maximised(mechanism, tally.cells, is_smooth=is_smooth)
    low, high = map(float, mechanism.bounds)
    again = [
        _maximised(mechanism, _resampled(tally.cells, entropy), is_smooth=is_smooth)
        for _ in range(times if n else 0)
    ]
    return Histogram(
        people=n,
        edges=np.linspace(low, high, mechanism.buckets + 1),
        shares=shares,
        spread=np.std(again, axis=0, ddof=1) if len(again) > 1 else None,
    )


def _resampled(counts: IntArray, entropy: Entropy) -> IntArray:
    n = int(counts.sum())
    drawn = uniform_integers(n, n, entropy=entropy)
    found = np.searchsorted(np.cumsum(counts), drawn, side="right")
    return np.bincount(found, minlength=len(counts))


def _maximised(mechanism: SquareWave, counts: IntArray, *, is_smooth: bool) -> FloatArray:
    """Return shares of buckets, from equal ones on until the likelihood all but stops to grow."""
    places = mechanism.buckets
    shares = np.full(places, 1 / places)
    if not counts.sum():
        return shares
    near, far = float(mechanism.window.near), float(mechanism.window.far)
    # Li et al. 2020, Section 5.5: a threshold that grows with e^ε for EM, a fixed one for EMS.
    enough = 1e-3 if is_smooth else 1e-3 * exp(float(mechanism.epsilon))
    last = -np.inf
    for _ in range(ROUNDS_MOST):
        seen = far + (near - far) * _window_sums(shares, mechanism.window.width)
        height = float(counts @ np.log(seen))
        if abs(height - last) < enough:
            break
        last = height
        shares = shares * _means(counts / seen, near, far, mechanism.window.width)
        shares /= shares.sum()
        if is_smooth:
            shares = _smoothed(shares)
    return shares


def _window_sums(shares: FloatArray, width: int) -> FloatArray:
    """Return for each report the sum of shares whose window it is in."""
    sums = np.concatenate([[0.0], np.cumsum(shares)])
    y = np.arange(len(shares) + width - 1)
    return np.asarray(sums[np.minimum(y, len(shares) - 1) + 1] - sums[np.maximum(y - width + 1, 0)])


def _means(weights: FloatArray, near: float, far: float, width: int) -> FloatArray:
    """Return for each place the sum of the weights of all reports by their chances."""
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    inside = sums[width:] - sums[:-width]
    return np.asarray(far * sums[-1] + (near - far) * inside)


def _smoothed(shares: FloatArray) -> FloatArray:
    wide = np.pad(shares, 1, mode="edge")
    smooth = (wide[:-2] + 2 * wide[1:-1] + wide[2:]) / 4
    return np.asarray(smooth / smooth.sum())
