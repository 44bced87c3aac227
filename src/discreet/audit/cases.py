"""Subjects made from mechanisms: two neighbouring inputs, and a way to run them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.subjects import Draw, Kind, Outputs, Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
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

    def subject(self, kind: Kind) -> Subject:
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


def subjects_of(cases: Iterator[Case], kind: Kind) -> tuple[Subject, ...]:
    """Return the subjects of these cases."""
    return tuple(case.subject(kind) for case in cases)
