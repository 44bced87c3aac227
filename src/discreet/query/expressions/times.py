"""Functions of times: parts, units, buckets, and numbers of seconds as times."""

from datetime import UTC, datetime

from sqlglot import exp

from discreet.catalog.schema import Kind, number_from_timestamp
from discreet.errors import UnsupportedError
from discreet.query.expressions.coercion import coerce, converted
from discreet.query.expressions.dispatch import (
    NameScope,
    NodeRule,
    arguments_of,
    check_parts,
    is_span,
    translate,
    with_spans,
)
from discreet.query.expressions.facts import case_of, literal
from discreet.query.expressions.functions import call
from discreet.query.expressions.literals import UNIT_NAMES, Span, unit_in
from discreet.query.expressions.rejections import written_name
from discreet.query.expressions.spans import moved, part_of_span, stated_span
from discreet.query.expressions.time_functions import DAY, LENGTHS, MONTHS, PARTS, UNITS
from discreet.query.parse import span_of
from discreet.query.tree import Expression, Literal

PART_FUNCTIONS = ("century", "decade", "isoyear", "microsecond", "millisecond", "weekday")


def _extract(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "expression"))
    return _date_part(node.this, node.expression, node, scope)


def _part_of(name: str) -> NodeRule:
    def found(node: exp.Expr, scope: NameScope) -> Expression:
        check_parts(node, ("this",))
        return _part(name, node.this, node, scope)

    return found


def _part(name: str, moment: exp.Expr, node: exp.Expr, scope: NameScope) -> Expression:
    inner = with_spans(moment, scope)
    if is_span(inner):
        return part_of_span(name, inner, node)
    return coerce("date_part", (literal(name), inner), node)


def _date_part(part: exp.Expr, moment: exp.Expr, node: exp.Expr, scope: NameScope) -> Expression:
    return _part(unit_in(part, node, tuple(PARTS)), moment, node, scope)


def _named_part(node: exp.Expr, scope: NameScope) -> Expression:
    """Return DATE_PART('day', t), or CENTURY(t) and the like."""
    name = str(node.this).lower()
    if name in PART_FUNCTIONS and len(node.expressions) == 1:
        return _part(UNIT_NAMES[name], node.expressions[0], node, scope)
    if name in PART_FUNCTIONS or len(node.expressions) != 2:
        raise UnsupportedError(
            f"{name.upper()} does not take {len(node.expressions)} arguments",
            "Write DATE_PART('day', t)",
            span=span_of(node),
        )
    return _date_part(node.expressions[0], node.expressions[1], node, scope)


def _yearweek(node: exp.Expr, scope: NameScope) -> Expression:
    time = [translate(each, scope) for each in node.expressions]
    year = coerce("date_part", (literal("isoyear"), *time), node)
    week = call("date_part", literal("week"), *time)
    return call("add", call("multiply", year, literal(100)), week)


# --------------------------------------------------------------------------- units


def _date_trunc(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "unit"))
    unit = unit_in(node.args["unit"], node, UNITS)
    return coerce("date_trunc", (literal(unit), translate(node.this, scope)), node)


def _date_diff(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "expression", "unit", "date_part_boundary"))
    unit = unit_in(node.args.get("unit"), node, UNITS)
    both = [translate(node.expression, scope), translate(node.this, scope)]
    return coerce("date_diff", (literal(unit), *both), node)


def _date_add(node: exp.Expr, scope: NameScope) -> Expression:
    span = stated_span(node.expression)
    if span is None or node.args.get("unit") is not None:
        raise UnsupportedError(
            "DATE_ADD needs a date and an interval", "Write d + INTERVAL 1 DAY", span=span_of(node)
        )
    return moved(translate(node.this, scope), span, node)


def _date_sub(node: exp.Expr, scope: NameScope) -> Expression:
    """Return how many whole units lie between two times, or a time before another."""
    given = node.expressions
    if len(given) == 2 and (span := stated_span(given[1])) is not None:
        back = Span(*(-each for each in span))
        return moved(translate(given[0], scope), back, node)
    if len(given) != 3:
        raise UnsupportedError(
            "DATE_SUB needs a unit and two times", "Write DATE_SUB('day', t, u)", span=span_of(node)
        )
    unit = unit_in(given[0], node, UNITS)
    if unit not in LENGTHS:
        raise UnsupportedError(
            f"DATE_SUB with {unit} is not supported on private rows",
            f"Write DATE_DIFF('{unit}', t, u), which counts the first days of units between them",
            span=span_of(node),
        )
    both = [translate(each, scope) for each in given[1:]]
    length = coerce("date_diff", (literal("microsecond"), *both), node)
    return call("integer_divide", length, literal(LENGTHS[unit]))


def _last_day(node: exp.Expr, scope: NameScope) -> Expression:
    time = arguments_of(node, ("this",), scope)
    first = coerce("date_trunc", (literal("month"), *time), node)
    return call("to_date", call("add_interval", first, *map(literal, (1, -1, 0))))


# --------------------------------------------------------------------------- buckets

MONDAY = datetime(2000, 1, 3)
"""Where DuckDB's buckets of days and shorter units begin; those of months begin at 2000-01-01."""


def _bucket(node: exp.Expr, scope: NameScope) -> Expression:
    check_parts(node, ("this", "expression", "unit"))
    width, origin = stated_span(node.this), node.args.get("unit")
    if width is None or (bool(width.months) and (width.days or width.microseconds)):
        raise _no_width(node)
    time = translate(node.expression, scope)
    coerce("date_part", (literal("year"), time), node)
    start = None if origin is None else _origin(origin, node, scope)
    made = _bucket_of(time, width, start, node)
    is_day = time.facts.kind is Kind.DATE
    return call("to_date", made) if is_day else made


def _bucket_of(time: Expression, width: Span, start: datetime | None, node: exp.Expr) -> Expression:
    size = width.days * DAY + width.microseconds
    units = {number: unit for unit, number in (MONTHS if width.months else LENGTHS).items()}
    unit = units.get(width.months or size)
    if start is None and unit is not None:
        return call("date_trunc", literal(unit), time)
    if width.months:
        raise _no_width(node)
    first = number_from_timestamp(MONDAY if start is None else start)
    if not 0 < size < 10**18:
        raise _no_width(node)
    return call("time_bucket", time, literal(size), literal(int(first)))


def _no_width(node: exp.Expr) -> UnsupportedError:
    return UnsupportedError(
        "The width of a time bucket must be a positive constant: days and shorter units, or 1, 3, "
        "12, 120 or 1200 months",
        f"Write {written_name(node)}(INTERVAL '15 minutes', t)",
        span=span_of(node),
    )


def _origin(node: exp.Expr, whole: exp.Expr, scope: NameScope) -> datetime:
    found = translate(node, scope) if stated_span(node) is None else None
    moment = converted(found, Kind.TIMESTAMP) if isinstance(found, Literal) else None
    value = moment.value if isinstance(moment, Literal) else None
    if not isinstance(value, datetime) or value.tzinfo is not None:
        raise UnsupportedError(
            "The origin of time buckets must be a constant timestamp",
            "Write TIMESTAMP '2024-01-01 00:00:00', or leave it out",
            span=span_of(whole),
        )
    return value


# --------------------------------------------------------------------------- seconds since 1970


def _from_epoch(node: exp.Expr, scope: NameScope) -> Expression:
    """Return TO_TIMESTAMP(seconds), EPOCH_MS(milliseconds) or EPOCH_MS(t)."""
    check_parts(node, ("this", "scale"))
    is_milliseconds = node.args.get("scale") is not None
    if is_milliseconds and node.args["scale"].name != "3":
        raise UnsupportedError(
            f"{written_name(node)} is not supported on private rows",
            "Use TO_TIMESTAMP(seconds) or EPOCH_MS(milliseconds)",
            span=span_of(node),
        )
    x = translate(node.this, scope)
    if is_milliseconds and x.facts.kind.is_time:
        return _milliseconds(_microseconds(x))
    if x.facts.kind is not Kind.INTEGER:
        raise UnsupportedError(
            f"{written_name(node)} needs an integer on private rows",
            "Round the number and cast it to BIGINT",
            span=span_of(node),
        )
    factor = 1000 if is_milliseconds else 1_000_000
    start = datetime(1970, 1, 1, tzinfo=None if is_milliseconds else UTC)
    return call("add_microseconds", literal(start), call("multiply", x, literal(factor)))


def _milliseconds(microseconds: Expression) -> Expression:
    """Return the nearest number of milliseconds, halves away from 0."""
    half = case_of(
        ((call("less", microseconds, literal(0)), literal(-500)),), otherwise=literal(500)
    )
    return call("integer_divide", call("add", microseconds, half), literal(1000))


def _microseconds(time: Expression) -> Expression:
    start = datetime(1970, 1, 1)
    return call("date_diff", literal("microsecond"), literal(start), time)


def _epoch_us(node: exp.Expr, scope: NameScope) -> Expression:
    time = [translate(each, scope) for each in node.expressions]
    coerce("date_part", (literal("year"), *time), node)
    return _microseconds(time[0])


TIME_RULES: dict[type[exp.Expr], NodeRule] = {
    exp.Extract: _extract,
    exp.Year: _part_of("year"),
    exp.Quarter: _part_of("quarter"),
    exp.Month: _part_of("month"),
    exp.Week: _part_of("week"),
    exp.WeekOfYear: _part_of("week"),
    exp.Day: _part_of("day"),
    exp.DayOfMonth: _part_of("day"),
    exp.DayOfWeek: _part_of("dow"),
    exp.DayOfWeekIso: _part_of("isodow"),
    exp.DayOfYear: _part_of("doy"),
    exp.Hour: _part_of("hour"),
    exp.Minute: _part_of("minute"),
    exp.Second: _part_of("second"),
    exp.TimeToUnix: _part_of("epoch"),
    exp.TimestampTrunc: _date_trunc,
    exp.DateTrunc: _date_trunc,
    exp.DateDiff: _date_diff,
    exp.DateAdd: _date_add,
    exp.LastDay: _last_day,
    exp.DateBin: _bucket,
    exp.UnixToTime: _from_epoch,
}


NAMED_TIMES: dict[str, NodeRule] = {
    **dict.fromkeys(("date_part", "datepart", *PART_FUNCTIONS), _named_part),
    **dict.fromkeys(("date_sub", "datesub"), _date_sub),
    "yearweek": _yearweek,
    "epoch_us": _epoch_us,
}
"""Rules of functions that sqlglot does not know."""
