"""What is asked of every local mechanism alike: its channel certified in exact arithmetic."""

from collections.abc import Sequence
from fractions import Fraction

from discreet.noise.enclosures import exp_neg

BITS = 400

Channel = Sequence[Sequence[Fraction]]
"""One row for each value, one column for each report."""


def is_law(row: Sequence[Fraction]) -> bool:
    """Tell whether these are probabilities that sum to 1, exactly."""
    return sum(row) == 1 and min(row) >= 0


def worst_odds(channel: Channel) -> Fraction:
    """Return the largest odds of any report between any two values."""
    columns = [column for column in zip(*channel, strict=True) if max(column) > 0]
    return max((max(column) / min(column) for column in columns), default=Fraction(1))


def keeps(odds: Fraction, epsilon: Fraction) -> bool:
    """Tell whether odds are at most e^epsilon, in exact arithmetic."""
    low = Fraction(1 << BITS, exp_neg(epsilon, BITS)[1])
    return odds <= low


def is_certified(channel: Channel, epsilon: Fraction) -> bool:
    """Tell whether a channel is epsilon-private, and not private at a billionth less."""
    worst = worst_odds(channel)
    is_tight = not keeps(worst, epsilon * (1 - Fraction(1, 10**9)))
    return all(map(is_law, channel)) and keeps(worst, epsilon) and is_tight
