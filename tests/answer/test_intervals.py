"""Intervals of medians, minima and maxima: in every form of an answer, and through later SQL."""

import csv
import json
from collections.abc import Iterator
from datetime import date, timedelta
from io import StringIO

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.answer.charts import _distances
from discreet.curator import Curator

ROWS = 4_000
DAYS = [date(2024, 1, 1) + timedelta(days=n % 300) for n in range(ROWS)]


@pytest.fixture(scope="module")
def curator() -> Iterator[Curator]:
    """Return a curator of two groups with many rows, and one declared group without any."""
    numbers = np.arange(ROWS)
    table = pa.table(
        {
            "who": numbers.tolist(),
            "side": np.where(numbers % 2, "left", "right").tolist(),
            "x": (40 + numbers / 1000).tolist(),
            "n": (numbers % 100).tolist(),
            "day": DAYS,
        }
    )
    with discreet.open(
        {"t": table},
        unit="who",
        rows_per_unit=1,
        epsilon=1000,
        bounds={"t.x": (0, 1000), "t.n": (0, 99), "t.day": ("2024-01-01", "2024-12-31")},
        values={"t.side": ["left", "right", "none"]},
    ) as made:
        yield made


BY_SIDE = "SELECT side, MEDIAN(x) AS m, COUNT(*) AS n FROM t GROUP BY side"


def test_an_answer_has_the_interval_in_every_form(curator: Curator) -> None:
    answer = curator.ask(BY_SIDE, epsilon=10)
    assert list(answer.intervals) == ["m"]
    left, right, none = answer.intervals["m"]
    assert none is None
    for interval, row in zip((left, right), answer.rows, strict=False):
        assert interval is not None
        low, high = interval
        assert 40 < low <= 42 <= high < 44  # type: ignore[operator]
        assert low <= row["m"] <= high  # type: ignore[operator]
    assert json.loads(answer.to_json())["intervals"] == {"m": [list(left), list(right), None]}  # type: ignore[arg-type]
    assert list(answer.margins) == ["n"]
    frame = answer.to_arrow(errors=True)
    assert frame.column_names == ["side", "m", "m_low", "m_high", "n", "n_error"]
    assert frame.column("m_low").to_pylist() == [left[0], right[0], None]  # type: ignore[index]
    assert answer.to_arrow().column_names == ["side", "m", "n"]
    first, *_, last = csv.DictReader(StringIO(str(answer.to_csv())))
    assert (float(first["m_low"]), float(first["m_high"])) == left
    assert last["m"] == last["m_low"] == last["m_high"] == ""
    text = answer.to_text()
    assert "interval" in text.splitlines()[0]
    assert "An interval holds the value without noise, at 95% confidence." in text
    assert " to 4" in answer._repr_html_()
    assert answer.plot("m") is not None


def test_a_group_of_too_few_rows_says_so(curator: Curator) -> None:
    answer = curator.ask(BY_SIDE, epsilon=10)
    assert [row["m"] is None for row in answer.rows] == [False, False, True]
    (note,) = [each for each in answer.notes if "too few rows" in each]
    assert note.startswith("m is NULL where too few rows support a value: about ")
    assert note in " ".join(answer.to_text().split())


def test_another_confidence_is_free_and_has_the_same_interval(curator: Curator) -> None:
    """Up to the confidence that it holds at; above, nothing is claimed."""
    sql = "SELECT MEDIAN(x) AS m, MAX(x) AS hi FROM t"
    answer = curator.ask(sql, epsilon=10)
    again = curator.ask(sql, epsilon=10, confidence=0.99)
    assert again.charged.epsilon == 0
    assert again.intervals == answer.intervals
    more = curator.ask(sql, epsilon=10, confidence=0.999)
    assert list(more.intervals) == ["m"]
    assert curator.ask(sql, epsilon=10, confidence=0.9999).intervals == {}


def test_an_interval_of_a_value_that_noise_chose_needs_a_higher_confidence(
    curator: Curator,
) -> None:
    """The largest of three: it misses three times as often, so 98% would take 99.3%."""
    sql = "SELECT side, MAX(x) AS hi FROM t GROUP BY side"
    largest = f"{sql} ORDER BY hi DESC NULLS LAST LIMIT 1"
    assert list(curator.ask(sql, epsilon=30, confidence=0.98).intervals) == ["hi"]
    assert list(curator.ask(largest, epsilon=30).intervals) == ["hi"]
    assert curator.ask(largest, epsilon=30, confidence=0.98).intervals == {}


def test_extremes_have_one_end_at_the_bounds(curator: Curator) -> None:
    answer = curator.ask("SELECT MIN(x) AS lo, MAX(x) AS hi, MAX(n) AS n FROM t", epsilon=30)
    ((low, least),), ((most, high),), ((_, top),) = answer.intervals.values()  # type: ignore[misc]
    assert low == 0
    assert 40 <= least < 41  # type: ignore[operator]
    assert 43 < most <= 44  # type: ignore[operator]
    assert (high, top) == (1000, 99)


def test_dates_and_whole_numbers_have_intervals_of_their_own_kind(curator: Curator) -> None:
    answer = curator.ask(
        "SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY n) AS n, MEDIAN(day) AS day FROM t",
        epsilon=10,
    )
    (number,), (day,) = answer.intervals.values()
    assert number is not None
    assert day is not None
    assert all(isinstance(each, int) for each in number)
    assert number[0] <= 49 <= number[1]  # type: ignore[operator]
    assert day[0] <= sorted(DAYS)[ROWS // 2] <= day[1]  # type: ignore[operator]
    assert str(day[0]) in answer.to_text()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT m FROM (SELECT side, MEDIAN(x) AS m FROM t GROUP BY side) WHERE m > 1",
        "WITH s AS (SELECT side, MEDIAN(x) AS v FROM t GROUP BY side) "
        "SELECT side, v AS m FROM s ORDER BY v DESC NULLS LAST LIMIT 2",
        "SELECT side, MEDIAN(x) AS m FROM t GROUP BY side HAVING MEDIAN(x) > 1 ORDER BY side DESC",
        "SELECT s.m FROM (SELECT side, MEDIAN(x) FROM t GROUP BY side) AS s(side, m) WHERE m > 1",
    ],
)
def test_intervals_go_along_with_values_that_sql_only_names(curator: Curator, sql: str) -> None:
    answer = curator.ask(sql, epsilon=10)
    assert len(answer) == 2
    for row, interval in zip(answer.rows, answer.intervals["m"], strict=True):
        assert interval is not None
        assert interval[0] <= row["m"] <= interval[1]  # type: ignore[operator]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 2 * MEDIAN(x) AS m FROM t",
        "SELECT MEDIAN(x) AS m FROM t UNION ALL SELECT MIN(x) FROM t",
        "SELECT DISTINCT MEDIAN(x) AS m FROM t",
        "SELECT MAX(m) AS m FROM (SELECT side, MEDIAN(x) AS m FROM t GROUP BY side)",
    ],
)
def test_a_value_that_sql_makes_something_of_has_no_interval(curator: Curator, sql: str) -> None:
    answer = curator.ask(sql, epsilon=10)
    assert answer.intervals == {}
    assert answer.columns == ("m",)


def test_a_number_after_a_median_is_computed(curator: Curator) -> None:
    answer = curator.ask(
        "SELECT COUNT(*) AS n FROM t WHERE x > (SELECT MEDIAN(x) FROM t)", epsilon=20
    )
    assert answer.rows[0]["n"] == pytest.approx(ROWS / 2, abs=200)


def test_a_number_that_depends_on_a_median_has_no_margin(curator: Curator) -> None:
    """One beside it has: hidden columns of intervals do not keep SQL from being resampled."""
    answer = curator.ask(
        "SELECT side, m, n + m AS both, n - LAG(n) OVER (ORDER BY side) AS more FROM "
        "(SELECT side, MEDIAN(x) AS m, COUNT(*) AS n FROM t GROUP BY side) WHERE side <> 'none'",
        epsilon=10,
    )
    assert list(answer.margins) == ["more"]
    assert json.loads(answer.to_json())["error_methods"] == {"more": "resampled"}
    assert list(answer.intervals) == ["m"]


def test_a_number_in_place_of_a_median_of_too_few_rows_has_no_margin(curator: Curator) -> None:
    """With other noise there might have been a median."""
    sql = "SELECT COUNT(*) + COALESCE(MEDIAN(x), 0) AS both FROM t WHERE side = 'none'"
    answer = curator.ask(sql, epsilon=10)
    assert answer.rows[0]["both"] == pytest.approx(0, abs=10), "there is no median"
    assert answer.margins == {}
    assert any(each.startswith("both has no ±") for each in answer.notes)


def test_a_median_in_brackets_has_no_hidden_columns_where_one_value_is_read(
    curator: Curator,
) -> None:
    answer = curator.ask(
        "SELECT COUNT(*) AS n FROM t WHERE x > ((SELECT MEDIAN(x) FROM t))", epsilon=20
    )
    assert answer.rows[0]["n"] == pytest.approx(ROWS / 2, abs=200)


def test_intervals_are_read_off_a_saved_table_too(curator: Curator) -> None:
    wide = curator.ask("SELECT side, MEDIAN(x) AS m, MIN(x) AS lo FROM t GROUP BY side", epsilon=40)
    narrow = curator.ask("SELECT side, MIN(x) AS v FROM t GROUP BY side", epsilon=15)
    assert narrow.charged.epsilon == 0
    assert narrow.intervals["v"] == wide.intervals["lo"]


def test_error_bars_reach_to_both_ends(curator: Curator) -> None:
    answer = curator.ask("SELECT MEDIAN(x) AS m FROM t", epsilon=10)
    (column,) = answer._columns(answer.table)
    below, above = _distances(column)[:, 0]
    ((low, high),) = answer.intervals["m"]  # type: ignore[misc]
    value = answer.rows[0]["m"]
    assert (value - below, value + above) == pytest.approx((low, high))


def test_the_grid_does_not_show_beside_the_noise() -> None:
    """Values within a thousandth of wide bounds, without a step: a grid of 2^14 points showed."""
    rows = 20_000
    table = pa.table({"who": range(rows), "x": (500 + np.arange(rows) / rows).tolist()})
    with discreet.open(
        {"t": table}, unit="who", rows_per_unit=1, epsilon=100, bounds={"t.x": (0, 1000)}
    ) as curator:
        answer = curator.ask("SELECT MEDIAN(x) AS m FROM t", epsilon=10)
        ((low, high),) = answer.intervals["m"]  # type: ignore[misc]
        assert answer.rows[0]["m"] == pytest.approx(500.5, abs=0.01)
        assert high - low < 1000 / (1 << 14)  # type: ignore[operator]
