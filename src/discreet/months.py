"""Months and sets of months: what a charge against a budget per month is about.

A month is the number of months since the first of the calendar, 0001-01. The last is 9999-12. Rows
outside of these years belong to no month.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from discreet.errors import ParameterError

LAST = 12 * 9999 - 1
"""The last month that there is, 9999-12."""

EACH_WAY = 20
"""Longer sets of months are shown without those in the middle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthSpan:
    """All months from the first to the last; None is no end on that side, also in times to come."""

    first: int | None = None
    last: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether it goes on for ever on one side."""
        return self.first is None or self.last is None

    @property
    def low(self) -> int:
        return 0 if self.first is None else self.first

    @property
    def high(self) -> int:
        return LAST if self.last is None else self.last

    def overlaps(self, other: "MonthSpan") -> bool:
        """Return whether a month is in both."""
        return self.low <= other.high and other.low <= self.high

    def holds(self, other: "MonthSpan") -> bool:
        """Return whether all months of the other are in this one."""
        return self.low <= other.low and other.high <= self.high

    def __str__(self) -> str:
        if self.first is None and self.last is None:
            return "every month"
        if self.first is None:
            return f"every month up to {month_text(self.high)}"
        if self.last is None:
            return f"{month_text(self.first)} and every later month"
        if self.first == self.last:
            return month_text(self.first)
        return f"{month_text(self.first)} to {month_text(self.last)}"


EVERY_MONTH = MonthSpan()


def _united(spans: Iterable[MonthSpan]) -> tuple[MonthSpan, ...]:
    """Return the same months in as few spans as there can be, in order."""
    found: list[MonthSpan] = []
    for each in sorted(spans, key=lambda span: (span.low, span.high)):
        if found and each.low <= found[-1].high + 1:
            last = found.pop()
            reached = max((last, each), key=lambda span: span.high)
            found.append(MonthSpan(first=last.first, last=reached.last))
        else:
            found.append(each)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Months:
    """A set of months, at least one; equal if the months are."""

    spans: tuple[MonthSpan, ...] = field(default=(EVERY_MONTH,))

    def __post_init__(self) -> None:
        spans = tuple(_checked(each) for each in self.spans)
        if not spans:
            raise ParameterError("months", self.spans, "must have at least one month")
        object.__setattr__(self, "spans", _united(spans))

    @property
    def is_open(self) -> bool:
        """Whether it has all months before or after some month."""
        return any(each.is_open for each in self.spans)

    @property
    def number(self) -> int | None:
        """How many months there are; None without an end."""
        return None if self.is_open else sum(each.high - each.low + 1 for each in self.spans)

    @property
    def only(self) -> int | None:
        """The month, if there is only one."""
        (first, *others) = self.spans
        return first.low if not others and first.low == first.high else None

    def overlaps(self, span: MonthSpan) -> bool:
        """Return whether a month of the span is among these."""
        return any(each.overlaps(span) for each in self.spans)

    def holds(self, other: "Months") -> bool:
        """Return whether all other months are among these."""
        return all(any(own.holds(each) for own in self.spans) for each in other.spans)

    def __str__(self) -> str:
        texts = [str(each) for each in self.spans]
        if len(texts) > 2 * EACH_WAY:
            texts = [*texts[:EACH_WAY], "…", *texts[-EACH_WAY:]]
        return ", ".join(texts)


def _checked(span: object) -> MonthSpan:
    """Return a span of months that there are, with ends of the calendar left open."""
    rule = "must be from a month to the same or a later one"
    if not isinstance(span, MonthSpan):
        raise ParameterError("months", span, rule)
    for each in (span.first, span.last):
        if each is not None and (type(each) is not int or not 0 <= each <= LAST):
            raise ParameterError("months", span, rule)
    if span.low > span.high:
        raise ParameterError("months", span, rule)
    return MonthSpan(first=span.low or None, last=None if span.high == LAST else span.high)


def month_of(day: date) -> int:
    """Return the month that a day, or a moment in UTC, is in."""
    return 12 * (day.year - 1) + day.month - 1


def first_day(month: int) -> date:
    """Return the first day of a month."""
    return date(month // 12 + 1, month % 12 + 1, 1)


def month_text(month: int) -> str:
    """Return a month as people write it: 2024-01."""
    return f"{month // 12 + 1:04}-{month % 12 + 1:02}"


# --------------------------------------------------------------------------- as stored

_SPAN = re.compile(r"([0-9]{4}-[0-9]{2})?\.\.([0-9]{4}-[0-9]{2})?")


def text_from_months(months: Months) -> str:
    """Return the text of a set of months in an entry, for ever: 2024-01..2024-03 2025-01.. ."""
    ends = (
        tuple("" if end is None else month_text(end) for end in (each.first, each.last))
        for each in months.spans
    )
    return " ".join(f"{first}..{last}" for first, last in ends)


def months_from_text(text: str) -> Months:
    """Return the months of a text that `text_from_months` wrote, or reject any other."""
    rule = "must be a text that the ledger wrote"
    found = [_SPAN.fullmatch(each) for each in text.split(" ")]
    spans = [_span(*each.groups()) for each in found if each is not None]
    if len(spans) < len(found):
        raise ParameterError("months", text, rule)
    months = Months(tuple(spans))
    if text_from_months(months) != text:
        raise ParameterError("months", text, rule)
    return months


def _span(first: str | None, last: str | None) -> MonthSpan:
    return MonthSpan(first=_number(first), last=_number(last))


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    year, month = map(int, text.split("-"))
    return 12 * (year - 1) + month - 1
