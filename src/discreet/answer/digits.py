"""How many digits a number deserves: no more than its error supports."""

from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from math import isfinite

Number = int | float | Decimal

SIGNIFICANT = 2
"""Digits of an error that are shown."""

PLAIN = 6
"""Significant digits of a number that has no error bar; its whole part is never cut."""

LONGEST = 15
"""Numbers of more digits before the point, or more than nine behind it, are written with an e."""

GROUP = " "
"""Stands between thousands."""

_WIDE = Context(prec=800)
"""Room for any two floats in one decimal."""


def error_text(error: float, *, is_whole: bool) -> str:
    """Return ±41 or ±0.42: a half width, never rounded down."""
    if not isfinite(error):
        return "±∞" if error > 0 else ""
    if error <= 0:
        return "±0"
    place = _place(error)
    place = 0 if is_whole else place
    return "±" + _written(_rounded_up(error, place), place)


def number_text(value: Number, error: float | None = None) -> str:
    """Return a number with the digits that its error supports; whole numbers stay whole."""
    if isinstance(value, int):
        return f"{value:,}".replace(",", GROUP)
    if not isfinite(value):
        return {"inf": "∞", "-inf": "-∞"}.get(str(float(value)), "NaN")
    exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    if error is None or not isfinite(error) or error <= 0:
        return _without_error(exact)
    place = _place(error)
    return _written(_at(exact, place, ROUND_HALF_EVEN), place)


def _place(error: float) -> int:
    """Return the power of ten of the error's last shown digit."""
    place = Decimal(repr(error)).adjusted() - SIGNIFICANT + 1
    # 0.0999 becomes 0.10, not 0.100.
    return place + (_rounded_up(error, place).adjusted() - SIGNIFICANT + 1 > place)


def _rounded_up(error: float, place: int) -> Decimal:
    # What a float computation leaves in the last digits must not cost a whole step.
    settled = Context(prec=9, rounding=ROUND_HALF_EVEN).create_decimal_from_float(error)
    return _at(settled, place, ROUND_CEILING)


def _at(number: Decimal, place: int, rounding: str) -> Decimal:
    return number.quantize(Decimal(1).scaleb(place), rounding=rounding, context=_WIDE)


def _without_error(exact: Decimal) -> str:
    if exact == 0:
        return "0"
    rounded = _at(exact, min(exact.adjusted() - PLAIN + 1, 0), ROUND_HALF_EVEN).normalize(_WIDE)
    return _written(rounded, int(rounded.as_tuple().exponent))


def _written(number: Decimal, place: int) -> str:
    """Return the number with decimals up to a place, thousands apart, far ones with an e."""
    if number and (number.adjusted() >= LONGEST or place < -9):
        exponent = number.adjusted()
        digits = max(0, min(exponent - place, 5))
        mantissa = f"{number.scaleb(-exponent, context=_WIDE):.{digits}f}"
        return f"{mantissa}e{exponent}"
    fixed = f"{number:,.{max(0, -place)}f}".replace(",", GROUP)
    return fixed[1:] if fixed.startswith("-") and not fixed.strip("-0. ") else fixed
