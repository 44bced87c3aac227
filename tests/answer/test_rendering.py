"""An answer on a screen and in a notebook: its digits, its folds, and text that cannot lie."""

import json
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from html.parser import HTMLParser
from math import inf, isclose, nan

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.amounts import Number, error_text, number_text
from discreet.answer import Balance, Price
from discreet.answer.answer import Note
from discreet.answer.rendering import clipped, padded, visible, width_of
from tests.answer.made import make_answer, make_regions

LEGEND = "± is the margin of error from the noise, at 95% confidence."
SPENT = "Spent ε = 0.5 · Remaining: ε = 2.5 of 3 · Repeating this query is free"


def test_an_answer_reads_like_a_table_with_its_price() -> None:
    assert str(make_regions()) == (
        "region   visits     ±     age       ±\n"
        "north    12,418   ±41   43.22   ±0.42\n"
        "south     9,877   ±41   41.8    ±4.6\n"
        "\n"
        f"{LEGEND}\n"
        f"{SPENT}"
    )


def test_notes_and_deltas_are_told() -> None:
    answer = make_answer(
        {"n": [7]},
        {"n": 3},
        price=Price(epsilon=Fraction(1, 2), delta=Fraction(1, 10**8)),
        remaining=Balance(
            epsilon=Fraction(5, 2),
            total_epsilon=Fraction(3),
            delta=Fraction(99, 10**8),
            total_delta=Fraction(1, 10**6),
        ),
        notes=("At most 10 rows of a patient count.",),
    )
    assert answer.to_text(notes=True) == (
        "n    ±\n"
        "7   ±3\n"
        "\n"
        f"{LEGEND}\n"
        "At most 10 rows of a patient count.\n"
        "Spent ε = 0.5, δ = 1e-8 · Remaining: ε = 2.5 of 3, δ = 9.9e-7 of 1e-6 · "
        "Repeating this query is free"
    )
    assert "At most" not in str(answer)


def test_a_note_that_is_printed_needs_no_asking_and_cannot_pass_for_the_footer() -> None:
    limit = Note("Contribution limit: at most 10 rows are used. Spent nothing.", is_printed=True)
    answer = make_answer({"n": [7]}, {"n": 3}, notes=(limit, "More."))
    assert str(answer).splitlines()[3:] == [LEGEND, limit, SPENT]
    lines = answer.to_text(width=40).splitlines()
    assert lines[5:7] == ["Contribution limit: at most 10 rows are", "  used. Spent nothing."]
    assert json.loads(answer.to_json())["notes"] == [limit, "More."]


def test_a_question_asked_again_is_said_to_be_free() -> None:
    last = str(make_regions(from_ledger=True)).splitlines()[-1]
    assert last == "Spent nothing: this is the saved answer to this query · Remaining: ε = 2.5 of 3"


def test_a_question_about_public_tables_is_said_to_be_free() -> None:
    last = str(make_regions(price=Price(epsilon=Fraction(0)))).splitlines()[-1]
    assert last == "Spent nothing: no private data were read · Remaining: ε = 2.5 of 3"


def test_an_empty_answer_still_has_its_columns_and_its_price() -> None:
    empty = pa.table({"k": pa.array([], pa.string()), "n": pa.array([], pa.int64())})
    answer = make_answer(empty, {"n": 3}, keys=["k"])
    assert str(answer) == f"k   n   ±\n(no rows)\n\n{LEGEND}\n{SPENT}"
    assert "no rows" in answer._repr_html_()
    assert answer.rows == []


def test_nulls_and_texts_like_them_are_told_apart() -> None:
    answer = make_answer(
        {"k": [None, "NULL", "", " a ", "a"], "x": [None, 1.5, nan, inf, -0.0]},
        {"x": [1.0, 0.25, 0.5, 2.5, 0.5]},
        keys=["k"],
    )
    assert str(answer).splitlines()[:-3] == [
        "k           x       ±",
        "NULL     NULL",
        "'NULL'   1.50   ±0.25",
        "''        NaN   ±0.50",
        "' a '       ∞   ±2.5",
        "a        0.00   ±0.50",
    ]


def test_long_answers_show_a_head_and_a_tail() -> None:
    lines = str(make_answer({"n": list(range(1041))})).splitlines()
    assert len(lines) == 1 + 20 + 1 + 10 + 2
    assert lines[21] == "… 1,011 more rows …"
    assert lines[22].strip() == "1,031"
    assert "… 1,011 more rows …" in make_answer({"n": list(range(1041))})._repr_html_()


def test_wide_answers_fold_and_repeat_their_keys() -> None:
    columns = {"region": ["north", "south"]} | {f"column {i}": [i, 10 * i] for i in range(12)}
    answer = make_answer(columns, {f"column {i}": 3 for i in range(12)}, keys=["region"])
    lines = str(answer).splitlines()
    assert max(map(width_of, lines)) <= 100
    assert sum(line.startswith("region") for line in lines) == 3
    assert sum(line.split().count("±") for line in lines if line.startswith("region")) == 12


def test_one_wide_row_stands_on_end() -> None:
    columns = {f"a rather long name {i}": [i * 1000.25] for i in range(6)}
    answer = make_answer(columns, {"a rather long name 3": 0.5})
    assert str(answer).splitlines()[2:4] == [
        "a rather long name 2    2,000.5",
        "a rather long name 3   3,000.75   ±0.50",
    ]


def test_days_are_days_and_moments_are_moments() -> None:
    midnight, noon = datetime(2024, 1, 1), datetime(2024, 1, 1, 12)
    days = make_answer({"d": [date(2024, 1, 1)], "t": [midnight], "m": [noon]})
    assert str(days).splitlines()[1] == "2024-01-01   2024-01-01   2024-01-01 12:00:00"


def test_values_of_any_type_are_shown() -> None:
    table = pa.table(
        {"b": [True], "x": [Decimal("1234.50")], "l": [[1, 2]], "raw": [b"\x00\xff"], "n": [None]}
    )
    assert str(make_answer(table)).splitlines()[1] == "true   1,234.5   [1, 2]   0x00ff   NULL"


# --------------------------------------------------------------------------- digits


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (12418, 41.0, "12,418"),
        (10**17, 41.0, "100,000,000,000,000,000"),
        (43.2178, 0.412, "43.22"),
        (43.2178, 4.12, "43.2"),
        (43.2178, 41.2, "43"),
        (12_345.678, 432.1, "12,350"),
        (0.0001, 0.42, "0.00"),
        (-0.0001, 0.42, "0.00"),
        (-1234.5, 0.42, "-1,234.50"),
        (1.23456789e-12, 1e-14, "1.235e-12"),
        (1.5e300, 1e299, "1.50e300"),
        (43.2178, None, "43.2178"),
        (1_234_567.89, None, "1,234,568"),
        (0.1 + 0.2, None, "0.3"),
        (2.0, None, "2"),
        (Decimal("0.10"), None, "0.1"),
        (1e-300, None, "1e-300"),
        (inf, 1.0, "∞"),
        (-inf, 1.0, "-∞"),
        (nan, 1.0, "NaN"),
        (3.25, inf, "3.25"),
    ],
)
def test_numbers_have_the_digits_their_error_supports(
    value: Number, error: float | None, shown: str
) -> None:
    assert number_text(value, error) == shown


@pytest.mark.parametrize(
    ("error", "is_whole", "shown"),
    [
        (41.0, True, "±41"),
        (40.2, True, "±41"),
        (4321.0, True, "±4,321"),
        (0.412, False, "±0.42"),
        (0.0999, False, "±0.10"),
        (99.9, False, "±100"),
        (432.1, False, "±440"),
        (0.1 + 0.2, False, "±0.30"),
        (0.0, False, "±0"),
        (inf, False, "±∞"),
    ],
)
def test_errors_have_two_digits_and_are_rounded_up(
    error: float, is_whole: bool, shown: str
) -> None:
    assert error_text(error, is_whole=is_whole) == shown


positive = st.floats(min_value=1e-200, max_value=1e200)


def number_of(text: str) -> float:
    return float(text.removeprefix("±").replace(",", ""))


@given(positive)
def test_no_error_is_shown_smaller_than_it_is_or_a_tenth_larger(error: float) -> None:
    shown = number_of(error_text(error, is_whole=False))
    assert error * (1 - 1e-8) <= shown <= error * 1.1000001


@given(st.floats(min_value=-1e200, max_value=1e200), positive)
def test_a_shown_number_is_off_by_less_than_its_error(value: float, error: float) -> None:
    shown = number_of(number_text(value, error))
    assert abs(shown - value) <= error or isclose(shown, value, rel_tol=1e-5)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_without_an_error_is_shown_to_six_digits(value: float) -> None:
    assert isclose(number_of(number_text(value)), value, rel_tol=1e-5)


# --------------------------------------------------------------------------- texts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", "a\\nb"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u2028b", "a\\u2028b"),
        ("\x7f\x85", "\\x7f\\x85"),
        ("\U000e0041", "\\U000e0041"),
        ("نمی\u200cخواهم", "نمی\u200cخواهم"),
        ("é 東京 👩\u200d⚕️", "é 東京 👩\u200d⚕️"),
    ],
)
def test_characters_that_could_fake_output_are_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(), st.text())
def test_no_text_adds_a_line_to_an_answer(name: str, value: str) -> None:
    plain = make_answer({"a": ["x"], "n": [1]})
    table = pa.table({_sane(name): [_sane(value)], "n ": [1]})
    assert len(str(make_answer(table)).splitlines()) == len(str(plain).splitlines())


def _sane(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("東京", 4), ("e\u0301", 1), ("한국", 4), ("ﾊﾝｶｸ", 4), ("Ａ", 2), ("a\u200db", 2)],
)
def test_widths_are_those_of_a_screen(text: str, width: int) -> None:
    assert width_of(text) == width


def test_columns_of_wide_and_combining_characters_are_aligned() -> None:
    answer = make_answer({"k": ["東京", "e\u0301", "abcd"], "n": [1, 2, 3]}, keys=["k"])
    assert str(answer).splitlines()[1:4] == ["東京   1", "e\u0301      2", "abcd   3"]


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_clipped_texts_fit_and_padded_ones_fill(text: str, width: int) -> None:
    shown = clipped(visible(text), width)
    assert width_of(shown) <= width
    assert width_of(padded(shown, width, is_right=True)) == width


# --------------------------------------------------------------------------- HTML


class Page(HTMLParser):
    """Collects tags and texts, and holds that every tag is closed in its order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert {name for name, _ in attrs} <= {"style", "colspan"}
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_html_has_the_same_content_as_the_text() -> None:
    page = Page(make_regions(notes=("A note.",))._repr_html_())
    texts = [text.strip() for text in page.texts]
    assert texts[:10] == [
        *("region", "visits", "±", "age", "±"),
        *("north", "12,418", "±41", "43.22", "±0.42"),
    ]
    assert texts[-3:] == [LEGEND, "A note.", SPENT]


@given(st.text(), st.text(), st.text())
def test_no_text_becomes_a_tag(name: str, value: str, note: str) -> None:
    def page(*parts: str) -> Page:
        table = pa.table({_sane(parts[0]): [_sane(parts[1])]})
        return Page(make_answer(table, notes=(parts[2],))._repr_html_())

    attack = "<script>alert(1)</script>\"'><img src=x onerror=y>"
    shown = page(name + attack, attack + value, note + attack)
    assert shown.tags == page("a", "b", "c").tags
    assert shown.open == []
