"""Steps of a computation, each written once, as columns of nested SELECTs.

A template that repeats its argument would double a long text at every level of nesting. So a long
argument becomes a column of its own, computed one SELECT further in, and is repeated by its name.
"""

# ruff: noqa: S608 - this file writes SQL; every name in it is quoted

import re
from dataclasses import dataclass, field

SHORT = 48
"""Texts up to this long are repeated as they are."""


@dataclass(slots=True)
class Stages:
    """The steps under one SELECT whose rows are called `name`."""

    name: str
    fence: str = ""
    """What follows each SELECT, so that the engine computes a step once."""
    _numbers: dict[str, int] = field(default_factory=dict)
    _levels: list[int] = field(default_factory=list)

    def column(self, text: str) -> str:
        """Return what stands for a text: a column, the same for the same text."""
        number = self._numbers.setdefault(text, len(self._numbers))
        if number == len(self._levels):
            named = map(int, re.findall(r'"__step(\d+)"', text))
            used = [self._levels[each] for each in named if each < len(self._levels)]
            self._levels.append(max(used, default=-1) + 1)
        return f'{self.name}."__step{number}"'

    def around(self, rows: str) -> str:
        """Return the rows with all steps as columns besides their own."""
        for level in range(max(self._levels, default=-1) + 1):
            steps = ", ".join(
                f'{text} AS "__step{number}"'
                for text, number in self._numbers.items()
                if self._levels[number] == level
            )
            rows = f"SELECT {self.name}.*, {steps} FROM ({rows}) AS {self.name}{self.fence}"
        return rows
