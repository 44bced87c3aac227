"""Conditions, CASE and similar functions."""

from collections.abc import Sequence

from discreet.catalog.schema import Kind
from discreet.engines.dialect import Function, Template, Written
from discreet.engines.spark_dialect.parts import let, text_literal
from discreet.engines.spark_dialect.texts import LOWER
from discreet.engines.templates import COMPARISONS, LOGIC, clamped, hull, pattern_of, plain
from discreet.query.expressions.patterns import Sign, escaped


def _clamp(arguments: Sequence[Written]) -> str:
    x, low, high = (each.text for each in arguments)
    body = f"CASE WHEN {{0}} < {low} THEN {low} WHEN {{0}} > {high} THEN {high} ELSE {{0}} END"
    return let(x, body)


def _list(name: str) -> Function:
    def write(arguments: Sequence[Written]) -> str:
        if len(arguments) == 1:
            return arguments[0].text
        return f"{name}({', '.join(each.text for each in arguments)})"

    return Function(template=write, range=hull)


def _in(arguments: Sequence[Written]) -> str:
    """Return membership; long lists are looked up by bits, for which -0.0 must not differ."""
    x, *others = arguments
    more = " + 0e0" if x.kind is Kind.REAL else ""
    return f"({x.text}{more} IN ({', '.join(each.text + more for each in others)}))"


def _like(letters: str) -> Template:
    """Return a match of the letters with a pattern, in time proportional to their number.

    Spark makes a regular expression of LIKE in which each % may try every place after the one
    before: the text of one row could stall a query. So patterns are written in that form only
    if they have no second place to try, and else as an expression that tries none twice.
    """

    def write(arguments: Sequence[Written]) -> str:
        signs = pattern_of(arguments)
        is_plain = _places_to_try(signs) <= 1
        form = escaped(signs, "\\") if is_plain else _regular(signs)
        verb = "LIKE" if is_plain else "RLIKE"
        x, pattern = arguments[0].text, text_literal(form)
        return f"({letters.format(x)} {verb} {letters.format(pattern)})"

    return write


def _places_to_try(signs: Sequence[Sign]) -> int:
    """Return how many % stand before something that may not be found behind them."""
    text = "".join(each.letter if each.is_wild else "x" for each in signs)
    return text.rstrip("%").count("%")


def _regular(signs: Sequence[Sign]) -> str:
    """Return a regular expression that finds each part at the first place there is, for good.

    Parts have a fixed length, so that the first place leaves the most to the others; the last one
    stands at the end. No letter of the expression changes with its case.
    """
    parts = [""]
    for each in signs:
        if each.is_wild and each.letter == "%":
            parts.append("")
        else:
            parts[-1] += "." if each.is_wild else _escaped(each.letter)
    first, *others, last = parts
    return f"(?s)^{first}{''.join(f'(?>.*?{each})' for each in others)}.*{last}(?!.)"


def _escaped(letter: str) -> str:
    return f"\\{letter}" if letter.isascii() and not letter.isalnum() else letter


CONDITIONS = {
    **{name: plain(f"({{0}} {sign} {{1}})") for name, sign in COMPARISONS.items()},
    **LOGIC,
    "in": plain(_in),
    "like": plain(_like("{0}")),
    "ilike": plain(_like(LOWER)),
}

CHOICES = {
    "coalesce": _list("coalesce"),
    "greatest": _list("greatest"),
    "least": _list("least"),
    "clamp": Function(template=_clamp, range=clamped),
}
