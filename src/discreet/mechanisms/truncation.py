"""Answers clamped to a range: values beyond an end are replaced by that end."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Generic, Protocol, TypeVar, overload

import numpy as np

from discreet import plots
from discreet.accounting.events import Event
from discreet.deprecated import Renamed
from discreet.errors import HIDDEN, ParameterError, readable
from discreet.mechanisms.distributions import ClampedDistribution, Distribution
from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, freeze_fields, integer, rational

CHANNEL_MOST = 2_000
"""The most rows and columns of a channel: four million floats."""

BINS = 50
"""The number of bins in a plot of a range with too many answers."""

HALF = Fraction(1, 2)

One = TypeVar("One", int, float)
Many = TypeVar("Many", IntArray, FloatArray)


class Additive(Protocol[One, Many]):
    """A mechanism that adds noise to numbers."""

    @property
    def event(self) -> Event: ...
    @property
    def epsilon(self) -> Fraction: ...
    @overload
    def release(self, exact: One, *, entropy: Entropy = SYSTEM) -> One: ...
    @overload
    def release(self, exact: Many, *, entropy: Entropy = SYSTEM) -> Many: ...
    def distribution(self, exact: Real) -> Distribution: ...
    def margin(self, confidence: Real, answers: int = 1) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Truncated(Generic[One, Many]):
    """A mechanism whose answers are clamped to [low, high].

    Post-processing: epsilon and the event are those of the mechanism inside (Dwork, Roth 2014,
    Proposition 2.1). The error is no larger if the exact answer is in the range.
    """

    mechanism: Additive[One, Many]
    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if not (hasattr(self.mechanism, "release") and hasattr(self.mechanism, "distribution")):
            rule = "must be one that adds noise, such as Laplace(epsilon=1, sensitivity=1)"
            raise ParameterError("mechanism", self.mechanism, rule)
        freeze_fields(self, low=rational("low", self.low), high=rational("high", self.high))
        if self.low >= self.high:
            ends = f"{readable(self.low)} … {readable(self.high)}"
            raise ParameterError("range", HIDDEN, f"must have low below high, but is {ends}")

    def __repr__(self) -> str:
        return f"{self.mechanism!r}.truncated({readable(self.low)}, {readable(self.high)})"

    @property
    def event(self) -> Event:
        return self.mechanism.event

    @property
    def epsilon(self) -> Fraction:
        return self.mechanism.epsilon

    @overload
    def release(self, exact: One, *, entropy: Entropy = SYSTEM) -> One: ...
    @overload
    def release(self, exact: Many, *, entropy: Entropy = SYSTEM) -> Many: ...
    def release(self, exact: One | Many, *, entropy: Entropy = SYSTEM) -> One | Many:
        """Return exact + noise, clamped to the range."""
        noisy = self.mechanism.release(exact, entropy=entropy)
        if isinstance(noisy, int | float):
            kind = type(noisy)
            return max(kind(self.low), min(kind(self.high), noisy))
        inside: Many = np.clip(noisy, _end(self.low, noisy), _end(self.high, noisy))
        return inside

    def distribution(self, exact: Real) -> ClampedDistribution:
        """Return the distribution of release(exact)."""
        return ClampedDistribution(
            distribution=self.mechanism.distribution(exact), low=self.low, high=self.high
        )

    def margin(self, confidence: Real, answers: int = 1) -> float:
        """Return the margin of error for exact answers in the range."""
        return min(self.mechanism.margin(confidence, answers), float(self.high - self.low))

    def channel(self, bins: int | None = None) -> FloatArray:
        """Return the matrix P(released | exact): a row and a column for each answer of the range.

        With `bins` the range is divided into this many equal parts instead. A row is for the middle
        of a part, and a column for all outputs in it.
        """
        return self._exact_channel() if bins is None else self._coarse_channel(self._parts(bins))

    def plot(self) -> "plots.Plot":
        """Plot the channel as a heat map, in bins if the range has too many answers."""
        if self._count <= CHANNEL_MOST:
            names = [readable(self.low + k * self._step) for k in range(self._count)]
            channel = self.channel()
        else:
            half = (self.high - self.low) / (2 * BINS)
            names = [f"{float(end - half):.4g}" for _, end in self._parts(BINS)]
            channel = self.channel(BINS)
        ends = f"{readable(self.low)} … {readable(self.high)}"
        title = f"truncated to {ends}, ε = {float(self.epsilon):g}"
        return plots.plot_heat(channel, title=title, rows=names, columns=names)

    @property
    def _step(self) -> Fraction:
        return self.mechanism.distribution(floor(self.low)).support.step

    @property
    def _count(self) -> int:
        return int((self.high - self.low) / self._step) + 1

    def _exact_channel(self) -> FloatArray:
        """Return the channel, with all rows cut from one longer row: noise ignores the answer."""
        n, step = self._count, self._step
        if n > CHANNEL_MOST:
            rule = f"must hold at most {CHANNEL_MOST} values (or write channel(bins={BINS}))"
            raise ParameterError("range", HIDDEN, rule)
        law = self.mechanism.distribution(self.low)
        places = [self.low + k * step for k in range(-n, n)]
        p = np.array([law.pmf(place) for place in places])
        below = np.array([law.cdf(place) for place in places])
        away = np.arange(n)[None, :] - np.arange(n)[:, None] + n
        channel: FloatArray = p[away]
        channel[:, 0] = below[away[:, 0]]
        channel[:, -1] = 1 - below[away[:, -1] - 1]
        return channel

    def _coarse_channel(self, parts: list[tuple[Fraction, Fraction]]) -> FloatArray:
        laws = [self.distribution(middle) for middle, _ in parts]
        below = np.array([[law.cdf(end) for _, end in parts] for law in laws])
        return np.diff(below, axis=1, prepend=0.0)

    def _parts(self, bins: int) -> list[tuple[Fraction, Fraction]]:
        """Return the middle and the end of each of `bins` equal parts of the range."""
        count = integer("bins", bins, least=1, most=CHANNEL_MOST)
        width, step = (self.high - self.low) / count, self._step
        # A middle that is not on the grid is floored to it.
        middles = [floor((self.low + (k + HALF) * width) / step) * step for k in range(count)]
        return [(middle, self.low + (k + 1) * width) for k, middle in enumerate(middles)]

    law = Renamed("distribution")
    error = Renamed("margin")


def _end(end: Fraction, noisy: IntArray | FloatArray) -> np.int64 | np.float64:
    """Return an end in the type of an array, clamped to its integers if it is beyond them."""
    if noisy.dtype.kind == "f":
        return np.float64(end)
    kind = np.iinfo(np.int64)
    return np.int64(max(kind.min, min(kind.max, int(end))))
