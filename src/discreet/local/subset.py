"""Subset selection: report a set of values."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.local.draws import coins, exp_down, probability_down
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
    mean_variance,
)
from discreet.local.unary import (
    PIECE_BITS,
    bitmap_format,
    ends_in_zeros,
    every_bitmap,
    packed,
    tally_bits,
    unpacked,
)
from discreet.noise import Entropy
from discreet.noise.uniform import BoolArray, IntArray, uniform_integers
from discreet.parameters import Real

PIECE = 8 * PIECE_BITS
"""Bits per pass: a round of corrections costs the same for few reports as for many."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SubsetSelection(OldOracleNames):
    """Epsilon-locally private: report a set of `size` values that likely contains the true one.

    Sets with the true value are at most e^epsilon times as likely as sets without it (Ye, Barg
    2018, section IV). Of all mechanisms it has the least expected squared error, up to constants
    that vanish. `size` is the better integer next to k / (e^epsilon + 1). The probability p that
    the set contains the true value is rounded down to a multiple of 2**-64.
    """

    tag: ClassVar[str] = "subset-selection/1"
    epsilon: Fraction
    categories: int
    size: int = field(init=False)
    p: Fraction = field(init=False)

    def __init__(self, *, epsilon: Real, categories: int) -> None:
        exact, k = checked_epsilon(epsilon), checked_categories(categories)
        ratio = exp_down(exact)
        p = {size: _p(size, k, ratio) for size in _sizes(k, ratio)}
        size = min(p, key=lambda each: mean_variance(p[each], _q(each, k, p[each]), k))
        freeze_fields(self, epsilon=exact, categories=k, size=size, p=p[size])

    __repr__ = call_text

    event = PureCharge()

    @property
    def q(self) -> Fraction:
        return _q(self.size, self.categories, self.p)

    @property
    def bits(self) -> int:
        return self.categories

    @property
    def report_format(self) -> ReportFormat:
        return bitmap_format(self.categories)

    @property
    def most_supported(self) -> int:
        return self.size

    def encode(self, values: ArrayLike) -> IntArray:
        return checked_values(values, self.categories)

    def draw(self, encoded: IntArray, entropy: Entropy) -> ReportArray:
        reports = self.report_format.empty(len(encoded))
        step = max(1, PIECE // self.categories)
        for start in range(0, len(encoded), step):
            piece = encoded[start : start + step]
            reports[start : start + step] = self._drawn(piece, entropy)
        return reports

    def _drawn(self, values: IntArray, entropy: Entropy) -> ReportArray:
        holds = coins(self.p, len(values), entropy)
        bits = uniform_sets(values, self.categories, self.size - holds, entropy)
        bits[np.arange(len(values)), values] = holds
        return packed(bits)

    def are_valid(self, reports: ReportArray) -> bool:
        sizes = np.bitwise_count(reports).sum(axis=1, dtype=np.int64)
        return ends_in_zeros(reports, self.categories) and bool(np.all(sizes == self.size))

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
        return every_bitmap(self.categories, self.size)

    def probability(self, supported: BoolArray, value: int) -> Fraction:
        rest = self.categories - 1
        if supported[value]:
            return self.p / comb(rest, self.size - 1)
        return (1 - self.p) / comb(rest, self.size)


def _sizes(categories: int, ratio: Fraction) -> Iterator[int]:
    near = int(categories / (ratio + 1))
    return (size for size in (near, near + 1) if 1 <= size < categories)


def _p(size: int, categories: int, ratio: Fraction) -> Fraction:
    return probability_down(size * ratio / (size * ratio + categories - size))


def _q(size: int, categories: int, p: Fraction) -> Fraction:
    return (size - p) / (categories - 1)


def uniform_sets(values: IntArray, categories: int, sizes: IntArray, entropy: Entropy) -> BoolArray:
    """Draw for each person a uniform set of the given size that excludes the person's own value.

    Coins of one probability are flipped for all values. Then values at random positions are added
    where there are too few, or removed where there are too many. No step prefers any value, so all
    sets of one size are equally likely, for any probability of the coins.
    """
    width = 8 * -(-categories // 8)
    probability = Fraction(round(256 * int(sizes.max(initial=0)) / categories), 256)
    bits = coins(probability, len(values) * width, entropy).reshape(-1, width)
    bits[:, categories:] = False
    bits[np.arange(len(values)), values] = False
    found = np.bitwise_count(packed(bits)).sum(axis=1, dtype=np.int64)
    _correct(bits, values, categories, sizes - found, entropy)
    return bits


def _correct(
    bits: BoolArray, values: IntArray, categories: int, missing: IntArray, entropy: Entropy
) -> None:
    """Add the missing values of each person, or remove values where the number is negative.

    Each round tries as many random positions for a person as still have to change, so it never
    changes too many. A position is skipped if it was drawn before in the round, is already right or
    is the person's own value.
    """
    flat = bits.reshape(-1)
    met = np.empty(len(flat), np.int32)
    while len(people := np.flatnonzero(missing)):
        tries = np.repeat(people, np.abs(missing[people]))
        positions = uniform_integers(categories, len(tries), entropy=entropy)
        at = tries * bits.shape[1] + positions
        is_hit = (flat[at] != (missing[tries] > 0)) & (positions != values[tries])
        changed = _distinct(at[is_hit], met)
        flat[changed] ^= True
        whose = changed // bits.shape[1]
        missing += np.where(missing > 0, -1, 1) * np.bincount(whose, minlength=len(missing))


def _distinct(positions: IntArray, met: NDArray[np.int32]) -> IntArray:
    """Return each position once; `met` is working memory with room for every position."""
    order = np.arange(len(positions), dtype=np.int32)
    met[positions] = order
    distinct: IntArray = positions[met[positions] == order]
    return distinct
