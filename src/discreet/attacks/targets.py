"""What is attacked: anything that answers questions, each answer one number."""

from collections.abc import Callable
from typing import Protocol

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


Progress = Callable[[float], None]
"""Told how much of the work is done, from 0 to 1."""
