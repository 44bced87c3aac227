"""Toeplitz matrices with a few buffers: memory that does not grow with the stream."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.exact import Integers
from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, as_call, freeze_fields, integer, rational
from discreet.streams.buffer_parameters import PARAMETER_BITS, buffer_parameters
from discreet.streams.gaussian_grid import GaussianGrid, GaussianStream, gaussian_grid
from discreet.streams.mechanism import (
    Contribution,
    checked_contribution,
    checked_cost,
    whole_numbers,
)
from discreet.streams.toeplitz import decoding_series, noise_shares, squared_sensitivity, totals

UNIT_BITS = 40
"""Exact numbers are in units of 2**-40, before they are floored to the grid."""

STATE_BITS = 80
"""Buffers are in units of 2**-80."""

BUFFERS_MOST = 8

COMPUTED_BELOW = 1 + Fraction(1, 1 << 16)
"""The most units by which an exact number is computed too low (docs/proofs/streams.md, 3)."""


@dataclass(frozen=True, slots=True, init=False)
class BufferedToeplitz(GaussianStream):
    """Release a stream with a few decaying buffers: (epsilon, delta)-DP in all.

    The first column of C is c_0 = 1 and c_i = Σ_j weights_j · decays_j^(i-1). So C x is computed
    tick by tick from one decaying sum for each buffer, and so are estimates (`BufferedStream`).
    Errors are close to those of `SquareRoot`. Streams may react to what was released. Store decays
    and weights with the record, because a later version may find others.
    """

    ticks: int
    epsilon: Fraction
    delta: Fraction
    decays: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    rows_per_unit: int
    rows_per_tick: int | None
    magnitude: int
    cells: int
    grid: GaussianGrid = field(repr=False)
    """The grid of the record, in units of 2**-40, and the event of the whole stream."""

    def __repr__(self) -> str:
        return as_call(
            "BufferedToeplitz",
            ticks=self.ticks,
            epsilon=self.epsilon,
            delta=self.delta,
            decays=[float(each) for each in self.decays],
            weights=[float(each) for each in self.weights],
            rows_per_unit=self.rows_per_unit,
            rows_per_tick=self.rows_per_tick,
            magnitude=self.magnitude,
            cells=self.cells,
        )

    def __init__(  # noqa: PLR0913 - each is a term of the guarantee
        self,
        *,
        ticks: int,
        epsilon: Real,
        delta: Real,
        buffers: int = 4,
        decays: Sequence[Real] | None = None,
        weights: Sequence[Real] | None = None,
        rows_per_unit: int = 1,
        rows_per_tick: int | None = None,
        magnitude: int = 1,
        cells: int = 1,
    ) -> None:
        contribution = checked_contribution(
            ticks=ticks,
            cells=cells,
            rows_per_unit=rows_per_unit,
            rows_per_tick=rows_per_tick,
            magnitude=magnitude,
        )
        epsilon, delta = checked_cost(epsilon, delta)
        if decays is None and weights is None:
            count = integer("buffers", buffers, least=1, most=BUFFERS_MOST)
            found = buffer_parameters(contribution.ticks, count)
        else:
            found = _checked_parameters(decays, weights)
        squared = Fraction(_sensitivity(contribution, *found))
        grid = gaussian_grid(epsilon, delta, squared, contribution, computed_below=COMPUTED_BELOW)
        freeze_fields(
            self,
            ticks=contribution.ticks,
            epsilon=epsilon,
            delta=delta,
            decays=found[0],
            weights=found[1],
            rows_per_unit=contribution.rows_per_unit,
            rows_per_tick=contribution.rows_per_tick,
            magnitude=contribution.magnitude,
            cells=contribution.cells,
            grid=grid,
        )

    def _exact(self, increments: Integers, since: int) -> NDArray[Any]:
        exact, since = self._checked_increments(increments, since)
        sums = BufferSums(self.decays, self.weights, exact.shape[1])
        found = np.empty((len(exact) - since, exact.shape[1]), object)
        for tick, each in enumerate(exact, -since):
            row = sums.step(each)
            if tick >= 0:
                found[tick] = row
        return found

    def _totals(self, record: IntArray) -> FloatArray:
        values = self.grid.values(record) / 2.0**UNIT_BITS
        return totals(_series(self.ticks, self.decays, self.weights), values)

    def _variances(self, window: int | None) -> FloatArray:
        shares = noise_shares(_series(self.ticks, self.decays, self.weights), window)
        return shares * float(self.grid.variance / 4**UNIT_BITS)


class BufferSums:
    """Decaying sums of exact increments, one for each buffer and cell, in integers.

    s ← ⌊θ s⌋ + x, in units of 2**-80. They are exact data, so `repr` does not show them.
    """

    __slots__ = ("_decays", "_sums", "_weights")

    def __init__(
        self, decays: tuple[Fraction, ...], weights: tuple[Fraction, ...], cells: int
    ) -> None:
        self._decays = _column(decays)
        self._weights = _column(weights)
        self._sums: NDArray[Any] = np.zeros((len(decays), cells), object)

    def __repr__(self) -> str:
        return "BufferSums(sealed)"

    def step(self, increments: IntArray) -> NDArray[Any]:
        """Return this tick's exact numbers in units of 2**-40, and take in its increments."""
        exact = increments.astype(object)
        past = (self._weights * self._sums).sum(axis=0) >> (PARAMETER_BITS + STATE_BITS - UNIT_BITS)
        self._sums = ((self._decays * self._sums) >> PARAMETER_BITS) + (exact << STATE_BITS)
        found: NDArray[Any] = (exact << UNIT_BITS) + past
        return found


class BufferedStream:
    """A stream that is released tick by tick with memory for a few numbers in each cell.

    `step` takes the increments of one tick and returns its part of the record, which has the same
    distribution as that of `release`. `running` is the estimate of the running totals so far.
    """

    __slots__ = ("_estimates", "_mechanism", "_running", "_sums", "_tick")

    def __init__(self, mechanism: BufferedToeplitz, cells: int = 1) -> None:
        if not isinstance(mechanism, BufferedToeplitz):
            rule = "must be a BufferedToeplitz, such as BufferedToeplitz(ticks=365, ...)"
            raise ParameterError("mechanism", mechanism, rule)
        count = integer("cells", cells, least=1, most=mechanism.cells)
        self._mechanism = mechanism
        self._sums = BufferSums(mechanism.decays, mechanism.weights, count)
        self._estimates = np.zeros((len(mechanism.decays), count))
        self._running = np.zeros(count)
        self._tick = 0

    def __repr__(self) -> str:
        return f"BufferedStream({self._mechanism!r}) at tick {self._tick}"

    @property
    def tick(self) -> int:
        """How many ticks were released."""
        return self._tick

    @property
    def running(self) -> FloatArray:
        """The estimated running totals, one for each cell."""
        return self._running.copy()

    def step(self, increments: Integers, *, entropy: Entropy = SYSTEM) -> IntArray:
        """Return the next tick's part of the record: a noisy integer for each cell."""
        exact = whole_numbers("increments", increments)
        if exact.shape != self._running.shape:
            shape = exact.shape
            raise ParameterError(
                "increments", shape, f"must be a list of {len(self._running)} numbers"
            )
        integer("tick", self._tick + 1, most=self._mechanism.ticks)
        grid = self._mechanism.grid
        record: IntArray = grid.release(self._sums.step(exact), entropy)
        self._tick += 1
        self._decode(grid.values(record) / 2.0**UNIT_BITS)
        return record

    def _decode(self, value: FloatArray) -> None:
        """Take one tick of the record into the estimates, as `BufferSums` takes in increments."""
        decays, weights = (
            np.array([float(each) for each in terms])[:, None]
            for terms in (self._mechanism.decays, self._mechanism.weights)
        )
        step = value - (weights * self._estimates).sum(axis=0)
        self._estimates = decays * self._estimates + step
        self._running += step


def _column(values: tuple[Fraction, ...]) -> NDArray[Any]:
    """Return multiples of 2**-40 as a column of integers."""
    return np.array([[int(each * 2**PARAMETER_BITS)] for each in values], object)


def _checked_parameters(
    decays: object, weights: object
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    if not isinstance(decays, list | tuple) or not isinstance(weights, list | tuple):
        rule = "must be a list of numbers below 1, with as many weights"
        raise ParameterError("decays", decays, rule)
    integer("the number of decays", len(decays), least=1, most=BUFFERS_MOST)
    if len(weights) != len(decays):
        raise ParameterError("weights", weights, f"must be {len(decays)} numbers, as decays are")
    found = tuple(_dyadic("decays", each) for each in decays)
    shares = tuple(_dyadic("weights", each) for each in weights)
    if sum(shares) > 1:
        raise ParameterError("weights", weights, "must sum to 1 or less")
    return found, shares


def _dyadic(name: str, value: object) -> Fraction:
    """Return the multiple of 2**-40 nearest to a number between 0 and 1."""
    unit = Fraction(1, 2**PARAMETER_BITS)
    exact = rational(name, value, least=unit, most=1 - unit)
    return round(exact / unit) * unit


def _coefficients(
    ticks: int, decays: tuple[Fraction, ...], weights: tuple[Fraction, ...]
) -> FloatArray:
    powers = np.arange(max(ticks - 1, 0))
    found = np.ones(ticks)
    found[1:] = sum(
        float(weight) * float(decay) ** powers
        for decay, weight in zip(decays, weights, strict=True)
    )
    return found


@lru_cache(maxsize=32)
def _sensitivity(
    contribution: Contribution, decays: tuple[Fraction, ...], weights: tuple[Fraction, ...]
) -> int:
    """Return the squared sensitivity in units, from coefficients rounded up by up to 2 units."""
    coefficients = _coefficients(contribution.ticks, decays, weights) * 2.0**UNIT_BITS
    upper = np.ceil(coefficients).astype(np.int64) + 1
    upper[0] = 1 << UNIT_BITS
    return squared_sensitivity(upper, contribution)


@lru_cache(maxsize=8)
def _series(ticks: int, decays: tuple[Fraction, ...], weights: tuple[Fraction, ...]) -> FloatArray:
    found = decoding_series(_coefficients(ticks, decays, weights))
    found.flags.writeable = False
    return found
