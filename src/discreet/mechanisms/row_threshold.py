"""A threshold on noisy numbers of rows that are released anyway: it costs delta alone."""

from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, factorial, floor

import numpy as np

from discreet.accounting.events import LEAST_NUMBER, ApproximateEvent
from discreet.mechanisms.accuracy import miss_probability
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.margins import laplace_margin
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.noise.enclosures import exp_neg
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import Real, call_text, choice, freeze_fields, integer, rational

ROWS_MOST = 10**9
CELLS_MOST = 8
TAIL_BITS = 512
HALF = 32
"""Bits of the lower half of a cell: sums of halves fit 64 bits, whatever the cells are."""

TELLING = 20
"""A margin is told of numbers that were shown by luck in one of this many misses at most."""


@dataclass(frozen=True, slots=True, init=False)
class RowThreshold:
    """Show the groups of many rows, by noisy cells that have a price of their own: (0, delta)-DP.

    The number of rows of a group is the sum of `cells` whole numbers, divided by `total`. Each of
    them has got discrete Laplace noise of `noise`, which pays for them. A unit has at most `rows`
    rows, in at most `groups` groups. A group is shown if its noisy number of rows is more than the
    threshold: the smallest one at which groups that only one of two neighbours has are shown with
    probability delta at most. Proof: docs/proofs/partition_selection.md.
    """

    noise: Geometric
    cells: int
    total: int
    rows: int
    groups: int
    delta: Fraction
    neighbours: Neighbours
    threshold: int = field(repr=False)
    """A group is shown if its noisy number of rows is more than this."""

    __repr__ = call_text

    def __init__(  # noqa: PLR0913 - each is a parameter of the theorem
        self,
        *,
        noise: Geometric,
        cells: int,
        total: int,
        rows: int,
        groups: int,
        delta: Real,
        neighbours: Neighbours | str = ADD_REMOVE,
    ) -> None:
        relation = choice("neighbours", neighbours, Neighbours)
        most = integer("rows", rows, least=1, most=ROWS_MOST)
        freeze_fields(
            self,
            noise=noise,
            cells=integer("cells", cells, least=1, most=CELLS_MOST),
            total=integer("total", total, least=1),
            rows=most,
            groups=integer("groups", groups, least=1, most=most),
            delta=rational("delta", delta, above=0, least=LEAST_NUMBER, below=1),
            neighbours=relation,
        )
        object.__setattr__(self, "threshold", self._least_threshold())

    @property
    def epsilon(self) -> Fraction:
        """What the noisy cells cost, which is charged with them."""
        return self.noise.epsilon

    @property
    def scale(self) -> float:
        """The scale of the noise of one cell, in rows."""
        return float(self.noise.scale / self.total)

    @property
    def event(self) -> ApproximateEvent:
        """The event that showing groups is charged as, besides the noisy cells."""
        return ApproximateEvent(epsilon=Fraction(0), delta=self.delta)

    def kept(self, cells: IntArray) -> BoolArray:
        """Return which groups are shown, from a row of noisy cells for each."""
        low = (cells & (1 << HALF) - 1).sum(axis=1)
        high = (cells >> HALF).sum(axis=1) + (low >> HALF)
        low &= (1 << HALF) - 1
        most, rest = divmod(self.threshold * self.total, 1 << HALF)
        most = min(most, 1 << 62)
        return np.asarray((high > most) | ((high == most) & (low > rest)), np.bool_)

    def beyond_up(self, threshold: int) -> Fraction:
        """Return an upper bound of the probability that a group of one unit alone is shown.

        The probability that n rows are shown is convex in n up to the threshold. So the sum over
        the groups of a unit is largest if all its rows are in one of them.
        """
        full, empty = (self._shown_up(threshold - rows) for rows in (self.rows, 0))
        alone = full + (self.groups - 1) * empty
        return alone if self.neighbours is ADD_REMOVE else 2 * alone

    def keep_probability(self, rows: int) -> float:
        """Return the probability that a group of so many rows is shown, about."""
        away = float(self.threshold - rows) / self.scale
        beyond = float(_tail(self.cells, Fraction(abs(away)).limit_denominator(10**6)))
        return beyond if away >= 0 else 1 - beyond

    def smallest_seen(self, probability: Real) -> int:
        """Return the smallest number of rows that is shown with at least this probability."""
        share = float(rational("probability", probability, above=0, below=1))
        counts = range(1, 2 + self.threshold + ceil(self.scale * self.cells * 60))
        return counts[bisect_left(counts, True, key=lambda n: self.keep_probability(n) >= share)]

    def margin(self, confidence: Real, answers: int = 1) -> int:
        """Return the margin of error of the number of rows of a group, for all `answers`."""
        level = 1 - miss_probability(confidence, answers)
        (wide,) = laplace_margin([[self.scale] * self.cells], level)
        return floor(float(wide) + 0.5)

    def clear(self, confidence: Real, answers: int = 1) -> int:
        """Return the noisy number of rows above which margins of error need no correction."""
        miss = miss_probability(confidence, answers) / TELLING
        return self.threshold + 1 + 2 * self.margin(1 - miss)

    def widest(self, confidence: Real, answers: int = 1) -> int:
        """Return the margin of error of numbers of rows up to `clear`."""
        return self.clear(confidence, answers)

    def _shown_up(self, rows: int) -> Fraction:
        """Return an upper bound of P(noise > rows), in rows; 1 where that is not far out."""
        # Discrete noise is the difference of two rounded exponentials: it exceeds that of the
        # exponentials themselves by one step at most.
        steps = Fraction(rows * self.total - self.cells)
        return Fraction(1) if steps <= 0 else _tail(self.cells, steps / self.noise.scale)

    def _least_threshold(self) -> int:
        high = self.rows + 1
        while self.beyond_up(high) > self.delta:
            high *= 2
        possible = range(self.rows + 1, high + 1)
        return possible[bisect_left(possible, True, key=lambda k: self.beyond_up(k) <= self.delta)]


@lru_cache(maxsize=4096)
def _tail(cells: int, x: Fraction) -> Fraction:
    """Return P(S > x), rounded up, of the sum S of so many Laplace noises of scale 1, for x ≥ 0.

    S is the difference of two sums of `cells` exponentials, so that with c = cells
    P(S > x) = exp(-x) Σ_(i < c) Σ_(l ≤ i) x^(i-l) / (i-l)! · binomial(l + c - 1, l) / 2^(l+c).
    """
    rounded = Fraction(floor(x * 2**30), 2**30)
    power = Fraction(exp_neg(rounded, TAIL_BITS)[1], 1 << TAIL_BITS)
    total = Fraction(0)
    for i in range(cells):
        for l in range(i + 1):  # noqa: E741 - the letter of the formula
            ways = Fraction(comb(l + cells - 1, l), 2 ** (l + cells))
            total += rounded ** (i - l) / factorial(i - l) * ways
    return power * total
