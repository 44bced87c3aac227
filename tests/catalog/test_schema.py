"""Dates and timestamps as numbers, and back."""

from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.catalog.schema import Kind, number_from_time, time_from_number


@given(st.dates())
def test_dates_are_whole_days_and_come_back(day: date) -> None:
    number = number_from_time(day)
    assert number == (day - date(1970, 1, 1)).days
    assert time_from_number(number, Kind.DATE) == day


@given(st.datetimes())
def test_timestamps_are_whole_microseconds_and_come_back(moment: datetime) -> None:
    number = number_from_time(moment)
    assert number.denominator == 1
    assert time_from_number(number, Kind.TIMESTAMP) == moment
    assert time_from_number(number, Kind.TIMESTAMP_TZ) == moment.replace(tzinfo=UTC)


def test_offsets_are_taken_off() -> None:
    east = timezone(timedelta(hours=2))
    assert number_from_time(datetime(1970, 1, 1, 2, tzinfo=east)) == 0
    assert number_from_time(datetime(1, 1, 1, tzinfo=east)) < 0


@pytest.mark.parametrize("kind", [Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ])
def test_numbers_that_no_calendar_reaches_are_none(kind: Kind) -> None:
    assert time_from_number(Fraction(10**30), kind) is None
    assert time_from_number(Fraction(-(10**30)), kind) is None


def test_a_part_of_a_day_is_that_day() -> None:
    assert time_from_number(Fraction(-1, 2), Kind.DATE) == date(1969, 12, 31)
