"""RAPPOR on the device: texts through Bloom filters, with permanent noise and fresh noise on top.

Also discovery of texts that nobody listed, by their n-grams. The server's half is in
`rappor_decoding`, which needs SciPy.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, prod
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from discreet.deprecated import Renamed, deprecated_modules, deprecated_names
from discreet.errors import HIDDEN, ParameterError
from discreet.local.client import Histories, memoized_epsilon
from discreet.local.draws import coins, epsilon_up
from discreet.local.heavy_hitters import END, LETTERS
from discreet.local.mechanism import (
    PureCharge,
    ReportArray,
    ReportFormat,
    call_text,
    freeze_fields,
    listed,
    pure_event,
)
from discreet.local.reports import Reports
from discreet.local.sketches import (
    PIECE,
    Keys,
    columns,
    first_two_bytes,
    keys_of,
    seeds,
    tally_bits_by_group,
)
from discreet.noise import Entropy, uniform_integers
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import Real, integer, rational

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent

BITS_MOST, HASHES_MOST, COHORTS_MOST = 1 << 12, 16, 1 << 10
ROUNDS_MOST = 100_000
TEXTS_MOST = 20_000
"""The most texts that are decoded at once."""

UNIT = 1 << 32
"""Probabilities are rounded to multiples of 1 / UNIT. Costs are those of the rounded ones."""

LENGTH_MOST = 32


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Rappor:
    """Report the noisy Bloom filter of a text. One report costs `epsilon`, all cost `permanent`.

    A person belongs to one of `cohorts` cohorts, each with its own `hashes` hash functions, which
    set that many of `bits` bits. Once for each text, every bit is replaced by a fair coin with
    probability f, permanently. For each report, a permanent 1 is sent as 1 with probability q, and
    a permanent 0 with probability p (Erlingsson, Pihur, Korolova 2014). With p = 0 and q = 1 the
    permanent bits are sent as they are. The costs are those of the exact probabilities, rounded up
    in exact arithmetic.
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
        freeze_fields(
            self,
            bits=_checked_bits(bits),
            hashes=integer("hashes", hashes, least=1, most=HASHES_MOST),
            cohorts=integer("cohorts", cohorts, least=1, most=COHORTS_MOST),
            f=_rounded(rational("f", f, above=0, below=1), 2),
            p=_rounded(rational("p", p, least=0, below=1), 1),
            q=_rounded(rational("q", q, above=0, most=1), 1),
            family=integer("family", family, least=0, most=1 << 32),
        )
        if not 0 < self.f < 1:
            raise ParameterError("f", f, "must be farther from 0 and from 1")
        if not self.p < self.q:
            raise ParameterError("p", p, "must be less than q")
        freeze_fields(
            self,
            epsilon=epsilon_up(self.likelihood_ratio_after(1)),
            permanent=epsilon_up(((2 - self.f) / self.f) ** (2 * self.hashes)),
        )

    __repr__ = call_text

    @property
    def event(self) -> "PureEvent":
        """What all reports about one text are charged as, however many there are."""
        return pure_event(self.permanent)

    @property
    def set_to_one(self) -> tuple[Fraction, Fraction]:
        """p* and q*: the probability that a 1 is sent for a 0 of the filter, and for a 1."""
        mixed = self.f / 2 * (self.p + self.q)
        return mixed + (1 - self.f) * self.p, mixed + (1 - self.f) * self.q

    def likelihood_ratio_after(self, rounds: int) -> Fraction:
        """Return the exact worst likelihood ratio of `rounds` reports of one text.

        Given the permanent bit, reports are independent, and their likelihood ratio grows with the
        number of ones, so all ones or all zeros are the worst case. Two texts differ in at most
        `hashes` bits that only the first sets, and as many that only the second sets.
        """
        k = integer("rounds", rounds, least=1, most=ROUNDS_MOST)
        lied, kept = self.f / 2, 1 - self.f / 2
        ones = _ratio(lied, kept, self.p**k, self.q**k)
        zeros = _ratio(lied, kept, (1 - self.q) ** k, (1 - self.p) ** k)
        return (ones * zeros) ** self.hashes

    def epsilon_after(self, rounds: int) -> Fraction:
        """Return the total cost of `rounds` reports of one text, rounded up; at most `permanent`.

        Reports about another text draw new permanent bits and cost as much again, for two histories
        that hold equal texts in the same rounds. Other pairs cost `epsilon_of_any`.
        """
        return min(self.permanent, epsilon_up(self.likelihood_ratio_after(rounds)))

    def epsilon_of_any(self, rounds: int) -> Fraction | float:
        """Return the most that `rounds` reports cost for any two histories of several texts.

        The permanent bits of two texts are independent, and those of one text are the same. So
        every bit shows which rounds hold the same text, even a bit that no text sets. The first
        round has nothing to compare with: it costs as much as one report. In later rounds, given
        all earlier ones, a bit is 1 with a probability between p and q. This costs at most the
        logarithm of q / p or of (1 - p) / (1 - q) for each of `bits` bits. With p = 0 or q = 1 it
        is infinite.
        """
        k = integer("rounds", rounds, least=1)
        if k > 1 and (not self.p or self.q == 1):
            return inf
        bit = max(self.q / self.p, (1 - self.p) / (1 - self.q)) if k > 1 else Fraction(1)
        return self.epsilon + (k - 1) * self.bits * epsilon_up(bit)

    @property
    def report_format(self) -> ReportFormat:
        return ReportFormat(np.uint8, 2 + self.bits // 8)

    @property
    def counters(self) -> int:
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

    def encode(self, values: Iterable[str]) -> Keys:
        return keys_of(values)

    def draw(self, encoded: Keys, entropy: Entropy) -> ReportArray:
        """Return the first report of each of many people, who draw their own cohorts."""
        reports = self.report_format.empty(len(encoded))
        piece = max(1, PIECE // self.bits)
        for start in range(0, len(encoded), piece):
            part = encoded[start : start + piece]
            cohorts = uniform_integers(self.cohorts, len(part), entropy=entropy)
            permanent = permanent_bits(self, self.filters(part, cohorts), entropy)
            reports[start : start + piece] = instant_reports(self, permanent, cohorts, entropy)
        return reports

    def memory(self, entropy: Entropy) -> "PermanentBits":
        """Return the memory of a new device, in a cohort drawn at random."""
        return PermanentBits(self, cohort=int(uniform_integers(self.cohorts, entropy=entropy)))

    def are_valid(self, reports: ReportArray) -> bool:
        return not len(reports) or bool(first_two_bytes(reports).max() < self.cohorts)

    def tally(self, reports: ReportArray) -> IntArray:
        """Return how often each bit of each cohort is set, then the reports of each cohort."""
        return tally_bits_by_group(reports, self.cohorts, self.bits)

    def probability(
        self, filter_bits: Sequence[bool], reported: Sequence[Sequence[bool]]
    ) -> Fraction:
        """Return the exact probability of a sequence of reports, given the filter.

        It is also given the cohort, which is drawn independently of the text.
        """
        lied, kept = self.f / 2, 1 - self.f / 2
        found = Fraction(1)
        for place, bit in enumerate(filter_bits):
            seen = [each[place] for each in reported]
            if_one = prod((self.q if each else 1 - self.q for each in seen), start=Fraction(1))
            if_zero = prod((self.p if each else 1 - self.p for each in seen), start=Fraction(1))
            found *= (kept if bit else lied) * if_one + (lied if bit else kept) * if_zero
        return found

    chance = Renamed("probability")
    odds_after = Renamed("likelihood_ratio_after")
    cells = Renamed("counters")
    row = Renamed("report_format")


def _ratio(lied: Fraction, kept: Fraction, less: Fraction, more: Fraction) -> Fraction:
    return (kept * more + lied * less) / (lied * more + kept * less)


def _rounded(probability: Fraction, parts: int) -> Fraction:
    return Fraction(round(probability * UNIT / parts) * parts, UNIT)


def _checked_bits(bits: object) -> int:
    many = integer("bits", bits, least=8, most=BITS_MOST)
    if many & (many - 1):
        raise ParameterError("bits", bits, "must be a power of two")
    return many


# --------------------------------------------------------------------------- on a device


class PermanentBits:
    """The memory of a device that uses RAPPOR: its cohort, and the permanent bits of each text.

    The state must stay on the device. It reveals the texts to anyone who can guess them, and a
    device that loses it spends the cost of the permanent bits again. Reports show which rounds hold
    the same text, as far as the fresh noise does not hide it (`Rappor.epsilon_of_any`).
    """

    def __init__(self, mechanism: Rappor, *, cohort: int) -> None:
        self.mechanism = mechanism
        self.cohort = integer("cohort", cohort, least=0, most=mechanism.cohorts - 1)
        self.permanent: dict[int, BoolArray] = {}

    def report(self, value: str, entropy: Entropy) -> bytes:
        """Return a report with fresh noise on the permanent bits of the text."""
        key, cohort = int(keys_of([value])[0]), np.array([self.cohort])
        if key not in self.permanent:
            filters = self.mechanism.filters(np.array([key], np.uint64), cohort)
            self.permanent[key] = permanent_bits(self.mechanism, filters, entropy)
        rows = instant_reports(self.mechanism, self.permanent[key], cohort, entropy)
        return bytes(Reports(self.mechanism, rows))

    def price_for(self, histories: Histories) -> Fraction | float:
        """Return the permanent cost of each text so far, which bounds any number of rounds.

        For any two histories of several texts no such bound holds: use `Rappor.epsilon_of_any`.
        """
        return memoized_epsilon(self.mechanism.permanent, len(self.permanent), histories)

    def to_state(self) -> dict[str, object]:
        """Return the cohort and the permanent bits by the key of their text."""
        permanent = {f"{key:016x}": _hex(bits) for key, bits in self.permanent.items()}
        return {"cohort": self.cohort, "permanent": permanent}

    def read(self, state: Mapping[str, Any]) -> None:
        """Take over a saved cohort and its permanent bits."""
        most = self.mechanism.cohorts - 1
        self.cohort = integer("cohort", state["cohort"], least=0, most=most)
        for key, bits in cast("dict[str, str]", state["permanent"]).items():
            found = np.frombuffer(bytes.fromhex(bits), np.uint8)
            unpacked = np.unpackbits(found, bitorder="little").astype(np.bool_)
            self.permanent[int(key, 16)] = unpacked.reshape(1, self.mechanism.bits)


def permanent_bits(mechanism: Rappor, filters: BoolArray, entropy: Entropy) -> BoolArray:
    """Replace each bit by a fair coin with probability f: flip it with probability f / 2."""
    flips = coins(mechanism.f / 2, filters.size, entropy)
    return np.asarray(filters ^ flips.reshape(filters.shape))


def instant_reports(
    mechanism: Rappor, permanent: BoolArray, cohorts: IntArray, entropy: Entropy
) -> ReportArray:
    """Return a report of each row of permanent bits, with fresh noise."""
    ones = coins(mechanism.q, permanent.size, entropy).reshape(permanent.shape)
    zeros = coins(mechanism.p, permanent.size, entropy).reshape(permanent.shape)
    sent = np.packbits(np.where(permanent, ones, zeros), axis=1, bitorder="little")
    named = cohorts.astype("<u2").view(np.uint8).reshape(len(cohorts), 2)
    return np.concatenate([named, sent], axis=1)


def _hex(bits: BoolArray) -> str:
    return np.packbits(bits, bitorder="little").tobytes().hex()


# --------------------------------------------------------------------------- discovery


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Discovery:
    """As private as one RAPPOR report: report an n-gram of a text, or the whole text.

    It finds texts that nobody listed (after Fanti, Pihur, Erlingsson 2016). People are divided at
    random into groups: one for each position of an n-gram, and one for whole texts. The device
    draws the group independently of the text. Everyone reports once. Significant n-grams that
    overlap are joined into candidates, which the last group's reports then test. Texts have at most
    `length` letters of `alphabet`; n-grams have `size` letters and overlap in all but one.
    """

    tag: ClassVar[str] = "rappor-discovery/1"
    rappor: Rappor
    alphabet: str
    length: int
    size: int
    epsilon: Fraction = field(init=False)

    def __init__(
        self, rappor: Rappor, *, alphabet: str = LETTERS, length: int = 6, size: int = 2
    ) -> None:
        most = integer("length", length, least=2, most=LENGTH_MOST)
        if not isinstance(rappor, Rappor):
            raise ParameterError("rappor", rappor, "must be a Rappor(…)")
        if not isinstance(alphabet, str):
            raise ParameterError("alphabet", alphabet, "must be a text")
        if len(set(alphabet)) < len(alphabet) or len(alphabet) < 2 or END in alphabet:
            raise ParameterError("alphabet", alphabet, "must be different letters, without NUL")
        grams = integer("size", size, least=1, most=most)
        if (len(alphabet) + 1) ** grams > TEXTS_MOST:
            raise ParameterError("size", size, "must be smaller, so that all n-grams can be tried")
        freeze_fields(
            self,
            rappor=rappor,
            alphabet=alphabet,
            length=most,
            size=grams,
            epsilon=rappor.epsilon,
        )

    __repr__ = call_text

    event = PureCharge()

    @property
    def groups(self) -> int:
        """One for each position of an n-gram, and one for whole texts."""
        return self.length - self.size + 2

    @property
    def report_format(self) -> ReportFormat:
        return ReportFormat(np.uint8, 1 + self.rappor.report_format.size)

    @property
    def counters(self) -> int:
        return self.groups * self.rappor.counters

    def encode(self, values: Iterable[str]) -> list[str]:
        """Return the texts at their full length, or reject them without showing any."""
        return [self.filled(text) for text in listed("texts", values)]

    def draw(self, encoded: Sequence[str], entropy: Entropy) -> ReportArray:
        """Return a report for each text: a byte for the group, then RAPPOR's report."""
        groups = uniform_integers(self.groups, len(encoded), entropy=entropy)
        parts = [
            self.part(text, group) for text, group in zip(encoded, groups.tolist(), strict=True)
        ]
        reports = self.rappor.draw(keys_of(parts), entropy)
        named = groups.astype(np.uint8)[:, np.newaxis]
        return np.concatenate([named, reports], axis=1)

    def are_valid(self, reports: ReportArray) -> bool:
        return bool(np.all(reports[:, 0] < self.groups)) and self.rappor.are_valid(reports[:, 1:])

    def tally(self, reports: ReportArray) -> IntArray:
        return np.concatenate(
            [self.rappor.tally(reports[reports[:, 0] == each, 1:]) for each in range(self.groups)]
        )

    def filled(self, text: str) -> str:
        """Return the text at its full length, or reject it without showing it."""
        if not isinstance(text, str) or len(text) > self.length or set(text) - set(self.alphabet):
            rule = f"must be at most {self.length} letters of the alphabet; cut them on the device"
            raise ParameterError("texts", HIDDEN, rule)
        return text.ljust(self.length, END)

    def part(self, text: str, group: int) -> str:
        """Return the part of a text of full length that a group reports."""
        return text if group == self.groups - 1 else text[group : group + self.size]

    cells = Renamed("counters")
    row = Renamed("report_format")


_OLD_NAMES = {
    "DiscoveryClient": "discreet.local.Client",
    "RapporClient": "discreet.local.old_names.RapporClient",
}
__all__ = ["Discovery", "Rappor"]
__all__.extend(_OLD_NAMES)
__getattr__ = deprecated_names(__name__, _OLD_NAMES)
deprecated_modules(
    {
        "discreet.local.rappor.decoding": {
            "decode": "discreet.local.old_names.decode",
            "*": "discreet.local.rappor_decoding",
        },
        "discreet.local.rappor.finding": {
            "discover": "discreet.local.old_names.discover",
            "*": "discreet.local.rappor_decoding",
        },
    }
)
