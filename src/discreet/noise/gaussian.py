"""Discrete Gaussian noise by exact rejection from a staircase that hugs it.

The integers are cut into cells of equal width 2**bits, sixteen to thirty-two to a standard
deviation. Sixteen random bits choose a cell by integer weights, further bits a place in it, and the
candidate y is accepted with probability

    height / weight(cell) · exp(-y² / (2 variance)) ≤ 1,

so each integer comes out with probability proportional to exp(-y² / (2 variance)). The weights
are whole numbers of tickets, computed by floats and rounded up: their values affect speed,
never the distribution. About 0.98 of the candidates are accepted.

In bulk, some of a cell's tickets are sure: as many as its least likely integer allows keep any
candidate, and the coin is left to the others, at most one in eighteen. How many draws were unsure
shows in the running time, so that small batches, in which one draw would stand out, flip a coin for
every candidate. Proof: docs/proofs/samplers.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, exp, isqrt, log
from typing import overload

import numpy as np
from numpy.typing import NDArray

from discreet.noise.coins import TOLERANCE, flips_near
from discreet.noise.enclosures import Enclosure, excess_exp_neg, ratio, scaled_exp_neg
from discreet.noise.laplace import LARGEST, SCALE_LEAST, SCALE_MOST, SMALL
from discreet.noise.source import SYSTEM, Entropy
from discreet.noise.uniform import (
    CHUNK,
    BoolArray,
    FloatArray,
    IntArray,
    LazyUniform,
    checked_size,
    fill,
    words,
)
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
"""By this share float weights are raised, to stay above the true ones, or lowered."""

BULK = 1 << 15
"""From this size on sure tickets are used: one unsure draw is lost in a batch's running time."""

UNSURE_TOLERANCE = 2.0**-24
"""Most by which float arithmetic may misplace the probability that an unsure candidate is kept."""


@overload
def discrete_gaussian(variance: Real, size: None = None, *, entropy: Entropy = SYSTEM) -> int: ...
@overload
def discrete_gaussian(variance: Real, size: int, *, entropy: Entropy = SYSTEM) -> IntArray: ...
def discrete_gaussian(
    variance: Real, size: int | None = None, *, entropy: Entropy = SYSTEM
) -> int | IntArray:
    """Draw X with exactly P(X = x) ∝ exp(-x² / (2 variance)) on the integers."""
    cells = _cells(rational("variance", variance, least=VARIANCE_LEAST, most=VARIANCE_MOST))
    if size is None:
        return _one(cells, entropy)
    size = checked_size(size)
    if size < SMALL:
        few = [max(-LARGEST, min(LARGEST, _one(cells, entropy))) for _ in range(size)]
        return np.array(few, np.int64)
    if size < BULK:
        return fill(size, np.int64, lambda count: _draw(cells, count, entropy))
    return _draw_bulk(cells, size, entropy)


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
    sure: tuple[int, ...]
    """How many of a cell's tickets keep any candidate."""

    def kept(self, cell: int, y: int) -> Enclosure:
        """Enclose the probability of accepting candidate y of a cell; the tail accepts none."""
        if cell == self.tail:
            return ratio(Fraction(0))
        return self.scaled(Fraction(self.height, self.weights[cell]), y)

    def kept_unsure(self, cell: int, y: int) -> Enclosure:
        """Enclose that probability for a ticket that is not sure."""
        if cell == self.tail:
            return ratio(Fraction(0))
        span = self.weights[cell] - self.sure[cell]
        x = y * y / (2 * self.variance)
        return excess_exp_neg(self.height, self.sure[cell], span, x)

    def scaled(self, factor: Fraction, y: int) -> Enclosure:
        """Enclose factor · exp(-y² / (2 variance))."""
        return scaled_exp_neg(factor, y * y / (2 * self.variance))

    @property
    def tail(self) -> int:
        return len(self.weights)

    @cached_property
    def cell_of_ticket(self) -> NDArray[np.int16]:
        """The cell of each ticket: sure tickets first, then unsure ones, last the tail's own."""
        cells = np.arange(self.tail + 1, dtype=np.int16)
        return np.concatenate(
            [np.repeat(cells[:-1], self.sure), np.repeat(cells, [*self.unsure, 1])]
        )

    @cached_property
    def unsure(self) -> list[int]:
        return [weight - sure for weight, sure in zip(self.weights, self.sure, strict=True)]

    @cached_property
    def bases(self) -> FloatArray:
        """The sure tickets of each cell, and for the tail a number that keeps nothing."""
        return np.array([*self.sure, 2.0 * TICKETS])

    @cached_property
    def spans(self) -> FloatArray:
        return np.array([*self.unsure, 1.0])

    @cached_property
    def sure_tickets(self) -> int:
        return sum(self.sure)

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
    least = np.exp((nearest + (width - 1)) ** 2 * -float(1 / (2 * variance)))
    sure = (least * (height * (1 - INFLATION))).astype(np.int64)
    return Cells(variance, bits, reach, height, tuple(weights.tolist()), tuple(sure.tolist()))


def _candidates(cells: Cells, count: int, entropy: Entropy) -> tuple[IntArray, IntArray]:
    """Return tickets and candidates; those of the tail's ticket are still to be drawn."""
    word = words(count, np.uint64, entropy)
    ticket = (word >> np.uint64(48)).view(np.int64)
    y = np.left_shift(cells.cell_of_ticket.take(ticket), cells.bits, dtype=np.int64)
    if cells.bits:
        own = word if cells.bits <= OWN_BITS else words(count, np.uint64, entropy)
        y |= (own & np.uint64((1 << cells.bits) - 1)).view(np.int64)
    y -= cells.reach << cells.bits
    return ticket, y


def _draw(cells: Cells, count: int, entropy: Entropy) -> IntArray:
    """Return the accepted candidates out of `count`: a coin for each."""
    ticket, y = _candidates(cells, count, entropy)
    cell = cells.cell_of_ticket.take(ticket)
    log_p = y.astype(np.float64)
    log_p *= log_p
    log_p *= cells.minus_rate
    log_p += cells.log_factors.take(cell)
    p = np.exp(log_p, out=log_p)
    kept = flips_near(p, TOLERANCE, lambda j: cells.kept(int(cell[j]), int(y[j])), entropy)
    _settle_tail(cells, ticket, y, kept, entropy)
    return np.compress(kept, y)


def _draw_bulk(cells: Cells, size: int, entropy: Entropy) -> IntArray:
    """Return `size` draws: sure candidates as they come, coins for the others all together."""
    out = np.empty(size, np.int64)
    places: list[IntArray] = []
    tickets: list[IntArray] = []
    for start in range(0, size, CHUNK):
        ticket, out[start : start + CHUNK] = _candidates(cells, min(CHUNK, size - start), entropy)
        place = np.flatnonzero(ticket >= cells.sure_tickets)
        places.append(place + start)
        tickets.append(ticket[place])
    place, ticket = np.concatenate(places), np.concatenate(tickets)
    y = out[place]
    kept = _kept_unsure(cells, ticket, y, entropy)
    _settle_tail(cells, ticket, y, kept, entropy)
    out[place] = y
    lost = place[~kept]
    if len(lost):
        out[lost] = fill(len(lost), np.int64, lambda count: _draw(cells, count, entropy))
    return out


def _kept_unsure(cells: Cells, ticket: IntArray, y: IntArray, entropy: Entropy) -> BoolArray:
    """Flip the coins of candidates whose tickets are not sure."""
    cell = cells.cell_of_ticket.take(ticket)
    p = np.exp(y.astype(np.float64) ** 2 * cells.minus_rate)
    p *= cells.height
    p -= cells.bases[cell]
    p /= cells.spans[cell]
    return flips_near(
        p, UNSURE_TOLERANCE, lambda j: cells.kept_unsure(int(cell[j]), int(y[j])), entropy
    )


def _settle_tail(
    cells: Cells, ticket: IntArray, y: IntArray, kept: BoolArray, entropy: Entropy
) -> None:
    """Draw the candidates of the tail's ticket into y, and into kept whether they are accepted."""
    if len(ticket) and ticket.max() == TICKETS - 1:
        for j in np.flatnonzero(ticket == TICKETS - 1):
            found = _draw_tail(cells, entropy)
            kept[j] = found is not None
            y[j] = max(-LARGEST, min(LARGEST, found or 0))


def _one(cells: Cells, entropy: Entropy) -> int:
    while (found := _draw_one(cells, entropy)) is None:
        pass
    return found


def _draw_one(cells: Cells, entropy: Entropy) -> int | None:
    """Return one candidate, or None if it is rejected."""
    word = int.from_bytes(entropy.draw(8), "big")
    cell = int(cells.cell_of_ticket[word >> 48])
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
    """Return one candidate from beyond the cells, or None if it is rejected.

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
