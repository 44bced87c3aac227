"""Which pairs of histories a price over several rounds is about.

A history is what one person holds, round by round. Answers that are kept are drawn once for each
value, so two rounds with the same value have the same answer. Let M be the channel of one answer
and m the number of different values.

If two histories hold equal values in the same rounds, their rounds fall into the same m sets. The
answers to different sets are independent, and those within a set are one answer. So the odds are
the product of m odds of M: at most e^(m ε), and as large as that where values can be chosen so.

If not, there are two rounds that one history gives one value and the other gives two. Where the
two answers differ, the first history cannot have been: the odds are infinite, and no epsilon with a
delta below the chance that they differ is true either. Times of change do not decide this: 0, 1, 0
and 0, 1, 2 change at the same times.
"""

from collections.abc import Hashable, Sequence
from enum import Enum
from fractions import Fraction
from math import inf


class Histories(Enum):
    """The pairs of histories that a price holds for."""

    SAME_ROUNDS = "two histories that hold equal values in the same rounds"
    ANY = "any two histories"


def hold_alike(here: Sequence[Hashable], there: Sequence[Hashable]) -> bool:
    """Say whether two histories are of one length and hold equal values in the same rounds."""
    return _rounds(here) == _rounds(there)


def price_of_kept(epsilon: Fraction, values: int, histories: Histories) -> Fraction | float:
    """Return the price of kept answers, for histories of at most so many different values.

    Histories of one value each hold equal values in the same rounds: in all of them.
    """
    is_promised = histories is Histories.SAME_ROUNDS or values <= 1
    return epsilon * values if is_promised else inf


def _rounds(history: Sequence[Hashable]) -> list[int]:
    """Return for each round the first round that held the same value."""
    first: dict[Hashable, int] = {}
    return [first.setdefault(value, at) for at, value in enumerate(history)]
