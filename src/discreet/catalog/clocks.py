"""Clocks of series: hours, days, weeks and months, by UTC. A tick is one of them.

Tick 1 begins at the first moment of a series, and tick n + 1 begins when tick n ends.
"""

from datetime import UTC, datetime, timedelta
from enum import Enum

MONTHS = 12


class Clock(Enum):
    """How long a tick is."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    """From Monday to Sunday."""
    MONTH = "month"

    def begins_at(self, moment: datetime) -> bool:
        """Return whether a tick of this clock can begin at a moment."""
        is_hour = (moment.minute, moment.second, moment.microsecond) == (0, 0, 0)
        match self:
            case Clock.HOUR:
                return is_hour
            case Clock.DAY:
                return is_hour and moment.hour == 0
            case Clock.WEEK:
                return is_hour and moment.hour == 0 and moment.weekday() == 0
            case Clock.MONTH:
                return is_hour and moment.hour == 0 and moment.day == 1

    def after(self, moment: datetime, ticks: int) -> datetime:
        """Return the moment so many ticks after the beginning of a tick."""
        if self is not Clock.MONTH:
            return moment + ticks * LENGTHS[self]
        months = moment.year * MONTHS + moment.month - 1 + ticks
        return moment.replace(year=months // MONTHS, month=months % MONTHS + 1)

    def between(self, first: datetime, moment: datetime) -> int:
        """Return how many ticks have ended at a moment if the first one begins at `first`."""
        if moment <= first:
            return 0
        if self is not Clock.MONTH:
            return (moment - first) // LENGTHS[self]
        return (moment.year - first.year) * MONTHS + moment.month - first.month


LENGTHS = {
    Clock.HOUR: timedelta(hours=1),
    Clock.DAY: timedelta(days=1),
    Clock.WEEK: timedelta(weeks=1),
}


def in_utc(moment: datetime) -> datetime:
    """Return a moment without an offset, by UTC. Without an offset, it is in UTC already."""
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def utc_now() -> datetime:
    """Return the present moment, without an offset."""
    return datetime.now(UTC).replace(tzinfo=None)
