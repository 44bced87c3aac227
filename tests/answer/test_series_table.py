"""Released ticks as text, CSV, JSON and charts."""

import json
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.answer.series_table import SeriesTable, series_table_from_json
from discreet.errors import ParameterError

FIRST = datetime(2026, 1, 5)


def table(groups: int = 2, ticks: int = 3, **changed: Any) -> SeriesTable:
    starts = [FIRST + timedelta(days=i) for i in range(ticks) for _ in range(groups)]
    numbers = [float(10 * i) for i in range(groups * ticks)]
    keys = [f"=clinic {i}" for i in range(groups)] * ticks
    found = SeriesTable(
        name="visits",
        kind="running",
        window=None,
        clock="day",
        confidence=Fraction(19, 20),
        keys=("tick",),
        columns=("n",),
        released=ticks,
        ticks=30,
        notes=("Left out: rows without a patient.",),
        table=pa.Table.from_arrays(
            [
                pa.array(starts, pa.timestamp("us")),
                pa.array(keys),
                pa.array(numbers),
                pa.array([2.5] * len(numbers)),
            ],
            names=["tick", "tick", "n", "n_margin"],
        ),
    )
    return found if not changed else SeriesTable(**{**_fields(found), **changed})


def _fields(found: SeriesTable) -> dict[str, Any]:
    return {name: getattr(found, name) for name in SeriesTable.__dataclass_fields__}


def test_text_has_all_rows_margins_and_notes_even_if_a_key_is_called_tick() -> None:
    text = table().to_text()
    assert text.startswith("visits: running total (3 of 30 days released)\n")
    assert "2026-01-07   =clinic 1   50.0   ±2.5" in text
    assert "± is the margin of error, at 95% confidence for each tick." in text
    assert text.endswith("Left out: rows without a patient.")
    assert str(table(ticks=30)).count("2026-") == 20
    assert table()._repr_html_().count("±2.5") == 6


def test_the_last_ticks_have_all_their_groups() -> None:
    assert table().last(2).table.num_rows == 4
    assert table().last(99).table == table().table
    assert table().last(2).last(1).table == table().last(1).table
    with pytest.raises(ParameterError, match="ticks"):
        table().last(0)


def test_csv_has_margins_beside_numbers_and_no_formulas(tmp_path: Path) -> None:
    text = str(table(ticks=1).to_csv())
    assert text.splitlines() == [
        "tick,tick,n,n_margin",
        "2026-01-05T00:00:00,'=clinic 0,0.0,2.5",
        "2026-01-05T00:00:00,'=clinic 1,10.0,2.5",
    ]
    assert Path(table(ticks=1).to_csv(tmp_path / "ticks.csv")).read_text() == text


@pytest.mark.parametrize(
    "key",
    [
        pa.array([date(2026, 1, 1), None]),
        pa.array([True, False]),
        pa.array([2**60, -1]),
        pa.array([datetime(2026, 1, 1, 1, tzinfo=UTC)] * 2, pa.timestamp("us", tz="UTC")),
    ],
    ids=lambda each: str(each.type),
)
def test_json_is_read_again_as_it_was(key: Any) -> None:
    found = table(ticks=1)
    found = table(ticks=1, table=found.table.set_column(1, "tick", key))
    assert series_table_from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_chart_has_a_line_and_a_band_for_each_group() -> None:
    (axes,) = table().plot().figure.axes
    assert len(axes.get_lines()) == len(axes.collections) == 2
    assert axes.get_xlabel() == "day (UTC)"
    with pytest.raises(ParameterError, match="must be among n"):
        table().plot("m")


def test_a_chart_says_which_groups_it_leaves_out() -> None:
    (axes,) = table(groups=9).plot().figure.axes
    assert len(axes.get_lines()) == 6
    assert axes.get_xlabel() == "day (UTC) · the first 6 of 9 groups"


@pytest.mark.parametrize("ticks", [0, 1])
def test_few_ticks_are_drawn_too(ticks: int) -> None:
    assert table(ticks=ticks).plot().figure is not None
