"""The count-mean sketch: a row of bits with one set, each flipped by chance."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.errors import ParameterError
from discreet.local.base import Row, Rows, checked_epsilon, settle, written
from discreet.local.charges import pure_event
from discreet.local.draws import coins
from discreet.local.odds import chance_up, odds_down
from discreet.local.sketches.hashing import Keys, columns, seeds
from discreet.noise import Entropy, uniform_integers
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, whole

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent

HASHES_MOST, WIDTH_MOST = 1 << 16, 1 << 16
CELLS_MOST = 1 << 26
PIECE = 1 << 20
"""Bits per pass: a MiB of them, unpacked."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class CountMeanSketch:
    """Report a random row's bits, the word's column set, each flipped; epsilon-locally private.

    Two words differ in two bits at most, and a bit is kept with odds of at most e^(ε/2) (Apple
    2017, Learning with privacy at scale, Algorithm 1). The row is drawn without regard to the word.
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
        settle(
            self,
            epsilon=exact,
            hashes=shape[0],
            width=shape[1],
            family=whole("family", family, least=0, most=1 << 32),
            flip=chance_up(1 / (odds_down(exact / 2) + 1)),
        )

    __repr__ = written

    @property
    def event(self) -> "PureEvent":
        """What one report costs the person who sends it."""
        return pure_event(self.epsilon)

    @property
    def row(self) -> Row:
        return Row(np.uint8, 2 + self.width // 8)

    @property
    def cells(self) -> int:
        return self.hashes * (self.width + 1)

    def draw(self, keys: Keys, entropy: Entropy) -> Rows:
        """Return a report for each key: two bytes of the row's number, then its bits."""
        rows = self.row.empty(len(keys))
        piece = max(1, PIECE // self.width)
        for start in range(0, len(keys), piece):
            rows[start : start + piece] = self._drawn(keys[start : start + piece], entropy)
        return rows

    def _drawn(self, keys: Keys, entropy: Entropy) -> Rows:
        chosen = uniform_integers(self.hashes, len(keys), entropy=entropy)
        at = columns(keys, seeds(self.family, self.hashes)[chosen], self.width)
        bits = coins(self.flip, len(keys) * self.width, entropy).reshape(len(keys), self.width)
        bits[np.arange(len(keys)), at] ^= True
        named = chosen.astype("<u2").view(np.uint8).reshape(len(keys), 2)
        return np.concatenate([named, np.packbits(bits, axis=1, bitorder="little")], axis=1)

    def are_valid(self, rows: Rows) -> bool:
        return not len(rows) or bool(_chosen(rows).max() < self.hashes)

    def tally(self, rows: Rows) -> IntArray:
        """Return how often each bit of each row is set, and then how often each row was drawn."""
        found = np.zeros((self.hashes, self.width), np.int64)
        chosen = _chosen(rows)
        order = np.argsort(chosen, kind="stable")
        piece = max(1, PIECE // self.width)
        for start in range(0, len(rows), piece):
            part = order[start : start + piece]
            at, firsts = np.unique(chosen[part], return_index=True)
            bits = np.unpackbits(rows[part, 2:].astype(np.uint8), axis=1, bitorder="little")
            found[at] += np.add.reduceat(bits, firsts, axis=0, dtype=np.int64)
        drawn = np.bincount(chosen, minlength=self.hashes)
        return np.concatenate([found.reshape(-1), drawn])

    def sums(self, cells: IntArray) -> tuple[FloatArray, IntArray]:
        """Return for each row and column how many words fell there, unbiased, and in each row."""
        drawn = cells[-self.hashes :]
        seen = cells[: -self.hashes].reshape(self.hashes, self.width)
        flip = float(self.flip)
        return (seen - drawn[:, np.newaxis] * flip) / (1 - 2 * flip), drawn

    def says(self) -> tuple[Fraction, Fraction]:
        """Return what one report may add to the sum of its row and a column: least and most."""
        gap = 1 - 2 * self.flip
        return -self.flip / gap, (1 - self.flip) / gap

    def noise(self, is_there: float) -> float:  # noqa: ARG002 - the same for both
        """Return the variance of what a report adds, given whether its word is in the column."""
        gap = 1 - 2 * self.flip
        return float(self.flip * (1 - self.flip) / gap**2)

    def chances(self, places: Sequence[int]) -> list[Fraction]:
        """Return the exact probability of each report, given a word's column in each row.

        Reports are listed by row, then by bits, the first bit the slowest; for small widths.
        """
        if self.width > 8:
            raise ParameterError("width", self.width, "must be 8 for a list of all reports")
        keep, each = 1 - self.flip, Fraction(1, self.hashes)
        return [
            prod(
                (keep if bit == (i == at) else self.flip for i, bit in enumerate(bits)), start=each
            )
            for at in places
            for bits in product((False, True), repeat=self.width)
        ]


def checked_shape(hashes: object, width: object, *, least: int) -> tuple[int, int]:
    """Return the rows and columns of a sketch, or refuse them by name."""
    rows = whole("hashes", hashes, least=1, most=HASHES_MOST)
    wide = whole("width", width, least=least, most=WIDTH_MOST)
    if wide & (wide - 1):
        raise ParameterError("width", width, "must be a power of two")
    if rows * wide > CELLS_MOST:
        raise ParameterError(
            "hashes", hashes, f"must be {CELLS_MOST // wide} or less at this width"
        )
    return rows, wide


def _chosen(rows: Rows) -> IntArray:
    return rows[:, 0].astype(np.int64) + 256 * rows[:, 1].astype(np.int64)
