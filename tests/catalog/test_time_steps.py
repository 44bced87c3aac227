"""Steps of dates and timestamps: how they are written, and how times are rounded down to them."""

from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.catalog.arguments import declare
from discreet.catalog.resolve import resolve
from discreet.catalog.schema import Column, Kind
from discreet.catalog.shown import declared_text
from discreet.catalog.time_steps import (
    DAY,
    UNITS,
    rounded_down,
    step_of_times,
    time_step_from,
    time_step_text,
)
from discreet.catalog.toml import written_column
from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.plan import make_plan
from discreet.query.plan.plan import EpsilonTarget
from discreet.wire import from_wire, to_wire
from tests.properties.databases import public_store

SECOND = 10**6


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1 second", SECOND),
        ("15 minutes", 900 * SECOND),
        ("1 hour", 3600 * SECOND),
        (" 36 Hours ", 36 * 3600 * SECOND),
        ("1day", 86400 * SECOND),
        ("2 weeks", 14 * 86400 * SECOND),
        *((text, None) for text in ("", "day", "1", "1 month", "1.5 hours", "-1 day", "0 days")),
        *((text, None) for text in ("1 day 1 hour", "999999999 weeks", "１ day", "1 fortnight")),
    ],
)
def test_a_step_is_a_number_and_a_unit(text: str, microseconds: int | None) -> None:
    assert time_step_from(text) == microseconds


steps = st.builds(
    lambda number, unit: Fraction(number * UNITS[unit]),
    st.integers(1, 500),
    st.sampled_from(list(UNITS)),
)
moments = st.datetimes(datetime(1600, 1, 1), datetime(2400, 1, 1)).map(
    lambda each: each.replace(tzinfo=UTC)
)


@given(steps)
def test_a_step_is_read_as_it_is_written(step: Fraction) -> None:
    assert time_step_from(time_step_text(step)) == step


@given(moments, steps)
def test_rounding_down_goes_back_by_less_than_a_step_and_only_once(
    moment: datetime, step: Fraction
) -> None:
    found = rounded_down(moment, step)
    assert timedelta(0) <= moment - found < timedelta(microseconds=int(step))
    assert rounded_down(found, step) == found
    assert rounded_down(found + timedelta(microseconds=int(step) - 1), step) == found


def test_weeks_begin_on_mondays_and_other_steps_at_1970() -> None:
    moment = datetime(2024, 5, 16, 1, 2, 3, tzinfo=timezone(timedelta(hours=5)))
    assert rounded_down(moment, Fraction(UNITS["week"])) == datetime(2024, 5, 13, tzinfo=UTC)
    assert rounded_down(moment, DAY) == datetime(2024, 5, 15, tzinfo=UTC)
    assert rounded_down(moment, 10 * DAY).toordinal() % 10 == datetime(1970, 1, 1).toordinal() % 10


def test_days_are_the_step_of_a_date_alone() -> None:
    assert step_of_times(Column(name="day", kind=Kind.DATE)) == DAY
    assert step_of_times(Column(name="at", kind=Kind.TIMESTAMP)) is None
    declared = Column(name="day", kind=Kind.DATE, time_step=7 * DAY)
    assert step_of_times(declared) == 7 * DAY


def test_a_step_is_shown_written_and_sent() -> None:
    column = Column(name="at", kind=Kind.TIMESTAMP, time_step=Fraction(900 * SECOND))
    assert written_column(column) == '{ type = "timestamp", step = "15 minutes" }'
    assert declared_text(column) == "steps of 15 minutes"
    assert from_wire(to_wire(column)) == column


def test_a_step_of_time_changes_no_plan_and_no_name_of_a_release() -> None:
    """What was charged for stays free when the owner adds a step."""
    columns = (
        Column(name="who", kind=Kind.INTEGER),
        Column(name="at", kind=Kind.TIMESTAMP),
    )
    sql = "SELECT date_trunc('month', t.at) AS m, COUNT(*) AS n FROM t GROUP BY m"
    plans = []
    for step in (None, {"at": "1 hour"}):
        bounds = {"at": ("2024-01-01", "2024-12-31")}
        declared = declare({"t": None}, unit="who", epsilon=1, bounds=bounds, step=step)
        catalog = resolve(declared, lambda _: columns)
        question = check(parse(sql), catalog, public_store())
        plans.append(make_plan(question, EpsilonTarget(1), catalog.budget))
    assert plans[0].identities == plans[1].identities
    assert plans[0].events == plans[1].events
