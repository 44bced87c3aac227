"""SQL made to leak (cases S1 to S36), where more is to be seen than that twins answer alike."""

# ruff: noqa: S608 - questions are made, not taken from anyone

from collections.abc import Sequence
from fractions import Fraction

import pyarrow as pa
import pytest

import discreet
from discreet.accounting import DiscreteLaplaceEvent
from discreet.errors import DiscreetError, JoinError
from tests.attacks.plans import plan_of
from tests.attacks.twins import DATABASES, SCHEMA, stored_as, twin
from tests.attacks.watched import watch
from tests.properties.movement import check_movement
from tests.statements import unbound


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
        afterwards = plan_of(curator, sql).question.post_sql
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


LOOKALIKES = ["a", "A", "a ", "\u00e9", "e\u0301", "\uff41", "\u0430", "a\u200b", "07", "7"]


@pytest.mark.parametrize("kind", ["duckdb", "postgresql"])
def test_s23_units_that_look_alike_are_neither_merged_nor_split(kind: str) -> None:
    """Merged units would hide in each other's limit; split ones would have several."""
    table = pa.table({"id": LOOKALIKES * 3, "x": [1.0] * 30})
    source, place = stored_as(kind, table)
    with discreet.open(source, name=place or "p", unit="id", rows_per_unit=2, epsilon=9) as curator:
        (planned,) = plan_of(curator, "SELECT COUNT(*), COUNT(DISTINCT id) FROM p").releases
        found = [
            curator._engine.run(unbound(each), ()).unseal().to_pylist() for each in planned.queries
        ]
    numbers = {int(value) for (row,) in found for value in row.values()}
    assert numbers == {len(LOOKALIKES), 2 * len(LOOKALIKES)}


def test_s23_units_of_different_kinds_do_not_meet() -> None:
    tables = {"p": pa.table({"id": [7]}), "q": pa.table({"id": ["7"]})}
    units = {"p": "id", "q": "id"}
    with (
        discreet.open(tables, unit=units, epsilon=10) as curator,
        pytest.raises(JoinError, match="different types"),
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
    ("guesses", "times"),
    [
        pytest.param([7] * 1000 + list(range(60)), 1001, id="often"),
        pytest.param(range(1_000_000), 1, id="a million", marks=pytest.mark.slow),
    ],
)
def test_s24_a_guess_that_is_listed_often_is_worth_no_more(
    guesses: Sequence[int], times: int
) -> None:
    """Rows of a public table multiply those of a unit, and the noise with them."""
    sql = "SELECT COUNT(*) FROM p JOIN g ON p.id = g.guess"
    found = []
    for rows in DATABASES.values():
        tables = {
            "p": pa.Table.from_pylist(rows, schema=SCHEMA),
            "g": pa.table({"guess": pa.array(guesses, pa.int64())}),
        }
        with discreet.open(
            tables, unit={"p": "id"}, public=["g"], rows_per_unit=1, epsilon=10
        ) as curator:
            plan = plan_of(curator, sql)
            queries = plan.releases[0].queries
            found.append(
                [tuple(curator._engine.run(unbound(query), ()).unseal() for query in queries)]
            )
    check_movement(plan, found[0], found[1])
    check_movement(plan, found[1], found[2])
    (event,) = plan.events
    assert isinstance(event, DiscreteLaplaceEvent)
    assert event.scale == times


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
        "SELECT COUNT(*) FROM p WHERE x > CAST('1' AS DOUBLE)",
        "SELECT COUNT(*) FROM p WHERE x > 1 AND x > 1",
        "SELECT COUNT(*) FROM p WHERE x > 1 OR FALSE",
        "SELECT COUNT(*) FROM p WHERE x > 0.5 + 0.5",
        "SELECT SUM(1) FROM p WHERE x > 1",
        "SELECT COUNT(*) FROM p GROUP BY x > 1 HAVING x > 1",
    ],
)
def test_s32_a_question_is_free_only_with_the_numbers_that_were_paid_for(other: str) -> None:
    with twin("present").curator as curator:
        paid = curator.ask("SELECT COUNT(*) FROM p WHERE x > 1", epsilon=1)
        again = curator.ask(other, epsilon=1)
        numbers = [list(row.values()) for row in paid.rows]
        is_same = all(list(row.values())[-1:] in numbers for row in again.rows)
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


def test_s32_commuted_conditions_are_free_only_with_the_same_numbers() -> None:
    with twin("present").curator as curator:
        paid = curator.ask("SELECT COUNT(*) AS n FROM p WHERE x > 1 AND age < 30", epsilon=1)
        again = curator.ask("SELECT COUNT(*) AS n FROM p WHERE age < 30 AND x > 1", epsilon=1)
    assert again.charged.epsilon == 1 or again.rows == paid.rows


def test_s32_no_dearer_question_gives_a_second_draw_of_what_was_paid_for() -> None:
    """Averaging needs draws: each new one is charged, and the old one is given again for free."""
    sql = "SELECT COUNT(*) AS n FROM p WHERE x > 1"
    with twin("present").curator as curator:
        before = curator.remaining.epsilon
        answers = [curator.ask(sql, epsilon=Fraction(n, 10)) for n in (1, 2, 1, 2, 1, 3)]
        spent = before - curator.remaining.epsilon
    assert spent == sum(answer.charged.epsilon for answer in answers)
    draws = {answer.rows[0]["n"] for answer in answers}
    paid = [answer for answer in answers if answer.charged.epsilon]
    assert len(draws) <= len(paid) <= 3


# --------------------------------------------------------------------------- paths to units


@pytest.mark.parametrize("row_choice", ["once", "per-query"])
def test_a_row_that_several_units_share_is_bounded_for_each_of_them(row_choice: str) -> None:
    """Fifty people have the same key, at which there are thirty rows: one of them leaves."""
    people = pa.table({"key": [1] * 50 + [2], "unit": list(range(51))})
    rows = pa.table({"key": [1] * 30 + [2] * 3})
    found = []
    for remaining in (people, people.slice(1)):
        with discreet.open(
            {"people": remaining, "rows": rows},
            unit={"people": "unit", "rows": "people.unit via key"},
            rows_per_unit={"people": 1, "rows": 4},
            row_choice=row_choice,
            epsilon=10,
        ) as curator:
            plan = plan_of(curator, "SELECT COUNT(*) FROM rows")
            queries = plan.releases[0].queries
            found.append(
                [tuple(curator._engine.run(unbound(query), ()).unseal() for query in queries)]
            )
    check_movement(plan, *found)


# --------------------------------------------------------------------------- S15, S36: groups


@pytest.mark.parametrize("name", DATABASES)
def test_s15_every_public_key_is_answered_with_a_number(name: str) -> None:
    """Ages of nobody too: their numbers have noise like all others, so nobody can tell."""
    sql = "SELECT age, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a FROM p GROUP BY age"
    with twin(name).curator as curator:
        rows = curator.ask(sql, epsilon=1).rows
    assert [row["age"] for row in rows] == list(range(101))
    assert all(value is not None for row in rows for value in row.values())
    assert len({row["n"] for row in rows[60:]}) > 5


def test_s36_groups_by_the_million_are_refused_from_the_catalog_alone() -> None:
    bounds = {"a": (0, 2000), "b": (0, 2000)}
    table = pa.table({"id": [1, 2], "a": [1, 2], "b": [1, 2]})
    with discreet.open(table, name="t", unit="id", bounds=bounds, epsilon=10) as curator:
        engine, before = watch(curator), curator.remaining
        with pytest.raises(
            DiscreetError, match="needs a list of values, because this budget has no delta"
        ):
            curator.ask("SELECT a, b, COUNT(*) FROM t GROUP BY a, b", epsilon=1)
        assert (engine.runs, curator.remaining) == (0, before)


def test_s36_a_question_of_many_joins_is_one_of_its_price() -> None:
    """What is not refused is run within the engine's deadline, which is public."""
    joins = " ".join(f"JOIN p b{n} ON a.id = b{n}.id" for n in range(40))
    with twin("present").curator as curator:
        answer = curator.ask(f"SELECT COUNT(*) AS n FROM p a {joins}", epsilon=90)
    assert answer.charged.epsilon == 90
    assert answer.rows == [{"n": 60}]
