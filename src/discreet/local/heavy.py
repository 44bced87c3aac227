"""Heavy hitters: the words that many people hold, found letter by letter.

The people are parted at random into groups, one for each length of a prefix, and everyone reports
the prefix of the own word that the group is about: once, with the whole epsilon. The server keeps
the prefixes that stand out and asks the next group's reports about their continuations (prefix
extending: Wang, Li, Jha 2018, and Bassily et al. 2017, TreeHist).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.errors import HIDDEN, ParameterError
from discreet.local.base import Row, Rows, check_mechanism, integer_row, listed, settle, written
from discreet.local.charges import pure_event
from discreet.local.reports import Reports
from discreet.local.sketches.estimates import (
    normal_reach,
    sketch_influence,
    unbiased_counts,
    variances,
)
from discreet.local.sketches.hadamard import HadamardSketch
from discreet.local.sketches.hashing import keys_of
from discreet.local.tallies import Tally, check_counts
from discreet.noise import SYSTEM, Entropy, uniform_integers
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, confidence_level, whole

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent

END = "\0"
"""Fills words up to their full length."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LENGTH_MOST = 64
CANDIDATES_MOST = 1 << 20
"""So many prefixes are tried at once."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class HeavyHitters:
    """Report a prefix of one's word, as long as one's group says; epsilon-locally private.

    The group is drawn on the device without regard to the word, the prefix goes through a Hadamard
    sketch of the same epsilon. Words are of letters of `alphabet`, `length` of them at most.
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
        most = whole("length", length, least=1, most=LENGTH_MOST)
        settle(
            self,
            epsilon=sketch.epsilon,
            alphabet=_checked_alphabet(alphabet),
            length=most,
            first=whole("first", first, least=1, most=most),
            step=whole("step", step, least=1, most=most),
            hashes=sketch.hashes,
            width=sketch.width,
            sketch=sketch,
        )
        if (len(alphabet) + 1) ** max(self.first, self.step) > CANDIDATES_MOST:
            raise ParameterError("first", first, "must be fewer letters, so that all can be tried")

    __repr__ = written

    @property
    def event(self) -> "PureEvent":
        """What one report costs the person who sends it."""
        return pure_event(self.epsilon)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The length of the prefixes of each group; the last has whole words."""
        return (*range(self.first, self.length, self.step), self.length)

    @property
    def row(self) -> Row:
        return integer_row((len(self.lengths) * self.sketch.reports - 1).bit_length())

    @property
    def cells(self) -> int:
        return len(self.lengths) * self.sketch.cells

    def draw(self, words: Sequence[str], entropy: Entropy) -> Rows:
        """Return a report for each word: the group's number · reports of a sketch + the report."""
        filled = [self.filled(word) for word in listed("words", words)]
        groups = uniform_integers(len(self.lengths), len(filled), entropy=entropy)
        prefixes = [
            self.named(group, word) for group, word in zip(groups.tolist(), filled, strict=True)
        ]
        rows = self.sketch.draw(keys_of(prefixes), entropy).astype(self.row.kind)
        return rows + (groups * self.sketch.reports).astype(self.row.kind)

    def filled(self, word: str) -> str:
        """Return the word at its full length, or refuse it without showing it."""
        if not isinstance(word, str) or len(word) > self.length or set(word) - set(self.alphabet):
            rule = f"must be at most {self.length} letters of the alphabet; cut them on the device"
            raise ParameterError("words", HIDDEN, rule)
        return word.ljust(self.length, END)

    def named(self, group: int, word: str) -> str:
        """Return what a group's sketch counts for a word."""
        return f"{group}:{word[: self.lengths[group]]}"

    def are_valid(self, rows: Rows) -> bool:
        return not len(rows) or bool(rows.max() < len(self.lengths) * self.sketch.reports)

    def tally(self, rows: Rows) -> IntArray:
        groups = (rows // self.sketch.reports).astype(np.int64)
        inner = (rows % self.sketch.reports).astype(self.sketch.row.kind)
        parts = [self.sketch.tally(inner[groups == each]) for each in range(len(self.lengths))]
        return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class HeavyClient:
    """Makes reports about a word on the device of the person who used it."""

    mechanism: HeavyHitters

    def __post_init__(self) -> None:
        check_mechanism(self.mechanism, "alphabet", "draw", rule="must be HeavyHitters")

    def report(self, word: str, *, entropy: Entropy = SYSTEM) -> bytes:
        """Return one person's report, ready to be sent."""
        return bytes(self.report_many([word], entropy=entropy))

    def report_many(self, words: Sequence[str], *, entropy: Entropy = SYSTEM) -> Reports:
        """Return a report for each of many people."""
        return Reports(self.mechanism, self.mechanism.draw(words, entropy))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """Words that stand out, most frequent first, with unbiased counts among all people.

    A word that nobody holds is listed with chance at most 1 - confidence, by the normal law and a
    union bound over all prefixes that were tried. Counts come from the last group alone.
    """

    people: int
    confidence: Fraction
    words: tuple[str, ...]
    counts: FloatArray
    standard_errors: FloatArray


def find_words(tally: Tally[HeavyHitters], *, confidence: Real = 0.95, most: int = 64) -> Found:
    """Return the words that stand out: at most `most` prefixes are kept at each length."""
    level, kept = confidence_level(confidence), whole("most", most, least=1, most=10_000)
    mechanism = tally.mechanism
    rows = tally.cells.reshape(len(mechanism.lengths), mechanism.sketch.cells)
    check_counts(tally, rows[:, -mechanism.hashes :])
    miss = (1 - level) / len(mechanism.lengths)
    prefixes: list[str] = [""]
    counts = errors = np.zeros(0)
    for group in range(len(mechanism.lengths)):
        tried = _continued(mechanism, prefixes, group)
        counts, errors = _estimated(tally, group, tried)
        threshold = normal_reach(1 - 2 * miss, len(tried)) * errors
        order = np.argsort(-counts, kind="stable")[:kept]
        order = order[counts[order] > threshold[order]]
        prefixes, counts, errors = [tried[i] for i in order], counts[order], errors[order]
        if not prefixes:
            break
    return Found(
        people=tally.people,
        confidence=level,
        words=tuple(each.rstrip(END) for each in prefixes),
        counts=counts,
        standard_errors=errors,
    )


def _continued(mechanism: HeavyHitters, prefixes: Sequence[str], group: int) -> list[str]:
    """Return all continuations of prefixes to a group's length; a word that ended stays ended."""
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
        raise ParameterError("most", len(prefixes), "must be less, so that all can be tried")
    return found


def _estimated(
    tally: Tally[HeavyHitters], group: int, tried: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """Return counts among all people, and their errors, from one group's reports."""
    mechanism = tally.mechanism
    part: Tally[HadamardSketch] = Tally(mechanism.sketch)
    size = mechanism.sketch.cells
    part.cells += tally.cells[group * size : (group + 1) * size]
    part.people = int(part.cells[-mechanism.sketch.hashes :].sum())
    if not part.people:
        return np.zeros(len(tried)), np.full(len(tried), np.inf)
    counts = unbiased_counts(part, keys_of(f"{group}:{each}" for each in tried))
    errors = np.sqrt(variances(part, counts))
    # The group is a sample of all: what it holds of a word varies, too.
    share = np.clip(counts / part.people, 0, 1)
    errors = np.sqrt(errors**2 + part.people * share * (1 - share))
    scale = tally.people / part.people
    return counts * scale, errors * scale


def heavy_influence(tally: Tally[HeavyHitters]) -> float:
    """Return the most by which one more report, however dishonest, moves any one count.

    A report adds at most `alone` to its group's sums. A count is scaled by n / g, for g of n people
    in the last group, and a group's sums are at most g times `alone`: so a count moves by at most
    (2 n + 1 - g) / (g + 1) times `alone`, about twice the number of groups.
    """
    mechanism, n = tally.mechanism, tally.people
    last = int(tally.cells[-mechanism.hashes :].sum())
    return sketch_influence(mechanism.sketch) * (2 * n + 1 - last) / (last + 1)


def _checked_alphabet(alphabet: object) -> str:
    if not isinstance(alphabet, str) or not 2 <= len(alphabet) <= 1024 or END in alphabet:
        raise ParameterError("alphabet", alphabet, "must be 2 to 1024 letters, without NUL")
    if len(set(alphabet)) < len(alphabet):
        raise ParameterError("alphabet", alphabet, "must have no letter twice")
    return alphabet
