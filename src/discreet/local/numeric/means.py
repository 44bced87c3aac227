"""Means of bounded numbers: the client, the estimate with its error, and which mechanism when."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import log, sqrt
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from discreet.local.base import Mechanism, Rows, check_mechanism
from discreet.local.numeric.duchi import Duchi
from discreet.local.numeric.hybrid import Hybrid
from discreet.local.numeric.piecewise import Piecewise
from discreet.local.numeric.values import fine_steps
from discreet.local.reports import Reports
from discreet.local.tallies import Tally, check_counts
from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, confidence_level


class Numeric(Mechanism, Protocol):
    """A way to report a bounded number without bias."""

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """Between which numbers values lie."""
        ...

    def draw(self, steps: IntArray, entropy: Entropy) -> Rows:
        """Return a report for each value, given in steps of the fine grid."""
        ...

    def chances(self, step: int) -> list[Fraction]:
        """Return the exact probability of each report, given a value in steps of the fine grid."""
        ...

    def decoded(self) -> list[Fraction]:
        """Return what each report says of the value, 0 and 1 being the bounds: unbiased."""
        ...

    def variance(self, share: FloatArray) -> FloatArray:
        """Return the variance of one report's value, for values at these shares of the width."""
        ...


Kind: TypeAlias = Duchi | Piecewise | Hybrid


@dataclass(frozen=True, slots=True)
class NumericClient:
    """Makes reports about bounded numbers on the device of the person they are about."""

    mechanism: Numeric

    def __post_init__(self) -> None:
        rule = "must be one for numbers, such as Piecewise(epsilon=1)"
        check_mechanism(self.mechanism, "bounds", "draw", "row", rule=rule)

    def report(self, value: float, *, entropy: Entropy = SYSTEM) -> bytes:
        """Return one person's report, ready to be sent."""
        return bytes(self.report_many([value], entropy=entropy))

    def report_many(self, values: ArrayLike, *, entropy: Entropy = SYSTEM) -> Reports:
        """Return a report for each of many people."""
        steps = fine_steps(values, self.mechanism.bounds)
        return Reports(self.mechanism, self.mechanism.draw(steps, entropy))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimate:
    """The mean of all people's values, without bias, and an interval that holds for any number.

    `low` to `high` holds with at least the stated confidence: the better of Hoeffding's bound and
    the empirical Bernstein bound (Maurer, Pontil 2009, Theorem 4), each at half the risk. The
    standard error is that of a mean over people like these, so it includes how much they differ.
    """

    people: int
    mean: float
    standard_error: float
    low: float
    high: float
    confidence: Fraction


def estimate_mean(tally: Tally[Kind], *, confidence: Real = 0.95) -> MeanEstimate:
    """Return the mean that reports tell; of nobody, the middle of the bounds and all of them."""
    level = confidence_level(confidence)
    check_counts(tally, tally.cells)
    low, high = map(float, tally.mechanism.bounds)
    n, says = tally.people, _said(tally.mechanism)
    if n < 2:
        return MeanEstimate(
            people=n,
            mean=(low + high) / 2 if n == 0 else low + (high - low) * float(tally.cells @ says),
            standard_error=float("inf"),
            low=low,
            high=high,
            confidence=level,
        )
    mean = float(tally.cells @ says) / n
    variance = float(tally.cells @ (says - mean) ** 2) / (n - 1)
    reach = _reach(n, variance, float(says.max() - says.min()), float(1 - level))
    return MeanEstimate(
        people=n,
        mean=low + (high - low) * mean,
        standard_error=(high - low) * sqrt(variance / n),
        low=low + (high - low) * (mean - reach),
        high=low + (high - low) * (mean + reach),
        confidence=level,
    )


@lru_cache(maxsize=64)
def _said(mechanism: Kind) -> FloatArray:
    return np.array([float(each) for each in mechanism.decoded()])


def _reach(people: int, variance: float, spread: float, miss: float) -> float:
    """Return how far the mean may be off, but for a chance of `miss`."""
    hoeffding = spread * sqrt(log(4 / miss) / (2 * people))
    risk = log(8 / miss)
    bernstein = sqrt(2 * variance * risk / people) + 7 * spread * risk / (3 * (people - 1))
    return min(hoeffding, bernstein)


def mean_influence(mechanism: Numeric, people: int) -> float:
    """Return the most by which swapping one report, however dishonest, moves the mean."""
    low, high = mechanism.bounds
    says = mechanism.decoded()
    return float((max(says) - min(says)) * (high - low)) / people


def worst_variance(mechanism: Numeric) -> float:
    """Return the largest variance of one report's value over all values, in squared widths."""
    return float(mechanism.variance(np.linspace(0, 1, 1025)).max())


def choose_numeric(*, epsilon: Real, bounds: tuple[Real, Real] = (-1, 1)) -> Kind:
    """Return the mechanism of the least worst-case variance for a mean; the simplest of equals."""
    made: tuple[Callable[..., Kind], ...] = (Duchi, Piecewise, Hybrid)
    return min((make(epsilon=epsilon, bounds=bounds) for make in made), key=worst_variance)
