"""Scores on a grid, and the distributions of an index chosen by them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil
from typing import TypeAlias

import numpy as np
from numpy.polynomial.legendre import leggauss

from discreet.errors import HIDDEN, ParameterError
from discreet.mechanisms.exact import Reals
from discreet.mechanisms.grid import Grid, power_of_two_below
from discreet.mechanisms.laws import ChoiceLaw
from discreet.mechanisms.ranges import checked_epsilon, checked_sensitivity
from discreet.mechanisms.sensitivity import Sensitivity, checked_monotone, linf_of
from discreet.noise.enclosures import Bracket, ceil_div, exp_neg
from discreet.noise.uniform import IntArray
from discreet.parameters import Real, flag

Scores: TypeAlias = Reals | IntArray
"""One number for each candidate. Higher is better."""

FINENESS = 1 << 20
"""A step of the grid that scores are floored to is at most this part of the sensitivity."""

CANDIDATES_MOST = 10**7

CANDIDATES_COUNTED = 10**18
"""The most candidates for which errors are computed."""


def score_grid(sensitivity: Fraction, fineness: int = FINENESS) -> tuple[Grid, int]:
    """Return a grid for scores and the sensitivity of a floored score, in steps."""
    step = power_of_two_below(sensitivity / fineness)
    return Grid(step), ceil(sensitivity / step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """The checked parameters of a mechanism that compares scores."""

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    grid: Grid
    steps: int
    """The sensitivity of a floored score, in steps."""

    @property
    def apart(self) -> int:
        """The most by which a unit changes the difference of two scores, in steps."""
        return self.steps if self.monotone else 2 * self.steps


def checked_scoring(
    epsilon: Real, sensitivity: Real | Sensitivity, monotone: bool, fineness: int = FINENESS
) -> Scoring:
    """Return the parameters of a mechanism that compares scores, or raise `ParameterError`."""
    size = checked_sensitivity(linf_of(sensitivity))
    grid, steps = score_grid(size, fineness)
    return Scoring(
        epsilon=checked_epsilon(epsilon),
        sensitivity=size,
        monotone=checked_monotone(flag("monotone", monotone), sensitivity),
        grid=grid,
        steps=steps,
    )


def exact_scores(scores: Scores, grid: Grid) -> IntArray:
    """Return the scores in steps of the grid. An error does not show them."""
    places = grid.places(scores, "scores")
    if places.ndim != 1 or not 1 <= places.size <= CANDIDATES_MOST:
        rule = f"must be a flat list of 1 to {CANDIDATES_MOST} numbers"
        raise ParameterError("scores", HIDDEN, rule)
    return places


def exponential_law(scores: IntArray, rate: Fraction) -> ChoiceLaw:
    """Return the distribution P(i) ∝ exp(rate · scores[i])."""
    deficits = _deficits(scores)
    weights = np.exp([-float(rate * deficit) for deficit in deficits])
    enclosures = tuple(partial(_enclose_share, deficits, rate, i) for i in range(len(deficits)))
    return ChoiceLaw(tuple((weights / weights.sum()).tolist()), enclosures)


def permute_and_flip_law(scores: IntArray, rate: Fraction) -> ChoiceLaw:
    """Return the distribution of the first coin that is True in a random order.

    Candidate i is visited at a time t, uniform in [0, 1]. No earlier coin is True with probability
    ∏ (1 - t p_j) over the others. So P(i) = p_i ∫ ∏ (1 - t p_j) dt, the integral of a polynomial,
    which Gauss' rule gives without error.
    """
    deficits = _deficits(scores)
    p = np.exp([-float(rate * deficit) for deficit in deficits])
    nodes, weights = leggauss(len(p) // 2 + 1)
    t = (nodes + 1) / 2
    factors = 1 - np.outer(p, t)
    found = [
        float(p[i] * (weights @ np.prod(np.delete(factors, i, axis=0), axis=0)) / 2)
        for i in range(len(p))
    ]
    enclosures = tuple(partial(_enclose_first, deficits, rate, i) for i in range(len(p)))
    return ChoiceLaw(tuple(found), enclosures)


def _deficits(scores: IntArray) -> list[int]:
    values = [int(score) for score in scores]
    return [max(values) - value for value in values]


def _enclose_share(deficits: Sequence[int], rate: Fraction, i: int, bits: int) -> Bracket:
    brackets = [exp_neg(rate * deficit, bits + 8) for deficit in deficits]
    low = sum(each for each, _ in brackets)
    high = sum(each for _, each in brackets)
    return (brackets[i][0] << bits) // high, ceil_div(brackets[i][1] << bits, low)


def _enclose_first(deficits: Sequence[int], rate: Fraction, i: int, bits: int) -> Bracket:
    """Bracket permute-and-flip's P(i), which grows with p_i and falls with every other p_j."""
    one = 1 << bits + 8
    brackets = [exp_neg(rate * deficit, bits + 8) for deficit in deficits]
    own_low, own_high = brackets.pop(i)
    most = _integral([Fraction(low, one) for low, _ in brackets]) * own_high
    least = _integral([Fraction(high, one) for _, high in brackets]) * own_low
    return int(least / 256), ceil(most / 256)


def _integral(shares: Sequence[Fraction]) -> Fraction:
    """Return ∫₀¹ ∏ (1 - t p) dt."""
    polynomial = [Fraction(1)]
    for p in shares:
        lower, upper = [*polynomial, Fraction(0)], [Fraction(0), *polynomial]
        polynomial = [a - p * b for a, b in zip(lower, upper, strict=True)]
    return sum((c / (power + 1) for power, c in enumerate(polynomial)), Fraction(0))
