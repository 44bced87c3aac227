"""Conditions, CASE and similar functions."""

from collections.abc import Sequence

from discreet.engines.dialect import Function, Template, Written, text_literal
from discreet.engines.duckdb_dialect.parts import let
from discreet.engines.templates import (
    COMPARISONS,
    LOGIC,
    clamped,
    clamped_span,
    hull,
    pattern_of,
    plain,
)
from discreet.query.expressions.patterns import ESCAPE, canonical


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
        pattern, is_escaping = canonical(pattern_of(arguments))
        escape = f" ESCAPE '{ESCAPE}'" if is_escaping else ""
        return f"({arguments[0].text} {sign} {text_literal(pattern)}{escape})"

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
