"""What coverage measures: each unit at its place, and moved by no more than is charged."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from discreet.bounds.histogram import column_named
from discreet.catalog import Catalog
from discreet.catalog.arguments import declare
from discreet.catalog.resolve import resolve
from discreet.coverage.measurements import epsilons_of, measurements_of, table_named
from discreet.coverage.questions import (
    ABOVE,
    BELOW,
    INSIDE,
    KNOTS,
    STEPS,
    place,
    rows_question,
    values_question,
)
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.public_store import PublicStore
from discreet.errors import CatalogError, ParameterError, UnknownNameError
from discreet.mechanisms.sensitivity import ADD_REMOVE, REPLACE, Neighbours
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.plan import EpsilonTarget
from discreet.query.questions import Question
from discreet.query.tree import ColumnOf, GroupByUnit, NamedExpression, Select
from tests.properties.movement import check_movement, exact_tables

NO_PUBLIC = PublicStore({})
SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 100, 1023, 1024, 1025, 2047, 3000)


def table_of_sizes(sizes: tuple[int, ...]) -> pa.Table:
    units = [unit for unit, size in enumerate(sizes) for _ in range(size)]
    return pa.table({"u": pa.array(units, pa.int64()), "x": pa.array(range(len(units)))})


def catalog_of(engine: DuckDbEngine, **given: Any) -> Catalog:
    declared = {"epsilon": 10, "unit": "u", "rows_per_unit": 3, **given}
    return resolve(declare({"t": None}, **declared), engine.columns)


def plan_of(question: Question, catalog: Catalog) -> Plan:
    return make_plan(question, EpsilonTarget(1, delta=0), catalog.budget)


def rows_plan(catalog: Catalog) -> Plan:
    return plan_of(rows_question(table_named("t", catalog), catalog, NO_PUBLIC), catalog)


def values_plan(catalog: Catalog) -> Plan:
    ref = column_named(catalog, "t.x")
    bounds: Any = ref.column.bounds
    return plan_of(values_question(ref, bounds, catalog, NO_PUBLIC), catalog)


def exact(plan: Plan, engine: DuckDbEngine) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = exact_tables(plan, engine)[0][0].to_pylist()
    return sorted(found, key=lambda row: row["k0"])


def test_the_engine_puts_every_unit_at_the_place_that_is_meant() -> None:
    engine = DuckDbEngine.load({"t": table_of_sizes(SIZES)})
    found = exact(rows_plan(catalog_of(engine)), engine)
    units, places = Counter[int](), Counter[int]()
    for size in SIZES:
        group, within = place(size)
        units[group] += 1
        places[group] += within
    assert {row["k0"]: (int(row["s0"]), int(row["s1"])) for row in found} == {
        group: (units[group], places[group]) for group in units
    }


def test_a_unit_is_one_unit_of_mass_between_the_ends_of_its_group() -> None:
    for size in (*range(1, 5000), 2**20 - 1, 2**20, 2**20 + 1, 2**40):
        group, within = place(size)
        assert 0 <= within < STEPS
        capped = min(size, KNOTS[-1])
        mean = KNOTS[group] * (1 + Fraction(within, STEPS))
        assert 0 <= capped - mean < max(1, Fraction(KNOTS[group], STEPS))


@pytest.mark.parametrize(("neighbours", "moved"), [(ADD_REMOVE, 1), (REPLACE, 2)])
def test_no_two_neighbouring_tables_differ_by_more_than_the_noise_is_made_for(
    neighbours: Neighbours, moved: int
) -> None:
    """Brute force over all sizes of one unit: the cells of its group are all that can move."""

    def cells(size: int) -> Counter[tuple[int, int]]:
        group, within = place(size) if size else (0, 0)
        return Counter({(group, 0): STEPS - within, (group, 1): within} if size else {})

    sizes = (*range(40), 1023, 1024, 1500, 2**20, 2**21)
    pairs = [(a, b) for a, b in product(sizes, repeat=2) if neighbours is REPLACE or 0 in (a, b)]
    worst = 0
    for before, after in pairs:
        here, there = cells(before), cells(after)
        worst = max(worst, sum(abs(here[each] - there[each]) for each in {*here, *there}))
    engine = DuckDbEngine.load({"t": table_of_sizes((1,))})
    plan = rows_plan(catalog_of(engine, neighbours=neighbours))
    measured = plan.releases[0].components[0].measured
    assert worst == measured.sensitivity.l1 == moved * STEPS


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("sizes", [(0,), (1,), (2, 1), (5, 7, 1), (64, 3)])
def test_an_engine_keeps_to_it_when_a_unit_comes_grows_or_goes(
    neighbours: Neighbours, sizes: tuple[int, ...]
) -> None:
    others = (1, 4, 2)
    before = DuckDbEngine.load({"t": table_of_sizes(others)})
    first = catalog_of(before, neighbours=neighbours, bounds={"x": (2, 5)})
    for size in sizes:
        grown = (*others, size) if neighbours is ADD_REMOVE else (*others[:-1], size or 9)
        after = DuckDbEngine.load({"t": table_of_sizes(grown)})
        for plan in (rows_plan(first), values_plan(first)):
            check_movement(plan, exact_tables(plan, before), exact_tables(plan, after))
        after.close()


def test_a_unit_in_several_groups_is_caught() -> None:
    """The broken variant groups by unit and another column, and still takes it for one row."""
    before = DuckDbEngine.load({"t": table_of_sizes((1, 1))})
    after = DuckDbEngine.load({"t": table_of_sizes((1, 1, 8))})
    catalog = catalog_of(before)
    question = rows_question(table_named("t", catalog), catalog, NO_PUBLIC)
    (release,) = question.aggregations
    assert isinstance(release.rows, Select)
    units = release.rows.source
    assert isinstance(units, GroupByUnit)
    other = ColumnOf(source="t", name="x", facts=release.keys[0].expression.facts)
    several = replace(units, keys=(NamedExpression(name="k", expression=other),))
    broken = replace(release, rows=replace(release.rows, source=several))
    plan = plan_of(replace(question, aggregations=(broken,)), catalog)
    with pytest.raises(AssertionError):
        check_movement(plan, exact_tables(plan, before), exact_tables(plan, after))


def test_raw_values_are_compared_not_clamped_ones() -> None:
    rows: dict[str, list[Any]] = {
        "u": list(range(8)),
        "x": [-9.0, -0.5, 0.0, 1.0, 2.0, 2.5, 99.0, None],
    }
    engine = DuckDbEngine.load({"t": pa.table(rows)})
    catalog = catalog_of(engine, bounds={"x": (0, 2)}, step={"x": 1})
    found = {row["k0"]: int(row["s0"]) for row in exact(values_plan(catalog), engine)}
    assert found == {BELOW: 2, INSIDE: 3, ABOVE: 2}


def test_no_more_values_of_a_unit_count_than_its_rows() -> None:
    engine = DuckDbEngine.load({"t": table_of_sizes((50, 1))})
    catalog = catalog_of(engine, bounds={"x": (0, 10)})
    plan = values_plan(catalog)
    assert sum(int(row["s0"]) for row in exact(plan, engine)) == 4
    assert plan.releases[0].components[0].measured.sensitivity.l1 == 3


def test_the_question_about_units_stays_the_same_when_the_limit_and_bounds_change() -> None:
    engine = DuckDbEngine.load({"t": table_of_sizes((1, 2))})
    one = rows_plan(catalog_of(engine)).identities[0]
    other = rows_plan(catalog_of(engine, rows_per_unit=50, bounds={"x": (0, 9)})).identities[0]
    assert one == other
    values = [
        values_plan(catalog_of(engine, bounds={"x": (0, high)})).identities[0].base
        for high in (9, 10)
    ]
    assert values[0] != values[1]


def test_epsilon_is_divided_without_remainder_and_two_thirds_are_for_rows() -> None:
    engine = DuckDbEngine.load({"t": table_of_sizes((1,))})
    table = table_named("t", catalog_of(engine, bounds={"x": (0, 9)}))
    shares = epsilons_of(measurements_of(table), Fraction(1, 7))
    assert sum(shares.values()) == Fraction(1, 7)
    assert next(iter(shares.values())) == Fraction(2, 21)
    alone = epsilons_of(measurements_of(table, []), Fraction(1, 7))
    assert list(alone.values()) == [Fraction(1, 7)]


def test_names_that_cannot_be_measured_are_rejected() -> None:
    engine = DuckDbEngine.load({"t": table_of_sizes((1,))})
    catalog = catalog_of(engine)
    with pytest.raises(UnknownNameError, match="no private table"):
        table_named("absent", catalog)
    for wrong in ("x", ["x"], ["absent"], [3]):
        with pytest.raises(ParameterError, match="columns"):
            measurements_of(table_named("t", catalog), wrong)  # type: ignore[arg-type]
    by_row = resolve(declare({"t": None}, epsilon=1, unit="row"), engine.columns)
    with pytest.raises(CatalogError, match="nothing to measure"):
        measurements_of(table_named("t", by_row))
