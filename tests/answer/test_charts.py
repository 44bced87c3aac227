"""Pictures of answers: the right kind for each shape, and files that open."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet.answer import Answer
from discreet.errors import ParameterError
from tests.answer.made import make_answer, make_regions

DAYS = [date(2024, 1, 1) + timedelta(days=i) for i in range(60)]


def make_days() -> Answer:
    return make_answer({"day": DAYS, "n": list(range(60))}, {"n": 4}, keys=["day"])


def make_names(rows: int) -> Answer:
    names = [f"a name of some length {i} $x$" for i in range(rows)]
    return make_answer({"k": names, "n": list(range(rows))}, {"n": 4}, keys=["k"])


def make_two_keys() -> Answer:
    columns = {
        "day": [day for day in DAYS for _ in range(3)],
        "region": ["north", "south", "east"] * 60,
        "n": list(range(180)),
    }
    return make_answer(columns, {"n": 4}, keys=["day", "region"])


def make_grid(hours: int = 24, carriers: int = 12) -> Answer:
    names = [f"carrier {i} $x$" for i in range(carriers)]
    columns = {
        "hour": [hour for hour in range(hours) for _ in names][::-1],
        "carrier": names[::-1] * hours,
        "flights": list(range(hours * carriers)),
    }
    answer = make_answer(columns, {"flights": 141}, keys=["hour", "carrier"])
    return make_answer(answer.table.slice(1), {"flights": 141}, keys=["hour", "carrier"])


def make_months_and_regions() -> Answer:
    columns = {"month": [*range(1, 13)] * 3, "region": [r for r in "nse" for _ in range(12)]}
    return make_answer(columns | {"n": list(range(36))}, {"n": 4}, keys=["month", "region"])


SHAPES = {
    "bars": make_regions(),
    "lying bars": make_names(20),
    "more bars than can be drawn": make_names(200),
    "months": make_answer(
        {"m": [date(2024, m, 1) for m in range(1, 13)], "n": list(range(12))}, {"n": 1}, keys=["m"]
    ),
    "days": make_days(),
    "days of a year": make_answer(
        {"t": [datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=i) for i in range(300)]}
        | {"n": list(range(300))},
        keys=["t"],
    ),
    "numbers in order": make_answer(
        {"age": [None, *range(40, 20, -1)], "n": list(range(21))}, {"n": 3}, keys=["age"]
    ),
    "lines": make_two_keys(),
    "a heat map": make_grid(),
    "a heat map of many hours": make_grid(hours=100),
    "more names than a heat map has room for": make_grid(carriers=70),
    "one row": make_answer({"n": [12_418], "m": [40.5]}, {"n": 41}),
    "no rows": make_answer(pa.table({"n": pa.array([], pa.int64())}), {"n": 1}),
    "gaps": make_answer(
        {"k": ["a", None, "c"], "x": [1.0, None, np.inf]}, {"x": [1.0, np.nan, np.inf]}, keys=["k"]
    ),
    "no keys": make_answer({"n": [1, 2, 3]}, {"n": 1}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_can_be_drawn_and_saved(shape: str, tmp_path: Path) -> None:
    saved = SHAPES[shape].plot().save(tmp_path / "answer.png")
    assert saved.read_bytes().startswith(b"\x89PNG")


def test_few_ordered_points_are_bars_and_many_are_a_line_with_a_band() -> None:
    months, days = (SHAPES[shape].plot().figure.axes[0] for shape in ("months", "days"))
    assert (len(months.patches), len(months.lines) > 13) == (12, False)
    assert (len(days.patches), len(days.collections)) == (0, 1)


def test_many_names_lie() -> None:
    axes = SHAPES["lying bars"].plot().figure.axes[0]
    assert axes.get_yticklabels()[0].get_text() == "a name of some length 0 $x$"
    low, high = axes.get_ylim()
    assert low > high  # the first row is on top


def test_a_picture_of_too_many_rows_says_so() -> None:
    axes = SHAPES["more bars than can be drawn"].plot().figure.axes[0]
    assert axes.get_ylabel() == "k (the first 60 of 200 rows)"


def test_each_other_key_has_a_line_of_its_own() -> None:
    figure = make_two_keys().plot().figure
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["north", "south", "east"]


def test_a_single_row_tells_its_numbers() -> None:
    titles = [axes.get_title(loc="left") for axes in SHAPES["one row"].plot().figure.axes]
    assert titles == ["n   12,418 ±41 (95%)", "m   40.5"]


def test_there_is_a_panel_for_each_column_or_for_those_that_are_named() -> None:
    assert len(make_regions().plot().figure.axes) == 2
    assert len(make_regions().plot("age").figure.axes) == 1


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(ParameterError, match="among region, visits, age"):
        make_regions().plot("aeg")


def test_an_answer_without_numbers_cannot_be_drawn() -> None:
    with pytest.raises(ParameterError, match="a column of numbers"):
        make_answer({"k": ["a", "b"]}, keys=["k"]).plot()


def test_two_keys_are_lines_even_where_both_are_ordered() -> None:
    for answer in (
        make_months_and_regions(),
        make_answer(
            {"month": [*range(1, 13)] * 3, "year": [y for y in (1, 2, 3) for _ in range(12)]}
            | {"n": list(range(36))},
            keys=["month", "year"],
        ),
    ):
        figure = answer.plot().figure
        assert figure.axes[0].get_xlabel() == "month"
        assert len(figure.axes[0].lines) == len(figure.legends[0].get_texts()) == 3


def test_two_keys_of_many_values_are_a_heat_map_with_all_rows() -> None:
    axes, bar = make_grid().plot().figure.axes
    (image,) = axes.images
    drawn = image.get_array()
    assert drawn is not None
    grid = np.ma.filled(drawn, np.nan)
    assert grid.shape == (12, 24)
    assert np.isnan(grid).sum() == 1  # the row that is not in the answer
    assert (grid[0, 23], grid[1, 23], np.isnan(grid[11, 23])) == (1, 2, True)
    assert [text.get_text() for text in axes.get_xticklabels()] == [str(i) for i in range(24)]
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("carrier", "hour")
    assert axes.get_title(loc="left") == "flights   (margins up to ±150, 95% confidence)"
    assert not list(bar.images)


def test_more_names_than_fit_beside_a_heat_map_are_bars() -> None:
    axes = make_grid(carriers=70).plot().figure.axes[0]
    assert axes.get_ylabel() == "hour · carrier (the first 60 of 1679 rows)"


@pytest.mark.parametrize(
    ("keys", "are_whole"),
    [([*range(2001, 2016)], True), ([i / 10 for i in range(20)], False)],
    ids=["years", "tenths"],
)
def test_ticks_are_whole_where_keys_are(keys: list[float], are_whole: bool) -> None:
    axes = make_answer({"k": keys, "n": keys}, keys=["k"]).plot().figure.axes[0]
    axes.set_xlim(keys[0], keys[0] + 2)
    ticks = axes.get_xticks()
    assert all(tick == int(tick) for tick in ticks) == are_whole
    assert axes.xaxis.get_major_formatter()(2002.0, 0) == ("2002" if are_whole else "2,002")
