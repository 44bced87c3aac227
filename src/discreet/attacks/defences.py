"""Defences that attacks are run against, from exact answers to a privacy budget.

Only `Discreet` has a guarantee. The others are common practice. Some of them protect a single
answer, but none of them withstands many queries.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import shake_256
from math import inf, log, sqrt

from discreet.attacks.people import People
from discreet.attacks.targets import (
    AlteredTarget,
    AttackedSystem,
    Defence,
    ExactTarget,
    most_success,
    number_of,
)
from discreet.catalog import Accounting, BudgetPolicy
from discreet.curator import Curator
from discreet.deprecated import Renamed
from discreet.errors import BudgetError, QuestionError, RefusedError
from discreet.mechanisms.sensitivity import Neighbours
from discreet.noise import SYSTEM, discrete_laplace, uniform_integers
from discreet.opening.open import MEMORY, curator_of
from discreet.parameters import Real, integer, rational


class OldDefenceNames:
    """The names that members of defences had in 0.1."""

    __slots__ = ()

    guard = Renamed("protect")
    spread = Renamed("deviation")
    surprise = Renamed("negative_log_likelihood")


# --------------------------------------------------------------------------- no guarantee


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw(OldDefenceNames):
    """Answers with exact counts."""

    name: str = "raw"
    epsilon: float | None = None
    deviation: float = 0.0
    is_fixed: bool = True

    def protect(self, people: People) -> AttackedSystem:
        return ExactTarget(people)

    def negative_log_likelihood(self, answer: float, exact: int) -> float:
        return 0.0 if answer == exact else inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounded(OldDefenceNames):
    """Rounds counts to the nearest multiple of `to`, halves upwards."""

    to: int = 10
    name: str = "rounded"
    epsilon: float | None = None
    is_fixed: bool = True

    def __post_init__(self) -> None:
        integer("to", self.to, least=1)

    @property
    def deviation(self) -> float:
        return sqrt((self.to**2 - 1) / 12)

    def protect(self, people: People) -> AttackedSystem:
        return AlteredTarget(ExactTarget(people), lambda _, exact: self._rounded(exact))

    def negative_log_likelihood(self, answer: float, exact: int) -> float:
        return 0.0 if answer == self._rounded(exact) else inf

    def _rounded(self, exact: float) -> float:
        return self.to * ((exact + self.to / 2) // self.to)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded(OldDefenceNames):
    """Adds a uniform integer within ±`within`, drawn again for every answer."""

    within: int = 5
    name: str = "bounded"
    epsilon: float | None = None
    is_fixed: bool = False

    def __post_init__(self) -> None:
        integer("within", self.within, least=0)

    @property
    def deviation(self) -> float:
        return sqrt(self.within * (self.within + 1) / 3)

    def protect(self, people: People) -> AttackedSystem:
        return AlteredTarget(ExactTarget(people), lambda _, exact: exact + self._noise())

    def negative_log_likelihood(self, answer: float, exact: int) -> float:
        return 0.0 if abs(answer - exact) <= self.within else inf

    def _noise(self) -> int:
        return uniform_integers(2 * self.within + 1) - self.within


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshLaplace(OldDefenceNames):
    """Adds discrete Laplace noise of epsilon `each` to every answer, and has no budget."""

    each: Real = 1
    name: str = "fresh-laplace"
    epsilon: float | None = None
    is_fixed: bool = False

    def __post_init__(self) -> None:
        _scale(self.each)

    @property
    def deviation(self) -> float:
        return sqrt(2) / float(self.each)

    def protect(self, people: People) -> AttackedSystem:
        scale = _scale(self.each)
        return AlteredTarget(ExactTarget(people), lambda _, exact: exact + discrete_laplace(scale))

    def negative_log_likelihood(self, answer: float, exact: int) -> float:
        return float(self.each) * abs(answer - exact)


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatLaplace(OldDefenceNames):
    """Adds textbook Laplace noise, b · sign · ln(u) in floats, and has no budget.

    Even a single answer can reveal the exact count through the last bits of the float (Mironov
    2012, On significance of the least significant bits for differential privacy).
    """

    each: Real = 1
    name: str = "float-laplace"
    epsilon: float | None = None
    is_fixed: bool = False

    def __post_init__(self) -> None:
        _scale(self.each)

    @property
    def deviation(self) -> float:
        return sqrt(2) / float(self.each)

    def protect(self, people: People) -> AttackedSystem:
        scale = float(_scale(self.each))
        return AlteredTarget(ExactTarget(people), lambda _, exact: exact + float_laplace(scale))

    def negative_log_likelihood(self, answer: float, exact: int) -> float:
        return float(self.each) * abs(answer - exact)


def float_laplace(scale: float) -> float:
    """Return textbook Laplace noise, from a float u = k / 2^53 with k > 0, and a sign.

    Not private: the set of possible outputs depends on the answer that the noise is added to.
    """
    u = (uniform_integers((1 << 53) - 1) + 1) * 2.0**-53
    return (scale if uniform_integers(2) else -scale) * log(u)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sticky(OldDefenceNames):
    """Adds discrete Laplace noise that is computed from the text of the query.

    Repeating a query gives the same noise, so averaging fails. But an equivalent query with a
    different text has independent noise.
    """

    each: Real = 1
    name: str = "sticky"
    epsilon: float | None = None
    is_fixed: bool = False

    def __post_init__(self) -> None:
        _scale(self.each)

    @property
    def deviation(self) -> float:
        return sqrt(2) / float(self.each)

    def protect(self, people: People) -> AttackedSystem:
        scale, key = _scale(self.each), SYSTEM.draw(32)
        return AlteredTarget(
            ExactTarget(people),
            lambda sql, exact: exact + discrete_laplace(scale, entropy=_StickyNoise(key, sql)),
        )

    def negative_log_likelihood(self, answer: float, exact: int) -> float:
        return float(self.each) * abs(answer - exact)


class _StickyNoise:
    """An endless stream of bytes, computed from a key and a text."""

    def __init__(self, key: bytes, text: str) -> None:
        self._seed, self._drawn = key + text.encode(), 0

    def draw(self, count: int) -> bytes:
        self._drawn += count
        return shake_256(self._seed).digest(self._drawn)[self._drawn - count :]


def _scale(each: Real) -> Fraction:
    return 1 / rational("each", each, above=0)


# --------------------------------------------------------------------------- a guarantee


@dataclass(frozen=True, slots=True, kw_only=True)
class Discreet(OldDefenceNames):
    """A curator with a ledger: each query costs `each`, until the total `epsilon` is spent.

    A query with the same meaning as an earlier one returns the saved answer and costs nothing.
    """

    epsilon: float = 1.0
    each: Real = Fraction(1, 10)
    delta: Real = 0
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    accounting: Accounting = Accounting.BASIC
    name: str = "discreet"
    is_fixed: bool = False

    def __post_init__(self) -> None:
        rational("epsilon", self.epsilon, above=0)
        rational("each", self.each, above=0)

    @property
    def deviation(self) -> float:
        return sqrt(2) / float(self.each)

    def protect(self, people: People) -> AttackedSystem:
        budget = BudgetPolicy(
            epsilon=rational("epsilon", self.epsilon),
            delta=rational("delta", self.delta),
            neighbours=self.neighbours,
            accounting=self.accounting,
        )
        declared = replace(people.scheme.declared, budget=budget)
        return CuratorTarget(curator_of(declared, people.tables, MEMORY), self.each)

    def negative_log_likelihood(self, answer: float, exact: int) -> float:
        return float(self.each) * abs(answer - exact)


class CuratorTarget:
    """Runs queries on a curator, each at the same cost."""

    def __init__(self, curator: Curator, each: Real) -> None:
        self._curator, self._each = curator, each

    def ask(self, sql: str) -> float:
        """Return the first number of the first row, or raise `RefusedError` if rejected."""
        try:
            rows = self._curator.ask(sql, epsilon=self._each).rows
        except (BudgetError, QuestionError) as refusal:
            raise RefusedError(str(refusal)) from None
        return number_of(next(iter(rows[0].values())) if rows else None)

    def close(self) -> None:
        """Close the engine and the ledger."""
        self._curator.close()


def allowed_for_values(defence: Defence) -> float | None:
    """Return the highest probability of guessing one person's fair secret bit correctly.

    None if the defence has no guarantee. With add-remove neighbours, changing a person's bit takes
    two steps, a removal and an addition. With replace neighbours, it takes one.
    """
    if defence.epsilon is None:
        return None
    if not isinstance(defence, Discreet):
        return most_success(defence.epsilon, distance=2)
    distance = 1 if defence.neighbours is Neighbours.REPLACE else 2
    return most_success(defence.epsilon, delta=float(defence.delta), distance=distance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed(OldDefenceNames):
    """Answers with exact counts, and with 0 in place of counts below `least`."""

    least: int = 5
    name: str = "suppressed"
    epsilon: float | None = None
    deviation: float = 0.0
    is_fixed: bool = True

    def __post_init__(self) -> None:
        integer("least", self.least, least=1)

    def protect(self, people: People) -> AttackedSystem:
        return AlteredTarget(ExactTarget(people), lambda _, exact: self._shown(exact))

    def negative_log_likelihood(self, answer: float, exact: int) -> float:
        return 0.0 if answer == self._shown(exact) else inf

    def _shown(self, exact: float) -> float:
        return exact if exact >= self.least else 0.0
