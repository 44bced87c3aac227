"""The Gaussian mechanism, discrete, on a fine grid."""

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import partial
from math import floor, sqrt
from typing import Self, overload

import numpy as np

from discreet.accounting.calibration import (
    analytic_gaussian_multiplier,
    classical_gaussian_multiplier_squared,
)
from discreet.accounting.events import DiscreteGaussianEvent
from discreet.errors import ParameterError
from discreet.mechanisms.accuracy import gaussian_error, least_epsilon, log_of, miss_probability
from discreet.mechanisms.frozen import settle, written
from discreet.mechanisms.grid import (
    Grid,
    checked_epsilon,
    checked_sensitivity,
    is_scalar,
    is_whole,
    noisy_sum,
    power_of_two_below,
)
from discreet.mechanisms.laws import DiscreteGaussianLaw, RoundedLaw
from discreet.mechanisms.pictures import neighbours_plot
from discreet.mechanisms.sensitivity import Sensitivity, l2_squared_of, root_up
from discreet.noise import SYSTEM, Entropy, discrete_gaussian
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, rational, whole
from discreet.plots import Plot

FINENESS = 1 << 26
"""A step is at most this part of the standard deviation."""

VECTOR_FINENESS = 1 << 20
"""What a vector's coordinates may lose to the grid is at most this part of the sensitivity."""

VARIATION = Fraction(1, 24 * FINENESS**2) * Fraction(1001, 1000)
"""Total variation between one draw and a rounding of continuous noise (docs/accounting.md)."""


EPSILON_SOUGHT = 30.0
"""No error is so small that a larger epsilon is tried for it."""


class Calibration(Enum):
    """Which theorem fixes the noise for a given (epsilon, delta)."""

    ANALYTIC = "analytic"
    """The least noise there is (Balle, Wang 2018, Theorem 8)."""

    CLASSICAL = "classical"
    """√(2 ln(1.25 / delta)) · sensitivity / epsilon, for epsilon < 1 (Dwork, Roth 2014, A.1)."""


@dataclass(frozen=True, slots=True, init=False)
class Gaussian:
    """Add Gaussian noise on a fine grid to `answers` numbers: (epsilon, delta)-DP in L2.

    `releases` of them together cost (epsilon, delta). Answers are floored to a multiple of `step`,
    a power of two at most 2**-26 of the deviation, and get discrete Gaussian noise in steps
    (Canonne, Kamath, Steinke 2020). That is a rounding of continuous Gaussian noise up to a total
    variation of 2**-56 for each answer, which the calibration pays for out of delta, so that
    Gaussian composition holds for vectors too. Whole numbers stay whole: rounding is
    post-processing.
    """

    epsilon: Fraction
    delta: Fraction
    sensitivity_squared: Fraction
    """The square of the L2 sensitivity, which may be irrational itself."""
    answers: int
    releases: int
    calibration: Calibration
    event: DiscreteGaussianEvent = field(repr=False)
    """What one release is charged as, in steps of the grid."""
    step: Fraction = field(repr=False)
    """The grid's step: a power of two that follows from the public parameters alone."""

    __repr__ = written

    def __init__(  # noqa: PLR0913 - each is a number that the theorem has
        self,
        *,
        epsilon: Real,
        delta: Real,
        sensitivity: Real | Sensitivity,
        answers: int = 1,
        releases: int = 1,
        calibration: Calibration | str = Calibration.ANALYTIC,
    ) -> None:
        size = l2_squared_of(sensitivity)
        settle(
            self,
            epsilon=checked_epsilon(epsilon),
            delta=rational("delta", delta, above=0, below=1),
            sensitivity_squared=checked_sensitivity(root_up(size)) and size,
            answers=whole("answers", answers, least=1),
            releases=whole("releases", releases, least=1),
            calibration=_checked_calibration(calibration),
        )
        step, event = _noise_for(self._multiplier_squared(), size, self.answers)
        settle(self, step=step, event=event)

    @classmethod
    def for_budget(
        cls,
        *,
        epsilon: Real,
        delta: Real,
        releases: int,
        sensitivity: Real | Sensitivity,
        answers: int = 1,
    ) -> Self:
        """Return the least noisy mechanism of which so many releases cost (epsilon, delta)."""
        return cls(
            epsilon=epsilon,
            delta=delta,
            sensitivity=sensitivity,
            answers=answers,
            releases=releases,
        )

    @classmethod
    def for_epsilon(
        cls, epsilon: Real, *, delta: Real, sensitivity: Real | Sensitivity, answers: int = 1
    ) -> Self:
        """Return the least noisy mechanism that is (epsilon, delta)-DP."""
        return cls(epsilon=epsilon, delta=delta, sensitivity=sensitivity, answers=answers)

    @classmethod
    def for_error(
        cls,
        *,
        within: Real,
        confidence: Real,
        delta: Real,
        sensitivity: Real | Sensitivity,
        answers: int = 1,
    ) -> Self:
        """Return the mechanism of least epsilon whose error over all answers is within the wish."""
        make = partial(cls, delta=delta, sensitivity=sensitivity, answers=answers)
        # Up to here the grid's share (1 + e^epsilon) · variation of delta is a half at most.
        room = rational("delta", delta, above=0, below=1) / VARIATION
        most = log_of(room / (4 * whole("answers", answers, least=1)))
        return make(
            epsilon=least_epsilon(
                lambda each: make(epsilon=each).error(confidence, answers),
                within,
                most=Fraction(max(min(most, EPSILON_SOUGHT), 1e-9)),
            )
        )

    @property
    def variance(self) -> Fraction:
        return self.event.variance * self.step**2

    @property
    def scale(self) -> float:
        """The noise's standard deviation."""
        return sqrt(self.variance)

    @property
    def rho(self) -> Fraction:
        """The price of one release in zero-concentrated differential privacy."""
        return self.event.sensitivity_squared / (2 * self.event.variance)

    @overload
    def release(self, exact: int, *, entropy: Entropy = SYSTEM) -> int: ...
    @overload
    def release(self, exact: float, *, entropy: Entropy = SYSTEM) -> float: ...
    @overload
    def release(self, exact: IntArray, *, entropy: Entropy = SYSTEM) -> IntArray: ...
    @overload
    def release(self, exact: FloatArray, *, entropy: Entropy = SYSTEM) -> FloatArray: ...
    def release(
        self, exact: float | IntArray | FloatArray, *, entropy: Entropy = SYSTEM
    ) -> float | IntArray | FloatArray:
        """Return exact + noise, one draw for each number; whole numbers stay whole."""
        grid = Grid(self.step)
        if is_scalar(exact):
            place = grid.place(exact) + discrete_gaussian(self.event.variance, entropy=entropy)
            return _rounded(place * self.step) if is_whole(exact) else grid.value(place)
        places = grid.places(exact)
        if places.size > self.answers:
            raise ParameterError("answers", self.answers, f"must be {places.size} for this array")
        noise = discrete_gaussian(self.event.variance, places.size, entropy=entropy)
        noisy = grid.values(noisy_sum(places, noise))
        return _rounded_all(noisy) if is_whole(exact) else noisy

    def law(self, exact: Real) -> DiscreteGaussianLaw | RoundedLaw:
        """Return the law of release(exact)."""
        law = DiscreteGaussianLaw(
            centre=Grid(self.step).place(exact) * self.step, spread=self.variance, step=self.step
        )
        return RoundedLaw(law=law) if is_whole(exact) else law

    def error(self, confidence: Real, answers: int = 1) -> float:
        """Return ± that all of so many real answers keep with this confidence.

        A whole-number answer is rounded, which moves it by at most a half more.
        """
        miss = miss_probability(confidence, answers)
        return gaussian_error(self.scale, miss) + float(self.step)

    def plot(self, exact: float = 0) -> Plot:
        """Draw the laws of an answer and of its farthest neighbour, with their odds."""
        here = Fraction(exact)
        return neighbours_plot(
            self.law(here), self.law(here + root_up(self.sensitivity_squared)), self
        )

    def _multiplier_squared(self) -> Fraction:
        """Return (deviation / sensitivity)² for one of the releases."""
        classical = Fraction(0)
        if self.calibration is Calibration.CLASSICAL:
            classical = classical_gaussian_multiplier_squared(self.epsilon, self.delta)
        variation = self.answers * self.releases * VARIATION
        least = analytic_gaussian_multiplier(self.epsilon, self.delta, variation=variation) ** 2
        # The classical noise is larger; the comparison holds it to the delta that is drawn.
        return max(least, classical) * self.releases


def _noise_for(
    multiplier_squared: Fraction, sensitivity_squared: Fraction, answers: int
) -> tuple[Fraction, DiscreteGaussianEvent]:
    """Return the step, and the noise and the sensitivity in steps."""
    size = root_up(sensitivity_squared)
    deviation = root_up(multiplier_squared) * size
    # ‖⌊x⌋ - ⌊y⌋‖₂ ≤ ‖x - y‖₂ + √answers, or ⌈|x - y|⌉ for one answer.
    lost = root_up(Fraction(answers)) if answers > 1 else Fraction(0)
    limit = min(deviation / FINENESS, size / (VECTOR_FINENESS * max(lost, Fraction(1))))
    step = power_of_two_below(limit)
    steps = size / step + lost
    if answers == 1 and steps.denominator != 1:
        steps = Fraction(floor(steps) + 1)
    squared = steps**2
    event = DiscreteGaussianEvent(
        sensitivity_squared=squared, variance=squared * multiplier_squared, answers=answers
    )
    return step, event


def _rounded(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def _rounded_all(values: FloatArray) -> IntArray:
    """Return the nearest integers; what 64 bits cannot hold is moved to the farthest they can."""
    farthest = 2.0**63 - 2.0**10
    return np.clip(np.floor(values + 0.5), -farthest, farthest).astype(np.int64)


def _checked_calibration(calibration: Calibration | str) -> Calibration:
    try:
        return Calibration(calibration)
    except ValueError:
        names = " or ".join(repr(each.value) for each in Calibration)
        raise ParameterError("calibration", calibration, f"must be {names}") from None
