"""Conditions, and choices among values."""

from collections.abc import Sequence

from discreet.engines.dialect import Function, Range, Template, Written
from discreet.engines.duckdb_dialect.parts import let, plain, words
from discreet.errors import UnsupportedError


def _hull(arguments: Sequence[Written]) -> Range:
    lows = [each.low for each in arguments]
    highs = [each.high for each in arguments]
    if None in lows or None in highs:
        return None, None
    return min(x for x in lows if x is not None), max(x for x in highs if x is not None)


def _clamped(arguments: Sequence[Written]) -> Range:
    _, low, high = arguments
    is_ordered = low.low is not None and high.high is not None and low.low <= high.high
    return (low.low, high.high) if is_ordered else _hull(arguments)


def _clamp(arguments: Sequence[Written]) -> str:
    x, low, high = (each.text for each in arguments)
    body = f"CASE WHEN {{0}} < {low} THEN {low} WHEN {{0}} > {high} THEN {high} ELSE {{0}} END"
    return let(x, body)


def _list(name: str) -> Function:
    return Function(template=f"{name}({{all}})", range=_hull)


def _joined(word: str) -> Template:
    return lambda arguments: "(" + f" {word} ".join(each.text for each in arguments) + ")"


def _in(arguments: Sequence[Written]) -> str:
    x, *others = (each.text for each in arguments)
    return f"({x} IN ({', '.join(others)}))"


def _like(sign: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        x, pattern, *escapes = arguments
        if not escapes:
            return f"({x.text} {sign} {pattern.text})"
        escape = words(escapes[0])
        if len(escape) != 1 or _ends_in_escape(words(pattern), escape):
            raise UnsupportedError(
                "the pattern ends in its escape character, or that is not one character",
                "escape with one character, and let another one follow it",
            )
        return f"({x.text} {sign} {pattern.text} ESCAPE {escapes[0].text})"

    return write


def _ends_in_escape(pattern: str, escape: str) -> bool:
    return (len(pattern) - len(pattern.rstrip(escape))) % 2 == 1


CONDITIONS = {
    "equal": plain("({0} = {1})"),
    "not_equal": plain("({0} <> {1})"),
    "less": plain("({0} < {1})"),
    "less_or_equal": plain("({0} <= {1})"),
    "greater": plain("({0} > {1})"),
    "greater_or_equal": plain("({0} >= {1})"),
    "distinct": plain("({0} IS DISTINCT FROM {1})"),
    "not_distinct": plain("({0} IS NOT DISTINCT FROM {1})"),
    "in": plain(_in),
    "and": plain(_joined("AND")),
    "or": plain(_joined("OR")),
    "not": plain("(NOT {0})"),
    "is_null": plain("({0} IS NULL)"),
    "is_true": plain("coalesce({0}, FALSE)"),
    "is_false": plain("coalesce(NOT {0}, FALSE)"),
    "like": plain(_like("LIKE")),
    "ilike": plain(_like("ILIKE")),
}

CHOICES = {
    "coalesce": _list("coalesce"),
    "greatest": _list("greatest"),
    "least": _list("least"),
    "clamp": Function(template=_clamp, range=_clamped),
}
