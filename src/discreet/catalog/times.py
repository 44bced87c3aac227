"""Dates and timestamps as numbers: days and microseconds since 1970-01-01, UTC."""

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from discreet.catalog.schema import Kind

FIRST_DAY = date(1970, 1, 1)
FIRST_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def number_from_date(value: date) -> Fraction:
    """Return the days since 1970-01-01."""
    return Fraction(value.toordinal() - FIRST_DAY.toordinal())


def number_from_timestamp(value: datetime) -> Fraction:
    """Return the microseconds since 1970-01-01T00:00, UTC; without an offset it is UTC already."""
    moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value
    return Fraction((moment - FIRST_MOMENT) // MICROSECOND)


def number_from_time(value: date) -> Fraction:
    """Return a date in days, or a timestamp in microseconds, since 1970-01-01, UTC."""
    if isinstance(value, datetime):
        return number_from_timestamp(value)
    return number_from_date(value)


def time_from_number(number: Fraction, kind: Kind) -> date | None:
    """Return the date or timestamp of this kind at or just before the number.

    None if calendars here, which have the years 1 to 9999, do not reach it.
    """
    try:
        if kind is Kind.DATE:
            return date.fromordinal(FIRST_DAY.toordinal() + number.__floor__())
        moment = FIRST_MOMENT + number.__floor__() * MICROSECOND
    except (OverflowError, ValueError):
        return None
    return moment if kind is Kind.TIMESTAMP_TZ else moment.replace(tzinfo=None)
