"""Selection of a nearly best candidate: the exponential mechanism and permute-and-flip."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import log
from typing import Self, TypeVar

import numpy as np

from discreet.accounting.events import ExponentialEvent, PermuteAndFlipEvent
from discreet.errors import HIDDEN, ParameterError
from discreet.mechanisms.accuracy import least_epsilon
from discreet.mechanisms.frozen import settle, written
from discreet.mechanisms.grid import Grid
from discreet.mechanisms.laws import ChoiceLaw
from discreet.mechanisms.pictures import choices_plot
from discreet.mechanisms.selection import (
    CANDIDATES_COUNTED,
    Scores,
    checked_scoring,
    exact_scores,
    exponential_law,
    permute_and_flip_law,
)
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.noise import SYSTEM, Entropy, exponential_choice, permute_and_flip_choice
from discreet.noise.uniform import IntArray
from discreet.parameters import Real, confidence_level, whole
from discreet.plots import Plot

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

    __repr__ = written

    def __init__(
        self, *, epsilon: Real, sensitivity: Real | Sensitivity, monotone: bool = False
    ) -> None:
        scoring = checked_scoring(epsilon, sensitivity, monotone)
        settle(
            self,
            epsilon=scoring.epsilon,
            sensitivity=scoring.sensitivity,
            monotone=scoring.monotone,
            grid=scoring.grid,
            rate_in_steps=scoring.epsilon / scoring.apart,
        )

    @classmethod
    def for_error(
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
            lambda each: make(epsilon=each).error(confidence, candidates=candidates), within
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

    def law(self, scores: Scores) -> ChoiceLaw:
        """Return the distribution of release(scores)."""
        return self._law(exact_scores(scores, self.grid))

    def error(self, confidence: Real, *, candidates: int, best: int = 1) -> float:
        """Return the most by which the chosen score is below the best, with this confidence.

        (ln(candidates / best) + ln(1 / (1 - confidence))) / rate plus a step of the grid, where
        `best` of the candidates have the best score (McSherry, Talwar 2007; permute-and-flip is
        never worse: McKenna, Sheldon 2020).
        """
        level = confidence_level(confidence)
        count = whole("candidates", candidates, least=1, most=CANDIDATES_COUNTED)
        ties = whole("best", best, least=1, most=count)
        return log(count / ties / (1 - level)) / float(self.rate) + float(self.grid.step)

    def plot(self, scores: Scores, neighbour: Scores) -> Plot:
        """Plot the distributions of the choice for two neighbouring lists, and their ratio."""
        here, there = self.law(scores), self.law(neighbour)
        return choices_plot(here, there, epsilon=self.epsilon, title=type(self).__name__)

    def _draw(self, scores: IntArray, entropy: Entropy) -> int:
        raise NotImplementedError

    def _law(self, scores: IntArray) -> ChoiceLaw:
        raise NotImplementedError


@dataclass(frozen=True, slots=True, init=False)
class Exponential(Selector):
    """Choose i with P ∝ exp(rate · scores[i]): epsilon-DP for the scores' L∞ sensitivity.

    McSherry, Talwar 2007, Theorem 6. It also has bounded range epsilon, so it composes better than
    other epsilon-DP releases (Cesar, Rogers 2021).
    """

    __repr__ = written

    @property
    def event(self) -> ExponentialEvent:
        """The event that one release is charged as."""
        return ExponentialEvent(epsilon=self.epsilon)

    def _draw(self, scores: IntArray, entropy: Entropy) -> int:
        return exponential_choice(scores, self.rate_in_steps, entropy=entropy)

    def _law(self, scores: IntArray) -> ChoiceLaw:
        return exponential_law(scores, self.rate_in_steps)


@dataclass(frozen=True, slots=True, init=False)
class PermuteAndFlip(Selector):
    """Visit the candidates in random order, and stop at i with P = exp(rate · (score - best)).

    epsilon-DP for the scores' L∞ sensitivity, and never worse than the exponential mechanism
    (McKenna, Sheldon 2020): the default selector.
    """

    __repr__ = written

    @property
    def event(self) -> PermuteAndFlipEvent:
        """The event that one release is charged as."""
        return PermuteAndFlipEvent(epsilon=self.epsilon)

    def _draw(self, scores: IntArray, entropy: Entropy) -> int:
        return permute_and_flip_choice(scores, self.rate_in_steps, entropy=entropy)

    def _law(self, scores: IntArray) -> ChoiceLaw:
        return permute_and_flip_law(scores, self.rate_in_steps)
