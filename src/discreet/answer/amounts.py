"""Prices as people read them: exact where that is short, else rounded against the reader."""

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from discreet.accounting import Budget, Charge, Remaining

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
