"""Conditions, and choices among values."""

from collections.abc import Sequence

from discreet.engines.dialect import Function, Template, Written
from discreet.engines.duckdb_dialect.parts import let
from discreet.engines.templates import (
    COMPARISONS,
    LOGIC,
    clamped,
    clamped_span,
    escape_of,
    hull,
    plain,
)


def _clamp(arguments: Sequence[Written]) -> str:
    x, low, high = (each.text for each in arguments)
    body = f"CASE WHEN {{0}} < {low} THEN {low} WHEN {{0}} > {high} THEN {high} ELSE {{0}} END"
    return let(x, body)


def _list(name: str) -> Function:
    return Function(template=f"{name}({{all}})", range=hull)


def _in(arguments: Sequence[Written]) -> str:
    x, *others = (each.text for each in arguments)
    return f"({x} IN ({', '.join(others)}))"


def _like(sign: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        x, pattern, *escapes = arguments
        if not escape_of(pattern, escapes):
            return f"({x.text} {sign} {pattern.text})"
        return f"({x.text} {sign} {pattern.text} ESCAPE {escapes[0].text})"

    return write


CONDITIONS = {
    **{name: plain(f"({{0}} {sign} {{1}})") for name, sign in COMPARISONS.items()},
    **LOGIC,
    "in": plain(_in),
    "like": plain(_like("LIKE")),
    "ilike": plain(_like("ILIKE")),
}

CHOICES = {
    "coalesce": _list("coalesce"),
    "greatest": _list("greatest"),
    "least": _list("least"),
    "clamp": Function(template=_clamp, range=clamped, span=clamped_span),
}
