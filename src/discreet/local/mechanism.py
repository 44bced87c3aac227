"""The device half of the local model: the protocols every mechanism follows, and what they share.

A mechanism is a frozen value that devices and servers share. It encodes values, draws reports,
checks reports and tallies them. Estimates are on the server's side (`discreet.local.server`), so a
device never loads them.

Frequency oracles are pure protocols (Wang, Blocki, Li, Jha 2017, Definition 2). A report supports
some of the values: the one it names, those whose bit is set, or those that share its hash. `p` is
the probability that a report supports the value its sender holds. `q` is the probability that it
supports a given value its sender does not hold. Both are exact fractions.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import Enum
from fractions import Fraction
from functools import partial
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.deprecated import Renamed
from discreet.errors import HIDDEN, ParameterError, readable
from discreet.noise import Entropy
from discreet.noise.enclosures import exp_neg, is_at_most
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import Real, integer, rational

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from discreet.accounting.events import PureEvent, RandomizedResponseEvent

ReportArray: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""Reports as an array: one unsigned integer, or one row of bytes, for each person."""

EPSILON_LEAST = Fraction(1, 10**6)
EPSILON_MOST = Fraction(30)
"""Up to here, probabilities in 64 bits give likelihood ratios within a millionth of e^epsilon."""

CATEGORIES_MOST = 1 << 24
"""The most values a tally can count: 128 MiB of counters."""

PROBABILITIES_MOST = 1 << 18
"""The most probabilities in a `ReportChannel`: about a second of exact arithmetic."""

VERSION = "discreet.local/1"
"""Part of every fingerprint. It changes with the format of reports or the rounding of p and q."""

FINGERPRINT_BYTES = 8


# --------------------------------------------------------------------------- protocols


class Mechanism(Protocol):
    """A locally private way to report a value: a frozen dataclass that makes and counts reports."""

    tag: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def epsilon(self) -> Fraction:
        """What one report costs the person who sends it."""
        ...

    @property
    def report_format(self) -> "ReportFormat":
        """The format of one report in an array."""
        ...

    def encode(self, values: Any) -> Any:
        """Return checked values in the form that `draw` takes, or reject them without showing any.

        Never uses randomness.
        """
        ...

    def draw(self, encoded: Any, entropy: Entropy) -> ReportArray:
        """Return one fresh report for each encoded value."""
        ...

    def are_valid(self, reports: ReportArray) -> bool:
        """Return whether the mechanism can make each of these reports; their format is checked."""
        ...

    @property
    def counters(self) -> int:
        """How many integers a tally holds."""
        ...

    def tally(self, reports: ReportArray) -> IntArray:
        """Return the counters of some valid reports. Counters of parts add up to the whole."""
        ...


class FrequencyOracle(Mechanism, Protocol):
    """An epsilon-locally private way to report one of `categories` values."""

    @property
    def categories(self) -> int:
        """The number of values: 0, …, categories - 1."""
        ...

    @property
    def p(self) -> Fraction:
        """The probability that a report supports the value its sender holds."""
        ...

    @property
    def q(self) -> Fraction:
        """The probability that a report supports a given value its sender does not hold."""
        ...

    @property
    def bits(self) -> int:
        """The length of one report in bits, before it is rounded up to bytes."""
        ...

    @property
    def most_supported(self) -> int:
        """The largest number of values that one report can support."""
        ...

    def encode(self, values: ArrayLike) -> IntArray:
        """Return values as a flat array of integers, or reject them without showing any."""
        ...

    def draw(self, encoded: IntArray, entropy: Entropy) -> ReportArray:
        """Return a report for each value, distributed exactly as `probability` states."""
        ...

    def support_counts(self, tally: IntArray, people: int) -> IntArray:
        """Return how many of the tallied reports support each value."""
        ...

    def supports(self, reports: ReportArray) -> BoolArray:
        """Return, for each report and each value, whether the report supports the value."""
        ...

    def every_report(self) -> ReportArray:
        """Return every possible report, for channels of few values."""
        ...

    def probability(self, supported: BoolArray, value: int) -> Fraction:
        """Return the exact probability of a report that supports these values, given the value."""
        ...


class OldOracleNames:
    """The names that members of frequency oracles had in 0.1."""

    __slots__ = ()

    cells = Renamed("counters")
    chance = Renamed("probability")
    most_spoken_for = Renamed("most_supported")
    other = Renamed("q")
    own = Renamed("p")
    row = Renamed("report_format")
    speaks_for = Renamed("supports")
    spoken_for = Renamed("support_counts")


class ReportFormat:
    """The format of one report in an array: an unsigned integer, or `width` bytes."""

    __slots__ = ("dtype", "width")

    def __init__(self, dtype: type[np.unsignedinteger[Any]], width: int | None = None) -> None:
        self.dtype: np.dtype[np.unsignedinteger[Any]] = np.dtype(dtype).newbyteorder("<")
        self.width = width

    @property
    def size(self) -> int:
        """The bytes of one report."""
        return self.dtype.itemsize * (1 if self.width is None else self.width)

    def shape(self, people: int) -> tuple[int, ...]:
        """Return the shape of an array of `people` reports."""
        return (people,) if self.width is None else (people, self.width)

    def empty(self, people: int) -> ReportArray:
        """Return an uninitialized array for `people` reports."""
        return np.empty(self.shape(people), self.dtype)


def integer_format(bits: int) -> ReportFormat:
    """Return the format of reports that are integers of up to `bits` bits."""
    kinds: dict[int, type[np.unsignedinteger[Any]]]
    kinds = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
    return ReportFormat(next(kind for most, kind in kinds.items() if bits <= most))


# --------------------------------------------------------------------------- checks


def checked_epsilon(epsilon: object) -> Fraction:
    """Return epsilon as an exact number in the supported range, or reject it."""
    return rational("epsilon", epsilon, above=0, least=EPSILON_LEAST, most=EPSILON_MOST)


def checked_categories(categories: object) -> int:
    """Return a number of values that a tally can count, or reject it."""
    return integer("categories", categories, least=2, most=CATEGORIES_MOST)


def checked_values(values: ArrayLike, categories: int) -> IntArray:
    """Return values as a flat array of integers, or reject them without showing any."""
    found = array_of(values)
    if found is not None and (found.dtype == np.bool_ or not found.size):
        found = found.astype(np.int64)
    if found is None or not are_below(found, categories):
        raise ParameterError("values", HIDDEN, f"must be whole numbers from 0 to {categories - 1}")
    return found


def are_below(values: NDArray[Any], most: int) -> bool:
    """Return whether a flat array has integers from 0 to most - 1 only."""
    if values.dtype.kind not in "iu" or values.ndim != 1:
        return False
    return not values.size or bool(values.min() >= 0 and values.max() < most)


def check_mechanism(mechanism: object, *needed: str, rule: str) -> None:
    """Reject a mechanism that lacks a needed attribute, or a class in place of a mechanism."""
    if isinstance(mechanism, type) or not all(hasattr(mechanism, each) for each in needed):
        raise ParameterError("mechanism", mechanism, rule)


def listed(name: str, values: object) -> list[Any]:
    """Return several values as a list, or reject a single value."""
    is_single = isinstance(values, np.ndarray) and values.ndim == 0
    if isinstance(values, str | bytes) or not isinstance(values, Iterable) or is_single:
        raise ParameterError(name, HIDDEN, f"must be several {name}, in a list")
    return list(values)


def array_of(values: ArrayLike) -> NDArray[Any] | None:
    """Return values as an array; None if they do not form one, or if some are masked.

    NumPy would silently use masked values, and they would be reported.
    """
    if isinstance(values, np.ma.MaskedArray):
        return None
    try:
        return np.asarray(values)
    except (ValueError, TypeError):
        return None


# --------------------------------------------------------------------------- frozen values


def freeze_fields(value: object, **settled: object) -> None:
    """Set the fields of a frozen value in its constructor."""
    for name, each in settled.items():
        object.__setattr__(value, name, each)


def call_text(value: "DataclassInstance") -> str:
    """Return a mechanism as code: KaryResponse(epsilon=1, categories=100)."""
    terms = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
    shown = (f"{name}={_shown(each)}" for name, each in terms.items())
    return f"{type(value).__name__}({', '.join(shown)})"


def _shown(value: object) -> str:
    match value:
        case Fraction():
            return readable(value)
        case Enum():
            return repr(value.value)
        case tuple():
            return f"({', '.join(map(_shown, value))})"
        case _:
            return repr(value)


def fingerprint(mechanism: Mechanism) -> bytes:
    """Return eight bytes that identify a mechanism and its parameters; reports begin with them."""
    return sha256(f"{VERSION} {_all_of(mechanism)}".encode()).digest()[:FINGERPRINT_BYTES]


def _all_of(mechanism: Any) -> str:
    terms = {each.name: getattr(mechanism, each.name) for each in fields(mechanism) if each.init}
    return " ".join([mechanism.tag, *(f"{name}={_exactly(each)}" for name, each in terms.items())])


def _exactly(value: object) -> str:
    """Return a text that no other value has. Unlike `_shown`, it rounds nothing."""
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_exactly, value))})"
    return f"[{_all_of(value)}]" if hasattr(value, "tag") else _shown(value)


# --------------------------------------------------------------------------- events


class PureCharge:
    """The attribute `event`: what one report is charged as. Loads the accountants on first use."""

    @overload
    def __get__(self, mechanism: None, owner: type | None = None) -> "PureCharge": ...
    @overload
    def __get__(self, mechanism: Mechanism, owner: type | None = None) -> "PureEvent": ...

    def __get__(
        self, mechanism: Mechanism | None, owner: type | None = None
    ) -> "PureEvent | PureCharge":
        return self if mechanism is None else pure_event(mechanism.epsilon)


def pure_event(epsilon: Fraction) -> "PureEvent":
    """Return the event of one epsilon-private report. Devices do not load the accountants."""
    events = import_module("discreet.accounting.events")
    return cast("PureEvent", events.PureEvent(epsilon=epsilon))


def response_event(epsilon: Fraction, categories: int) -> "RandomizedResponseEvent":
    """Return the event of a k-ary response, whose distribution the accountants know.

    The response is rounded to a likelihood ratio just below e^epsilon. It can be simulated from the
    stated response by post-processing, so the cost of the stated response holds.
    """
    events = import_module("discreet.accounting.events")
    event = events.RandomizedResponseEvent(epsilon=epsilon, categories=categories)
    return cast("RandomizedResponseEvent", event)


# --------------------------------------------------------------------------- what follows from p, q


def influence(mechanism: FrequencyOracle) -> Fraction:
    """Return the most by which one report, even a malicious one, moves any one estimated count.

    A report adds (1 - q) / (p - q) to the count of each value that it supports and takes
    q / (p - q) from each other one. The larger of the two is returned. Replacing one report by
    another moves a count by at most 1 / (p - q).
    """
    p, q = mechanism.p, mechanism.q
    return max(1 - q, q) / (p - q)


def mean_variance(p: Fraction, q: Fraction, categories: int) -> Fraction:
    """Return the variance of an estimated count, averaged over all values, for one person.

    Σ (n_v p (1 - p) + (n - n_v) q (1 - q)) / (p - q)² does not depend on who holds which value,
    since the n_v sum to n (Wang et al. 2017, Theorem 2).
    """
    total = p * (1 - p) + (categories - 1) * q * (1 - q)
    return total / (categories * (p - q) ** 2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportChannel:
    """The exact probabilities P(report | value): a row for each value, a column for each report."""

    reports: ReportArray
    matrix: tuple[tuple[Fraction, ...], ...]

    @property
    def likelihood_ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report; at most e^epsilon."""
        columns = zip(*self.matrix, strict=True)
        return max(Fraction(max(each), min(each)) for each in columns)

    def is_private(self, epsilon: Real) -> bool:
        """Decide, in integer arithmetic, whether no likelihood ratio exceeds e^epsilon."""
        return is_within(self.likelihood_ratio, rational("epsilon", epsilon, above=0))

    odds = Renamed("likelihood_ratio")


def channel(mechanism: FrequencyOracle) -> ReportChannel:
    """Return the exact distribution of the reports of a frequency oracle with few values."""
    rule = "must be a frequency oracle, such as KaryResponse(epsilon=1, categories=4)"
    check_mechanism(mechanism, "categories", "bits", "every_report", rule=rule)
    if mechanism.categories << mechanism.bits > PROBABILITIES_MOST:
        raise ParameterError(
            "categories", mechanism.categories, "must be fewer for an exact channel"
        )
    reports = mechanism.every_report()
    sets = mechanism.supports(reports)
    values = range(mechanism.categories)
    matrix = tuple(tuple(mechanism.probability(each, value) for each in sets) for value in values)
    return ReportChannel(reports=reports, matrix=matrix)


def is_within(likelihood_ratio: Fraction, epsilon: Fraction) -> bool:
    """Decide exactly whether a likelihood ratio is at most e^epsilon."""
    return is_at_most(partial(exp_neg, epsilon), 1 / likelihood_ratio)
