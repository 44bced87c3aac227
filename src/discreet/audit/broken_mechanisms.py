"""Deliberately broken variants: published or shipped mistakes, which an auditor must catch.

Each claims the epsilon of the correct mechanism. Discreet uses none of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.local_claims import kept_answers, kept_filters, kept_flips, ones_of_all
from discreet.audit.subjects import Outputs, Subject, SubjectKind
from discreet.local import BitFlips, Client, KaryResponse, Rappor, shuffled_epsilon
from discreet.mechanisms import (
    Exponential,
    Gaussian,
    GaussianPartitionSelection,
    Geometric,
    Laplace,
    RandomizedResponse,
)
from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import words

Floats = NDArray[np.float64]


Codes = NDArray[np.int64]


def float_laplace(scale: float, shape: tuple[int, ...], entropy: Entropy = SYSTEM) -> Floats:
    """Return textbook Laplace noise: the inverse distribution function, in floats."""
    count = int(np.prod(shape))
    uniform = ((words(count, np.uint64, entropy) >> np.uint64(11)) + np.float64(0.5)) * 2.0**-53
    tail = np.minimum(uniform, 1 - uniform)
    noise: Floats = np.copysign(scale * np.log(2 * tail), uniform - 0.5)
    return noise.reshape(shape)


def above_then_stop(above: NDArray[np.bool_], limit: int) -> Codes:
    """Return the answers of each run as bits, up to the `limit`-th positive one."""
    hits: Codes = np.cumsum(above, axis=1)
    heard: NDArray[np.bool_] = hits - above < limit
    places = 1 << np.arange(above.shape[1], dtype=np.int64)
    # The number of answers distinguishes a run that stopped from one without more positives.
    lengths: Codes = heard.sum(axis=1)
    said: Codes = (above & heard) @ places
    coded: Codes = lengths << above.shape[1] | said
    return coded


class SparseVariants:
    """The sparse vector technique as published in six papers (Lyu, Su, Li 2017, Figure 1).

    The threshold is 0 and the sensitivity 1. Each method takes a stream and returns the answers of
    many runs, coded as integers. The first two are private, the other four are not.
    """

    def __init__(self, *, epsilon: float, limit: int, runs: int, entropy: Entropy = SYSTEM) -> None:
        self.epsilon = epsilon
        self.limit = limit
        self.runs = runs
        self.entropy = entropy

    def first(self, stream: Sequence[float]) -> Codes:
        """Noise of scale 2 / epsilon for the threshold, 4 limit / epsilon for each query."""
        return self._words(stream, 2, 4 * self.limit, limit=self.limit)

    def second(self, stream: Sequence[float]) -> Codes:
        """More noise for the threshold, drawn again after each positive answer."""
        threshold = self._noise(2 * self.limit, (self.runs, 1))
        noisy = np.asarray(stream) + self._noise(4 * self.limit, (self.runs, len(stream)))
        columns: list[NDArray[np.bool_]] = []
        for answer in noisy.T:
            is_above = answer[:, None] >= threshold
            fresh = self._noise(2 * self.limit, (self.runs, 1))
            threshold = np.where(is_above, fresh, threshold)
            columns.append(is_above[:, 0])
        return above_then_stop(np.stack(columns, axis=1), self.limit)

    def third(self, stream: Sequence[float]) -> Codes:
        """Releases the noisy answer that was compared, which reveals the noisy threshold.

        Returns for each run the number of negative answers, and the first released number, rounded.
        """
        noisy = np.asarray(stream) + self._noise(2 * self.limit, (self.runs, len(stream)))
        above = noisy >= self._noise(2, (self.runs, 1))
        first = np.where(above.any(axis=1), above.argmax(axis=1), len(stream))
        said = np.floor(noisy[np.arange(self.runs), np.minimum(first, len(stream) - 1)])
        return first * 64 + np.clip(said, -32, 31).astype(np.int64) + 32

    def fourth(self, stream: Sequence[float]) -> Codes:
        """Query noise that does not grow with the number of positive answers."""
        return self._words(stream, 4, 4 / 3, limit=self.limit)

    def fifth(self, stream: Sequence[float]) -> Codes:
        """No noise for the queries, and no limit on positive answers."""
        return self._words(stream, 2, 0, limit=len(stream))

    def sixth(self, stream: Sequence[float]) -> Codes:
        """No limit on positive answers."""
        return self._words(stream, 2, 2, limit=len(stream))

    def _words(
        self, stream: Sequence[float], threshold: float, question: float, *, limit: int
    ) -> Codes:
        noisy = np.asarray(stream) + self._noise(question, (self.runs, len(stream)))
        return above_then_stop(noisy >= self._noise(threshold, (self.runs, 1)), limit)

    def _noise(self, scale: float, shape: tuple[int, ...]) -> Floats:
        return float_laplace(scale / self.epsilon, shape, self.entropy)


EPSILON = Fraction(1)


DELTA = Fraction(1, 50)


MANY, SOME, FEW = 200_000, 20_000, 4_000


MIXED = ([0.0] * 4 + [1.0] * 4, [1.0] * 4 + [0.0] * 4)
"""Neighbouring streams: the first four answers rise by 1, and the last four fall by 1."""


SPIKE = ([0.0] * 6 + [1.0], [1.0] * 6 + [0.0])


PAIR = ([0.0, 1.0], [1.0, 0.0])


LONG = ([0.0] * 10 + [1.0] * 10, [1.0] * 10 + [0.0] * 10)


Run = Callable[[Any, int], Outputs]
"""Takes an input and the number of runs."""


def broken_mechanisms() -> tuple[Subject, ...]:
    """Return all deliberately broken variants of mechanisms."""
    return (*_sparse(), *_noise(), *_choices(), *_local())


def _twin(  # noqa: PLR0913 - a claim and two inputs
    name: str,
    run: Run,
    here: Any,
    there: Any,
    *,
    runs: int,
    delta: Fraction = Fraction(0),
    kind: SubjectKind = SubjectKind.MECHANISM,
) -> Subject:
    return Subject(
        name=name,
        kind=kind,
        epsilon=EPSILON,
        delta=delta,
        here=lambda count: run(here, count),
        there=lambda count: run(there, count),
        is_broken=True,
        runs=runs,
    )


def _sparse() -> Iterator[Subject]:
    """Yield the published variants of the sparse vector technique that are not private.

    Neighbours are as in Lyu, Su, Li 2017, Section 3.3, and in StatDP (Ding et al. 2018).
    """
    mistakes: tuple[tuple[str, str, int, tuple[list[float], list[float]]], ...] = (
        ("third", "3: releases the answer that it compared", 1, SPIKE),
        ("fourth", "4: noise that does not grow with the answers", 4, MIXED),
        ("fifth", "5: no noise for the queries", 1, PAIR),
        ("sixth", "6: no limit", 1, MIXED),
    )
    for method, what, limit, pair in mistakes:
        yield _twin(f"sparse vector {what}", _variant(method, limit), *pair, runs=MANY)
    yield _twin("sparse vector that forgets to stop", _endless, *LONG, runs=MANY // 4)


def _variant(method: str, limit: int) -> Run:
    def run(stream: list[float], count: int) -> Outputs:
        variants = SparseVariants(epsilon=float(EPSILON), limit=limit, runs=count)
        said: Outputs = getattr(variants, method)(stream)
        return said

    return run


def _endless(stream: list[float], count: int) -> Outputs:
    """Split epsilon as the first variant does, for one answer, and continue after it."""
    threshold = float_laplace(2.0, (count, 1))
    said = np.array(stream) + float_laplace(4.0, (count, len(stream))) >= threshold
    return said.astype(np.int64)


def _noise() -> Iterator[Subject]:
    half_counts = Geometric(epsilon=2 * EPSILON, sensitivity=1)
    half_reals = Laplace(epsilon=2 * EPSILON, sensitivity=1)
    half_gaussian = Gaussian(epsilon=EPSILON, delta=DELTA, sensitivity=Fraction(1, 2))
    cells = Geometric(epsilon=EPSILON, sensitivity=1)
    yield _twin("geometric noise of half the scale", _copies(half_counts), 0, 1, runs=SOME)
    yield _twin("Laplace noise of half the scale", _calls(half_reals), 0.0, 1.0, runs=FEW)
    yield _twin(
        "Gaussian noise of half the scale", _calls(half_gaussian), 0.0, 1.0, runs=SOME, delta=DELTA
    )
    yield _twin("Laplace noise in floats", _float_noise, 0.0, 1.0, runs=SOME)
    yield _twin("a histogram's sensitivity off by one", _copies(cells), [1, 0], [0, 1], runs=SOME)
    yield _twin("noise that is cut at two scales", _cut_noise, 0, 1, runs=SOME)
    yield _twin("a selection of one group, for four", _four_groups, 0, 1, runs=SOME, delta=DELTA)
    yield _twin("a threshold without noise", _bare_threshold, 10, 11, runs=FEW, delta=DELTA)


def _copies(mechanism: Geometric) -> Run:
    return lambda exact, count: mechanism.release(
        np.tile(exact, (count, *np.ndim(exact) * (1,))).astype(np.int64)
    )


def _calls(mechanism: Any) -> Run:
    return lambda exact, count: [mechanism.release(exact) for _ in range(count)]


def _float_noise(exact: float, count: int) -> Outputs:
    return exact + float_laplace(1.0, (count,))


def _cut_noise(exact: int, count: int) -> Outputs:
    noise = Geometric(epsilon=EPSILON, sensitivity=1).release(np.zeros(count, np.int64))
    return exact + np.clip(noise, -2, 2)


def _four_groups(more: int, count: int) -> Outputs:
    """Show four groups, with Gaussian noise for units that are in one."""
    one = GaussianPartitionSelection(epsilon=EPSILON, delta=DELTA)
    exact = 3 * one.threshold + more
    return one.release(np.full(4 * count, exact)).numbers.reshape(count, 4)


def _bare_threshold(units: int, count: int) -> Outputs:
    """Show a group of more than ten units, with a noisy count."""
    number = Geometric(epsilon=EPSILON, sensitivity=1)
    return [number.release(units) if units > 10 else None for _ in range(count)]


def _choices() -> Iterator[Subject]:
    yield _twin("noisy max that returns the value too", _shown_maximum, 0, 1, runs=MANY)
    yield _twin(
        "exponential mechanism that takes any scores for monotone",
        _calls(Exponential(epsilon=EPSILON, sensitivity=1, monotone=True)),
        [1, 0, 0, 0, 0, 0, 0, 0],
        [0, 1, 1, 1, 1, 1, 1, 1],
        runs=3 * FEW,
    )


def _shown_maximum(score: int, count: int) -> Outputs:
    """Return the index and the value of the largest of five noisy scores, which all rise by 1."""
    noisy = score + float_laplace(2.0, (count, 5))
    return np.column_stack([noisy.argmax(axis=1), np.floor(noisy.max(axis=1))])


def _local() -> Iterator[Subject]:
    truthful = RandomizedResponse.truthful(Fraction(85, 100))
    yield _twin(
        "randomized response that is too honest",
        lambda exact, count: truthful.release(np.full(count, exact)),
        0,
        1,
        runs=SOME,
        kind=SubjectKind.LOCAL,
    )
    yield _twin(
        "answers without memoization, 3 rounds", _fresh, 0, 1, runs=SOME, kind=SubjectKind.LOCAL
    )
    yield from _returning()
    shuffled = _twin(
        "too few reports shuffled", _few_shuffled, 0, 1, runs=SOME, kind=SubjectKind.LOCAL
    )
    price = shuffled_epsilon(epsilon=3, delta=DELTA, people=1_000)
    yield replace(shuffled, epsilon=Fraction(price), delta=DELTA)


def _returning() -> Iterator[Subject]:
    """Yield false claims about memoization: that changes at the same times are enough.

    The claim is the epsilon of one value times 3, for 0, 1, 0 against 0, 1, 2: an old value
    returns.
    """
    kary = KaryResponse(epsilon=EPSILON, categories=3)
    flips = BitFlips(epsilon=EPSILON, buckets=3, asked=3)
    rappor = Rappor(bits=8, hashes=1, cohorts=1, f=Fraction(3, 4), p=0, q=1)
    add = partial(_twin, runs=FEW, kind=SubjectKind.LOCAL)
    kept, new = (0, 1, 0), (0, 1, 2)
    texts, other = ("a", "b", "a"), ("a", "b", "c")
    answers = add("kept answers, a value that returns", partial(kept_answers, kary), kept, new)
    states = add("kept bits, a state that returns", partial(kept_flips, flips), kept, new)
    filters = add("RAPPOR, a text that returns", partial(kept_filters, rappor), texts, other)
    yield replace(answers, epsilon=3 * kary.epsilon)
    yield replace(states, epsilon=3 * flips.epsilon)
    yield replace(filters, epsilon=3 * rappor.permanent)


def _few_shuffled(value: int, count: int) -> Outputs:
    """Shuffle the reports of 10 people and claim the epsilon of 1,000."""
    return ones_of_all(KaryResponse.binary(epsilon=3), (value, 10), count)


def _fresh(value: int, count: int) -> Outputs:
    client = Client(KaryResponse(epsilon=EPSILON, categories=2))
    return np.stack([client.report_many(np.full(count, value)).rows for _ in range(3)], axis=1)
