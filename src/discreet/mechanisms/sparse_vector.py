"""The sparse vector technique: only answers above a threshold cost epsilon.

Each mechanism is a value. `start()` draws the noise of the threshold and returns a run. The run
takes one answer after another, and stops after the positive answers that it was charged for. A run
is charged once, when it starts.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from os import getpid
from threading import Lock
from typing import NoReturn, Protocol, TypeVar

import numpy as np

from discreet.accounting.events import SparseVectorEvent
from discreet.deprecated import Renamed
from discreet.errors import HIDDEN, ParameterError, SealedError, StoppedError, readable
from discreet.mechanisms.accuracy import (
    checked_epsilon,
    drawn_scales,
    few_digits_up,
    laplace_accuracy,
    miss_probability,
)
from discreet.mechanisms.distributions import laplace_at_least, laplace_pmf
from discreet.mechanisms.exact import Grid, Reals
from discreet.mechanisms.exponential import checked_scoring
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.noise import SYSTEM, Entropy, discrete_laplace
from discreet.parameters import Real, as_call, call_text, freeze_fields, integer, rational

FINENESS = 1 << 10
"""A step of the grid that answers are floored to is at most this part of the sensitivity."""

SUMMED_MOST = 1 << 22
"""The most values of the threshold's noise, to each side, in the sum for a distribution."""

ANSWERS_MOST = 10**15
"""The most answers that an event can count."""

STREAM = "must be a stream of numbers: a list, a flat array or a generator"

Word_co = TypeVar("Word_co", covariant=True)


@dataclass(frozen=True, slots=True, init=False)
class Sparse:
    """Release for each answer whether it is above the threshold, until `answers` of them are.

    epsilon-DP for a stream of queries, each with this sensitivity, of any length and chosen
    adaptively (Lyu, Su, Li 2017, Theorem 4). The threshold gets noise of scale
    sensitivity / epsilon₁ once. Each query gets 2 answers · sensitivity / epsilon₂, or half of that
    if the queries are monotone (Theorem 5), where epsilon₁ + epsilon₂ = epsilon. The best ratio is
    1 : (2 answers)^⅔, or 1 : answers^⅔ if monotone (Section 4.2). Noise is in whole steps, so the
    shifts in the proof are whole too.
    """

    epsilon: Fraction
    sensitivity: Fraction
    threshold: Fraction
    answers: int
    monotone: bool
    threshold_share: Fraction
    """The share of epsilon for the noise of the threshold."""
    grid: Grid = field(repr=False)
    """The grid that answers are floored to. Its step depends on the sensitivity."""
    threshold_scale: Fraction = field(repr=False)
    question_scale: Fraction = field(repr=False)

    __repr__ = call_text

    def __init__(  # noqa: PLR0913 - each is a parameter of the theorem
        self,
        *,
        epsilon: Real,
        sensitivity: Real | Sensitivity,
        threshold: Real,
        answers: int = 1,
        monotone: bool = False,
        threshold_share: Real | None = None,
    ) -> None:
        scoring = checked_scoring(epsilon, sensitivity, monotone, FINENESS)
        answers = integer("answers", answers, least=1, most=ANSWERS_MOST)
        factor = answers if scoring.monotone else 2 * answers
        share = best_share(factor) if threshold_share is None else threshold_share
        share = rational("threshold_share", share, above=0, below=1)
        steps = scoring.steps / share, answers * scoring.apart / (1 - share)
        threshold_scale, question_scale = drawn_scales(scoring.epsilon, steps)
        freeze_fields(
            self,
            epsilon=scoring.epsilon,
            sensitivity=scoring.sensitivity,
            threshold=rational("threshold", threshold),
            answers=answers,
            monotone=scoring.monotone,
            threshold_share=share,
            grid=scoring.grid,
            threshold_scale=threshold_scale * scoring.grid.step,
            question_scale=question_scale * scoring.grid.step,
        )

    @property
    def event(self) -> SparseVectorEvent:
        """The event that a run is charged as, for any number of answers."""
        return SparseVectorEvent(epsilon=self.epsilon)

    def start(self, *, entropy: Entropy = SYSTEM) -> "Run":
        """Draw the noise of the threshold and return a new run."""
        return Run(self, entropy)

    def release(self, exact: Iterable[float], *, entropy: Entropy = SYSTEM) -> tuple[bool, ...]:
        """Return the results of one run for the answers of a stream, until the run stops."""
        stream = _checked_stream(exact)
        return _words(self.start(entropy=entropy), stream)

    def distribution(self, exact: Reals) -> "PatternDistribution":
        """Return the distribution of release(exact)."""
        places = self.grid.places(exact)
        if places.ndim != 1:
            raise ParameterError("exact", HIDDEN, STREAM)
        return PatternDistribution(sparse=self, exact=tuple(places.tolist()))

    def margin(self, confidence: Real, *, questions: int) -> float:
        """Return how far from the threshold an answer may be and still get a wrong result.

        It holds for a whole run of this many queries at once, with this confidence. Half of the
        error probability is for the threshold, and half is shared by the queries (as in Dwork, Roth
        2014, Theorem 3.24).
        """
        miss = miss_probability(confidence, 1) / 2
        own = miss / integer("questions", questions, least=1)
        step = self.grid.step
        threshold_error = laplace_accuracy(self.threshold_scale / step, miss)
        return float(
            (threshold_error + laplace_accuracy(self.question_scale / step, own) + 1) * step
        )

    law = Renamed("distribution")
    error = Renamed("margin")


class Run:
    """One run of the sparse vector technique, until its last positive answer.

    A run exists only once: threads take turns, and copies are rejected, even in a forked child.
    """

    __slots__ = ("_entropy", "_left", "_noisy_threshold", "_process", "_sparse", "_turn")

    def __init__(self, sparse: Sparse, entropy: Entropy) -> None:
        step = sparse.grid.step
        noise = discrete_laplace(sparse.threshold_scale / step, entropy=entropy)
        self._noisy_threshold = floor(sparse.threshold / step) + noise
        self._sparse = sparse
        self._entropy = entropy
        self._left = sparse.answers
        self._process = getpid()
        self._turn = Lock()

    def __reduce__(self) -> NoReturn:
        raise SealedError("a run of the sparse vector technique")

    @property
    def left(self) -> int:
        """The number of positive answers that may still be given."""
        return self._left

    @property
    def has_stopped(self) -> bool:
        return self.left <= 0

    def ask(self, exact: float) -> bool:
        """Return whether the noisy answer is above the noisy threshold."""
        if getpid() != self._process:
            raise SealedError("a run of the sparse vector technique")
        grid = self._sparse.grid
        scale = self._sparse.question_scale / grid.step
        noisy = grid.place(exact) + discrete_laplace(scale, entropy=self._entropy)
        with self._turn:
            if self.has_stopped:
                raise StoppedError(self._sparse.answers)
            is_above = noisy >= self._noisy_threshold
            self._left -= is_above
            return is_above


@dataclass(frozen=True, slots=True, init=False)
class AboveThreshold:
    """Find the first noisy answer of a stream that is above a noisy threshold: epsilon-DP.

    `Sparse` with one positive answer (Dwork, Roth 2014, Theorem 3.23, which splits epsilon into
    halves: `threshold_share=Fraction(1, 2)`).
    """

    sparse: Sparse

    def __repr__(self) -> str:
        return as_call(
            "AboveThreshold",
            epsilon=self.epsilon,
            sensitivity=self.sparse.sensitivity,
            threshold=self.sparse.threshold,
            monotone=self.sparse.monotone,
            threshold_share=self.sparse.threshold_share,
        )

    def __init__(
        self,
        *,
        epsilon: Real,
        sensitivity: Real | Sensitivity,
        threshold: Real,
        monotone: bool = False,
        threshold_share: Real | None = None,
    ) -> None:
        sparse = Sparse(
            epsilon=epsilon,
            sensitivity=sensitivity,
            threshold=threshold,
            monotone=monotone,
            threshold_share=threshold_share,
        )
        freeze_fields(self, sparse=sparse)

    @property
    def epsilon(self) -> Fraction:
        return self.sparse.epsilon

    @property
    def threshold_scale(self) -> Fraction:
        return self.sparse.threshold_scale

    @property
    def question_scale(self) -> Fraction:
        return self.sparse.question_scale

    @property
    def event(self) -> SparseVectorEvent:
        """The event that a run is charged as, for any number of answers."""
        return self.sparse.event

    def start(self, *, entropy: Entropy = SYSTEM) -> Run:
        """Draw the noise of the threshold and return a new run."""
        return self.sparse.start(entropy=entropy)

    def release(self, exact: Iterable[float], *, entropy: Entropy = SYSTEM) -> int | None:
        """Return the index of the first answer that is reported above, or None."""
        said = self.sparse.release(exact, entropy=entropy)
        return len(said) - 1 if said and said[-1] else None

    def distribution(self, exact: Reals) -> "PatternDistribution":
        """Return the distribution of a run's results for a stream."""
        return self.sparse.distribution(exact)

    def margin(self, confidence: Real, *, questions: int) -> float:
        """Return how far from the threshold an answer may be and still get a wrong result."""
        return self.sparse.margin(confidence, questions=questions)

    law = Renamed("distribution")
    error = Renamed("margin")


@dataclass(frozen=True, slots=True, init=False)
class NumericSparse:
    """Release a noisy number for each answer above the threshold, for at most `answers` answers.

    epsilon-DP: a run of `Sparse`, and fresh Laplace noise for each answer that is reported above.
    These numbers cost the `numeric_share` of epsilon in total (Lyu, Su, Li 2017, Theorem 4; basic
    composition).
    """

    epsilon: Fraction
    sparse: Sparse
    numbers: Laplace

    def __repr__(self) -> str:
        return as_call(
            "NumericSparse",
            epsilon=self.epsilon,
            sensitivity=self.sparse.sensitivity,
            threshold=self.sparse.threshold,
            answers=self.sparse.answers,
            monotone=self.sparse.monotone,
            threshold_share=self.sparse.threshold_share,
            numeric_share=1 - self.sparse.epsilon / self.epsilon,
        )

    def __init__(  # noqa: PLR0913 - each is a parameter of the theorem
        self,
        *,
        epsilon: Real,
        sensitivity: Real | Sensitivity,
        threshold: Real,
        answers: int = 1,
        monotone: bool = False,
        threshold_share: Real | None = None,
        numeric_share: Real = Fraction(1, 2),
    ) -> None:
        epsilon = checked_epsilon(epsilon)
        share = rational("numeric_share", numeric_share, above=0, below=1)
        sparse = Sparse(
            epsilon=epsilon * (1 - share),
            sensitivity=sensitivity,
            threshold=threshold,
            answers=answers,
            monotone=monotone,
            threshold_share=threshold_share,
        )
        numbers = Laplace(epsilon=epsilon * share / sparse.answers, sensitivity=sparse.sensitivity)
        freeze_fields(self, epsilon=epsilon, sparse=sparse, numbers=numbers)

    @property
    def event(self) -> SparseVectorEvent:
        """The event that a run is charged as, for any number of answers."""
        return SparseVectorEvent(epsilon=self.epsilon)

    def start(self, *, entropy: Entropy = SYSTEM) -> "NumericRun":
        """Draw the noise of the threshold and return a new run."""
        return NumericRun(self, entropy)

    def release(
        self, exact: Iterable[float], *, entropy: Entropy = SYSTEM
    ) -> tuple[float | None, ...]:
        """Return the results of one run for the answers of a stream, until the run stops."""
        stream = _checked_stream(exact)
        return _words(self.start(entropy=entropy), stream)

    def margin(self, confidence: Real) -> float:
        """Return the margin of error that holds for all released numbers, with this confidence."""
        return self.numbers.margin(confidence, self.sparse.answers)

    error = Renamed("margin")


class NumericRun:
    """One run of numeric sparse: a number for each answer reported above, None for the others."""

    __slots__ = ("_entropy", "_numbers", "_run")

    def __init__(self, mechanism: NumericSparse, entropy: Entropy) -> None:
        self._numbers = mechanism.numbers
        self._run = mechanism.sparse.start(entropy=entropy)
        self._entropy = entropy

    def __reduce__(self) -> NoReturn:
        raise SealedError("a run of the sparse vector technique")

    @property
    def left(self) -> int:
        return self._run.left

    @property
    def has_stopped(self) -> bool:
        return self._run.has_stopped

    def ask(self, exact: float) -> float | None:
        """Return a noisy answer if it is reported above the threshold, else None."""
        if not self._run.ask(exact):
            return None
        return self._numbers.release(exact, entropy=self._entropy)


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternDistribution:
    """The distribution of a run's results for a given stream: patterns of above and not above."""

    sparse: Sparse
    exact: tuple[int, ...]
    """The stream, in steps of the grid."""

    def pmf(self, pattern: Sequence[bool]) -> float:
        """Return the probability of exactly this pattern, for an epsilon that is not too small.

        Given the noise ρ of the threshold, the results are independent:
        Σ P(ρ) ∏ P(noise ≥ T + ρ - answer).
        """
        self._check(pattern)
        step = self.sparse.grid.step
        wide, scale = (float(self.sparse.threshold_scale / step), self._question_scale)
        reach = ceil(45 * wide)
        if reach > SUMMED_MOST:
            least = few_digits_up(self.sparse.epsilon * reach / SUMMED_MOST)
            rule = f"must be {readable(least)} or more to compute the distribution"
            raise ParameterError("epsilon", self.sparse.epsilon, rule)
        rho = np.arange(-reach, reach + 1, dtype=np.float64)
        odds = laplace_pmf(rho, wide)
        for said, answer in zip(pattern, self.exact, strict=False):
            above = laplace_at_least(floor(self.sparse.threshold / step) + rho - answer, scale)
            odds *= above if said else 1 - above
        return float(odds.sum())

    @property
    def _question_scale(self) -> float:
        return float(self.sparse.question_scale / self.sparse.grid.step)

    def _check(self, pattern: Sequence[bool]) -> None:
        hits = sum(pattern)
        is_ended = hits == self.sparse.answers and bool(pattern[-1])
        is_whole = hits < self.sparse.answers and len(pattern) == len(self.exact)
        if len(pattern) > len(self.exact) or not (is_ended or is_whole):
            rule = "must end at the last positive answer of the run, or cover the stream"
            raise ParameterError("pattern", tuple(pattern), rule)


class Asking(Protocol[Word_co]):
    """A run that gives a result for one answer after another until it stops."""

    @property
    def has_stopped(self) -> bool: ...
    def ask(self, exact: float) -> Word_co: ...


def _words(run: Asking[Word_co], stream: Iterator[float]) -> tuple[Word_co, ...]:
    """Return the results of a run for the answers of a stream, until the run stops."""
    said: list[Word_co] = []
    for each in stream:
        said.append(run.ask(each))
        if run.has_stopped:
            break
    return tuple(said)


def _checked_stream(exact: Iterable[float]) -> Iterator[float]:
    """Return the answers of a stream, or raise before a run starts if it is not a stream."""
    with suppress(TypeError):
        return iter(exact)
    raise ParameterError("exact", HIDDEN, STREAM)


def best_share(factor: int) -> Fraction:
    """Return 1 / (1 + factor^⅔) to ten bits: the threshold's share of epsilon."""
    return Fraction(max(1, round(1024 / (1 + factor ** (2 / 3)))), 1024)
