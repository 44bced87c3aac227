"""The rows keep the limits that every system is told, so that limits move no answer."""

from pathlib import Path

import duckdb
import pytest

from benchmarks.accuracy.data import make_visits, truths
from benchmarks.accuracy.questions import (
    COST,
    DIAGNOSES_PER_UNIT,
    MINUTES,
    QUESTIONS,
    REGIONS,
    REGIONS_PER_UNIT,
    ROWS_PER_UNIT,
)

ROWS = 3000

LIMITS = """
SELECT max(n), max(regions), max(diagnoses) FROM (
    SELECT count(*) AS n, count(DISTINCT region) AS regions, count(DISTINCT diagnosis) AS diagnoses
    FROM visits GROUP BY patient_id
)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_visits(ROWS, tmp_path_factory.mktemp("accuracy"))


def asked(folder: Path, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW visits AS FROM '{folder / 'visits.parquet'}'")
        rows: list[tuple[object, ...]] = connection.execute(sql).fetchall()
    return rows


def test_no_unit_exceeds_a_limit(folder: Path) -> None:
    assert asked(folder, LIMITS) == [(ROWS_PER_UNIT, REGIONS_PER_UNIT, DIAGNOSES_PER_UNIT)]


def test_no_value_is_out_of_its_bounds(folder: Path) -> None:
    sql = "SELECT min(cost), max(cost), min(minutes), max(minutes) FROM visits"
    ((*found,),) = asked(folder, sql)
    low, high, least, most = (float(str(each)) for each in found)
    assert COST[0] <= low < high <= COST[1]
    assert MINUTES[0] <= least < most <= MINUTES[1]


def test_every_question_has_an_exact_answer(folder: Path) -> None:
    found = truths(folder)
    assert found["COUNT"] == [[ROWS]]
    assert {row[0] for row in found["COUNT by 20 keys"]} == set(REGIONS)
    assert all(found[each.name] for each in QUESTIONS)
