"""Steps of dates and timestamps: "1 day", "15 minutes". They say how finely queries may ask.

Times of a query are rounded down to a multiple of the step, so a dashboard that asks about the
last hours asks the same query until the next step begins. What is stored and planned does not
depend on them.
"""

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from discreet.catalog.schema import FIRST_MOMENT, MICROSECOND, Column, Kind

UNITS = {
    "week": timedelta(weeks=1) // MICROSECOND,
    "day": timedelta(days=1) // MICROSECOND,
    "hour": timedelta(hours=1) // MICROSECOND,
    "minute": timedelta(minutes=1) // MICROSECOND,
    "second": timedelta(seconds=1) // MICROSECOND,
}
"""Microseconds of each unit, the longest first."""

DAY = Fraction(UNITS["day"])

LONGEST = 3660 * DAY
"""Steps are at most so long: ten years."""

MONDAY = datetime(1970, 1, 5, tzinfo=UTC)
"""Where steps of whole weeks are counted from; all others from 1970-01-01."""

WRITTEN = re.compile(r"([0-9]{1,9}) *(" + "|".join(UNITS) + r")s?", re.ASCII | re.IGNORECASE)


def time_step_from(text: str) -> Fraction | None:
    """Return the microseconds of a step such as "15 minutes", None if it is no step."""
    found = WRITTEN.fullmatch(text.strip())
    if found is None:
        return None
    step = Fraction(int(found[1]) * UNITS[found[2].lower()])
    return step if 0 < step <= LONGEST else None


def time_step_text(step: Fraction) -> str:
    """Return a step as the catalog has it, in the longest unit that fits."""
    unit = next(each for each in UNITS if step % UNITS[each] == 0)
    number = step / UNITS[unit]
    return f"{number} {unit}{'' if number == 1 else 's'}"


def step_of_times(column: Column) -> Fraction | None:
    """Return the step to which times that are compared with a column are rounded down.

    Days are the step of a date, unless the owner declares another.
    """
    if column.time_step is not None:
        return column.time_step
    return DAY if column.kind is Kind.DATE else None


def rounded_down(moment: datetime, step: Fraction) -> datetime:
    """Return the last multiple of a step that is not after a moment, in UTC.

    Multiples are counted from 1970-01-01 00:00, those of whole weeks from a Monday. It raises
    OverflowError before the year 1.
    """
    first = MONDAY if step % UNITS["week"] == 0 else FIRST_MOMENT
    passed = (moment.astimezone(UTC) - first) // MICROSECOND
    return first + int(passed // step * step) * MICROSECOND
