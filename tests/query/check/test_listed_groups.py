"""Queries that only list declared groups: they read no rows, and cost nothing."""

# ruff: noqa: S608 - this file writes questions

from collections.abc import Iterator

import pyarrow as pa
import pytest

import discreet
from discreet.curator import Curator
from discreet.errors import UnsupportedError

ROWS = pa.table(
    {
        "who": list(range(60)),
        "region": ["north", "south", None] * 20,
        "age": [i % 100 for i in range(60)],
        "insured": [True, False] * 30,
        "city": [f"city {i}" for i in range(60)],
    }
)


@pytest.fixture(scope="module")
def people() -> Iterator[Curator]:
    with discreet.open(
        {"people": ROWS},
        unit={"people": "who"},
        bounds={"people.age": (0, 3)},
        values={"people.region": ["north", "south", "it's west"]},
        epsilon=10**6,
        delta=1e-4,
    ) as curator:
        yield curator


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT DISTINCT region FROM people ORDER BY region", ["it's west", "north", "south"]),
        ("SELECT region FROM people GROUP BY region ORDER BY 1 DESC LIMIT 1", ["south"]),
        ("SELECT DISTINCT age FROM people ORDER BY age", [0, 1, 2, 3]),
        (
            "SELECT DISTINCT region FROM people WHERE region LIKE '%th' ORDER BY 1 OFFSET 1",
            ["south"],
        ),
        ("SELECT UPPER(region) AS r FROM people GROUP BY r ORDER BY r LIMIT 1", ["IT'S WEST"]),
        ("SELECT DISTINCT insured FROM people ORDER BY insured", [False, True]),
    ],
)
def test_declared_groups_are_listed_for_free(people: Curator, sql: str, rows: list[object]) -> None:
    answer = people.ask(sql, epsilon=1)
    assert answer.table.column(0).to_pylist() == rows
    assert answer.price.is_free
    assert people.explain(sql, epsilon=1).price.is_free


@pytest.mark.parametrize("key", ["region", "age", "insured", "region, insured", "age % 2"])
def test_a_list_has_the_groups_that_a_count_would_have(people: Curator, key: str) -> None:
    listed = people.ask(f"SELECT {key} FROM people GROUP BY {key}", epsilon=1)
    counted = people.ask(f"SELECT {key}, COUNT(*) AS n FROM people GROUP BY {key}", epsilon=1)
    assert sorted(zip(*listed.table.to_pydict().values(), strict=True)) == sorted(
        zip(*counted.table.drop_columns("n").to_pydict().values(), strict=True)
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT region FROM people WHERE age > 1",
        "SELECT DISTINCT a.region FROM people a JOIN people b ON a.who = b.who",
        "SELECT DISTINCT region FROM people p WHERE EXISTS "
        "(SELECT 1 FROM people q WHERE q.who = p.who AND q.age > 1)",
    ],
)
def test_a_list_that_rows_would_decide_is_rejected(people: Curator, sql: str) -> None:
    with pytest.raises(UnsupportedError, match="only lists declared groups"):
        people.ask(sql, epsilon=1)


def test_groups_that_only_the_data_have_still_cost(people: Curator) -> None:
    assert not people.explain("SELECT DISTINCT city FROM people", epsilon=1).price.is_free
