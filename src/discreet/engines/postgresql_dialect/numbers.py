"""Integers: in 64 bits if the result must fit, otherwise through NUMERIC."""

from collections.abc import Callable, Sequence

from discreet.catalog.schema import Kind
from discreet.engines import templates
from discreet.engines.dialect import INT64, Function, Template, Written
from discreet.engines.postgresql_dialect.parts import (
    let,
    narrow,
    of_texts,
    real_text,
    whole_number,
)
from discreet.engines.postgresql_dialect.reals import (
    DIVIDE,
    MODULO,
    added,
    multiplied,
    product_reach,
    rounded,
    subtracted,
    sum_reach,
    truncated,
)
from discreet.engines.templates import NULL_INTEGER, Ends, ends_of, fits, number, plain, range_by

LEAST = whole_number(INT64[0])


def _arithmetic(sign: str, of_reals: Callable[[Sequence[Written]], str], ends: Ends) -> Function:
    """Return +, - or * of integers, and of reals as a function writes them."""

    def write(arguments: Sequence[Written]) -> str:
        texts = [each.text for each in arguments]
        if arguments[0].kind is Kind.REAL:
            return of_reals(arguments)
        if fits(*ends(ends_of(arguments))):
            return f"({texts[0]} {sign} {texts[1]})"
        return narrow(f"(CAST({texts[0]} AS NUMERIC) {sign} {texts[1]})")

    reach = product_reach if sign == "*" else sum_reach
    return Function(template=write, range=range_by(ends), reach=reach)


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
    "add": _arithmetic("+", added, templates.added),
    "subtract": _arithmetic("-", subtracted, templates.subtracted),
    "multiply": _arithmetic("*", multiplied, templates.multiplied),
    "divide": plain(of_texts(DIVIDE)),
    "integer_divide": plain(_divided(f"-NULLIF({{0}}, {LEAST}) ELSE {{0}} / {{1}}", NULL_INTEGER)),
    "modulo": plain(_divided("{0} * 0 ELSE {0} % {1}", MODULO)),
    "negate": plain(_of_one("-{0}", "(-{0})")),
    "abs": plain(_of_one("abs({0})", "abs({0})")),
    "sign": Function(template="CAST(sign({0}) AS BIGINT)", range=lambda _: (-1, 1)),
    "round": plain(_rounded("round", rounded)),
    "trunc": plain(_rounded("trunc", truncated)),
    "ceil": plain("ceil({0})"),
    "floor": plain("floor({0})"),
    "decimal": plain(_decimal),
}
