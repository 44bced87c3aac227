"""Local hashing, and the fast Walsh-Hadamard transform that decodes it."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.local.draws import PIECE, exp_down, pick_or_keep, probability_up, random_bits
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
    integer_format,
    mean_variance,
)
from discreet.noise import Entropy
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import Real

HASH_BITS_MOST = 12
"""Longer hashes would only help above epsilon = 8, and cost thousands of steps per person."""

COUNTED_BITS = 18
"""Reports up to this length are counted first, and each different report is decoded once."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class LocalHashing(OldOracleNames):
    """Epsilon-locally private: report a random hash function and a noisy hash of the value.

    The function is drawn independently of the value, and the hash goes through a g-ary randomized
    response (Wang et al. 2017, section 4.4: OLH, g near e^epsilon + 1).

    g = 2**t, and the functions are v ↦ T v over bits, where T is a random t × L Toeplitz matrix
    filled by a seed of L + t - 1 bits. For any two values T (v ⊕ w) is uniform (Mansour, Nisan,
    Tiwari 1993), so exactly one in g functions maps both to the same hash. T is linear, so a report
    adds ±1 to g of the Walsh-Hadamard coefficients of the counts. Decoding takes g steps per person
    and one fast transform; it does not hash every value for every person.
    """

    tag: ClassVar[str] = "local-hashing/1"
    epsilon: Fraction
    categories: int
    hash_bits: int = field(init=False)
    lie: Fraction = field(init=False)
    """The probability of each hash other than that of the value."""

    def __init__(self, *, epsilon: Real, categories: int) -> None:
        exact, k = checked_epsilon(epsilon), checked_categories(categories)
        ratio = exp_down(exact)
        lies = {
            t: probability_up(1 / (ratio + (1 << t) - 1))
            for t in range(1, min((k - 1).bit_length(), HASH_BITS_MOST) + 1)
        }
        best = min(lies, key=lambda t: mean_variance(_p(t, lies[t]), Fraction(1, 1 << t), k))
        freeze_fields(self, epsilon=exact, categories=k, hash_bits=best, lie=lies[best])

    __repr__ = call_text

    event = PureCharge()

    @property
    def p(self) -> Fraction:
        return _p(self.hash_bits, self.lie)

    @property
    def q(self) -> Fraction:
        return Fraction(1, 1 << self.hash_bits)

    @property
    def value_bits(self) -> int:
        """L, the number of bits of a value."""
        return (self.categories - 1).bit_length()

    @property
    def seed_bits(self) -> int:
        """The number of bits that select a hash function."""
        return self.value_bits + self.hash_bits - 1

    @property
    def bits(self) -> int:
        return self.seed_bits + self.hash_bits

    @property
    def report_format(self) -> ReportFormat:
        return integer_format(self.bits)

    @property
    def most_supported(self) -> int:
        return self.categories

    def encode(self, values: ArrayLike) -> IntArray:
        return checked_values(values, self.categories)

    def draw(self, encoded: IntArray, entropy: Entropy) -> ReportArray:
        reports = self.report_format.empty(len(encoded))
        for start in range(0, len(encoded), PIECE):
            piece = encoded[start : start + PIECE].astype(self.report_format.dtype)
            reports[start : start + PIECE] = self._drawn(piece, entropy)
        return reports

    def _drawn(self, values: ReportArray, entropy: Entropy) -> ReportArray:
        seeds = random_bits(len(values), self.seed_bits, values.dtype, entropy)
        answers = np.empty_like(values)
        pick_or_keep(self.hashes(seeds, values), 1 << self.hash_bits, self.lie, answers, entropy)
        return seeds | answers << seeds.dtype.type(self.seed_bits)

    def hashes(self, seeds: ReportArray, values: ReportArray) -> ReportArray:
        """Return the hash of each value under the function that its seed selects.

        Bit i of the hash is the parity of the value's bits that row i of the matrix selects. Row i
        is the seed, shifted by i.
        """
        found = parities(seeds & values)
        for i in range(1, self.hash_bits):
            line = parities(seeds >> seeds.dtype.type(i) & values)
            found = found | line.astype(np.uint16) << np.uint16(i)
        return found

    def are_valid(self, reports: ReportArray) -> bool:
        return not len(reports) or int(reports.max()) < 1 << self.bits

    @property
    def counters(self) -> int:
        return 1 << self.value_bits

    def tally(self, reports: ReportArray) -> IntArray:
        """Return the Walsh-Hadamard coefficients of the number of reports that support each value.

        A report (T, y) supports v if T v = y, which is Σ_s (-1)^(s·y) (-1)^((Tᵀs)·v) / g over all
        s of t bits. So s adds (-1)^(s·y) to coefficient Tᵀ s.
        """
        if self.bits <= COUNTED_BITS and len(reports) > 1 << self.bits:
            times = _counted(reports, 1 << self.bits)
            return self._coefficients(np.arange(1 << self.bits).astype(reports.dtype), times)
        found = np.zeros(self.counters, np.int64)
        piece = max(PIECE, 2 * self.counters)
        for start in range(0, len(reports), piece):
            found += self._coefficients(reports[start : start + piece], None)
        return found

    def _coefficients(self, reports: ReportArray, times: IntArray | None) -> IntArray:
        """Go through all s but 0 in the order of a Gray code: each step changes one bit."""
        people = len(reports) if times is None else int(times.sum())
        found = np.zeros(self.counters, np.int64)
        found[0] = people
        work = reports.astype(np.int64)
        # Bit L of `at` is the sign, and the bits below are Tᵀ s. Each row of the matrix carries the
        # sign given by its bit of the answer.
        lines = [
            (work >> i & self.counters - 1) | (work >> self.seed_bits + i & 1) << self.value_bits
            for i in range(self.hash_bits)
        ]
        at = np.zeros_like(work)
        for step in range(1, 1 << self.hash_bits):
            at ^= lines[(step & -step).bit_length() - 1]
            signed = _counted(at, 2 * self.counters, times)
            found += signed[: self.counters] - signed[self.counters :]
        return found

    def support_counts(self, tally: IntArray, people: int) -> IntArray:  # noqa: ARG002 - tally[0] is it
        found: IntArray = transformed(tally)[: self.categories] >> self.hash_bits
        return found

    def supports(self, reports: ReportArray) -> BoolArray:
        seeds = (reports & reports.dtype.type((1 << self.seed_bits) - 1))[:, np.newaxis]
        answers = (reports >> reports.dtype.type(self.seed_bits))[:, np.newaxis]
        return np.asarray(
            self.hashes(seeds, np.arange(self.categories).astype(reports.dtype)) == answers
        )

    def every_report(self) -> ReportArray:
        return np.arange(1 << self.bits).astype(self.report_format.dtype)

    def probability(self, supported: BoolArray, value: int) -> Fraction:
        return (self.p if supported[value] else self.lie) / (1 << self.seed_bits)


def _p(hash_bits: int, lie: Fraction) -> Fraction:
    return 1 - ((1 << hash_bits) - 1) * lie


def _counted(numbers: NDArray[Any], counters: int, times: IntArray | None = None) -> IntArray:
    """Count each integer below `counters`, weighted by `times`; the total is below 2**53."""
    weights = None if times is None else times.astype(np.float64)
    return np.bincount(numbers.astype(np.int64, copy=False), weights, counters).astype(np.int64)


def transformed(counts: IntArray) -> IntArray:
    """Return Σ_y counts[y] (-1)^(number of bits that x and y share), for each x.

    For 2**n counts it takes n · 2**n integer additions.
    """
    out = counts.copy()
    half = 1
    while half < len(out):
        pairs = out.reshape(-1, 2, half)
        low, high = pairs[:, 0].copy(), pairs[:, 1]
        pairs[:, 0] += high
        np.subtract(low, high, out=pairs[:, 1])
        half *= 2
    return out


def parities(words: NDArray[np.unsignedinteger[Any]]) -> ReportArray:
    """Return for each word whether the number of its set bits is odd."""
    found: ReportArray = np.bitwise_count(words) & np.uint8(1)
    return found
