"""What counts of an event prove about epsilon and delta, with a stated chance of being wrong.

An event S has the chances p = P(here ∈ S) and q = P(there ∈ S). Whatever is (epsilon, delta)-DP
keeps p ≤ e^epsilon · q + delta. So whoever knows p ≥ p_low and q ≤ q_high, each but for a chance of
miss / 2, knows but for a chance of miss (union bound) that

    epsilon ≥ ln((p_low - delta) / q_high)    if delta is as claimed,
    delta   ≥ p_low - e^epsilon · q_high      if epsilon is.

The event must be fixed before the runs that it is counted in. Several events, and the same event
the other way round, are several pairs of intervals: each gets its part of the miss, and then the
largest of their bounds holds but for the whole (Bonferroni).
"""

from dataclasses import dataclass
from math import exp, inf, log

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv, ndtri

ROUNDED = 1e-9
"""By this share every interval is widened: far more than the quantiles' own error in floats."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How often an event happened in so many independent runs."""

    hits: int
    runs: int

    @property
    def share(self) -> float:
        return self.hits / self.runs


def share_down(count: Count, miss: float) -> float:
    """Return a chance that the event's own is not below, but for a chance of `miss`.

    With k hits of n it is the p at which k or more hits have the chance `miss`, the quantile of
    Beta(k, n - k + 1); it exceeds the true chance only if k is among the largest outcomes, which
    have a chance of `miss` together (Clopper, Pearson 1934).
    """
    if count.hits == 0:
        return 0.0
    low = float(betaincinv(count.hits, count.runs - count.hits + 1, miss))
    return low * (1 - ROUNDED)


def share_up(count: Count, miss: float) -> float:
    """Return a chance that the event's own is not above, but for a chance of `miss`.

    Beta(k + 1, n - k), for the same reason from the other side (Clopper, Pearson 1934).
    """
    if count.hits == count.runs:
        return 1.0
    high = float(betainccinv(count.hits + 1, count.runs - count.hits, miss))
    return min(1.0, high * (1 + ROUNDED))


def epsilon_down(more: Count, fewer: Count, *, delta: float = 0.0, miss: float) -> float:
    """Return an epsilon that no less will do, given delta, but for a chance of `miss`; 0 or more.

    Every mechanism has epsilon ≥ 0, so that a bound below 0 says as much as 0.
    """
    p_low, q_high = share_down(more, miss / 2), share_up(fewer, miss / 2)
    return max(0.0, log((p_low - delta) / q_high)) if p_low > delta else 0.0


def delta_down(more: Count, fewer: Count, *, epsilon: float, miss: float) -> float:
    """Return a delta that no less will do, given epsilon, but for a chance of `miss`; 0 or more."""
    p_low, q_high = share_down(more, miss / 2), share_up(fewer, miss / 2)
    times = exp(epsilon) if epsilon < 700 else inf
    return max(0.0, p_low - times * q_high)


def likely_shares(
    more: ArrayLike, fewer: ArrayLike, *, runs: tuple[int, int], miss: float
) -> tuple[Floats, Floats]:
    """Return about the same intervals for many events at once, to compare events by.

    Score intervals (Wilson 1927): quick, and proving nothing; whatever is found by them is counted
    again in runs of its own.
    """
    z = -float(ndtri(miss / 2))
    low, _ = _score_interval(np.asarray(more, np.float64), runs[0], z)
    _, high = _score_interval(np.asarray(fewer, np.float64), runs[1], z)
    return low, high


def _score_interval(hits: Floats, runs: int, z: float) -> tuple[Floats, Floats]:
    middle = (hits + z * z / 2) / (runs + z * z)
    reach = z / (runs + z * z) * np.sqrt(hits * (runs - hits) / runs + z * z / 4)
    return np.maximum(middle - reach, 0), np.minimum(middle + reach, 1)
