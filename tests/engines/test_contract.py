"""The engine contract: the same questions give the same whole numbers, whoever holds the data."""

from collections.abc import Iterator
from functools import cache

import pytest

from discreet.catalog.catalog import budget_from
from discreet.curator import Curator
from discreet.engines.public_store import PublicStore
from discreet.ledger import SqliteLedger
from discreet.query.plan import Plan
from discreet.query.plan.plan import EpsilonTarget
from tests.attacks.clinic import golden, opened, tables
from tests.engines.contract import ENGINES, Holder, Row, engine_of, exact_rows

QUESTIONS = [each["sql"] for name in ("corpus", "shapes") for each in golden(name)["answer"]]
RELEASED = (3.5,) * 20
"""Stand for noisy numbers of earlier releases of a question."""


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Holder]:
    engine = engine_of(request.param, tables())
    yield engine
    engine.close()


@cache
def reference() -> Curator:
    """Return a curator of the embedded engine, which plans for all: rows are chosen per query."""
    return opened(row_choice="per-query")


def curator_of(engine: Holder) -> Curator:
    """Return a curator of the same catalog over another engine."""
    catalog = reference().catalog
    return Curator(
        catalog=catalog,
        engine=engine,
        public=PublicStore({"clinics": engine.table("clinics")}),
        ledger=SqliteLedger(":memory:", budget=budget_from(catalog.budget)),
    )


def plan_of(sql: str) -> Plan:
    curator = reference()
    return curator._planner.draft(sql, EpsilonTarget(1), curator.catalog)


@cache
def expected(sql: str) -> list[list[Row]]:
    return exact(reference()._engine, plan_of(sql))


def exact(engine: object, plan: Plan) -> list[list[Row]]:
    queries = [query for planned in plan.releases for query in planned.queries]
    return [exact_rows(engine, query, *RELEASED) for query in queries]  # type: ignore[arg-type]


@pytest.mark.parametrize("sql", QUESTIONS, ids=lambda sql: sql[:80])
def test_a_question_has_the_same_exact_tables_everywhere(engine: Holder, sql: str) -> None:
    assert exact(engine, plan_of(sql)) == expected(sql)
