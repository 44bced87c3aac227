"""How often words were reported: unbiased counts from a sketch, with errors and collisions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from discreet.errors import HIDDEN, ParameterError
from discreet.local.base import check_mechanism
from discreet.local.reports import Reports
from discreet.local.sketches.count_mean import CountMeanSketch
from discreet.local.sketches.hadamard import HadamardSketch
from discreet.local.sketches.hashing import Keys, columns, keys_of, seeds
from discreet.local.tallies import Tally, check_counts
from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import FloatArray
from discreet.parameters import Real, confidence_level

Sketch: TypeAlias = CountMeanSketch | HadamardSketch
Word: TypeAlias = str | bytes | int

PIECE = 1 << 16
"""Words per pass."""


@dataclass(frozen=True, slots=True)
class SketchClient:
    """Makes reports about a word on the device of the person who used it."""

    mechanism: Sketch

    def __post_init__(self) -> None:
        rule = "must be a sketch, such as HadamardSketch(epsilon=1)"
        check_mechanism(self.mechanism, "width", "hashes", "draw", rule=rule)

    def report(self, word: Word, *, entropy: Entropy = SYSTEM) -> bytes:
        """Return one person's report, ready to be sent."""
        return bytes(self.report_many([word], entropy=entropy))

    def report_many(self, words: Sequence[Word], *, entropy: Entropy = SYSTEM) -> Reports:
        """Return a report for each of many people."""
        return Reports(self.mechanism, self.mechanism.draw(keys_of(words), entropy))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SketchEstimates:
    """How many of `people` hold each word: unbiased over the choice of hash functions.

    Standard errors include the noise and collisions of words; `low` and `high` hold for all words
    at once with about the stated confidence, by the normal law and a union bound.
    """

    people: int
    confidence: Fraction
    words: tuple[Word, ...]
    counts: FloatArray
    standard_errors: FloatArray
    low: FloatArray
    high: FloatArray


def estimate_words(
    tally: Tally[Sketch], words: Sequence[Word], *, confidence: Real = 0.95
) -> SketchEstimates:
    """Return how many people hold each of these words, whether anyone reported them or not."""
    level = confidence_level(confidence)
    if not len(words):
        raise ParameterError("words", HIDDEN, "must be at least one")
    counts = unbiased_counts(tally, keys_of(words))
    errors = np.sqrt(variances(tally, counts))
    reach = normal_reach(level, len(words)) * errors
    return SketchEstimates(
        people=tally.people,
        confidence=level,
        words=tuple(words),
        counts=counts,
        standard_errors=errors,
        low=counts - reach,
        high=counts + reach,
    )


def normal_reach(confidence: Fraction, many: int) -> float:
    """Return how many standard errors hold for so many normal estimates at once."""
    return -NormalDist().inv_cdf(float(1 - confidence) / (2 * many))


def unbiased_counts(tally: Tally[Sketch], keys: Keys) -> FloatArray:
    """Return the estimated counts: m / (m - 1) · (sum over rows of the word's column - n / m).

    Another word falls into a word's column with chance 1 / m, which the last term takes away (Apple
    2017, Theorem 1).
    """
    sketch = tally.mechanism
    sums, drawn = sketch.sums(tally.cells)
    check_counts(tally, drawn)
    m = sketch.width
    found = np.zeros(len(keys))
    for row, seed in enumerate(seeds(sketch.family, sketch.hashes)):
        for start in range(0, len(keys), PIECE):
            piece = keys[start : start + PIECE]
            found[start : start + PIECE] += sums[row, columns(piece, seed, m)]
    return (found - tally.people / m) * (m / (m - 1))


def variances(tally: Tally[Sketch], counts: FloatArray) -> FloatArray:
    """Return the variance of each estimated count, over noise, rows and hash functions.

    Each of n reports has its own noise; that of another word collides with chance 1 / m, and two
    people with the same other word who drew the same of k rows collide together: with f_w people
    for each word, that adds Σ f_w (f_w - 1) / (k m) · (1 - 1 / m).
    """
    sketch, n = tally.mechanism, tally.people
    m, k = sketch.width, sketch.hashes
    held = np.clip(counts, 0, n)
    together = np.maximum(same_word_pairs(tally) - held * (held - 1), 0)
    collide = (1 - 1 / m) / m
    alone = held * sketch.noise(1.0) + (n - held) * (
        (1 - 1 / m) * sketch.noise(0.0) + sketch.noise(1.0) / m + collide
    )
    return np.asarray((alone + together * collide / k) * (m / (m - 1)) ** 2)


def same_word_pairs(tally: Tally[Sketch]) -> float:
    """Return about how many ordered pairs of people hold the same word, between 0 and n (n - 1).

    The squares of a row's sums are what noise adds, n_j, and the pairs in the same column: those
    with the same word, and 1 / m of all others.
    """
    sketch, n = tally.mechanism, tally.people
    sums, drawn = sketch.sums(tally.cells)
    m = sketch.width
    of_noise = drawn * ((m - 1) * sketch.noise(0.0) + sketch.noise(1.0))
    squares = np.sum(sums**2, axis=1) - of_noise - drawn - drawn * (drawn - 1) / m
    pairs = sketch.hashes * float(np.sum(squares)) / (1 - 1 / m)
    return min(max(pairs, 0.0), float(n) * max(0, n - 1))


def sketch_influence(sketch: Sketch) -> float:
    """Return the most by which one report, however dishonest, moves any one estimated count."""
    low, high = sketch.says()
    m = sketch.width
    return float(max(high - Fraction(1, m), Fraction(1, m) - low) * Fraction(m, m - 1))
