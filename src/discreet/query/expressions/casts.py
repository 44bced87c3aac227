"""Casts, and exact decimal arithmetic as in SQL.

Integers combined with stated decimals, such as minutes * 1.1, are decimals in SQL: computed in
floating point, three times 1.1 would miss 3.3 by a rounding, and a comparison with it would change.
So they are computed as integers, and divided by a power of ten at the end. Where integers of 64
bits may not do, the floating-point result stands in. Columns of decimals are reals, and so is what
CASE, COALESCE and the like choose.
"""

import math
import re
from fractions import Fraction
from typing import NamedTuple

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import UnsupportedError
from discreet.query.expressions import intervals
from discreet.query.expressions.coercion import coerce, converted, time_or_refuse
from discreet.query.expressions.facts import is_null, literal
from discreet.query.expressions.functions import call
from discreet.query.expressions.number_functions import integer
from discreet.query.parse import span_of
from discreet.query.tree import Call, Expression, Literal

MOST_EXACT_DIGITS = 15
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
            return Scaled(number, integer(digits), expression)
        case Call(
            function="coalesce",
            arguments=(Call(function="decimal", arguments=(number, digits)), real),
        ):
            return Scaled(number, integer(digits), real)
        case _ if expression.facts.kind is Kind.INTEGER and not is_null(expression):
            return Scaled(expression, 0, converted(expression, Kind.REAL))
        case _:
            return None


def _stated(expression: Literal, value: Fraction) -> Scaled | None:
    for digits in range(MOST_EXACT_DIGITS + 1):
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
    return coerce("negate", (expression,), node)


def combined(name: str, a: Expression, b: Expression, node: exp.Expr) -> Expression:
    """Return a sum, difference, product or remainder; exact decimals stay exact."""
    exact: Expression | None
    if isinstance(a, Literal) and isinstance(b, Literal):
        exact = _folded(name, a, b)
    else:
        exact = _combined_exactly(name, scaled(a), scaled(b))
    return coerce(name, (a, b), node) if exact is None else exact


def _combined_exactly(name: str, a: Scaled | None, b: Scaled | None) -> Expression | None:
    if a is None or b is None or a.digits == b.digits == 0:
        return None
    digits = a.digits + b.digits if name == "multiply" else max(a.digits, b.digits)
    x, y = a.number, b.number
    if name != "multiply":
        x, y = _times(x, 10 ** (digits - a.digits)), _times(y, 10 ** (digits - b.digits))
    if digits > MOST_EXACT_DIGITS or not all(
        _fits(each) for each in (x, y) if isinstance(each, Literal)
    ):
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
        return literal(integer(expression) * factor)
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


INTEGERS: dict[exp.DType, tuple[int, int]] = {
    exp.DType.TINYINT: (-(2**7), 2**7 - 1),
    exp.DType.SMALLINT: (-(2**15), 2**15 - 1),
    exp.DType.INT: (-(2**31), 2**31 - 1),
    exp.DType.BIGINT: (-(2**63), 2**63 - 1),
    exp.DType.UTINYINT: (0, 2**8 - 1),
    exp.DType.USMALLINT: (0, 2**16 - 1),
    exp.DType.UINT: (0, 2**32 - 1),
}
"""The types of integers and their ends."""


MOST_DIGITS = 38


CASTS: dict[exp.DType, str] = {
    exp.DType.DOUBLE: "to_real",
    exp.DType.FLOAT: "to_single",
    exp.DType.TEXT: "to_text",
    exp.DType.VARCHAR: "to_text",
    exp.DType.CHAR: "to_text",
    exp.DType.BOOLEAN: "to_boolean",
    exp.DType.DATE: "to_date",
    exp.DType.TIMESTAMP: "to_timestamp",
    exp.DType.TIMESTAMPNTZ: "to_timestamp",
}
"""The types that a cast to them is a function of its own."""


def cast(inner: Expression, to: exp.Expr, node: exp.Expr) -> Expression:
    """Return a value in another type, NULL where it has none there."""
    kind = to.this
    if kind in INTEGERS:
        return _to_integer(inner, INTEGERS[kind], node)
    if kind is exp.DType.DECIMAL:
        return coerce("to_decimal", (inner, *map(literal, _decimal(to))), node)
    if kind not in CASTS:
        raise UnsupportedError(
            f"A cast to {to.sql('duckdb')} is not supported on private rows",
            "Cast to INTEGER, BIGINT, DOUBLE, DECIMAL, VARCHAR, BOOLEAN, DATE or TIMESTAMP",
            span=span_of(node),
        )
    return _cast_by(CASTS[kind], inner, node)


def _cast_by(name: str, inner: Expression, node: exp.Expr) -> Expression:
    value = inner.value if isinstance(inner, Literal) else None
    times = {"to_date": Kind.DATE, "to_timestamp": Kind.TIMESTAMP}
    if isinstance(value, str) and name in times and not isinstance(node, exp.TryCast):
        return literal(time_or_refuse(value, times[name], node))
    if name == "to_real" and isinstance(value, int | Fraction) and not isinstance(value, bool):
        return literal(float(value))
    if name == "to_text":
        return text_of(inner, node)
    return coerce(name, (inner,), node)


def text_of(expression: Expression, node: exp.Expr) -> Expression:
    """Return a value as text."""
    if expression.facts.kind is Kind.TEXT:
        return expression
    if is_decimal(expression):
        raise UnsupportedError(
            "A DECIMAL cannot be converted to text, because its number of digits varies",
            "Cast it to DOUBLE first, or write it in quotes",
            span=span_of(node),
        )
    return coerce("to_text", (expression,), node)


def _to_integer(inner: Expression, ends: tuple[int, int], node: exp.Expr) -> Expression:
    low, high = ends
    if isinstance(inner, Literal) and isinstance(inner.value, Fraction):
        size = math.floor(abs(inner.value) + Fraction(1, 2))
        value = size if inner.value >= 0 else -size
        return literal(value if low <= value <= high else None, Kind.INTEGER)
    if is_decimal(inner):
        inner = call("round", inner, literal(0))
    return coerce("to_integer", (inner, literal(low), literal(high)), node)


def _decimal(to: exp.Expr) -> tuple[int, int]:
    """Return how many digits a decimal type has, in all and behind the point."""
    written = [each.name for each in to.expressions]
    if not written:
        return 18, 3
    is_plain = all(re.fullmatch("[0-9]{1,2}", each) for each in written)
    width, scale, *_ = (*map(int, written if is_plain else ()), 0, 0)
    if not 1 <= width <= MOST_DIGITS or scale > width:
        raise UnsupportedError(
            f"There is no type DECIMAL({', '.join(written)})",
            f"Use 1 to {MOST_DIGITS} digits, and at most as many of them after the decimal point",
            span=span_of(to),
        )
    return width, scale
