"""Conditions, and choices among values."""

from collections.abc import Sequence

from discreet.engines.dialect import INT64, Function, Range, Template, Written
from discreet.engines.postgresql_dialect.parts import farthest, hull, let, plain, words
from discreet.engines.postgresql_dialect.texts import lowered
from discreet.errors import UnsupportedError


def _clamped(arguments: Sequence[Written]) -> Range:
    _, low, high = arguments
    is_ordered = low.low is not None and high.high is not None and low.low <= high.high
    return (low.low, high.high) if is_ordered else hull(arguments)


def _clamp(arguments: Sequence[Written]) -> str:
    body = "CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END"
    return let(body, *(each.text for each in arguments))


def _list(name: str) -> Function:
    return Function(template=f"{name}({{all}})", range=hull, reach=farthest)


def _joined(word: str) -> Template:
    return lambda arguments: "(" + f" {word} ".join(each.text for each in arguments) + ")"


def _compared(argument: Written) -> str:
    """Return what is compared; a whole number that needs more than 64 bits is still itself."""
    value = argument.value
    is_wide = isinstance(value, int) and not INT64[0] <= value <= INT64[1]
    return f"CAST('{value}' AS NUMERIC)" if is_wide else argument.text


def _comparison(sign: str) -> Function:
    return plain(lambda arguments: f"({f' {sign} '.join(map(_compared, arguments))})")


def _in(arguments: Sequence[Written]) -> str:
    x, *others = map(_compared, arguments)
    return f"({x} IN ({', '.join(others)}))"


def _like(*, in_any_case: bool) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        x, pattern, *escapes = arguments
        escape = words(escapes[0]) if escapes else ""
        if escapes and (len(escape) != 1 or _ends_in_escape(words(pattern), escape)):
            raise UnsupportedError(
                "the pattern ends in its escape character, or that is not one character",
                "escape with one character, and let another one follow it",
            )
        texts = [x.text, pattern.text, escapes[0].text if escapes else "''"]
        if in_any_case:
            texts = [lowered(each) for each in texts]
        return f"({texts[0]} LIKE {texts[1]} ESCAPE {texts[2]})"

    return write


def _ends_in_escape(pattern: str, escape: str) -> bool:
    return (len(pattern) - len(pattern.rstrip(escape))) % 2 == 1


CONDITIONS = {
    "equal": _comparison("="),
    "not_equal": _comparison("<>"),
    "less": _comparison("<"),
    "less_or_equal": _comparison("<="),
    "greater": _comparison(">"),
    "greater_or_equal": _comparison(">="),
    "distinct": _comparison("IS DISTINCT FROM"),
    "not_distinct": _comparison("IS NOT DISTINCT FROM"),
    "in": plain(_in),
    "and": plain(_joined("AND")),
    "or": plain(_joined("OR")),
    "not": plain("(NOT {0})"),
    "is_null": plain("({0} IS NULL)"),
    "is_true": plain("coalesce({0}, FALSE)"),
    "is_false": plain("coalesce(NOT {0}, FALSE)"),
    "like": plain(_like(in_any_case=False)),
    "ilike": plain(_like(in_any_case=True)),
}

CHOICES = {
    "coalesce": _list("coalesce"),
    "greatest": _list("greatest"),
    "least": _list("least"),
    "clamp": Function(template=_clamp, range=_clamped, reach=lambda given: farthest(given[1:])),
}
