"""The piecewise mechanism on a grid: a mean from reports that are mostly near the truth."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import exp
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.local.base import Row, Rows, checked_epsilon, integer_row, settle, written
from discreet.local.charges import pure_event
from discreet.local.numeric.values import FINE, FINE_BITS, checked_bounds, rounded_up
from discreet.local.numeric.windows import Window
from discreet.noise import Entropy
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, whole

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent

GRID_MOST = 15
"""At most 2**15 steps, so that a report has 16 bits."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Piecewise:
    """Report a place near a bounded number, or any other; epsilon-locally private and unbiased.

    The width from bound to bound has 2**grid steps; a value between two of them goes to one by the
    chance that keeps its mean, and the report is drawn from `Window` with e^(-ε/2) as many near
    places as steps (Wang et al. 2019, Algorithm 2, whose densities the grid makes chances). The
    mean report is exactly linear in the value, so decoding it has no bias. Best for large epsilon.
    """

    tag: ClassVar[str] = "piecewise/1"
    epsilon: Fraction
    bounds: tuple[Fraction, Fraction]
    grid: int
    window: Window = field(init=False)

    def __init__(
        self, *, epsilon: Real, bounds: tuple[Real, Real] = (-1, 1), grid: int = 10
    ) -> None:
        exact = checked_epsilon(epsilon)
        bits = whole("grid", grid, least=0, most=GRID_MOST)
        width = max(1, round((1 << bits) * exp(-float(exact) / 2)))
        window = Window.of(exact, places=(1 << bits) + 1, width=width)
        settle(self, epsilon=exact, bounds=checked_bounds(bounds), grid=bits, window=window)

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
        coarse = FINE_BITS - self.grid
        places = steps >> coarse
        places += rounded_up(steps & (1 << coarse) - 1, coarse, entropy)
        return self.window.draw(places, entropy).astype(np.uint16)

    def are_valid(self, rows: Rows) -> bool:
        return not len(rows) or bool(rows.max() < self.window.reports)

    def tally(self, rows: Rows) -> IntArray:
        return np.bincount(rows.astype(np.int64), minlength=self.cells)

    def chances(self, step: int) -> list[Fraction]:
        """Return the exact probability of each report, given a value in steps of the fine grid."""
        place, part = divmod(Fraction(step << self.grid, FINE), 1)
        here = self.window.chances(int(place))
        if part == 0:
            return here
        there = self.window.chances(int(place) + 1)
        return [(1 - part) * p + part * q for p, q in zip(here, there, strict=True)]

    def decoded(self) -> list[Fraction]:
        """Return what each report says of the value, 0 and 1 being the bounds: unbiased."""
        base, slope = self.window.base, self.window.slope * (1 << self.grid)
        return [(y - base) / slope for y in range(self.cells)]

    def variance(self, share: FloatArray) -> FloatArray:
        """Return the variance of one report's value, for values at these shares of the width.

        The second moment is linear between two steps of the grid, as the law is.
        """
        steps = 1 << self.grid
        moments = self._second_moments()
        at = np.clip(np.floor(share * steps).astype(np.int64), 0, steps - 1)
        part = share * steps - at
        return np.asarray((1 - part) * moments[at] + part * moments[at + 1] - share**2)

    def _second_moments(self) -> FloatArray:
        says = np.array([float(each) for each in self.decoded()]) ** 2
        sums = np.concatenate([[0.0], np.cumsum(says)])
        near, far, width = float(self.window.near), float(self.window.far), self.window.width
        places = np.arange(self.window.places)
        return np.asarray(far * sums[-1] + (near - far) * (sums[places + width] - sums[places]))
