"""How many people hold each value: estimates without bias, their errors, and tidied counts."""

from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt

import numpy as np

from discreet.local.base import FrequencyOracle, mean_variance
from discreet.noise.uniform import FloatArray, IntArray

NEWTON_STEPS = 12
"""They double the digits of an interval's end each time, from within half of its width on."""

OUTWARDS = 1e-7
"""An interval is made wider by so much of its width: more than floats can lose."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimates:
    """How many of `people` hold each value: unbiased, so that some counts may fall below zero.

    All intervals from `low` to `high` hold at once with at least the stated confidence, for any
    number of people: Hoeffding 1963, Theorem 1, for each value, and a union bound over all.
    """

    people: int
    confidence: Fraction
    counts: FloatArray
    standard_errors: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def shares(self) -> FloatArray:
        """The counts as parts of all people; of nobody, each is 0."""
        return self.counts / max(1, self.people)

    def consistent(self) -> FloatArray:
        """Return the nearest counts that are not negative and sum to the number of people.

        They have a smaller error in all, and are biased: sums of them are no unbiased estimates.
        """
        return nearest_counts(self.counts, self.people)


def estimates_from_support(
    mechanism: FrequencyOracle, spoken_for: IntArray, people: int, confidence: Fraction
) -> Estimates:
    """Return what follows from how many of the reports speak for each value.

    A value spoken for c times of n is held by (c - n q) / (p - q) people on average; the variance
    is that of a value held by the estimated number (Wang et al. 2017, Theorem 2).
    """
    p, q = float(mechanism.own), float(mechanism.other)
    gap = float(mechanism.own - mechanism.other)
    counts: FloatArray = (spoken_for.astype(np.float64) - people * q) / gap
    held = np.clip(counts, 0, people)
    variance = (held * p * (1 - p) + (people - held) * q * (1 - q)) / gap**2
    miss = (1 - confidence) / mechanism.categories
    low, high = chance_intervals(spoken_for, people, float(miss))
    return Estimates(
        people=people,
        confidence=confidence,
        counts=counts,
        standard_errors=np.sqrt(variance),
        low=(people * low - people * q) / gap,
        high=(people * high - people * q) / gap,
    )


def chance_intervals(hits: IntArray, trials: int, miss: float) -> tuple[FloatArray, FloatArray]:
    """Return intervals for the mean chance of independent trials, each missed with ≤ `miss`.

    P(hits / n ≥ x) ≤ exp(-n KL(x, μ)) for x ≥ μ, and likewise below (Hoeffding 1963, Theorem 1):
    an end is where that equals miss / 2. Both ends are rounded outwards.
    """
    if not trials:
        return np.zeros(len(hits)), np.ones(len(hits))
    seen: FloatArray = hits.astype(np.float64) / trials
    most = log(2 / miss) / trials
    return 1 - _upper_end(1 - seen, most), _upper_end(seen, most)


def _upper_end(seen: FloatArray, most: float) -> FloatArray:
    """Return the largest mean whose divergence from what was seen is `most`, rounded up.

    The divergence is convex in the mean, so Newton's steps from beyond the end never pass it. Two
    points are beyond it: seen + √(most / 2) by Pinsker's inequality, and where the tails' part of
    the divergence alone is `most`.
    """
    rest = 1 - seen
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nan_to_num(seen * np.log(seen)) - np.nan_to_num(rest * np.log(rest))
        mean = np.minimum(seen + sqrt(most / 2), -np.expm1(-(most + entropy) / rest))
        for _ in range(NEWTON_STEPS):
            divergence = -entropy - np.nan_to_num(seen * np.log(mean)) - rest * np.log1p(-mean)
            mean = mean - (divergence - most) * mean * (1 - mean) / (mean - seen)
        end: FloatArray = np.minimum(mean + (mean - seen) * OUTWARDS, 1.0)
    return np.where(rest > 0, end, 1.0)


def nearest_counts(counts: FloatArray, total: float) -> FloatArray:
    """Return the point nearest to counts with no negative part and this sum.

    The same amount is taken from all and what falls below zero is set to it ("norm-sub"; Duchi et
    al. 2008, Figure 1).
    """
    falling = np.sort(counts)[::-1]
    taken = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    last = max(1, int(np.count_nonzero(falling > taken))) - 1
    nearest: FloatArray = np.maximum(counts - taken[last], 0.0)
    return nearest


def standard_error(mechanism: FrequencyOracle, people: int) -> float:
    """Return the root of the mean variance of the estimated counts, whoever holds what."""
    p, q, k = mechanism.own, mechanism.other, mechanism.categories
    return sqrt(people * mean_variance(p, q, k))
