"""Duchi's, the piecewise and the hybrid mechanism for means of bounded numbers.

Bounded numbers are on a fine grid of 2**32 steps between the bounds. The device first moves a value
to the nearest step. That is the only rounding: everything after it is exact.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import exp
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet.deprecated import Renamed, deprecated_names
from discreet.errors import HIDDEN, ParameterError
from discreet.local.draws import coins, exp_down, probability_down, probability_up
from discreet.local.mechanism import (
    Mechanism,
    PureCharge,
    ReportArray,
    ReportFormat,
    array_of,
    call_text,
    checked_epsilon,
    freeze_fields,
    integer_format,
)
from discreet.noise import Entropy, uniform_integers
from discreet.noise.uniform import BoolArray, FloatArray, IntArray, words
from discreet.parameters import Real, integer, rational

FINE_BITS = 32
FINE = 1 << FINE_BITS
"""Steps between the bounds."""

WIDTH_LEAST, WIDTH_MOST = Fraction(1, 10**12), Fraction(10**15)
DIGITS_SPARE = 1 << 21
"""Floats place a value within one step if the bounds are at most this many widths from 0."""

GRID_MOST = 15
"""At most 2**15 steps: a report has 16 bits."""

SWITCH = 0.61
"""Up to this epsilon, Duchi's mechanism alone has the least worst-case variance."""


class NumericMechanism(Mechanism, Protocol):
    """An epsilon-locally private, unbiased way to report a bounded number."""

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """The lowest and the highest value."""
        ...

    def encode(self, values: ArrayLike) -> IntArray:
        """Return values in steps of the fine grid, or reject them without showing any."""
        ...

    def draw(self, encoded: IntArray, entropy: Entropy) -> ReportArray:
        """Return a report for each value, given in steps of the fine grid."""
        ...

    def distribution(self, step: int) -> list[Fraction]:
        """Return the exact probability of each report, given a value in steps of the fine grid."""
        ...

    def decoded(self) -> list[Fraction]:
        """Return the unbiased value that each report stands for; the bounds are 0 and 1."""
        ...

    def variance(self, share: FloatArray) -> FloatArray:
        """Return the variance of one decoded report, for values at these shares of the width."""
        ...


# --------------------------------------------------------------------------- the fine grid


def checked_bounds(bounds: object) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound, or reject them."""
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ParameterError("bounds", bounds, "must be a lower and an upper number")
    low, high = (rational("bounds", each, least=-WIDTH_MOST, most=WIDTH_MOST) for each in bounds)
    if high - low < WIDTH_LEAST:
        raise ParameterError("bounds", bounds, "must be a lower number and a larger upper number")
    if (high - low) * DIGITS_SPARE < max(abs(low), abs(high)):
        raise ParameterError("bounds", bounds, "must be farther apart for numbers of this size")
    return low, high


def fine_steps(values: ArrayLike, bounds: tuple[Fraction, Fraction]) -> IntArray:
    """Return the nearest step to each value, or reject all values without showing any."""
    low, high = map(float, bounds)
    found = _floats(values)
    if found is None or not np.all((found >= low) & (found <= high)):
        rule = f"must be numbers from {low:.12g} to {high:.12g}; clip them on the device"
        raise ParameterError("values", HIDDEN, rule)
    steps = np.rint((found - low) * (FINE / (high - low)))
    return np.clip(steps, 0, FINE).astype(np.int64)


def _floats(values: ArrayLike) -> "np.ndarray[tuple[int], np.dtype[np.float64]] | None":
    found = array_of(values)
    if found is None or found.ndim != 1 or (found.dtype.kind not in "iuf" and found.size):
        return None
    return found.astype(np.float64)


def rounded_up(parts: IntArray, bits: int, entropy: Entropy) -> BoolArray:
    """Flip a coin for each part that is True with probability exactly part / 2**bits, bits ≤ 32."""
    u = words(len(parts), np.uint32, entropy) & np.uint32((1 << bits) - 1)
    return u < parts


@dataclass(frozen=True, slots=True, kw_only=True)
class NearWindow:
    """A channel that reports a position near the true one, or any other.

    A value at position i of `positions` is reported as one of positions + width - 1. Each of the
    `width` reports from i on has probability `near`, each other one `far`, and near / far ≤
    e^epsilon. With a width of e^(-ε/2) of all positions this is the piecewise mechanism (Wang et
    al. 2019). With another width it is the square wave (Li et al. 2020). On this grid all
    probabilities are fractions.
    """

    positions: int
    width: int
    far: Fraction

    @classmethod
    def of(cls, epsilon: Fraction, *, positions: int, width: int) -> "NearWindow":
        """Return the channel whose likelihood ratio is as close to e^epsilon as 64 bits allow."""
        far = probability_up(1 / (width * exp_down(epsilon) + positions - 1))
        return cls(positions=positions, width=width, far=far)

    @property
    def reports(self) -> int:
        """The number of different reports."""
        return self.positions + self.width - 1

    @property
    def near(self) -> Fraction:
        """The probability of each report in the window."""
        return (1 - (self.positions - 1) * self.far) / self.width

    def draw(self, positions: IntArray, entropy: Entropy) -> IntArray:
        """Return a report for each position, distributed exactly as `distribution` states."""
        is_far = coins((self.positions - 1) * self.far, len(positions), entropy)
        out = positions + uniform_integers(self.width, len(positions), entropy=entropy)
        beyond = uniform_integers(
            self.positions - 1, int(np.count_nonzero(is_far)), entropy=entropy
        )
        beyond += self.width * (beyond >= positions[is_far])
        out[is_far] = beyond
        return out

    def distribution(self, position: int) -> list[Fraction]:
        """Return the exact probability of each report, given the true position."""
        inside = range(position, position + self.width)
        return [self.near if y in inside else self.far for y in range(self.reports)]

    @property
    def slope(self) -> Fraction:
        """How far the mean report moves when the true position moves by one."""
        return (self.near - self.far) * self.width

    @property
    def base(self) -> Fraction:
        """The mean report at position 0."""
        y, w = self.reports, self.width
        return self.far * y * (y - 1) / 2 + (self.near - self.far) * w * (w - 1) / 2


# --------------------------------------------------------------------------- mechanisms


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Duchi:
    """Epsilon-locally private: report one bit about a bounded number, without bias.

    The value is rounded at random to one of its bounds so that its mean is preserved. The bit that
    says which bound goes through binary randomized response (Duchi, Jordan, Wainwright 2018, in the
    one-dimensional form of Wang et al. 2019, Algorithm 1). Best for small epsilon: its worst
    variance is (e^ε + 1)² / (4 (e^ε - 1)²) of the squared width.
    """

    tag: ClassVar[str] = "duchi/1"
    epsilon: Fraction
    bounds: tuple[Fraction, Fraction]
    lie: Fraction = field(init=False)

    def __init__(self, *, epsilon: Real, bounds: tuple[Real, Real] = (-1, 1)) -> None:
        exact = checked_epsilon(epsilon)
        lie = probability_up(1 / (exp_down(exact) + 1))
        freeze_fields(self, epsilon=exact, bounds=checked_bounds(bounds), lie=lie)

    __repr__ = call_text

    event = PureCharge()

    @property
    def report_format(self) -> ReportFormat:
        return integer_format(1)

    @property
    def counters(self) -> int:
        return 2

    def encode(self, values: ArrayLike) -> IntArray:
        return fine_steps(values, self.bounds)

    def draw(self, encoded: IntArray, entropy: Entropy) -> ReportArray:
        """Return a report for each value, given in steps of the fine grid."""
        is_high = rounded_up(encoded, FINE_BITS, entropy)
        is_high ^= coins(self.lie, len(encoded), entropy)
        return is_high.astype(np.uint8)

    def are_valid(self, reports: ReportArray) -> bool:
        return not len(reports) or bool(reports.max() < 2)

    def tally(self, reports: ReportArray) -> IntArray:
        return np.bincount(reports.astype(np.int64), minlength=2)

    def distribution(self, step: int) -> list[Fraction]:
        """Return the exact probability of each report, given a value in steps of the fine grid."""
        high = self.lie + (1 - 2 * self.lie) * Fraction(step, FINE)
        return [1 - high, high]

    def decoded(self) -> list[Fraction]:
        """Return the unbiased value that each report stands for; the bounds are 0 and 1."""
        gap = 1 - 2 * self.lie
        return [-self.lie / gap, (1 - self.lie) / gap]

    def variance(self, share: FloatArray) -> FloatArray:
        """Return the variance of one decoded report, for values at these shares of the width."""
        low, high = map(float, self.decoded())
        return np.asarray((high - share) * (share - low))

    chances = Renamed("distribution")
    cells = Renamed("counters")
    row = Renamed("report_format")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Piecewise:
    """Epsilon-locally private: report a position near a bounded number, or any other, without bias.

    There are 2**grid steps between the bounds. A value between two steps is rounded at random so
    that its mean is preserved. The report is drawn from a `NearWindow` of e^(-ε/2) of the steps
    (Wang et al. 2019, Algorithm 2; on the grid its densities become probabilities). The mean report
    is exactly linear in the value, so decoding has no bias. Best for large epsilon.
    """

    tag: ClassVar[str] = "piecewise/1"
    epsilon: Fraction
    bounds: tuple[Fraction, Fraction]
    grid: int
    window: NearWindow = field(init=False)

    def __init__(
        self, *, epsilon: Real, bounds: tuple[Real, Real] = (-1, 1), grid: int = 10
    ) -> None:
        exact = checked_epsilon(epsilon)
        bits = integer("grid", grid, least=0, most=GRID_MOST)
        width = max(1, round((1 << bits) * exp(-float(exact) / 2)))
        window = NearWindow.of(exact, positions=(1 << bits) + 1, width=width)
        freeze_fields(self, epsilon=exact, bounds=checked_bounds(bounds), grid=bits, window=window)

    __repr__ = call_text

    event = PureCharge()

    @property
    def report_format(self) -> ReportFormat:
        return integer_format(16)

    @property
    def counters(self) -> int:
        return self.window.reports

    def encode(self, values: ArrayLike) -> IntArray:
        return fine_steps(values, self.bounds)

    def draw(self, encoded: IntArray, entropy: Entropy) -> ReportArray:
        """Return a report for each value, given in steps of the fine grid."""
        coarse = FINE_BITS - self.grid
        positions = encoded >> coarse
        positions += rounded_up(encoded & (1 << coarse) - 1, coarse, entropy)
        return self.window.draw(positions, entropy).astype(np.uint16)

    def are_valid(self, reports: ReportArray) -> bool:
        return not len(reports) or bool(reports.max() < self.window.reports)

    def tally(self, reports: ReportArray) -> IntArray:
        return np.bincount(reports.astype(np.int64), minlength=self.counters)

    def distribution(self, step: int) -> list[Fraction]:
        """Return the exact probability of each report, given a value in steps of the fine grid."""
        position, part = divmod(Fraction(step << self.grid, FINE), 1)
        here = self.window.distribution(int(position))
        if part == 0:
            return here
        there = self.window.distribution(int(position) + 1)
        return [(1 - part) * p + part * q for p, q in zip(here, there, strict=True)]

    def decoded(self) -> list[Fraction]:
        """Return the unbiased value that each report stands for; the bounds are 0 and 1."""
        base, slope = self.window.base, self.window.slope * (1 << self.grid)
        return [(y - base) / slope for y in range(self.counters)]

    def variance(self, share: FloatArray) -> FloatArray:
        """Return the variance of one decoded report, for values at these shares of the width.

        The second moment is linear between two steps of the grid, as the distribution is.
        """
        steps = 1 << self.grid
        moments = self._second_moments()
        at = np.clip(np.floor(share * steps).astype(np.int64), 0, steps - 1)
        part = share * steps - at
        return np.asarray((1 - part) * moments[at] + part * moments[at + 1] - share**2)

    def _second_moments(self) -> FloatArray:
        decoded = np.array([float(each) for each in self.decoded()]) ** 2
        sums = np.concatenate([[0.0], np.cumsum(decoded)])
        near, far, width = float(self.window.near), float(self.window.far), self.window.width
        positions = np.arange(self.window.positions)
        return np.asarray(
            far * sums[-1] + (near - far) * (sums[positions + width] - sums[positions])
        )

    chances = Renamed("distribution")
    cells = Renamed("counters")
    row = Renamed("report_format")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Hybrid:
    """Epsilon-locally private: the piecewise mechanism with probability 1 - e^(-ε/2), or Duchi's.

    Both are private and unbiased, and the coin is independent of the value. The worst variance is
    no larger than that of either (Wang et al. 2019, Section III-C). Up to ε = 0.61 it is Duchi's
    mechanism.
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
        freeze_fields(
            self,
            epsilon=exact,
            bounds=piecewise.bounds,
            grid=piecewise.grid,
            share=probability_down(Fraction(float(wide))),
            duchi=Duchi(epsilon=epsilon, bounds=bounds),
            piecewise=piecewise,
        )

    __repr__ = call_text

    event = PureCharge()

    @property
    def report_format(self) -> ReportFormat:
        return integer_format(17)

    @property
    def counters(self) -> int:
        return 2 + self.piecewise.counters

    def encode(self, values: ArrayLike) -> IntArray:
        return fine_steps(values, self.bounds)

    def draw(self, encoded: IntArray, entropy: Entropy) -> ReportArray:
        """Return a report for each value: 0 and 1 are Duchi's, larger ones are piecewise."""
        reports = self.report_format.empty(len(encoded))
        is_wide = coins(self.share, len(encoded), entropy)
        reports[~is_wide] = self.duchi.draw(encoded[~is_wide], entropy)
        reports[is_wide] = self.piecewise.draw(encoded[is_wide], entropy).astype(np.uint32) + 2
        return reports

    def are_valid(self, reports: ReportArray) -> bool:
        return not len(reports) or bool(reports.max() < self.counters)

    def tally(self, reports: ReportArray) -> IntArray:
        return np.bincount(reports.astype(np.int64), minlength=self.counters)

    def distribution(self, step: int) -> list[Fraction]:
        """Return the exact probability of each report, given a value in steps of the fine grid."""
        return [(1 - self.share) * p for p in self.duchi.distribution(step)] + [
            self.share * p for p in self.piecewise.distribution(step)
        ]

    def decoded(self) -> list[Fraction]:
        """Return the unbiased value that each report stands for; the bounds are 0 and 1."""
        return self.duchi.decoded() + self.piecewise.decoded()

    def variance(self, share: FloatArray) -> FloatArray:
        """Return the variance of one decoded report, for values at these shares of the width."""
        wide = float(self.share)
        return (1 - wide) * self.duchi.variance(share) + wide * self.piecewise.variance(share)

    chances = Renamed("distribution")
    cells = Renamed("counters")
    row = Renamed("report_format")


_OLD_NAMES = {
    "Histogram": "discreet.local.Histogram",
    "MeanEstimate": "discreet.local.MeanEstimate",
    "NumericClient": "discreet.local.Client",
    "SquareWave": "discreet.local.SquareWave",
    "SquareWaveClient": "discreet.local.Client",
    "choose_numeric": "discreet.local.choose_mean",
    "estimate_mean": "discreet.local.old_names.estimate_mean",
    "reconstruct": "discreet.local.old_names.reconstruct",
}
__all__ = ["Duchi", "Hybrid", "Piecewise"]
__all__.extend(_OLD_NAMES)
__getattr__ = deprecated_names(__name__, _OLD_NAMES)
