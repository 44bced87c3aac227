"""From odds to epsilon, proved: prices of mechanisms whose chances are given as fractions."""

from fractions import Fraction
from functools import partial
from math import log

from discreet.noise.enclosures import exp_neg, is_at_most

STEP = Fraction(1, 1 << 40)
"""Prices are rounded up to multiples of it."""


def epsilon_up(odds: Fraction) -> Fraction:
    """Return a multiple of 2**-40, at least ln(odds) and hardly more, for odds of 1 or more."""
    guess = log(odds.numerator) - log(odds.denominator)
    found = max(0, round(guess / STEP) - 1) * STEP
    while not is_at_most(partial(exp_neg, found), 1 / odds):
        found += STEP
    return found
