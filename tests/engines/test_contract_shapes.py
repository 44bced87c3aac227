"""Questions of many shapes over tables that break every promise: the same numbers everywhere."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.catalog.catalog import Catalog, RowChoice
from discreet.catalog.schema import PrivateTable
from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.plan import EpsilonTarget
from tests.attacks.clinic import spread
from tests.engines.contract import OTHERS, Holder, engine_of
from tests.engines.corpus import exact
from tests.properties.databases import (
    COLUMNS,
    PRIVATE,
    PUBLIC,
    WILD,
    catalog,
    public_store,
    table_of,
)

SHAPES = [
    line
    for line in (Path(__file__).parent.parent / "properties" / "shapes.sql")
    .read_text()
    .splitlines()
    if line and not line.startswith("--")
]
ROWS = 150
KEYS = (*range(25), None)


@cache
def wild_tables() -> dict[str, pa.Table]:
    """Return tables in which nothing is as declared, always the same."""
    made = {name: table_of(name, rows) for name, rows in PUBLIC.items()}
    for place, name in enumerate(PRIVATE):
        rows = [
            tuple(
                (WILD.get(column) or KEYS)[
                    spread(row * 31 + 7 * number + place, len(WILD.get(column) or KEYS))
                ]
                for number, column in enumerate(COLUMNS[name])
            )
            for row in range(ROWS)
        ]
        made[name] = table_of(name, rows)
    return made


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


def declared() -> Catalog:
    """Return the catalog with limits that no unit exceeds, so that no rows are chosen."""
    found = catalog()
    tables = tuple(
        replace(each, rows_per_unit=ROWS) if isinstance(each, PrivateTable) else each
        for each in found.tables
    )
    source = replace(found.source, row_choice=RowChoice.PER_QUERY)
    return replace(found, tables=tables, source=source)


def plan_of(sql: str) -> Plan:
    question = check(parse(sql), declared(), public_store())
    return make_plan(question, EpsilonTarget(1), declared().budget)


@pytest.mark.parametrize("sql", SHAPES, ids=lambda sql: sql[:80])
def test_a_shape_has_the_same_exact_tables_everywhere(
    embedded: Holder, other: Holder, sql: str
) -> None:
    plan = plan_of(sql)
    assert exact(other, plan) == exact(embedded, plan)
