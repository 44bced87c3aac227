"""Odds that are fractions and never exceed e^epsilon, and chances in 64 bits made from them."""

from fractions import Fraction

from discreet.noise.enclosures import ceil_div, exp_neg

WORD = 1 << 64
"""Chances are multiples of one in so many, so that a 64-bit word decides them exactly."""

PRECISION = 256


def odds_down(epsilon: Fraction) -> Fraction:
    """Return a fraction just below e^epsilon: relatively, by less than 2**-200."""
    return Fraction(1 << PRECISION, exp_neg(epsilon, PRECISION)[1])


def chance_up(chance: Fraction) -> Fraction:
    """Return the least multiple of 2**-64 that is not below a chance."""
    return Fraction(ceil_div(chance.numerator * WORD, chance.denominator), WORD)


def chance_down(chance: Fraction) -> Fraction:
    """Return the largest multiple of 2**-64 that is not above a chance."""
    return Fraction(chance.numerator * WORD // chance.denominator, WORD)


def threshold(chance: Fraction) -> int:
    """Return how many of the 2**64 words a chance that is a multiple of 2**-64 stands for."""
    return int(chance * WORD)
