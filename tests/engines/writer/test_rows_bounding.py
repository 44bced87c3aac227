"""Bounding: no unit counts more than the limit, and which rows count follows from its own alone."""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.catalog.schema import Kind
from discreet.engines.duckdb import DuckDbEngine
from discreet.query.expressions.facts import literal
from discreet.query.tree import ContributionBounding, ExactQuery, Scan
from tests.engines.made import column, count, exact, loaded, private
from tests.statements import unbound

KEY = column("region", Kind.TEXT)
COST = column("cost")


def engine_of(rows: list[tuple[int | None, str | None, int | None]]) -> DuckDbEngine:
    fields: list[tuple[str, pa.DataType]] = [
        ("patient_id", pa.int64()),
        ("region", pa.string()),
        ("cost", pa.int64()),
    ]
    schema = pa.schema(fields)
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    arrays = [pa.array(each, field.type) for each, field in zip(columns, schema, strict=True)]
    return DuckDbEngine.load({"visits": pa.table(arrays, schema=schema)})


def queries(engine: DuckDbEngine, limit: int) -> dict[str, ExactQuery]:
    """Return an exact query of every shape."""
    table = private(engine)
    sums = (literal(1), COST)
    return {
        "count": count(table, limit=limit, units=True),
        "sums": count(table, limit=limit, sums=sums, units=True),
        "by key": count(table, limit=limit, sums=sums, keys=(KEY,), units=True),
        "cells": count(table, limit=limit, sums=(), keys=(KEY,), cell=COST),
        "cells of all": count(table, limit=limit, sums=(), cell=COST),
        "units": count(table, limit=limit, sums=(), bounding=ContributionBounding.UNITS_ONLY),
        "units by key": count(
            table, limit=limit, sums=(), keys=(KEY,), bounding=ContributionBounding.UNITS_ONLY
        ),
        "pairs": count(
            table,
            limit=limit,
            sums=(),
            keys=(KEY,),
            bounding=ContributionBounding.PAIRS,
            distinct=COST,
        ),
        "sum of pairs": count(
            table,
            limit=limit,
            sums=(COST,),
            bounding=ContributionBounding.PAIRS,
            distinct=COST,
            units=True,
        ),
    }


@pytest.fixture(scope="module")
def small() -> Iterator[DuckDbEngine]:
    rows = [(1, "n", 5), (1, "n", 5), (1, "s", 7), (2, "n", 5), (2, None, None), (None, "n", 9)]
    engine = engine_of([*rows])
    yield engine
    engine.close()


EXPECTED: dict[str, list[dict[str, Any]]] = {
    "count": [{"s0": 5, "units": 2}],
    "sums": [{"s0": 5, "s1": 22, "units": 2}],
    "by key": [
        {"k0": "n", "s0": 3, "s1": 15, "units": 2},
        {"k0": "s", "s0": 1, "s1": 7, "units": 1},
        {"k0": None, "s0": 1, "s1": 0, "units": 1},
    ],
    "cells": [{"k0": "n", "cell": 5, "n": 3}, {"k0": "s", "cell": 7, "n": 1}],
    "cells of all": [{"cell": 5, "n": 3}, {"cell": 7, "n": 1}],
    "units": [{"units": 2}],
    "units by key": [{"k0": "n", "units": 2}, {"k0": "s", "units": 1}, {"k0": None, "units": 1}],
    "pairs": [{"k0": "n", "n": 1}, {"k0": "s", "n": 1}],
    "sum of pairs": [{"s0": 12, "n": 2, "units": 2}],
}


@pytest.mark.parametrize("shape", EXPECTED)
def test_within_the_limit_everything_counts(small: DuckDbEngine, shape: str) -> None:
    assert exact(small, queries(small, 100)[shape]) == EXPECTED[shape]


EMPTY: dict[str, list[dict[str, Any]]] = {
    "count": [{"s0": 0, "units": 0}],
    "sums": [{"s0": 0, "s1": 0, "units": 0}],
    "units": [{"units": 0}],
    "sum of pairs": [{"s0": 0, "n": 0, "units": 0}],
}


@pytest.mark.parametrize("rows", [[], [(None, "n", 5)]])
def test_a_table_without_units_is_answered_like_any_other(
    rows: list[tuple[None, str, int]],
) -> None:
    engine = engine_of(list(rows))
    found = {shape: exact(engine, query) for shape, query in queries(engine, 3).items()}
    assert found == {shape: EMPTY.get(shape, []) for shape in EXPECTED}
    engine.close()


def test_the_order_of_stored_rows_changes_nothing() -> None:
    rows = [(1, "n", 5), (1, "n", 6), (1, "s", 7), (2, "n", 5), (1, None, 5)]
    found = set()
    for order in list(permutations(rows))[::31]:
        engine = engine_of(list(order))
        shapes = [*queries(engine, 1).values(), *queries(engine, 2).values()]
        found.add(str([exact(engine, query) for query in shapes]))
        engine.close()
    assert len(found) == 1


entries = st.tuples(
    st.integers(min_value=1, max_value=4),
    st.sampled_from(["n", "s", None]),
    st.one_of(st.none(), st.integers(min_value=0, max_value=3)),
)


@settings(deadline=None, max_examples=6)
@given(st.lists(entries, max_size=25), st.integers(min_value=1, max_value=3))
def test_a_unit_moves_all_groups_together_by_the_limit_at_most(
    rows: list[tuple[int, str | None, int | None]], limit: int
) -> None:
    """The definition of sensitivity, held for every shape: unit 1 is there, or it is not."""
    with_unit, without = engine_of(list(rows)), engine_of([each for each in rows if each[0] != 1])
    for shape, query in queries(with_unit, limit).items():
        moved = distance(exact(with_unit, query), exact(without, query))
        for name, amount in moved.items():
            assert amount <= (limit * 3 if name in ("s1",) or shape == "sum of pairs" else limit)
    with_unit.close()
    without.close()


def distance(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> dict[str, int]:
    """Return, measure by measure, the sum of differences over groups."""

    def by_group(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, int]]:
        return {
            (row.get("k0"), row.get("cell")): {
                name: int(value) for name, value in row.items() if name not in ("k0", "cell")
            }
            for row in rows
        }

    left, right = by_group(a), by_group(b)
    moved: dict[str, int] = {}
    for group in {*left, *right}:
        here, there = left.get(group, {}), right.get(group, {})
        for name in {*here, *there}:
            moved[name] = moved.get(name, 0) + abs(here.get(name, 0) - there.get(name, 0))
    return moved


def test_a_unit_with_very_many_rows_is_cut() -> None:
    many = 100_000
    engine = loaded(
        visits={
            "patient_id": [1] * many,
            "region": [f"r{n % 50}" for n in range(many)],
            "cost": list(range(many)),
        }
    )
    for shape, query in queries(engine, 7).items():
        found = exact(engine, query)
        measure = next(each for each in ("n", "s0", "units") if each in found[0])
        assert sum(row[measure] for row in found) == (1 if shape == "units" else 7)
    engine.close()


def test_units_with_like_rows_do_not_all_lose_the_same_ones() -> None:
    units = [each for each in range(1000) for _ in range(2)]
    engine = loaded(visits={"patient_id": units, "region": ["n", "s"] * 1000, "cost": [0] * 2000})
    found = exact(engine, count(private(engine), limit=1, keys=(KEY,)))
    assert all(400 < row["s0"] < 600 for row in found)
    engine.close()


def test_sums_are_exact_beyond_64_bits() -> None:
    most = 2**63 - 1
    engine = engine_of([(n, "n", most) for n in range(50)])
    (row,) = exact(engine, count(private(engine), sums=(COST,)))
    assert row["s0"] == 50 * most
    table = engine.run(unbound(count(private(engine), sums=(COST,))), ()).unseal()
    assert table.schema.field("s0").type == pa.decimal128(38, 0)
    engine.close()


def test_a_column_of_nulls_adds_nothing() -> None:
    engine = engine_of([(n, None, None) for n in range(3)])
    query = count(Scan(table=private(engine)), sums=(COST, literal(1)), keys=(KEY,))
    assert exact(engine, query) == [{"k0": None, "s0": 0, "s1": 3}]
    engine.close()
