"""Reads literals of a query: numbers, dates, intervals and the names of units of time."""

import re
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

from discreet.catalog.schema import Kind
from discreet.query.expressions.moments import LENGTHS, MONTHS

DATE = re.compile(r"\s*(\d{4,5})-(\d{1,2})-(\d{1,2})\s*", re.ASCII)
TIMESTAMP = re.compile(
    r"\s*(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(?P<fraction>\d{1,6}))?)?)?"
    r"\s*(?P<zone>Z|(?P<hours>[+-]\d{2})(?::?(?P<minutes>\d{2}))?)?\s*",
    re.ASCII,
)
SPAN = re.compile(r"\s*([+-]?\d{1,9})\s*([a-z]+)", re.ASCII | re.IGNORECASE)
LONGEST_NUMBER = 400
"""Characters of a number, and its exponent: beyond, no floating-point number is near."""

UNIT_NAMES = {
    name: unit
    for unit, names in {
        "microsecond": "us usec usecs microsecond microseconds",
        "millisecond": "ms msec msecs millisecond milliseconds",
        "second": "s sec secs second seconds",
        "minute": "m min mins minute minutes",
        "hour": "h hr hrs hour hours",
        "day": "d day days dayofmonth",
        "week": "w week weeks weekofyear",
        "month": "mon mons month months",
        "quarter": "quarter quarters",
        "year": "y yr yrs year years",
        "decade": "dec decs decade decades",
        "century": "c cent century centuries",
        "dow": "dow dayofweek weekday",
        "isodow": "isodow",
        "doy": "doy dayofyear",
        "isoyear": "isoyear",
        "epoch": "epoch",
    }.items()
    for name in names.split()
}
"""The units and parts of time, by all names that DuckDB has for them."""


class Span(NamedTuple):
    """A span of time, which is added in this order."""

    months: int
    days: int
    microseconds: int


def number_from_text(text: str) -> int | Fraction | float | None:
    """Return a number as SQL has it: an integer, an exact decimal, or floating point with an e.

    None if it is too large or too small for any of them.
    """
    if len(text) > LONGEST_NUMBER:
        return None
    mantissa, e, exponent = text.lower().partition("e")
    with suppress(ValueError):
        if not e:
            value = Fraction(text) if "." in text else _integer(int(text))
            return None if _finite(Fraction(value)) is None else value
        if len(exponent) <= 5 and abs(int(exponent)) <= LONGEST_NUMBER:
            return _finite(Fraction(mantissa) * Fraction(10) ** int(exponent))
    return None


def _integer(value: int) -> int | Fraction:
    """Return an integer of 64 bits as it is; larger ones have no fraction, but are reals."""
    return value if -(2**63) <= value < 2**63 else Fraction(value)


def _finite(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def time_from_text(text: str, kind: Kind) -> date | None:
    """Return the date or timestamp that a text states; None if it states none.

    With a zone, times are UTC unless the text has an offset.
    """
    with suppress(ValueError, OverflowError):
        if kind is Kind.DATE:
            found = DATE.fullmatch(text)
            return None if found is None else date(*map(int, found.groups()))
        return _timestamp(text, zoned=kind is Kind.TIMESTAMP_TZ)
    return None


def _timestamp(text: str, *, zoned: bool) -> datetime | None:
    found = TIMESTAMP.fullmatch(text)
    if found is None or (found["zone"] is not None and not zoned):
        return None
    year, month, day, hour, minute, second = (int(each or 0) for each in found.groups()[:6])
    microsecond = int((found["fraction"] or "").ljust(6, "0"))
    moment = datetime(year, month, day, hour, minute, second, microsecond)
    if not zoned:
        return moment
    sign = -1 if (found["hours"] or "").startswith("-") else 1
    offset = timedelta(hours=int(found["hours"] or 0), minutes=sign * int(found["minutes"] or 0))
    return (moment - offset).replace(tzinfo=UTC)


def span_from_text(text: str) -> Span | None:
    """Return the span of time that a text such as '1 year 2 months' states; None if none."""
    total = Span(0, 0, 0)
    place = 0
    while place < len(text.rstrip()):
        found = SPAN.match(text, place)
        part = None if found is None else span_of_unit(int(found[1]), found[2])
        if found is None or part is None:
            return None
        total = Span(*(a + b for a, b in zip(total, part, strict=True)))
        place = found.end()
    return total if place else None


def span_of_unit(amount: int, unit: str) -> Span | None:
    """Return so many units of time; None if it is no unit."""
    name = UNIT_NAMES.get(unit.lower())
    if name in MONTHS:
        return Span(amount * MONTHS[name], 0, 0)
    if name in ("day", "week"):
        return Span(0, amount * (7 if name == "week" else 1), 0)
    return Span(0, 0, amount * LENGTHS[name]) if name in LENGTHS else None
