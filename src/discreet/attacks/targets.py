"""What is attacked; exact and altered answers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, wraps
from math import exp, expm1
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from discreet.attacks.people import People
from discreet.deprecated import warn_renamed
from discreet.engines.public_store import PublicStore, rows_of
from discreet.errors import QuestionError, RefusedError


def most_success(epsilon: float, *, delta: float = 0.0, distance: int = 1) -> float:
    """Return the highest probability with which any attacker can tell two databases apart.

    Both databases are equally likely, and `distance` steps between neighbours lie between them. By
    group privacy the output is (E, D)-differentially private for the two, with E = distance ·
    epsilon and D = delta (e^E - 1) / (e^epsilon - 1). The best guess is then right with probability
    at most (e^E + D) / (1 + e^E) (Kairouz, Oh, Viswanath 2015, Theorem 2.1: no two such
    distributions are farther apart than those of randomized response that reveals its input with
    probability D).

    To guess one person's bit, with everything else known, the distance is 2 for add-remove
    neighbours and 1 for replace neighbours. To guess membership under add-remove, it is 1.
    """
    group = min(distance * epsilon, 700.0)
    grown = delta * (expm1(group) / expm1(min(epsilon, 700.0)) if epsilon > 0 else distance)
    return min(1.0, (1.0 + grown * exp(-group)) / (1.0 + exp(-group)))


class AttackedSystem(Protocol):
    """A system as an attacker sees it."""

    def ask(self, sql: str) -> float:
        """Return the number that the query computes, or raise `RefusedError`."""
        ...


class Defence(Protocol):
    """A way to answer queries. Attacks run on many synthetic databases that it guards."""

    @property
    def name(self) -> str:
        """The name on the command line and in plots."""
        ...

    @property
    def epsilon(self) -> float | None:
        """The total epsilon that it guarantees for one person, or None if it guarantees nothing."""
        ...

    def protect(self, people: People) -> AttackedSystem:
        """Return a new target that holds the data of these people."""
        ...


class KnownDefence(Defence, Protocol):
    """A defence whose algorithm is public except for its random bits. Assume this of all."""

    @property
    def deviation(self) -> float:
        """The standard deviation of the error of a count, over noise and counts."""
        ...

    @property
    def is_fixed(self) -> bool:
        """Whether the answer to a count is deterministic."""
        ...

    def negative_log_likelihood(self, answer: float, exact: int) -> float:
        """Return -ln of the probability of an answer if the count is `exact`, up to a constant."""
        ...


@runtime_checkable
class Held(Protocol):
    """A target that must be closed."""

    def close(self) -> None:
        """Release its resources."""
        ...


@contextmanager
def protected_by(defence: Defence, people: People) -> Iterator[AttackedSystem]:
    """Yield a new target that holds the data of these people, and close it afterwards."""
    target = defence.protect(people)
    try:
        yield target
    finally:
        if isinstance(target, Held):
            target.close()


OLD_MEMBERS = {"protect": "guard", "deviation": "spread", "negative_log_likelihood": "surprise"}
"""What the members of a defence were called in 0.1."""

Run = TypeVar("Run", bound=Callable[..., Any])


def accepts_old_defences(attack: Run) -> Run:
    """Let an attack take a defence whose members have the names of 0.1, with a warning."""

    @wraps(attack)
    def run(defence: object, *args: Any, **options: Any) -> object:
        if not hasattr(defence, "protect") and hasattr(defence, "guard"):
            warn_renamed("Defence.guard", "Defence.protect")
            defence = _OldDefence(defence)
        return attack(defence, *args, **options)

    return cast("Run", run)


class _OldDefence:
    """A defence whose members have the names of 0.1."""

    def __init__(self, defence: object) -> None:
        self._defence = defence

    def __getattr__(self, name: str) -> object:
        return getattr(self._defence, OLD_MEMBERS.get(name, name))


Progress = Callable[[float], None]
"""Called with the share of the work that is done, from 0 to 1."""


@cache
def _store() -> PublicStore:
    """Return a store for tables of synthetic people, which need no protection."""
    return PublicStore()


class ExactTarget:
    """Answers any SQL exactly."""

    def __init__(self, people: People) -> None:
        self._tables = people.tables
        self._known: dict[str, float] = {}

    def ask(self, sql: str) -> float:
        """Return the first number of the first row."""
        if sql not in self._known:
            try:
                rows = rows_of(_store().run_plainly(sql, self._tables))
            except QuestionError as error:
                raise RefusedError(str(error)) from None
            self._known[sql] = number_of(rows[0][0] if rows else None)
        return self._known[sql]


def number_of(cell: object) -> float:
    """Return a cell as a number, or 0 if it is not one."""
    return float(cell) if isinstance(cell, int | float | Fraction) else 0.0


@dataclass(frozen=True, slots=True)
class AlteredTarget:
    """Alters each exact answer before it is returned."""

    exact: ExactTarget
    alter: Callable[[str, float], float]

    def ask(self, sql: str) -> float:
        """Return the altered answer."""
        return self.alter(sql, self.exact.ask(sql))
