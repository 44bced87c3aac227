"""What counts of trials prove: intervals of a probability, and bounds on epsilon and delta.

An event S has the probabilities p = P(here ∈ S) and q = P(there ∈ S). Every
(epsilon, delta)-differentially private mechanism has p ≤ e^epsilon · q + delta. If p ≥ p_low and
q ≤ q_high each hold except with probability miss / 2, then by the union bound, except with
probability miss,

    epsilon ≥ ln((p_low - delta) / q_high)    if delta is as claimed,
    delta   ≥ p_low - e^epsilon · q_high      if epsilon is as claimed.

The event must be fixed before the runs that it is counted in. Several events, and the same event in
the other direction, are several pairs of intervals. Each gets its share of the miss, and the
largest of their bounds then holds except with probability miss in total (Bonferroni).
"""

from dataclasses import dataclass
from math import exp, inf, log
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv, ndtri

FloatArray: TypeAlias = NDArray[np.float64]


ROUNDED = 1e-9
"""Every exact bound is widened by this share: far more than the quantiles' own error in floats."""


def probability_at_least(hits: int, trials: int, miss: float) -> float:
    """Return a lower bound on the probability of a hit that is wrong with probability ≤ `miss`.

    It is the p at which `hits` or more of the trials hit with probability `miss`, the quantile of
    Beta(hits, trials - hits + 1). It exceeds the true probability only if the number of hits is
    among the largest outcomes, which have probability `miss` together (Clopper, Pearson 1934).
    """
    if hits == 0:
        return 0.0
    return float(betaincinv(hits, trials - hits + 1, miss)) * (1 - ROUNDED)


def probability_at_most(hits: int, trials: int, miss: float) -> float:
    """Return an upper bound on the probability of a hit that is wrong with probability ≤ `miss`.

    The quantile of Beta(hits + 1, trials - hits), by the same argument (Clopper, Pearson 1934).
    """
    if hits == trials:
        return 1.0
    return min(1.0, float(betainccinv(hits + 1, trials - hits, miss)) * (1 + ROUNDED))


def score_interval(hits: FloatArray, trials: int, z: float) -> tuple[FloatArray, FloatArray]:
    """Return approximate intervals for many counts at once, z standard errors wide (Wilson 1927).

    They are fast and prove nothing: use them to compare, and the exact bounds to conclude.
    """
    middle = (hits + z * z / 2) / (trials + z * z)
    margin = z / (trials + z * z) * np.sqrt(hits * (trials - hits) / trials + z * z / 4)
    return np.maximum(middle - margin, 0), np.minimum(middle + margin, 1)


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How often an event happened in a number of independent runs."""

    hits: int
    runs: int

    @property
    def share(self) -> float:
        return self.hits / self.runs


def epsilon_down(more: Count, fewer: Count, *, delta: float = 0.0, miss: float) -> float:
    """Return a lower bound on epsilon, given delta. It is wrong with probability at most `miss`.

    Every mechanism has epsilon ≥ 0, so the bound is 0 or more.
    """
    p_low = probability_at_least(more.hits, more.runs, miss / 2)
    q_high = probability_at_most(fewer.hits, fewer.runs, miss / 2)
    return max(0.0, log((p_low - delta) / q_high)) if p_low > delta else 0.0


def delta_down(more: Count, fewer: Count, *, epsilon: float, miss: float) -> float:
    """Return a lower bound on delta, given epsilon. It is wrong with probability at most `miss`."""
    p_low = probability_at_least(more.hits, more.runs, miss / 2)
    q_high = probability_at_most(fewer.hits, fewer.runs, miss / 2)
    times = exp(epsilon) if epsilon < 700 else inf
    return max(0.0, p_low - times * q_high)


def likely_shares(
    more: ArrayLike, fewer: ArrayLike, *, runs: tuple[int, int], miss: float
) -> tuple[Floats, Floats]:
    """Return approximate intervals for many events at once, to compare the events.

    Score intervals (Wilson 1927) are fast but prove nothing. Every event that they select is
    counted again in other runs.
    """
    z = -float(ndtri(miss / 2))
    low, _ = score_interval(np.asarray(more, np.float64), runs[0], z)
    _, high = score_interval(np.asarray(fewer, np.float64), runs[1], z)
    return low, high
