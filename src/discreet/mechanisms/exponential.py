"""Scores, exponential mechanism, permute-and-flip."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import ceil, log
from typing import Self, TypeAlias, TypeVar

import numpy as np
from numpy.polynomial.legendre import leggauss

from discreet import plots
from discreet.accounting.events import ExponentialEvent, PermuteAndFlipEvent
from discreet.deprecated import Renamed
from discreet.errors import HIDDEN, ParameterError
from discreet.mechanisms.accuracy import checked_epsilon, checked_sensitivity, least_epsilon
from discreet.mechanisms.charts import choices_plot
from discreet.mechanisms.distributions import ChoiceDistribution
from discreet.mechanisms.exact import Grid, Reals, power_of_two_below
from discreet.mechanisms.sensitivity import Sensitivity, checked_monotone, linf_of
from discreet.noise import SYSTEM, Entropy, exponential_choice, permute_and_flip_choice
from discreet.noise.enclosures import Bracket, ceil_div, exp_neg
from discreet.noise.uniform import IntArray
from discreet.parameters import Real, call_text, confidence_level, flag, freeze_fields, integer

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


def exponential_distribution(scores: IntArray, rate: Fraction) -> ChoiceDistribution:
    """Return the distribution P(i) ∝ exp(rate · scores[i])."""
    deficits = _deficits(scores)
    weights = np.exp([-float(rate * deficit) for deficit in deficits])
    enclosures = tuple(partial(_enclose_share, deficits, rate, i) for i in range(len(deficits)))
    return ChoiceDistribution(tuple((weights / weights.sum()).tolist()), enclosures)


def permute_and_flip_distribution(scores: IntArray, rate: Fraction) -> ChoiceDistribution:
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
    return ChoiceDistribution(tuple(found), enclosures)


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


Candidate = TypeVar("Candidate")


@dataclass(frozen=True, slots=True, init=False)
class Selector:
    """The common part of both selectors, which differ in their draws, distribution and event.

    rate = epsilon / (2 sensitivity), or epsilon / sensitivity if the scores are monotone. Scores
    are monotone if adding a unit moves no two of them in opposite directions, as with counts and
    add-remove neighbours. The sensitivity is rounded up to a step of the grid, by at most one part
    in a million.
    """

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    grid: Grid = field(repr=False)
    """The grid that scores are floored to. Its step depends on the sensitivity."""
    rate_in_steps: Fraction = field(repr=False)
    """The factor of a score, in steps of the grid, in the exponent."""

    __repr__ = call_text

    def __init__(
        self, *, epsilon: Real, sensitivity: Real | Sensitivity, monotone: bool = False
    ) -> None:
        scoring = checked_scoring(epsilon, sensitivity, monotone)
        freeze_fields(
            self,
            epsilon=scoring.epsilon,
            sensitivity=scoring.sensitivity,
            monotone=scoring.monotone,
            grid=scoring.grid,
            rate_in_steps=scoring.epsilon / scoring.apart,
        )

    @classmethod
    def for_margin(
        cls,
        *,
        within: Real,
        confidence: Real,
        candidates: int,
        sensitivity: Real | Sensitivity,
        monotone: bool = False,
    ) -> Self:
        """Return the mechanism with the smallest epsilon whose shortfall meets the target."""
        make = partial(cls, sensitivity=sensitivity, monotone=monotone)
        epsilon = least_epsilon(
            lambda each: make(epsilon=each).margin(confidence, candidates=candidates), within
        )
        return make(epsilon=epsilon)

    @property
    def rate(self) -> Fraction:
        """The factor of a score in the exponent."""
        return self.rate_in_steps / self.grid.step

    def release(self, scores: Scores, *, entropy: Entropy = SYSTEM) -> int:
        """Return the index of the chosen candidate."""
        return self._draw(exact_scores(scores, self.grid), entropy)

    def choose(
        self,
        candidates: Sequence[Candidate],
        utility: Callable[[Candidate], float],
        *,
        entropy: Entropy = SYSTEM,
    ) -> Candidate:
        """Return the candidate chosen by its utility."""
        is_single = isinstance(candidates, np.ndarray) and candidates.ndim == 0
        if not isinstance(candidates, Sequence | np.ndarray) or is_single:
            raise ParameterError("candidates", HIDDEN, "must be a list or another sequence")
        if not callable(utility):
            raise ParameterError("utility", HIDDEN, "must be a function of a candidate")
        return candidates[self.release([utility(each) for each in candidates], entropy=entropy)]

    def distribution(self, scores: Scores) -> ChoiceDistribution:
        """Return the distribution of release(scores)."""
        return self._law(exact_scores(scores, self.grid))

    def margin(self, confidence: Real, *, candidates: int, best: int = 1) -> float:
        """Return the most by which the chosen score is below the best, with this confidence.

        (ln(candidates / best) + ln(1 / (1 - confidence))) / rate plus a step of the grid, where
        `best` of the candidates have the best score (McSherry, Talwar 2007; permute-and-flip is
        never worse: McKenna, Sheldon 2020).
        """
        level = confidence_level(confidence)
        count = integer("candidates", candidates, least=1, most=CANDIDATES_COUNTED)
        ties = integer("best", best, least=1, most=count)
        return log(count / ties / (1 - level)) / float(self.rate) + float(self.grid.step)

    def plot(self, scores: Scores, neighbour: Scores) -> "plots.Plot":
        """Plot the distributions of the choice for two neighbouring lists, and their ratio."""
        here, there = self.distribution(scores), self.distribution(neighbour)
        return choices_plot(here, there, epsilon=self.epsilon, title=type(self).__name__)

    def _draw(self, scores: IntArray, entropy: Entropy) -> int:
        raise NotImplementedError

    def _law(self, scores: IntArray) -> ChoiceDistribution:
        raise NotImplementedError

    law = Renamed("distribution")
    error = Renamed("margin")
    for_error = Renamed("for_margin")


@dataclass(frozen=True, slots=True, init=False)
class Exponential(Selector):
    """Choose i with P ∝ exp(rate · scores[i]): epsilon-DP for the scores' L∞ sensitivity.

    McSherry, Talwar 2007, Theorem 6. It also has bounded range epsilon, so it composes better than
    other epsilon-DP releases (Cesar, Rogers 2021).
    """

    __repr__ = call_text

    @property
    def event(self) -> ExponentialEvent:
        """The event that one release is charged as."""
        return ExponentialEvent(epsilon=self.epsilon)

    def _draw(self, scores: IntArray, entropy: Entropy) -> int:
        return exponential_choice(scores, self.rate_in_steps, entropy=entropy)

    def _law(self, scores: IntArray) -> ChoiceDistribution:
        return exponential_distribution(scores, self.rate_in_steps)


@dataclass(frozen=True, slots=True, init=False)
class PermuteAndFlip(Selector):
    """Visit the candidates in random order, and stop at i with P = exp(rate · (score - best)).

    epsilon-DP for the scores' L∞ sensitivity, and never worse than the exponential mechanism
    (McKenna, Sheldon 2020): the default selector.
    """

    __repr__ = call_text

    @property
    def event(self) -> PermuteAndFlipEvent:
        """The event that one release is charged as."""
        return PermuteAndFlipEvent(epsilon=self.epsilon)

    def _draw(self, scores: IntArray, entropy: Entropy) -> int:
        return permute_and_flip_choice(scores, self.rate_in_steps, entropy=entropy)

    def _law(self, scores: IntArray) -> ChoiceDistribution:
        return permute_and_flip_distribution(scores, self.rate_in_steps)
