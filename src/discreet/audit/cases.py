"""How subjects are made of mechanisms: two neighbouring inputs, and a way to run them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.subjects import Draw, Kind, Outputs, Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A mechanism, two inputs that its promise is about, and how it is run on one of them."""

    mechanism: Any
    here: Any
    there: Any
    what: str = ""
    draw: Callable[[Any, Any, int], Outputs]
    """Takes the mechanism, an input and how often."""
    runs: int
    epsilon: Fraction | None = None
    """What is claimed, if not what the mechanism says of itself."""
    delta: Fraction = Fraction(0)

    def subject(self, kind: Kind) -> Subject:
        """Return it as something to be audited."""
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
    """Release the same exact answer so often, each time by a call of its own."""
    return [mechanism.release(exact) for _ in range(count)]


def at_once(mechanism: Any, exact: Any, count: int) -> Outputs:
    """Release so many copies of an answer in one array: their noise is independent."""
    copies: Outputs = mechanism.release(np.tile(exact, (count, *np.ndim(exact) * (1,))))
    return copies


def subjects_of(cases: Iterator[Case], kind: Kind) -> tuple[Subject, ...]:
    """Return what is to be audited."""
    return tuple(case.subject(kind) for case in cases)
