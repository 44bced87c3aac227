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


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Holder]:
    engine = engine_of(request.param, tables())
    yield engine
    engine.close()


@pytest.mark.parametrize("sql", QUESTIONS, ids=lambda sql: sql[:80])
def test_a_question_has_the_same_exact_tables_everywhere(engine: Holder, sql: str) -> None:
    assert exact(engine, plan_of(sql)) == expected(sql)
