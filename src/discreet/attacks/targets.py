"""What is attacked: anything that answers questions, each answer one number."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from discreet.attacks.people import People


class Target(Protocol):
    """A system as an attacker sees it."""

    def ask(self, sql: str) -> float:
        """Return the one number that the question asks for, or refuse with `RefusedError`."""
        ...


class Defence(Protocol):
    """A way to answer questions; each attack is tried on many made-up databases that it guards."""

    @property
    def name(self) -> str:
        """What the command line and plots call it."""
        ...

    @property
    def epsilon(self) -> float | None:
        """What it promises for one person's life in the data, or None if it promises nothing."""
        ...

    def guard(self, people: People) -> Target:
        """Return a new target that knows these people."""
        ...


class KnownDefence(Defence, Protocol):
    """A defence whose workings are public but for its coins, as they must be taken to be."""

    @property
    def spread(self) -> float:
        """The standard deviation of how far a count is off, over noise and counts."""
        ...

    @property
    def is_fixed(self) -> bool:
        """Whether a count is always answered alike: nothing is left to chance."""
        ...

    def surprise(self, answer: float, exact: int) -> float:
        """Return -ln of how likely an answer is if the count is `exact`, up to a constant."""
        ...


@runtime_checkable
class Held(Protocol):
    """A target that holds something to give back."""

    def close(self) -> None:
        """Give it back."""
        ...


@contextmanager
def guarding(defence: Defence, people: People) -> Iterator[Target]:
    """Yield a new target that knows these people, and give back afterwards what it holds."""
    target = defence.guard(people)
    try:
        yield target
    finally:
        if isinstance(target, Held):
            target.close()


Progress = Callable[[float], None]
"""Told how much of the work is done, from 0 to 1."""
