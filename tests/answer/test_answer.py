"""An answer's values: rows, errors, prices, and other programs' forms of them."""

import csv
import importlib
import json
import sys
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from io import StringIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.answer import Balance, Price
from discreet.answer.answer import Note
from discreet.answer.columns import FORMULA_STARTS, inert
from discreet.errors import MissingExtraError, ParameterError, without_commands
from discreet.explanation import ExplainedColumn
from tests.answer.made import make_answer, make_regions


def test_rows_are_python_values() -> None:
    day = date(2024, 1, 31)
    answer = make_answer({"day": [day, None], "n": [3, None], "big": [Decimal(10**30), None]})
    assert answer.rows == [
        {"day": day, "n": 3, "big": 10**30},
        {"day": None, "n": None, "big": None},
    ]
    assert type(answer.rows[0]["big"]) is int


def test_whole_decimals_that_fit_are_64_bit_integers() -> None:
    table = pa.table({"s": pa.array([Decimal(7)], pa.decimal128(38, 0))})
    assert make_answer(table).to_arrow().schema.field("s").type == pa.int64()


def test_timestamps_in_nanoseconds_become_python_datetimes() -> None:
    moment = pa.array([1_700_000_000_123_456_789], pa.timestamp("ns"))
    value = make_answer(pa.table({"t": moment})).rows[0]["t"]
    assert type(value) is datetime


def test_two_columns_of_one_name_are_both_there() -> None:
    table = pa.table([pa.array([i]) for i in (1, 2, 3)], names=["n", "n", "n_2"])
    assert make_answer(table).rows == [{"n": 1, "n_3": 2, "n_2": 3}]


def test_errors_are_those_of_the_confidence_and_can_be_had_at_another() -> None:
    answer = make_regions()
    assert answer.margins == {"visits": [41.0, 41.0], "age": [0.412, 4.6]}
    assert answer.margins_at(0.99)["visits"] == [82.0, 82.0]
    assert answer.margins_at(0.99, simultaneous=True)["visits"] == [164.0, 164.0]


def test_a_row_without_an_error_bar_has_none() -> None:
    answer = make_answer({"n": [1, 2]}, {"n": [3.0, np.nan]})
    assert answer.margins == {"n": [3.0, None]}
    assert answer.to_arrow(errors=True).to_pydict()["n_error"] == [3.0, None]


@pytest.mark.parametrize("confidence", [0, 1, 1.5, float("nan"), "95"])
def test_a_confidence_outside_its_range_is_refused(confidence: object) -> None:
    with pytest.raises(ParameterError, match="confidence"):
        make_regions().margins_at(confidence)  # type: ignore[arg-type]


def test_every_column_needs_a_role_and_a_width() -> None:
    with pytest.raises(ParameterError, match="one role and margin each"):
        make_regions(column_margins=[None])


def test_a_kept_answer_has_its_price_but_charges_nothing() -> None:
    answer = make_regions(from_ledger=True)
    assert answer.price == Price(epsilon=Fraction(1, 2))
    assert answer.charged.is_free
    assert answer.is_free


# --------------------------------------------------------------------------- frames


def test_frames_carry_errors_beside_their_columns_when_asked() -> None:
    answer = make_regions()
    names = ["region", "visits", "visits_error", "age", "age_error"]
    assert answer.to_arrow(errors=True).column_names == names
    assert list(answer.to_pandas(errors=True).columns) == names
    assert answer.to_polars(errors=True).columns == names
    assert list(answer.to_pandas().columns) == ["region", "visits", "age"]


def test_an_error_column_takes_no_name_that_is_taken() -> None:
    answer = make_answer({"n": [1], "n_error": [2]}, {"n": 3})
    assert answer.to_arrow(errors=True).column_names == ["n", "n_error_", "n_error"]


def test_whole_numbers_with_gaps_stay_whole_in_pandas() -> None:
    frame = make_answer({"n": [1, None]}).to_pandas()
    assert str(frame["n"].dtype) == "Int64"


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named_with_its_extra(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"discreet\[frames\]"):
        getattr(make_regions(), f"to_{package}")()


def test_frames_hold_the_rows() -> None:
    answer = make_regions()
    assert answer.to_polars().to_dicts() == answer.rows
    assert answer.to_pandas().to_dict("records") == answer.rows
    assert answer.to_arrow().to_pylist() == answer.rows


# --------------------------------------------------------------------------- CSV


def test_csv_has_the_numbers_in_full_and_their_errors() -> None:
    assert make_regions().to_csv() == (
        "region,visits,visits_error,age,age_error\n"
        "north,12418,41.0,43.2178,0.412\n"
        "south,9877,41.0,41.7999,4.6\n"
    )


def test_csv_can_leave_errors_out_and_be_a_file(tmp_path: Path) -> None:
    written = make_regions().to_csv(tmp_path / "answer.csv", errors=False)
    assert isinstance(written, Path)
    assert written.read_text(encoding="utf-8").splitlines()[1] == "north,12418,43.2178"


def test_csv_has_nothing_for_null_and_iso_for_dates() -> None:
    answer = make_answer({"d": [date(2024, 2, 29), None], "b": [True, None], "x": [-1.5, None]})
    assert answer.to_csv() == "d,b,x\n2024-02-29,true,-1.5\n,,\n"


def test_csv_tells_empty_text_from_null() -> None:
    assert make_answer({"k": ["", None], "n": [1, 2]}).to_csv() == 'k,n\n"",1\n,2\n'
    assert make_answer({"k": [None, "a"]}).to_csv() == 'k\n""\na\n'


@pytest.mark.parametrize(
    "cell",
    [
        "=cmd|' /C calc'!A0",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "  =1",
        "＝1",
        "\ufeff=1",
    ],
)
def test_texts_that_look_like_formulas_are_inert_in_csv(cell: str) -> None:
    answer = make_answer({cell: [cell, "plain"]})
    rows = list(csv.reader(StringIO(str(answer.to_csv()), newline="")))
    shown = without_commands(f"'{cell}")
    assert rows == [[shown], [shown], ["plain"]]


@given(st.text())
def test_no_text_cell_of_a_csv_starts_like_a_formula(text: str) -> None:
    assert not inert(text).strip().startswith(tuple(FORMULA_STARTS))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_comes_back_from_csv(text: str) -> None:
    answer = make_answer({"a": [text], "b": [1]})
    rows = list(csv.reader(StringIO(str(answer.to_csv()), newline="")))
    assert rows[1] == [without_commands(inert(text)), "1"]


# --------------------------------------------------------------------------- JSON


def test_json_says_everything_exactly() -> None:
    price = Price(epsilon=Fraction(1, 3), delta=Fraction(1, 10**8))
    told = json.loads(make_regions(price=price, notes=("A note.",)).to_json())
    assert told["columns"][1] == {"name": "visits", "role": "estimate", "type": "integer"}
    assert told["rows"] == [["north", 12418, 43.2178], ["south", 9877, 41.7999]]
    assert told["errors"] == {"visits": [41, 41], "age": [0.412, 4.6]}
    assert told["price"]["epsilon_exact"] == "1/3"
    assert told["price"]["delta"] == 1e-8
    assert told["remaining"]["total_epsilon"] == 3
    assert told["confidence"] == 0.95
    assert told["notes"] == ["A note."]
    assert told["is_free"] is False


def test_json_is_strict_where_numbers_are_not() -> None:
    answer = make_answer(
        {"x": [float("nan"), float("inf"), 1.0], "d": [date(2024, 1, 1)] * 3},
        {"x": [1.0, np.inf, np.nan]},
    )
    told = json.loads(answer.to_json())
    assert told["rows"] == [[None, "2024-01-01"], [None, "2024-01-01"], [1.0, "2024-01-01"]]
    assert told["errors"] == {"x": [1.0, None, None]}


# --------------------------------------------------------------------------- amounts

amounts = st.fractions(min_value=0, max_value=1000)


@pytest.mark.parametrize(
    ("price", "text"),
    [
        (Price(epsilon=Fraction(1, 2)), "ε = 0.5"),
        (Price(epsilon=Fraction(10)), "ε = 10"),
        (Price(epsilon=Fraction(1, 3), delta=Fraction(1, 10**6)), "ε ≈ 0.333334, δ = 1e-6"),
        (Price(epsilon=Fraction(1, 2), delta=Fraction(25, 10**9)), "ε = 0.5, δ = 2.5e-8"),
        (Price(epsilon=Fraction(1, 10**300)), "ε = 1e-300"),
    ],
)
def test_prices_read_like_numbers(price: Price, text: str) -> None:
    assert str(price) == text


def shown_amount(text: str) -> Fraction:
    return Fraction(text.removeprefix("ε").strip(" =≈"))


@given(amounts)
def test_what_is_paid_is_never_shown_smaller_and_what_is_left_never_larger(
    amount: Fraction,
) -> None:
    assert shown_amount(str(Price(epsilon=amount))) >= amount
    left = str(Balance(epsilon=amount, total_epsilon=Fraction(1000)))
    assert shown_amount(left.split(" of ", maxsplit=1)[0]) <= amount


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("error", "margins"),
        ("half_widths", "column_margins"),
        ("was_kept", "from_ledger"),
    ],
)
def test_old_names_still_work_and_say_what_to_use(old: str, new: str) -> None:
    answer = make_regions(from_ledger=True)
    with pytest.warns(DeprecationWarning, match=f"Answer.{old} is deprecated"):
        assert getattr(answer, old) == getattr(answer, new)


def test_old_ways_to_ask_for_margins_and_cautions_still_work() -> None:
    answer = make_regions(notes=("Hidden.", Note("Shown.", is_printed=True)))
    with pytest.warns(DeprecationWarning, match=r"Answer\.margins_at"):
        assert answer.error_at(0.99) == answer.margins_at(0.99)
    with pytest.warns(DeprecationWarning, match=r"Answer\.notes"):
        assert answer.cautions == ("Shown.",)


def test_the_old_module_of_exports_still_works() -> None:
    old = importlib.import_module("discreet.answer.exports")
    with pytest.warns(DeprecationWarning, match=r"discreet\.answer\.columns\.inert"):
        assert old.inert("=1") == inert("=1")


def test_the_old_name_of_a_margin_in_an_explanation_still_works() -> None:
    column = ExplainedColumn(
        name="n",
        statistic="COUNT(*)",
        margin_text="±3",
        epsilon_share=Fraction(1),
        noise="Laplace noise, scale 1 row",
        why="",
    )
    with pytest.warns(DeprecationWarning, match=r"ExplainedColumn\.margin_text"):
        assert column.spread_text == "±3"
