"""Numbers: integers are NULL on overflow, reals follow IEEE arithmetic."""

from collections.abc import Callable, Sequence

from discreet.catalog.schema import Kind
from discreet.engines.dialect import (
    INT64,
    Ends,
    FunctionTemplate,
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
    subtracted,
)
from discreet.engines.spark.conditions import (
    LARGEST,
    LONGEST_REPEATED,
    finite,
    integer_text,
    let,
    only,
)

LARGEST_POWER = 308
"""Of ten, among floating-point numbers."""


NUMBER = "__x"
"""What a number is called that is written twice, in the text of a value that is, too."""


def _arithmetic(sign: str, checked: str, ends: Ends) -> FunctionTemplate:
    """Return +, - or *: plain if the result must fit 64 bits, else NULL on overflow."""

    def write(arguments: Sequence[Written]) -> str:
        if arguments[0].kind is Kind.REAL:
            return "(" + f" {sign} ".join(each.text for each in arguments) + ")"
        first, second = map(integer_text, arguments)
        if fits(*ends(ends_of(arguments))):
            return f"({first} {sign} {second})"
        return f"{checked}({first}, {second})"

    return FunctionTemplate(
        template=write, is_finite=False, carries=frozenset({0, 1}), range=range_by(ends)
    )


def _integer_divided(arguments: Sequence[Written]) -> str:
    """Return a quotient; the only one that overflows is of the least number by -1."""
    x, y = map(integer_text, arguments)
    negated = f"try_subtract(CAST(0 AS BIGINT), {x})"
    divisor = only(y, "{0} NOT IN (0, -1)")
    return f"CASE WHEN {y} = -1 THEN {negated} ELSE {x} div {divisor} END"


def _modulo(arguments: Sequence[Written]) -> str:
    x, y = arguments
    if x.kind is Kind.REAL:
        return f"({x.text} % {only(y.text, '{0} <> 0e0')})"
    return f"({integer_text(x)} % {only(integer_text(y), '{0} <> 0')})"


def _divided(arguments: Sequence[Written]) -> str:
    x, y = (each.text for each in arguments)
    return f"({x} / {only(y, '{0} <> 0e0')})"


def _negated(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind is Kind.REAL:
        return f"(-{x.text})"
    return f"try_subtract(CAST(0 AS BIGINT), {integer_text(x)})"


def _absolute(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind is Kind.REAL:
        return f"abs({x.text})"
    return f"abs({only(integer_text(x), f'{{0}} > {integer_literal(INT64[0])}')})"


def integer_part(text: str) -> str:
    """Return a real without its fraction, as a real of any size."""
    return let(
        text,
        "CASE WHEN abs(rint({0})) > abs({0}) THEN rint({0}) - sign({0}) ELSE rint({0}) END",
    )


FLOOR = "CASE WHEN rint({0}) > {0} THEN rint({0}) - 1e0 ELSE rint({0}) END"


CEIL = "CASE WHEN rint({0}) < {0} THEN rint({0}) + 1e0 ELSE rint({0}) END"


def _one(body: str) -> Template:
    return lambda arguments: let(arguments[0].text, body)


def _nearest(text: str) -> str:
    """Return the whole real nearest to another, halves away from 0."""
    return f"round({text})"


def _to_digits(whole: Callable[[str], str], wide: str) -> Template:
    """Return rounding or cutting off: of the number times a power of ten, divided again.

    Where that power or product is infinite a number has no such digits, or none but these.
    """

    def write(arguments: Sequence[Written]) -> str:
        x, digits = arguments[0], number(arguments[1])
        if x.kind is Kind.INTEGER:
            return integer_text(x) if digits >= 0 else _whole_digits(x, wide, -digits)
        if digits > LARGEST_POWER:
            return x.text
        if digits < -LARGEST_POWER:
            return f"({x.text} * 0e0)" if wide == "HALF" else x.text
        power = real_literal(10.0 ** abs(digits))
        up, down = ("*", "/") if digits >= 0 else ("/", "*")

        def moved(text: str) -> str:
            scaled = whole(f"({text} {up} {power})")
            is_finite = f"abs({{0}}) <= {LARGEST}"
            return let(
                f"({scaled} {down} {power})", f"CASE WHEN {is_finite} THEN {{0}} ELSE {text} END"
            )

        if len(x.text) <= LONGEST_REPEATED:
            return moved(x.text)
        return f"transform(array({x.text}), {NUMBER} -> {moved(NUMBER)})[0]"

    return write


def _whole_digits(x: Written, wide: str, digits: int) -> str:
    if digits > 19:
        return f"({integer_text(x)} * 0)"
    power = 10**digits
    text = f"CAST({integer_text(x)} AS DECIMAL(20, 0))"
    half = f"sign({integer_text(x)}) * {power // 2}" if wide == "HALF" else "0"
    cut = f"(({text} + CAST({half} AS DECIMAL(20, 0))) div {power})"
    return f"try_cast(CAST({cut} AS DECIMAL(20, 0)) * {power} AS BIGINT)"


def _decimal(arguments: Sequence[Written]) -> str:
    power = real_literal(10.0 ** max(-300, min(300, number(arguments[1]))))
    return f"(CAST({integer_text(arguments[0])} AS DOUBLE) / {power})"


def _log(arguments: Sequence[Written]) -> str:
    base, x = (each.text for each in arguments)
    return f"(log10({x}) / {only(finite(f'log10({base})'), '{0} <> 0e0')})"


ARITHMETIC = {
    "add": _arithmetic("+", "try_add", added),
    "subtract": _arithmetic("-", "try_subtract", subtracted),
    "multiply": _arithmetic("*", "try_multiply", multiplied),
    "divide": real(_divided, carries=(0,)),
    "integer_divide": plain(_integer_divided),
    "modulo": real(_modulo, carries=(0,)),
    "negate": real(_negated, carries=(0,)),
    "abs": real(_absolute, carries=(0,)),
    "sign": FunctionTemplate(template="CAST(sign({0}) AS BIGINT)", range=lambda _: (-1, 1)),
    "round": real(_to_digits(_nearest, "HALF")),
    "trunc": real(_to_digits(integer_part, "CUT")),
    "ceil": real(_one(CEIL), carries=(0,)),
    "floor": real(_one(FLOOR), carries=(0,)),
    "decimal": real(_decimal),
}


REALS = {
    "sqrt": real("sqrt({0})", carries=(0,)),
    "exp": real("exp({0})"),
    "power": real("power({0}, {1})"),
    "ln": real("ln({0})", carries=(0,)),
    "log2": real("log2({0})", carries=(0,)),
    "log10": real("log10({0})", carries=(0,)),
    "log": real(_log),
}
