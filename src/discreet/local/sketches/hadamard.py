"""The count-mean sketch in one bit: a random coordinate of the row's Hadamard transform."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.local.base import Row, Rows, checked_epsilon, integer_row, settle, written
from discreet.local.charges import pure_event
from discreet.local.draws import coins
from discreet.local.odds import chance_up, odds_down
from discreet.local.sketches.count_mean import checked_shape
from discreet.local.sketches.hashing import Keys, columns, seeds
from discreet.noise import Entropy, uniform_integers
from discreet.noise.uniform import BoolArray, FloatArray, IntArray
from discreet.parameters import Real, whole

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent


@dataclass(frozen=True, slots=True, init=False, repr=False)
class HadamardSketch:
    """Report one bit of a word: a random sign of its column, flipped; epsilon-locally private.

    Row and coordinate are drawn without regard to the word; the sign there is told with odds of at
    most e^epsilon (Apple 2017, Learning with privacy at scale, Algorithm 5).
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
        settle(
            self,
            epsilon=exact,
            hashes=shape[0],
            width=shape[1],
            family=whole("family", family, least=0, most=1 << 32),
            flip=chance_up(1 / (odds_down(exact) + 1)),
        )

    __repr__ = written

    @property
    def event(self) -> "PureEvent":
        """What one report costs the person who sends it."""
        return pure_event(self.epsilon)

    @property
    def reports(self) -> int:
        """How many reports there are: a row, a coordinate and a sign."""
        return 2 * self.hashes * self.width

    @property
    def row(self) -> Row:
        return integer_row((self.reports - 1).bit_length())

    @property
    def cells(self) -> int:
        return self.hashes * (self.width + 1)

    def draw(self, keys: Keys, entropy: Entropy) -> Rows:
        """Return a report for each key: (row · width + coordinate) · 2 + (1 if the sign is -)."""
        chosen = uniform_integers(self.hashes, len(keys), entropy=entropy)
        at = columns(keys, seeds(self.family, self.hashes)[chosen], self.width)
        coordinate = uniform_integers(self.width, len(keys), entropy=entropy)
        is_minus = are_odd(coordinate & at) ^ coins(self.flip, len(keys), entropy)
        return ((chosen * self.width + coordinate) * 2 + is_minus).astype(self.row.kind)

    def are_valid(self, rows: Rows) -> bool:
        return not len(rows) or bool(rows.max() < self.reports)

    def tally(self, rows: Rows) -> IntArray:
        """Return the sum of signs at each row and coordinate, then how often each row was drawn."""
        size = self.hashes * self.width
        each = np.bincount(rows.astype(np.int64), minlength=2 * size).reshape(size, 2)
        drawn = each.sum(axis=1).reshape(self.hashes, self.width).sum(axis=1)
        return np.concatenate([each[:, 0] - each[:, 1], drawn])

    def sums(self, cells: IntArray) -> tuple[FloatArray, IntArray]:
        """Return for each row and column how many words fell there, unbiased, and in each row."""
        signs = cells[: -self.hashes].reshape(self.hashes, self.width)
        scale = 1 / float(1 - 2 * self.flip)
        return transformed(signs.astype(np.float64)) * scale, cells[-self.hashes :]

    def says(self) -> tuple[Fraction, Fraction]:
        """Return what one report may add to the sum of its row and a column: least and most."""
        scale = 1 / (1 - 2 * self.flip)
        return -scale, scale

    def noise(self, is_there: float) -> float:
        """Return the variance of what a report adds, given whether its word is in the column."""
        return float(1 / (1 - 2 * self.flip) ** 2) - is_there**2

    def chances(self, places: Sequence[int]) -> list[Fraction]:
        """Return the exact probability of each report, given a word's column in each row."""
        share = Fraction(1, self.hashes * self.width)
        law = []
        for at in places:
            for coordinate in range(self.width):
                minus = 1 - self.flip if (coordinate & at).bit_count() % 2 else self.flip
                law += [share * (1 - minus), share * minus]
        return law


def are_odd(values: IntArray) -> BoolArray:
    """Return whether each number has an odd number of bits set."""
    return np.asarray(np.bitwise_count(values) & 1, np.bool_)


def transformed(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Walsh-Hadamard transform of each row, unscaled."""
    found, width = rows, rows.shape[1]
    half = 1
    while half < width:
        parts = found.reshape(len(rows), -1, 2, half)
        plus, minus = parts[:, :, 0] + parts[:, :, 1], parts[:, :, 0] - parts[:, :, 1]
        found = np.stack([plus, minus], axis=2).reshape(len(rows), width)
        half *= 2
    return found
