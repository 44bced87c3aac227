"""The Gaussian mechanism, with discrete noise on a fine grid."""

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import partial
from math import floor, sqrt
from typing import Self, overload

import numpy as np

from discreet import plots
from discreet.accounting.calibration import (
    analytic_gaussian_multiplier,
    classical_gaussian_multiplier_squared,
)
from discreet.accounting.events import LARGEST_NUMBER, LEAST_NUMBER, DiscreteGaussianEvent
from discreet.accounting.zcdp import epsilon_from_rho, rho_for_budget
from discreet.deprecated import Renamed
from discreet.errors import ParameterError
from discreet.mechanisms.accuracy import (
    check_answers,
    checked_epsilon,
    checked_sensitivity,
    gaussian_accuracy,
    least_epsilon,
    log_of,
    miss_probability,
)
from discreet.mechanisms.charts import DRAWN, reals_plot, title_of
from discreet.mechanisms.distributions import DiscreteGaussianDistribution, RoundedDistribution
from discreet.mechanisms.exact import (
    Grid,
    exact_real,
    is_integer,
    is_scalar,
    noisy_sum,
    power_of_two_below,
)
from discreet.mechanisms.sensitivity import Sensitivity, l2_squared_of, root_up
from discreet.noise import SYSTEM, Entropy, discrete_gaussian
from discreet.noise.gaussian import VARIANCE_MOST
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, as_call, choice, freeze_fields, integer, rational

FINENESS = 1 << 26
"""A step is at most this part of the standard deviation."""

VECTOR_FINENESS = 1 << 20
"""The grid may add at most this part of the sensitivity, over all coordinates of a vector."""

VARIATION = Fraction(1, 24 * FINENESS**2) * Fraction(1001, 1000)
"""Total variation of one draw and rounded continuous noise (docs/proofs/composition.md)."""

EPSILON_SOUGHT = 30.0
"""The largest epsilon that is tried for a margin of error."""

EPSILON_DRAWN = Fraction(1, 10**9)
"""From this epsilon on, times √answers, the noise can be drawn for every delta."""

FARTHEST_DRAWN = 9
"""The most standard deviations in a plot: a probability of 10**-18 lies beyond."""


class Calibration(Enum):
    """Which theorem determines the noise for a given (epsilon, delta)."""

    ANALYTIC = "analytic"
    """The least possible noise (Balle, Wang 2018, Theorem 8)."""

    CLASSICAL = "classical"
    """√(2 ln(1.25 / delta)) · sensitivity / epsilon, for epsilon < 1 (Dwork, Roth 2014, A.1)."""

    CONCENTRATED = "concentrated"
    """The noise of the largest rho that implies (epsilon, delta) (Canonne et al. 2020, P. 12)."""


@dataclass(frozen=True, slots=True, init=False)
class Gaussian:
    """Add Gaussian noise on a fine grid to `answers` numbers: (epsilon, delta)-DP in L2.

    Together, `releases` releases cost (epsilon, delta). Answers are floored to a multiple of
    `step`, a power of two that is at most 2**-26 of the deviation, and get discrete Gaussian noise
    in steps (Canonne, Kamath, Steinke 2020). This equals rounded continuous Gaussian noise up to a
    total variation of 2**-56 for each answer. The calibration takes that out of delta, so Gaussian
    composition holds for vectors too. Integers stay integers: rounding is post-processing.
    """

    epsilon: Fraction
    delta: Fraction
    sensitivity_squared: Fraction
    """The square of the L2 sensitivity, which may be irrational itself."""
    answers: int
    releases: int
    calibration: Calibration
    event: DiscreteGaussianEvent = field(repr=False)
    """The event that one release is charged as, in steps of the grid."""
    step: Fraction = field(repr=False)
    """The grid's step: a power of two that depends only on the public parameters."""

    def __repr__(self) -> str:
        squared, root = self.sensitivity_squared, root_up(self.sensitivity_squared)
        size = {"sensitivity": root} if root**2 == squared else {"sensitivity_squared": squared}
        return as_call(
            "Gaussian",
            epsilon=self.epsilon,
            delta=self.delta,
            **size,
            answers=self.answers,
            releases=self.releases,
            calibration=self.calibration,
        )

    def __init__(  # noqa: PLR0913 - each is a parameter of the theorem
        self,
        *,
        epsilon: Real,
        delta: Real,
        sensitivity: Real | Sensitivity,
        answers: int = 1,
        releases: int = 1,
        calibration: Calibration | str = Calibration.ANALYTIC,
    ) -> None:
        epsilon = checked_epsilon(epsilon)
        delta = rational("delta", delta, above=0, below=1)
        squared = l2_squared_of(sensitivity)
        checked_sensitivity(root_up(squared))
        answers = integer("answers", answers, least=1)
        releases = integer("releases", releases, least=1)
        calibration = choice("calibration", calibration, Calibration)
        least = _multiplier_squared(epsilon, delta, calibration, draws=answers * releases)
        step, event = _noise_for(epsilon, least * releases, squared, answers)
        freeze_fields(
            self,
            epsilon=epsilon,
            delta=delta,
            sensitivity_squared=squared,
            answers=answers,
            releases=releases,
            calibration=calibration,
            event=event,
            step=step,
        )

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
        """Return the least noisy mechanism whose releases together cost (epsilon, delta)."""
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
        """Return the mechanism with the least noise that is (epsilon, delta)-DP."""
        return cls(epsilon=epsilon, delta=delta, sensitivity=sensitivity, answers=answers)

    @classmethod
    def for_margin(
        cls,
        *,
        within: Real,
        confidence: Real,
        delta: Real,
        sensitivity: Real | Sensitivity,
        answers: int = 1,
    ) -> Self:
        """Return the mechanism with the smallest epsilon that meets a margin of error for all."""
        make = partial(cls, delta=delta, sensitivity=sensitivity, answers=answers)
        # Up to this epsilon the grid's share (1 + e^epsilon) · variation of delta is at most half.
        room = rational("delta", delta, above=0, below=1) / VARIATION
        most = log_of(room / (4 * integer("answers", answers, least=1)))
        return make(
            epsilon=least_epsilon(
                lambda each: make(epsilon=each).margin(confidence, answers),
                within,
                least=EPSILON_DRAWN * root_up(Fraction(answers)),
                most=Fraction(max(min(most, EPSILON_SOUGHT), 1e-9)),
            )
        )

    @classmethod
    def for_rho(
        cls, rho: Real, *, delta: Real, sensitivity: Real | Sensitivity, answers: int = 1
    ) -> Self:
        """Return the mechanism with the least noise that is rho-zCDP, exactly.

        `epsilon` is what rho implies at this delta, which changes nothing else. Floors are paid for
        by the sensitivity in steps, so the noise costs rho for vectors too (Canonne, Kamath,
        Steinke 2020, Theorem 14).
        """
        rho = rational("rho", rho, least=LEAST_NUMBER, most=LARGEST_NUMBER)
        delta = rational("delta", delta, above=0, below=1)
        squared = l2_squared_of(sensitivity)
        checked_sensitivity(root_up(squared))
        answers = integer("answers", answers, least=1)
        epsilon = Fraction(epsilon_from_rho(rho, delta))
        step, event = _noise_for(epsilon, 1 / (2 * rho), squared, answers)
        made = cls.__new__(cls)
        freeze_fields(
            made,
            epsilon=epsilon,
            delta=delta,
            sensitivity_squared=squared,
            answers=answers,
            releases=1,
            calibration=Calibration.CONCENTRATED,
            event=event,
            step=step,
        )
        return made

    @property
    def variance(self) -> Fraction:
        return self.event.variance * self.step**2

    @property
    def scale(self) -> float:
        """The noise's standard deviation."""
        return sqrt(self.variance)

    @property
    def rho(self) -> Fraction:
        """The cost of one release in zero-concentrated differential privacy."""
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
        """Return exact + noise, with one draw for each number. Integers stay integers."""
        grid = Grid(self.step)
        if is_scalar(exact):
            place = grid.place(exact) + discrete_gaussian(self.event.variance, entropy=entropy)
            return _rounded(place * self.step) if is_integer(exact) else grid.value(place)
        places = grid.places(exact)
        check_answers(self, self.answers, places.size)
        noisy = _noisy_values(self, places, entropy)
        return _rounded_all(noisy) if is_integer(exact) else noisy

    def distribution(self, exact: Real) -> DiscreteGaussianDistribution | RoundedDistribution:
        """Return the distribution of release(exact)."""
        law = self._law(exact)
        return RoundedDistribution(distribution=law) if is_integer(exact) else law

    def margin(self, confidence: Real, answers: int = 1) -> float:
        """Return the margin of error that holds for all `answers` at once, with this confidence.

        A real answer is within t. An integer is rounded, halves upwards, so it is within ⌊t + ½⌋.
        The larger of the two is returned.
        """
        miss = miss_probability(confidence, answers)
        t = gaussian_accuracy(self.scale, miss) + float(self.step)
        return max(t, float(floor(t + 0.5)))

    def plot(self, exact: float = 0) -> "plots.Plot":
        """Plot the distributions of an answer and its farthest neighbour, and their ratio.

        The ratio exceeds e^±epsilon in both tails. The probability of that is bounded by delta.
        """
        here, moved = exact_real(exact), root_up(self.sensitivity_squared)
        many = f", {self.releases} releases" if self.releases > 1 else ""
        return reals_plot(
            self._law(here),
            self._law(here + moved),
            epsilon=self.epsilon,
            reach=self._reach(moved),
            title=f"{title_of(self)}, δ = {float(self.delta):g}{many}",
        )

    def _law(self, exact: object) -> DiscreteGaussianDistribution:
        centre = Grid(self.step).place(exact) * self.step
        return DiscreteGaussianDistribution(centre=centre, spread=self.variance, step=self.step)

    def _reach(self, moved: Fraction) -> float:
        """Return a distance somewhat beyond the one at which the likelihood ratio is e^epsilon.

        The privacy loss at z is (moved / 2 - z) moved / variance. It equals epsilon at a distance
        of epsilon · variance / moved from the middle. One of many releases is nowhere near that
        far.
        """
        crossing = float(self.epsilon * self.variance / moved) * 9 / 8
        return max(self.margin(DRAWN), min(crossing, FARTHEST_DRAWN * self.scale))

    law = Renamed("distribution")
    error = Renamed("margin")
    for_error = Renamed("for_margin")


def noisy_integers(mechanism: Gaussian, exact: IntArray, *, entropy: Entropy = SYSTEM) -> IntArray:
    """Return exact + noise, rounded, for any number of integers.

    At most `answers` of them may differ between neighbours. The others have the same distribution
    on both sides, independent of these, so they change nothing.
    """
    return _rounded_all(_noisy_values(mechanism, Grid(mechanism.step).places(exact), entropy))


def _noisy_values(mechanism: Gaussian, places: IntArray, entropy: Entropy) -> FloatArray:
    noise = discrete_gaussian(mechanism.event.variance, places.size, entropy=entropy)
    return Grid(mechanism.step).values(noisy_sum(places, noise))


def _multiplier_squared(
    epsilon: Fraction, delta: Fraction, calibration: Calibration, *, draws: int
) -> Fraction:
    """Return (deviation / sensitivity)² of one release that takes all of epsilon and delta."""
    if calibration is Calibration.CONCENTRATED:
        return 1 / (2 * rho_for_budget(epsilon, delta))
    classical = Fraction(0)
    if calibration is Calibration.CLASSICAL:
        classical = classical_gaussian_multiplier_squared(epsilon, delta)
    least = analytic_gaussian_multiplier(epsilon, delta, variation=draws * VARIATION) ** 2
    # The classical noise is larger. The comparison checks it against the delta that is drawn.
    return max(least, classical)


def _noise_for(
    epsilon: Fraction, multiplier_squared: Fraction, sensitivity_squared: Fraction, answers: int
) -> tuple[Fraction, DiscreteGaussianEvent]:
    """Return the step, and the noise and sensitivity in steps. Raise if it cannot be drawn."""
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
    variance = squared * multiplier_squared
    if variance > VARIANCE_MOST:
        rule = "must be larger (or delta larger, or answers fewer), because the noise is too large"
        raise ParameterError("epsilon", epsilon, rule)
    event = DiscreteGaussianEvent(sensitivity_squared=squared, variance=variance, answers=answers)
    return step, event


def _rounded(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def _rounded_all(values: FloatArray) -> IntArray:
    """Return the nearest integers, clamped to those that 64 bits can hold."""
    farthest = 2.0**63 - 2.0**10
    return np.clip(np.floor(values + 0.5), -farthest, farthest).astype(np.int64)
