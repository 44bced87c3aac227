"""Report noisy max: the index of the largest noisy score, and top-k with gaps."""

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from math import log

import numpy as np

from discreet import plots
from discreet.accounting.events import NoisyMaxEvent
from discreet.deprecated import Renamed
from discreet.errors import HIDDEN, ParameterError
from discreet.mechanisms.accuracy import drawn_scale, laplace_accuracy, miss_probability
from discreet.mechanisms.charts import choices_plot
from discreet.mechanisms.distributions import ChoiceDistribution, laplace_at_least, laplace_pmf
from discreet.mechanisms.exact import Grid
from discreet.mechanisms.exponential import (
    CANDIDATES_COUNTED,
    Scores,
    checked_scoring,
    exact_scores,
    permute_and_flip_distribution,
)
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.noise import SYSTEM, Entropy, discrete_laplace, permutation, permute_and_flip_choice
from discreet.noise.uniform import IntArray
from discreet.parameters import Real, call_text, choice, freeze_fields, integer

FINENESS = 1 << 10
"""A step of the grid that scores are floored to is at most this part of the sensitivity."""

SCALE_MOST = Fraction(1 << 50)
"""Up to this scale the noise does not reach the ends of 64 bits (probability e^-4000)."""

SUMMED_MOST = 1 << 28
"""The most terms in the sum for a distribution with Laplace noise: some seconds."""


class NoiseKind(Enum):
    """The noise that is added to the scores before the largest is found."""

    EXPONENTIAL = "exponential"
    """One-sided, with less noise."""

    LAPLACE = "laplace"
    """Two-sided, as in textbooks."""


@dataclass(frozen=True, slots=True, init=False)
class NoisyMax:
    """Release the index of the largest noisy score, and nothing else: epsilon-DP in L∞.

    Noise of scale 2 sensitivity / epsilon, or sensitivity / epsilon if the scores are monotone
    (Dwork, Roth 2014, Claim 3.9). With exponential noise this has exactly the distribution of
    permute-and-flip (Ding et al. 2021), and is drawn that way. Laplace noise is discrete. Ties are
    broken by a random order that does not depend on the data. The largest noisy score itself is
    not released, because that would break the proof.
    """

    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    noise: NoiseKind
    grid: Grid = field(repr=False)
    """The grid that scores are floored to. Its step depends on the sensitivity."""
    scale_in_steps: Fraction = field(repr=False)
    """The scale of the noise, in steps of the grid."""

    __repr__ = call_text

    def __init__(
        self,
        *,
        epsilon: Real,
        sensitivity: Real | Sensitivity,
        monotone: bool = False,
        noise: NoiseKind | str = NoiseKind.EXPONENTIAL,
    ) -> None:
        scoring = checked_scoring(epsilon, sensitivity, monotone, FINENESS)
        freeze_fields(
            self,
            epsilon=scoring.epsilon,
            sensitivity=scoring.sensitivity,
            monotone=scoring.monotone,
            noise=choice("noise", noise, NoiseKind),
            grid=scoring.grid,
            scale_in_steps=drawn_scale(scoring.epsilon, Fraction(scoring.apart), most=SCALE_MOST),
        )

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: 2 sensitivity / epsilon, or half of that, rounded up."""
        return self.scale_in_steps * self.grid.step

    @property
    def event(self) -> NoisyMaxEvent:
        """The event that one release is charged as."""
        return NoisyMaxEvent(epsilon=self.epsilon)

    def release(self, scores: Scores, *, entropy: Entropy = SYSTEM) -> int:
        """Return the index of the largest noisy score."""
        steps = exact_scores(scores, self.grid)
        if self.noise is NoiseKind.EXPONENTIAL:
            return permute_and_flip_choice(steps, 1 / self.scale_in_steps, entropy=entropy)
        noisy = steps + discrete_laplace(self.scale_in_steps, len(steps), entropy=entropy)
        return int(_ranked(noisy, permutation(len(steps), entropy=entropy))[0])

    def distribution(self, scores: Scores) -> ChoiceDistribution:
        """Return the distribution of release(scores)."""
        steps = exact_scores(scores, self.grid)
        if self.noise is NoiseKind.EXPONENTIAL:
            return permute_and_flip_distribution(steps, 1 / self.scale_in_steps)
        return _laplace_max_law(steps, float(self.scale_in_steps))

    def margin(self, confidence: Real, *, candidates: int) -> float:
        """Return the most by which the chosen score is below the best, with this confidence.

        Two noisy scores are compared, each within the margin of error that holds for all
        `candidates`. A step of the grid is added.
        """
        many = integer("candidates", candidates, least=1, most=CANDIDATES_COUNTED)
        miss = miss_probability(confidence, many)
        if self.noise is NoiseKind.EXPONENTIAL:
            return float(self.grid.step) - log(miss) * float(self.scale)
        return float((2 * laplace_accuracy(self.scale_in_steps, miss) + 1) * self.grid.step)

    def plot(self, scores: Scores, neighbour: Scores) -> "plots.Plot":
        """Plot the distributions of the choice for two neighbouring lists, and their ratio."""
        here, there = self.distribution(scores), self.distribution(neighbour)
        return choices_plot(here, there, epsilon=self.epsilon, title=type(self).__name__)

    law = Renamed("distribution")
    error = Renamed("margin")


@dataclass(frozen=True, slots=True)
class Top:
    """The indices of the largest noisy scores, best first, and the gap from each to the next."""

    indices: tuple[int, ...]
    gaps: tuple[float, ...]


@dataclass(frozen=True, slots=True, init=False)
class NoisyTop:
    """Release the indices of the `count` largest noisy scores and their gaps: epsilon-DP in L∞.

    Laplace noise has scale 2 count · sensitivity / epsilon, or half of that if the scores are
    monotone. The gap from each score to the next, including the first one not chosen, costs nothing
    extra (Ding, Wang, Zhang, Kifer 2019). The proof compares reals, of which no two are equal. So a
    uniform fraction of a step is added to the discrete noise, and the privacy loss of a shift of n
    steps stays at most n / scale. Only the order of the fractions is drawn. Gaps are floored to
    whole steps.
    """

    epsilon: Fraction
    sensitivity: Fraction
    count: int
    monotone: bool
    grid: Grid = field(repr=False)
    scale_in_steps: Fraction = field(repr=False)
    """The scale of the noise, in steps of the grid."""

    __repr__ = call_text

    def __init__(
        self,
        *,
        epsilon: Real,
        sensitivity: Real | Sensitivity,
        count: int,
        monotone: bool = False,
    ) -> None:
        scoring = checked_scoring(epsilon, sensitivity, monotone, FINENESS)
        count = integer("count", count, least=1)
        steps = Fraction(count * scoring.apart)
        freeze_fields(
            self,
            epsilon=scoring.epsilon,
            sensitivity=scoring.sensitivity,
            count=count,
            monotone=scoring.monotone,
            grid=scoring.grid,
            scale_in_steps=drawn_scale(scoring.epsilon, steps, most=SCALE_MOST),
        )

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: `count` times that of one index."""
        return self.scale_in_steps * self.grid.step

    @property
    def event(self) -> NoisyMaxEvent:
        """The event that one release is charged as."""
        return NoisyMaxEvent(epsilon=self.epsilon)

    def release(self, scores: Scores, *, entropy: Entropy = SYSTEM) -> Top:
        """Return the indices and gaps of the largest noisy scores."""
        steps = exact_scores(scores, self.grid)
        if len(steps) <= self.count:
            raise ParameterError("count", self.count, "must be less than the number of scores")
        noisy = steps + discrete_laplace(self.scale_in_steps, len(steps), entropy=entropy)
        fractions = permutation(len(steps), entropy=entropy)
        order = _ranked(noisy, fractions)[: self.count + 1]
        ahead, behind = order[:-1], order[1:]
        # ⌊(a + s) - (b + t)⌋ is a - b, or one less if s < t: a function of the gap between reals.
        gaps = noisy[ahead] - noisy[behind] - (fractions[ahead] < fractions[behind])
        return Top(tuple(ahead.tolist()), tuple(self.grid.values(gaps).tolist()))


def _ranked(noisy: IntArray, fractions: IntArray) -> IntArray:
    """Return the indices, best first. Ties are broken by their fractions of a step."""
    return np.lexsort([fractions, noisy])[::-1]


def _laplace_max_law(steps: IntArray, scale: float) -> ChoiceDistribution:
    """Sum over the winning noisy score: P(i) = Σ_z P(z = q_i + η) ∏_j P(q_j + η' < z), ties shared.

    With a random order among ties, each other score is below z, or equal and later. For i's place t
    in the order, the product is ∏ (F_j(z - 1) + (1 - t) p_j(z)), a polynomial in t. It is
    integrated over t.
    """
    low, high = int(steps.min()) - int(45 * scale), int(steps.max()) + int(45 * scale)
    if (high - low) * len(steps) * max(16, len(steps)) > SUMMED_MOST:
        rule = "must be fewer or closer together, or epsilon larger, to compute the distribution"
        raise ParameterError("scores", HIDDEN, rule)
    z = np.arange(low, high + 1, dtype=np.float64)
    away = z[None, :] - steps[:, None]
    p = laplace_pmf(away, scale)
    below = laplace_at_least(1 - away, scale)  # P(X < k) = P(X ≥ 1 - k), X being symmetric
    nodes, weights = np.polynomial.legendre.leggauss(len(steps) // 2 + 1)
    found = np.zeros(len(steps))
    for t, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        beaten = below + t * p
        for i in range(len(steps)):
            others = np.prod(np.delete(beaten, i, axis=0), axis=0)
            found[i] += weight * float(p[i] @ others)
    return ChoiceDistribution(tuple(found.tolist()))
