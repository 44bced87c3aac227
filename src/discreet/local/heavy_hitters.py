"""Counts of words from sketches, and heavy hitters: frequent words found letter by letter.

For heavy hitters, people are divided at random into groups, one for each prefix length. Everyone
reports once, with the whole epsilon, the prefix of their word that their group is about. The server
keeps the significant prefixes and looks for their continuations in the next group's reports (prefix
extending: Wang, Li, Jha 2018, and Bassily et al. 2017, TreeHist).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import ClassVar, TypeAlias

import numpy as np

from discreet.deprecated import Renamed
from discreet.errors import HIDDEN, ParameterError
from discreet.local.estimates import estimate_tally, normal_margin
from discreet.local.mechanism import (
    PureCharge,
    ReportArray,
    ReportFormat,
    call_text,
    freeze_fields,
    integer_format,
    listed,
)
from discreet.local.reports import Tally, check_counts
from discreet.local.sketches import (
    CountMeanSketch,
    HadamardSketch,
    Keys,
    Word,
    columns,
    keys_of,
    seeds,
)
from discreet.noise import Entropy, uniform_integers
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, integer

Sketch: TypeAlias = CountMeanSketch | HadamardSketch

PIECE = 1 << 16
"""Words per pass."""

END = "\0"
"""Pads words to their full length."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LENGTH_MOST = 64
CANDIDATES_MOST = 1 << 20
"""The most prefixes that are tried at once."""


# --------------------------------------------------------------------------- words of a list


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SketchEstimates:
    """How many of `people` hold each word. Counts are unbiased over the choice of hash functions.

    Standard errors include the noise and the collisions of words. `low` to `high` holds for all
    words at once with about the stated confidence, by the normal approximation and a union bound.
    """

    people: int
    confidence: Fraction
    words: tuple[Word, ...]
    counts: FloatArray
    standard_errors: FloatArray
    low: FloatArray
    high: FloatArray


@estimate_tally.register(CountMeanSketch)
@estimate_tally.register(HadamardSketch)
def estimated_words(
    mechanism: Sketch,  # noqa: ARG001 - the tally has it
    tally: Tally[Sketch],
    confidence: Fraction,
    *,
    words: Sequence[Word],
) -> SketchEstimates:
    """Return how many people hold each of these words, even words that nobody reported."""
    if not len(words):
        raise ParameterError("words", HIDDEN, "must be at least one word")
    counts = unbiased_counts(tally, keys_of(words))
    errors = np.sqrt(variances(tally, counts))
    margins = normal_margin(confidence, len(words)) * errors
    return SketchEstimates(
        people=tally.people,
        confidence=confidence,
        words=tuple(words),
        counts=counts,
        standard_errors=errors,
        low=counts - margins,
        high=counts + margins,
    )


def unbiased_counts(tally: Tally[Sketch], keys: Keys) -> FloatArray:
    """Return the estimated counts: m / (m - 1) · (sum over rows of the word's column - n / m).

    Another word falls into a word's column with probability 1 / m, which the last term corrects
    (Apple 2017, Theorem 1).
    """
    sketch = tally.mechanism
    sums, drawn = sketch.sums(tally.counters)
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

    Each of n reports has its own noise, and a report of another word collides with probability 1 /
    m. Two people with the same other word who drew the same of k rows collide together. With f_w
    people for each word, that adds Σ f_w (f_w - 1) / (k m) · (1 - 1 / m).
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
    """Estimate how many ordered pairs of people hold the same word, between 0 and n (n - 1).

    The squares of a row's sums consist of the noise, n_j, and the pairs in the same column. Those
    are the pairs with the same word, and 1 / m of all other pairs.
    """
    sketch, n = tally.mechanism, tally.people
    sums, drawn = sketch.sums(tally.counters)
    m = sketch.width
    of_noise = drawn * ((m - 1) * sketch.noise(0.0) + sketch.noise(1.0))
    squares = np.sum(sums**2, axis=1) - of_noise - drawn - drawn * (drawn - 1) / m
    pairs = sketch.hashes * float(np.sum(squares)) / (1 - 1 / m)
    return min(max(pairs, 0.0), float(n) * max(0, n - 1))


def sketch_influence(sketch: Sketch) -> float:
    """Return the most by which one report, even a malicious one, moves any one estimated count."""
    low, high = sketch.extremes()
    m = sketch.width
    return float(max(high - Fraction(1, m), Fraction(1, m) - low) * Fraction(m, m - 1))


# --------------------------------------------------------------------------- frequent words


@dataclass(frozen=True, slots=True, init=False, repr=False)
class HeavyHitters:
    """Epsilon-locally private report of a word's prefix. Its length depends on the person's group.

    The device draws the group independently of the word. The prefix goes through a Hadamard sketch
    of the same epsilon. Words have at most `length` letters of `alphabet`.
    """

    tag: ClassVar[str] = "heavy-hitters/1"
    epsilon: Fraction
    alphabet: str
    length: int
    first: int
    step: int
    hashes: int
    width: int
    sketch: HadamardSketch = field(init=False)

    def __init__(  # noqa: PLR0913 - a prefix tree and a sketch
        self,
        *,
        epsilon: Real,
        alphabet: str = LETTERS,
        length: int = 8,
        first: int = 2,
        step: int = 2,
        hashes: int = 128,
        width: int = 1024,
    ) -> None:
        sketch = HadamardSketch(epsilon=epsilon, hashes=hashes, width=width)
        most = integer("length", length, least=1, most=LENGTH_MOST)
        freeze_fields(
            self,
            epsilon=sketch.epsilon,
            alphabet=_checked_alphabet(alphabet),
            length=most,
            first=integer("first", first, least=1, most=most),
            step=integer("step", step, least=1, most=most),
            hashes=sketch.hashes,
            width=sketch.width,
            sketch=sketch,
        )
        if (len(alphabet) + 1) ** max(self.first, self.step) > CANDIDATES_MOST:
            raise ParameterError(
                "first", first, "must be smaller, so that all prefixes can be tried"
            )

    __repr__ = call_text

    event = PureCharge()

    @property
    def lengths(self) -> tuple[int, ...]:
        """The prefix length of each group; the last group reports whole words."""
        return (*range(self.first, self.length, self.step), self.length)

    @property
    def report_format(self) -> ReportFormat:
        return integer_format((len(self.lengths) * self.sketch.reports - 1).bit_length())

    @property
    def counters(self) -> int:
        return len(self.lengths) * self.sketch.counters

    def encode(self, values: Iterable[str]) -> list[str]:
        """Return the words at their full length, or reject them without showing any."""
        return [self.filled(word) for word in listed("words", values)]

    def draw(self, encoded: Sequence[str], entropy: Entropy) -> ReportArray:
        """Return a report for each word: the group's number · reports of a sketch + the report."""
        groups = uniform_integers(len(self.lengths), len(encoded), entropy=entropy)
        prefixes = [
            self.named(group, word) for group, word in zip(groups.tolist(), encoded, strict=True)
        ]
        dtype = self.report_format.dtype
        reports = self.sketch.draw(keys_of(prefixes), entropy).astype(dtype)
        return reports + (groups * self.sketch.reports).astype(dtype)

    def filled(self, word: str) -> str:
        """Return the word at its full length, or reject it without showing it."""
        if not isinstance(word, str) or len(word) > self.length or set(word) - set(self.alphabet):
            rule = f"must be at most {self.length} letters of the alphabet; cut them on the device"
            raise ParameterError("words", HIDDEN, rule)
        return word.ljust(self.length, END)

    def named(self, group: int, word: str) -> str:
        """Return the key of a word in a group's sketch."""
        return f"{group}:{word[: self.lengths[group]]}"

    def are_valid(self, reports: ReportArray) -> bool:
        return not len(reports) or bool(reports.max() < len(self.lengths) * self.sketch.reports)

    def tally(self, reports: ReportArray) -> IntArray:
        groups = (reports // self.sketch.reports).astype(np.int64)
        inner = (reports % self.sketch.reports).astype(self.sketch.report_format.dtype)
        parts = [self.sketch.tally(inner[groups == each]) for each in range(len(self.lengths))]
        return np.concatenate(parts)

    cells = Renamed("counters")
    row = Renamed("report_format")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoundWords:
    """Frequent words, the most frequent first, with unbiased counts among all people.

    A word that nobody holds is listed with probability at most 1 - confidence, by the normal
    approximation and a union bound over all prefixes that were tried. Counts come from the last
    group alone.
    """

    people: int
    confidence: Fraction
    words: tuple[str, ...]
    counts: FloatArray
    standard_errors: FloatArray


@estimate_tally.register(HeavyHitters)
def found_words(
    mechanism: HeavyHitters,
    tally: Tally[HeavyHitters],
    confidence: Fraction,
    *,
    most: int = 64,
) -> FoundWords:
    """Return the significant words. At most `most` prefixes are continued at each length."""
    kept = integer("most", most, least=1, most=10_000)
    groups = tally.counters.reshape(len(mechanism.lengths), mechanism.sketch.counters)
    check_counts(tally, groups[:, -mechanism.hashes :])
    miss = (1 - confidence) / len(mechanism.lengths)
    prefixes: list[str] = [""]
    counts = errors = np.zeros(0)
    for group in range(len(mechanism.lengths)):
        tried = _continued(mechanism, prefixes, group)
        counts, errors = _estimated(tally, group, tried)
        threshold = normal_margin(1 - 2 * miss, len(tried)) * errors
        order = np.argsort(-counts, kind="stable")[:kept]
        order = order[counts[order] > threshold[order]]
        prefixes, counts, errors = [tried[i] for i in order], counts[order], errors[order]
        if not prefixes:
            break
    return FoundWords(
        people=tally.people,
        confidence=confidence,
        words=tuple(each.rstrip(END) for each in prefixes),
        counts=counts,
        standard_errors=errors,
    )


def _continued(mechanism: HeavyHitters, prefixes: Sequence[str], group: int) -> list[str]:
    """Return all continuations of prefixes to a group's length. Ended words stay as they are."""
    letters = mechanism.alphabet + END
    found = []
    for prefix in prefixes:
        more = mechanism.lengths[group] - len(prefix)
        if prefix.endswith(END):
            found.append(prefix + END * more)
            continue
        ends = ("".join(each) for each in product(letters, repeat=more))
        found += [prefix + each for each in ends if END not in each.rstrip(END)]
    if len(found) > CANDIDATES_MOST:
        raise ParameterError(
            "most", len(prefixes), "must be smaller, so that all continuations can be tried"
        )
    return found


def _estimated(
    tally: Tally[HeavyHitters], group: int, tried: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """Return counts among all people, and their errors, from one group's reports."""
    mechanism = tally.mechanism
    part: Tally[HadamardSketch] = Tally(mechanism.sketch)
    size = mechanism.sketch.counters
    part.counters += tally.counters[group * size : (group + 1) * size]
    part.people = int(part.counters[-mechanism.sketch.hashes :].sum())
    if not part.people:
        return np.zeros(len(tried)), np.full(len(tried), np.inf)
    counts = unbiased_counts(part, keys_of(f"{group}:{each}" for each in tried))
    errors = np.sqrt(variances(part, counts))
    # The group is a random sample of all people, which adds sampling error.
    share = np.clip(counts / part.people, 0, 1)
    errors = np.sqrt(errors**2 + part.people * share * (1 - share))
    scale = tally.people / part.people
    return counts * scale, errors * scale


def heavy_influence(tally: Tally[HeavyHitters]) -> float:
    """Return the most by which one more report, even a malicious one, moves any one count.

    A report adds at most a = `sketch_influence` to its group's sums. A count is scaled by n / g,
    for g of n people in the last group, and a group's sums are at most g a. So a count moves by at
    most (2 n + 1 - g) / (g + 1) times a, about twice the number of groups.
    """
    mechanism, n = tally.mechanism, tally.people
    last = int(tally.counters[-mechanism.hashes :].sum())
    return sketch_influence(mechanism.sketch) * (2 * n + 1 - last) / (last + 1)


def _checked_alphabet(alphabet: object) -> str:
    if not isinstance(alphabet, str) or not 2 <= len(alphabet) <= 1024 or END in alphabet:
        raise ParameterError("alphabet", alphabet, "must be 2 to 1024 letters, without NUL")
    if len(set(alphabet)) < len(alphabet):
        raise ParameterError("alphabet", alphabet, "must not have a letter twice")
    return alphabet
