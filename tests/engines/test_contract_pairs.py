"""Covariance, correlation and regression have the same whole numbers on every engine."""

from collections.abc import Iterator

import pytest

from tests.attacks.clinic import tables
from tests.engines.contract import ENGINES, Holder, engine_of
from tests.engines.corpus import exact, expected, plan_of

QUESTIONS = [
    "SELECT CORR(cost, minutes) AS r, COUNT(*) AS n FROM visits",
    "SELECT REGR_SLOPE(cost, minutes), REGR_INTERCEPT(cost, minutes), CORR(minutes, cost) "
    "FROM visits WHERE minutes > 20",
    "SELECT region, REGR_R2(income, birth_year) FILTER (WHERE insured) AS r FROM patients "
    "GROUP BY region",
    "SELECT COVAR_POP(cost, minutes), COVAR_SAMP(cost, minutes), REGR_SXY(cost, minutes) "
    "FROM visits",
    "SELECT REGR_COUNT(cost, minutes), REGR_AVGX(cost, minutes), REGR_AVGY(cost, minutes), "
    "REGR_SXX(cost, minutes), REGR_SYY(cost, minutes) FROM visits",
    "SELECT note, COVAR_POP(cost, minutes) FROM visits GROUP BY note",
    "SELECT CORR(n, m) FROM (SELECT patient_id, LEAST(COUNT(*), 20) AS n, AVG(minutes) AS m "
    "FROM visits GROUP BY patient_id) AS p",
]


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Holder]:
    engine = engine_of(request.param, tables())
    yield engine
    engine.close()


@pytest.mark.parametrize("sql", QUESTIONS, ids=lambda sql: sql[:60])
def test_pairs_have_the_same_exact_sums_everywhere(engine: Holder, sql: str) -> None:
    assert exact(engine, plan_of(sql)) == expected(sql)
    assert any(len(each.queries[0].sums) > 1 for each in plan_of(sql).releases)
