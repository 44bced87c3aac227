"""Conditions, CASE and similar functions."""

from collections.abc import Sequence

from discreet.engines.dialect import INT64, Function, Template, Written
from discreet.engines.postgresql_dialect.parts import farthest, let, quoted_text
from discreet.engines.postgresql_dialect.texts import lowered
from discreet.engines.templates import COMPARISONS, LOGIC, clamped, hull, pattern_of, plain
from discreet.query.expressions.patterns import ESCAPE, canonical


def _clamp(arguments: Sequence[Written]) -> str:
    body = "CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END"
    return let(body, *(each.text for each in arguments))


def _list(name: str) -> Function:
    return Function(template=f"{name}({{all}})", range=hull, reach=farthest)


def _compared(argument: Written) -> str:
    """Return what is compared; an integer that needs more than 64 bits is still itself."""
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
        pattern, is_escaping = canonical(pattern_of(arguments))
        both = [arguments[0].text, quoted_text(pattern)]
        x, form = map(lowered, both) if in_any_case else both
        return f"({x} LIKE {form} ESCAPE '{ESCAPE if is_escaping else ''}')"

    return write


CONDITIONS = {
    **{name: _comparison(sign) for name, sign in COMPARISONS.items()},
    **LOGIC,
    "in": plain(_in),
    "like": plain(_like(in_any_case=False)),
    "ilike": plain(_like(in_any_case=True)),
}

CHOICES = {
    "coalesce": _list("coalesce"),
    "greatest": _list("greatest"),
    "least": _list("least"),
    "clamp": Function(template=_clamp, range=clamped, reach=lambda given: farthest(given[1:])),
}
