"""The geometric mechanism: the default for counts."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Self, overload

from discreet import plots
from discreet.accounting.events import DiscreteLaplaceEvent
from discreet.deprecated import Renamed
from discreet.mechanisms.accuracy import (
    EPSILON_LEAST,
    EPSILON_MOST,
    checked_epsilon,
    drawn_scale,
    epsilon_of_each,
    laplace_accuracy,
    least_epsilon,
    miss_probability,
)
from discreet.mechanisms.charts import DRAWN, title_of, wholes_plot
from discreet.mechanisms.distributions import DiscreteLaplaceDistribution
from discreet.mechanisms.exact import (
    Integers,
    exact_integer,
    exact_integers,
    integer_number,
    is_scalar,
    noisy_sum,
)
from discreet.mechanisms.sensitivity import Sensitivity, l1_of
from discreet.mechanisms.truncation import Truncated
from discreet.noise import SYSTEM, Entropy, discrete_laplace
from discreet.noise.laplace import SCALE_LEAST, SCALE_MOST
from discreet.noise.uniform import IntArray
from discreet.parameters import Real, call_text, freeze_fields, integer


@dataclass(frozen=True, slots=True, init=False)
class Geometric:
    """Add two-sided geometric noise to integers: epsilon-DP for their L1 sensitivity.

    P(Z = z) = (1 - a) / (1 + a) · a**|z| with a = exp(-epsilon / sensitivity) (Ghosh, Roughgarden,
    Sundararajan 2009). The likelihood ratio of an output under two neighbours is at most
    a**-sensitivity = e^epsilon, because ||z - x| - |z - y|| ≤ |x - y| in each coordinate.
    """

    epsilon: Fraction
    sensitivity: int

    __repr__ = call_text

    def __init__(self, *, epsilon: Real, sensitivity: Real | Sensitivity) -> None:
        size = _whole_sensitivity(sensitivity)
        epsilon = checked_epsilon(epsilon)
        drawn_scale(epsilon, Fraction(size), instead="Laplace has a wider range")
        freeze_fields(self, epsilon=epsilon, sensitivity=size)

    @classmethod
    def for_epsilon(cls, epsilon: Real, *, sensitivity: Real | Sensitivity) -> Self:
        """Return the mechanism with the least noise that is epsilon-DP."""
        return cls(epsilon=epsilon, sensitivity=sensitivity)

    @classmethod
    def for_margin(
        cls, *, within: Real, confidence: Real, sensitivity: Real | Sensitivity, answers: int = 1
    ) -> Self:
        """Return the mechanism with the smallest epsilon whose margin of error meets the target."""
        size = _whole_sensitivity(sensitivity)
        miss = miss_probability(confidence, answers)
        epsilon = least_epsilon(
            lambda each: laplace_accuracy(size / each, miss),
            within,
            least=max(EPSILON_LEAST, size / SCALE_MOST),
            most=min(EPSILON_MOST, size / SCALE_LEAST),
        )
        return cls(epsilon=epsilon, sensitivity=size)

    @classmethod
    def for_budget(
        cls, *, epsilon: Real, releases: int, sensitivity: Real | Sensitivity, delta: Real = 0
    ) -> Self:
        """Return the least noisy mechanism whose releases together cost (epsilon, delta)."""
        make = partial(cls, sensitivity=sensitivity)
        share = epsilon_of_each(lambda e: make(epsilon=e).event, epsilon, delta, releases)
        return make(epsilon=share)

    @property
    def scale(self) -> Fraction:
        return self.sensitivity / self.epsilon

    @property
    def event(self) -> DiscreteLaplaceEvent:
        """The event that one release is charged as."""
        return DiscreteLaplaceEvent(sensitivity=self.sensitivity, scale=self.scale)

    @overload
    def release(self, exact: int, *, entropy: Entropy = SYSTEM) -> int: ...
    @overload
    def release(self, exact: Integers, *, entropy: Entropy = SYSTEM) -> IntArray: ...
    def release(self, exact: int | Integers, *, entropy: Entropy = SYSTEM) -> int | IntArray:
        """Return exact + noise, with one draw for each number."""
        if is_scalar(exact):
            return exact_integer(exact) + discrete_laplace(self.scale, entropy=entropy)
        array = exact_integers(exact)
        noise = discrete_laplace(self.scale, array.size, entropy=entropy)
        return noisy_sum(array, noise)

    def distribution(self, exact: Real) -> DiscreteLaplaceDistribution:
        """Return the distribution of release(exact)."""
        return DiscreteLaplaceDistribution(centre=Fraction(integer_number(exact)), scale=self.scale)

    def margin(self, confidence: Real, answers: int = 1) -> int:
        """Return the smallest margin of error that holds for all `answers` results at once."""
        return laplace_accuracy(self.scale, miss_probability(confidence, answers))

    def truncated(self, low: int, high: int) -> Truncated[int, IntArray]:
        """Return the mechanism with answers clamped to [low, high]. Epsilon stays the same."""
        ends = Fraction(integer("low", low)), Fraction(integer("high", high))
        return Truncated(mechanism=self, low=ends[0], high=ends[1])

    def plot(self, exact: int = 0) -> "plots.Plot":
        """Plot the distributions of an answer and its farthest neighbour, and their ratio."""
        return wholes_plot(
            self.distribution(exact),
            self.distribution(exact + self.sensitivity),
            epsilon=self.epsilon,
            reach=self.margin(DRAWN),
            title=title_of(self),
        )

    law = Renamed("distribution")
    error = Renamed("margin")
    for_error = Renamed("for_margin")


def _whole_sensitivity(sensitivity: Real | Sensitivity) -> int:
    """Return an L1 sensitivity that is an integer, and has an epsilon whose noise can be drawn."""
    return integer("sensitivity", l1_of(sensitivity), least=1, most=int(SCALE_MOST * EPSILON_MOST))
