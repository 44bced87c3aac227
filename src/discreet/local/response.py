"""k-ary randomized response and Hadamard response: reports that are one integer."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import ParameterError
from discreet.local.draws import (
    PIECE,
    coins,
    exp_down,
    pick_or_keep,
    probability_down,
    probability_up,
    random_bits,
)
from discreet.local.hashing import parities, transformed
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
    response_event,
)
from discreet.noise import Entropy
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import Real

if TYPE_CHECKING:
    from discreet.accounting.events import RandomizedResponseEvent


@dataclass(frozen=True, slots=True, init=False, repr=False)
class KaryResponse(OldOracleNames):
    """Epsilon-locally private: report one of `categories` values, most likely the true one.

    Each other value has probability m / 2**64, with m the least integer for which the likelihood
    ratio (2**64 - (k - 1) m) / m does not exceed e^epsilon. Warner 1965 for two values; Kairouz,
    Bonawitz, Ramage 2016 for more, optimal among all mechanisms for large epsilon.
    """

    tag: ClassVar[str] = "kary-response/1"
    epsilon: Fraction
    categories: int
    q: Fraction = field(init=False)

    def __init__(self, *, epsilon: Real, categories: int) -> None:
        exact, k = checked_epsilon(epsilon), checked_categories(categories)
        lie = probability_up(1 / (exp_down(exact) + k - 1))
        if k * lie >= 1:
            raise ParameterError("epsilon", epsilon, f"must be larger to distinguish {k} values")
        freeze_fields(self, epsilon=exact, categories=k, q=lie)

    __repr__ = call_text

    @classmethod
    def binary(cls, *, epsilon: Real) -> Self:
        """Return randomized response to a yes-or-no question (Warner 1965)."""
        return cls(epsilon=epsilon, categories=2)

    @property
    def event(self) -> "RandomizedResponseEvent":
        """What one report costs the person who sends it."""
        return response_event(self.epsilon, self.categories)

    @property
    def p(self) -> Fraction:
        return 1 - (self.categories - 1) * self.q

    @property
    def bits(self) -> int:
        return (self.categories - 1).bit_length()

    @property
    def report_format(self) -> ReportFormat:
        return integer_format(self.bits)

    @property
    def most_supported(self) -> int:
        return 1

    def encode(self, values: ArrayLike) -> IntArray:
        return checked_values(values, self.categories)

    def draw(self, encoded: IntArray, entropy: Entropy) -> ReportArray:
        reports = self.report_format.empty(len(encoded))
        pick_or_keep(encoded, self.categories, self.q, reports, entropy)
        return reports

    def are_valid(self, reports: ReportArray) -> bool:
        return not len(reports) or bool(reports.max() < self.categories)

    @property
    def counters(self) -> int:
        return self.categories

    def tally(self, reports: ReportArray) -> IntArray:
        return tally_integers(reports, self.categories)

    def support_counts(self, tally: IntArray, people: int) -> IntArray:  # noqa: ARG002 - the counters are the counts
        return tally

    def supports(self, reports: ReportArray) -> BoolArray:
        return np.asarray(reports[:, np.newaxis] == np.arange(self.categories))

    def every_report(self) -> ReportArray:
        return np.arange(self.categories).astype(self.report_format.dtype)

    def probability(self, supported: BoolArray, value: int) -> Fraction:
        return self.p if supported[value] else self.q


def tally_integers(reports: ReportArray, counters: int) -> IntArray:
    """Count each integer below `counters`, in pieces that avoid wide copies of all reports."""
    counts = np.zeros(counters, np.int64)
    piece = max(PIECE, 4 * counters)
    for start in range(0, len(reports), piece):
        counts += np.bincount(reports[start : start + piece].astype(np.int64), minlength=counters)
    return counts


@dataclass(frozen=True, slots=True, init=False, repr=False)
class HadamardResponse(OldOracleNames):
    """Epsilon-locally private: report a column of a K × K Hadamard matrix.

    Value v is row v + 1, and K is a power of two above k. Each column with +1 in the value's row
    has probability 2 p / K, each other one 2 (1 - p) / K, and p / (1 - p) does not exceed
    e^epsilon. Any two rows differ in half of their columns, so a report supports each other value
    with probability 1/2 (Acharya, Sun, Zhang 2019, section 4; optimal up to constants for epsilon
    up to about 1). Estimates take one fast transform of the counts, for any number of people.
    """

    tag: ClassVar[str] = "hadamard-response/1"
    epsilon: Fraction
    categories: int
    p: Fraction = field(init=False)

    def __init__(self, *, epsilon: Real, categories: int) -> None:
        exact = checked_epsilon(epsilon)
        ratio = exp_down(exact)
        p = probability_down(ratio / (ratio + 1))
        freeze_fields(self, epsilon=exact, categories=checked_categories(categories), p=p)

    __repr__ = call_text

    event = PureCharge()

    @property
    def q(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def bits(self) -> int:
        return self.categories.bit_length()

    @property
    def report_format(self) -> ReportFormat:
        return integer_format(self.bits)

    @property
    def most_supported(self) -> int:
        return self.categories

    def encode(self, values: ArrayLike) -> IntArray:
        return checked_values(values, self.categories)

    def draw(self, encoded: IntArray, entropy: Entropy) -> ReportArray:
        reports, dtype = self.report_format.empty(len(encoded)), self.report_format.dtype
        for start in range(0, len(encoded), PIECE):
            piece = encoded[start : start + PIECE].astype(dtype) + dtype.type(1)
            reports[start : start + PIECE] = self._drawn(piece, entropy)
        return reports

    def _drawn(self, lines: ReportArray, entropy: Entropy) -> ReportArray:
        """Draw a uniform column. If its sign is wrong, change its bit at the row's last 1."""
        columns = random_bits(len(lines), self.bits, lines.dtype, entropy)
        is_minus = coins(1 - self.p, len(lines), entropy)
        is_wrong = parities(columns & lines) != is_minus
        last_one = lines & (~lines + lines.dtype.type(1))
        found: ReportArray = columns ^ last_one * is_wrong
        return found

    def are_valid(self, reports: ReportArray) -> bool:
        return not len(reports) or bool(reports.max() < self.counters)

    @property
    def counters(self) -> int:
        return 1 << self.bits

    def tally(self, reports: ReportArray) -> IntArray:
        return tally_integers(reports, self.counters)

    def support_counts(self, tally: IntArray, people: int) -> IntArray:
        found: IntArray = (people + transformed(tally)[1 : self.categories + 1]) // 2
        return found

    def supports(self, reports: ReportArray) -> BoolArray:
        lines = np.arange(1, self.categories + 1).astype(reports.dtype)
        return np.asarray(parities(reports[:, np.newaxis] & lines) == 0)

    def every_report(self) -> ReportArray:
        return np.arange(self.counters).astype(self.report_format.dtype)

    def probability(self, supported: BoolArray, value: int) -> Fraction:
        return (self.p if supported[value] else 1 - self.p) * 2 / self.counters
