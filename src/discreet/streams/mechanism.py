"""The protocol of mechanisms for streams, and what all of them share.

A stream has `ticks` ticks. At each tick a vector of `cells` exact integers arrives. One unit adds
at most `rows_per_unit` rows to the whole stream, at most `rows_per_tick` of them in one tick. Each
row adds at most `magnitude`, in absolute value, to one cell of one tick.

What is released is a public record: one noisy integer for each tick and cell. Estimates of running
totals, of single ticks and of windows are computed from the record alone. They cost nothing, and
their deviations are known before anything is released. Proofs: docs/proofs/streams.md.
"""

from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet.accounting.events import Event
from discreet.errors import HIDDEN, ParameterError
from discreet.mechanisms.accuracy import checked_epsilon, gaussian_accuracy, miss_probability
from discreet.mechanisms.exact import Integers, exact_integers
from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, integer, rational

TICKS_MOST = 10**7
"""The longest stream. Its coefficients are computed in seconds."""

CELLS_MOST = 10**9
ROWS_MOST = 10**9
MAGNITUDE_MOST = 1 << 60


class StreamMechanism(Protocol):
    """A way to release a stream tick by tick, charged once for the whole stream."""

    @property
    def ticks(self) -> int:
        """The number of ticks that the stream may have."""
        ...

    @property
    def cells(self) -> int:
        """The most integers that arrive at one tick."""
        ...

    @property
    def rows_per_unit(self) -> int:
        """The most rows of one unit in the whole stream."""
        ...

    @property
    def rows_per_tick(self) -> int | None:
        """The most rows of one unit in one tick, or None if all may be in one."""
        ...

    @property
    def magnitude(self) -> int:
        """The most, in absolute value, that a row adds to its cell."""
        ...

    @property
    def epsilon(self) -> Fraction:
        """The cost of the whole stream."""
        ...

    @property
    def delta(self) -> Fraction:
        """The delta of the whole stream. It is 0 for pure differential privacy."""
        ...

    @property
    def events(self) -> tuple[Event, ...]:
        """What the whole stream is charged as, if epsilons are added up."""
        ...

    @property
    def concentrated_events(self) -> tuple[Event, ...]:
        """What the whole stream is charged as with concentrated accounting."""
        ...

    @property
    def is_adaptive(self) -> bool:
        """Whether the proof covers streams that react to what was released."""
        ...

    @property
    def keeps_secrets(self) -> bool:
        """Whether later ticks need noise of earlier ones, which must stay secret."""
        ...

    def numbers_at(self, tick: int) -> int:
        """Return how many numbers for each cell the record gets at a tick, counted from 1."""
        ...

    def release(
        self, increments: Integers, since: int = 0, *, entropy: Entropy = SYSTEM
    ) -> IntArray:
        """Return the part of the record for all ticks after `since`, with fresh noise."""
        ...

    def running(self, record: ArrayLike) -> FloatArray:
        """Return unbiased estimates of the running totals at each tick of the record."""
        ...

    def windows(self, record: ArrayLike, length: int) -> FloatArray:
        """Return estimates of the totals of the last `length` ticks, at each tick."""
        ...

    def deviations(self, last: int | None = None) -> FloatArray:
        """Return the standard deviation of the running total at each tick up to `last`."""
        ...

    def window_deviations(self, length: int, last: int | None = None) -> FloatArray:
        """Return the standard deviation of the last `length` ticks, at each tick."""
        ...

    def margins(
        self, confidence: Real, *, window: int | None = None, last: int | None = None
    ) -> FloatArray:
        """Return the margin of error at each tick, which holds for one tick at a time."""
        ...

    @property
    def max_deviation(self) -> float:
        """The largest deviation of a running total."""
        ...

    @property
    def rms_deviation(self) -> float:
        """The root of the mean square of the deviations of running totals."""
        ...


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one unit can add to a stream."""

    ticks: int
    cells: int
    rows_per_unit: int
    rows_per_tick: int | None
    magnitude: int

    @property
    def most_in_a_tick(self) -> int:
        """The most rows of one unit in one tick."""
        return min(self.rows_per_unit, self.rows_per_tick or self.rows_per_unit)

    @property
    def most_rows(self) -> int:
        """The most rows of one unit that the stream has room for."""
        return min(self.rows_per_unit, self.most_in_a_tick * self.ticks)

    @property
    def most_changed(self) -> int:
        """The most numbers of a record, one for each tick and cell, that one unit changes."""
        return self.ticks * min(self.cells, self.most_rows)


def checked_contribution(
    *,
    ticks: object,
    cells: object,
    rows_per_unit: object,
    rows_per_tick: object,
    magnitude: object,
) -> Contribution:
    """Return the terms of a stream that all mechanisms share, or raise `ParameterError`."""
    rows = integer("rows_per_unit", rows_per_unit, least=1, most=ROWS_MOST)
    return Contribution(
        ticks=integer("ticks", ticks, least=1, most=TICKS_MOST),
        cells=integer("cells", cells, least=1, most=CELLS_MOST),
        rows_per_unit=rows,
        rows_per_tick=(
            None
            if rows_per_tick is None
            else integer("rows_per_tick", rows_per_tick, least=1, most=rows)
        ),
        magnitude=integer("magnitude", magnitude, least=1, most=MAGNITUDE_MOST),
    )


def checked_cost(epsilon: object, delta: object) -> tuple[Fraction, Fraction]:
    """Return epsilon and a delta above 0, or raise `ParameterError`."""
    return checked_epsilon(epsilon), rational("delta", delta, above=0, below=1)


def gaussian_half_widths(variances: FloatArray, miss: Fraction) -> FloatArray:
    """Return t with P(|X| > t) ≤ miss for Gaussian noises of these variances."""
    deviations: FloatArray = np.sqrt(variances)
    return deviations * gaussian_accuracy(1.0, miss)


class LinearStream:
    """What mechanisms share whose record is linear in the increments, with a number for each tick.

    A subclass defines how totals follow from a record and how much they vary.
    """

    __slots__ = ()

    is_adaptive: ClassVar[bool] = True
    keeps_secrets: ClassVar[bool] = False
    ticks: int
    cells: int

    @abstractmethod
    def _totals(self, record: IntArray) -> FloatArray:
        """Return the running totals of a checked record."""

    @abstractmethod
    def _variances(self, window: int | None) -> FloatArray:
        """Return the variance of the running total, or of a window, at each tick."""

    def numbers_at(self, tick: int) -> int:
        """Return how many numbers for each cell the record gets at a tick: one."""
        integer("tick", tick, least=1, most=self.ticks)
        return 1

    def running(self, record: ArrayLike) -> FloatArray:
        """Return unbiased estimates of the running totals: a row for each tick of the record."""
        return self._totals(self._checked_record(record))

    def windows(self, record: ArrayLike, length: int) -> FloatArray:
        """Return estimates of the totals of the last `length` ticks, at each tick.

        The first windows are shorter, because no tick comes before the first. A length of 1 gives
        single ticks.
        """
        length = self._checked_length("length", length)
        totals = self.running(record)
        totals[length:] -= totals[:-length].copy()
        return totals

    def deviations(self, last: int | None = None) -> FloatArray:
        """Return the standard deviation of the running total at each tick up to `last`."""
        return np.sqrt(self._variances(None)[: self._checked_last(last)])

    def window_deviations(self, length: int, last: int | None = None) -> FloatArray:
        """Return the standard deviation of the last `length` ticks, at each tick up to `last`."""
        length = self._checked_length("length", length)
        return np.sqrt(self._variances(length)[: self._checked_last(last)])

    def margins(
        self, confidence: Real, *, window: int | None = None, last: int | None = None
    ) -> FloatArray:
        """Return the margin of error at each tick, which holds for one tick at a time."""
        miss = miss_probability(confidence, 1)
        if window is None:
            return self._half_widths(miss, None, self._checked_last(last))
        length = self._checked_length("window", window)
        return self._half_widths(miss, length, self._checked_last(last))

    def _half_widths(self, miss: Fraction, window: int | None, last: int) -> FloatArray:
        """Return margins of Gaussian noise. Mechanisms with other noise have their own."""
        return gaussian_half_widths(self._variances(window)[:last], miss)

    @property
    def max_deviation(self) -> float:
        """The largest deviation of a running total."""
        return sqrt(float(self._variances(None).max()))

    @property
    def rms_deviation(self) -> float:
        """The root of the mean square of the deviations of running totals."""
        return sqrt(float(self._variances(None).mean()))

    def _checked_increments(self, increments: object, since: object) -> tuple[IntArray, int]:
        """Return exact increments of all ticks so far. An error does not show them."""
        exact = whole_numbers("increments", increments)
        self._check_shape("increments", exact.shape)
        return exact, integer("since", since, least=0, most=len(exact))

    def _checked_record(self, record: object) -> IntArray:
        found = whole_numbers("record", record)
        self._check_shape("record", found.shape)
        return found

    def _check_shape(self, name: str, shape: tuple[int, ...]) -> None:
        if len(shape) != 2:
            rule = "must have a row for each tick and a column for each cell"
            raise ParameterError(name, HIDDEN, rule)
        integer(f"the number of ticks in {name}", shape[0], most=self.ticks)
        integer(f"the number of cells in {name}", shape[1], least=1, most=self.cells)

    def _checked_length(self, name: str, length: object) -> int:
        return integer(name, length, least=1, most=self.ticks)

    def _checked_last(self, last: object) -> int:
        return self.ticks if last is None else integer("last", last, least=0, most=self.ticks)


def whole_numbers(name: str, numbers: object) -> IntArray:
    """Return integers clamped to 64 bits, or raise `ParameterError`, which does not show them."""
    with suppress(ParameterError):
        return exact_integers(numbers)
    raise ParameterError(name, HIDDEN, "must be whole numbers in rows of equal length")
