"""Months and sets of months: equal if they have the same months, and stored as one text."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.months import (
    LAST,
    Months,
    MonthSpan,
    first_day,
    month_of,
    month_text,
    months_from_text,
    text_from_months,
)

SOME = range(24276, 24300)
ends = st.none() | st.sampled_from(SOME)
spans = st.builds(lambda a, b: MonthSpan(first=a, last=b), ends, ends).filter(
    lambda each: each.low <= each.high
)
sets = st.lists(spans, min_size=1, max_size=5).map(lambda found: Months(tuple(found)))
AROUND = (0, *range(SOME[0] - 2, SOME[-1] + 3), LAST)


def months_in(months: Months) -> set[int]:
    """Return the months of a set among those around its ends, one by one."""
    return {each for each in AROUND if months.overlaps(MonthSpan(first=each, last=each))}


@given(st.lists(spans, min_size=1, max_size=5))
def test_a_set_has_the_months_of_its_spans(found: list[MonthSpan]) -> None:
    expected = {n for n in AROUND if any(each.low <= n <= each.high for each in found)}
    assert months_in(Months(tuple(found))) == expected


@given(sets, sets)
def test_sets_are_equal_and_hold_each_other_as_their_months_do(one: Months, two: Months) -> None:
    assert (one == two) == (months_in(one) == months_in(two))
    assert one.holds(two) == (months_in(one) >= months_in(two))


@given(sets)
def test_a_set_is_read_back_from_its_text(months: Months) -> None:
    assert months_from_text(text_from_months(months)) == months


def test_texts_of_sets_stay_as_they_are() -> None:
    found = Months((MonthSpan(first=24276, last=24278), MonthSpan(first=24288)))
    assert text_from_months(found) == "2024-01..2024-03 2025-01.."
    assert text_from_months(Months()) == ".."
    assert str(found) == "2024-01 to 2024-03, 2025-01 and every later month"


@pytest.mark.parametrize(
    "text", ["", "2024-01", "2024-03..2024-01", "2024-13..", "0000-01..", "..2024-01 2024-02.."]
)
def test_a_text_that_nobody_wrote_is_rejected(text: str) -> None:
    with pytest.raises(ParameterError):
        months_from_text(text)


@pytest.mark.parametrize("spans", [(), (MonthSpan(first=3, last=2),), (MonthSpan(last=LAST + 1),)])
def test_a_set_without_months_or_beyond_the_calendar_is_rejected(
    spans: tuple[MonthSpan, ...],
) -> None:
    with pytest.raises(ParameterError):
        Months(spans)


def test_a_month_is_counted_from_the_first_of_the_calendar() -> None:
    assert month_of(date(1, 1, 31)) == 0
    assert month_of(date(9999, 12, 1)) == LAST
    assert first_day(month_of(date(2024, 2, 29))) == date(2024, 2, 1)
    assert month_text(24277) == "2024-02"
