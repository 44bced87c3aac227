"""Conditions, and choices among values."""

from collections.abc import Iterator, Sequence

from discreet.catalog.schema import Kind
from discreet.engines.dialect import Function, Template, Written
from discreet.engines.spark_dialect.parts import let, text_literal
from discreet.engines.spark_dialect.texts import LOWER
from discreet.engines.templates import COMPARISONS, LOGIC, clamped, escape_of, hull, plain, words


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


def _like(template: str) -> Template:
    """Return a match with the pattern in Spark's own form, where a backslash escapes."""

    def write(arguments: Sequence[Written]) -> str:
        x, pattern, *escapes = arguments
        escape = escape_of(pattern, escapes)
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


CONDITIONS = {
    **{name: plain(f"({{0}} {sign} {{1}})") for name, sign in COMPARISONS.items()},
    **LOGIC,
    "in": plain(_in),
    "like": plain(_like("({0} LIKE {1})")),
    "ilike": plain(_like(f"({LOWER} LIKE {LOWER.replace('{0}', '{1}')})")),
}

CHOICES = {
    "coalesce": _list("coalesce"),
    "greatest": _list("greatest"),
    "least": _list("least"),
    "clamp": Function(template=_clamp, range=clamped),
}
