"""Type coercion of arguments, as in SQL. Ambiguous cases are rejected."""

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import UnsupportedError
from discreet.query.expressions import intervals
from discreet.query.expressions.facts import BOOLEAN, NUMBER, is_null, literal
from discreet.query.expressions.functions import COMPARISONS, FUNCTIONS, call
from discreet.query.expressions.literals import time_from_text
from discreet.query.parse import DIALECT, span_of
from discreet.query.tree import Expression, Literal

WORDS = {
    Kind.BOOLEAN: "a condition",
    Kind.INTEGER: "an integer",
    Kind.REAL: "a number",
    Kind.TEXT: "text",
    Kind.DATE: "a date",
    Kind.TIMESTAMP: "a timestamp",
    Kind.TIMESTAMP_TZ: "a timestamp with time zone",
    Kind.INTERVAL: "an interval",
    Kind.OTHER: "of a type that is not supported",
}
"""What errors call the kinds."""


SIGNS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "integer_divide": "//",
    "modulo": "%",
    "negate": "-",
    "add_days": "+",
    "days_between": "-",
    "add_interval": "+ INTERVAL",
    "concatenate": "||",
    "is_true": "IS TRUE",
    "is_false": "IS FALSE",
}
"""Functions that are written otherwise than by their names."""


COMPARING = {each.name for each in COMPARISONS} | {"distinct", "not_distinct", "in"}


def coerce(name: str, arguments: Sequence[Expression], node: exp.Expr) -> Expression:
    """Return a call of a function, its arguments brought to the kinds it takes; or reject."""
    function = FUNCTIONS[name]
    least = len(function.accepts) - function.optional
    most = None if function.is_endless else len(function.accepts)
    if len(arguments) < least or (most is not None and len(arguments) > most):
        raise UnsupportedError(
            f"{kind_text(name)} does not take {len(arguments)} "
            f"argument{'' if len(arguments) == 1 else 's'}",
            f"Give it {_numbers(least, most)}",
            span=span_of(node),
        )
    ready = list(arguments)
    if name in COMPARING and len(ready) == 2:
        name, ready = _without_fraction(name, ready[0], ready[1])
    if function.is_alike:
        ready = common_kind(ready, node, is_comparison=name in COMPARING)
    last = len(function.accepts) - 1
    ready = [
        _accepted(name, each, function.accepts[min(place, last)], node)
        for place, each in enumerate(ready)
    ]
    for place in function.literals:
        if place < len(ready) and not _is_stated(ready[place]):
            raise UnsupportedError(
                f"Argument {place + 1} of {kind_text(name)} must be a constant",
                "Write a value in its place",
                span=span_of(node),
            )
    return call(name, *ready)


def _without_fraction(
    name: str, left: Expression, right: Expression
) -> tuple[str, list[Expression]]:
    """Return the same comparison of an integer with an integer: i >= 2.5 is i > 2."""
    strict = name.removesuffix("_or_equal")
    is_greater = strict == "greater"
    if is_greater or strict == "less":
        if left.facts.kind is Kind.INTEGER and (value := _fraction(right)) is not None:
            return strict, [left, literal(math.floor(value) if is_greater else math.ceil(value))]
        if right.facts.kind is Kind.INTEGER and (value := _fraction(left)) is not None:
            return strict, [literal(math.ceil(value) if is_greater else math.floor(value)), right]
    return name, [left, right]


def _fraction(expression: Expression) -> Fraction | None:
    """Return a stated decimal that is not whole."""
    value = expression.value if isinstance(expression, Literal) else None
    return value if isinstance(value, Fraction) and value.denominator > 1 else None


def kind_text(name: str) -> str:
    """Return a function's name as errors show it: as the query has it."""
    if name.startswith("to_"):
        return f"CAST to {name.removeprefix('to_').upper()}"
    return SIGNS.get(name, name.upper())


def _numbers(least: int, most: int | None) -> str:
    if most is None:
        return f"{least} or more"
    return str(least) if least == most else f"{least} or {most}"


def _is_stated(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is not None


def _accepted(
    name: str, expression: Expression, kinds: frozenset[Kind], node: exp.Expr
) -> Expression:
    kind = expression.facts.kind
    if is_null(expression):
        return literal(None, kind if kind in kinds else min(kinds, key=list(Kind).index))
    if kind in kinds:
        return expression
    if kind is Kind.INTEGER and Kind.REAL in kinds:
        return converted(expression, Kind.REAL)
    if kind.is_number and kinds == {Kind.BOOLEAN}:
        return call("to_boolean", expression)
    raise _wrong_kind(name, kind, kinds, node)


def _wrong_kind(name: str, kind: Kind, kinds: frozenset[Kind], node: exp.Expr) -> UnsupportedError:
    text = node.sql(dialect=DIALECT) if isinstance(node, exp.Column) else None
    found = f"not {WORDS[kind]}" if text is None else f"but {text} is {WORDS[kind]}"
    fix = "Cast it to the right type with CAST(... AS ...)"
    if kind is Kind.OTHER:
        fix = "A column of this type can only be counted and tested for NULL"
    elif kinds == {Kind.BOOLEAN}:
        fix = f"Compare it with a value, for example {text or 'x'} = '...'"
    if name in ("is_true", "is_false"):
        return UnsupportedError(f"A condition is needed here, {found}", fix, span=span_of(node))
    needed = f"{kind_text(name)} needs {_described(kinds)}, {found}"
    return UnsupportedError(needed, fix, span=span_of(node))


def _described(kinds: frozenset[Kind]) -> str:
    found = [WORDS[each] for each in Kind if each in kinds]
    if Kind.REAL in kinds and Kind.INTEGER in kinds:
        found.remove(WORDS[Kind.INTEGER])
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} or {found[-1]}"


# --------------------------------------------------------------------------- one kind for all


def common_kind(
    expressions: Sequence[Expression], node: exp.Expr, *, is_comparison: bool = False
) -> list[Expression]:
    """Return expressions of one kind: integers become real, dates timestamps, texts dates."""
    kinds = {each.facts.kind for each in expressions if not _is_soft(each)}
    kind = _common(kinds, expressions, is_comparison=is_comparison)
    if kind is None:
        found = kinds | {each.facts.kind for each in expressions if not is_null(each)}
        raise _mixed(found, node, is_comparison=is_comparison)
    if is_comparison and kind is Kind.REAL and _are_whole(expressions):
        kind = Kind.INTEGER
    return [_softened(each, kind, node) for each in expressions]


def _is_soft(expression: Expression) -> bool:
    """Return whether it takes the kind of its company: NULL, and texts that are stated."""
    return isinstance(expression, Literal) and (
        expression.value is None or isinstance(expression.value, str)
    )


def _common(
    kinds: set[Kind], expressions: Sequence[Expression], *, is_comparison: bool
) -> Kind | None:
    has_text = any(
        isinstance(each, Literal) and isinstance(each.value, str) for each in expressions
    )
    if not kinds:
        return Kind.TEXT if has_text else Kind.INTEGER
    if has_text and not all(each is Kind.TEXT or each.is_time for each in kinds):
        return None
    if len(kinds) == 1:
        return next(iter(kinds))
    if all(each.is_time for each in kinds):
        return _common_time(kinds, expressions)
    numbers = NUMBER | BOOLEAN if is_comparison else NUMBER
    return max(kinds & NUMBER, key=list(Kind).index) if kinds <= numbers else None


def _common_time(kinds: set[Kind], expressions: Sequence[Expression]) -> Kind | None:
    if Kind.TIMESTAMP_TZ not in kinds:
        return Kind.TIMESTAMP
    is_clear = all(
        each.facts.kind is Kind.TIMESTAMP_TZ or isinstance(each, Literal) for each in expressions
    )
    return Kind.TIMESTAMP_TZ if is_clear else None


def _mixed(kinds: set[Kind], node: exp.Expr, *, is_comparison: bool) -> UnsupportedError:
    found = " with ".join(WORDS[each] for each in Kind if each in kinds)
    return UnsupportedError(
        f"Cannot compare {found}" if is_comparison else f"Cannot mix {found}",
        "Cast one side with CAST(... AS ...). Write numbers without quotes, and dates as "
        "DATE '2024-12-31'",
        span=span_of(node),
    )


def _are_whole(expressions: Sequence[Expression]) -> bool:
    """Return whether all reals are stated ones without fraction, beside integers: i = 5.0."""
    has_integer = any(each.facts.kind is Kind.INTEGER and not is_null(each) for each in expressions)
    return has_integer and all(
        each.facts.kind is not Kind.REAL
        or (
            isinstance(each, Literal)
            and isinstance(each.value, Fraction)
            and each.value.denominator == 1
            and intervals.has(intervals.INTEGERS, each.value)
        )
        for each in expressions
    )


def _softened(expression: Expression, kind: Kind, node: exp.Expr) -> Expression:
    if isinstance(expression, Literal) and isinstance(expression.value, str) and kind.is_time:
        return literal(time_or_refuse(expression.value, kind, node), kind)
    return converted(expression, kind)


def time_or_refuse(text: str, kind: Kind, node: exp.Expr) -> date:
    """Return the date or timestamp that a text states, or reject."""
    found = time_from_text(text, kind)
    if found is None:
        form = "YYYY-MM-DD" if kind is Kind.DATE else "YYYY-MM-DD HH:MM:SS"
        raise UnsupportedError(
            f"This text is not {WORDS[kind]}", f"Write it in the form '{form}'", span=span_of(node)
        )
    return found


def converted(expression: Expression, kind: Kind) -> Expression:
    """Return the same values in a wider kind; stated ones stay stated."""
    here = expression.facts.kind
    if is_null(expression):
        return literal(None, kind)
    if here is kind:
        return expression
    if isinstance(expression, Literal) and not isinstance(expression.value, bool):
        return _restated(expression, kind)
    if kind is Kind.INTEGER and here is Kind.BOOLEAN:
        return call("to_integer", expression, literal(0), literal(1))
    return call({Kind.REAL: "to_real", Kind.TIMESTAMP: "to_timestamp"}[kind], expression)


def _restated(stated: Literal, kind: Kind) -> Literal:
    value = stated.value
    if kind is Kind.INTEGER and isinstance(value, Fraction):
        return literal(value.numerator)
    if kind is Kind.REAL and isinstance(value, int):
        return literal(Fraction(value))
    if isinstance(value, date):
        moment = value if isinstance(value, datetime) else datetime(*value.timetuple()[:3])
        return literal(moment.replace(tzinfo=UTC if kind is Kind.TIMESTAMP_TZ else None), kind)
    raise TypeError("only wider kinds are asked for")
