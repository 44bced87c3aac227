"""Integers and reals in the SQL of PostgreSQL.

PostgreSQL raises an error where IEEE arithmetic gives an infinity or rounds to 0. So each operation
on reals is tried on numbers scaled by powers of two, which is exact, and done only where
it gives a finite number. What rounds to 0 is 0, an overflow is NULL.
"""

# ruff: noqa: S608 - this file writes SQL; texts are inserted as whole expressions

from collections.abc import Callable, Sequence

from discreet.catalog.schema import Kind
from discreet.engines import dialect
from discreet.engines.dialect import (
    INT64,
    NULL_INTEGER,
    Ends,
    FunctionTemplate,
    Template,
    Written,
    ends_of,
    fits,
    number,
    plain,
    range_by,
)
from discreet.engines.postgresql.conditions import integer_number, let, narrow, of_texts, real_text


def _two(exponent: int) -> str:
    return real_text(2.0**exponent)


HUGE = _two(1023)


ONE, HALF, ZERO = real_text(1.0), real_text(0.5), real_text(0.0)


MIDDLE = f"abs({{0}}) BETWEEN {_two(-500)} AND {_two(500)}"


def _sum(sign: str) -> str:
    """Return x + y or x - y.

    Below 2^1023 nothing overflows. Otherwise halves are added, which is exact where they matter: a
    number less than 1 does not move one so large.
    """
    halves = (
        "{0} * "
        + HALF
        + f" {sign} CASE WHEN abs({{1}}) < {ONE} THEN {ZERO} ELSE {{1}} * {HALF} END"
    )
    swapped = (
        f"CASE WHEN abs({{0}}) < {ONE} THEN {ZERO} ELSE {{0}} * {HALF} END {sign} {{1}} * {HALF}"
    )
    done = f"{{0}} {sign} {{1}}"
    return (
        f"CASE WHEN abs({{0}}) < {HUGE} AND abs({{1}}) < {HUGE} THEN {done} "
        f"WHEN abs({{0}}) >= {HUGE} THEN CASE WHEN abs({halves}) < {HUGE} THEN {done} END "
        f"WHEN abs({{1}}) >= {HUGE} THEN CASE WHEN abs({swapped}) < {HUGE} THEN {done} END END"
    )


SIGNED_ZERO = f"{ZERO} * sign({{0}}) * sign({{1}})"


MULTIPLY = (
    f"CASE WHEN {MIDDLE} AND {MIDDLE.replace('{0}', '{1}')} THEN {{0}} * {{1}} "
    f"WHEN {{0}} = {ZERO} OR {{1}} = {ZERO} THEN {{0}} * {{1}} "
    # Both are 1 or more: the product may be too large.
    f"WHEN abs({{0}}) >= {ONE} AND abs({{1}}) >= {ONE} THEN CASE WHEN "
    f"(abs({{0}}) * {_two(-512)}) * (abs({{1}}) * {_two(-512)}) < {ONE} THEN {{0}} * {{1}} END "
    # Both are 1 or less, and one is below 2^-500: the product may round to 0.
    f"WHEN abs({{0}}) <= {ONE} AND abs({{1}}) <= {ONE} THEN CASE WHEN "
    f"(abs({{0}}) * {_two(537)}) * (abs({{1}}) * {_two(537)}) > {HALF} THEN {{0}} * {{1}} "
    f"ELSE {SIGNED_ZERO} END "
    f"ELSE {{0}} * {{1}} END"
)


MOST_KNOWN = 2.0**1000
"""Up to here a reach is surely one, whatever was rounded on the way."""


def _known(reach: float) -> float | None:
    return reach if reach < MOST_KNOWN else None


def sum_reach(arguments: Sequence[Written]) -> float | None:
    """Return how far from 0 a sum or difference can be."""
    x, y = (each.reach for each in arguments)
    return None if x is None or y is None else _known(1.0001 * (x + y))


def product_reach(arguments: Sequence[Written]) -> float | None:
    """Return how far from 0 a product can be."""
    x, y = (each.reach for each in arguments)
    return None if x is None or y is None else _known(1.0001 * x * y)


def _sum_or_difference(sign: str) -> Callable[[Sequence[Written]], str]:
    def write(arguments: Sequence[Written]) -> str:
        x, y = (each.text for each in arguments)
        if sum_reach(arguments) is not None:
            return f"({x} {sign} {y})"
        return let(_sum(sign), x, y)

    return write


added, subtracted = _sum_or_difference("+"), _sum_or_difference("-")


def multiplied(arguments: Sequence[Written]) -> str:
    """Return a product: plain if it can neither be too large nor round to 0."""
    x, y = (each.text for each in arguments)
    factors = [each.reach for each in arguments if each.is_literal and each.reach is not None]
    is_small = product_reach(arguments) is not None
    if is_small and any(each == 0 or each >= 1 for each in factors):
        return f"({x} * {y})"
    return let(MULTIPLY, x, y)


DIVIDE = (
    f"CASE WHEN {{1}} = {ZERO} THEN NULL "
    f"WHEN {{0}} = {ZERO} OR {MIDDLE} AND {MIDDLE.replace('{0}', '{1}')} THEN {{0}} / {{1}} "
    # By 1 or more: a number below 1 may round to 0.
    f"WHEN abs({{1}}) >= {ONE} THEN CASE WHEN abs({{0}}) >= {ONE} THEN {{0}} / {{1}} WHEN "
    f"(abs({{0}}) * {_two(537)}) / (abs({{1}}) * {_two(-537)}) > {HALF} THEN {{0}} / {{1}} "
    f"ELSE {SIGNED_ZERO} END "
    # By less than 1: the quotient may be too large.
    f"WHEN abs({{0}}) < {_two(-52)} OR abs({{0}}) < {_two(511)} AND abs({{1}}) > {_two(-511)} "
    f"THEN {{0}} / {{1}} "
    f"WHEN (abs({{0}}) * {_two(-512)}) / (abs({{1}}) * {_two(600)}) < {_two(1024 - 1112)} "
    f"THEN {{0}} / {{1}} END"
)


BITS = "CAST(CAST('x' || encode(float8send(abs({0})), 'hex') AS BIT(64)) AS BIGINT)"
"""A double as 11 bits of exponent and 52 of fraction."""


_EXPONENT = "greatest({0} >> 52, 1)"


_LEADING = f"CASE WHEN {{0}} >> 52 > 0 THEN {2**52} ELSE 0 END"


_MANTISSA = f"CAST(({{0}} & {2**52 - 1}) + {_LEADING} AS NUMERIC)"


_X, _Y = BITS, BITS.replace("{0}", "{1}")


_EX, _EY = _EXPONENT.replace("{0}", "b.x"), _EXPONENT.replace("{0}", "b.y")


_MX, _MY = _MANTISSA.replace("{0}", "b.x"), _MANTISSA.replace("{0}", "b.y")


MODULO = (
    f"CASE WHEN {{1}} = {ZERO} THEN NULL WHEN abs({{0}}) < abs({{1}}) THEN {{0}} ELSE (SELECT "
    f"sign({{0}}) * CAST(mod({_MX} * trunc(CAST(2 AS NUMERIC) ^ ({_EX} - {_EY})), {_MY}) "
    f"AS DOUBLE PRECISION) * power({real_text(2.0)}, CAST({_EY} - 1075 AS DOUBLE PRECISION)) "
    f"FROM (SELECT {_X} AS x, {_Y} AS y OFFSET 0) AS b) END"
)
"""In integers: both are a mantissa times a power of two, and the divisor's is the smaller."""


ROUND = (
    f"CASE WHEN abs({{0}} - trunc({{0}})) >= {HALF} THEN trunc({{0}}) + sign({{0}}) "
    "ELSE trunc({0}) END"
)
"""Halves away from 0; PostgreSQL's own goes to the even neighbour."""


def _to_digits(text: str, digits: int, nearest: str, *, beyond: str) -> str:
    """Return a real rounded to so many decimal digits, as it is where that is out of range."""
    try:
        power = 10.0 ** abs(digits)
    except OverflowError:
        return beyond.format(text)
    if digits == 0:
        return let(nearest, text)
    there, back = (MULTIPLY, DIVIDE) if digits > 0 else (DIVIDE, MULTIPLY)
    moved = let(there, "{0}", real_text(power))
    kept = let(back, let(nearest, moved), real_text(power))
    return let(f"coalesce({kept}, {{0}})", text)


def rounded(text: str, digits: int) -> str:
    """Return a real rounded, halves away from 0."""
    zero = f"({{0}} * {ZERO})" if digits < 0 else "{0}"
    return _to_digits(text, digits, ROUND, beyond=zero)


def truncated(text: str, digits: int) -> str:
    """Return a real cut off."""
    return _to_digits(text, digits, "trunc({0})", beyond="{0}")


MOST_EXP, LEAST_EXP = real_text(709.782712893384), real_text(-745.1332191019411)
"""The largest and the least number whose exponential is a double other than 0."""


EXP = (
    f"CASE WHEN {{0}} > {MOST_EXP} THEN NULL WHEN {{0}} < {LEAST_EXP} THEN {ZERO} "
    "ELSE exp({0}) END"
)


def _positive(body: str) -> str:
    return f"CASE WHEN {{0}} > {ZERO} THEN {body} END"


_SIZE = "{1} * ln(abs({0}))"


_NEGATIVE = f"{{0}} < {ZERO} AND {{1}} * {HALF} <> trunc({{1}} * {HALF})"


POWER = (
    f"CASE WHEN {{0}} IS NULL OR {{1}} IS NULL THEN NULL "
    f"WHEN {{1}} = {ZERO} OR {{0}} = {ONE} THEN {ONE} WHEN {{1}} = {ONE} THEN {{0}} "
    f"WHEN {{0}} = {ZERO} THEN CASE WHEN {{1}} > {ZERO} THEN power({{0}}, {{1}}) END "
    f"WHEN {{0}} < {ZERO} AND {{1}} <> trunc({{1}}) THEN NULL "
    f"WHEN {{0}} = -{ONE} THEN power({{0}}, {{1}}) "
    f"WHEN abs({{1}}) < {real_text(1e-290)} THEN {ONE} "
    f"WHEN abs({{1}}) > {real_text(1e20)} THEN "
    f"CASE WHEN (abs({{0}}) > {ONE}) <> ({{1}} > {ZERO}) THEN {ZERO} END "
    f"WHEN {_SIZE} > {real_text(709.782712893)} THEN NULL "
    f"WHEN {_SIZE} < {real_text(-745.1332191)} "
    f"THEN CASE WHEN {_NEGATIVE} THEN -{ZERO} ELSE {ZERO} END "
    f"ELSE power({{0}}, {{1}}) END"
)
"""PostgreSQL raises on overflow; so results within 4e-10 of the largest double are NULL too."""


_LOG2 = f"ln({{0}}) / ln({real_text(2.0)})"


LOG2 = (
    f"CASE WHEN {{0}} > {ZERO} THEN CASE WHEN power({real_text(2.0)}, least(round({_LOG2}), "
    f"{real_text(1023.0)})) = {{0}} THEN round({_LOG2}) ELSE {_LOG2} END END"
)
"""Exact for powers of two."""


LOG = (
    f"CASE WHEN {{0}} > {ZERO} AND {{0}} <> {ONE} AND {{1}} > {ZERO} "
    "THEN log({1}) / log({0}) END"
)


REALS: dict[str, FunctionTemplate] = {
    "sqrt": plain(of_texts(f"CASE WHEN {{0}} >= {ZERO} THEN sqrt({{0}}) END")),
    "exp": plain(of_texts(EXP)),
    "power": plain(of_texts(POWER)),
    "ln": plain(of_texts(_positive("ln({0})"))),
    "log2": plain(of_texts(LOG2)),
    "log10": plain(of_texts(_positive("log({0})"))),
    "log": plain(of_texts(LOG)),
}


LEAST = integer_number(INT64[0])


def _arithmetic(
    sign: str, of_reals: Callable[[Sequence[Written]], str], ends: Ends
) -> FunctionTemplate:
    """Return +, - or * of integers, and of reals as a function writes them."""

    def write(arguments: Sequence[Written]) -> str:
        texts = [each.text for each in arguments]
        if arguments[0].kind is Kind.REAL:
            return of_reals(arguments)
        if fits(*ends(ends_of(arguments))):
            return f"({texts[0]} {sign} {texts[1]})"
        return narrow(f"(CAST({texts[0]} AS NUMERIC) {sign} {texts[1]})")

    reach = product_reach if sign == "*" else sum_reach
    return FunctionTemplate(template=write, range=range_by(ends), reach=reach)


def _divided(body: str, of_reals: str) -> Template:
    """Return a quotient or remainder; the least number by -1 is the one that does not fit."""

    def write(arguments: Sequence[Written]) -> str:
        x, y = arguments
        if x.kind is Kind.REAL:
            return let(of_reals, x.text, y.text)
        return let(f"CASE WHEN {{1}} = 0 THEN NULL WHEN {{1}} = -1 THEN {body} END", x.text, y.text)

    return write


def _of_one(whole: str, real: str) -> Template:
    """Return a function of one number; the least whole one has no opposite."""

    def write(arguments: Sequence[Written]) -> str:
        if arguments[0].kind is Kind.REAL:
            return real.format(arguments[0].text)
        return f"({whole.format(f'NULLIF({arguments[0].text}, {LEAST})')})"

    return write


def _rounded(name: str, of_reals: Callable[[str, int], str]) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        x, digits = arguments[0], number(arguments[1])
        if x.kind is Kind.REAL:
            return of_reals(x.text, max(-400, min(400, digits)))
        if digits >= 0:
            return x.text
        return narrow(f"{name}(CAST({x.text} AS NUMERIC), {max(-30, digits)})")

    return write


def _decimal(arguments: Sequence[Written]) -> str:
    power = real_text(10.0 ** max(-300, min(300, number(arguments[1]))))
    return f"(CAST({arguments[0].text} AS DOUBLE PRECISION) / {power})"


ARITHMETIC = {
    "add": _arithmetic("+", added, dialect.added),
    "subtract": _arithmetic("-", subtracted, dialect.subtracted),
    "multiply": _arithmetic("*", multiplied, dialect.multiplied),
    "divide": plain(of_texts(DIVIDE)),
    "integer_divide": plain(_divided(f"-NULLIF({{0}}, {LEAST}) ELSE {{0}} / {{1}}", NULL_INTEGER)),
    "modulo": plain(_divided("{0} * 0 ELSE {0} % {1}", MODULO)),
    "negate": plain(_of_one("-{0}", "(-{0})")),
    "abs": plain(_of_one("abs({0})", "abs({0})")),
    "sign": FunctionTemplate(template="CAST(sign({0}) AS BIGINT)", range=lambda _: (-1, 1)),
    "round": plain(_rounded("round", rounded)),
    "trunc": plain(_rounded("trunc", truncated)),
    "ceil": plain("ceil({0})"),
    "floor": plain("floor({0})"),
    "decimal": plain(_decimal),
}
