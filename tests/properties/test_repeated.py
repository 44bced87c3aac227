"""Questions of the corpus, asked again and again: the mean of the answers is the exact answer.

The noise is drawn for real, from a seed. With a fresh one, a mean of `TIMES` answers would lie
farther than four of its own half widths (of 95 %) from the truth less than once in 10^6.
"""

import tomllib
from collections.abc import Iterator
from datetime import date
from math import sqrt
from pathlib import Path
from typing import Any

import duckdb
import pytest

from discreet.answer import Answer
from tests.properties.clinic import clinic
from tests.properties.comparison import plain, plain_database
from tests.properties.curators import curator_of
from tests.properties.databases import Database
from tests.replay import ReplayableEntropy

CORPUS = tomllib.loads(
    (Path(__file__).parent.parent / "golden" / "corpus.toml").read_text(encoding="utf-8")
)
QUESTIONS = [each["sql"] for each in CORPUS["answer"]]

EPSILON = 60
TIMES = 4
UNSTATED = 0.02
"""Values that are chosen, or computed from several, have no ±: they are near, relatively."""

Key = tuple[Any, ...]


@pytest.fixture(scope="module")
def people() -> Iterator[tuple[Database, duckdb.DuckDBPyConnection]]:
    database = clinic(1200)
    with plain_database(database) as plainly:
        yield database, plainly


@pytest.mark.parametrize("sql", QUESTIONS, ids=lambda sql: sql[:80])
def test_the_mean_of_many_answers_is_the_exact_answer(
    people: tuple[Database, duckdb.DuckDBPyConnection], sql: str
) -> None:
    database, plainly = people
    answers = [
        curator_of(database, entropy=ReplayableEntropy(seed)).ask(sql, epsilon=EPSILON)
        for seed in range(TIMES)
    ]
    # What would be an error in plain SQL is NULL here.
    exact = plainly.execute(sql.replace("CAST(", "TRY_CAST(")).fetchall()
    expected = {key_of(row): numbers_of(row) for row in exact}
    found = [by_key(each) for each in answers]
    for key, numbers in expected.items():
        for place, number in enumerate(numbers):
            values, widths = zip(*(each[key][place] for each in found), strict=True)
            mean = sum(values) / TIMES
            assert abs(mean - number) <= _tolerance(number, widths), (key, place, number, values)


def _tolerance(number: float, widths: tuple[float | None, ...]) -> float:
    if any(each is None for each in widths):
        return UNSTATED * abs(number)
    return 4 * max(each or 0 for each in widths) / sqrt(TIMES) + 1e-6 * abs(number)


def key_of(row: tuple[Any, ...]) -> Key:
    """Return what tells a row apart: all that is no number."""
    return tuple(plain(each) for each in row if not _is_number(each))


def numbers_of(row: tuple[Any, ...]) -> list[float]:
    return [float(each) for each in row if _is_number(each)]


def _is_number(value: Any) -> bool:
    return value is not None and not isinstance(value, bool | str | date)


def by_key(answer: Answer) -> dict[Key, list[tuple[float, float | None]]]:
    """Return the numbers of each row with their ±."""
    table = answer.to_arrow()
    columns = [[each.as_py() for each in column] for column in table.columns]
    found = {}
    for place, row in enumerate(zip(*columns, strict=True)):
        widths = [answer.margins.get(name, [None] * len(answer))[place] for name in answer.columns]
        found[key_of(row)] = [
            (float(each), width)
            for each, width in zip(row, widths, strict=True)
            if _is_number(each)
        ]
    return found
