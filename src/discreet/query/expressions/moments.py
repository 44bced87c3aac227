"""Intervals for functions of dates and timestamps, computed in microseconds."""

import math
from calendar import monthrange
from datetime import MAXYEAR, datetime
from fractions import Fraction

from discreet.catalog.schema import Kind, number_from_timestamp, time_from_number
from discreet.query.expressions.intervals import End, at, monotone, multiply
from discreet.query.tree import Interval

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


def _first_of_month(index: int) -> End:
    year, month = divmod(index, 12)
    return number_from_timestamp(datetime(year, month + 1, 1)) if 1 <= year <= MAXYEAR else None
