"""Counts of words that nobody listed beforehand: the count-mean sketch and its one-bit form.

Words become 64-bit keys, and public hash functions map keys to columns of a sketch. Privacy does
not depend on the hash functions. The errors of sketches are stated as if the functions were drawn
at random, independently of the words.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b, sha256
from itertools import product
from math import prod
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.deprecated import Renamed, deprecated_names
from discreet.errors import HIDDEN, ParameterError
from discreet.local.draws import coins, exp_down, probability_up
from discreet.local.mechanism import (
    PureCharge,
    ReportArray,
    ReportFormat,
    call_text,
    checked_epsilon,
    freeze_fields,
    integer_format,
    listed,
)
from discreet.noise import Entropy, uniform_integers
from discreet.noise.uniform import BoolArray, FloatArray, IntArray
from discreet.parameters import Real, integer

Keys: TypeAlias = NDArray[np.uint64]
Word: TypeAlias = str | bytes | int

WORD_BYTES_MOST = 1 << 16
HASHES_MOST, WIDTH_MOST = 1 << 16, 1 << 16
COUNTERS_MOST = 1 << 26
PIECE = 1 << 20
"""Bits per pass: 1 MiB, unpacked."""


def keys_of(words: Iterable[Word]) -> Keys:
    """Return a 64-bit key for each word; 5 and "5" are different words."""
    return np.array([_key(each) for each in listed("words", words)], np.uint64)


def _key(word: object) -> int:
    if isinstance(word, str):
        content = b"s" + word.encode("utf-8", "surrogatepass")
    elif isinstance(word, bytes):
        content = b"b" + word
    elif isinstance(word, int | np.integer) and not isinstance(word, bool):
        content = b"i" + str(int(word)).encode()
    else:
        raise ParameterError("words", HIDDEN, "must be texts, bytes or whole numbers")
    if len(content) > WORD_BYTES_MOST:
        raise ParameterError("words", HIDDEN, f"must be shorter than {WORD_BYTES_MOST} bytes")
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


@lru_cache(maxsize=64)
def seeds(family: int, hashes: int) -> Keys:
    """Return the public seeds of the first `hashes` hash functions of a family."""
    found = [sha256(f"discreet.sketch/1 {family} {j}".encode()).digest()[:8] for j in range(hashes)]
    return np.frombuffer(b"".join(found), "<u8").astype(np.uint64)


def columns(keys: Keys, of_each: Keys, width: int) -> IntArray:
    """Return a column below `width`, a power of two, for each key under its seed.

    The column is the upper bits of the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
    """
    x = keys ^ of_each
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    bits = width.bit_length() - 1
    return (x >> np.uint64(64 - bits)).astype(np.int64)


# --------------------------------------------------------------------------- sketches


@dataclass(frozen=True, slots=True, init=False, repr=False)
class CountMeanSketch:
    """Epsilon-locally private: report a random row of bits, with only the word's column set.

    Each bit is flipped. Two words differ in at most two bits, and the likelihood ratio of a bit is
    at most e^(ε/2) (Apple 2017, Learning with privacy at scale, Algorithm 1). The row is drawn
    independently of the word.
    """

    tag: ClassVar[str] = "count-mean-sketch/1"
    epsilon: Fraction
    hashes: int
    width: int
    family: int
    flip: Fraction = field(init=False)

    def __init__(
        self, *, epsilon: Real, hashes: int = 256, width: int = 256, family: int = 0
    ) -> None:
        exact = checked_epsilon(epsilon)
        shape = checked_shape(hashes, width, least=8)
        freeze_fields(
            self,
            epsilon=exact,
            hashes=shape[0],
            width=shape[1],
            family=integer("family", family, least=0, most=1 << 32),
            flip=probability_up(1 / (exp_down(exact / 2) + 1)),
        )

    __repr__ = call_text

    event = PureCharge()

    @property
    def report_format(self) -> ReportFormat:
        return ReportFormat(np.uint8, 2 + self.width // 8)

    @property
    def counters(self) -> int:
        return self.hashes * (self.width + 1)

    def encode(self, values: Iterable[Word]) -> Keys:
        return keys_of(values)

    def draw(self, encoded: Keys, entropy: Entropy) -> ReportArray:
        """Return a report for each key: two bytes of the row's number, then its bits."""
        reports = self.report_format.empty(len(encoded))
        piece = max(1, PIECE // self.width)
        for start in range(0, len(encoded), piece):
            reports[start : start + piece] = self._drawn(encoded[start : start + piece], entropy)
        return reports

    def _drawn(self, keys: Keys, entropy: Entropy) -> ReportArray:
        chosen = uniform_integers(self.hashes, len(keys), entropy=entropy)
        at = columns(keys, seeds(self.family, self.hashes)[chosen], self.width)
        bits = coins(self.flip, len(keys) * self.width, entropy).reshape(len(keys), self.width)
        bits[np.arange(len(keys)), at] ^= True
        named = chosen.astype("<u2").view(np.uint8).reshape(len(keys), 2)
        return np.concatenate([named, np.packbits(bits, axis=1, bitorder="little")], axis=1)

    def are_valid(self, reports: ReportArray) -> bool:
        return not len(reports) or bool(first_two_bytes(reports).max() < self.hashes)

    def tally(self, reports: ReportArray) -> IntArray:
        """Return how often each bit of each row is set, then how often each row was drawn."""
        return tally_bits_by_group(reports, self.hashes, self.width)

    def sums(self, counters: IntArray) -> tuple[FloatArray, IntArray]:
        """Return unbiased numbers of words in each row and column, and the reports of each row."""
        drawn = counters[-self.hashes :]
        seen = counters[: -self.hashes].reshape(self.hashes, self.width)
        flip = float(self.flip)
        return (seen - drawn[:, np.newaxis] * flip) / (1 - 2 * flip), drawn

    def extremes(self) -> tuple[Fraction, Fraction]:
        """Return the least and the most that one report adds to the sum of its row and a column."""
        gap = 1 - 2 * self.flip
        return -self.flip / gap, (1 - self.flip) / gap

    def noise(self, is_there: float) -> float:  # noqa: ARG002 - the same for both
        """Return the variance of what a report adds, given whether its word is in the column."""
        gap = 1 - 2 * self.flip
        return float(self.flip * (1 - self.flip) / gap**2)

    def distribution(self, columns: Sequence[int]) -> list[Fraction]:
        """Return the exact probability of each report, given a word's column in each row.

        Reports are listed by row, then by bits; the last bit changes fastest. For width 8 only.
        """
        if self.width > 8:
            raise ParameterError("width", self.width, "must be 8 to list all reports")
        keep, each = 1 - self.flip, Fraction(1, self.hashes)
        return [
            prod(
                (keep if bit == (i == at) else self.flip for i, bit in enumerate(bits)), start=each
            )
            for at in columns
            for bits in product((False, True), repeat=self.width)
        ]

    chances = Renamed("distribution")
    says = Renamed("extremes")
    cells = Renamed("counters")
    row = Renamed("report_format")


def checked_shape(hashes: object, width: object, *, least: int) -> tuple[int, int]:
    """Return the rows and columns of a sketch, or reject them."""
    rows = integer("hashes", hashes, least=1, most=HASHES_MOST)
    wide = integer("width", width, least=least, most=WIDTH_MOST)
    if wide & (wide - 1):
        raise ParameterError("width", width, "must be a power of two")
    if rows * wide > COUNTERS_MOST:
        raise ParameterError(
            "hashes", hashes, f"must be {COUNTERS_MOST // wide} or less at this width"
        )
    return rows, wide


def first_two_bytes(reports: ReportArray) -> IntArray:
    """Return the number in the first two bytes of each report: its row or cohort."""
    return reports[:, 0].astype(np.int64) + 256 * reports[:, 1].astype(np.int64)


def tally_bits_by_group(reports: ReportArray, groups: int, bits: int) -> IntArray:
    """Return how often each bit is set in each group of reports, then the reports of each group.

    The first two bytes of a report are its group; its bits follow.
    """
    found = np.zeros((groups, bits), np.int64)
    chosen = first_two_bytes(reports)
    order = np.argsort(chosen, kind="stable")
    piece = max(1, PIECE // bits)
    for start in range(0, len(reports), piece):
        part = order[start : start + piece]
        at, firsts = np.unique(chosen[part], return_index=True)
        seen = np.unpackbits(reports[part, 2:].astype(np.uint8), axis=1, bitorder="little")
        found[at] += np.add.reduceat(seen, firsts, axis=0, dtype=np.int64)
    return np.concatenate([found.reshape(-1), np.bincount(chosen, minlength=groups)])


@dataclass(frozen=True, slots=True, init=False, repr=False)
class HadamardSketch:
    """Epsilon-locally private: report one bit of a word, a random sign of its column.

    Row and coordinate are drawn independently of the word. The sign there goes through binary
    randomized response (Apple 2017, Learning with privacy at scale, Algorithm 5).
    """

    tag: ClassVar[str] = "hadamard-sketch/1"
    epsilon: Fraction
    hashes: int
    width: int
    family: int
    flip: Fraction = field(init=False)

    def __init__(
        self, *, epsilon: Real, hashes: int = 256, width: int = 1024, family: int = 0
    ) -> None:
        exact = checked_epsilon(epsilon)
        shape = checked_shape(hashes, width, least=2)
        freeze_fields(
            self,
            epsilon=exact,
            hashes=shape[0],
            width=shape[1],
            family=integer("family", family, least=0, most=1 << 32),
            flip=probability_up(1 / (exp_down(exact) + 1)),
        )

    __repr__ = call_text

    event = PureCharge()

    @property
    def reports(self) -> int:
        """The number of different reports: a row, a coordinate and a sign."""
        return 2 * self.hashes * self.width

    @property
    def report_format(self) -> ReportFormat:
        return integer_format((self.reports - 1).bit_length())

    @property
    def counters(self) -> int:
        return self.hashes * (self.width + 1)

    def encode(self, values: Iterable[Word]) -> Keys:
        return keys_of(values)

    def draw(self, encoded: Keys, entropy: Entropy) -> ReportArray:
        """Return a report for each key: (row · width + coordinate) · 2 + (1 if the sign is -)."""
        chosen = uniform_integers(self.hashes, len(encoded), entropy=entropy)
        at = columns(encoded, seeds(self.family, self.hashes)[chosen], self.width)
        coordinate = uniform_integers(self.width, len(encoded), entropy=entropy)
        is_minus = are_odd(coordinate & at) ^ coins(self.flip, len(encoded), entropy)
        return ((chosen * self.width + coordinate) * 2 + is_minus).astype(self.report_format.dtype)

    def are_valid(self, reports: ReportArray) -> bool:
        return not len(reports) or bool(reports.max() < self.reports)

    def tally(self, reports: ReportArray) -> IntArray:
        """Return the sum of signs at each row and coordinate, then how often each row was drawn."""
        size = self.hashes * self.width
        each = np.bincount(reports.astype(np.int64), minlength=2 * size).reshape(size, 2)
        drawn = each.sum(axis=1).reshape(self.hashes, self.width).sum(axis=1)
        return np.concatenate([each[:, 0] - each[:, 1], drawn])

    def sums(self, counters: IntArray) -> tuple[FloatArray, IntArray]:
        """Return unbiased numbers of words in each row and column, and the reports of each row."""
        signs = counters[: -self.hashes].reshape(self.hashes, self.width)
        scale = 1 / float(1 - 2 * self.flip)
        return transformed_rows(signs.astype(np.float64)) * scale, counters[-self.hashes :]

    def extremes(self) -> tuple[Fraction, Fraction]:
        """Return the least and the most that one report adds to the sum of its row and a column."""
        scale = 1 / (1 - 2 * self.flip)
        return -scale, scale

    def noise(self, is_there: float) -> float:
        """Return the variance of what a report adds, given whether its word is in the column."""
        return float(1 / (1 - 2 * self.flip) ** 2) - is_there**2

    def distribution(self, columns: Sequence[int]) -> list[Fraction]:
        """Return the exact probability of each report, given a word's column in each row."""
        share = Fraction(1, self.hashes * self.width)
        found = []
        for at in columns:
            for coordinate in range(self.width):
                minus = 1 - self.flip if (coordinate & at).bit_count() % 2 else self.flip
                found += [share * (1 - minus), share * minus]
        return found

    chances = Renamed("distribution")
    says = Renamed("extremes")
    cells = Renamed("counters")
    row = Renamed("report_format")


def are_odd(values: IntArray) -> BoolArray:
    """Return for each number whether an odd number of its bits are set."""
    return np.asarray(np.bitwise_count(values) & 1, np.bool_)


def transformed_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Walsh-Hadamard transform of each row, unscaled."""
    found, width = rows, rows.shape[1]
    half = 1
    while half < width:
        parts = found.reshape(len(rows), -1, 2, half)
        plus, minus = parts[:, :, 0] + parts[:, :, 1], parts[:, :, 0] - parts[:, :, 1]
        found = np.stack([plus, minus], axis=2).reshape(len(rows), width)
        half *= 2
    return found


_OLD_NAMES = {
    "SketchClient": "discreet.local.Client",
    "SketchEstimates": "discreet.local.SketchEstimates",
    "estimate_words": "discreet.local.old_names.estimate_words",
    "sketch_influence": "discreet.local.sketch_influence",
}
__all__ = ["CountMeanSketch", "HadamardSketch"]
__all__.extend(_OLD_NAMES)
__getattr__ = deprecated_names(__name__, _OLD_NAMES)
