"""d-bit flip: a few buckets are asked of each device, and each answer is drawn once for ever."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import HIDDEN, ParameterError, ReportError
from discreet.local.base import (
    Row,
    Rows,
    array_of,
    check_mechanism,
    checked_epsilon,
    settle,
    written,
)
from discreet.local.charges import pure_event
from discreet.local.draws import coins
from discreet.local.histories import Histories, price_of_kept
from discreet.local.odds import chance_up, odds_down
from discreet.local.reports import Reports
from discreet.local.states import kept_report, state_from_json, state_to_json
from discreet.local.tallies import Tally, check_counts
from discreet.noise import SYSTEM, Entropy, permutation, uniform_integers
from discreet.noise.uniform import BoolArray, FloatArray, IntArray
from discreet.parameters import Real, confidence_level, whole

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent

BUCKETS_MOST, ASKED_MOST = 1 << 12, 64


@dataclass(frozen=True, slots=True, init=False, repr=False)
class BitFlips:
    """Report for `asked` of `buckets` buckets whether one's value is there; epsilon-private.

    Each device is asked about buckets drawn at random, for life. Two values differ in at most two
    of the bits, each told with odds of at most e^(ε/2) (Ding, Kulkarni, Yekhanin 2017, dBitFlipPM).
    """

    tag: ClassVar[str] = "bit-flips/1"
    epsilon: Fraction
    buckets: int
    asked: int
    flip: Fraction = field(init=False)

    def __init__(self, *, epsilon: Real, buckets: int, asked: int = 1) -> None:
        exact = checked_epsilon(epsilon)
        many = whole("buckets", buckets, least=2, most=BUCKETS_MOST)
        settle(
            self,
            epsilon=exact,
            buckets=many,
            asked=whole("asked", asked, least=1, most=min(many, ASKED_MOST)),
            flip=chance_up(1 / (odds_down(exact / 2) + 1)),
        )

    __repr__ = written

    @property
    def event(self) -> "PureEvent":
        """What one report costs the person who sends it."""
        return pure_event(self.epsilon)

    @property
    def row(self) -> Row:
        return Row(np.uint16, self.asked)

    @property
    def cells(self) -> int:
        return 2 * self.buckets

    def sent(self, places: IntArray, is_there: BoolArray, entropy: Entropy) -> Rows:
        """Return reports of the asked buckets, in order: twice the bucket, plus one if told."""
        told = is_there ^ coins(self.flip, is_there.size, entropy).reshape(is_there.shape)
        return (2 * places + told).astype(np.uint16)

    def are_valid(self, rows: Rows) -> bool:
        if not len(rows):
            return True
        places = (rows >> 1).astype(np.int64)
        return bool(places.max() < self.buckets and np.all(np.diff(places, axis=1) > 0))

    def tally(self, rows: Rows) -> IntArray:
        """Return for each bucket how often it was denied and how often it was told."""
        return np.bincount(rows.astype(np.int64).reshape(-1), minlength=2 * self.buckets)

    def chance(self, is_there: bool, is_told: bool) -> Fraction:
        """Return the exact probability of one bit."""
        return 1 - self.flip if is_there == is_told else self.flip


class BitFlipClient:
    """One device's half: its buckets for life, and one kept answer for each of its states.

    A device is in one of asked + 1 states: its value is in one of the asked buckets, or in none.
    Two histories that put it into equal states in the same rounds are told apart by epsilon for
    each state that was visited, at most asked + 1 times. Other pairs are not protected: which
    rounds have the same state shows, because they have the same answer. Which buckets are asked is
    seen, and values in buckets that are not asked are one state. So unless all buckets but one are
    asked, it does not suffice that the *values* are equal in the same rounds: 0, 1 and 2, 3 differ
    where 0 is asked and neither 2 nor 3 is.
    """

    def __init__(self, mechanism: BitFlips, *, entropy: Entropy = SYSTEM) -> None:
        check_mechanism(mechanism, "buckets", "asked", rule="must be BitFlips")
        self.mechanism = mechanism
        drawn = permutation(mechanism.buckets, entropy=entropy)[: mechanism.asked]
        self._places: IntArray = np.sort(drawn)
        self._kept: dict[int, bytes] = {}

    def __repr__(self) -> str:
        return f"BitFlipClient({self.mechanism!r})"

    def report(self, bucket: int, *, entropy: Entropy = SYSTEM) -> bytes:
        """Return the report about a value in this bucket: drawn once for each state."""
        held = _checked_buckets(self.mechanism, [bucket])
        is_there = self._places == held
        state = int(held[0]) if is_there.any() else -1
        if state not in self._kept:
            rows = self.mechanism.sent(self._places[np.newaxis], is_there[np.newaxis], entropy)
            self._kept[state] = bytes(Reports(self.mechanism, rows))
        return self._kept[state]

    @property
    def price(self) -> Fraction:
        """What all rounds so far cost: epsilon for each state that was visited.

        It holds for two histories of equal states in the same rounds (`price_for` any two).
        """
        return self.mechanism.epsilon * len(self._kept)

    def price_for(self, histories: Histories) -> Fraction | float:
        """Return what all rounds so far cost, for these pairs of histories of as many states."""
        return price_of_kept(self.mechanism.epsilon, len(self._kept), histories)

    def to_json(self) -> str:
        """Return the state, for the device to keep; one that forgets it pays anew."""
        kept = {str(state): report.hex() for state, report in self._kept.items()}
        return state_to_json(self.mechanism, {"places": self._places.tolist(), "kept": kept})

    @classmethod
    def from_json(cls, mechanism: BitFlips, state: str) -> Self:
        """Return the client whose state this is, or refuse it."""
        client = cls(mechanism)
        with state_from_json(mechanism, state) as told:
            client._places = np.array(told["places"], np.int64).reshape(mechanism.asked)
            for each, report in cast("dict[str, str]", told["kept"]).items():
                client._kept[int(each)] = kept_report(mechanism, report)
            client._check()
        return client

    def _check(self) -> None:
        """Refuse buckets that are not in order, and answers about other ones."""
        places = self._places.tolist()
        kept = [Reports.from_bytes(self.mechanism, each).rows[0] for each in self._kept.values()]
        is_whole = places == sorted(set(places)) and places[0] >= 0
        is_whole = is_whole and places[-1] < self.mechanism.buckets
        is_whole = is_whole and not set(self._kept) - {-1, *places}
        if not is_whole or any((each >> 1).tolist() != places for each in kept):
            raise ReportError(f"this state of {self.mechanism!r} is damaged")


def first_reports(mechanism: BitFlips, buckets: ArrayLike, *, entropy: Entropy = SYSTEM) -> Reports:
    """Return the first report of each of many devices, with buckets of their own."""
    held = _checked_buckets(mechanism, buckets)
    places = _asked(mechanism, len(held), entropy)
    return Reports(mechanism, mechanism.sent(places, places == held[:, np.newaxis], entropy))


def _asked(mechanism: BitFlips, people: int, entropy: Entropy) -> IntArray:
    """Draw different buckets for each device, in order, all sets with the same chance.

    The j-th of a device is uniform among those not drawn: drawn by rank and moved past the others.
    """
    places = np.empty((people, mechanism.asked), np.int64)
    for j in range(mechanism.asked):
        drawn = uniform_integers(mechanism.buckets - j, people, entropy=entropy)
        for i in range(j):
            drawn += drawn >= places[:, i]
        places[:, j] = drawn
        places[:, : j + 1].sort(axis=1)
    return places


def _checked_buckets(mechanism: BitFlips, buckets: ArrayLike) -> IntArray:
    found = array_of(buckets)
    is_whole = (
        found is not None and found.ndim == 1 and (found.dtype.kind in "iu" or not found.size)
    )
    if (
        found is None
        or not is_whole
        or (found.size and not (found.min() >= 0 and found.max() < mechanism.buckets))
    ):
        rule = f"must be whole numbers from 0 to {mechanism.buckets - 1}"
        raise ParameterError("buckets", HIDDEN, rule)
    return found.astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BitFlipEstimates:
    """How many of `people` are in each bucket, unbiased, each with its standard error.

    `low` and `high` hold for all buckets at once with about the stated confidence, by the normal
    law and a union bound.
    """

    people: int
    confidence: Fraction
    counts: FloatArray
    standard_errors: FloatArray
    low: FloatArray
    high: FloatArray


def estimate_buckets(tally: Tally[BitFlips], *, confidence: Real = 0.95) -> BitFlipEstimates:
    """Return how many people are in each bucket: those who were asked speak for all.

    Of a_v people who were asked about a bucket, t_v told it: (t_v - a_v q) / (1 - 2 q) of them are
    there on average, and people / a_v times as many of all. The error includes who was asked.
    """
    level, mechanism, n = confidence_level(confidence), tally.mechanism, tally.people
    check_counts(tally, tally.cells, each=mechanism.asked)
    each = tally.cells.reshape(mechanism.buckets, 2).astype(np.float64)
    asked = np.maximum(each.sum(axis=1), 1)
    flip = float(mechanism.flip)
    share = (each[:, 1] / asked - flip) / (1 - 2 * flip)
    likely = np.clip(share, 0, 1)
    told = likely * (1 - flip) + (1 - likely) * flip
    errors = n * np.sqrt(told * (1 - told) / asked) / (1 - 2 * flip)
    reach = -NormalDist().inv_cdf(float(1 - level) / (2 * mechanism.buckets)) * errors
    counts = n * share
    return BitFlipEstimates(
        people=n,
        confidence=level,
        counts=counts,
        standard_errors=errors,
        low=counts - reach,
        high=counts + reach,
    )


def bit_flip_influence(tally: Tally[BitFlips]) -> float:
    """Return the most by which one more report, however dishonest, moves any one count.

    A bit moves a share among the a people asked by at most 1 / ((1 - 2 q) (a + 1)), and a count is
    people times a share: at most (people + 1) / ((1 - 2 q) (a + 1)) for the bucket asked least.
    """
    mechanism = tally.mechanism
    asked = int(tally.cells.reshape(mechanism.buckets, 2).sum(axis=1).min())
    return (tally.people + 1) / (float(1 - 2 * mechanism.flip) * (asked + 1))


def bit_flip_error(mechanism: BitFlips, people: int) -> float:
    """Return the standard error of the count of an empty bucket."""
    flip = float(mechanism.flip)
    asked = people * mechanism.asked / mechanism.buckets
    return people * sqrt(flip * (1 - flip) / asked) / (1 - 2 * flip)
