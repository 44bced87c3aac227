"""Fractions with few digits, rounded in the safe direction: costs and limits that are readable."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

DIGITS = 6
"""Significant digits of an epsilon that was solved for."""


def few_digits_up(value: Fraction) -> Fraction:
    """Return value rounded up to DIGITS significant digits."""
    return _few_digits(value, ROUND_CEILING)


def few_digits_down(value: Fraction) -> Fraction:
    """Return value rounded down to DIGITS significant digits."""
    return _few_digits(value, ROUND_FLOOR)


def _few_digits(value: Fraction, rounding: str) -> Fraction:
    context = Context(prec=DIGITS, rounding=rounding)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
