"""The distributions that mechanisms sample: probabilities, moments, and exact privacy losses.

`pmf` and `cdf` are floats for people and plots. `enclose` and `log_odds` are exact, for proofs and
tests: the first brackets a probability by integers, the second is a fraction where one exists.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, floor, pi, sqrt, tanh
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet import on_use
from discreet.deprecated import Renamed, renamed_arguments
from discreet.noise.enclosures import Bracket, Enclosure, ceil_div, exp_neg
from discreet.noise.uniform import FloatArray
from discreet.parameters import Real, integer, rational

FINE = 100
"""From this variance on (in steps), sums over the grid equal integrals to float precision."""


REACH = 400
"""Steps from the centre that hold all but e^-800 of a distribution with variance below FINE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The possible values: low, low + step, …, high. `None` means no limit."""

    step: Fraction
    low: Fraction | None = None
    high: Fraction | None = None


class Distribution(Protocol):
    """The distribution of one released number."""

    @property
    def support(self) -> Support: ...
    @property
    def mean(self) -> float: ...
    @property
    def variance(self) -> float: ...
    def pmf(self, z: Real) -> float:
        """Return P(Z = z)."""
        ...

    def cdf(self, z: Real) -> float:
        """Return P(Z ≤ z)."""
        ...


class FineDistribution(Distribution, Protocol):
    """A distribution on a grid so fine that it is treated as a density."""

    def density(self, z: Real) -> float:
        """Return the probability at the grid point at or below z, per unit of length."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteLaplaceDistribution:
    """P(centre + step · k) = (1 - a) / (1 + a) · a**|k| with a = exp(-step / scale)."""

    centre: Fraction
    scale: Fraction
    step: Fraction = Fraction(1)

    @property
    def support(self) -> Support:
        return Support(step=self.step)

    @property
    def mean(self) -> float:
        return float(self.centre)

    @property
    def variance(self) -> float:
        # 2a / (1 - a)² steps² = 1 / (2 sinh²(step / (2 scale))) steps².
        a = exp(-self.step / self.scale)
        return 2 * a / expm1(-self.step / self.scale) ** 2 * float(self.step) ** 2

    def pmf(self, z: Real) -> float:
        k = self._steps(z)
        return self._pmf(int(k)) if k.denominator == 1 else 0.0

    def density(self, z: Real) -> float:
        """Return the probability at the grid point at or below z, per unit of length."""
        return self._pmf(floor(self._steps(z))) / float(self.step)

    def cdf(self, z: Real) -> float:
        k = floor(self._steps(z))
        # P(K ≤ -n) = P(K ≥ n) = a**n / (1 + a) for n ≥ 1.
        return self._tail(-k) if k < 0 else 1 - self._tail(k + 1)

    def privacy_loss(self, z: Real, other: "DiscreteLaplaceDistribution") -> Fraction:
        """Return ln(P(z) / P_other(z)) exactly, for the same scale and step."""
        at = rational("z", z)
        return (abs(at - other.centre) - abs(at - self.centre)) / self.scale

    def enclose(self, z: Real) -> Enclosure:
        """Enclose P(Z = z)."""
        k = int(self._steps(z))

        def bracket(bits: int) -> Bracket:
            (a_low, a_high) = exp_neg(self.step / self.scale, bits + 4)
            (p_low, p_high) = exp_neg(abs(k) * self.step / self.scale, bits)
            one = 1 << bits + 4
            return (
                p_low * (one - a_high) // (one + a_high),
                ceil_div(p_high * (one - a_low), one + a_low),
            )

        return bracket

    def _steps(self, z: Real) -> Fraction:
        return _steps_from(self.centre, z, self.step)

    def _pmf(self, k: int) -> float:
        return tanh(self.step / (2 * self.scale)) * exp(-abs(k) * self.step / self.scale)

    def _tail(self, n: int) -> float:
        a = exp(-self.step / self.scale)
        return exp(-n * self.step / self.scale) / (1 + a)

    log_odds = Renamed("privacy_loss")


def laplace_pmf(k: FloatArray, scale: float) -> FloatArray:
    """Return P(X = k) for discrete Laplace X, at many k."""
    return tanh(1 / (2 * scale)) * np.exp(-np.abs(k) / scale)


def laplace_at_least(k: FloatArray, scale: float) -> FloatArray:
    """Return P(X ≥ k) for discrete Laplace X, at many k."""
    a = np.exp(-1 / scale)
    beyond: FloatArray = np.exp(-np.where(k >= 1, k, 1 - k) / scale) / (1 + a)
    return np.where(k >= 1, beyond, 1 - beyond)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteGaussianDistribution:
    """P(centre + step · k) ∝ exp(-(step · k)² / (2 spread)): variance `spread`, up to the grid."""

    centre: Fraction
    spread: Fraction
    step: Fraction = Fraction(1)

    @property
    def support(self) -> Support:
        return Support(step=self.step)

    @property
    def mean(self) -> float:
        return float(self.centre)

    @property
    def variance(self) -> float:
        if self._variance >= FINE:
            return float(self.spread)
        k, weights = self._near
        return float((k**2 * weights).sum() / weights.sum()) * float(self.step) ** 2

    def pmf(self, z: Real) -> float:
        k = self._steps(z)
        return self._pmf(int(k)) if k.denominator == 1 else 0.0

    def density(self, z: Real) -> float:
        """Return the probability at the grid point at or below z, per unit of length."""
        return self._pmf(floor(self._steps(z))) / float(self.step)

    def cdf(self, z: Real) -> float:
        k = floor(self._steps(z))
        if self._variance >= FINE:
            # Half a step further, the normal distribution agrees to 1 / (24 variance) in steps.
            return float(on_use.special.ndtr((k + 0.5) / sqrt(self._variance)))
        near, weights = self._near
        return float(weights[near <= k].sum() / weights.sum())

    @property
    def _variance(self) -> Fraction:
        return self.spread / self.step**2

    @property
    def _normaliser(self) -> float:
        # Poisson summation: the sum over the integers is √(2πv), up to 2 exp(-2π²v) of it.
        if self._variance >= FINE:
            return sqrt(2 * pi * self._variance)
        return float(self._near[1].sum())

    @property
    def _near(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The steps near the centre and their weights, not normalized."""
        k = np.arange(-REACH, REACH + 1.0)
        return k, np.exp(-(k**2) / (2 * float(self._variance)))

    def _pmf(self, k: int) -> float:
        return exp(-(k**2) / (2 * self._variance)) / self._normaliser

    def _steps(self, z: Real) -> Fraction:
        return _steps_from(self.centre, z, self.step)


@dataclass(frozen=True, slots=True, kw_only=True)
class StaircaseDistribution:
    """P(centre + step · k) ∝ exp(-epsilon · j), where j is the number of stairs up to |k|.

    A stair is `width` steps of the grid, of which the first `tread` are high.
    """

    centre: Fraction
    epsilon: Fraction
    width: int
    tread: int
    step: Fraction

    @property
    def support(self) -> Support:
        return Support(step=self.step)

    @property
    def mean(self) -> float:
        return float(self.centre)

    @property
    def variance(self) -> float:
        """Twice the second moment over k ≥ 1, in closed form."""
        # A stair's steps are k = j · width + i: k² = j² width² + 2 j width i + i², each power of j
        # summed over the stairs with weights r**j.
        r, gap = exp(-self.epsilon), -expm1(-self.epsilon)
        ones, firsts, squares = 1 / gap, r / gap**2, r * (1 + r) / gap**3
        total = (
            squares * float(self.width) ** 2 * self._stair
            + 2 * firsts * self.width * self._over_stair(_integers)
            + ones * self._over_stair(_squares)
        )
        return 2 * total * self._unit * float(self.step) ** 2

    def pmf(self, z: Real) -> float:
        k = _steps_from(self.centre, z, self.step)
        return self._pmf(int(k)) if k.denominator == 1 else 0.0

    def density(self, z: Real) -> float:
        """Return the probability at the grid point at or below z, per unit of length."""
        return self._pmf(floor(_steps_from(self.centre, z, self.step))) / float(self.step)

    def cdf(self, z: Real) -> float:
        k = floor(_steps_from(self.centre, z, self.step))
        return self.tail(-k) if k < 0 else 1 - self.tail(k + 1)

    def privacy_loss(self, z: Real, other: "StaircaseDistribution") -> Fraction:
        """Return ln(P(z) / P_other(z)) exactly, for the same shape."""
        here = _steps_from(self.centre, z, self.step)
        there = _steps_from(other.centre, z, self.step)
        return self.epsilon * (self.stairs(int(there)) - self.stairs(int(here)))

    def stairs(self, k: int) -> int:
        """Return the number of factors e^-epsilon at k steps from the centre."""
        whole_stairs, place = divmod(abs(k), self.width)
        return whole_stairs + (place >= self.tread)

    def tail(self, n: int) -> float:
        """Return P(K ≥ n) for n ≥ 1, where K is the number of steps from the centre."""
        j, place = divmod(n, self.width)
        low_height = exp(-self.epsilon)
        rest = max(self.tread - place, 0) + low_height * (self.width - max(place, self.tread))
        below = low_height * self._stair / -expm1(-self.epsilon)
        return self._unit * exp(-self.epsilon * j) * (rest + below)

    def _pmf(self, k: int) -> float:
        return self._unit * exp(-self.epsilon * self.stairs(k))

    @property
    def _stair(self) -> float:
        return self._over_stair(float)

    def _over_stair(self, sums: Callable[[int], float]) -> float:
        """Return a sum over one stair's steps, with the low part weighted by e^-epsilon."""
        high = sums(self.tread)
        return high + exp(-self.epsilon) * (sums(self.width) - high)

    @property
    def _unit(self) -> float:
        # Both sides hold stair / (1 - e^-ε) units each, and 0 belongs to both.
        return 1 / (2 * self._stair / -expm1(-self.epsilon) - 1)

    log_odds = Renamed("privacy_loss")


def _steps_from(centre: Fraction, z: Real, step: Fraction) -> Fraction:
    return (rational("z", z) - centre) / step


def _integers(n: int) -> float:
    """Return 0 + 1 + … + (n - 1)."""
    return (n - 1) * n / 2


def _squares(n: int) -> float:
    """Return 0² + 1² + … + (n - 1)²."""
    return (n - 1) * n * (2 * n - 1) / 6


@renamed_arguments(law="distribution")
@dataclass(frozen=True, slots=True, kw_only=True)
class ClampedDistribution:
    """A distribution whose mass beyond [low, high] is moved to the ends."""

    distribution: Distribution
    low: Fraction
    high: Fraction

    @property
    def support(self) -> Support:
        return Support(step=self.distribution.support.step, low=self.low, high=self.high)

    @property
    def mean(self) -> float:
        values, p = self._finite
        return float(values @ p)

    @property
    def variance(self) -> float:
        values, p = self._finite
        return float((values - values @ p) ** 2 @ p)

    def pmf(self, z: Real) -> float:
        at = rational("z", z)
        if not self.low <= at <= self.high:
            return 0.0
        if at == self.high:
            return 1 - self.distribution.cdf(at - self.distribution.support.step)
        return self.distribution.cdf(at) if at == self.low else self.distribution.pmf(at)

    def cdf(self, z: Real) -> float:
        at = rational("z", z)
        return 0.0 if at < self.low else 1.0 if at >= self.high else self.distribution.cdf(at)

    @property
    def _finite(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The values and their probabilities. On a fine grid, some hundred steps at a time."""
        step, last = (
            self.distribution.support.step,
            int((self.high - self.low) / self.distribution.support.step),
        )
        places = np.unique(np.linspace(0, last - 1, min(last, 10_000)).astype(np.int64)).tolist()
        below = np.array([self.cdf(self.low + k * step) for k in [*places, last]])
        ends = np.array([-1, *places, last])
        middles = float(self.low) + (ends[1:] + ends[:-1] + 1) / 2 * float(step)
        return middles, np.diff(below, prepend=0.0)

    law = Renamed("distribution")


@renamed_arguments(law="distribution")
@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedDistribution:
    """A distribution on a fine grid, with values rounded to the nearest integer, halves upwards."""

    distribution: Distribution

    @property
    def support(self) -> Support:
        return Support(step=Fraction(1))

    @property
    def mean(self) -> float:
        return self.distribution.mean

    @property
    def variance(self) -> float:
        spread = self.distribution.variance
        if spread > FINE:
            # Sheppard's correction, exact here to float precision.
            return spread + 1 / 12
        centre = floor(self.mean)
        near = range(centre - REACH, centre + REACH + 1)
        return sum((z - self.mean) ** 2 * self.pmf(z) for z in near)

    def pmf(self, z: Real) -> float:
        at = rational("z", z)
        return self.cdf(at) - self.cdf(at - 1) if at.denominator == 1 else 0.0

    def cdf(self, z: Real) -> float:
        last = floor(rational("z", z)) + Fraction(1, 2) - self.distribution.support.step
        return self.distribution.cdf(last)

    law = Renamed("distribution")


@dataclass(frozen=True)
class ChoiceDistribution:
    """The distribution of an index: floats for people, brackets for proofs."""

    probabilities: tuple[float, ...]
    enclosures: tuple[Enclosure, ...] = ()

    def pmf(self, index: int) -> float:
        """Return the probability of this index, which must be in range."""
        return self.probabilities[self._checked(index)]

    def enclose(self, index: int) -> Enclosure:
        """Enclose the probability of this index."""
        return self.enclosures[self._checked(index)]

    def _checked(self, index: int) -> int:
        return integer("index", index, least=0, most=len(self.probabilities) - 1)
