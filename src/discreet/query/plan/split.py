"""Shares of a budget: what each part of a question gets, adding up to exactly the whole."""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd

FINENESS = 4
"""Shares are whole multiples of one part in so many of the smallest share."""

UNEVEN_MOST = 1000.0
"""No part's weight counts as more than so many times that of another."""


def split(whole: Fraction, weights: Sequence[float]) -> tuple[Fraction, ...]:
    """Return shares of epsilon that add up to it, about those of the least weighted variance.

    Noise that takes epsilon_i has variance W_i / epsilon_i², and Σ W_i / epsilon_i² is least for
    epsilon_i in proportion to the cube root of W_i (docs/proofs/measures.md, section 6). The
    proportions are rounded to simple ones.
    """
    least = min(weights)
    parts = [round(FINENESS * min(each / least, UNEVEN_MOST) ** (1 / 3)) for each in weights]
    return shares(whole, parts)


def shares(whole: Fraction, parts: Sequence[int]) -> tuple[Fraction, ...]:
    """Return `whole` cut in these proportions, exactly."""
    common = gcd(*parts)
    total = sum(parts)
    return tuple(whole * Fraction(each // common, total // common) for each in parts)
