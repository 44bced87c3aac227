"""Numbers and casts: integers through 128 bits, reals in IEEE arithmetic."""

from collections.abc import Callable, Sequence
from operator import add, mul, sub

from discreet.catalog.schema import Kind
from discreet.engines.dialect import (
    INT64,
    NULL_INTEGER,
    Ends,
    FunctionTemplate,
    Range,
    Template,
    Written,
    added,
    ends_of,
    fits,
    integer_literal,
    multiplied,
    number,
    plain,
    range_by,
    real,
    real_literal,
    span_by,
    subtracted,
    whole_ends,
)
from discreet.engines.duckdb.conditions import canonical_real, finite, integer_text, only
from discreet.errors import UnsupportedError


def _arithmetic(
    sign: str, ends: Ends, operation: Callable[[float, float], float]
) -> FunctionTemplate:
    """Return +, - or *: plain if the result must fit 64 bits, else by way of 128 bits."""

    def write(arguments: Sequence[Written]) -> str:
        if arguments[0].kind is Kind.REAL:
            return "(" + f" {sign} ".join(each.text for each in arguments) + ")"
        first, *rest = map(integer_text, arguments)
        other = f" {sign} ".join(rest)
        if fits(*ends(ends_of(arguments))):
            return f"(CAST({first} AS BIGINT) {sign} {other})"
        return f"TRY_CAST(CAST({first} AS HUGEINT) {sign} {other} AS BIGINT)"

    return FunctionTemplate(
        template=write,
        is_finite=False,
        carries=frozenset({0, 1}),
        range=range_by(ends),
        span=span_by(operation),
    )


def _through_wide(template: str, real: str) -> Template:
    """Return a function of one number, of reals as given, of integers in 128 bits."""

    def write(arguments: Sequence[Written]) -> str:
        if arguments[0].kind is Kind.REAL:
            return real.format(arguments[0].text)
        wide = f"CAST({integer_text(arguments[0])} AS HUGEINT)"
        return f"TRY_CAST({template.format(wide)} AS BIGINT)"

    return write


def _divided(sign: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        x, y = arguments
        if x.kind is Kind.REAL:
            return f"({x.text} {sign} {y.text})"
        if y.is_literal and y.value == 0:
            return NULL_INTEGER
        if isinstance(y.value, int) and y.value != -1:  # the only other one that overflows
            return f"({integer_text(x)} {sign} {integer_text(y)})"
        divisor = integer_text(y) if y.is_literal else only(integer_text(y), "{0} <> 0")
        return f"TRY_CAST(CAST({integer_text(x)} AS HUGEINT) {sign} ({divisor}) AS BIGINT)"

    return write


def _rounded(name: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        x, digits = arguments[0], number(arguments[1])
        if x.kind is Kind.REAL:
            return f"{name}({x.text}, {integer_literal(max(-400, min(400, digits)))})"
        if digits >= 0:
            return integer_text(x)
        wide = f"{name}(CAST({integer_text(x)} AS HUGEINT), {integer_literal(max(-30, digits))})"
        return f"TRY_CAST({wide} AS BIGINT)"

    return write


def _decimal(arguments: Sequence[Written]) -> str:
    power = real_literal(10.0 ** max(-300, min(300, number(arguments[1]))))
    return f"(CAST({integer_text(arguments[0])} AS DOUBLE) / {power})"


def _log(arguments: Sequence[Written]) -> str:
    base, x = (each.text for each in arguments)
    return f"(log10({x}) / {finite(f'log10({base})')})"


def _to_integer(arguments: Sequence[Written]) -> str:
    x, *ends = arguments
    low, high = map(number, ends)
    text = integer_text(x) if x.kind is Kind.INTEGER else f"TRY_CAST({x.text} AS BIGINT)"
    if low <= INT64[0] and high >= INT64[1]:
        return text
    if x.kind is Kind.REAL and x.span is not None:
        least, most = whole_ends(x.span)
        if low <= least and most <= high:
            return text
    return only(text, f"{{0}} BETWEEN {integer_literal(low)} AND {integer_literal(high)}")


def _integer_range(arguments: Sequence[Written]) -> Range:
    return max(INT64[0], number(arguments[1])), min(INT64[1], number(arguments[2]))


def _to_decimal(arguments: Sequence[Written]) -> str:
    x, *numbers = arguments
    width, scale = map(number, numbers)
    if not (1 <= width <= 38 and 0 <= scale <= width):
        raise UnsupportedError(
            f"There is no type DECIMAL({width}, {scale})",
            "Use 1 to 38 digits, and at most as many of them after the decimal point",
        )
    # Of TRUE, DuckDB makes the least value of a type that has no digits before the point.
    text = f"CAST({x.text} AS INTEGER)" if x.kind is Kind.BOOLEAN else x.text
    return f"CAST(TRY_CAST({text} AS DECIMAL({width}, {scale})) AS DOUBLE)"


def _to_boolean(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind.is_number:
        return f"({x.text} <> 0)"
    return f"TRY_CAST({x.text} AS BOOLEAN)"


def _to_text(arguments: Sequence[Written]) -> str:
    """Return a text; 0.0 and -0.0 are equal, so that both are written alike."""
    x = arguments[0]
    return f"CAST({canonical_real(x.text) if x.kind is Kind.REAL else x.text} AS VARCHAR)"


ARITHMETIC = {
    "add": _arithmetic("+", added, add),
    "subtract": _arithmetic("-", subtracted, sub),
    "multiply": _arithmetic("*", multiplied, mul),
    "divide": real("({0} / {1})", carries=(0,)),
    "integer_divide": plain(_divided("//")),
    "modulo": real(_divided("%"), carries=(0,)),
    "negate": real(_through_wide("(-{0})", "(-{0})"), carries=(0,)),
    "abs": real(_through_wide("abs({0})", "abs({0})"), carries=(0,)),
    "sign": FunctionTemplate(template="CAST(sign({0}) AS BIGINT)", range=lambda _: (-1, 1)),
    "round": real(_rounded("round"), carries=(0,)),
    "trunc": real(_rounded("trunc"), carries=(0,)),
    "ceil": real("ceil({0})", carries=(0,)),
    "floor": real("floor({0})", carries=(0,)),
    "decimal": real(_decimal),
}


REALS = {
    "sqrt": real("sqrt({0})", carries=(0,)),
    "exp": real("exp({0})"),
    "power": real("pow({0}, {1})"),
    "ln": real("ln({0})", carries=(0,)),
    "log2": real("log2({0})", carries=(0,)),
    "log10": real("log10({0})", carries=(0,)),
    "log": real(_log),
}


CASTS = {
    "to_integer": FunctionTemplate(template=_to_integer, range=_integer_range),
    "to_real": real("TRY_CAST({0} AS DOUBLE)"),
    "to_single": real("CAST(TRY_CAST(TRY_CAST({0} AS DOUBLE) AS FLOAT) AS DOUBLE)"),
    "to_decimal": plain(_to_decimal),
    "to_boolean": plain(_to_boolean),
    "to_text": plain(_to_text),
}
