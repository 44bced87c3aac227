"""Exact decimal arithmetic, as in SQL.

Integers combined with stated decimals, such as minutes * 1.1, are decimals in SQL: computed in
floating point, three times 1.1 would miss 3.3 by a rounding, and a comparison with it would change.
So they are computed as integers, and divided by a power of ten at the end. Where integers of 64
bits may not do, the floating-point result stands in. Columns of decimals are reals, and so is what
CASE, COALESCE and the like choose.
"""

import math
from fractions import Fraction
from typing import NamedTuple

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.query.expressions import intervals
from discreet.query.expressions.facts import is_null, literal, whole
from discreet.query.expressions.functions import call
from discreet.query.expressions.kinds import applied, converted
from discreet.query.tree import Call, Expression, Literal

MOST_DIGITS = 15
"""More digits than these after the point are left to floating point."""


class Scaled(NamedTuple):
    """An integer, divided by a power of ten."""

    number: Expression
    digits: int
    real: Expression
    """The same in floating point, which never overflows."""


def scaled(expression: Expression) -> Scaled | None:
    """Return what makes an exact decimal or an integer; None for all else."""
    match expression:
        case Literal(value=Fraction() as value):
            return _stated(expression, value)
        case Call(function="decimal", arguments=(number, digits)):
            return Scaled(number, whole(digits), expression)
        case Call(
            function="coalesce",
            arguments=(Call(function="decimal", arguments=(number, digits)), real),
        ):
            return Scaled(number, whole(digits), real)
        case _ if expression.facts.kind is Kind.INTEGER and not is_null(expression):
            return Scaled(expression, 0, converted(expression, Kind.REAL))
        case _:
            return None


def _stated(expression: Literal, value: Fraction) -> Scaled | None:
    for digits in range(MOST_DIGITS + 1):
        number = value * 10**digits
        if number.denominator == 1 and intervals.has(intervals.INTEGERS, number):
            return Scaled(literal(int(number)), digits, expression)
    return None


def is_decimal(expression: Expression) -> bool:
    """Return whether SQL has it as a decimal, whose halves are rounded away from 0."""
    if isinstance(expression, Call) and expression.function == "to_decimal":
        return True
    found = scaled(expression)
    return found is not None and expression.facts.kind is Kind.REAL


def negated(expression: Expression, node: exp.Expr) -> Expression:
    """Return -x."""
    value = expression.value if isinstance(expression, Literal) else None
    if isinstance(value, int | Fraction | float) and not isinstance(value, bool):
        # 9223372036854775808 is no integer of 64 bits, but its negative is.
        return literal(-int(value) if value == 2**63 else -value)
    if is_decimal(expression):
        return combined("multiply", expression, literal(-1), node)
    return applied("negate", (expression,), node)


def combined(name: str, a: Expression, b: Expression, node: exp.Expr) -> Expression:
    """Return a sum, difference, product or remainder; exact decimals stay exact."""
    exact: Expression | None
    if isinstance(a, Literal) and isinstance(b, Literal):
        exact = _folded(name, a, b)
    else:
        exact = _combined_exactly(name, scaled(a), scaled(b))
    return applied(name, (a, b), node) if exact is None else exact


def _combined_exactly(name: str, a: Scaled | None, b: Scaled | None) -> Expression | None:
    if a is None or b is None or a.digits == b.digits == 0:
        return None
    digits = a.digits + b.digits if name == "multiply" else max(a.digits, b.digits)
    x, y = a.number, b.number
    if name != "multiply":
        x, y = _times(x, 10 ** (digits - a.digits)), _times(y, 10 ** (digits - b.digits))
    if digits > MOST_DIGITS or not all(_fits(each) for each in (x, y) if isinstance(each, Literal)):
        return None
    number = call(name, x, y)
    exact = call("decimal", number, literal(digits))
    if all(_fits(each) for each in (x, y, number)):
        return exact
    return call("coalesce", exact, call(name, a.real, b.real))


def _fits(expression: Expression) -> bool:
    return intervals.is_within(expression.facts.interval, intervals.INTEGERS)


def _times(expression: Expression, factor: int) -> Expression:
    if factor == 1:
        return expression
    if isinstance(expression, Literal):
        return literal(whole(expression) * factor)
    return call("multiply", expression, literal(factor))


def _folded(name: str, a: Literal, b: Literal) -> Literal | None:
    """Return the exact result on stated integers and decimals, if it can be stated."""
    x, y = _exact(a), _exact(b)
    if x is None or y is None or (name == "modulo" and y == 0):
        return None
    result = {
        "add": lambda: x + y,
        "subtract": lambda: x - y,
        "multiply": lambda: x * y,
        "modulo": lambda: x - y * math.trunc(Fraction(x) / y),
    }[name]()
    if isinstance(x, Fraction) or isinstance(y, Fraction):
        exact = Fraction(result)
        return literal(exact) if abs(exact) < intervals.LARGEST else None
    return literal(result) if intervals.has(intervals.INTEGERS, result) else None


def _exact(stated: Literal) -> int | Fraction | None:
    value = stated.value
    is_exact = isinstance(value, int | Fraction) and not isinstance(value, bool)
    return value if is_exact else None  # type: ignore[return-value]
