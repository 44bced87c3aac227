"""The half that runs on a person's device: a value goes in, a report comes out.

It needs NumPy and `discreet.noise` only.

**Reports over time.** A history is the sequence of values that one person holds, round by round. A
cost over several rounds is about pairs of histories. Memoized answers are drawn once for each
value, so two rounds with the same value have the same answer. Let M be the channel of one answer
and m the number of different values.

If two histories hold equal values in the same rounds, their rounds fall into the same m sets. The
answers to different sets are independent, and those within a set are one answer. So the likelihood
ratio is the product of m likelihood ratios of M. It is at most e^(m ε), and as large as that where
values can be chosen so.

If not, there are two rounds to which one history gives one value and the other gives two. Where the
two answers differ, the first history is impossible and the likelihood ratio is infinite. No epsilon
holds with a delta below the probability that they differ. The times of changes do not decide this:
0, 1, 0 and 0, 1, 2 change at the same times.
"""

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from hashlib import blake2b
from math import inf
from typing import Any, Generic, Protocol, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import ParameterError, ReportError
from discreet.local.mechanism import Mechanism, ReportArray, check_mechanism, fingerprint
from discreet.local.reports import Reports
from discreet.noise import SYSTEM, Entropy

RULE = "must be a local mechanism, such as KaryResponse(epsilon=1, categories=4)"

Kind_co = TypeVar("Kind_co", bound=Mechanism, covariant=True)


# --------------------------------------------------------------------------- histories


class Histories(Enum):
    """The pairs of histories that a cost holds for."""

    SAME_ROUNDS = "two histories that hold equal values in the same rounds"
    ANY = "any two histories"


def hold_alike(here: Sequence[Hashable], there: Sequence[Hashable]) -> bool:
    """Return whether two histories have one length and hold equal values in the same rounds."""
    return _rounds(here) == _rounds(there)


def memoized_epsilon(epsilon: Fraction, values: int, histories: Histories) -> Fraction | float:
    """Return what memoized answers cost, for histories of at most `values` different values.

    Histories of one value each hold equal values in the same rounds: in all of them.
    """
    is_promised = histories is Histories.SAME_ROUNDS or values <= 1
    return epsilon * values if is_promised else inf


def _rounds(history: Sequence[Hashable]) -> list[int]:
    """Return for each round the first round that held the same value."""
    first: dict[Hashable, int] = {}
    return [first.setdefault(value, at) for at, value in enumerate(history)]


# --------------------------------------------------------------------------- states as text


def state_to_json(mechanism: Mechanism, state: Mapping[str, object]) -> str:
    """Return a device's state as one line of JSON that names its mechanism."""
    return json.dumps({"mechanism": fingerprint(mechanism).hex(), **state})


def each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object as a dictionary, or reject one that has a key twice.

    JSON does not say which of the two counts, and readers differ.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


@contextmanager
def state_from_json(mechanism: Mechanism, text: str) -> Iterator[dict[str, object]]:
    """Yield a device's state. Errors while it is read are reported as damage."""
    try:
        found = json.loads(text, object_pairs_hook=each_once)
        if found["mechanism"] != fingerprint(mechanism).hex():
            raise ReportError(f"this state does not belong to {mechanism!r}")
        yield found
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as cause:
        if isinstance(cause, ReportError):
            raise
        raise ReportError(f"this state of {mechanism!r} is damaged") from cause


def saved_report(mechanism: Mechanism, digits: str) -> bytes:
    """Return one report that was saved in hexadecimal digits, or reject it."""
    content = bytes.fromhex(digits)
    if len(Reports.from_bytes(mechanism, content)) != 1:
        raise ValueError
    return content


# --------------------------------------------------------------------------- what devices keep


class Memory(Protocol):
    """What one device keeps between reports. Mechanisms that need one have a method `memory`."""

    def report(self, value: Any, entropy: Entropy) -> bytes:
        """Return the report about a value, drawn or remembered."""
        ...

    def price_for(self, histories: Histories) -> Fraction | float:
        """Return what all reports so far cost, for these pairs of histories."""
        ...

    def to_state(self) -> dict[str, object]:
        """Return the state as JSON can hold it."""
        ...

    def read(self, state: Mapping[str, Any]) -> None:
        """Take over a state that was saved; errors of Python mean that it is damaged."""
        ...


class FreshNoise:
    """The memory of a device that draws fresh noise for every report: how many there were."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.reports = 0

    def report(self, value: object, entropy: Entropy) -> bytes:
        """Return a report with fresh noise."""
        sent = bytes(fresh_reports(self.mechanism, [value], entropy))
        self.reports += 1
        return sent

    def price_for(self, histories: Histories) -> Fraction:  # noqa: ARG002 - it holds for any two
        """Return epsilon for each report; it holds for any two histories."""
        return self.mechanism.epsilon * self.reports

    def to_state(self) -> dict[str, object]:
        """Return the number of reports."""
        return {"reports": self.reports}

    def read(self, state: Mapping[str, Any]) -> None:
        """Take over the number of reports."""
        if type(state["reports"]) is not int or state["reports"] < 0:
            raise ValueError
        self.reports = state["reports"]


class SavedAnswers:
    """The memory of `Memoized`: the answer to each value, by a digest of the value."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.saved: dict[str, bytes] = {}

    def report(self, value: object, entropy: Entropy) -> bytes:
        """Return the report about this value: drawn the first time, the same ever after."""
        name = _digest(value)
        if name not in self.saved:
            self.saved[name] = self.first_report(value, entropy)
        return self.saved[name]

    def first_report(self, value: object, entropy: Entropy) -> bytes:
        """Return a report with fresh noise."""
        return bytes(fresh_reports(self.mechanism, [value], entropy))

    def price_for(self, histories: Histories) -> Fraction | float:
        """Return epsilon for each different value, for histories of as many values."""
        return memoized_epsilon(self.mechanism.epsilon, len(self.saved), histories)

    def to_state(self) -> dict[str, object]:
        """Return the answers; the key is part of the format."""
        return {"kept": {name: report.hex() for name, report in self.saved.items()}}

    def read(self, state: Mapping[str, Any]) -> None:
        """Take over answers, each checked to be one report."""
        for name, report in cast("dict[str, str]", state["kept"]).items():
            self.saved[name] = saved_report(self.mechanism, report)


def _digest(value: object) -> str:
    """Return a digest of a value; 7, 7.0 and np.int64(7) are one value, and True is 1."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool) or (isinstance(plain, float) and plain.is_integer()):
        plain = int(plain)
    return blake2b(f"{type(plain).__name__} {plain!r}".encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Memoized(Generic[Kind_co]):
    """Wraps a mechanism so that a client always gives the same answer to the same value.

    Two histories that hold equal values in the same rounds cost epsilon for each different value,
    however many rounds there are. Other pairs are not protected: equal answers show which rounds
    hold the same value. So a value that returns, as in 0, 1, 0, is distinguished from a new one, as
    in 0, 1, 2 (proof: the top of this file).

    The state must be saved on the device (`Client.to_json`) and must stay there. It reveals the
    values to anyone who can guess them, and a client that loses it spends epsilon again.
    """

    mechanism: Kind_co

    def __post_init__(self) -> None:
        check_mechanism(self.mechanism, "encode", "draw", "report_format", rule=RULE)
        if hasattr(self.mechanism, "memory"):
            raise ParameterError("mechanism", self.mechanism, "must not have a memory already")

    def memory(self, entropy: Entropy) -> SavedAnswers:  # noqa: ARG002 - nothing is drawn at first
        """Return the memory of a new device."""
        return SavedAnswers(self.mechanism)


def reporting(mechanism: "Kind_co | Memoized[Kind_co]") -> Kind_co:
    """Return the mechanism that makes the reports: of `Memoized`, the one inside."""
    return mechanism.mechanism if isinstance(mechanism, Memoized) else mechanism


# --------------------------------------------------------------------------- the client


Given_co = TypeVar("Given_co", bound=Mechanism | Memoized[Mechanism], covariant=True)


class Client(Generic[Given_co]):
    """One person's device: makes reports of any mechanism, and keeps the state that it needs.

    With fresh noise, each report costs epsilon, even a second one about the same value. `Memoized`,
    `Rappor` and `BitFlips` remember what they drew: save `to_json()` on the device after a report,
    and continue with `from_json`. A device that loses its state draws again and spends again.
    """

    __slots__ = ("mechanism", "memory")

    def __init__(self, mechanism: Given_co, *, entropy: Entropy = SYSTEM) -> None:
        if not isinstance(mechanism, Memoized):
            check_mechanism(mechanism, "encode", "draw", "report_format", rule=RULE)
        self.mechanism = mechanism
        self.memory = _new_memory(mechanism, entropy)

    def __repr__(self) -> str:
        return f"Client({self.mechanism!r})"

    def report(self, value: Any, *, entropy: Entropy = SYSTEM) -> bytes:
        """Return one person's report about a value, ready to be sent."""
        return self.memory.report(value, entropy)

    def report_many(
        self, values: ArrayLike | Sequence[Any], *, entropy: Entropy = SYSTEM
    ) -> Reports:
        """Return the first report of each of many people, for simulations and tests.

        It neither uses nor changes this client's state, so it is rejected for `Memoized`: use one
        client for each person, or the mechanism without `Memoized`.
        """
        if isinstance(self.mechanism, Memoized):
            rule = "must not be Memoized for report_many: it would draw fresh noise for every call"
            raise ParameterError("mechanism", self.mechanism, rule)
        return fresh_reports(self.mechanism, values, entropy)

    @property
    def price(self) -> Fraction:
        """What all reports of `report` so far cost.

        With fresh noise it holds for any two histories. With a memory it holds for two histories
        that hold equal values in the same rounds; for others use `price_for`.
        """
        return cast("Fraction", self.price_for(Histories.SAME_ROUNDS))

    def price_for(self, histories: Histories) -> Fraction | float:
        """Return what all reports of `report` so far cost, for these pairs of histories."""
        return self.memory.price_for(histories)

    def to_json(self) -> str:
        """Return the state as text. Save it on the device; it must not leave it."""
        return state_to_json(_inner(self.mechanism), self.memory.to_state())

    @classmethod
    def from_json(cls, mechanism: Given_co, text: str) -> Self:  # type: ignore[misc] # it makes
        """Return the client with a saved state, or reject the state."""
        client = cls(mechanism)
        with state_from_json(_inner(mechanism), text) as state:
            client.memory.read(state)
        return client


def _inner(mechanism: Mechanism | Memoized[Mechanism]) -> Mechanism:
    return reporting(mechanism)


def _new_memory(mechanism: Any, entropy: Entropy) -> Memory:
    if hasattr(mechanism, "memory"):
        return cast("Memory", mechanism.memory(entropy))
    return FreshNoise(mechanism)


def fresh_reports(mechanism: Mechanism, values: Any, entropy: Entropy) -> Reports:
    """Return a report with fresh noise for each of many people."""
    rows: ReportArray = mechanism.draw(mechanism.encode(values), entropy)
    return Reports(mechanism, rows)
