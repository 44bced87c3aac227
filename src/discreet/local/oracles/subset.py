"""Subset selection: report a set of values that holds the true one more often than not."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.local.base import (
    Row,
    Rows,
    checked_categories,
    checked_epsilon,
    mean_variance,
    settle,
    written,
)
from discreet.local.charges import pure_event
from discreet.local.draws import coins
from discreet.local.odds import chance_down, odds_down
from discreet.local.oracles.bitmaps import (
    PIECE_BITS,
    bitmap_row,
    ends_in_zeros,
    every_bitmap,
    packed,
    tally_bits,
    unpacked,
)
from discreet.noise import Entropy
from discreet.noise.uniform import BoolArray, IntArray, uniform_integers
from discreet.parameters import Real

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent

PIECE = 8 * PIECE_BITS
"""Bits per pass: rounds of corrections cost the same for few reports as for many."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SubsetSelection:
    """Report `size` of the values, the true one among them with odds of at most e^epsilon.

    epsilon-locally private: sets with the true value are at most e^epsilon times as likely as sets
    without it (Ye, Barg 2018, section IV). Of all mechanisms it has the least expected squared
    error, up to constants that vanish. `size` is the better whole number next to k / (e^epsilon +
    1); the chance p of holding the truth is rounded down to a multiple of 2**-64.
    """

    tag: ClassVar[str] = "subset-selection/1"
    epsilon: Fraction
    categories: int
    size: int = field(init=False)
    own: Fraction = field(init=False)

    def __init__(self, *, epsilon: Real, categories: int) -> None:
        exact, k = checked_epsilon(epsilon), checked_categories(categories)
        odds = odds_down(exact)
        own = {size: _own(size, k, odds) for size in _sizes(k, odds)}
        size = min(own, key=lambda each: mean_variance(own[each], _other(each, k, own[each]), k))
        settle(self, epsilon=exact, categories=k, size=size, own=own[size])

    __repr__ = written

    @property
    def event(self) -> "PureEvent":
        """What one report costs the person who sends it."""
        return pure_event(self.epsilon)

    @property
    def other(self) -> Fraction:
        return _other(self.size, self.categories, self.own)

    @property
    def bits(self) -> int:
        return self.categories

    @property
    def row(self) -> Row:
        return bitmap_row(self.categories)

    @property
    def most_spoken_for(self) -> int:
        return self.size

    def draw(self, values: IntArray, entropy: Entropy) -> Rows:
        rows = self.row.empty(len(values))
        step = max(1, PIECE // self.categories)
        for start in range(0, len(values), step):
            piece = values[start : start + step]
            rows[start : start + step] = self._drawn(piece, entropy)
        return rows

    def _drawn(self, values: IntArray, entropy: Entropy) -> Rows:
        holds = coins(self.own, len(values), entropy)
        bits = uniform_sets(values, self.categories, self.size - holds, entropy)
        bits[np.arange(len(values)), values] = holds
        return packed(bits)

    def are_valid(self, rows: Rows) -> bool:
        sizes = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
        return ends_in_zeros(rows, self.categories) and bool(np.all(sizes == self.size))

    @property
    def cells(self) -> int:
        return self.categories

    def tally(self, rows: Rows) -> IntArray:
        return tally_bits(rows, self.categories)

    def spoken_for(self, tally: IntArray, people: int) -> IntArray:  # noqa: ARG002 - as it is
        return tally

    def speaks_for(self, rows: Rows) -> BoolArray:
        return unpacked(rows, self.categories)

    def every_report(self) -> Rows:
        return every_bitmap(self.categories, self.size)

    def chance(self, spoken_for: BoolArray, value: int) -> Fraction:
        rest = self.categories - 1
        if spoken_for[value]:
            return self.own / comb(rest, self.size - 1)
        return (1 - self.own) / comb(rest, self.size)


def _sizes(categories: int, odds: Fraction) -> Iterator[int]:
    near = int(categories / (odds + 1))
    return (size for size in (near, near + 1) if 1 <= size < categories)


def _own(size: int, categories: int, odds: Fraction) -> Fraction:
    return chance_down(size * odds / (size * odds + categories - size))


def _other(size: int, categories: int, own: Fraction) -> Fraction:
    return (size - own) / (categories - 1)


def uniform_sets(values: IntArray, categories: int, sizes: IntArray, entropy: Entropy) -> BoolArray:
    """Draw for each person a uniform set of so many values, the person's own one left out.

    Coins of one chance are flipped for all values. Then values at random places are put in where
    there are too few, or taken out where there are too many. Neither prefers any value, and all
    sets of a size are alike but for the names of values: so each is equally likely, whatever the
    coins' chance.
    """
    width = 8 * -(-categories // 8)
    chance = Fraction(round(256 * int(sizes.max(initial=0)) / categories), 256)
    bits = coins(chance, len(values) * width, entropy).reshape(-1, width)
    bits[:, categories:] = False
    bits[np.arange(len(values)), values] = False
    found = np.bitwise_count(packed(bits)).sum(axis=1, dtype=np.int64)
    _correct(bits, values, categories, sizes - found, entropy)
    return bits


def _correct(
    bits: BoolArray, values: IntArray, categories: int, missing: IntArray, entropy: Entropy
) -> None:
    """Put in, or take out where it is negative, as many values as are missing.

    Each round tries as many random places for a person as are left to change, so it never changes
    too many; a place that is met twice, is already right or is the person's own value is a miss.
    """
    flat = bits.reshape(-1)
    met = np.empty(len(flat), np.int32)
    while len(people := np.flatnonzero(missing)):
        tries = np.repeat(people, np.abs(missing[people]))
        places = uniform_integers(categories, len(tries), entropy=entropy)
        at = tries * bits.shape[1] + places
        is_hit = (flat[at] != (missing[tries] > 0)) & (places != values[tries])
        changed = _distinct(at[is_hit], met)
        flat[changed] ^= True
        whose = changed // bits.shape[1]
        missing += np.where(missing > 0, -1, 1) * np.bincount(whose, minlength=len(missing))


def _distinct(places: IntArray, met: NDArray[np.int32]) -> IntArray:
    """Return each place once; `met` has room for a number at every place."""
    order = np.arange(len(places), dtype=np.int32)
    met[places] = order
    distinct: IntArray = places[met[places] == order]
    return distinct
