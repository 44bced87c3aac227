"""Rows on every engine: units above the limit, values at the edge, what is computed of a unit."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from math import inf, nan
from typing import Any

import pyarrow as pa
import pytest

from discreet import errors
from discreet.catalog.schema import ColumnUnit, Kind, PrivateTable, RowUnit
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.postgresql import PostgreSqlEngine
from discreet.engines.writer import write_query
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.tree import (
    ColumnOf,
    ContributionBounding,
    ExactQuery,
    Expression,
    GroupByUnit,
    NamedExpression,
    Scan,
    UnitAggregate,
    UnitFunction,
)
from tests.attacks.clinic import golden, spread, tables
from tests.engines.contract import ENGINES, Holder, Row, engine_of, exact_rows
from tests.engines.corpus import curator_of, reference
from tests.engines.made import between, column, count, private, select, table_of

MANY = 600


def crowd() -> pa.Table:
    """Return rows of units that have up to 40 of them."""
    units = [spread(n, 30) ** 2 // 30 for n in range(MANY)]
    return pa.table(
        {
            "patient_id": pa.array(units, pa.int64()),
            "region": pa.array(
                [[None, "n", "ß", "s:1", ""][spread(n + 9, 5)] for n in range(MANY)]
            ),
            "cost": pa.array([None if n % 17 == 0 else spread(n + 5, 9) - 2 for n in range(MANY)]),
            "day": pa.array([date(2024, 1, 1 + spread(n + 3, 28)) for n in range(MANY)]),
        }
    )


MOST = 2**63 - 1
EDGES: dict[str, Any] = {
    "u": pa.array([1, 1, 2, 2, 3, None], pa.int64()),
    "whole": pa.array([MOST, MOST, -MOST - 1, 0, None, 5], pa.int64()),
    "small": pa.array([1, 2, 3, None, -32768, 32767], pa.int16()),
    "real": pa.array([nan, inf, -inf, 1.7e308, -0.0, None], pa.float64()),
    "single": pa.array([0.1, nan, 3.4e38, -0.0, None, 1e-45], pa.float32()),
    "money": pa.array(
        [Decimal("0.10"), Decimal("99999999.99"), None, Decimal("-0.01"), Decimal(0), None]
    ),
    "wide": pa.array([Decimal(10**18), Decimal(-(10**18)), None, Decimal(0), Decimal(1), None]),
    "yes": pa.array([True, False, None, True, None, False]),
    "word": pa.array(["b", "B", "ä", "", None, "👍"]),
    "day": pa.array([date(1, 1, 1), date(9999, 12, 31), None, date(2024, 2, 29), None, None]),
    "at": pa.array(
        [datetime(2024, 3, 31, 2, 30, 0, 1), None, datetime(1969, 12, 31, 23, 59, 59), *[None] * 3]
    ),
    "zoned": pa.array(
        [
            datetime(2024, 3, 31, 1, 0, tzinfo=UTC),
            None,
            datetime(9999, 12, 31, 23, 59, tzinfo=UTC),
            *[None] * 3,
        ],
        pa.timestamp("us", tz="UTC"),
    ),
    'we"ird `Näme': pa.array([1, 2, 3, 4, 5, 6], pa.int64()),
    "__unit": pa.array([1, 2, 3, 4, 5, 6], pa.int32()),
    "x" * 60: pa.array([1, 2, 3, 4, 5, 6], pa.int64()),
}

MIDDLES = [(10.51, 49.36259036649179), (5e-324, 5e-324), (-19.875, 65535.99999999999), (0.1, 0.7)]
WHOLES = [(-(2**53) - 2, 0), (-(2**63), -(2**63) + 1), (2**63 - 1, 2**63 - 2**9), (2**53 + 1, 2)]
NEAR = pa.table(
    {
        "u": pa.array([n // 2 for n in range(8)], pa.int64()),
        "real": pa.array([each for pair in MIDDLES for each in pair], pa.float64()),
        "whole": pa.array([each for pair in WHOLES for each in pair], pa.int64()),
    }
)
"""Values whose average or median is rounded, and must be once."""
NEAR_KINDS = {"real": Kind.REAL, "whole": Kind.INTEGER}

TABLES = {"visits": crowd(), "edges": pa.table(EDGES), "near": NEAR}


@pytest.fixture(scope="module")
def embedded() -> Iterator[DuckDbEngine]:
    engine = DuckDbEngine.load(dict(TABLES))
    yield engine
    engine.close()


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Holder]:
    engine = engine_of(request.param, TABLES)
    yield engine
    engine.close()


# --------------------------------------------------------------------------- above the limit

LENGTH_AND_TEXT = "coalesce(length(CAST({0} AS VARCHAR)) || ':' || CAST({0} AS VARCHAR), '-')"


def portable(dialect: Dialect) -> Dialect:
    """Return a dialect with a hash that all engines can compute.

    The queries of DuckDB and of PostgreSQL are twice as fast with hashes of their own.
    """
    return replace(dialect, hash='md5(concat({all})) COLLATE "C"', hashed=LENGTH_AND_TEXT)


def portable_rows(engine: DuckDbEngine, query: ExactQuery) -> list[dict[str, Any]]:
    with engine._store.cursor() as cursor:
        found: pa.Table = cursor.sql(write_query(query, portable(DUCKDB), ())).to_arrow_table()
    return found.to_pylist()


def plain(rows: list[dict[str, Any]]) -> list[Row]:
    made = [
        tuple((k, int(v) if isinstance(v, Decimal) else v) for k, v in row.items()) for row in rows
    ]
    return sorted(made, key=repr)


REGION, COST, DAY = column("region", Kind.TEXT), column("cost"), column("day", Kind.DATE)

SHAPES: dict[str, dict[str, Any]] = {
    "count": {"units": True},
    "sums": {"sums": (literal(1), COST), "units": True},
    "by text": {"sums": (literal(1), COST), "keys": (REGION,), "units": True},
    "by day": {"sums": (COST,), "keys": (DAY, REGION)},
    "cells": {"sums": (), "keys": (REGION,), "cell": COST},
    "units by text": {"sums": (), "keys": (REGION,), "bounding": ContributionBounding.UNITS_ONLY},
    "pairs": {
        "sums": (),
        "keys": (REGION,),
        "bounding": ContributionBounding.PAIRS,
        "distinct": COST,
    },
    "sums of pairs": {
        "sums": (COST,),
        "bounding": ContributionBounding.PAIRS,
        "distinct": COST,
        "units": True,
    },
}


@pytest.mark.parametrize("limit", [1, 3, 100])
@pytest.mark.parametrize("shape", SHAPES)
def test_units_above_the_limit_keep_the_same_rows(
    engine: Holder,
    embedded: DuckDbEngine,
    shape: str,
    limit: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if isinstance(engine, PostgreSqlEngine):
        for name in ("_dialect", "_plain"):
            monkeypatch.setattr(engine, name, portable(getattr(engine, name)))
    query = count(private(embedded), limit=limit, **SHAPES[shape])
    if engine.dialect != "duckdb":
        assert exact_rows(engine, query) == plain(portable_rows(embedded, query))


@pytest.mark.parametrize("limit", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_unit_counts_more_than_the_limit(engine: Holder, shape: str, limit: int) -> None:
    query = count(private(engine), limit=limit, **SHAPES[shape])
    alone = replace(query, rows=one_unit(engine))
    found = [dict(row) for row in exact_rows(engine, alone)]
    for name in ("n", "units"):
        assert sum(int(str(row.get(name, 0))) for row in found) <= limit


def one_unit(engine: Holder) -> Any:
    table = Scan(table=private(engine))
    where = call("equal", column("patient_id"), literal(26))
    made = select(table, REGION, COST, DAY, where=where)
    names = ("region", "cost", "day")
    columns = tuple(
        NamedExpression(name=name, expression=each.expression)
        for name, each in zip(names, made.columns, strict=True)
    )
    return replace(made, columns=columns)


# --------------------------------------------------------------------------- values at the edge


@pytest.mark.parametrize("name", EDGES)
def test_values_at_the_edge_are_the_same_keys(
    engine: Holder, embedded: DuckDbEngine, name: str
) -> None:
    found = [keyed(each, name) for each in (engine, embedded)]
    assert found[0] == found[1]


def keyed(engine: Any, name: str) -> list[Row]:
    table = private(engine, "edges", RowUnit())
    (kind,) = (each.kind for each in table.columns if each.name == name)
    return exact_rows(
        engine, count(table, keys=(column(name, kind),), bounding=ContributionBounding.NONE)
    )


@pytest.mark.parametrize("name", ["whole", "small", "wide", 'we"ird `Näme', "__unit"])
def test_sums_are_exact_beyond_64_bits(engine: Holder, name: str) -> None:
    query = count(
        private(engine, "edges", RowUnit()),
        sums=(column(name),),
        bounding=ContributionBounding.NONE,
    )
    values = [int(each) for each in EDGES[name].to_pylist() if each is not None]
    assert exact_rows(engine, query) == [(("s0", sum(values)),)]


def test_kinds_are_the_same_everywhere(engine: Holder, embedded: DuckDbEngine) -> None:
    found = [
        {each.name: (each.kind, each.step) for each in one.columns("edges")}
        for one in (engine, embedded)
    ]
    assert found[0] == found[1]


# --------------------------------------------------------------------------- computed of a unit


def aggregates() -> Iterator[tuple[str, UnitFunction, Expression]]:
    kinds = {
        "whole": Kind.INTEGER,
        "real": Kind.REAL,
        "word": Kind.TEXT,
        "day": Kind.DATE,
        "yes": Kind.BOOLEAN,
    }
    plainly = (UnitFunction.COUNT, UnitFunction.COUNT_DISTINCT, UnitFunction.MIN, UnitFunction.MAX)
    for name, kind in kinds.items():
        argument = column(name, kind, interval=between(-1e300, 1e308))
        summed = (UnitFunction.SUM, UnitFunction.AVG, UnitFunction.MEDIAN) if kind.is_number else ()
        for function in (*plainly, *summed):
            yield f"{function.value} {name}", function, argument


def of_units(table: PrivateTable, result: ColumnOf, *aggregates: UnitAggregate) -> ExactQuery:
    """Return what counts units by a result of theirs."""
    return ExactQuery(
        rows=GroupByUnit(source=Scan(table=table), name="v", keys=(), aggregates=aggregates),
        name="v",
        keys=(result,),
        bounding=ContributionBounding.NONE,
        contribution_limit=1,
        sums=(literal(1),),
    )


@pytest.mark.parametrize(
    ("function", "argument"),
    [each[1:] for each in aggregates()],
    ids=[each[0] for each in aggregates()],
)
def test_aggregates_of_a_unit_are_the_same(
    engine: Holder, embedded: DuckDbEngine, function: UnitFunction, argument: Expression
) -> None:
    kind = argument.facts.kind
    if function in (UnitFunction.COUNT, UnitFunction.COUNT_DISTINCT):
        kind = Kind.INTEGER
    elif function in (UnitFunction.AVG, UnitFunction.MEDIAN):
        kind = Kind.REAL
    result = column("a", kind)
    table = private(embedded, "edges", ColumnUnit(column="u"))
    made = UnitAggregate(name="a", function=function, argument=argument, facts=result.facts)
    query = of_units(table, result, made)
    assert exact_rows(engine, query) == exact_rows(embedded, query)


@pytest.mark.parametrize(
    ("function", "argument", "expected"),
    [
        (UnitFunction.MEDIAN, "real", [low + (high - low) * 0.5 for low, high in MIDDLES]),
        (UnitFunction.AVG, "whole", [float(sum(each)) / 2 for each in WHOLES]),
    ],
)
def test_averages_and_medians_of_a_unit_are_rounded_once(
    engine: Holder, function: UnitFunction, argument: str, expected: list[float]
) -> None:
    kind, result = NEAR_KINDS[argument], column("a", Kind.REAL)
    given = column(argument, kind, interval=between(-(2**63), 2**63))
    made = UnitAggregate(name="a", function=function, argument=given, facts=result.facts)
    query = of_units(
        table_of("near", ColumnUnit(column="u"), u=Kind.INTEGER, **NEAR_KINDS), result, made
    )
    found = [dict(row)["k0"] for row in exact_rows(engine, query)]
    assert sorted(map(float, map(str, found))) == sorted(expected)


# --------------------------------------------------------------------------- refusals

REFUSED = [each["sql"] for name in ("corpus", "shapes") for each in golden(name)["refuse"]]


@pytest.mark.parametrize("kind", ENGINES)
def test_the_same_questions_are_refused_in_the_same_words(kind: str) -> None:
    engine = engine_of(kind, tables())
    curator = curator_of(engine)
    for sql in REFUSED:
        told = []
        for each in (curator, reference()):
            with pytest.raises(errors.DiscreetError) as found:
                each.ask(sql, epsilon=1)
            told.append((type(found.value), str(found.value)))
        assert told[0] == told[1]
    engine.close()
