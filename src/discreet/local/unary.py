"""Unary encoding, and reports that are bitmaps: a bit for each value."""

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from discreet.deprecated import Renamed
from discreet.local.draws import coins, exp_down, probability_up
from discreet.local.mechanism import (
    OldOracleNames,
    PureCharge,
    ReportArray,
    ReportFormat,
    call_text,
    checked_categories,
    checked_epsilon,
    checked_values,
    freeze_fields,
)
from discreet.noise import Entropy
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import Real, choice

PIECE_BITS = 1 << 18
"""Bits drawn per pass, a byte each: as many as fit into the processor's cache."""

WIDE_BYTES = 40
"""Longer reports are counted by adding bits (both ways are equally fast near this length)."""

PIECE_ROWS = 1 << 13
"""Reports counted per pass: enough to make the loop over bytes cheap."""

BITS_OF_BYTE = np.unpackbits(
    np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little"
)


class UnaryForm(Enum):
    """How the bits of the held value and of the other values share epsilon."""

    SYMMETRIC = "symmetric"
    OPTIMIZED = "optimised"
    """The stored spelling; "optimized" is accepted as well."""

    @classmethod
    def _missing_(cls, value: object) -> "UnaryForm | None":
        return cls.OPTIMIZED if value == "optimized" else None

    if not TYPE_CHECKING:
        OPTIMISED = Renamed("OPTIMIZED")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class UnaryEncoding(OldOracleNames):
    """Epsilon-locally private: report a bit for each value.

    The bit of the true value is set with probability p, each other one with probability q. Two
    values differ in two bits, and p (1 - q) / ((1 - p) q) does not exceed e^epsilon (Wang et al.
    2017, Theorem 3). Symmetric: p = 1 - q, as in basic RAPPOR (Erlingsson, Pihur, Korolova 2014).
    Optimized: p = 1/2, which has the least variance for rare values (Wang et al. 2017, section
    4.3). q is rounded up to a multiple of 2**-64.
    """

    tag: ClassVar[str] = "unary-encoding/1"
    epsilon: Fraction
    categories: int
    form: UnaryForm
    q: Fraction = field(init=False)

    def __init__(
        self, *, epsilon: Real, categories: int, form: UnaryForm | str = UnaryForm.OPTIMIZED
    ) -> None:
        exact, kind = checked_epsilon(epsilon), choice("form", form, UnaryForm)
        ratio = exp_down(exact / 2 if kind is UnaryForm.SYMMETRIC else exact)
        freeze_fields(
            self,
            epsilon=exact,
            categories=checked_categories(categories),
            form=kind,
            q=probability_up(1 / (1 + ratio)),
        )

    __repr__ = call_text

    @classmethod
    def symmetric(cls, *, epsilon: Real, categories: int) -> Self:
        """Return the encoding that flips all bits with one probability (SUE)."""
        return cls(epsilon=epsilon, categories=categories, form=UnaryForm.SYMMETRIC)

    @classmethod
    def optimized(cls, *, epsilon: Real, categories: int) -> Self:
        """Return the encoding that preserves zeros better than ones (OUE)."""
        return cls(epsilon=epsilon, categories=categories, form=UnaryForm.OPTIMIZED)

    optimised = Renamed("optimized")

    event = PureCharge()

    @property
    def p(self) -> Fraction:
        return 1 - self.q if self.form is UnaryForm.SYMMETRIC else Fraction(1, 2)

    @property
    def bits(self) -> int:
        return self.categories

    @property
    def report_format(self) -> ReportFormat:
        return bitmap_format(self.categories)

    @property
    def most_supported(self) -> int:
        return self.categories

    def encode(self, values: ArrayLike) -> IntArray:
        return checked_values(values, self.categories)

    def draw(self, encoded: IntArray, entropy: Entropy) -> ReportArray:
        reports = self.report_format.empty(len(encoded))
        step = rows_per_piece(self.categories)
        for start in range(0, len(encoded), step):
            piece = encoded[start : start + step]
            reports[start : start + step] = self._drawn(piece, entropy)
        return reports

    def _drawn(self, values: IntArray, entropy: Entropy) -> ReportArray:
        width = 8 * self.report_format.size
        bits = coins(self.q, len(values) * width, entropy).reshape(-1, width)
        bits[:, self.categories :] = False
        bits[np.arange(len(values)), values] = coins(self.p, len(values), entropy)
        return packed(bits)

    def are_valid(self, reports: ReportArray) -> bool:
        return ends_in_zeros(reports, self.categories)

    @property
    def counters(self) -> int:
        return self.categories

    def tally(self, reports: ReportArray) -> IntArray:
        return tally_bits(reports, self.categories)

    def support_counts(self, tally: IntArray, people: int) -> IntArray:  # noqa: ARG002 - the counters are the counts
        return tally

    def supports(self, reports: ReportArray) -> BoolArray:
        return unpacked(reports, self.categories)

    def every_report(self) -> ReportArray:
        return every_bitmap(self.categories)

    def probability(self, supported: BoolArray, value: int) -> Fraction:
        p, q = self.p, self.q
        others = int(np.count_nonzero(supported)) - int(supported[value])
        rest = q**others * (1 - q) ** (self.categories - 1 - others)
        return rest * (p if supported[value] else 1 - p)


# --------------------------------------------------------------------------- bitmaps


def bitmap_format(categories: int) -> ReportFormat:
    """Return the format of a report with a bit for each value: bit v % 8 of byte v // 8."""
    return ReportFormat(np.uint8, -(-categories // 8))


def rows_per_piece(categories: int) -> int:
    """Return the number of reports to draw per pass."""
    return max(1, PIECE_BITS // categories)


def packed(bits: BoolArray) -> ReportArray:
    """Return rows of bits, whose length is a multiple of eight, as rows of bytes."""
    return np.packbits(bits.reshape(-1), bitorder="little").reshape(len(bits), -1)


def unpacked(reports: ReportArray, categories: int) -> BoolArray:
    """Return the bits of each report."""
    bits = np.unpackbits(reports.astype(np.uint8), axis=1, count=categories, bitorder="little")
    return bits.view(np.bool_)


def ends_in_zeros(reports: ReportArray, categories: int) -> bool:
    """Return whether the bits after the last value are zero in all reports."""
    used = categories % 8
    return not used or not len(reports) or int(reports[:, -1].max()) < 1 << used


def tally_bits(reports: ReportArray, categories: int) -> IntArray:
    """Count the set bits of each value, in the way that is faster for reports of this length."""
    if reports.shape[1] > WIDE_BYTES:
        return _added_bits(reports, categories)
    return _bits_of_counted_bytes(reports, categories)


def _added_bits(reports: ReportArray, categories: int) -> IntArray:
    """Add bits as bytes, at most 255 reports at a time."""
    counts = np.zeros(categories, np.int64)
    for start in range(0, len(reports), 255):
        bits = unpacked(reports[start : start + 255], categories)
        counts += np.add.reduce(bits, axis=0, dtype=np.uint8)
    return counts


def _bits_of_counted_bytes(reports: ReportArray, categories: int) -> IntArray:
    """Count each byte at each position, and then the bits of the counted bytes."""
    counts = np.zeros((reports.shape[1], 256), np.int64)
    for start in range(0, len(reports), PIECE_ROWS):
        columns = reports[start : start + PIECE_ROWS].T.astype(np.int64, order="C")
        for position, column in enumerate(columns):
            counts[position] += np.bincount(column, minlength=256)
    found: IntArray = (counts @ BITS_OF_BYTE.astype(np.int64)).reshape(-1)[:categories]
    return found


def every_bitmap(categories: int, size: int | None = None) -> ReportArray:
    """Return every report, or every report with `size` bits set."""
    sizes = range(categories + 1) if size is None else (size,)
    chosen = [each for count in sizes for each in combinations(range(categories), count)]
    bits = np.zeros((len(chosen), 8 * -(-categories // 8)), np.bool_)
    for row, each in zip(bits, chosen, strict=True):
        row[list(each)] = True
    return packed(bits)
