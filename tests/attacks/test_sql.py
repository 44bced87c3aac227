"""SQL made to leak (cases S1 to S36), where more is to be seen than that twins answer alike."""

# ruff: noqa: S608 - questions are made, not taken from anyone

from fractions import Fraction

import pyarrow as pa
import pytest

import discreet
from discreet.errors import JoinError
from tests.attacks.plans import plan_of
from tests.attacks.twins import DATABASES, SCHEMA, twin


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s, COUNT(*) AS n FROM p GROUP BY s HAVING COUNT(*) > 0",
        "SELECT s, COUNT(*) AS n FROM p GROUP BY s HAVING SUM(x) > 10",
        "SELECT s, COUNT(*) AS n FROM p GROUP BY s ORDER BY COUNT(*) LIMIT 1",
    ],
)
def test_s17_filters_and_orders_of_groups_see_noisy_numbers_only(sql: str) -> None:
    with twin("present").curator as curator:
        afterwards = plan_of(curator, sql).question.afterwards
        asked = [curator.ask(sql, epsilon=Fraction(n, 8)).rows for n in range(1, 9)]
    assert 'FROM "released_0"' in afterwards
    # Exact groups or numbers would be the same every time.
    assert len({tuple(map(str, rows)) for rows in asked}) > 3


def test_s12_both_halves_of_a_difference_are_charged() -> None:
    with twin("present").curator as curator:
        before = curator.remaining.epsilon
        for comparison in ("=", "<>"):
            sql = f"SELECT COUNT(*) FROM p WHERE id {comparison} 7"
            assert len(curator.ask(sql, epsilon=Fraction(1, 2)).rows) == 1
        assert before - curator.remaining.epsilon == 1


def test_s23_units_of_different_spelling_are_different_units() -> None:
    spelt = pa.table({"id": ["7", "07", "7.0", " 7", "7"], "x": [1.0] * 5})
    with discreet.open(spelt, name="p", unit="id", bounds={"x": (0, 1)}, epsilon=1000) as curator:
        (row,) = curator.ask("SELECT COUNT(DISTINCT id) AS n FROM p", epsilon=100).rows
    assert row["n"] == 4


def test_s23_units_of_different_kinds_do_not_meet() -> None:
    tables = {"p": pa.table({"id": [7]}), "q": pa.table({"id": ["7"]})}
    units = {"p": "id", "q": "id"}
    with (
        discreet.open(tables, unit=units, epsilon=10) as curator,
        pytest.raises(JoinError, match="different kinds"),
    ):
        curator.ask("SELECT COUNT(*) FROM p JOIN q ON p.id = q.id", epsilon=1)


def test_s24_a_list_of_guesses_is_bounded_and_charged() -> None:
    """A public table of ids can be joined, but each answer about it has noise and a price."""
    guesses = pa.table({"guess": range(20), "wave": [n % 2 for n in range(20)]})
    seen = []
    for rows in DATABASES.values():
        tables = {"p": pa.Table.from_pylist(rows, schema=SCHEMA), "g": guesses}
        curator = discreet.open(tables, unit={"p": "id"}, public=["g"], epsilon=10, delta=0.01)
        answer = curator.ask(
            "SELECT g.guess, COUNT(*) AS n FROM p JOIN g ON p.id = g.guess GROUP BY g.guess",
            epsilon=1,
        )
        seen.append(([row["guess"] for row in answer.rows], str(curator.remaining)))
        assert len({row["n"] for row in answer.rows}) > 1
        curator.close()
    assert seen[0] == seen[1] == seen[2]
    assert seen[0][0] == list(range(20))


@pytest.mark.parametrize(
    "other",
    [
        "select  count( * )\nfrom P where X>1 -- the same",
        "SELECT COUNT(*) FROM p WHERE x > 1.0",
        "SELECT COUNT(*) FROM p WHERE 1 < x",
        "SELECT COUNT(*) FROM p AS q WHERE q.x > 1",
        "SELECT COUNT(*) AS n FROM p WHERE x > 1",
        "SELECT COUNT(*) FROM p WHERE x > 1 AND TRUE",
        "SELECT COUNT(*) FROM p WHERE NOT x <= 1",
        "SELECT COUNT(*) FROM (SELECT * FROM p) WHERE x > 1",
        "SELECT COUNT(*) FROM p WHERE x > 1 LIMIT 1",
        "SELECT COUNT(id) FROM p WHERE x > 1",
    ],
)
def test_s32_a_question_is_free_only_with_the_numbers_that_were_paid_for(other: str) -> None:
    with twin("present").curator as curator:
        paid = curator.ask("SELECT COUNT(*) FROM p WHERE x > 1", epsilon=1)
        again = curator.ask(other, epsilon=1)
        numbers = [list(row.values()) for row in paid.rows]
        is_same = [list(row.values()) for row in again.rows] == numbers
        assert again.charged.epsilon == 1 or is_same
        spent = curator.remaining.total_epsilon - curator.remaining.epsilon
        assert spent == 1 + again.charged.epsilon


def test_s32_the_same_words_are_free_whatever_their_layout() -> None:
    asked = "SELECT s, SUM(y) FROM (SELECT id, s, x AS y FROM p) GROUP BY s"
    same = "select  s, sum(y)\n  from (select id, s, x as y from p) -- again\n group by s;"
    with twin("present").curator as curator:
        first, again = curator.ask(asked, epsilon=1), curator.ask(same, epsilon=1)
        assert again.is_free
        assert again.to_arrow().column(1).equals(first.to_arrow().column(1))
        assert not curator.ask("SELECT COUNT(*) FROM p", epsilon=1).is_free
        assert not curator.ask("SELECT COUNT(*) FROM p", epsilon=2).is_free
