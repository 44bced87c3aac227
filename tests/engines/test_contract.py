"""The engine contract: the same questions give the same whole numbers, whoever holds the data."""

from collections.abc import Iterator

import pytest

from tests.attacks.clinic import tables
from tests.engines.contract import ENGINES, Holder, engine_of
from tests.engines.corpus import (
    QUESTIONS,
    exact,
    expected,
    plan_of,
)
from tests.properties.movement import keys_of, shown_keys
from tests.statements import unbound


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Holder]:
    engine = engine_of(request.param, tables())
    yield engine
    engine.close()


STEPS = [
    "SELECT FLOOR(cost / 100) * 100 AS k, COUNT(*), SUM(minutes) FROM visits GROUP BY k",
    "SELECT ROUND(cost, -1), CAST(cost / 100 AS INTEGER), COUNT(*) FROM visits GROUP BY ALL",
    "SELECT WIDTH_BUCKET(cost, 0, 400, 4), COUNT(*) FROM visits WHERE cost <> 400 GROUP BY 1",
    "SELECT DATE_TRUNC('month', day + INTERVAL 5 HOUR), COUNT(*) FROM visits GROUP BY 1",
    "SELECT STRFTIME(day, '%b %Y'), DAYNAME(day), COUNT(*) FROM visits GROUP BY ALL",
    "SELECT minutes, COUNT(*) FROM visits WHERE minutes > 200 AND minutes % 3 = 1 GROUP BY minutes",
    "SELECT c.name, COUNT(*) FROM visits v JOIN clinics c ON v.clinic_id = c.clinic_id"
    " WHERE c.region <> 'north' AND c.beds > 5 GROUP BY c.name",
]
"""Groups that are steps of times and reals, or that conditions leave."""


@pytest.mark.parametrize("sql", [*QUESTIONS, *STEPS], ids=lambda sql: sql[:80])
def test_a_question_has_the_same_exact_tables_everywhere(engine: Holder, sql: str) -> None:
    assert exact(engine, plan_of(sql)) == expected(sql)


@pytest.mark.parametrize("sql", STEPS, ids=lambda sql: sql[:80])
def test_no_row_is_outside_the_groups_that_are_shown(engine: Holder, sql: str) -> None:
    """The tables keep their bounds, so every row that an engine finds is in a declared group."""
    (planned,) = plan_of(sql).releases
    shown = shown_keys(planned)
    assert shown is not None
    for query in planned.queries:
        found = keys_of(planned, engine.run(unbound(query), ()).unseal())
        assert found
        assert set(found) <= shown
