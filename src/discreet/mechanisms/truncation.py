"""Answers kept inside a range: what falls beyond an end is moved to the end."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Protocol, TypeVar, overload

import numpy as np

from discreet.accounting.events import Event
from discreet.errors import ParameterError
from discreet.mechanisms.laws import ClampedLaw, Law
from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real
from discreet.plots import Plot, plot_heat

CHANNEL_MOST = 2_000
"""A channel has at most this many rows and columns: four million floats."""

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
    def law(self, exact: Real) -> Law: ...
    def error(self, confidence: Real, answers: int = 1) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncated(Generic[One, Many]):
    """A mechanism whose answers are moved into [low, high].

    Post-processing: the same epsilon and the same event as the mechanism inside (Dwork, Roth 2014,
    Proposition 2.1), and an error that is no larger where the exact answer lies in the range.
    """

    mechanism: Additive[One, Many]
    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if self.low >= self.high:
            rule = "must have low below high"
            raise ParameterError("range", f"{self.low} … {self.high}", rule)

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
        """Return exact + noise, moved into the range."""
        noisy = self.mechanism.release(exact, entropy=entropy)
        if isinstance(noisy, int | float):
            kind = type(noisy)
            return max(kind(self.low), min(kind(self.high), noisy))
        inside: Many = np.clip(noisy, _end(self.low, noisy), _end(self.high, noisy))
        return inside

    def law(self, exact: Real) -> ClampedLaw:
        """Return the law of release(exact)."""
        return ClampedLaw(law=self.mechanism.law(exact), low=self.low, high=self.high)

    def error(self, confidence: Real, answers: int = 1) -> float:
        """Return ± for exact answers in the range."""
        return min(self.mechanism.error(confidence, answers), float(self.high - self.low))

    def channel(self) -> FloatArray:
        """Return the matrix P(released | exact): a row for each answer of the range."""
        return np.array([[self.law(y).pmf(z) for z in self._answers] for y in self._answers])

    def plot(self) -> Plot:
        """Draw the channel as a heat map."""
        names = [str(answer) for answer in self._answers]
        title = f"truncated to {self.low} … {self.high}, ε = {float(self.epsilon):g}"
        return plot_heat(self.channel(), title=title, rows=names, columns=names)

    @property
    def _answers(self) -> list[Fraction]:
        step = self.mechanism.law(self.low).support.step
        count = int((self.high - self.low) / step) + 1
        if count > CHANNEL_MOST:
            rule = f"must hold at most {CHANNEL_MOST} values for a channel"
            raise ParameterError("range", f"one of {count} values", rule)
        return [self.low + k * step for k in range(count)]


def _end(end: Fraction, noisy: IntArray | FloatArray) -> np.int64 | np.float64:
    """Return an end in the kind of an array: the last of its integers if it lies beyond."""
    if noisy.dtype.kind == "f":
        return np.float64(end)
    kind = np.iinfo(np.int64)
    return np.int64(max(kind.min, min(kind.max, int(end))))
