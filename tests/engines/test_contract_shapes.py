"""Questions of many shapes over tables that break every promise: the same numbers everywhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.plan import EpsilonTarget
from tests.engines.contract import OTHERS, Holder, engine_of
from tests.engines.corpus import exact
from tests.engines.wild import declared, wild_tables
from tests.properties.databases import (
    public_store,
)

SHAPES = [
    line
    for line in (Path(__file__).parent.parent / "properties" / "shapes.sql")
    .read_text()
    .splitlines()
    if line and not line.startswith("--")
]


@pytest.fixture(scope="module")
def embedded() -> Iterator[Holder]:
    engine = engine_of("duckdb", wild_tables())
    yield engine
    engine.close()


@pytest.fixture(scope="module", params=OTHERS)
def other(request: pytest.FixtureRequest) -> Iterator[Holder]:
    engine = engine_of(request.param, wild_tables())
    yield engine
    engine.close()


def plan_of(sql: str) -> Plan:
    question = check(parse(sql), declared(), public_store())
    return make_plan(question, EpsilonTarget(1), declared().budget)


@pytest.mark.parametrize("sql", SHAPES, ids=lambda sql: sql[:80])
def test_a_shape_has_the_same_exact_tables_everywhere(
    embedded: Holder, other: Holder, sql: str
) -> None:
    plan = plan_of(sql)
    assert exact(other, plan) == exact(embedded, plan)
