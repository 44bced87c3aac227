"""Checks for every local mechanism: its channel, certified in exact arithmetic."""

from collections.abc import Sequence
from fractions import Fraction

from discreet.noise.enclosures import exp_neg

BITS = 400

Channel = Sequence[Sequence[Fraction]]
"""One row for each value, one column for each report."""


def is_distribution(row: Sequence[Fraction]) -> bool:
    """Return whether these are probabilities that sum to exactly 1."""
    return sum(row) == 1 and min(row) >= 0


def worst_ratio(channel: Channel) -> Fraction:
    """Return the largest likelihood ratio of any report between any two values."""
    columns = [column for column in zip(*channel, strict=True) if max(column) > 0]
    return max((max(column) / min(column) for column in columns), default=Fraction(1))


def keeps(ratio: Fraction, epsilon: Fraction) -> bool:
    """Return whether a likelihood ratio is at most e^epsilon, in exact arithmetic."""
    low = Fraction(1 << BITS, exp_neg(epsilon, BITS)[1])
    return ratio <= low


def is_certified(channel: Channel, epsilon: Fraction) -> bool:
    """Return whether a channel is epsilon-private, and not private at a billionth less."""
    worst = worst_ratio(channel)
    is_tight = not keeps(worst, epsilon * (1 - Fraction(1, 10**9)))
    return all(map(is_distribution, channel)) and keeps(worst, epsilon) and is_tight
