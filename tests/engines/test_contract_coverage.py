"""Coverage on every engine: the same units at the same places, the same values on each side."""

from collections.abc import Iterator

import pytest

from discreet.catalog.schema import Bounds, PrivateTable
from discreet.coverage.measurements import Measurement, measurements_of
from discreet.coverage.questions import rows_question, values_question
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.plan import EpsilonTarget
from tests.engines.contract import OTHERS, Holder, engine_of
from tests.engines.corpus import exact
from tests.engines.wild import declared, wild_tables
from tests.properties.databases import public_store

MEASURED = [
    measurement
    for table in declared().tables
    if isinstance(table, PrivateTable)
    for measurement in measurements_of(table)
]


def plan_of(measurement: Measurement) -> Plan:
    here, ref = declared(), measurement.ref
    if ref is None:
        question = rows_question(measurement.table, here, public_store())
    else:
        assert isinstance(ref.column.bounds, Bounds)
        question = values_question(ref, ref.column.bounds, here, public_store())
    return make_plan(question, EpsilonTarget(1, delta=0), here.budget)


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


@pytest.mark.parametrize("measurement", MEASURED, ids=lambda each: str(each.name))
def test_coverage_has_the_same_exact_tables_everywhere(
    embedded: Holder, other: Holder, measurement: Measurement
) -> None:
    plan = plan_of(measurement)
    found = exact(embedded, plan)
    assert found[0], "no row was counted, so nothing is compared"
    assert exact(other, plan) == found
