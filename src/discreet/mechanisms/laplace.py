"""The Laplace mechanism for real answers, on a fine grid."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import ceil, floor
from typing import Self, overload

from discreet import plots
from discreet.accounting.events import DiscreteLaplaceEvent
from discreet.deprecated import Renamed
from discreet.mechanisms.accuracy import (
    EPSILON_LEAST,
    check_answers,
    checked_epsilon,
    checked_sensitivity,
    drawn_scale,
    epsilon_of_each,
    laplace_accuracy,
    least_epsilon,
    miss_probability,
)
from discreet.mechanisms.charts import DRAWN, reals_plot, title_of
from discreet.mechanisms.distributions import DiscreteLaplaceDistribution
from discreet.mechanisms.exact import (
    Grid,
    Reals,
    exact_real,
    is_scalar,
    noisy_sum,
    power_of_two_below,
)
from discreet.mechanisms.sensitivity import Sensitivity, l1_of
from discreet.mechanisms.truncation import Truncated
from discreet.noise import SYSTEM, Entropy, discrete_laplace
from discreet.noise.laplace import SCALE_MOST
from discreet.noise.uniform import FloatArray
from discreet.parameters import Real, call_text, freeze_fields, integer, rational

FINENESS = 1 << 16
"""A step is at most this part of the scale and of the sensitivity."""

VECTOR_FINENESS = 1 << 10
"""The grid may add at most this part of the sensitivity, over all coordinates of a vector."""


@dataclass(frozen=True, slots=True, init=False)
class Laplace:
    """Add Laplace noise on a fine grid to `answers` reals: epsilon-DP for their L1 sensitivity.

    Dwork, McSherry, Nissim, Smith 2006, on a grid. Answers are floored to a multiple of `step` and
    get two-sided geometric noise in steps. The step is a power of two, at most 2**-16 of the scale,
    so the distribution is that of continuous Laplace noise to within one step. Flooring may move
    each coordinate by a step, so the sensitivity in steps is rounded up. This adds nothing
    for one answer whose sensitivity is a multiple of the step, and otherwise less than one part in
    1,000.
    """

    epsilon: Fraction
    sensitivity: Fraction
    answers: int
    event: DiscreteLaplaceEvent = field(repr=False)
    """The event that one release is charged as, in steps of the grid."""
    step: Fraction = field(repr=False)
    """The grid's step: a power of two that depends only on the public parameters."""

    __repr__ = call_text

    def __init__(self, *, epsilon: Real, sensitivity: Real | Sensitivity, answers: int = 1) -> None:
        epsilon = checked_epsilon(epsilon)
        size = checked_sensitivity(l1_of(sensitivity))
        answers = integer("answers", answers, least=1)
        step, steps = _grid_for(epsilon, size, answers)
        scale = drawn_scale(epsilon, Fraction(steps), instead="or ask for fewer answers")
        event = DiscreteLaplaceEvent(sensitivity=steps, scale=scale, answers=answers)
        freeze_fields(
            self, epsilon=epsilon, sensitivity=size, answers=answers, event=event, step=step
        )

    @classmethod
    def for_epsilon(
        cls, epsilon: Real, *, sensitivity: Real | Sensitivity, answers: int = 1
    ) -> Self:
        """Return the mechanism with the least noise that is epsilon-DP."""
        return cls(epsilon=epsilon, sensitivity=sensitivity, answers=answers)

    @classmethod
    def for_margin(
        cls, *, within: Real, confidence: Real, sensitivity: Real | Sensitivity, answers: int = 1
    ) -> Self:
        """Return the mechanism with the smallest epsilon that meets a margin of error for all."""
        make = partial(cls, sensitivity=sensitivity, answers=answers)
        # Up to epsilon = 1 the grid is the same, so this is the smallest possible epsilon.
        size, count = checked_sensitivity(l1_of(sensitivity)), integer("answers", answers, least=1)
        least = _grid_for(Fraction(1), size, count)[1] / SCALE_MOST
        return make(
            epsilon=least_epsilon(
                lambda each: make(epsilon=each).margin(confidence, answers),
                within,
                least=max(EPSILON_LEAST, least),
            )
        )

    @classmethod
    def for_budget(
        cls,
        *,
        epsilon: Real,
        releases: int,
        sensitivity: Real | Sensitivity,
        delta: Real = 0,
        answers: int = 1,
    ) -> Self:
        """Return the least noisy mechanism whose releases together cost (epsilon, delta)."""
        make = partial(cls, sensitivity=sensitivity, answers=answers)

        return make(
            epsilon=epsilon_of_each(lambda each: make(epsilon=each).event, epsilon, delta, releases)
        )

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, at least sensitivity / epsilon."""
        return self.event.scale * self.step

    @overload
    def release(self, exact: float, *, entropy: Entropy = SYSTEM) -> float: ...
    @overload
    def release(self, exact: Reals, *, entropy: Entropy = SYSTEM) -> FloatArray: ...
    def release(self, exact: float | Reals, *, entropy: Entropy = SYSTEM) -> float | FloatArray:
        """Return exact + noise, with one draw for each number."""
        grid = Grid(self.step)
        if is_scalar(exact):
            noise = discrete_laplace(self.event.scale, entropy=entropy)
            return grid.value(grid.place(exact) + noise)
        places = grid.places(exact)
        check_answers(self, self.answers, places.size)
        noises = discrete_laplace(self.event.scale, places.size, entropy=entropy)
        return grid.values(noisy_sum(places, noises))

    def distribution(self, exact: Real) -> DiscreteLaplaceDistribution:
        """Return the distribution of release(exact)."""
        floored = Grid(self.step).place(exact) * self.step
        return DiscreteLaplaceDistribution(centre=floored, scale=self.scale, step=self.step)

    def margin(self, confidence: Real, answers: int = 1) -> float:
        """Return the margin of error that holds for all `answers` at once, with this confidence.

        About ln(answers / (1 - confidence)) · scale. It includes one step of the grid.
        """
        miss = miss_probability(confidence, answers)
        return float((laplace_accuracy(self.event.scale, miss) + 1) * self.step)

    def truncated(self, low: Real, high: Real) -> Truncated[float, FloatArray]:
        """Return the mechanism with answers clamped to [low, high]. Epsilon stays the same.

        Ends that are not multiples of the step are moved inwards to the next one.
        """
        first, last = rational("low", low) / self.step, rational("high", high) / self.step
        ends = ceil(first) * self.step, floor(last) * self.step
        return Truncated(mechanism=self, low=ends[0], high=ends[1])

    def plot(self, exact: float = 0) -> "plots.Plot":
        """Plot the distributions of an answer and its farthest neighbour, and their ratio."""
        neighbour = exact_real(exact) + self.event.sensitivity * self.step
        return reals_plot(
            self.distribution(exact),
            self.distribution(neighbour),
            epsilon=self.epsilon,
            reach=self.margin(DRAWN),
            title=title_of(self),
        )

    law = Renamed("distribution")
    error = Renamed("margin")
    for_error = Renamed("for_margin")


def _grid_for(epsilon: Fraction, sensitivity: Fraction, answers: int) -> tuple[Fraction, int]:
    """Return the step, and the sensitivity in steps."""
    finest = min(sensitivity, sensitivity / epsilon) / FINENESS
    step = power_of_two_below(min(finest, sensitivity / (VECTOR_FINENESS * answers)))
    # |⌊x⌋ - ⌊y⌋| ≤ ⌈|x - y|⌉, and k of them sum to less than |x - y|₁ + k.
    return step, ceil(sensitivity / step) + answers - 1
