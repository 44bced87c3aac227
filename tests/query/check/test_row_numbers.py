"""ROW_NUMBER over the rows of a unit bounds how many of them a query takes."""

# ruff: noqa: S608 - this file writes questions

from collections.abc import Iterator

import pytest

from discreet.curator import Curator
from discreet.query.questions import NumberedRows, OneRowPerUnit
from tests.attacks.clinic import opened
from tests.attacks.plans import plan_of


@pytest.fixture(scope="module")
def clinic() -> Iterator[Curator]:
    with opened(epsilon=10**9) as curator:
        yield curator


NUMBER = "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day, visit_id)"


def qualified(condition: str) -> str:
    return f"SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY {condition})"


def filtered(condition: str, number: str = NUMBER) -> str:
    return f"SELECT COUNT(*) FROM (SELECT *, {number} AS i FROM visits) WHERE {condition}"


ONE = [
    qualified(f"{NUMBER} = 1"),
    qualified(f"1 = {NUMBER} AND cost > 10"),
    qualified("ROW_NUMBER() OVER (PARTITION BY patient_id) < 2"),
    qualified(f"{NUMBER} = 3"),
    filtered("i = 1"),
    filtered("cost > 10 AND i <= 1"),
    filtered("i IN (2)"),
    f"SELECT diagnosis, COUNT(*) FROM (SELECT *, {NUMBER} AS i FROM visits) WHERE i = 1 GROUP BY 1",
    f"WITH a AS (SELECT *, {NUMBER} AS i FROM visits), b AS (SELECT cost, i AS j FROM a WHERE cost"
    " > 1) SELECT SUM(cost) FROM b WHERE j = 1",
    "SELECT COUNT(*) FROM (SELECT v.patient_id, c.region FROM visits v JOIN clinics c"
    " USING (clinic_id) QUALIFY ROW_NUMBER() OVER (PARTITION BY v.patient_id) = 1)",
]


@pytest.mark.parametrize("sql", ONE)
def test_one_number_is_one_row_of_a_unit(clinic: Curator, sql: str) -> None:
    (release,) = plan_of(clinic, sql).releases
    assert release.aggregation.one_row_per_unit
    assert release.aggregation.contribution_limit == 1
    assert release.aggregation.limit_reason == OneRowPerUnit()


@pytest.mark.parametrize("sql", [qualified(f"{NUMBER} <= 3"), filtered("i BETWEEN 1 AND 3")])
def test_the_first_few_numbers_are_as_many_rows(clinic: Curator, sql: str) -> None:
    (release,) = plan_of(clinic, sql).releases
    assert not release.aggregation.one_row_per_unit
    assert release.aggregation.contribution_limit == 3
    assert release.contribution == NumberedRows(rows=3)
    said = clinic.explain(sql, epsilon=1).bounding
    assert said == ("The query takes at most 3 rows per patient_id, so no rows are left out.",)


OTHERS = [
    qualified(f"{NUMBER} > 1"),
    qualified(f"{NUMBER} = 1 OR cost > 10"),
    qualified(f"NOT {NUMBER} = 1"),
    qualified(f"{NUMBER} <= minutes"),
    qualified(f"{NUMBER} <= 1000"),
    qualified("RANK() OVER (PARTITION BY patient_id ORDER BY day) = 1"),
    qualified("DENSE_RANK() OVER (PARTITION BY patient_id ORDER BY day) = 1"),
    qualified("ROW_NUMBER() OVER (PARTITION BY patient_id, day) = 1"),
    filtered("i + 0 = 1"),
    filtered("i = 1", "RANK() OVER (PARTITION BY patient_id ORDER BY day)"),
    f"SELECT COUNT(*) FROM (SELECT patient_id, i FROM (SELECT *, {NUMBER} AS i FROM visits) UNION"
    f" ALL SELECT patient_id, i FROM (SELECT *, {NUMBER} AS i FROM visits)) WHERE i = 1",
    f"SELECT COUNT(*) FROM (SELECT *, {NUMBER} AS i FROM visits) a JOIN visits b"
    " USING (patient_id) WHERE i = 1",
    f"SELECT COUNT(*) FROM (SELECT a.i FROM (SELECT *, {NUMBER} AS i FROM visits) a JOIN visits b"
    " USING (patient_id)) WHERE i = 1",
]


@pytest.mark.parametrize("sql", OTHERS)
def test_what_is_no_number_of_a_row_bounds_nothing(clinic: Curator, sql: str) -> None:
    (release,) = plan_of(clinic, sql).releases
    assert not release.aggregation.one_row_per_unit
    assert release.aggregation.contribution_limit > 3
