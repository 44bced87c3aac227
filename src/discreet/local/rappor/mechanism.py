"""The parameters of RAPPOR and what they cost: one report, many reports, all reports for ever."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.errors import ParameterError
from discreet.local.base import Row, Rows, settle, written
from discreet.local.charges import pure_event
from discreet.local.prices import epsilon_up
from discreet.local.sketches.count_mean import PIECE
from discreet.local.sketches.hashing import Keys, columns, seeds
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import Real, rational, whole

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent

BITS_MOST, HASHES_MOST, COHORTS_MOST = 1 << 12, 16, 1 << 10
ROUNDS_MOST = 100_000
TEXTS_MOST = 20_000
"""So many texts are decoded at once."""

UNIT = 1 << 32
"""Chances are rounded to multiples of one in so many; prices are those of the rounded chances."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Rappor:
    """Report the noisy Bloom filter of a text; `epsilon` for one report, `permanent` for all.

    A person belongs to one of `cohorts` sets of `hashes` hash functions; they set that many of
    `bits` bits. Once for each text, every bit is replaced by a fair coin with chance f, for ever;
    for each report, a permanent bit of 1 is sent as 1 with chance q, one of 0 with chance p
    (Erlingsson, Pihur, Korolova 2014). With p = 0 and q = 1 the permanent bits are sent as they
    are. The prices are those of the exact chances, rounded up in exact arithmetic.
    """

    tag: ClassVar[str] = "rappor/1"
    bits: int
    hashes: int
    cohorts: int
    f: Fraction
    p: Fraction
    q: Fraction
    family: int
    epsilon: Fraction = field(init=False)
    permanent: Fraction = field(init=False)

    def __init__(  # noqa: PLR0913 - the paper's parameters
        self,
        *,
        bits: int = 128,
        hashes: int = 2,
        cohorts: int = 64,
        f: Real = Fraction(1, 2),
        p: Real = Fraction(1, 2),
        q: Real = Fraction(3, 4),
        family: int = 0,
    ) -> None:
        settle(
            self,
            bits=_checked_bits(bits),
            hashes=whole("hashes", hashes, least=1, most=HASHES_MOST),
            cohorts=whole("cohorts", cohorts, least=1, most=COHORTS_MOST),
            f=_rounded(rational("f", f, above=0, below=1), 2),
            p=_rounded(rational("p", p, least=0, below=1), 1),
            q=_rounded(rational("q", q, above=0, most=1), 1),
            family=whole("family", family, least=0, most=1 << 32),
        )
        if not 0 < self.f < 1:
            raise ParameterError("f", f, "must be farther from 0 and from 1")
        if not self.p < self.q:
            raise ParameterError("p", p, "must be less than q")
        settle(
            self,
            epsilon=epsilon_up(self.odds_after(1)),
            permanent=epsilon_up(((2 - self.f) / self.f) ** (2 * self.hashes)),
        )

    __repr__ = written

    @property
    def event(self) -> "PureEvent":
        """What all reports about one text cost the person who sends them, however many."""
        return pure_event(self.permanent)

    @property
    def set_to_one(self) -> tuple[Fraction, Fraction]:
        """The chances that a report's bit is 1 if the filter's is 0, and if it is 1: p* and q*."""
        mixed = self.f / 2 * (self.p + self.q)
        return mixed + (1 - self.f) * self.p, mixed + (1 - self.f) * self.q

    def odds_after(self, rounds: int) -> Fraction:
        """Return the worst odds of so many reports of one text, exactly.

        Given the permanent bit, reports are independent, and their odds grow with the number of
        ones: all ones or all zeros are the worst. Two texts differ in at most `hashes` bits that
        only the one sets and as many that only the other does.
        """
        k = whole("rounds", rounds, least=1, most=ROUNDS_MOST)
        lied, kept = self.f / 2, 1 - self.f / 2
        ones = _odds(lied, kept, self.p**k, self.q**k)
        zeros = _odds(lied, kept, (1 - self.q) ** k, (1 - self.p) ** k)
        return (ones * zeros) ** self.hashes

    def epsilon_after(self, rounds: int) -> Fraction:
        """Return what so many reports of one text cost in all, rounded up: never over `permanent`.

        Reports about another text draw new permanent bits and cost as much again, for two histories
        that hold equal texts in the same rounds. Other pairs cost `epsilon_of_any`.
        """
        return min(self.permanent, epsilon_up(self.odds_after(rounds)))

    def epsilon_of_any(self, rounds: int) -> Fraction | float:
        """Return what so many reports cost at most for any two histories of several texts.

        The permanent bits of two texts are independent, those of one text are the same; so which
        rounds hold the same text shows in every bit, also in those that no text sets. In the first
        round there is nothing to compare with: its odds are those of one report. After it, whatever
        was seen, a bit is 1 with a chance between p and q, which costs at most the logarithm of
        q / p or of (1 - p) / (1 - q) for each of `bits` bits. With p = 0 or q = 1 it is infinite.
        """
        k = whole("rounds", rounds, least=1)
        if k > 1 and (not self.p or self.q == 1):
            return inf
        bit = max(self.q / self.p, (1 - self.p) / (1 - self.q)) if k > 1 else Fraction(1)
        return self.epsilon + (k - 1) * self.bits * epsilon_up(bit)

    @property
    def row(self) -> Row:
        return Row(np.uint8, 2 + self.bits // 8)

    @property
    def cells(self) -> int:
        return self.cohorts * (self.bits + 1)

    def filters(self, keys: Keys, cohorts: IntArray) -> BoolArray:
        """Return the Bloom filter of each key under its cohort's hash functions."""
        of_all = seeds(self.family, self.cohorts * self.hashes)
        found = np.zeros((len(keys), self.bits), np.bool_)
        people = np.arange(len(keys))
        for each in range(self.hashes):
            at = columns(keys, of_all[cohorts * self.hashes + each], self.bits)
            found[people, at] = True
        return found

    def are_valid(self, rows: Rows) -> bool:
        return not len(rows) or bool(cohorts_of(rows).max() < self.cohorts)

    def tally(self, rows: Rows) -> IntArray:
        """Return how often each bit of each cohort is set, then the reports of each cohort."""
        found = np.zeros((self.cohorts, self.bits), np.int64)
        cohorts = cohorts_of(rows)
        order = np.argsort(cohorts, kind="stable")
        piece = max(1, PIECE // self.bits)
        for start in range(0, len(rows), piece):
            part = order[start : start + piece]
            at, firsts = np.unique(cohorts[part], return_index=True)
            bits = np.unpackbits(rows[part, 2:].astype(np.uint8), axis=1, bitorder="little")
            found[at] += np.add.reduceat(bits, firsts, axis=0, dtype=np.int64)
        return np.concatenate([found.reshape(-1), np.bincount(cohorts, minlength=self.cohorts)])

    def chance(self, filter_bits: Sequence[bool], reported: Sequence[Sequence[bool]]) -> Fraction:
        """Return the exact probability of these reports, one after the other, given the filter.

        (Given the cohort, too, which is drawn without regard to the text.)
        """
        lied, kept = self.f / 2, 1 - self.f / 2
        found = Fraction(1)
        for place, bit in enumerate(filter_bits):
            seen = [each[place] for each in reported]
            if_one = prod((self.q if each else 1 - self.q for each in seen), start=Fraction(1))
            if_zero = prod((self.p if each else 1 - self.p for each in seen), start=Fraction(1))
            found *= (kept if bit else lied) * if_one + (lied if bit else kept) * if_zero
        return found


def _odds(lied: Fraction, kept: Fraction, less: Fraction, more: Fraction) -> Fraction:
    return (kept * more + lied * less) / (lied * more + kept * less)


def cohorts_of(rows: Rows) -> IntArray:
    """Return the cohort of each report, which its first two bytes say."""
    return rows[:, 0].astype(np.int64) + 256 * rows[:, 1].astype(np.int64)


def _rounded(chance: Fraction, parts: int) -> Fraction:
    return Fraction(round(chance * UNIT / parts) * parts, UNIT)


def _checked_bits(bits: object) -> int:
    many = whole("bits", bits, least=8, most=BITS_MOST)
    if many & (many - 1):
        raise ParameterError("bits", bits, "must be a power of two")
    return many
