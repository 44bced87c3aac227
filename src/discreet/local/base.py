"""What every frequency oracle is: a frozen value that clients and servers share.

A report speaks for some of the values: the one it names, those whose bit is set, those that share
its hash. `own` is the chance that a report speaks for the value its sender holds, `other` the
chance that it speaks for any given value its sender does not hold; both are exact fractions.
What the server knows is how many reports spoke for each value, and everything it states follows
from that (Wang, Blocki, Li, Jha 2017, Definition 2: pure protocols).
"""

from collections.abc import Iterable
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import HIDDEN, ParameterError, readable
from discreet.noise import Entropy
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import rational, whole

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Rows: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""Reports as an array: one unsigned integer, or one row of bytes, for each person."""

EPSILON_LEAST = Fraction(1, 10**6)
EPSILON_MOST = Fraction(30)
"""Up to here 64-bit odds are within a millionth of e^epsilon."""

CATEGORIES_MOST = 1 << 24
"""So many values an aggregate can count: 128 MiB of them."""

VERSION = "discreet.local/1"
"""Part of every fingerprint: it changes with the form of reports or the rounding of odds."""

FINGERPRINT_BYTES = 8


class Mechanism(Protocol):
    """What is reported with local privacy: a frozen dataclass that makes and counts reports."""

    tag: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def epsilon(self) -> Fraction:
        """The price of one report to the person who sends it."""
        ...

    @property
    def row(self) -> "Row":
        """The form of one report in an array."""
        ...

    def are_valid(self, rows: Rows) -> bool:
        """Say whether every row of the right form is one that the mechanism can make."""
        ...

    @property
    def cells(self) -> int:
        """How many whole numbers an aggregate holds."""
        ...

    def tally(self, rows: Rows) -> IntArray:
        """Return the aggregate of some valid reports; aggregates of parts add up to the whole."""
        ...


class FrequencyOracle(Mechanism, Protocol):
    """A way to report one of `categories` values with epsilon-local differential privacy."""

    @property
    def categories(self) -> int:
        """How many values there are: 0, …, categories - 1."""
        ...

    @property
    def own(self) -> Fraction:
        """The chance that a report speaks for the value its sender holds."""
        ...

    @property
    def other(self) -> Fraction:
        """The chance that a report speaks for a given value its sender does not hold."""
        ...

    @property
    def bits(self) -> int:
        """How many bits one report takes, before it is rounded up to bytes."""
        ...

    @property
    def most_spoken_for(self) -> int:
        """The largest number of values that one report can speak for."""
        ...

    def draw(self, values: IntArray, entropy: Entropy) -> Rows:
        """Return a report for each checked value, with exactly the law that `chance` states."""
        ...

    def spoken_for(self, tally: IntArray, people: int) -> IntArray:
        """Return how many of the reports in an aggregate speak for each value."""
        ...

    def speaks_for(self, rows: Rows) -> BoolArray:
        """Return for each report, and each value, whether the one speaks for the other."""
        ...

    def every_report(self) -> Rows:
        """Return every report there is, for channels of few values."""
        ...

    def chance(self, spoken_for: BoolArray, value: int) -> Fraction:
        """Return the exact probability of a report that speaks for these, given the value held."""
        ...


class Row:
    """The form of one report in an array: an unsigned integer, or so many bytes."""

    __slots__ = ("kind", "width")

    def __init__(self, kind: type[np.unsignedinteger[Any]], width: int | None = None) -> None:
        self.kind: np.dtype[np.unsignedinteger[Any]] = np.dtype(kind).newbyteorder("<")
        self.width = width

    @property
    def size(self) -> int:
        """The bytes of one report."""
        return self.kind.itemsize * (1 if self.width is None else self.width)

    def shape(self, people: int) -> tuple[int, ...]:
        """Return the shape of an array of so many reports."""
        return (people,) if self.width is None else (people, self.width)

    def empty(self, people: int) -> Rows:
        """Return an array for so many reports."""
        return np.empty(self.shape(people), self.kind)


def integer_row(bits: int) -> Row:
    """Return the form of reports that are whole numbers of so many bits."""
    kinds: dict[int, type[np.unsignedinteger[Any]]]
    kinds = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
    return Row(next(kind for most, kind in kinds.items() if bits <= most))


def checked_epsilon(epsilon: object) -> Fraction:
    """Return an epsilon in the range that reports serve, or refuse it by name."""
    return rational("epsilon", epsilon, above=0, least=EPSILON_LEAST, most=EPSILON_MOST)


def checked_categories(categories: object) -> int:
    """Return a number of values that an aggregate can count, or refuse it by name."""
    return whole("categories", categories, least=2, most=CATEGORIES_MOST)


def check_mechanism(mechanism: object, *needed: str, rule: str) -> None:
    """Refuse what lacks something that is needed of a mechanism here, or is only the class."""
    if isinstance(mechanism, type) or not all(hasattr(mechanism, each) for each in needed):
        raise ParameterError("mechanism", mechanism, rule)


def listed(name: str, values: object) -> list[Any]:
    """Return several values as a list, or refuse by name what is one value or none at all."""
    is_single = isinstance(values, np.ndarray) and values.ndim == 0
    if isinstance(values, str | bytes) or not isinstance(values, Iterable) or is_single:
        raise ParameterError(name, HIDDEN, f"must be several {name}, in a list")
    return list(values)


def array_of(values: ArrayLike) -> NDArray[Any] | None:
    """Return values as an array; None for what is none, or has values that were masked out.

    NumPy would uncover masked values without a word, and they would be reported.
    """
    if isinstance(values, np.ma.MaskedArray):
        return None
    try:
        return np.asarray(values)
    except (ValueError, TypeError):
        return None


def settle(value: object, **settled: object) -> None:
    """Set the fields of a frozen value, once, from its own constructor."""
    for name, each in settled.items():
        object.__setattr__(value, name, each)


def written(value: "DataclassInstance") -> str:
    """Return a mechanism as people would write it: KaryResponse(epsilon=1, categories=100)."""
    told = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
    shown = (f"{name}={_shown(each)}" for name, each in told.items())
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
    """Return eight bytes that two mechanisms share if they are the same; reports begin with it."""
    return sha256(f"{VERSION} {_all_of(mechanism)}".encode()).digest()[:FINGERPRINT_BYTES]


def _all_of(mechanism: Any) -> str:
    terms = {each.name: getattr(mechanism, each.name) for each in fields(mechanism) if each.init}
    return " ".join([mechanism.tag, *(f"{name}={_exactly(each)}" for name, each in terms.items())])


def _exactly(value: object) -> str:
    """Return what no other value has: unlike `_shown`, nothing is rounded."""
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_exactly, value))})"
    return f"[{_all_of(value)}]" if hasattr(value, "tag") else _shown(value)


def influence(mechanism: FrequencyOracle) -> Fraction:
    """Return the most by which one report, however dishonest, moves any one estimated count.

    A report adds (1 - other) / (own - other) to the count of each value that it speaks for and
    takes other / (own - other) from each that it does not; the larger of the two is returned.
    Swapping one report for another moves a count by at most 1 / (own - other).
    """
    p, q = mechanism.own, mechanism.other
    return max(1 - q, q) / (p - q)


def mean_variance(own: Fraction, other: Fraction, categories: int) -> Fraction:
    """Return the mean over all values of the variance of an estimated count, for one person.

    Σ (n_v p (1 - p) + (n - n_v) q (1 - q)) / (p - q)² does not depend on who holds what, since the
    n_v sum to n (Wang et al. 2017, Theorem 2).
    """
    spread = own * (1 - own) + (categories - 1) * other * (1 - other)
    return spread / (categories * (own - other) ** 2)
