"""The square root of the summing matrix, for streams with delta above 0."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.exact import Integers
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, call_text, freeze_fields
from discreet.streams.gaussian_grid import GaussianGrid, GaussianStream, gaussian_grid
from discreet.streams.mechanism import (
    Contribution,
    checked_contribution,
    checked_cost,
)
from discreet.streams.toeplitz import (
    decoding_series,
    noise_shares,
    squared_sensitivity,
    toeplitz_product,
    totals,
)

UNIT_BITS = 20
"""Coefficients are multiples of 2**-20, rounded up. A changed number would make old records
unreadable."""

GUARD_BITS = 60
"""Further bits with which coefficients are computed before they are rounded."""


@dataclass(frozen=True, slots=True, init=False)
class SquareRoot(GaussianStream):
    """Release a stream with the square root of the summing matrix: (epsilon, delta)-DP in all.

    The record is y = C x + noise. The first column of C is c_k = binom(2k, k) / 4**k, rounded up to
    a multiple of 2**-20, and the noise is discrete Gaussian (Fichtenberger, Henzinger, Upadhyay
    2023). For one row of each unit the deviation of a running total is at most σ · (ln(ticks) / π +
    1.07), where σ is that of one count. Each number has fresh noise and depends on increments only,
    so streams may react to what was released, and nothing but the increments is kept.
    """

    ticks: int
    epsilon: Fraction
    delta: Fraction
    rows_per_unit: int
    rows_per_tick: int | None
    magnitude: int
    cells: int
    grid: GaussianGrid = field(repr=False)
    """The grid of the record, in units of 2**-20, and the event of the whole stream."""

    __repr__ = call_text

    def __init__(  # noqa: PLR0913 - each is a term of the guarantee
        self,
        *,
        ticks: int,
        epsilon: Real,
        delta: Real,
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
        squared = Fraction(_sensitivity(contribution))
        freeze_fields(
            self,
            ticks=contribution.ticks,
            epsilon=epsilon,
            delta=delta,
            rows_per_unit=contribution.rows_per_unit,
            rows_per_tick=contribution.rows_per_tick,
            magnitude=contribution.magnitude,
            cells=contribution.cells,
            grid=gaussian_grid(epsilon, delta, squared, contribution),
        )

    def _exact(self, increments: Integers, since: int) -> NDArray[Any]:
        exact, since = self._checked_increments(increments, since)
        return toeplitz_product(square_root_coefficients(self.ticks), exact, since)

    def _totals(self, record: IntArray) -> FloatArray:
        # values are in units of 2**-20, and so are the coefficients that the series inverts.
        return totals(_series(self.ticks), self.grid.values(record))

    def _variances(self, window: int | None) -> FloatArray:
        return _shares(self.ticks, window) * float(self.grid.variance)


@lru_cache(maxsize=8)
def square_root_coefficients(ticks: int) -> IntArray:
    """Return binom(2k, k) / 4**k for k < ticks, rounded up to integers in units of 2**-20.

    c_k = c_(k-1) · (2k - 1) / (2k), with guard bits and rounded up, so the sequence never rises. It
    is computed in integers, so it is the same on every machine.
    """
    fine = 1 << (UNIT_BITS + GUARD_BITS)
    found = np.empty(ticks, np.int64)
    found[0] = 1 << UNIT_BITS
    for k in range(1, ticks):
        fine -= fine // (2 * k)
        found[k] = -(-fine >> GUARD_BITS)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=64)
def _sensitivity(contribution: Contribution) -> int:
    return squared_sensitivity(square_root_coefficients(contribution.ticks), contribution)


@lru_cache(maxsize=8)
def _series(ticks: int) -> FloatArray:
    found = decoding_series(square_root_coefficients(ticks).astype(np.float64))
    found.flags.writeable = False
    return found


@lru_cache(maxsize=16)
def _shares(ticks: int, window: int | None) -> FloatArray:
    found = noise_shares(_series(ticks), window)
    found.flags.writeable = False
    return found
