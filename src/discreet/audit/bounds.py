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
from scipy.special import ndtri

from discreet.binomial import probability_at_least, probability_at_most, score_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How often an event happened in so many independent runs."""

    hits: int
    runs: int

    @property
    def share(self) -> float:
        return self.hits / self.runs


def epsilon_down(more: Count, fewer: Count, *, delta: float = 0.0, miss: float) -> float:
    """Return an epsilon that no less will do, given delta, but for a chance of `miss`; 0 or more.

    Every mechanism has epsilon ≥ 0, so that a bound below 0 says as much as 0.
    """
    p_low = probability_at_least(more.hits, more.runs, miss / 2)
    q_high = probability_at_most(fewer.hits, fewer.runs, miss / 2)
    return max(0.0, log((p_low - delta) / q_high)) if p_low > delta else 0.0


def delta_down(more: Count, fewer: Count, *, epsilon: float, miss: float) -> float:
    """Return a delta that no less will do, given epsilon, but for a chance of `miss`; 0 or more."""
    p_low = probability_at_least(more.hits, more.runs, miss / 2)
    q_high = probability_at_most(fewer.hits, fewer.runs, miss / 2)
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
    low, _ = score_interval(np.asarray(more, np.float64), runs[0], z)
    _, high = score_interval(np.asarray(fewer, np.float64), runs[1], z)
    return low, high
