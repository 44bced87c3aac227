"""The staircase mechanism: less noise than Laplace for one real answer."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import ceil, exp, log
from typing import Self

from discreet import plots
from discreet.accounting.events import StaircaseEvent
from discreet.deprecated import Renamed
from discreet.errors import HIDDEN, ParameterError
from discreet.mechanisms.accuracy import (
    checked_epsilon,
    checked_sensitivity,
    least_epsilon,
    miss_probability,
)
from discreet.mechanisms.charts import DRAWN, reals_plot, title_of
from discreet.mechanisms.distributions import StaircaseDistribution
from discreet.mechanisms.exact import Grid, exact_real, is_scalar, power_of_two_below
from discreet.mechanisms.sensitivity import Sensitivity, l1_of
from discreet.noise import SYSTEM, Entropy, geometric, uniform_integers
from discreet.noise.enclosures import share_against_exp_neg
from discreet.noise.uniform import LazyUniform
from discreet.parameters import Real, call_text, freeze_fields

EPSILON_MOST = 60
"""Above this, the high part of a stair is too narrow for a 64-bit grid, and errors are zero."""

FINENESS = 1 << 16
TREAD_FINENESS = 1 << 8
"""A stair has at least FINENESS steps of the grid, and its high part at least TREAD_FINENESS."""


@dataclass(frozen=True, slots=True, init=False)
class Staircase:
    """Add staircase noise on a fine grid to one real answer: epsilon-DP for its sensitivity.

    The density is a step function of the distance from 0. It falls by a factor e^-epsilon at
    share · sensitivity, with share = 1 / (1 + e^(epsilon / 2)), and again after every further
    distance of one sensitivity. This is optimal for the mean
    absolute error (Geng, Viswanath 2016). For two answers no farther apart than the sensitivity,
    the densities of any output differ by at most one such factor. For one answer only: the proof
    does not extend to several coordinates.
    """

    epsilon: Fraction
    sensitivity: Fraction
    step: Fraction = field(repr=False)
    """The grid's step: a power of two that depends only on the public parameters."""
    width: int = field(repr=False)
    """The sensitivity in steps: the length of a stair."""
    tread: int = field(repr=False)
    """The length of a stair's high part, in steps."""

    __repr__ = call_text

    def __init__(self, *, epsilon: Real, sensitivity: Real | Sensitivity) -> None:
        epsilon = checked_epsilon(epsilon)
        if epsilon > EPSILON_MOST:
            raise ParameterError("epsilon", epsilon, f"must be {EPSILON_MOST} or less")
        size = checked_sensitivity(l1_of(sensitivity))
        share = 1 / (1 + exp(epsilon / 2))
        step = power_of_two_below(min(size / FINENESS, size * Fraction(share) / TREAD_FINENESS))
        width = ceil(size / step)
        tread = max(1, min(width - 1, round(width * share)))
        freeze_fields(self, epsilon=epsilon, sensitivity=size, step=step, width=width, tread=tread)

    @classmethod
    def for_epsilon(cls, epsilon: Real, *, sensitivity: Real | Sensitivity) -> Self:
        """Return the mechanism with the least noise that is epsilon-DP."""
        return cls(epsilon=epsilon, sensitivity=sensitivity)

    @classmethod
    def for_margin(cls, *, within: Real, confidence: Real, sensitivity: Real | Sensitivity) -> Self:
        """Return the mechanism with the smallest epsilon whose margin of error meets the target."""
        make = partial(cls, sensitivity=sensitivity)

        most = Fraction(EPSILON_MOST)
        return make(
            epsilon=least_epsilon(
                lambda each: make(epsilon=each).margin(confidence), within, most=most
            )
        )

    @property
    def event(self) -> StaircaseEvent:
        """The event that one release is charged as."""
        return StaircaseEvent(epsilon=self.epsilon)

    def release(self, exact: float, *, entropy: Entropy = SYSTEM) -> float:
        """Return exact + noise."""
        if not is_scalar(exact):
            raise ParameterError("exact", HIDDEN, "must be one number. Use Laplace for arrays")
        grid = Grid(self.step)
        return grid.value(grid.place(exact) + self._noise(entropy))

    def distribution(self, exact: Real) -> StaircaseDistribution:
        """Return the distribution of release(exact)."""
        return StaircaseDistribution(
            centre=Grid(self.step).place(exact) * self.step,
            epsilon=self.epsilon,
            width=self.width,
            tread=self.tread,
            step=self.step,
        )

    def margin(self, confidence: Real, answers: int = 1) -> float:
        """Return the margin of error that holds for all `answers` at once, grid included."""
        miss = float(miss_probability(confidence, answers))
        law = self.distribution(0)
        # The tail is monotone, so bisection finds the smallest n with P(|K| > n) ≤ miss.
        low, high = -1, self.width * (2 + ceil(-log(miss) / self.epsilon))
        while high - low > 1:
            middle = (low + high) // 2
            # A float tail is right to 2**-45 of itself. The margin makes the bound safe.
            is_enough = 2 * law.tail(middle + 1) * (1 + 2.0**-40) <= miss
            low, high = (low, middle) if is_enough else (middle, high)
        return float((high + 1) * self.step)

    def plot(self, exact: float = 0) -> "plots.Plot":
        """Plot the distributions of an answer and its farthest neighbour, and their ratio."""
        neighbour = exact_real(exact) + self.width * self.step
        return reals_plot(
            self.distribution(exact),
            self.distribution(neighbour),
            epsilon=self.epsilon,
            reach=self.margin(DRAWN),
            title=title_of(self),
        )

    def _noise(self, entropy: Entropy) -> int:
        """Draw K: a stair, its high or low part, a place in that part, and a sign.

        The stairs have ratio e^-epsilon, and in a stair the parts have weights tread and
        (width - tread) e^-epsilon, so these are three independent choices. -0 is drawn again.
        """
        low_part = self.width - self.tread
        is_high = share_against_exp_neg(Fraction(self.tread), Fraction(low_part), self.epsilon)
        while True:
            start = self.width * geometric(1 / self.epsilon, entropy=entropy)
            if LazyUniform(entropy).is_below(is_high):
                k = start + uniform_integers(self.tread, entropy=entropy)
            else:
                k = start + self.tread + uniform_integers(low_part, entropy=entropy)
            is_negative = uniform_integers(2, entropy=entropy) == 1
            if k or not is_negative:
                return -k if is_negative else k

    law = Renamed("distribution")
    error = Renamed("margin")
    for_error = Renamed("for_margin")
