"""Casts. A value that cannot be cast becomes NULL."""

import math
import re
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import UnsupportedError
from discreet.query.expressions.decimals import is_decimal
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.expressions.kinds import applied, time_or_refuse
from discreet.query.places import span_of
from discreet.query.tree import Expression, Literal

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
        return applied("to_decimal", (inner, *map(literal, _decimal(to))), node)
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
    return applied(name, (inner,), node)


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
    return applied("to_text", (expression,), node)


def _to_integer(inner: Expression, ends: tuple[int, int], node: exp.Expr) -> Expression:
    low, high = ends
    if isinstance(inner, Literal) and isinstance(inner.value, Fraction):
        size = math.floor(abs(inner.value) + Fraction(1, 2))
        value = size if inner.value >= 0 else -size
        return literal(value if low <= value <= high else None, Kind.INTEGER)
    if is_decimal(inner):
        inner = call("round", inner, literal(0))
    return applied("to_integer", (inner, literal(low), literal(high)), node)


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
