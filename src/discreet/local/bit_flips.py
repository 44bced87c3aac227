"""d-bit flip: each device is asked about a few buckets, and draws each answer once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from discreet.deprecated import Renamed
from discreet.errors import HIDDEN, ParameterError, ReportError
from discreet.local.client import Histories, memoized_epsilon, saved_report
from discreet.local.draws import coins, exp_down, probability_up
from discreet.local.estimates import estimate_tally, normal_margin
from discreet.local.mechanism import (
    PureCharge,
    ReportArray,
    ReportFormat,
    are_below,
    array_of,
    call_text,
    checked_epsilon,
    freeze_fields,
)
from discreet.local.reports import Reports, Tally, check_counts
from discreet.noise import Entropy, permutation, uniform_integers
from discreet.noise.uniform import BoolArray, FloatArray, IntArray
from discreet.parameters import Real, integer

BUCKETS_MOST, ASKED_MOST = 1 << 12, 64


@dataclass(frozen=True, slots=True, init=False, repr=False)
class BitFlips:
    """Epsilon-locally private: report for `asked` of `buckets` buckets whether they hold the value.

    Each device is asked about buckets that it draws at random once. Two values differ in at most
    two of the bits, and the likelihood ratio of each bit is at most e^(ε/2) (Ding, Kulkarni,
    Yekhanin 2017, dBitFlipPM).
    """

    tag: ClassVar[str] = "bit-flips/1"
    epsilon: Fraction
    buckets: int
    asked: int
    flip: Fraction = field(init=False)

    def __init__(self, *, epsilon: Real, buckets: int, asked: int = 1) -> None:
        exact = checked_epsilon(epsilon)
        many = integer("buckets", buckets, least=2, most=BUCKETS_MOST)
        freeze_fields(
            self,
            epsilon=exact,
            buckets=many,
            asked=integer("asked", asked, least=1, most=min(many, ASKED_MOST)),
            flip=probability_up(1 / (exp_down(exact / 2) + 1)),
        )

    __repr__ = call_text

    event = PureCharge()

    @property
    def report_format(self) -> ReportFormat:
        return ReportFormat(np.uint16, self.asked)

    @property
    def counters(self) -> int:
        return 2 * self.buckets

    def encode(self, values: ArrayLike) -> IntArray:
        """Return buckets as a flat array of integers, or reject them without showing any."""
        found = array_of(values)
        if found is not None and not found.size and found.ndim == 1:
            found = found.astype(np.int64)
        if found is None or not are_below(found, self.buckets):
            rule = f"must be whole numbers from 0 to {self.buckets - 1}"
            raise ParameterError("buckets", HIDDEN, rule)
        return found.astype(np.int64)

    def draw(self, encoded: IntArray, entropy: Entropy) -> ReportArray:
        """Return the first report of each of many devices, which draw their own buckets."""
        places = _asked(self, len(encoded), entropy)
        return self.sent(places, places == encoded[:, np.newaxis], entropy)

    def sent(self, places: IntArray, is_there: BoolArray, entropy: Entropy) -> ReportArray:
        """Return reports of the asked buckets, in order: twice the bucket, plus the noisy bit."""
        bits = is_there ^ coins(self.flip, is_there.size, entropy).reshape(is_there.shape)
        return (2 * places + bits).astype(np.uint16)

    def memory(self, entropy: Entropy) -> "AskedBuckets":
        """Return the memory of a new device, with buckets drawn at random."""
        drawn = permutation(self.buckets, entropy=entropy)[: self.asked]
        return AskedBuckets(self, np.sort(drawn))

    def are_valid(self, reports: ReportArray) -> bool:
        if not len(reports):
            return True
        places = (reports >> 1).astype(np.int64)
        return bool(places.max() < self.buckets and np.all(np.diff(places, axis=1) > 0))

    def tally(self, reports: ReportArray) -> IntArray:
        """Return for each bucket how often its bit was 0, and how often 1."""
        return np.bincount(reports.astype(np.int64).reshape(-1), minlength=2 * self.buckets)

    def probability(self, is_there: bool, is_sent: bool) -> Fraction:
        """Return the exact probability of one bit."""
        return 1 - self.flip if is_there == is_sent else self.flip

    chance = Renamed("probability")
    cells = Renamed("counters")
    row = Renamed("report_format")


class AskedBuckets:
    """The memory of a device that uses `BitFlips`: its buckets, and one answer for each state.

    A device is in one of asked + 1 states: its value is in one of the asked buckets, or in none.
    For two histories with equal states in the same rounds, each state that was visited costs
    epsilon, at most asked + 1 times. Other pairs are not protected: equal answers show which rounds
    have the same state. The asked buckets are visible, and values in all other buckets are one
    state. So unless all buckets but one are asked, it is not enough that the *values* are equal in
    the same rounds: 0, 1 and 2, 3 differ where 0 is asked and neither 2 nor 3 is.
    """

    def __init__(self, mechanism: BitFlips, places: IntArray) -> None:
        self.mechanism = mechanism
        self.places = places
        self.saved: dict[int, bytes] = {}

    def report(self, value: int, entropy: Entropy) -> bytes:
        """Return the report about a value in this bucket: drawn once for each state."""
        held = self.mechanism.encode([value])
        is_there = self.places == held
        state = int(held[0]) if is_there.any() else -1
        if state not in self.saved:
            rows = self.mechanism.sent(self.places[np.newaxis], is_there[np.newaxis], entropy)
            self.saved[state] = bytes(Reports(self.mechanism, rows))
        return self.saved[state]

    def price_for(self, histories: Histories) -> Fraction | float:
        """Return epsilon for each state that was visited, for histories of as many states."""
        return memoized_epsilon(self.mechanism.epsilon, len(self.saved), histories)

    def to_state(self) -> dict[str, object]:
        """Return the buckets and the answer to each state; the keys are part of the format."""
        saved = {str(state): report.hex() for state, report in self.saved.items()}
        return {"places": self.places.tolist(), "kept": saved}

    def read(self, state: Mapping[str, Any]) -> None:
        """Take over saved buckets and answers."""
        self.places = np.array(state["places"], np.int64).reshape(self.mechanism.asked)
        for each, report in cast("dict[str, str]", state["kept"]).items():
            self.saved[int(each)] = saved_report(self.mechanism, report)
        self._check()

    def _check(self) -> None:
        """Reject buckets that are not in order, and answers about other buckets."""
        places = self.places.tolist()
        rows = [Reports.from_bytes(self.mechanism, each).rows[0] for each in self.saved.values()]
        is_whole = places == sorted(set(places)) and places[0] >= 0
        is_whole = is_whole and places[-1] < self.mechanism.buckets
        is_whole = is_whole and not set(self.saved) - {-1, *places}
        if not is_whole or any((each >> 1).tolist() != places for each in rows):
            raise ReportError(f"this state of {self.mechanism!r} is damaged")


def _asked(mechanism: BitFlips, people: int, entropy: Entropy) -> IntArray:
    """Draw different buckets for each device, in order; all sets are equally likely.

    The j-th bucket of a device is uniform among those not drawn: its rank is drawn, and then moved
    past the others.
    """
    places = np.empty((people, mechanism.asked), np.int64)
    for j in range(mechanism.asked):
        drawn = uniform_integers(mechanism.buckets - j, people, entropy=entropy)
        for i in range(j):
            drawn += drawn >= places[:, i]
        places[:, j] = drawn
        places[:, : j + 1].sort(axis=1)
    return places


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BitFlipEstimates:
    """How many of `people` are in each bucket: unbiased counts and their standard errors.

    `low` to `high` holds for all buckets at once with about the stated confidence, by the normal
    approximation and a union bound.
    """

    people: int
    confidence: Fraction
    counts: FloatArray
    standard_errors: FloatArray
    low: FloatArray
    high: FloatArray


@estimate_tally.register(BitFlips)
def estimated_buckets(
    mechanism: BitFlips, tally: Tally[BitFlips], confidence: Fraction
) -> BitFlipEstimates:
    """Return how many people are in each bucket; those who were asked represent everyone.

    Of a_v people who were asked about a bucket, t_v sent a 1. So (t_v - a_v q) / (1 - 2 q) of them
    are there on average, and people / a_v times as many of all. The error includes the random
    choice of who was asked.
    """
    n = tally.people
    check_counts(tally, tally.counters, each=mechanism.asked)
    each = tally.counters.reshape(mechanism.buckets, 2).astype(np.float64)
    asked = np.maximum(each.sum(axis=1), 1)
    flip = float(mechanism.flip)
    share = (each[:, 1] / asked - flip) / (1 - 2 * flip)
    likely = np.clip(share, 0, 1)
    sent = likely * (1 - flip) + (1 - likely) * flip
    errors = n * np.sqrt(sent * (1 - sent) / asked) / (1 - 2 * flip)
    margins = normal_margin(confidence, mechanism.buckets) * errors
    counts = n * share
    return BitFlipEstimates(
        people=n,
        confidence=confidence,
        counts=counts,
        standard_errors=errors,
        low=counts - margins,
        high=counts + margins,
    )


def bit_flip_influence(tally: Tally[BitFlips]) -> float:
    """Return the most by which one more report, even a malicious one, moves any one count.

    A bit moves a share among the a people asked by at most 1 / ((1 - 2 q) (a + 1)), and a count is
    people times a share. So it is at most (people + 1) / ((1 - 2 q) (a + 1)) for the bucket that
    the fewest people were asked about.
    """
    mechanism = tally.mechanism
    asked = int(tally.counters.reshape(mechanism.buckets, 2).sum(axis=1).min())
    return (tally.people + 1) / (float(1 - 2 * mechanism.flip) * (asked + 1))


def bit_flip_error(mechanism: BitFlips, people: int) -> float:
    """Return the standard error of the count of an empty bucket."""
    flip = float(mechanism.flip)
    asked = people * mechanism.asked / mechanism.buckets
    return people * sqrt(flip * (1 - flip) / asked) / (1 - 2 * flip)
