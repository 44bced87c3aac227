"""Bounds found privately: a noisy histogram of magnitudes, and what can be read off it.

The bins are fixed and public, and every value falls into one of them. Their noisy counts are an
ordinary histogram, released and charged as any other; the bounds are read off the noisy counts, so
they cost nothing more (docs/proofs/found_bounds.md). The method is that of
Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo, Gipson 2020, "Differentially Private SQL with
Bounded User Contribution", the section on automatic bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

from discreet.catalog.schema import Bounds, Kind, number_from_date, number_from_timestamp
from discreet.errors import ParameterError
from discreet.parameters import Real

FALSE_BOUNDS = Fraction(1, 1000)
"""How likely it may be, over all bins together, that noise alone moves the bounds."""

FIRST_YEAR, LAST_YEAR = 1900, 2100


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Values between two ends. A value is in the first bin that reaches to it, or in the last.

    A bin reaches to all that is below `high`, and to `high` itself if it is closed.
    """

    low: Fraction
    high: Fraction
    is_closed: bool = True

    def reaches(self, x: Fraction) -> bool:
        return x < self.high or (self.is_closed and x == self.high)


def _magnitudes(least: int, most: int) -> tuple[Bin, ...]:
    """Return bins by sign and ⌈log₂|x|⌉: … [-4, -2), …, {0}, …, (2, 4] …, clipped at both ends."""
    edges = [Fraction(0), *(Fraction(2) ** k for k in range(least, most + 1))]
    above = [Bin(low=low, high=high) for low, high in pairwise(edges)]
    below = [Bin(low=-each.high, high=-each.low, is_closed=False) for each in reversed(above)]
    return (*below, Bin(low=Fraction(0), high=Fraction(0)), *above)


def _years(is_date: bool) -> tuple[Bin, ...]:
    def first(year: int) -> Fraction:
        start = date(year, 1, 1)
        return number_from_date(start) if is_date else number_from_timestamp(_midnight(start))

    return tuple(
        Bin(low=first(year), high=first(year + 1) - 1) for year in range(FIRST_YEAR, LAST_YEAR + 1)
    )


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)


BINS: dict[Kind, tuple[Bin, ...]] = {
    Kind.INTEGER: _magnitudes(0, 63),
    Kind.REAL: _magnitudes(-32, 64),
    Kind.DATE: _years(is_date=True),
    Kind.TIMESTAMP: _years(is_date=False),
    Kind.TIMESTAMP_TZ: _years(is_date=False),
}
"""For each kind that bounds can be found for, its bins in order: powers of two, or years."""


def bin_of(x: Fraction, kind: Kind) -> int:
    """Return which of the kind's bins a number is in; what an engine must compute for each row."""
    bins = BINS[kind]
    return next((i for i, each in enumerate(bins) if each.reaches(x)), len(bins) - 1)


class Noise(Protocol):
    """A mechanism that knows how far its noise reaches, as those for counts do."""

    def margin(self, confidence: Real, answers: int = 1) -> Real: ...


def threshold_for(noise: Noise, kind: Kind) -> Real:
    """Return the count that no empty bin of the kind passes, but with probability 1/1000."""
    return noise.margin(1 - FALSE_BOUNDS, len(BINS[kind]))


def bounds_from_noisy(counts: Sequence[Real], kind: Kind, threshold: Real) -> Bounds | None:
    """Return the ends of the bins whose noisy count is above the threshold; None if there are none.

    With the threshold of `threshold_for`, and with probability 999/1000 or more, all of these hold:
    both ends are those of bins that do hold values, and every bin outside the bounds holds no more
    than twice the threshold. Privacy does not rest on the threshold.
    """
    bins = BINS[kind]
    if len(counts) != len(bins):
        raise ParameterError("counts", len(counts), f"must be {len(bins)}, one for each bin")
    kept = [each for each, count in zip(bins, counts, strict=True) if count > threshold]
    if not kept:
        return None
    low, high = min(each.low for each in kept), max(each.high for each in kept)
    # Where there is nothing but zeros, bounds must still have a width.
    return Bounds(low=low, high=high if low < high else min(e.high for e in bins if e.high > high))
