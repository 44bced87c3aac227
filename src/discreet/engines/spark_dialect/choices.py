"""Conditions, and choices among values."""

from collections.abc import Iterator, Sequence

from discreet.catalog.schema import Kind
from discreet.engines.dialect import Function, Range, Template, Written
from discreet.engines.spark_dialect.parts import let, plain, text_literal, words
from discreet.engines.spark_dialect.texts import LOWER
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
    def write(arguments: Sequence[Written]) -> str:
        if len(arguments) == 1:
            return arguments[0].text
        return f"{name}({', '.join(each.text for each in arguments)})"

    return Function(template=write, range=_hull)


def _joined(word: str) -> Template:
    return lambda arguments: "(" + f" {word} ".join(each.text for each in arguments) + ")"


def _in(arguments: Sequence[Written]) -> str:
    """Return membership; long lists are looked up by bits, for which -0.0 must not differ."""
    x, *others = arguments
    more = " + 0e0" if x.kind is Kind.REAL else ""
    return f"({x.text}{more} IN ({', '.join(each.text + more for each in others)}))"


def _like(template: str) -> Template:
    """Return a match with the pattern in Spark's own form, where a backslash escapes."""

    def write(arguments: Sequence[Written]) -> str:
        x, pattern, *escapes = arguments
        escape = words(escapes[0]) if escapes else ""
        if escapes and (len(escape) != 1 or _ends_in_escape(words(pattern), escape)):
            raise UnsupportedError(
                "the pattern ends in its escape character, or that is not one character",
                "escape with one character, and let another one follow it",
            )
        rewritten = "".join(_rewritten(words(pattern), escape))
        return template.format(x.text, text_literal(rewritten))

    return write


def _rewritten(pattern: str, escape: str) -> Iterator[str]:
    letters = iter(pattern)
    for letter in letters:
        is_escaped = letter == escape
        plain_letter = next(letters) if is_escaped else letter
        if plain_letter == "\\" or (is_escaped and plain_letter in "%_"):
            yield "\\"
        yield plain_letter


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
    "like": plain(_like("({0} LIKE {1})")),
    "ilike": plain(_like(f"({LOWER} LIKE {LOWER.replace('{0}', '{1}')})")),
}

CHOICES = {
    "coalesce": _list("coalesce"),
    "greatest": _list("greatest"),
    "least": _list("least"),
    "clamp": Function(template=_clamp, range=_clamped),
}
