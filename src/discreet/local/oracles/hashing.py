"""Local hashing: hash the value to a few, then randomized response among those."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.local.base import (
    Row,
    Rows,
    checked_categories,
    checked_epsilon,
    integer_row,
    mean_variance,
    settle,
    written,
)
from discreet.local.charges import pure_event
from discreet.local.draws import PIECE, pick_or_keep, random_bits
from discreet.local.odds import chance_up, odds_down
from discreet.local.oracles.walsh import parities, transformed
from discreet.noise import Entropy
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import Real

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent

HASH_BITS_MOST = 12
"""Longer hashes would serve epsilons above 8 only, and cost thousands of steps a person."""

COUNTED_BITS = 18
"""Reports this short are first counted by their kind, and each kind is decoded once."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class LocalHashing:
    """Report a random hash function and a randomized response among the g hashes of one's value.

    epsilon-locally private, since the function is drawn without looking at the value and its hash
    is answered for by a g-ary response (Wang et al. 2017, section 4.4: OLH, g near e^epsilon + 1).

    g = 2**t, and the functions are v ↦ T v over bits, T a random t × L Toeplitz matrix that a seed
    of L + t - 1 bits fills. For any two values T (v ⊕ w) is uniform (Mansour, Nisan, Tiwari 1993),
    so exactly one in g functions maps both to the same hash. Because T is linear, a report adds ±1
    to g of the Walsh-Hadamard coefficients of the counts: decoding takes g steps for each
    person and one fast transform, not a hash of every value for every person.
    """

    tag: ClassVar[str] = "local-hashing/1"
    epsilon: Fraction
    categories: int
    hash_bits: int = field(init=False)
    lie: Fraction = field(init=False)
    """The chance of each hash that is not that of the value."""

    def __init__(self, *, epsilon: Real, categories: int) -> None:
        exact, k = checked_epsilon(epsilon), checked_categories(categories)
        odds = odds_down(exact)
        lies = {
            t: chance_up(1 / (odds + (1 << t) - 1))
            for t in range(1, min((k - 1).bit_length(), HASH_BITS_MOST) + 1)
        }
        best = min(lies, key=lambda t: mean_variance(_own(t, lies[t]), Fraction(1, 1 << t), k))
        settle(self, epsilon=exact, categories=k, hash_bits=best, lie=lies[best])

    __repr__ = written

    @property
    def event(self) -> "PureEvent":
        """What one report costs the person who sends it."""
        return pure_event(self.epsilon)

    @property
    def own(self) -> Fraction:
        return _own(self.hash_bits, self.lie)

    @property
    def other(self) -> Fraction:
        return Fraction(1, 1 << self.hash_bits)

    @property
    def value_bits(self) -> int:
        """L: so many bits write a value."""
        return (self.categories - 1).bit_length()

    @property
    def seed_bits(self) -> int:
        """So many bits name a hash function."""
        return self.value_bits + self.hash_bits - 1

    @property
    def bits(self) -> int:
        return self.seed_bits + self.hash_bits

    @property
    def row(self) -> Row:
        return integer_row(self.bits)

    @property
    def most_spoken_for(self) -> int:
        return self.categories

    def draw(self, values: IntArray, entropy: Entropy) -> Rows:
        rows = self.row.empty(len(values))
        for start in range(0, len(values), PIECE):
            piece = values[start : start + PIECE].astype(self.row.kind)
            rows[start : start + PIECE] = self._drawn(piece, entropy)
        return rows

    def _drawn(self, values: Rows, entropy: Entropy) -> Rows:
        seeds = random_bits(len(values), self.seed_bits, values.dtype, entropy)
        answers = np.empty_like(values)
        pick_or_keep(self.hashes(seeds, values), 1 << self.hash_bits, self.lie, answers, entropy)
        return seeds | answers << seeds.dtype.type(self.seed_bits)

    def hashes(self, seeds: Rows, values: Rows) -> Rows:
        """Return the hash of each value by the function that each seed names.

        Bit i of it is the parity of the value's bits that row i of the matrix, the seed shifted by
        i, selects.
        """
        found = parities(seeds & values)
        for i in range(1, self.hash_bits):
            line = parities(seeds >> seeds.dtype.type(i) & values)
            found = found | line.astype(np.uint16) << np.uint16(i)
        return found

    def are_valid(self, rows: Rows) -> bool:
        return not len(rows) or int(rows.max()) < 1 << self.bits

    @property
    def cells(self) -> int:
        return 1 << self.value_bits

    def tally(self, rows: Rows) -> IntArray:
        """Return the Walsh-Hadamard coefficients of how many reports speak for each value.

        A report (T, y) speaks for v if T v = y, which is Σ_s (-1)^(s·y) (-1)^((Tᵀs)·v) / g over all
        s of t bits: so s adds (-1)^(s·y) to coefficient Tᵀ s.
        """
        if self.bits <= COUNTED_BITS and len(rows) > 1 << self.bits:
            times = _counted(rows, 1 << self.bits)
            return self._coefficients(np.arange(1 << self.bits).astype(rows.dtype), times)
        found = np.zeros(self.cells, np.int64)
        piece = max(PIECE, 2 * self.cells)
        for start in range(0, len(rows), piece):
            found += self._coefficients(rows[start : start + piece], None)
        return found

    def _coefficients(self, rows: Rows, times: IntArray | None) -> IntArray:
        """Go through all s but 0 in the order of a Gray code, so that each changes one bit."""
        people = len(rows) if times is None else int(times.sum())
        found = np.zeros(self.cells, np.int64)
        found[0] = people
        work = rows.astype(np.int64)
        # Bit L of `at` is the sign and the bits below are Tᵀ s; each line of the matrix brings the
        # sign that its bit of the answer gives it.
        lines = [
            (work >> i & self.cells - 1) | (work >> self.seed_bits + i & 1) << self.value_bits
            for i in range(self.hash_bits)
        ]
        at = np.zeros_like(work)
        for step in range(1, 1 << self.hash_bits):
            at ^= lines[(step & -step).bit_length() - 1]
            signed = _counted(at, 2 * self.cells, times)
            found += signed[: self.cells] - signed[self.cells :]
        return found

    def spoken_for(self, tally: IntArray, people: int) -> IntArray:  # noqa: ARG002 - tally[0] knows
        found: IntArray = transformed(tally)[: self.categories] >> self.hash_bits
        return found

    def speaks_for(self, rows: Rows) -> BoolArray:
        seeds = (rows & rows.dtype.type((1 << self.seed_bits) - 1))[:, np.newaxis]
        answers = (rows >> rows.dtype.type(self.seed_bits))[:, np.newaxis]
        return np.asarray(
            self.hashes(seeds, np.arange(self.categories).astype(rows.dtype)) == answers
        )

    def every_report(self) -> Rows:
        return np.arange(1 << self.bits).astype(self.row.kind)

    def chance(self, spoken_for: BoolArray, value: int) -> Fraction:
        return (self.own if spoken_for[value] else self.lie) / (1 << self.seed_bits)


def _own(hash_bits: int, lie: Fraction) -> Fraction:
    return 1 - ((1 << hash_bits) - 1) * lie


def _counted(numbers: NDArray[Any], cells: int, times: IntArray | None = None) -> IntArray:
    """Count each whole number below `cells`, each as many times as is said, up to 2**53 in all."""
    weights = None if times is None else times.astype(np.float64)
    return np.bincount(numbers.astype(np.int64, copy=False), weights, cells).astype(np.int64)
