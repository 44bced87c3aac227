"""Confidence intervals of a probability, from the number of independent trials that hit."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv

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
