"""Means of bounded numbers, with their errors, and which mechanism to choose for one."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import log, sqrt
from typing import TypeAlias

import numpy as np

from discreet.local.estimates import estimate_tally
from discreet.local.numeric import Duchi, Hybrid, NumericMechanism, Piecewise
from discreet.local.reports import Tally, check_counts
from discreet.noise.uniform import FloatArray
from discreet.parameters import Real

MeanMechanism: TypeAlias = Duchi | Piecewise | Hybrid


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimate:
    """The mean of all people's values, unbiased, with an interval for any number of people.

    `low` to `high` holds with at least the stated confidence. It is the better of Hoeffding's bound
    and the empirical Bernstein bound (Maurer, Pontil 2009, Theorem 4), each at half the risk. The
    standard error is that of a mean over people like these, so it includes how much they differ.
    """

    people: int
    mean: float
    standard_error: float
    low: float
    high: float
    confidence: Fraction


@estimate_tally.register(Duchi)
@estimate_tally.register(Piecewise)
@estimate_tally.register(Hybrid)
def estimated_mean(
    mechanism: MeanMechanism, tally: Tally[MeanMechanism], confidence: Fraction
) -> MeanEstimate:
    """Return the estimated mean. Without reports it is the middle of the bounds."""
    check_counts(tally, tally.counters)
    low, high = map(float, mechanism.bounds)
    n, decoded = tally.people, _decoded(mechanism)
    if n < 2:
        only = low + (high - low) * float(tally.counters @ decoded)
        return MeanEstimate(
            people=n,
            mean=(low + high) / 2 if n == 0 else only,
            standard_error=float("inf"),
            low=low,
            high=high,
            confidence=confidence,
        )
    mean = float(tally.counters @ decoded) / n
    variance = float(tally.counters @ (decoded - mean) ** 2) / (n - 1)
    margin = _margin(n, variance, float(decoded.max() - decoded.min()), float(1 - confidence))
    return MeanEstimate(
        people=n,
        mean=low + (high - low) * mean,
        standard_error=(high - low) * sqrt(variance / n),
        low=low + (high - low) * (mean - margin),
        high=low + (high - low) * (mean + margin),
        confidence=confidence,
    )


@lru_cache(maxsize=64)
def _decoded(mechanism: MeanMechanism) -> FloatArray:
    return np.array([float(each) for each in mechanism.decoded()])


def _margin(people: int, variance: float, width: float, miss: float) -> float:
    """Return the margin of error of the mean at confidence 1 - miss."""
    hoeffding = width * sqrt(log(4 / miss) / (2 * people))
    risk = log(8 / miss)
    bernstein = sqrt(2 * variance * risk / people) + 7 * width * risk / (3 * (people - 1))
    return min(hoeffding, bernstein)


def mean_influence(mechanism: NumericMechanism, people: int) -> float:
    """Return the most by which replacing one report, even by a malicious one, moves the mean."""
    low, high = mechanism.bounds
    decoded = mechanism.decoded()
    return float((max(decoded) - min(decoded)) * (high - low)) / people


def worst_variance(mechanism: NumericMechanism) -> float:
    """Return the largest variance of one decoded report over all values, in squared widths."""
    return float(mechanism.variance(np.linspace(0, 1, 1025)).max())


def choose_mean(*, epsilon: Real, bounds: tuple[Real, Real] = (-1, 1)) -> MeanMechanism:
    """Return the mechanism with the least worst-case variance; of equals, the simplest."""
    made: tuple[Callable[..., MeanMechanism], ...] = (Duchi, Piecewise, Hybrid)
    return min((make(epsilon=epsilon, bounds=bounds) for make in made), key=worst_variance)
