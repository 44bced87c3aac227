"""The distribution of a sum of losses, by one Fourier transform of tilted masses.

Masses are first multiplied by e^(tilt · loss), so that the losses that matter for the given delta
carry most of the mass. The rounding errors of the transform, which are absolute, are then small
compared with delta, even if delta is tiny. The tilt is undone afterwards. Three errors remain, and
all are added to delta: losses above the window (Chernoff's bound), the rounding of the transform
(norm bounds), and mass at infinity. Mass that wraps around from below the window only adds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, exp, expm1, floor, fsum, inf, log, log1p, log2, sqrt

import numpy as np
import numpy.typing as npt
from scipy.fft import irfft, next_fast_len, rfft

from discreet.accounting.approximate import (
    Floats,
    delta_from_losses,
    epsilon_for_delta,
    epsilon_guess,
)
from discreet.accounting.pld.grid import LossLaw
from discreet.accounting.rounding import golden_minimum
from discreet.errors import HIDDEN, ParameterError

OUTSIDE = 46.0
"""-ln of the tilted mass that may fall outside the window on each side: 1e-20."""

MOST_WINDOW = 2**22
"""The most points of one transform. Wider losses are left to other accountants."""

Complexes = npt.NDArray[np.complex128]

Laws = Sequence[tuple[LossLaw, int]]


class LogMoments:
    """ln E[e^(tilt · loss)] of each distribution on a grid, and of the sum of all."""

    def __init__(self, laws: Laws, width: float) -> None:
        self._width = width
        sizes = [len(law.masses) for law, _ in laws]
        index = [np.arange(law.start, law.start + len(law.masses)) for law, _ in laws]
        self.counts = np.array([count for _, count in laws], dtype=np.float64)
        self._starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self._masses = np.concatenate([law.masses for law, _ in laws])
        losses = np.concatenate(index) * width
        self.tops = np.maximum.reduceat(losses, self._starts)
        self.bottoms = np.minimum.reduceat(losses, self._starts)
        self._below_top = losses - np.repeat(self.tops, sizes)
        self._above_bottom = losses - np.repeat(self.bottoms, sizes)

    def each(self, tilt: float) -> Floats:
        """Return the logarithm for each distribution."""
        away = self._below_top if tilt >= 0 else self._above_bottom
        ends = self.tops if tilt >= 0 else self.bottoms
        sums = np.add.reduceat(self._masses * np.exp(tilt * away), self._starts)
        return np.asarray(np.log(np.maximum(sums, 1e-300)) + tilt * ends)

    def __call__(self, tilt: float) -> float:
        return float(self.counts @ self.each(tilt))

    def deviation(self, tilt: float) -> float:
        """Return about the standard deviation of the sum, tilted by at least 0."""
        weights = self._masses * np.exp(tilt * self._below_top)
        total = np.add.reduceat(weights, self._starts)
        mean = np.add.reduceat(weights * self._below_top, self._starts) / total
        square = np.add.reduceat(weights * self._below_top**2, self._starts) / total
        # A distribution that the tilt has pushed to one end still needs a window of some width.
        least = 1e-4 * float(self.counts @ (self.tops - self.bottoms)) + self._width
        return max(least, sqrt(max(0.0, float(self.counts @ (square - mean**2)))))

    def tilts_for_delta(self, delta: float) -> list[float]:
        """Return tilts to try in turn, the last the one of the best Chernoff bound.

        For losses that are nearly bounded that one runs off to the largest loss; the first is no
        more than that of a Gaussian of the same spread.
        """
        best = self._best(lambda t: (self(t) - log(delta)) / t)
        normal = sqrt(0.1 - 2 * log(delta)) / self.deviation(0.0)
        return [best] if best <= normal else [normal, min(best, 4 * normal), best]

    def tilt_for_epsilon(self, epsilon: float) -> float:
        """Return about the tilt whose Chernoff bound gives the least delta at epsilon."""
        return self._best(lambda t: self(t) - t * epsilon)

    def _best(self, bound: Callable[[float], float]) -> float:
        unit = 1 / self.deviation(0.0)
        # Beyond 50/width the tilt leaves nothing but the largest loss.
        lowest, highest = log(1e-2 * unit), log(min(1e4 * unit, 50 / self._width))
        return exp(golden_minimum(lambda x: bound(exp(x)), lowest, highest, steps=18))

    def window(self, tilt: float) -> tuple[float, float]:
        """Return losses outside of which the tilted sum has mass below e^-OUTSIDE on each side."""
        here, unit = self(tilt), sqrt(2 * OUTSIDE) / self.deviation(tilt)
        steps = [unit * factor for factor in (0.25, 0.5, 1.0, 2.0)]
        high = min((self(tilt + s) - here + OUTSIDE) / s for s in steps)
        low = max((here - self(tilt - s) - OUTSIDE) / s for s in steps)
        return max(low, float(self.counts @ self.bottoms)), min(
            high, float(self.counts @ self.tops)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """An upper bound of the distribution of a sum of losses, from `losses[0]` upwards."""

    losses: Floats
    masses: Floats
    most: float  # no finite loss is larger
    infinite: float
    above: float  # mass of the losses above the window
    log_noise: float  # ln of the transform's error in delta at epsilon = 0, which falls with tilt
    tilt: float
    drift: float

    def delta(self, epsilon: float) -> float:
        """Return delta at epsilon, rounded up."""
        if epsilon >= self.most + self.drift:
            return min(1.0, self.infinite)
        inner = epsilon - self.drift
        return min(1.0, self._delta(inner)) if inner >= self.losses[0] else 1.0

    def epsilon(self, delta: float) -> float:
        """Return epsilon at delta, rounded up; inf if delta is below what is at infinity."""
        if delta <= self.infinite:
            return inf
        left = delta - self.infinite - self.above
        guess = epsilon_guess(self.losses, self.masses, left) if left > 0 else self.most
        start = max(guess, float(self.losses[0]))
        found = epsilon_for_delta(self._delta, delta, guess=start) if left > 0 else inf
        return max(0.0, min(found, self.most) + self.drift)

    def noise(self, epsilon: float) -> float:
        """Return what rounding in the transform adds to delta at epsilon."""
        return exp(min(0.0, self.log_noise - self.tilt * epsilon))

    def _delta(self, epsilon: float) -> float:
        finite = delta_from_losses(self.losses, self.masses, epsilon)
        return finite + self.infinite + self.above + self.noise(epsilon)


def convolved(laws: Laws, width: float, moments: LogMoments, tilt: float) -> Sum:
    """Return the distribution of the sum near the losses that the tilt favours."""
    low, high = moments.window(tilt)
    start = floor(low / width) - 2
    points = ceil(high / width) - start + 2
    if not 0 < points <= MOST_WINDOW:
        raise ParameterError("events", HIDDEN, "must have losses nearer to each other for PLD")
    size = next_fast_len(points, real=True)
    each = moments.each(tilt)
    tilted, norm = _tilted_sum(laws, width, tilt, each, size)
    losses = np.arange(start, start + size, dtype=np.float64) * width
    total = fsum(moments.counts * each)
    # Undone only where e^(total - tilt · loss) is in range.
    first = int(np.count_nonzero(total - tilt * losses > 600))
    losses = losses[first:]
    masses = np.roll(tilted, -start)[first:]
    inexact = _relative_error(moments, tilt, each)
    masses = np.maximum(masses, 0.0) * np.exp(total - tilt * losses + inexact)
    return Sum(
        losses=losses,
        masses=masses,
        most=float(moments.counts @ moments.tops) * (1 + 1e-15),
        infinite=-expm1(fsum(count * log1p(-law.infinite) for law, count in laws)) * (1 + 1e-12),
        above=exp(min(0.0, total - tilt * high + inexact - OUTSIDE + 1e-6)),
        log_noise=_log_noise(norm, size, tilt * width) + total + inexact,
        tilt=tilt,
        drift=fsum(count * law.drift for law, count in laws),
    )


def _tilted_sum(
    laws: Laws, width: float, tilt: float, each: Floats, size: int
) -> tuple[Floats, float]:
    """Return the tilted, cyclic distribution of the sum, and Σ count · ‖tilted masses‖₂."""
    product: Complexes = np.ones(size // 2 + 1, dtype=np.complex128)
    norm = 0.0
    for (law, count), log_moment in zip(laws, each, strict=True):
        index = np.arange(law.start, law.start + len(law.masses))
        tilted = law.masses * np.exp(tilt * (index * width) - log_moment)
        cyclic = np.bincount(index % size, tilted, size)
        product *= _power(rfft(cyclic), count)
        # Nothing near the rounding error is lost, and subnormal numbers are slow.
        product[np.abs(product) < 1e-150] = 0.0
        norm += count * float(np.sqrt(np.sum(np.square(cyclic))))
    return irfft(product, size), norm


def _power(values: Complexes, exponent: int) -> Complexes:
    """Return values to the power of a whole number, by squaring."""
    result = np.ones_like(values)
    while exponent:
        if exponent % 2:
            result = result * values
        exponent //= 2
        values = values * values if exponent else values
    return result


def _log_noise(norm: float, size: int, step: float) -> float:
    """Return ln of a bound of the transform's rounding error, weighted as delta weighs it.

    A transform of length n errs by at most 8 u log2(n) in the 2-norm, relative to its input's
    (Higham 2002, Theorem 24.2, with room to spare); a factor of modulus at most 1 passes errors
    on, and powers and products add 32 u each. Delta weighs losses by at most e^(-tilt · loss),
    whose 2-norm above epsilon is e^(-tilt · epsilon)/sqrt(1 - e^(-2 step)) at most.
    """
    error = 2.0**-53 * (8 * log2(size) + 32) * (norm + 1)
    return log(error) + 0.5 * min(log(size), -log(-expm1(-2 * step)))


def _relative_error(moments: LogMoments, tilt: float, each: Floats) -> float:
    """Return a bound of the relative error that tilting and undoing it leave in the masses."""
    farthest = np.maximum(np.abs(tilt * moments.tops - each), np.abs(tilt * moments.bottoms - each))
    return float(moments.counts @ (4 + np.abs(each) + farthest)) * 2.0**-50
