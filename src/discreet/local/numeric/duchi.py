"""One bit for the mean: which bound the value is nearer to, by chance."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.local.base import Row, Rows, checked_epsilon, integer_row, settle, written
from discreet.local.charges import pure_event
from discreet.local.draws import coins
from discreet.local.numeric.values import FINE, FINE_BITS, checked_bounds, rounded_up
from discreet.local.odds import chance_up, odds_down
from discreet.noise import Entropy
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Duchi:
    """Report one bit about a bounded number; epsilon-locally private and unbiased.

    The value is rounded to one of its bounds with the chance that keeps its mean, and the bit that
    says which goes through a binary response whose odds do not exceed e^epsilon (Duchi, Jordan,
    Wainwright 2018, in the one-dimensional form of Wang et al. 2019, Algorithm 1). Best for small
    epsilon: its worst variance is (e^ε + 1)² / (4 (e^ε - 1)²) of the squared width.
    """

    tag: ClassVar[str] = "duchi/1"
    epsilon: Fraction
    bounds: tuple[Fraction, Fraction]
    lie: Fraction = field(init=False)

    def __init__(self, *, epsilon: Real, bounds: tuple[Real, Real] = (-1, 1)) -> None:
        exact = checked_epsilon(epsilon)
        lie = chance_up(1 / (odds_down(exact) + 1))
        settle(self, epsilon=exact, bounds=checked_bounds(bounds), lie=lie)

    __repr__ = written

    @property
    def event(self) -> "PureEvent":
        """What one report costs the person who sends it."""
        return pure_event(self.epsilon)

    @property
    def row(self) -> Row:
        return integer_row(1)

    @property
    def cells(self) -> int:
        return 2

    def draw(self, steps: IntArray, entropy: Entropy) -> Rows:
        """Return a report for each value, given in steps of the fine grid."""
        is_high = rounded_up(steps, FINE_BITS, entropy)
        is_high ^= coins(self.lie, len(steps), entropy)
        return is_high.astype(np.uint8)

    def are_valid(self, rows: Rows) -> bool:
        return not len(rows) or bool(rows.max() < 2)

    def tally(self, rows: Rows) -> IntArray:
        return np.bincount(rows.astype(np.int64), minlength=2)

    def chances(self, step: int) -> list[Fraction]:
        """Return the exact probability of each report, given a value in steps of the fine grid."""
        high = self.lie + (1 - 2 * self.lie) * Fraction(step, FINE)
        return [1 - high, high]

    def decoded(self) -> list[Fraction]:
        """Return what each report says of the value, 0 and 1 being the bounds: unbiased."""
        gap = 1 - 2 * self.lie
        return [-self.lie / gap, (1 - self.lie) / gap]

    def variance(self, share: FloatArray) -> FloatArray:
        """Return the variance of one report's value, for values at these shares of the width."""
        low, high = map(float, self.decoded())
        return np.asarray((high - share) * (share - low))
