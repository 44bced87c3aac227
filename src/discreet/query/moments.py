"""Times that a query states: literals, the clock, and sums of these with intervals.

They are computed in UTC, as PostgreSQL does in a session whose time zone is UTC. What is not known
to be the same there has no value here.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction

from sqlglot import exp

CLOCKS = frozenset(
    {
        *("now", "transaction_timestamp", "statement_timestamp", "clock_timestamp"),
        *("current_timestamp", "current_datetime", "localtimestamp", "get_current_timestamp"),
    }
)
TODAYS = frozenset({"current_date", "today"})
"""Functions without arguments that read the clock."""

MOMENTS = {
    *(exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ),
    *(exp.DType.TIMESTAMPNTZ, exp.DType.DATETIME),
}

ZONED = (exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ)
"""Types of timestamps that have a time zone."""

MICROSECONDS: Mapping[str, int] = {
    "microsecond": 1,
    "millisecond": 10**3,
    "second": 10**6,
    "minute": 60 * 10**6,
    "hour": 3600 * 10**6,
    "day": 86400 * 10**6,
    "week": 7 * 86400 * 10**6,
}
MONTHS: Mapping[str, int] = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
SHORT: Mapping[str, str] = {
    "sec": "second",
    "min": "minute",
    "hr": "hour",
    "mon": "month",
    "y": "year",
    "yr": "year",
    "s": "second",
    "m": "minute",
    "h": "hour",
    "d": "day",
    "w": "week",
    "ms": "millisecond",
    "us": "microsecond",
}
"""Other names of units, as PostgreSQL reads them."""

WRITTEN = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?",
    re.ASCII,
)
"""Times in the forms of ISO 8601 that all databases read alike."""
PART = re.compile(r"([+-]?\d{1,12}(?:\.\d{1,6})?) *([a-z]+)", re.ASCII)
CLOCK_TIME = re.compile(r"([+-]?)(\d{1,4}):(\d{2})(?::(\d{2}(?:\.\d{1,6})?))?", re.ASCII)
NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time that a query states."""

    value: date
    """A date, or a timestamp in UTC."""
    reads_clock: bool = False
    is_literal: bool = False
    """Whether it is written out, with or without its type."""
    has_offset: bool = False
    """Whether it is a text with an offset from UTC that only a type with a time zone reads."""

    @property
    def at(self) -> datetime:
        """The timestamp; of a date, its midnight."""
        return midnight(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration:
    """An interval: months have no fixed length."""

    months: int = 0
    microseconds: Fraction = Fraction(0)

    def times(self, number: Fraction) -> "Duration | None":
        """Return a multiple, None if it has parts of months."""
        months = self.months * number
        if months.denominator != 1:
            return None
        return Duration(months=int(months), microseconds=self.microseconds * number)


def midnight(value: date) -> datetime:
    """Return a timestamp in UTC; of a date, the one at which it begins."""
    if not isinstance(value, datetime):
        return datetime.combine(value, time(), UTC)
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def moment_of(node: exp.Expr, now: datetime) -> Moment | None:
    """Return the time that an expression states, None if it states none or it is not known."""
    try:
        return _moment(node, now)
    except (OverflowError, ValueError):
        return None  # outside the calendar


def _moment(node: exp.Expr, now: datetime) -> Moment | None:  # noqa: PLR0911 - a kind of node each
    match node:
        case exp.Paren():
            return _moment(node.this, now)
        case exp.Literal():
            return _written(node)
        case exp.Cast():
            return _cast(node, now)
        case exp.UnixToTime():
            return _since_1970(node)
        case exp.Add() | exp.Sub():
            return _sum(node, now)
        case exp.TimestampTrunc() | exp.DateTrunc():
            return _cut(node, now)
        case exp.AtTimeZone():
            return _in_utc(node, now)
    return _clock(node, now)


def _written(node: exp.Literal) -> Moment | None:
    """Return the time that a text is, in the forms of ISO 8601."""
    text = node.name.strip()
    if not node.is_string or not WRITTEN.fullmatch(text):
        return None
    if len(text) == 10:
        return Moment(value=date.fromisoformat(text), is_literal=True)
    value = datetime.fromisoformat(text)
    return Moment(value=midnight(value), is_literal=True, has_offset=bool(value.utcoffset()))


def _cast(node: exp.Cast, now: datetime) -> Moment | None:
    inner = _moment(node.this, now)
    if inner is not None and node.to.this in ZONED:
        inner = replace(inner, has_offset=False)
    if inner is None or inner.has_offset:
        return None
    if node.to.this is exp.DType.DATE:
        return replace(inner, value=inner.at.date())
    # A cast to fewer digits of seconds rounds.
    is_plain = node.to.this in MOMENTS and not node.to.expressions
    return replace(inner, value=inner.at) if is_plain else None


def _cut(node: exp.Expr, now: datetime) -> Moment | None:
    """Return DATE_TRUNC of a time."""
    inner, unit = _moment(node.this, now), unit_cut_to(node)
    if inner is None or inner.has_offset or unit is None:
        return None
    return Moment(value=truncated(inner.at, unit), reads_clock=inner.reads_clock)


def _in_utc(node: exp.AtTimeZone, now: datetime) -> Moment | None:
    """Return a time AT TIME ZONE 'UTC'."""
    zone, inner = node.args.get("zone"), _moment(node.this, now)
    if inner is None or inner.has_offset or not _is_utc(zone):
        return None
    return replace(inner, value=inner.at, is_literal=False)


def _is_utc(zone: object) -> bool:
    return isinstance(zone, exp.Literal) and zone.name.upper() in ("UTC", "ETC/UTC")


def _since_1970(node: exp.UnixToTime) -> Moment | None:
    """Return TO_TIMESTAMP of a number of seconds."""
    others = [name for name, value in node.args.items() if value and name != "this"]
    number = _number(node.this)
    if others or number is None:
        return None
    return Moment(value=datetime(1970, 1, 1, tzinfo=UTC) + _delta(number * 10**6))


def _clock(node: exp.Expr, now: datetime) -> Moment | None:
    name = str(node.this) if isinstance(node, exp.Anonymous) else ""
    if not name and isinstance(node, exp.Func):
        name = node.sql_name()
    # A number is how many digits seconds have; a text is a time zone.
    zone = node.args.get("this") if isinstance(node, exp.Func) else None
    is_elsewhere = isinstance(zone, exp.Expr) and not zone.is_number and not _is_utc(zone)
    if node.args.get("expressions") or is_elsewhere:
        return None
    if name.lower() in CLOCKS:
        return Moment(value=midnight(now), reads_clock=True)
    if name.lower() in TODAYS:
        return Moment(value=midnight(now).date(), reads_clock=True)
    return None


# --------------------------------------------------------------------------- sums


def _sum(node: exp.Binary, now: datetime) -> Moment | None:
    sign = 1 if isinstance(node, exp.Add) else -1
    left, right = node.this, node.expression
    inner = _moment(left, now)
    if inner is None and sign == 1:
        left, right = right, left
        inner = _moment(left, now)
    if inner is None or isinstance(left.unnest(), exp.Literal):
        return None  # a text without a type may be an interval
    days = _number(right)
    if days is not None and days.denominator == 1 and not isinstance(inner.value, datetime):
        moved: date = inner.value + timedelta(days=sign * int(days))
        return Moment(value=moved, reads_clock=inner.reads_clock)
    duration = duration_of(right)
    if duration is None:
        return None
    months = inner.at if not duration.months else _months_later(inner.at, sign * duration.months)
    later = months + _delta(sign * duration.microseconds)
    return Moment(value=later, reads_clock=inner.reads_clock)


def _months_later(moment: datetime, months: int) -> datetime:
    """Return a moment so many months later, on the last day of shorter months."""
    number = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(number, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    day = min(moment.day, monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)


def _delta(microseconds: Fraction) -> timedelta:
    return timedelta(microseconds=round(microseconds))


def duration_of(node: exp.Expr) -> Duration | None:
    """Return the length of an interval that is written out, None if it is not known."""
    match node:
        case exp.Paren():
            return duration_of(node.this)
        case exp.Neg():
            inner = duration_of(node.this)
            return None if inner is None else inner.times(Fraction(-1))
        case exp.Mul():
            number, inner = _number(node.this), duration_of(node.expression)
            if number is None:
                number, inner = _number(node.expression), duration_of(node.this)
            return None if number is None or inner is None else inner.times(number)
        case exp.Interval():
            return _interval(node)
    is_cast = isinstance(node, exp.Cast) and node.to.this is exp.DType.INTERVAL
    return _duration_from(node.this.name) if is_cast and node.this.is_string else None


def _interval(node: exp.Interval) -> Duration | None:
    """Return INTERVAL '1 day', INTERVAL '1' DAY or INTERVAL 1 DAY."""
    number, unit, sign = node.this, node.args.get("unit"), Fraction(1)
    while isinstance(number, exp.Paren | exp.Neg):
        number, sign = number.this, -sign if isinstance(number, exp.Neg) else sign
    if not isinstance(number, exp.Literal):
        return None
    word = unit.name if isinstance(unit, exp.Var) else ""
    if "." in number.name and _singular(word.lower()) != "second":
        return None  # PostgreSQL reads INTERVAL '1.5' DAY as one day
    found = _duration_from(f"{number.name} {word}") if word or unit is None else None
    return None if found is None else found.times(sign)


def _duration_from(text: str) -> Duration | None:
    """Return the interval that a text is, such as 1 month 2 days or 1 day 02:30."""
    rest, found = text.strip().lower(), Duration()
    while rest:
        clock, part = CLOCK_TIME.match(rest), PART.match(rest)
        match = clock or part
        if match is None:
            return None
        added = _from_clock(match) if clock else _from_part(match[1], match[2])
        if added is None:
            return None
        found = Duration(
            months=found.months + added.months,
            microseconds=found.microseconds + added.microseconds,
        )
        rest = rest[match.end() :].strip()
    return found if text.strip() else None


def _from_clock(match: re.Match[str]) -> Duration:
    seconds = int(match[2]) * 3600 + int(match[3]) * 60 + Fraction(match[4] or 0)
    return Duration(microseconds=seconds * 10**6 * (-1 if match[1] == "-" else 1))


def _from_part(number: str, written: str) -> Duration | None:
    unit, amount = _singular(written), Fraction(number)
    if unit in MONTHS:
        return Duration(months=1).times(amount * MONTHS[unit])
    return Duration(microseconds=amount * MICROSECONDS[unit]) if unit in MICROSECONDS else None


def _singular(unit: str) -> str:
    known = {*MONTHS, *MICROSECONDS, *SHORT}
    plain = unit if unit in known else unit.removesuffix("s")
    return SHORT.get(plain, plain)


def _number(node: exp.Expr) -> Fraction | None:
    if isinstance(node, exp.Paren):
        return _number(node.this)
    if isinstance(node, exp.Neg):
        inner = _number(node.this)
        return None if inner is None else -inner
    if isinstance(node, exp.Literal) and not node.is_string and NUMBER.fullmatch(node.name):
        return Fraction(node.name)
    return None


# --------------------------------------------------------------------------- units


def unit_cut_to(node: exp.Expr) -> str | None:
    """Return the unit to which DATE_TRUNC cuts times in UTC, None if it is not one of these."""
    written, zone = node.args.get("unit"), node.args.get("zone")
    if zone is not None and not _is_utc(zone):
        return None
    name = written.name if isinstance(written, exp.Var | exp.Literal) else ""
    unit = _singular(name.lower())
    return unit if unit in TRUNCATED else None


def truncated(moment: datetime, unit: str) -> datetime:
    """Return when the year, week, hour and so on of a moment began, in UTC."""
    return TRUNCATED[unit](moment.astimezone(UTC))


def _day(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


TRUNCATED: Mapping[str, Callable[[datetime], datetime]] = {
    "second": lambda each: each.replace(microsecond=0),
    "minute": lambda each: each.replace(second=0, microsecond=0),
    "hour": lambda each: each.replace(minute=0, second=0, microsecond=0),
    "day": _day,
    "week": lambda each: _day(each) - timedelta(days=each.weekday()),
    "month": lambda each: _day(each).replace(day=1),
    "quarter": lambda each: _day(each).replace(month=each.month - (each.month - 1) % 3, day=1),
    "year": lambda each: _day(each).replace(month=1, day=1),
}
