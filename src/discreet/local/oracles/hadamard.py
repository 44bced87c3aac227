"""Hadamard response: report a column of a Hadamard matrix that likely has +1 in one's own row."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.local.base import (
    Row,
    Rows,
    checked_categories,
    checked_epsilon,
    integer_row,
    settle,
    written,
)
from discreet.local.charges import pure_event
from discreet.local.draws import PIECE, coins, random_bits
from discreet.local.odds import chance_down, odds_down
from discreet.local.oracles.kary import tally_integers
from discreet.local.oracles.walsh import parities, transformed
from discreet.noise import Entropy
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import Real

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent


@dataclass(frozen=True, slots=True, init=False, repr=False)
class HadamardResponse:
    """Report a column y of a K × K Hadamard matrix; value v is row v + 1, K a power of two above k.

    epsilon-locally private: each column with +1 in one's row has the chance 2 p / K, each other one
    2 (1 - p) / K, and p / (1 - p) does not exceed e^epsilon. Any two rows differ in half of their
    columns, so a report speaks for each other value with the chance 1/2 (Acharya, Sun, Zhang 2019,
    section 4; optimal up to constants for epsilon up to about 1). Estimates take one fast
    transform of the counts, however many people reported.
    """

    tag: ClassVar[str] = "hadamard-response/1"
    epsilon: Fraction
    categories: int
    own: Fraction = field(init=False)

    def __init__(self, *, epsilon: Real, categories: int) -> None:
        exact = checked_epsilon(epsilon)
        odds = odds_down(exact)
        own = chance_down(odds / (odds + 1))
        settle(self, epsilon=exact, categories=checked_categories(categories), own=own)

    __repr__ = written

    @property
    def event(self) -> "PureEvent":
        """What one report costs the person who sends it."""
        return pure_event(self.epsilon)

    @property
    def other(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def bits(self) -> int:
        return self.categories.bit_length()

    @property
    def row(self) -> Row:
        return integer_row(self.bits)

    @property
    def most_spoken_for(self) -> int:
        return self.categories

    def draw(self, values: IntArray, entropy: Entropy) -> Rows:
        rows = self.row.empty(len(values))
        for start in range(0, len(values), PIECE):
            piece = values[start : start + PIECE].astype(self.row.kind) + self.row.kind.type(1)
            rows[start : start + PIECE] = self._drawn(piece, entropy)
        return rows

    def _drawn(self, lines: Rows, entropy: Entropy) -> Rows:
        """Draw a uniform column; if its sign is wrong, change its bit at the row's last 1."""
        columns = random_bits(len(lines), self.bits, lines.dtype, entropy)
        is_minus = coins(1 - self.own, len(lines), entropy)
        is_wrong = parities(columns & lines) != is_minus
        last_one = lines & (~lines + lines.dtype.type(1))
        found: Rows = columns ^ last_one * is_wrong
        return found

    def are_valid(self, rows: Rows) -> bool:
        return not len(rows) or bool(rows.max() < self.cells)

    @property
    def cells(self) -> int:
        return 1 << self.bits

    def tally(self, rows: Rows) -> IntArray:
        return tally_integers(rows, self.cells)

    def spoken_for(self, tally: IntArray, people: int) -> IntArray:
        found: IntArray = (people + transformed(tally)[1 : self.categories + 1]) // 2
        return found

    def speaks_for(self, rows: Rows) -> BoolArray:
        lines = np.arange(1, self.categories + 1).astype(rows.dtype)
        return np.asarray(parities(rows[:, np.newaxis] & lines) == 0)

    def every_report(self) -> Rows:
        return np.arange(self.cells).astype(self.row.kind)

    def chance(self, spoken_for: BoolArray, value: int) -> Fraction:
        return (self.own if spoken_for[value] else 1 - self.own) * 2 / self.cells
