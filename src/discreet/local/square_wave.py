"""The square wave mechanism, and the histogram that its reports give."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, expm1
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.deprecated import Renamed
from discreet.local.estimates import estimate_tally
from discreet.local.mechanism import (
    PureCharge,
    ReportArray,
    ReportFormat,
    call_text,
    checked_epsilon,
    freeze_fields,
    integer_format,
)
from discreet.local.numeric import FINE, NearWindow, checked_bounds, fine_steps
from discreet.local.reports import Tally, check_counts
from discreet.noise import SYSTEM, Entropy, uniform_integers
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, flag, integer

BUCKETS_MOST = 4096

ROUNDS_MOST = 10_000
"""The most rounds of expectation maximization."""

FINE_FROM = 32
"""From this number of buckets on, neighbouring buckets are similar enough to be smoothed."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SquareWave:
    """Epsilon-locally private: report a position near the value's bucket, or any other.

    Values between the bounds fall into equal buckets. The report is drawn from a `NearWindow` whose
    width maximizes the information in a report (Li et al. 2020, Section 5.1, discrete form). The
    server finds the histogram that best explains the reports.
    """

    tag: ClassVar[str] = "square-wave/1"
    epsilon: Fraction
    bounds: tuple[Fraction, Fraction]
    buckets: int
    window: NearWindow = field(init=False)

    def __init__(
        self, *, epsilon: Real, bounds: tuple[Real, Real] = (0, 1), buckets: int = 64
    ) -> None:
        exact = checked_epsilon(epsilon)
        positions = integer("buckets", buckets, least=2, most=BUCKETS_MOST)
        width = max(1, round(2 * half_width(float(exact)) * positions))
        freeze_fields(
            self,
            epsilon=exact,
            bounds=checked_bounds(bounds),
            buckets=positions,
            window=NearWindow.of(exact, positions=positions, width=width),
        )

    __repr__ = call_text

    event = PureCharge()

    @property
    def report_format(self) -> ReportFormat:
        return integer_format(16)

    @property
    def counters(self) -> int:
        return self.window.reports

    def encode(self, values: ArrayLike) -> IntArray:
        return fine_steps(values, self.bounds)

    def draw(self, encoded: IntArray, entropy: Entropy) -> ReportArray:
        """Return a report for each value, given in steps of the fine grid."""
        positions = np.minimum(encoded * self.buckets // FINE, self.buckets - 1)
        return self.window.draw(positions, entropy).astype(np.uint16)

    def are_valid(self, reports: ReportArray) -> bool:
        return not len(reports) or bool(reports.max() < self.window.reports)

    def tally(self, reports: ReportArray) -> IntArray:
        return np.bincount(reports.astype(np.int64), minlength=self.counters)

    def distribution(self, step: int) -> list[Fraction]:
        """Return the exact probability of each report, given a value in steps of the fine grid."""
        return self.window.distribution(min(step * self.buckets // FINE, self.buckets - 1))

    chances = Renamed("distribution")
    cells = Renamed("counters")
    row = Renamed("report_format")


def half_width(epsilon: float) -> float:
    """Return b = (ε e^ε - e^ε + 1) / (2 e^ε (e^ε - 1 - ε)), which maximizes a report's information.

    It is computed after division by e^ε. Near 0 it is a quotient of two zeros; its limit is 1/2.
    """
    if epsilon < 1e-3:
        return 0.5 - epsilon / 6
    return (epsilon + expm1(-epsilon)) / (2 * (expm1(epsilon) - epsilon))


# --------------------------------------------------------------------------- the histogram


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Histogram:
    """Shares of all people in equal buckets between the bounds; they sum to 1.

    The shares maximize a likelihood. With few reports they are biased towards smooth shapes.
    `spread` is the standard deviation of each share in bootstrap samples of the reports.
    """

    people: int
    edges: FloatArray
    shares: FloatArray
    spread: FloatArray | None

    @property
    def mean(self) -> float:
        """The mean, with each bucket represented by its middle."""
        return float(self.shares @ (self.edges[1:] + self.edges[:-1])) / 2

    def quantile(self, level: float) -> float:
        """Return the value below which this share of the histogram lies."""
        heights = np.concatenate([[0.0], np.cumsum(self.shares)])
        return float(np.interp(level, heights / heights[-1], self.edges))


@estimate_tally.register(SquareWave)
def reconstructed(  # noqa: PLR0913 - each is an argument of `Server.estimate`
    mechanism: SquareWave,
    tally: Tally[SquareWave],
    confidence: Fraction,  # noqa: ARG001 - a histogram has no intervals
    *,
    smooth: bool | None = None,
    resamples: int = 0,
    entropy: Entropy = SYSTEM,
) -> Histogram:
    """Return the histogram that best explains the reports, by expectation maximization.

    With `smooth`, the shares are smoothed by (1, 2, 1) / 4 after each round (EMS; Li et al. 2020,
    Algorithm 1). This is better for shapes without spikes, worse for shapes with spikes, and too
    much for few buckets: the default is to smooth from 32 buckets on. Without reports, all buckets
    are equal. `resamples` bootstrap histograms give the spread.
    """
    n = tally.people
    check_counts(tally, tally.counters)
    is_smooth = mechanism.buckets >= FINE_FROM if smooth is None else flag("smooth", smooth)
    times = integer("resamples", resamples, least=0, most=10_000)
    shares = _maximized(mechanism, tally.counters, is_smooth=is_smooth)
    low, high = map(float, mechanism.bounds)
    again = [
        _maximized(mechanism, _resampled(tally.counters, entropy), is_smooth=is_smooth)
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


def _maximized(mechanism: SquareWave, counts: IntArray, *, is_smooth: bool) -> FloatArray:
    """Return shares of buckets: start with equal ones, stop when the likelihood hardly grows."""
    positions = mechanism.buckets
    shares = np.full(positions, 1 / positions)
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
    """Return for each report the sum of the shares whose window contains it."""
    sums = np.concatenate([[0.0], np.cumsum(shares)])
    y = np.arange(len(shares) + width - 1)
    return np.asarray(sums[np.minimum(y, len(shares) - 1) + 1] - sums[np.maximum(y - width + 1, 0)])


def _means(weights: FloatArray, near: float, far: float, width: int) -> FloatArray:
    """Return for each position the sum of all reports' weights, times their probabilities."""
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    inside = sums[width:] - sums[:-width]
    return np.asarray(far * sums[-1] + (near - far) * inside)


def _smoothed(shares: FloatArray) -> FloatArray:
    wide = np.pad(shares, 1, mode="edge")
    smooth = (wide[:-2] + 2 * wide[1:-1] + wide[2:]) / 4
    return np.asarray(smooth / smooth.sum())
