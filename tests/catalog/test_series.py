"""The section [[series]]: what may be declared, and what errors say."""

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.catalog import Catalog, catalog_from
from discreet.catalog.clocks import Clock
from discreet.catalog.resolve import load
from discreet.catalog.schema import Column, Kind
from discreet.catalog.series import SeriesMechanism, SeriesPolicy
from discreet.catalog.toml import toml_from
from discreet.errors import CatalogError

COLUMNS = (Column(name="patient", kind=Kind.INTEGER), Column(name="at", kind=Kind.DATE))

SERIES: dict[str, Any] = {
    "name": "Visits by day",
    "question": "SELECT COUNT(*) FROM visits",
    "clock": "day",
    "first": date(2026, 1, 1),
    "ticks": 3653,
    "epsilon": 0.5,
}


def declared(**changed: Any) -> SeriesPolicy:
    return catalog_of({**SERIES, **changed}).series[0]


def catalog_of(*series: dict[str, Any]) -> Catalog:
    entries = {
        "budget": {"epsilon": 1, "delta": 1e-6},
        "tables": {"visits": {"unit": "patient", "arrival": "at"}},
        "series": list(series),
    }
    return catalog_from(entries, lambda _: COLUMNS)


def test_a_series_is_declared_with_its_horizon_and_cost() -> None:
    found = declared(rows_per_unit=5, rows_per_tick=2, wait="2 hours", mechanism="tree")
    assert found == SeriesPolicy(
        name="Visits by day",
        question="SELECT COUNT(*) FROM visits",
        clock=Clock.DAY,
        first=datetime(2026, 1, 1),
        ticks=3653,
        epsilon=Fraction(1, 2),
        rows_per_unit=5,
        rows_per_tick=2,
        wait=timedelta(hours=2),
        mechanism=SeriesMechanism.TREE,
    )


REJECTED: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"name": None}, "series[0].name is missing"),
    "odd name": ({"name": "a/b"}, "which is no name"),
    "no clock": ({"clock": "fortnight"}, 'must be "hour" or "day" or "week" or "month"'),
    "a Tuesday": ({"clock": "week", "first": date(2026, 1, 6)}, "must be on a Monday"),
    "mid-month": ({"clock": "month", "first": "2026-01-06"}, "Write first = 2026-01-01"),
    "at noon": ({"first": datetime(2026, 1, 1, 12)}, "must be at midnight, UTC"),
    "not a time": ({"first": "soon"}, "must be a date or timestamp, not 'soon'"),
    "no ticks": ({"ticks": 0}, "must be a whole number from 1"),
    "for ever": ({"clock": "month", "ticks": 999_999}, "after the year 9999"),
    "late for ever": (
        {"clock": "hour", "first": "9999-12-31 20:00", "ticks": 1, "wait": "9 hours"},
        "after the year 9999",
    ),
    "long ago": ({"first": "0001-01-01T00:00+14:00"}, "must be in a year from 1 to 9999"),
    "no cost": ({"epsilon": None}, "series[0].epsilon is missing"),
    "free": ({"epsilon": 0}, "must be a number from"),
    "bad delta": ({"delta": 1}, "must be at least 0 and less than 1"),
    "no rows": ({"rows_per_unit": 0}, "rows_per_unit must be a whole number"),
    "bad wait": ({"wait": "a while"}, "must be a time such as 2 hours"),
    "bad mechanism": ({"mechanism": "magic"}, "must be"),
    "unknown setting": ({"tick": 5}, "Unknown setting series[0].tick"),
    "no SQL": ({"question": " "}, "must be SQL"),
}


@pytest.mark.parametrize(("changed", "words"), REJECTED.values(), ids=REJECTED)
def test_a_bad_setting_is_rejected_with_its_place(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(CatalogError) as caught:
        declared(**changed)
    assert words in str(caught.value)


def test_two_series_need_two_names() -> None:
    with pytest.raises(CatalogError, match="the name of another series"):
        catalog_of(SERIES, {**SERIES, "name": "VISITS by day"})


def test_a_written_catalog_has_its_series(tmp_path: Any) -> None:
    policy = declared(rows_per_unit=5, wait="90 seconds", delta=1e-9, clock="hour")
    path = tmp_path / "discreet.toml"
    path.write_text(toml_from(catalog_of({**SERIES, "clock": "hour", "rows_per_unit": 5})))
    text = toml_from(
        catalog_of({**SERIES, "clock": "hour", "rows_per_unit": 5, "wait": "90 seconds"})
    )
    path.write_text(text.replace("epsilon = 0.5", "epsilon = 0.5\ndelta = 1e-9"))
    assert load(path).series == (policy,)


moments = st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2400, 1, 1))


@given(moments, st.sampled_from(Clock), st.integers(0, 3000))
def test_a_clock_counts_the_ticks_that_it_makes(moment: datetime, clock: Clock, ticks: int) -> None:
    first = moment.replace(minute=0, second=0, microsecond=0)
    if clock is not Clock.HOUR:
        first = first.replace(hour=0)
    if clock is Clock.WEEK:
        first -= timedelta(days=first.weekday())
    if clock is Clock.MONTH:
        first = first.replace(day=1)
    assert clock.begins_at(first)
    end = clock.after(first, ticks)
    assert clock.begins_at(end)
    assert clock.between(first, end) == ticks
    if ticks:
        assert clock.between(first, end - timedelta(microseconds=1)) == ticks - 1
    assert clock.between(first, first - timedelta(days=1)) == 0


def test_a_tick_is_due_when_it_has_ended_and_was_waited_for() -> None:
    policy = declared(wait="2 hours", ticks=10)
    assert policy.due(datetime(2026, 1, 2, 1, 59)) == 0
    assert policy.due(datetime(2026, 1, 2, 2)) == 1
    assert policy.due(datetime(2030, 1, 1)) == 10
    assert policy.start(10) == datetime(2026, 1, 10)


def test_first_with_an_offset_is_taken_by_utc() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC).astimezone()
    assert declared(first=at).first == datetime(2026, 1, 1)


def test_series_and_a_budget_per_month_are_not_in_one_catalog() -> None:
    entries = {
        "budget": {"epsilon": 1, "per": "month"},
        "tables": {"visits": {"unit": "patient", "arrival": "at"}},
        "series": [SERIES],
    }
    with pytest.raises(CatalogError, match="per cannot be used together with"):
        catalog_from(entries, lambda _: COLUMNS)
