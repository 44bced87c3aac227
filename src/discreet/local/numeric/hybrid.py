"""The hybrid mechanism: a coin that knows nothing of the value picks one of two mechanisms."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.local.base import Row, Rows, integer_row, settle, written
from discreet.local.charges import pure_event
from discreet.local.draws import coins
from discreet.local.numeric.duchi import Duchi
from discreet.local.numeric.piecewise import Piecewise
from discreet.local.odds import chance_down
from discreet.noise import Entropy
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent

SWITCH = 0.61
"""Up to this epsilon Duchi's mechanism alone has the least worst-case variance."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Hybrid:
    """Report by the piecewise mechanism with chance 1 - e^(-ε/2), else by Duchi's.

    epsilon-locally private, as both are and the coin is independent of the value; unbiased; its
    worst variance is no larger than either's (Wang et al. 2019, Section III-C). Up to ε = 0.61 it
    is Duchi's mechanism.
    """

    tag: ClassVar[str] = "hybrid/1"
    epsilon: Fraction
    bounds: tuple[Fraction, Fraction]
    grid: int
    share: Fraction = field(init=False)
    duchi: Duchi = field(init=False)
    piecewise: Piecewise = field(init=False)

    def __init__(
        self, *, epsilon: Real, bounds: tuple[Real, Real] = (-1, 1), grid: int = 10
    ) -> None:
        piecewise = Piecewise(epsilon=epsilon, bounds=bounds, grid=grid)
        exact = piecewise.epsilon
        wide = -np.expm1(-float(exact) / 2) if exact > SWITCH else 0.0
        settle(
            self,
            epsilon=exact,
            bounds=piecewise.bounds,
            grid=piecewise.grid,
            share=chance_down(Fraction(float(wide))),
            duchi=Duchi(epsilon=epsilon, bounds=bounds),
            piecewise=piecewise,
        )

    __repr__ = written

    @property
    def event(self) -> "PureEvent":
        """What one report costs the person who sends it."""
        return pure_event(self.epsilon)

    @property
    def row(self) -> Row:
        return integer_row(17)

    @property
    def cells(self) -> int:
        return 2 + self.piecewise.cells

    def draw(self, steps: IntArray, entropy: Entropy) -> Rows:
        """Return a report for each value: 0 or 1 are Duchi's, all above the piecewise ones."""
        rows = self.row.empty(len(steps))
        is_wide = coins(self.share, len(steps), entropy)
        rows[~is_wide] = self.duchi.draw(steps[~is_wide], entropy)
        rows[is_wide] = self.piecewise.draw(steps[is_wide], entropy).astype(np.uint32) + 2
        return rows

    def are_valid(self, rows: Rows) -> bool:
        return not len(rows) or bool(rows.max() < self.cells)

    def tally(self, rows: Rows) -> IntArray:
        return np.bincount(rows.astype(np.int64), minlength=self.cells)

    def chances(self, step: int) -> list[Fraction]:
        """Return the exact probability of each report, given a value in steps of the fine grid."""
        return [(1 - self.share) * p for p in self.duchi.chances(step)] + [
            self.share * p for p in self.piecewise.chances(step)
        ]

    def decoded(self) -> list[Fraction]:
        """Return what each report says of the value, 0 and 1 being the bounds: unbiased."""
        return self.duchi.decoded() + self.piecewise.decoded()

    def variance(self, share: FloatArray) -> FloatArray:
        """Return the variance of one report's value, for values at these shares of the width."""
        wide = float(self.share)
        return (1 - wide) * self.duchi.variance(share) + wide * self.piecewise.variance(share)
