"""Randomized response among k values: tell the truth, or any value at all."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from discreet.errors import ParameterError
from discreet.local.base import (
    Row,
    Rows,
    checked_categories,
    checked_epsilon,
    integer_row,
    settle,
    written,
)
from discreet.local.charges import response_event
from discreet.local.draws import PIECE, pick_or_keep
from discreet.local.odds import chance_up, odds_down
from discreet.noise import Entropy
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import Real

if TYPE_CHECKING:
    from discreet.accounting.events import RandomizedResponseEvent


@dataclass(frozen=True, slots=True, init=False, repr=False)
class KaryResponse:
    """Report one of `categories` values, the true one with odds of at most e^epsilon : 1.

    epsilon-locally private: each other value has the chance m / 2**64 with m the least integer for
    which the odds (2**64 - (k - 1) m) / m do not exceed e^epsilon (Warner 1965 for two values;
    Kairouz, Bonawitz, Ramage 2016 for more, optimal among all mechanisms for large epsilon).
    """

    tag: ClassVar[str] = "kary-response/1"
    epsilon: Fraction
    categories: int
    other: Fraction = field(init=False)

    def __init__(self, *, epsilon: Real, categories: int) -> None:
        exact, k = checked_epsilon(epsilon), checked_categories(categories)
        lie = chance_up(1 / (odds_down(exact) + k - 1))
        if k * lie >= 1:
            raise ParameterError("epsilon", epsilon, f"must be more to tell {k} values apart")
        settle(self, epsilon=exact, categories=k, other=lie)

    __repr__ = written

    @classmethod
    def binary(cls, *, epsilon: Real) -> Self:
        """Return the response to a yes-or-no question (Warner 1965)."""
        return cls(epsilon=epsilon, categories=2)

    @property
    def event(self) -> "RandomizedResponseEvent":
        """What one report costs the person who sends it."""
        return response_event(self.epsilon, self.categories)

    @property
    def own(self) -> Fraction:
        return 1 - (self.categories - 1) * self.other

    @property
    def bits(self) -> int:
        return (self.categories - 1).bit_length()

    @property
    def row(self) -> Row:
        return integer_row(self.bits)

    @property
    def most_spoken_for(self) -> int:
        return 1

    def draw(self, values: IntArray, entropy: Entropy) -> Rows:
        rows = self.row.empty(len(values))
        pick_or_keep(values, self.categories, self.other, rows, entropy)
        return rows

    def are_valid(self, rows: Rows) -> bool:
        return not len(rows) or bool(rows.max() < self.categories)

    @property
    def cells(self) -> int:
        return self.categories

    def tally(self, rows: Rows) -> IntArray:
        return tally_integers(rows, self.categories)

    def spoken_for(self, tally: IntArray, people: int) -> IntArray:  # noqa: ARG002 - as it is
        return tally

    def speaks_for(self, rows: Rows) -> BoolArray:
        return np.asarray(rows[:, np.newaxis] == np.arange(self.categories))

    def every_report(self) -> Rows:
        return np.arange(self.categories).astype(self.row.kind)

    def chance(self, spoken_for: BoolArray, value: int) -> Fraction:
        return self.own if spoken_for[value] else self.other


def tally_integers(rows: Rows, cells: int) -> IntArray:
    """Count each whole number below `cells`, in pieces that spare the memory of wide copies."""
    counts = np.zeros(cells, np.int64)
    piece = max(PIECE, 4 * cells)
    for start in range(0, len(rows), piece):
        counts += np.bincount(rows[start : start + piece].astype(np.int64), minlength=cells)
    return counts
