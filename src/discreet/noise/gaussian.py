"""Discrete Gaussian noise by exact rejection from a staircase that hugs it.

The integers are cut into cells of equal width 2**bits, sixteen to thirty-two to a standard
deviation. Sixteen random bits choose a cell by integer weights, further bits a place in it, and the
candidate y is kept with probability

    height / weight(cell) · exp(-y² / (2 variance)) ≤ 1,

so that each integer comes out with probability proportional to exp(-y² / (2 variance)). The weights
are whole numbers of tickets, computed by floats and rounded up: which ones they are affects speed,
never the law. About 0.97 of the candidates are kept. Proof: docs/proofs/samplers.md.
"""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, exp, isqrt, log
from typing import overload

import numpy as np
from numpy.typing import NDArray

from discreet.noise.coins import TOLERANCE, accepted
from discreet.noise.enclosures import Enclosure, ratio, scaled_exp_neg
from discreet.noise.laplace import LARGEST, SCALE_LEAST, SCALE_MOST
from discreet.noise.source import SYSTEM, Entropy
from discreet.noise.uniform import FloatArray, IntArray, LazyUniform, checked_size, fill, words
from discreet.parameters import Real, rational

VARIANCE_LEAST = SCALE_LEAST**2
VARIANCE_MOST = SCALE_MOST**2

TICKETS = 1 << 16
"""The cells and the tail share this many equally likely tickets."""

DEVIATION_CELLS = 16
"""A standard deviation is at least this many cells, or as many as it has integers."""

REACH = 6
"""The cells cover this many standard deviations."""

OWN_BITS = 48
"""A word has this many bits left after the ticket."""

INFLATION = 2.0**-30
"""By this share float weights are raised, to stay above the true ones."""


@overload
def discrete_gaussian(variance: Real, size: None = None, *, entropy: Entropy = SYSTEM) -> int: ...
@overload
def discrete_gaussian(variance: Real, size: int, *, entropy: Entropy = SYSTEM) -> IntArray: ...
def discrete_gaussian(
    variance: Real, size: int | None = None, *, entropy: Entropy = SYSTEM
) -> int | IntArray:
    """Draw X with exactly P(X = x) ∝ exp(-x² / (2 variance)) on the integers."""
    cells = _cells(rational("variance", variance, least=VARIANCE_LEAST, most=VARIANCE_MOST))
    if size is not None:
        return fill(checked_size(size), np.int64, lambda count: _draw(cells, count, entropy))
    while (found := _draw_one(cells, entropy)) is None:
        pass
    return found


@dataclass(frozen=True)
class Cells:
    """The staircase above one discrete Gaussian.

    Cell j, for 0 ≤ j < 2 reach, holds the integers y with ⌊y / 2**bits⌋ = j - reach.
    """

    variance: Fraction
    bits: int
    reach: int
    height: int
    weights: tuple[int, ...]

    def kept(self, cell: int, y: int) -> Enclosure:
        """Enclose the probability with which candidate y of a cell is kept; the tail keeps none."""
        if cell == self.tail:
            return ratio(Fraction(0))
        return self.scaled(Fraction(self.height, self.weights[cell]), y)

    def scaled(self, factor: Fraction, y: int) -> Enclosure:
        """Enclose factor · exp(-y² / (2 variance))."""
        return scaled_exp_neg(factor, y * y / (2 * self.variance))

    @property
    def tail(self) -> int:
        return len(self.weights)

    @cached_property
    def bounds(self) -> list[int]:
        """The first ticket beyond each cell; the last ticket of all is the tail's."""
        return [int(bound) for bound in np.cumsum(self.weights)]

    @cached_property
    def cell_of_ticket(self) -> NDArray[np.int16]:
        """The cell of each ticket; the tail counts as one more cell."""
        return np.repeat(np.arange(self.tail + 1, dtype=np.int16), [*self.weights, 1])

    @cached_property
    def log_factors(self) -> FloatArray:
        """ln(height / weight) of each cell, and for the tail a number that keeps nothing."""
        # Both logarithms are of numbers in [2**-16, 1], where trust.py has tried them.
        log_height = log(self.height / TICKETS)
        logs = [log_height - log(weight / TICKETS) for weight in self.weights]
        return np.array([*logs, -1000.0])

    @cached_property
    def minus_rate(self) -> float:
        return -float(1 / (2 * self.variance))


@lru_cache(maxsize=64)
def _cells(variance: Fraction) -> Cells:
    bits = max(0, isqrt(int(variance)).bit_length() - DEVIATION_CELLS.bit_length())
    width = 1 << bits
    reach = isqrt(ceil(REACH**2 * variance)) // width + 2
    upwards = np.arange(reach, dtype=np.float64) * width
    downwards = upwards + 1
    nearest = np.concatenate([downwards[::-1], upwards])
    peaks = np.exp(nearest**2 * -float(1 / (2 * variance)))
    # Rounding up adds at most 1 to a weight. The tail gets one ticket, cell 0 what is left over.
    height = int((TICKETS - 2 - len(peaks)) / (peaks.sum() * (1 + 2 * INFLATION)))
    weights = (peaks * (height * (1 + INFLATION))).astype(np.int64) + 1
    weights[reach] += TICKETS - 1 - weights.sum()
    return Cells(variance, bits, reach, height, tuple(weights.tolist()))


def _draw(cells: Cells, count: int, entropy: Entropy) -> IntArray:
    """Return the candidates that are kept, out of `count`."""
    word = words(count, np.uint64, entropy)
    cell = cells.cell_of_ticket.take((word >> np.uint64(48)).view(np.int64))
    y = np.left_shift(cell, cells.bits, dtype=np.int64)
    if cells.bits:
        own = word if cells.bits <= OWN_BITS else words(count, np.uint64, entropy)
        y |= (own & np.uint64((1 << cells.bits) - 1)).view(np.int64)
    y -= cells.reach << cells.bits
    log_p = y.astype(np.float64)
    log_p *= log_p
    log_p *= cells.minus_rate
    log_p += cells.log_factors.take(cell)
    kept = accepted(log_p, lambda j: cells.kept(int(cell[j]), int(y[j])), entropy)
    if cell.max() == cells.tail:
        for j in np.flatnonzero(cell == cells.tail):
            found = _draw_tail(cells, entropy)
            kept[j] = found is not None
            y[j] = max(-LARGEST, min(LARGEST, found or 0))
    return np.compress(kept, y)


def _draw_one(cells: Cells, entropy: Entropy) -> int | None:
    """Return one candidate, or None if it is not kept."""
    word = int.from_bytes(entropy.draw(8), "big")
    cell = bisect_right(cells.bounds, word >> 48)
    if cell == cells.tail:
        return _draw_tail(cells, entropy)
    own = word if cells.bits <= OWN_BITS else int.from_bytes(entropy.draw(8), "big")
    y = (cell - cells.reach << cells.bits) + (own & ((1 << cells.bits) - 1))
    u = LazyUniform(entropy, int.from_bytes(entropy.draw(4), "big"), 32)
    margin = exp(y * y * cells.minus_rate + cells.log_factors[cell]) - u.drawn * 2.0**-32
    if margin > 2.0**-32 + TOLERANCE:
        return y
    if margin < -TOLERANCE:
        return None
    return y if u.is_below(cells.kept(cell, y)) else None


def _draw_tail(cells: Cells, entropy: Entropy) -> int | None:
    """Return one candidate from beyond the cells, or None if it is not kept.

    On either side blocks of 2**wide integers follow each other, each proposed half as often as the
    one before; the target falls by more than half from block to block, as
    2**wide · start ≥ variance · ln 2.
    """
    start = cells.reach << cells.bits
    wide = (ceil(cells.variance * Fraction(7, 10) / start) - 1).bit_length()
    block = 0
    while int.from_bytes(entropy.draw(1), "big") & 1:
        block += 1
    x = start + (block << wide) + (int.from_bytes(entropy.draw(8), "big") & ((1 << wide) - 1))
    y = -1 - x if int.from_bytes(entropy.draw(1), "big") & 1 else x
    # An integer in a cell is proposed 2**-bits times per ticket; here 2**-(wide + block + 2).
    factor = Fraction(cells.height << wide + block + 2, 1 << cells.bits)
    return y if LazyUniform(entropy).is_below(cells.scaled(factor, y)) else None
