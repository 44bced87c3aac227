"""Released results beside private rows: paid for once, and never too long for a statement."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.catalog.schema import Kind
from discreet.engines import released
from discreet.engines.released import Row, constant_rows, fitting_rows, in_list
from discreet.query.tree import ColumnOf, ConstantColumn, Facts, Literal, ReleasedRows
from tests.properties.clinic import clinic
from tests.properties.curators import curator_of
from tests.properties.silence import silence

ABOVE = (
    "SELECT COUNT(*) FROM visits v JOIN (SELECT clinic_id, AVG(cost) AS m FROM visits GROUP BY 1) "
    "a ON a.clinic_id = v.clinic_id WHERE v.cost > a.m"
)


def test_a_repeated_query_is_free_and_the_same() -> None:
    curator = curator_of(clinic(200))
    first = curator.ask(ABOVE, epsilon=1)
    left = curator.remaining
    again = curator.ask(ABOVE.replace("a.m", "b.m").replace(") a ON a.", ") b ON b."), epsilon=1)
    assert again.rows == first.rows
    assert curator.remaining == left


def test_the_price_is_that_of_both_releases_whatever_the_first_one_gave() -> None:
    plans = [curator_of(clinic(people)).explain(ABOVE, epsilon=1) for people in (3, 300)]
    assert plans[0].price == plans[1].price
    assert plans[0].sqls == plans[1].sqls


def test_threads_that_ask_at_once_see_one_answer() -> None:
    curator = curator_of(clinic(200))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: curator.ask(ABOVE, epsilon=1).rows, range(4)))
    assert all(each == found[0] for each in found)


def test_an_answer_says_that_margins_leave_out_the_noise_of_joined_results() -> None:
    answer = curator_of(clinic(40)).ask(ABOVE, epsilon=1)
    assert any("noisy results of the same query" in str(each) for each in answer.notes)


def test_rows_beyond_the_most_are_left_out_and_the_answer_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(released, "MOST_CONSTANT_ROWS", 2)
    sql = (
        "SELECT COUNT(*) FROM visits v JOIN (SELECT note, COUNT(*) AS n FROM visits GROUP BY note) "
        "a ON a.note = v.note"
    )
    with silence():
        answer = curator_of(clinic(80)).ask(sql, epsilon=1)
    assert any("rows of a were used" in str(each) for each in answer.notes)
    with silence():
        monkeypatch.undo()
        whole = curator_of(clinic(80)).ask(sql, epsilon=1)
    assert int(str(answer.rows[0]["COUNT(*)"])) < int(str(whole.rows[0]["COUNT(*)"]))


def test_long_texts_count_towards_what_a_statement_holds() -> None:
    rows: list[Row] = [("x" * 400_000,), ("y" * 400_000,), ("z" * 400_000,), ("",)]
    assert list(fitting_rows(rows)) == rows[:2]


def test_no_two_rows_agree_in_a_key_whatever_was_released() -> None:
    columns = tuple(ConstantColumn(name=name, kind=Kind.INTEGER) for name in "ab")
    table = ReleasedRows(number=0, columns=columns, key=(0,))
    assert constant_rows(table, [(1, 2), (1, 3), (None, 4), (None, 5)]).rows == ((1, 2), (None, 4))
    single = ReleasedRows(number=0, columns=columns, key=())
    assert constant_rows(single, [(1, 2), (3, 4)]).rows == ((1, 2),)


def test_nothing_is_in_an_empty_list() -> None:
    column = ColumnOf(source="t", name="x", facts=Facts(kind=Kind.INTEGER))
    found = in_list(column, [])
    assert isinstance(found, Literal)
    assert found.value is False
