"""Deliberately broken variants: published or shipped mistakes, which an auditor must catch.

Each claims the epsilon of the correct mechanism. Discreet uses none of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet.audit.local import kept_answers, kept_filters, kept_flips, ones_of_all
from discreet.audit.naive import SparseVariants, float_laplace
from discreet.audit.subjects import Kind, Outputs, Subject
from discreet.local import BitFlips, Client, KaryResponse, Rappor, shuffled_epsilon
from discreet.mechanisms import (
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    RandomizedResponse,
)

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


def twins() -> tuple[Subject, ...]:
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
    kind: Kind = Kind.MECHANISM,
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
        kind=Kind.LOCAL,
    )
    yield _twin("answers without memoization, 3 rounds", _fresh, 0, 1, runs=SOME, kind=Kind.LOCAL)
    yield from _returning()
    shuffled = _twin("too few reports shuffled", _few_shuffled, 0, 1, runs=SOME, kind=Kind.LOCAL)
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
    add = partial(_twin, runs=FEW, kind=Kind.LOCAL)
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
