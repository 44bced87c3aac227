"""Unary encoding: a bit for each value, each flipped on its own."""

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from discreet.local.base import (
    Row,
    Rows,
    checked_categories,
    checked_epsilon,
    settle,
    written,
)
from discreet.local.charges import pure_event
from discreet.local.draws import coins
from discreet.local.odds import chance_up, odds_down
from discreet.local.oracles.bitmaps import (
    bitmap_row,
    ends_in_zeros,
    every_bitmap,
    packed,
    rows_per_piece,
    tally_bits,
    unpacked,
)
from discreet.noise import Entropy
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import Real, choice

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent


class Form(Enum):
    """How the two kinds of bits share epsilon."""

    SYMMETRIC = "symmetric"
    OPTIMISED = "optimised"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class UnaryEncoding:
    """Report a bit for each value; that of the true one is set with chance p, others with q.

    epsilon-locally private, because p (1 - q) / ((1 - p) q) does not exceed e^epsilon: two values
    differ in two bits (Wang et al. 2017, Theorem 3). Symmetric: p = 1 - q, as in basic RAPPOR
    (Erlingsson, Pihur, Korolova 2014). Optimised: p = 1/2, which has the least variance for a
    value that few hold (Wang et al. 2017, section 4.3). q is rounded up to a multiple of 2**-64.
    """

    tag: ClassVar[str] = "unary-encoding/1"
    epsilon: Fraction
    categories: int
    form: Form
    other: Fraction = field(init=False)

    def __init__(
        self, *, epsilon: Real, categories: int, form: Form | str = Form.OPTIMISED
    ) -> None:
        exact, kind = checked_epsilon(epsilon), choice("form", form, Form)
        odds = odds_down(exact / 2 if kind is Form.SYMMETRIC else exact)
        settle(
            self,
            epsilon=exact,
            categories=checked_categories(categories),
            form=kind,
            other=chance_up(1 / (1 + odds)),
        )

    __repr__ = written

    @classmethod
    def symmetric(cls, *, epsilon: Real, categories: int) -> Self:
        """Return the encoding that flips all bits alike."""
        return cls(epsilon=epsilon, categories=categories, form=Form.SYMMETRIC)

    @classmethod
    def optimised(cls, *, epsilon: Real, categories: int) -> Self:
        """Return the encoding that keeps zeros better than ones (OUE)."""
        return cls(epsilon=epsilon, categories=categories, form=Form.OPTIMISED)

    @property
    def event(self) -> "PureEvent":
        """What one report costs the person who sends it."""
        return pure_event(self.epsilon)

    @property
    def own(self) -> Fraction:
        return 1 - self.other if self.form is Form.SYMMETRIC else Fraction(1, 2)

    @property
    def bits(self) -> int:
        return self.categories

    @property
    def row(self) -> Row:
        return bitmap_row(self.categories)

    @property
    def most_spoken_for(self) -> int:
        return self.categories

    def draw(self, values: IntArray, entropy: Entropy) -> Rows:
        rows = self.row.empty(len(values))
        step = rows_per_piece(self.categories)
        for start in range(0, len(values), step):
            piece = values[start : start + step]
            rows[start : start + step] = self._drawn(piece, entropy)
        return rows

    def _drawn(self, values: IntArray, entropy: Entropy) -> Rows:
        width = 8 * self.row.size
        bits = coins(self.other, len(values) * width, entropy).reshape(-1, width)
        bits[:, self.categories :] = False
        bits[np.arange(len(values)), values] = coins(self.own, len(values), entropy)
        return packed(bits)

    def are_valid(self, rows: Rows) -> bool:
        return ends_in_zeros(rows, self.categories)

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
        return every_bitmap(self.categories)

    def chance(self, spoken_for: BoolArray, value: int) -> Fraction:
        p, q = self.own, self.other
        others = int(np.count_nonzero(spoken_for)) - int(spoken_for[value])
        rest = q**others * (1 - q) ** (self.categories - 1 - others)
        return rest * (p if spoken_for[value] else 1 - p)
