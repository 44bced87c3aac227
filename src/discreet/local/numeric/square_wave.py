"""The square wave on a grid: reports that keep as much of a distribution's shape as they can."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import expm1
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.local.base import (
    Row,
    Rows,
    check_mechanism,
    checked_epsilon,
    integer_row,
    settle,
    written,
)
from discreet.local.charges import pure_event
from discreet.local.numeric.values import FINE, checked_bounds, fine_steps
from discreet.local.numeric.windows import Window
from discreet.local.reports import Reports
from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import IntArray
from discreet.parameters import Real, whole

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent

BUCKETS_MOST = 4096


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SquareWave:
    """Report a place near one's bucket, or any other; epsilon-locally private.

    Values between the bounds fall into equal buckets; the report is drawn from `Window` with as
    many near places as maximise what a report can tell (Li et al. 2020, Section 5.1, discrete
    form). `reconstruct` finds the histogram that explains the reports best.
    """

    tag: ClassVar[str] = "square-wave/1"
    epsilon: Fraction
    bounds: tuple[Fraction, Fraction]
    buckets: int
    window: Window = field(init=False)

    def __init__(
        self, *, epsilon: Real, bounds: tuple[Real, Real] = (0, 1), buckets: int = 64
    ) -> None:
        exact = checked_epsilon(epsilon)
        places = whole("buckets", buckets, least=2, most=BUCKETS_MOST)
        width = max(1, round(2 * half_width(float(exact)) * places))
        settle(
            self,
            epsilon=exact,
            bounds=checked_bounds(bounds),
            buckets=places,
            window=Window.of(exact, places=places, width=width),
        )

    __repr__ = written

    @property
    def event(self) -> "PureEvent":
        """What one report costs the person who sends it."""
        return pure_event(self.epsilon)

    @property
    def row(self) -> Row:
        return integer_row(16)

    @property
    def cells(self) -> int:
        return self.window.reports

    def draw(self, steps: IntArray, entropy: Entropy) -> Rows:
        """Return a report for each value, given in steps of the fine grid."""
        places = np.minimum(steps * self.buckets // FINE, self.buckets - 1)
        return self.window.draw(places, entropy).astype(np.uint16)

    def are_valid(self, rows: Rows) -> bool:
        return not len(rows) or bool(rows.max() < self.window.reports)

    def tally(self, rows: Rows) -> IntArray:
        return np.bincount(rows.astype(np.int64), minlength=self.cells)

    def chances(self, step: int) -> list[Fraction]:
        """Return the exact probability of each report, given a value in steps of the fine grid."""
        return self.window.chances(min(step * self.buckets // FINE, self.buckets - 1))


def half_width(epsilon: float) -> float:
    """Return b = (ε e^ε - e^ε + 1) / (2 e^ε (e^ε - 1 - ε)), which maximises what a report tells.

    Divided through by e^ε; near 0, where it is a quotient of two zeros, its limit is 1/2.
    """
    if epsilon < 1e-3:
        return 0.5 - epsilon / 6
    return (epsilon + expm1(-epsilon)) / (2 * (expm1(epsilon) - epsilon))


@dataclass(frozen=True, slots=True)
class SquareWaveClient:
    """Makes square-wave reports on the device of the person they are about."""

    mechanism: SquareWave

    def __post_init__(self) -> None:
        check_mechanism(self.mechanism, "bounds", "buckets", "draw", rule="must be a SquareWave")

    def report(self, value: float, *, entropy: Entropy = SYSTEM) -> bytes:
        """Return one person's report, ready to be sent."""
        return bytes(self.report_many([value], entropy=entropy))

    def report_many(self, values: ArrayLike, *, entropy: Entropy = SYSTEM) -> Reports:
        """Return a report for each of many people."""
        steps = fine_steps(values, self.mechanism.bounds)
        return Reports(self.mechanism, self.mechanism.draw(steps, entropy))
