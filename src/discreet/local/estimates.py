"""Estimates from tallies: how many people hold each value of a frequency oracle.

`estimate_tally` dispatches on the mechanism. Frequency oracles are its default; other mechanisms
register their own estimates where those are written.
"""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import singledispatch
from math import log, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet.errors import ReportError
from discreet.local.mechanism import FrequencyOracle, check_mechanism, mean_variance
from discreet.local.reports import Tally
from discreet.noise.uniform import BoolArray, FloatArray, IntArray

NEWTON_STEPS = 12
"""Each step doubles the digits of an interval's end, once it is within half of the width."""

OUTWARDS = 1e-7
"""Intervals are widened by this part of their width: more than floats can lose."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimates:
    """How many of `people` hold each value. Counts are unbiased, so some may be negative.

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
        """The counts as shares of all people; 0 if there are no people."""
        return self.counts / max(1, self.people)

    def consistent(self) -> FloatArray:
        """Return the nearest counts that are not negative and sum to the number of people.

        They have a smaller total error, but they are biased, and so are sums of them.
        """
        return nearest_counts(self.counts, self.people)


class Correction(Enum):
    """How several significance tests at once are corrected."""

    BONFERRONI = "bonferroni"
    """Any text that nobody holds is selected with probability at most `level`."""
    BENJAMINI_HOCHBERG = "benjamini-hochberg"
    """On average, at most the share `level` of the selected texts is held by nobody."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RapporEstimates:
    """How many of `people` hold each listed text, and which texts are significant.

    If there are fewer texts than bits in all cohorts, counts are unbiased (weighted least squares).
    Otherwise non-negative least squares choose which texts are fitted; the others have a count of 0
    and an infinite error. `p_values` are one-sided, by the normal approximation.
    """

    people: int
    texts: tuple[str, ...]
    counts: FloatArray
    standard_errors: FloatArray
    influence: FloatArray
    """The approximate most by which one more report, even a malicious one, moves each count.

    It is approximate because that report also changes the weights of the fit a little.
    """
    p_values: FloatArray
    selected: BoolArray
    level: Fraction
    correction: Correction


@singledispatch
def estimate_tally(mechanism: Any, tally: Tally[Any], confidence: Fraction, **asked: Any) -> Any:
    """Return the estimates of a mechanism; `asked` holds the arguments that only some of them take.

    The default is a frequency oracle's: how many people hold each value.
    """
    rule = "must be a mechanism whose estimates are known, such as KaryResponse(epsilon=1, ...)"
    check_mechanism(mechanism, "support_counts", "p", "q", rule=rule)
    return _frequencies(tally, confidence, **asked)


def _frequencies(tally: Tally[FrequencyOracle], confidence: Fraction) -> Estimates:
    return estimates_from_support(tally.mechanism, support_counts(tally), tally.people, confidence)


def support_counts(tally: Tally[FrequencyOracle]) -> IntArray:
    """Return how many reports support each value, or reject counts that are impossible."""
    counts = tally.mechanism.support_counts(tally.counters, tally.people)
    if not (counts.min() >= 0 and counts.max() <= tally.people):
        raise ReportError(f"reports of {tally.mechanism!r} cannot add up to these counts")
    return counts


def estimates_from_support(
    mechanism: FrequencyOracle, support: IntArray, people: int, confidence: Fraction
) -> Estimates:
    """Return the estimates, given how many of the reports support each value.

    A value that c of n reports support is held by (c - n q) / (p - q) people on average. The
    variance is that of a value held by the estimated number (Wang et al. 2017, Theorem 2).
    """
    p, q = float(mechanism.p), float(mechanism.q)
    gap = float(mechanism.p - mechanism.q)
    counts: FloatArray = (support.astype(np.float64) - people * q) / gap
    held = np.clip(counts, 0, people)
    variance = (held * p * (1 - p) + (people - held) * q * (1 - q)) / gap**2
    miss = (1 - confidence) / mechanism.categories
    low, high = probability_intervals(support, people, float(miss))
    return Estimates(
        people=people,
        confidence=confidence,
        counts=counts,
        standard_errors=np.sqrt(variance),
        low=(people * low - people * q) / gap,
        high=(people * high - people * q) / gap,
    )


def probability_intervals(
    hits: IntArray, trials: int, miss: float
) -> tuple[FloatArray, FloatArray]:
    """Return intervals for the mean probability of trials, each wrong with probability ≤ `miss`.

    P(hits / n ≥ x) ≤ exp(-n KL(x, μ)) for x ≥ μ, and likewise below (Hoeffding 1963, Theorem 1): an
    end is where that equals miss / 2. The trials are independent. Both ends are rounded outwards.
    """
    if not trials:
        return np.zeros(len(hits)), np.ones(len(hits))
    seen: FloatArray = hits.astype(np.float64) / trials
    most = log(2 / miss) / trials
    return 1 - _upper_end(1 - seen, most), _upper_end(seen, most)


def _upper_end(seen: FloatArray, most: float) -> FloatArray:
    """Return the largest mean whose divergence from what was seen is `most`, rounded up.

    The divergence is convex in the mean, so Newton steps that start beyond the end never pass it.
    Two points are beyond it: seen + √(most / 2) by Pinsker's inequality, and the point where the
    tails' part of the divergence alone is `most`.
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

    The same amount is taken from all counts, and negative results are set to zero ("norm-sub";
    Duchi et al. 2008, Figure 1).
    """
    falling = np.sort(counts)[::-1]
    taken = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    last = max(1, int(np.count_nonzero(falling > taken))) - 1
    nearest: FloatArray = np.maximum(counts - taken[last], 0.0)
    return nearest


def standard_error(mechanism: FrequencyOracle, people: int) -> float:
    """Return the root mean square error of the estimated counts; the same for all data."""
    p, q, k = mechanism.p, mechanism.q, mechanism.categories
    return sqrt(people * mean_variance(p, q, k))


def normal_margin(confidence: Fraction, answers: int) -> float:
    """Return how many standard errors hold for all of `answers` normal estimates at once."""
    return -NormalDist().inv_cdf(float(1 - confidence) / (2 * answers))
