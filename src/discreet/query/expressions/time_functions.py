"""Intervals for functions of dates and timestamps, computed in microseconds."""

import math
from calendar import monthrange
from datetime import MAXYEAR, date, datetime
from fractions import Fraction

from discreet.catalog.schema import Kind, number_from_date, number_from_timestamp, time_from_number
from discreet.query.expressions import intervals, number_functions
from discreet.query.expressions.facts import (
    DATE,
    INTEGER,
    ONE,
    TEXT,
    TIME,
    Arguments,
    Function,
    any_nullable,
    number_facts,
    step_of,
    words,
)
from discreet.query.expressions.intervals import End, at, between, monotone, multiply
from discreet.query.expressions.number_functions import integer
from discreet.query.tree import ANYWHERE, Call, Expression, Facts, Interval


def to_date(arguments: Arguments) -> Facts:
    """Return the facts of a cast to a date."""
    x = arguments[0].facts
    interval = x.interval if x.kind is Kind.DATE else days(x.interval)
    return _time_facts(Kind.DATE, interval, nullable=x.nullable or x.kind is Kind.TEXT)


def to_timestamp(arguments: Arguments) -> Facts:
    """Return the facts of a cast to a timestamp."""
    x = arguments[0].facts
    interval = moments(x.interval, x.kind)
    return _time_facts(Kind.TIMESTAMP, interval, nullable=x.nullable or x.kind is Kind.TEXT)


# --------------------------------------------------------------------------- rules for times


def _time_facts(kind: Kind, interval: Interval, *, nullable: bool) -> Facts:
    is_safe = interval.low is not None and interval.high is not None
    return Facts(kind=kind, interval=interval, step=ONE, nullable=nullable or not is_safe)


def _moments(argument: Expression) -> Interval:
    return moments(argument.facts.interval, argument.facts.kind)


def _moment_kind(argument: Expression) -> Kind:
    zoned = argument.facts.kind is Kind.TIMESTAMP_TZ
    return Kind.TIMESTAMP_TZ if zoned else Kind.TIMESTAMP


def add_days(arguments: Arguments) -> Facts:
    """Return the facts of a date some days later."""
    day, number = (each.facts.interval for each in arguments)
    return _time_facts(Kind.DATE, intervals.add(day, number), nullable=any_nullable(arguments))


def add_interval(arguments: Arguments) -> Facts:
    """Return the facts of a time moved by months, days and microseconds."""
    x, months, days, microseconds = arguments
    moved = shifted(
        _moments(x), months=integer(months), days=integer(days), microseconds=integer(microseconds)
    )
    return _time_facts(_moment_kind(x), moved, nullable=x.facts.nullable)


def add_microseconds(arguments: Arguments) -> Facts:
    """Return the facts of a time some microseconds later."""
    x, number = arguments
    moved = intervals.add(_moments(x), number.facts.interval)
    return _time_facts(_moment_kind(x), moved, nullable=any_nullable(arguments))


def time_bucket(arguments: Arguments) -> Facts:
    """Return the facts of the first moment of a bucket of time."""
    x, width, origin = arguments
    size, first = integer(width), integer(origin)
    found = monotone(_moments(x), lambda at: Fraction((at - first) // size * size + first))
    return _time_facts(_moment_kind(x), found, nullable=x.facts.nullable)


def date_trunc(arguments: Arguments) -> Facts:
    """Return the facts of the first moment of a unit of time."""
    unit, x = arguments
    found = truncated(_moments(x), words(unit))
    return _time_facts(_moment_kind(x), found, nullable=x.facts.nullable)


def date_diff(arguments: Arguments) -> Facts:
    """Return the facts of a number of units of time between two times."""
    unit, first, second = arguments
    start, end = (
        intervals.monotone(_moments(each), lambda x: index_of(x, words(unit)))
        for each in (first, second)
    )
    found = intervals.subtract(end, start)
    if words(unit) == "week":
        # Weeks are whole sevens of days, wherever they begin: one off at most.
        found = intervals.add(found, between(-1, 1))
    return number_facts(Kind.INTEGER, found, nullable=any_nullable(arguments))


PARTS = {
    "microsecond": between(0, 59_999_999),
    "millisecond": between(0, 59_999),
    "second": between(0, 59),
    "minute": between(0, 59),
    "hour": between(0, 23),
    "day": between(1, 31),
    "dow": between(0, 6),
    "isodow": between(1, 7),
    "doy": between(1, 366),
    "week": between(1, 53),
    "month": between(1, 12),
    "quarter": between(1, 4),
    "year": ANYWHERE,
    "isoyear": ANYWHERE,
    "decade": ANYWHERE,
    "century": ANYWHERE,
    "epoch": ANYWHERE,
}
"""The parts of a time, and where each lies at any time."""


def date_part(arguments: Arguments) -> Facts:
    """Return the facts of a part of a time."""
    part, x = words(arguments[0]), arguments[1]
    interval = PARTS[part]
    if interval == ANYWHERE:
        interval = intervals.monotone(_moments(x), lambda moment: _growing_part(moment, part))
    if part in ("month", "quarter"):
        interval = _within_year(_moments(x), part) or interval
    kind = Kind.REAL if part == "epoch" else Kind.INTEGER
    bounded = PARTS[part] != ANYWHERE
    return Facts(
        kind=kind,
        interval=interval,
        step=step_of(kind),
        nullable=x.facts.nullable
        or not (bounded or intervals.is_within(interval, intervals.REALS)),
    )


def _growing_part(microseconds: Fraction, part: str) -> Fraction | int | None:
    if part == "epoch":
        return microseconds / 1_000_000
    moment = moment_at(microseconds)
    if moment is None:
        return None
    return {
        "year": moment.year,
        "isoyear": moment.isocalendar().year,
        "decade": moment.year // 10,
        "century": (moment.year - 1) // 100 + 1,
    }[part]


def _within_year(a: Interval, unit: str) -> Interval | None:
    """Return where months or quarters lie if all is in one year."""
    ends = [None if each is None else moment_at(each) for each in (a.low, a.high)]
    low, high = ends
    if low is None or high is None or low.year != high.year:
        return None
    size = 3 if unit == "quarter" else 1
    return between((low.month - 1) // size + 1, (high.month - 1) // size + 1)


def make_date(arguments: Arguments) -> Facts:
    """Return the facts of a date made of year, month and day."""

    def first(year: Fraction) -> Fraction | None:
        return number_from_date(date(int(year), 1, 1)) if 1 <= year <= MAXYEAR else None

    def last(year: Fraction) -> Fraction | None:
        return number_from_date(date(int(year), 12, 31)) if 1 <= year <= MAXYEAR else None

    year = arguments[0].facts.interval
    interval = Interval(
        low=None if year.low is None else first(year.low),
        high=None if year.high is None else last(year.high),
    )
    return Facts(kind=Kind.DATE, interval=interval, step=ONE, nullable=True)


TIMES = (
    Function(
        name="date_part",
        meaning="the part x (a name of facts.PARTS) of the time y, an integer: dow is 0 for Sunday "
        "and isodow 7; week and isoyear are ISO; second, millisecond and microsecond count from "
        "the minute on; decade is year / 10; century 20 ends with the year 2000; epoch is seconds "
        "since 1970, a real",
        accepts=(TEXT, TIME),
        facts=date_part,
        literals=frozenset({0}),
    ),
    Function(
        name="date_trunc",
        meaning="the first moment of the unit x (of moments.UNITS) that the time y lies in, a "
        "timestamp, with time zone if y has one; weeks begin on Monday, decades and centuries in "
        "years divisible by 10 and 100",
        accepts=(TEXT, TIME),
        facts=date_trunc,
        literals=frozenset({0}),
    ),
    Function(
        name="date_diff",
        meaning="how many units x (of moments.UNITS) begin after the time y and up to the time z, "
        "negative if z is earlier, an integer; but weeks are whole sevens of days between the two "
        "days, the rest cut off",
        accepts=(TEXT, TIME, TIME),
        facts=date_diff,
        literals=frozenset({0}),
    ),
    Function(
        name="add_days",
        meaning="the date y days after x; NULL if out of range",
        accepts=(DATE, INTEGER),
        facts=add_days,
    ),
    Function(
        name="days_between",
        meaning="x - y in days, an integer",
        accepts=(DATE, DATE),
        facts=number_functions.arithmetic(intervals.subtract, Kind.INTEGER),
    ),
    Function(
        name="add_interval",
        meaning="the timestamp, with time zone if x has one, y months, then z days, then so many "
        "microseconds after x; a day that the month does not have becomes its last; NULL if out of "
        "range",
        accepts=(TIME, INTEGER, INTEGER, INTEGER),
        facts=add_interval,
        literals=frozenset({1, 2, 3}),
    ),
    Function(
        name="add_microseconds",
        meaning="the timestamp, with time zone if x has one, y microseconds after x; NULL if out "
        "of range",
        accepts=(TIME, INTEGER),
        facts=add_microseconds,
    ),
    Function(
        name="time_bucket",
        meaning="the last moment at or before the time x that lies a multiple of y microseconds "
        "from z, a timestamp, with time zone if x has one; z is in microseconds since 1970; NULL "
        "if out of range",
        accepts=(TIME, INTEGER, INTEGER),
        facts=time_bucket,
        literals=frozenset({1, 2}),
    ),
    Function(
        name="make_date",
        meaning="the date of year x, month y and day z; NULL if there is none",
        accepts=(INTEGER, INTEGER, INTEGER),
        facts=make_date,
    ),
)


DAY = 86_400_000_000
"""Microseconds in a day."""


LENGTHS = {
    "microsecond": 1,
    "millisecond": 1000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": DAY // 24,
    "day": DAY,
    "week": 7 * DAY,
}
"""Units of time that are all equally long, in microseconds."""


MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
"""Units of time that are so many months, counted from year 0."""


UNITS = (*LENGTHS, *MONTHS)


FIRST_MONDAY = 4 * DAY
"""1970-01-05, from which weeks are counted."""


def moments(a: Interval, kind: Kind) -> Interval:
    """Return the microseconds of dates (or timestamps) in the interval, at their first moment."""
    return multiply(a, at(DAY)) if kind is Kind.DATE else a


def days(a: Interval) -> Interval:
    """Return the days in which moments of the interval lie."""
    return monotone(a, lambda x: math.floor(x / DAY))


def truncated(a: Interval, unit: str) -> Interval:
    """Return where the first moments of a unit of time lie; weeks begin on Monday."""
    return monotone(a, lambda x: _truncated(x, unit))


def _truncated(x: Fraction, unit: str) -> End:
    if unit in LENGTHS:
        origin = FIRST_MONDAY if unit == "week" else 0
        return Fraction(math.floor((x - origin) / LENGTHS[unit]) * LENGTHS[unit] + origin)
    index = index_of(x, unit)
    return None if index is None else _first_of_month(index * MONTHS[unit])


def shifted(a: Interval, *, months: int, days: int, microseconds: int) -> Interval:
    """Return where moments lie once moved: by months, then days, then microseconds.

    A day that the new month does not have becomes its last one, so moving never swaps moments.
    """
    return monotone(a, lambda x: _shifted(x, months, days * DAY + microseconds))


def _shifted(x: Fraction, months: int, rest: int) -> End:
    if months == 0:
        return x + rest
    moment = moment_at(x)
    if moment is None:
        return None
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    try:
        day = min(moment.day, monthrange(year, month + 1)[1])
        moved = moment.replace(year=year, month=month + 1, day=day)
    except (ValueError, OverflowError):
        return None
    return number_from_timestamp(moved) + rest


def index_of(x: Fraction, unit: str) -> int | None:
    """Return a number that grows by one from each unit of time to the next."""
    if unit in LENGTHS:
        return math.floor(x / LENGTHS[unit])
    moment = moment_at(x)
    return None if moment is None else (moment.year * 12 + moment.month - 1) // MONTHS[unit]


def moment_at(x: Fraction) -> datetime | None:
    """Return the moment of so many microseconds, if calendars reach it: years 1 to 9999."""
    found = time_from_number(x, Kind.TIMESTAMP)
    return found if isinstance(found, datetime) else None


def starts_between(a: Interval, unit: str, most: int) -> list[Fraction] | None:
    """Return where units of time begin within an interval; None if that is not known, or often."""
    if a.low is None or a.high is None:
        return None
    if unit in LENGTHS:
        origin, size = FIRST_MONDAY if unit == "week" else 0, LENGTHS[unit]
        first, last = math.ceil((a.low - origin) / size), math.floor((a.high - origin) / size)
        if last - first >= most:
            return None
        return [Fraction(number * size + origin) for number in range(first, last + 1)]
    start, end = (index_of(each, unit) for each in (a.low, a.high))
    if start is None or end is None or end - start >= most:
        return None
    found = (_first_of_month(number * MONTHS[unit]) for number in range(start, end + 1))
    return [each for each in found if each is not None and a.low <= each]


PART_UNITS = {
    **{unit: unit for unit in LENGTHS if unit != "week"},
    **{unit: unit for unit in ("week", "month", "quarter", "year", "decade")},
    **dict.fromkeys(("dow", "isodow", "doy"), "day"),
    "isoyear": "week",
    "century": "year",
}
"""The units of time that a part of a time is the same in."""


def finest_unit(function: Call) -> str | None:
    """Return a unit of time such that a function changes only where one begins."""
    if function.function == "to_date":
        return "day"
    name = words(function.arguments[0])
    match function.function:
        case "date_part":
            return PART_UNITS.get(name)
        case "date_trunc":
            return name
        case "date_diff":
            return "day" if name == "week" else name
        case _:
            return None


PERIODS = {
    **dict.fromkeys(("microsecond", "millisecond", "second"), LENGTHS["minute"]),
    "minute": LENGTHS["hour"],
    "hour": DAY,
    **dict.fromkeys(("dow", "isodow"), 7 * DAY),
    "day": 62 * DAY,
    **dict.fromkeys(("month", "quarter"), 366 * DAY),
}
"""Times so long, in microseconds, that a part has all of its values in them."""


def covers_all_parts(expression: Expression) -> bool:
    """Return whether an expression is a part of a time that has all values in its interval."""
    if not isinstance(expression, Call) or expression.function != "date_part":
        return False
    period, a = PERIODS.get(words(expression.arguments[0])), _moments(expression.arguments[1])
    if period is None:
        return False
    return a.low is None or a.high is None or a.high - a.low >= period


def _first_of_month(index: int) -> End:
    year, month = divmod(index, 12)
    return number_from_timestamp(datetime(year, month + 1, 1)) if 1 <= year <= MAXYEAR else None
