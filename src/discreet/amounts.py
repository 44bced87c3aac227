"""Amounts of epsilon and delta, and numbers with their margins, as people read them."""

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from math import isfinite

# --------------------------------------------------------------------------- budgets
from discreet.accounting import Budget, Charge, Remaining
from discreet.notebook import pretty_text

DIGITS = 6
"""An amount that is no short decimal is shown with so many digits."""

EXACT_DIGITS = 12
"""Decimals of up to so many digits are shown in full."""

ROUNDED = "≈ "
"""Stands before an amount that is not exact."""

JsonValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a question costs."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    @property
    def is_free(self) -> bool:
        return self.epsilon == self.delta == 0

    def __str__(self) -> str:
        epsilon = equation("ε", amount_up(self.epsilon))
        return f"{epsilon}, {equation('δ', amount_up(self.delta))}" if self.delta else epsilon

    _repr_pretty_ = pretty_text

    def to_json(self) -> dict[str, JsonValue]:
        """Return each amount as a number and as an exact fraction."""
        return exact_and_float(epsilon=self.epsilon, delta=self.delta)


FREE = Price(epsilon=Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """What is left of a budget after a question, and the budget's total.

    A concentrated budget is held by sums of epsilon or by sums of rho, whichever will do. Once
    something without an epsilon of its own is charged, only rho is left, and it alone is shown.
    """

    epsilon: Fraction
    total_epsilon: Fraction
    delta: Fraction = Fraction(0)
    total_delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    total_rho: Fraction = Fraction(0)
    """0 where epsilons are added up and there is no other bound."""

    def __str__(self) -> str:
        held = [("ε", self.epsilon, self.total_epsilon), ("ρ", self.rho, self.total_rho)]
        usable = [each for each in held if each[1] > 0] or held[:1]
        bounds = " or ".join(_left(*each) for each in usable)
        if not self.total_delta:
            return bounds
        return f"{bounds}, {_left('δ', self.delta, self.total_delta)}"

    _repr_pretty_ = pretty_text

    def to_json(self) -> dict[str, JsonValue]:
        """Return each amount as a number and as an exact fraction."""
        told = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "total_epsilon": self.total_epsilon,
            "total_delta": self.total_delta,
        }
        if self.total_rho:
            told |= {"rho": self.rho, "total_rho": self.total_rho}
        return exact_and_float(**told)


def balance_from(left: Remaining, limit: Budget) -> Balance:
    """Return what is left of a limit, as people read it."""
    return Balance(
        epsilon=left.epsilon,
        delta=left.delta,
        rho=left.rho,
        total_epsilon=limit.epsilon,
        total_delta=limit.delta,
        total_rho=replace(limit, charged=Charge()).remaining().rho,
    )


def _left(letter: str, left: Fraction, total: Fraction) -> str:
    return equation(letter, f"{amount_down(left)} of {amount_down(total).removeprefix(ROUNDED)}")


def amount_up(amount: Fraction) -> str:
    """Return an amount as a decimal that is not less: what is paid is never shown smaller."""
    return _amount(amount, ROUND_CEILING)


def amount_down(amount: Fraction) -> str:
    """Return an amount as a decimal that is not more: what is left is never shown larger."""
    return _amount(amount, ROUND_FLOOR)


def exact_and_float(**amounts: Fraction) -> dict[str, JsonValue]:
    """Return each amount twice: `name` as a number, `name_exact` as text like 1/3."""
    told: dict[str, JsonValue] = {}
    for name, amount in amounts.items():
        told |= {name: float(amount), f"{name}_exact": str(amount)}
    return told


def percent(share: Fraction) -> str:
    """Return 95% for 0.95."""
    return f"{amount_down(100 * share)}%"


def equation(letter: str, text: str) -> str:
    """Return ε = 0.5, or ε ≈ 0.333334 for an amount that was rounded."""
    return f"{letter} {text}" if text.startswith(ROUNDED) else f"{letter} = {text}"


def _amount(amount: Fraction, rounding: str) -> str:
    """Return the decimal if it is short, else the rounded one with a sign that it is."""
    exact = _divided(amount, EXACT_DIGITS, rounding)
    if Fraction(exact) == amount:
        return _plain(exact)
    return ROUNDED + _plain(_divided(amount, DIGITS, rounding))


def _divided(amount: Fraction, digits: int, rounding: str) -> Decimal:
    context = Context(prec=digits, rounding=rounding)
    return context.divide(Decimal(amount.numerator), Decimal(amount.denominator))


def _plain(decimal: Decimal) -> str:
    """Return 0.5, 3, 1e-6: no trailing zeros, no leading zeros of an exponent."""
    if decimal == 0:
        return "0"
    exponent = decimal.adjusted()
    if -4 <= exponent < EXACT_DIGITS:
        return f"{decimal.normalize():f}"
    mantissa = decimal.scaleb(-exponent).normalize()
    return f"{mantissa:f}e{exponent}"


# --------------------------------------------------------------------------- numbers


Number = int | float | Decimal

SIGNIFICANT = 2
"""Digits of an error that are shown."""

PLAIN = 6
"""Significant digits of a number that has no error bar; its whole part is never cut."""

LONGEST = 15
"""Numbers of more digits before the point, or more than nine behind it, are written with an e."""

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
        return f"{value:,}"
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
    fixed = f"{number:,.{max(0, -place)}f}"
    return fixed[1:] if fixed.startswith("-") and not fixed.strip("-0.,") else fixed
