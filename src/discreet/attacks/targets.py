"""Targets of attacks: systems that answer each query with one number."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from discreet.attacks.people import People


class Target(Protocol):
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

    def guard(self, people: People) -> Target:
        """Return a new target that holds the data of these people."""
        ...


class KnownDefence(Defence, Protocol):
    """A defence whose algorithm is public except for its random bits. Assume this of all."""

    @property
    def spread(self) -> float:
        """The standard deviation of the error of a count, over noise and counts."""
        ...

    @property
    def is_fixed(self) -> bool:
        """Whether the answer to a count is deterministic."""
        ...

    def surprise(self, answer: float, exact: int) -> float:
        """Return -ln of the probability of an answer if the count is `exact`, up to a constant."""
        ...


@runtime_checkable
class Held(Protocol):
    """A target that must be closed."""

    def close(self) -> None:
        """Release its resources."""
        ...


@contextmanager
def guarding(defence: Defence, people: People) -> Iterator[Target]:
    """Yield a new target that holds the data of these people, and close it afterwards."""
    target = defence.guard(people)
    try:
        yield target
    finally:
        if isinstance(target, Held):
            target.close()


Progress = Callable[[float], None]
"""Called with the share of the work that is done, from 0 to 1."""
