"""What is audited: a claim and two laws; a mechanism run on two neighbouring inputs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Outputs = Sequence[Any] | NDArray[np.generic]
"""Independent outputs, one for each run: numbers, labels, None, tuples, or rows of an array."""


Draw = Callable[[int], Outputs]
"""Runs the subject a number of times on the same input, with independent noise."""


class SubjectKind(Enum):
    """Where a subject comes from."""

    MECHANISM = "mechanism"
    LOCAL = "local"
    QUESTION = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A claim (epsilon, delta), and the two distributions that it is about.

    The claim is false if the probability of some event `here` is more than e^epsilon times its
    probability `there` plus delta, or the other way round. `is_broken` marks a deliberately broken
    variant: an auditor must catch it, which tests the power of the audit.
    """

    name: str
    kind: SubjectKind
    epsilon: Fraction
    here: Draw
    there: Draw
    delta: Fraction = Fraction(0)
    is_broken: bool = False
    runs: int = 100_000
    """The number of runs on each input in a quick audit. A long one has ten times as many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCase:
    """A mechanism, two neighbouring inputs, and a function that runs it on one of them."""

    mechanism: Any
    here: Any
    there: Any
    what: str = ""
    draw: Callable[[Any, Any, int], Outputs]
    """Takes the mechanism, an input and the number of runs."""
    runs: int
    epsilon: Fraction | None = None
    """The claimed epsilon. Default: that of the mechanism."""
    delta: Fraction = Fraction(0)

    def subject(self, kind: SubjectKind) -> Subject:
        """Return the case as a subject of an audit."""
        return Subject(
            name=f"{self._name}, ε = {float(self._claimed):.3g}",
            kind=kind,
            epsilon=self._claimed,
            delta=self.delta,
            here=self._draw(self.here),
            there=self._draw(self.there),
            runs=self.runs,
        )

    @property
    def _name(self) -> str:
        return type(self.mechanism).__name__ + (f", {self.what}" if self.what else "")

    @property
    def _claimed(self) -> Fraction:
        claimed: Fraction = self.mechanism.epsilon if self.epsilon is None else self.epsilon
        return claimed

    def _draw(self, exact: Any) -> Draw:
        return lambda count: self.draw(self.mechanism, exact, count)


def one_by_one(mechanism: Any, exact: Any, count: int) -> Outputs:
    """Release the same exact answer `count` times, with one call each."""
    return [mechanism.release(exact) for _ in range(count)]


def at_once(mechanism: Any, exact: Any, count: int) -> Outputs:
    """Release `count` copies of an answer in one array. Their noise is independent."""
    copies: Outputs = mechanism.release(np.tile(exact, (count, *np.ndim(exact) * (1,))))
    return copies


def subjects_of(cases: Iterator[AuditCase], kind: SubjectKind) -> tuple[Subject, ...]:
    """Return the subjects of these cases."""
    return tuple(case.subject(kind) for case in cases)
