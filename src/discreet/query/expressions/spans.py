"""Spans of time without months: differences of timestamps and intervals, in microseconds.

A span is a number of microseconds, which is the same on every engine. It is known by its function's
name until it is compared, added to a time or taken apart, and no engine ever sees it:
`dispatch.translate` rejects what is still a span. A month has no fixed length, so months are added
to times only.
"""

from collections.abc import Sequence

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import UnsupportedError
from discreet.query.expressions.casts import combined, negated
from discreet.query.expressions.coercion import coerce
from discreet.query.expressions.dispatch import (
    DIFFERENCE,
    SPAN,
    NameScope,
    NodeRule,
    is_span,
    translate,
    with_spans,
)
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.expressions.literals import (
    UNIT_NAMES,
    Span,
    span_from_text,
    span_in,
    span_of_unit,
)
from discreet.query.expressions.time_functions import DAY, LENGTHS, MONTHS
from discreet.query.parse import span_of
from discreet.query.tree import Call, Expression, Facts, Literal

SPAN_FUNCTIONS = {
    **{f"to_{unit}s": unit for unit in (*LENGTHS, *MONTHS) if unit != "century"},
    "to_centuries": "century",
}
"""The functions that make a span of a number."""


def _span(microseconds: Expression, name: str = SPAN) -> Call:
    nullable = microseconds.facts.nullable
    facts = Facts(kind=Kind.INTERVAL, nullable=nullable)
    return Call(function=name, arguments=(microseconds,), facts=facts)


def microseconds_of(span: Expression) -> Expression:
    """Return how long a span is."""
    if not (isinstance(span, Call) and is_span(span)):
        raise TypeError("a span was promised")
    return span.arguments[0]


# --------------------------------------------------------------------------- stated spans


def stated_span(node: exp.Expr) -> Span | None:
    """Return the constant span of time that a node is, months included; None for all else."""
    while isinstance(node, exp.Paren):
        node = node.this
    match node:
        case exp.Mul():
            for part, factor in ((node.this, node.expression), (node.expression, node.this)):
                found, times = stated_span(part), _whole(factor)
                if found is not None and times is not None:
                    return Span(*(each * times for each in found))
            return None
        case exp.Neg():
            found = stated_span(node.this)
            return None if found is None else Span(*(-each for each in found))
        case exp.Interval() if isinstance(node.this, exp.Paren | exp.Column):
            return None
        case exp.Interval():
            return span_in(node)
        case _:
            name, argument = _named_span(node)
            number = None if argument is None else _whole(argument)
            return None if number is None else span_of_unit(number, name)


def _whole(node: exp.Expr) -> int | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Neg):
        found = _whole(node.this)
        return None if found is None else -found
    is_number = isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()
    return int(node.name) if is_number and len(node.name) <= 9 else None


def _named_span(node: exp.Expr) -> tuple[str, exp.Expr | None]:
    """Return the unit and the number of TO_DAYS(n) and the like."""
    if isinstance(node, exp.ToDays):
        return "day", node.this
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
        unit = SPAN_FUNCTIONS.get(str(node.this).lower())
        return (unit, node.expressions[0]) if unit is not None else ("", None)
    if isinstance(node, exp.Interval) and isinstance(node.args.get("unit"), exp.Var):
        return UNIT_NAMES.get(node.args["unit"].name.lower(), ""), node.this
    return "", None


def _interval(node: exp.Expr, scope: NameScope) -> Expression:
    """Return a span that is written as one, or made of a number."""
    found = stated_span(node)
    if found is not None:
        if found.months:
            raise months_rejected(node)
        return _span(literal(found.days * DAY + found.microseconds))
    unit, number = _named_span(node)
    if number is None or unit not in LENGTHS:
        raise months_rejected(node) if unit in MONTHS else _invalid(node)
    times = translate(number, scope)
    if times.facts.kind is not Kind.INTEGER:
        raise UnsupportedError(
            "A number of units of time must be an integer on private rows",
            "Use a smaller unit, or round the number and cast it to INTEGER",
            span=span_of(node),
        )
    return _span(call("multiply", times, literal(LENGTHS[unit])))


def months_rejected(node: exp.Expr) -> UnsupportedError:
    """Return the error for months where their length would have to be known."""
    return UnsupportedError(
        "A month has no fixed length, so an interval of months can only be added to a time, and "
        "must be a constant",
        "Use days, or write t + INTERVAL 1 MONTH",
        span=span_of(node),
    )


def _invalid(node: exp.Expr) -> UnsupportedError:
    return UnsupportedError(
        "This interval is not valid",
        "Write integers and units, such as INTERVAL '2 days 3 hours'",
        span=span_of(node),
    )


# --------------------------------------------------------------------------- sums and differences


def _add(node: exp.Expr, scope: NameScope) -> Expression:
    for moment, other in ((node.this, node.expression), (node.expression, node.this)):
        span = stated_span(other)
        if span is not None:
            return _with_stated(moment, span, node, scope)
    a, b = with_spans(node.this, scope), with_spans(node.expression, scope)
    for time, span_ in ((a, b), (b, a)):
        if is_span(span_):
            return _moved_by(time, microseconds_of(span_), node)
    for day, number in ((a, b), (b, a)):
        if day.facts.kind is Kind.DATE:
            return coerce("add_days", (day, number), node)
    return combined("add", a, b, node)


def _subtract(node: exp.Expr, scope: NameScope) -> Expression:
    span = stated_span(node.expression)
    if span is not None:
        return _with_stated(node.this, Span(*(-each for each in span)), node, scope)
    a, b = with_spans(node.this, scope), with_spans(node.expression, scope)
    if is_span(b):
        return _moved_by(a, call("negate", microseconds_of(b)), node)
    if is_span(a):
        raise mixed_span(node)
    if a.facts.kind is Kind.DATE and b.facts.kind is Kind.DATE:
        return coerce("days_between", (a, b), node)
    if a.facts.kind is Kind.DATE and b.facts.kind is Kind.INTEGER:
        return coerce("add_days", (a, coerce("negate", (b,), node)), node)
    if a.facts.kind.is_time and b.facts.kind.is_time:
        return _difference(a, b, node)
    return combined("subtract", a, b, node)


def _difference(a: Expression, b: Expression, node: exp.Expr) -> Expression:
    zoned = [each.facts.kind is Kind.TIMESTAMP_TZ for each in (a, b)]
    if any(zoned) and not all(zoned):
        raise UnsupportedError(
            "Cannot subtract a time with a time zone and one without",
            "Cast one side with CAST(... AS TIMESTAMP)",
            span=span_of(node),
        )
    return _span(call("date_diff", literal("microsecond"), b, a), DIFFERENCE)


def _with_stated(moment: exp.Expr, span: Span, node: exp.Expr, scope: NameScope) -> Expression:
    """Return a time, or another span, and a stated span."""
    start = with_spans(moment, scope)
    if not is_span(start):
        return moved(start, span, node)
    if span.months:
        raise months_rejected(node)
    return _moved_by(start, literal(span.days * DAY + span.microseconds), node)


def _moved_by(start: Expression, microseconds: Expression, node: exp.Expr) -> Expression:
    if is_span(start):
        return _span(call("add", microseconds_of(start), microseconds))
    return coerce("add_microseconds", (start, microseconds), node)


def moved(moment: Expression, span: Span, node: exp.Expr) -> Expression:
    """Return a time moved by a stated span."""
    return coerce("add_interval", (moment, *map(literal, span)), node)


def _multiply(node: exp.Expr, scope: NameScope) -> Expression:
    if stated_span(node) is not None:
        return _interval(node, scope)
    a, b = with_spans(node.this, scope), with_spans(node.expression, scope)
    for span, factor in ((a, b), (b, a)):
        if is_span(span) and factor.facts.kind is Kind.INTEGER:
            return _span(call("multiply", microseconds_of(span), factor))
    if is_span(a) or is_span(b):
        raise mixed_span(node)
    return combined("multiply", a, b, node)


def _negative(node: exp.Expr, scope: NameScope) -> Expression:
    inner = with_spans(node.this, scope)
    if is_span(inner):
        return _span(call("negate", microseconds_of(inner)))
    return negated(inner, node)


# --------------------------------------------------------------------------- comparisons


def compared(
    name: str, left: exp.Expr, right: exp.Expr, node: exp.Expr, scope: NameScope
) -> Expression:
    """Return a comparison of two values, or of two spans."""
    return coerce(name, alike([with_spans(each, scope) for each in (left, right)], node), node)


def alike(values: Sequence[Expression], node: exp.Expr) -> list[Expression]:
    """Return values as they are, or all as microseconds if one of them is a span."""
    if not any(map(is_span, values)):
        return list(values)
    return [_as_microseconds(each, node) for each in values]


def _as_microseconds(value: Expression, node: exp.Expr) -> Expression:
    if is_span(value):
        return microseconds_of(value)
    stated = value.value if isinstance(value, Literal) else None
    span = span_from_text(stated) if isinstance(stated, str) else None
    if span is None:
        raise mixed_span(node)
    if span.months:
        raise months_rejected(node)
    return literal(span.days * DAY + span.microseconds)


def mixed_span(node: exp.Expr) -> UnsupportedError:
    """Return the error for a span of time beside what is none."""
    return UnsupportedError(
        "This compares or combines an interval with a value of another type",
        "Compare it with an interval such as INTERVAL 3 DAY, or take EXTRACT(epoch FROM ...)",
        span=span_of(node),
    )


# --------------------------------------------------------------------------- parts


PARTS_OF_SPANS = {
    "day": (None, DAY),
    "hour": (DAY, LENGTHS["hour"]),
    "minute": (LENGTHS["hour"], LENGTHS["minute"]),
    "second": (LENGTHS["minute"], LENGTHS["second"]),
    "millisecond": (LENGTHS["minute"], LENGTHS["millisecond"]),
    "microsecond": (LENGTHS["minute"], 1),
}
"""What of a difference is counted, in microseconds: the rest after whole units, and by which."""


def part_of_span(part: str, span: Expression, node: exp.Expr) -> Expression:
    """Return the part of a difference of two times that DATE_PART names."""
    length = microseconds_of(span)
    if part == "epoch":
        return call("divide", call("to_real", length), literal(1e6))
    is_difference = isinstance(span, Call) and span.function == DIFFERENCE
    if part not in PARTS_OF_SPANS or not is_difference:
        raise UnsupportedError(
            f"The part {part} of this interval is not supported on private rows",
            "Use EXTRACT(epoch FROM ...), which is the interval in seconds",
            span=span_of(node),
        )
    whole, unit = PARTS_OF_SPANS[part]
    rest = length if whole is None else call("modulo", length, literal(whole))
    return rest if unit == 1 else call("integer_divide", rest, literal(unit))


COMPARED: tuple[type[exp.Expr], ...] = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
)


SPAN_RULES: dict[type[exp.Expr], NodeRule] = {
    exp.Interval: _interval,
    exp.ToDays: _interval,
    exp.Neg: _negative,
    exp.Add: _add,
    exp.Sub: _subtract,
    exp.Mul: _multiply,
}


NAMED_SPANS: dict[str, NodeRule] = dict.fromkeys(SPAN_FUNCTIONS, _interval)
"""Rules of functions that sqlglot does not know."""
