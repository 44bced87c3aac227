"""Casts. Texts are parsed by one grammar that is the same for all databases."""

from collections.abc import Sequence

from discreet.catalog.schema import Kind
from discreet.engines.dialect import INT64, FunctionTemplate, Range, Written, number, plain
from discreet.engines.postgresql.conditions import canonical_real, let, narrow, real_text
from discreet.engines.postgresql.numbers import MULTIPLY, ROUND, ZERO
from discreet.errors import UnsupportedError

_SPACE = r"[ \t\n\v\f\r]*"


_DIGITS = r"[0-9]+(_[0-9]+)*"


NUMBER = rf"^{_SPACE}[+-]?({_DIGITS}\.?({_DIGITS})?|\.{_DIGITS})([eE][+-]?{_DIGITS})?{_SPACE}$"
"""Decimal numbers; an underscore may part digits."""


HEXADECIMAL = rf"^{_SPACE}0([xX][0-9a-fA-F]+|[bB][01]+){_SPACE}$"


LONGEST_NUMBER = 1000
"""Longer texts are no numbers, so that none is computed with more digits."""


_PLAIN = "concat(replace({0}, '_', ''))"
"""A text that is cast once `pg_input_is_valid` says that it can be.

That function is stable, and casts are immutable: of a constant, the server would compute the cast
when it plans, before and without the condition. `concat` of one text is that text, and stable too,
so that both are computed in their order, or neither.
"""


_IS_NUMBER = f"length({{0}}) <= {LONGEST_NUMBER} AND {{0}} ~ '{NUMBER}'"


_IS_NUMERIC = f"pg_input_is_valid({_PLAIN}, 'numeric')"


def _read_numeric(body: str, otherwise: str = "NULL") -> str:
    """Return what a body makes of a text that is a number; exponents may be out of all range."""
    value = f"CAST({_PLAIN} AS NUMERIC)"
    return (
        f"CASE WHEN {_IS_NUMBER} THEN CASE WHEN {_IS_NUMERIC} THEN {body.replace('#', value)} "
        f"ELSE {otherwise} END END"
    )


_IS_TINY = "{0} ~ '[eE]-'"


TEXT_TO_INTEGER = (
    f"CASE WHEN {{0}} ~ '{HEXADECIMAL}' THEN CASE WHEN pg_input_is_valid({{0}}, 'bigint') "
    f"THEN CAST(concat({{0}}) AS BIGINT) END ELSE "
    + _read_numeric(narrow("round(#)"), f"CASE WHEN {_IS_TINY} THEN 0 END")
    + " END"
)


TEXT_TO_REAL = (
    f"CASE WHEN {_IS_NUMBER} THEN CASE WHEN pg_input_is_valid({_PLAIN}, 'double precision') "
    f"THEN CAST({_PLAIN} AS DOUBLE PRECISION) WHEN {_IS_NUMERIC} THEN "
    f"CASE WHEN abs(CAST({_PLAIN} AS NUMERIC)) < 1 THEN {ZERO} END "
    f"WHEN {_IS_TINY} THEN {ZERO} END END"
)
"""What rounds to 0 is 0; what is too large is NULL."""


def _to_integer(arguments: Sequence[Written]) -> str:
    x, *ends = arguments
    low, high = max(INT64[0], number(ends[0])), min(INT64[1], number(ends[1]))
    match x.kind:
        case Kind.INTEGER:
            text = x.text
        case Kind.REAL if x.reach is not None and x.reach < 2.0**62:
            text = f"CAST({x.text} AS BIGINT)"
            if low <= -x.reach - 1 and x.reach + 1 <= high:
                return text
        case Kind.REAL:
            least, most = real_text(-(2.0**63)), real_text(2.0**63)
            inside = f"CASE WHEN {{0}} >= {least} AND {{0}} < {most} THEN CAST({{0}} AS BIGINT) END"
            text = let(inside, x.text)
        case Kind.BOOLEAN:
            text = f"CAST(CAST({x.text} AS INTEGER) AS BIGINT)"
        case _:
            text = let(TEXT_TO_INTEGER, x.text)
    if (low, high) == INT64:
        return text
    return let(f"CASE WHEN {{0}} BETWEEN '{low}' AND '{high}' THEN {{0}} END", text)


def _integer_range(arguments: Sequence[Written]) -> Range:
    return max(INT64[0], number(arguments[1])), min(INT64[1], number(arguments[2]))


def _real(x: Written) -> str:
    match x.kind:
        case Kind.REAL:
            return x.text
        case Kind.INTEGER:
            return f"CAST({x.text} AS DOUBLE PRECISION)"
        case Kind.BOOLEAN:
            return f"CAST(CAST({x.text} AS INTEGER) AS DOUBLE PRECISION)"
        case _:
            return let(TEXT_TO_REAL, x.text)


def _to_real(arguments: Sequence[Written]) -> str:
    return _real(arguments[0])


def _reach(arguments: Sequence[Written]) -> float | None:
    x = arguments[0]
    return {Kind.INTEGER: 2.0**63, Kind.BOOLEAN: 1.0}.get(x.kind, x.reach)


MOST_SINGLE, LEAST_SINGLE = real_text(3.4028235677973366e38), real_text(2.0**-150)
"""From here on a double becomes infinite, and up to here 0, if rounded to 32 bits."""


def _to_single(arguments: Sequence[Written]) -> str:
    if arguments[0].kind in (Kind.INTEGER, Kind.BOOLEAN):
        return f"CAST(CAST({_real(arguments[0])} AS REAL) AS DOUBLE PRECISION)"
    body = (
        f"CASE WHEN abs({{0}}) <= {LEAST_SINGLE} THEN {{0}} * {ZERO} "
        f"WHEN abs({{0}}) < {MOST_SINGLE} THEN CAST(CAST({{0}} AS REAL) AS DOUBLE PRECISION) END"
    )
    return let(body, _real(arguments[0]))


def _to_decimal(arguments: Sequence[Written]) -> str:
    x, *numbers = arguments
    width, scale = map(number, numbers)
    if not (1 <= width <= 38 and 0 <= scale <= width):
        raise UnsupportedError(
            f"There is no type DECIMAL({width}, {scale})",
            "Use 1 to 38 digits, and at most as many of them after the decimal point",
        )
    if x.kind is Kind.REAL:
        power, most = real_text(10.0**scale), real_text(10.0**width)
        moved = let(ROUND, let(MULTIPLY, x.text, power))
        return let(f"CASE WHEN abs({{0}}) < {most} THEN {{0}} / {power} END", moved)
    most = f"CAST('1e{width - scale}' AS NUMERIC)"
    held = f"CASE WHEN abs(#) < {most} THEN CAST(# AS DOUBLE PRECISION) END"
    if x.kind is Kind.TEXT:
        return let(
            _read_numeric(
                held.replace("#", f"round(#, {scale})"), f"CASE WHEN {_IS_TINY} THEN {ZERO} END"
            ),
            x.text,
        )
    whole = x.text if x.kind is Kind.INTEGER else f"CAST({x.text} AS INTEGER)"
    return let(held.replace("#", "{0}"), f"CAST({whole} AS NUMERIC)")


def _to_boolean(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind is Kind.BOOLEAN:
        return x.text
    if x.kind.is_number:
        return f"({x.text} <> 0)"
    true, false = ("('" + "', '".join(each) + "')" for each in (TRUE, FALSE))
    body = f"CASE WHEN lower({{0}}) IN {true} THEN TRUE WHEN lower({{0}}) IN {false} THEN FALSE END"
    return let(body, x.text)


TRUE, FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")


_WHOLE = "CASE WHEN {0} ~ '[.e]' THEN {0} ELSE {0} || '.0' END"


_WIDE = "CAST(CAST(CAST({0} AS TEXT) AS NUMERIC) AS TEXT)"


def _to_text(arguments: Sequence[Written]) -> str:
    """Return a text; a real has the fewest digits that tell it apart, and an exponent from 16 on.

    PostgreSQL begins with exponents at 15 digits, and leaves out the point of an integer. 0.0
    and -0.0 are equal, so that both are written alike.
    """
    x = arguments[0]
    if x.kind is not Kind.REAL:
        return f'CAST({x.text} AS TEXT) COLLATE "C"'
    is_wide = f"abs({{0}}) >= {real_text(1e15)} AND abs({{0}}) < {real_text(1e16)}"
    digits = let(
        f"CASE WHEN {is_wide} THEN {_WIDE} ELSE CAST({{0}} AS TEXT) END", canonical_real(x.text)
    )
    return let(_WHOLE, digits) + ' COLLATE "C"'


CASTS = {
    "to_integer": FunctionTemplate(template=_to_integer, range=_integer_range),
    "to_real": FunctionTemplate(template=_to_real, reach=_reach),
    "to_single": plain(_to_single),
    "to_decimal": plain(_to_decimal),
    "to_boolean": plain(_to_boolean),
    "to_text": plain(_to_text),
}
