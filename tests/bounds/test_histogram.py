"""Values by bin: an engine finds the bins that the catalog means, and no unit moves them far."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from math import inf, nan, nextafter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.accounting.approximate import basic_cost
from discreet.bounds.histogram import (
    BINS,
    bin_of,
    bounds_text,
    column_named,
    histogram_question,
    read_bounds,
    threshold_for,
)
from discreet.catalog import Bounds, Catalog, Kind
from discreet.catalog.arguments import declare
from discreet.catalog.resolve import resolve
from discreet.catalog.schema import number_from_time
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.public_store import PublicStore
from discreet.errors import ParameterError, UnknownNameError
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.plan import EpsilonTarget
from tests.replay import ReplayableEntropy
from tests.statements import unbound
from tests.statistics import FALSE_ALARM, share_misfit

NO_PUBLIC = PublicStore({})

POWERS = [2.0**k for k in (-40, -33, -32, -31, -1, 0, 1, 10, 52, 63, 64, 65)]

INTEGERS = [0, 1, 2, 3, 4, 5, 2**31, 2**62 - 1, 2**62, 2**62 + 1, 2**63 - 1]

VALUES: dict[Kind, tuple[pa.DataType, list[Any]]] = {
    Kind.INTEGER: (pa.int64(), [*INTEGERS, *(-each for each in INTEGERS), -(2**63)]),
    Kind.REAL: (
        pa.float64(),
        [
            sign * near
            for power in POWERS
            for near in (power, nextafter(power, inf), nextafter(power, 0))
            for sign in (1, -1)
        ]
        + [0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308],
    ),
    Kind.DATE: (
        pa.date32(),
        [
            date(1899, 12, 31),
            date(1900, 1, 1),
            date(2024, 12, 31),
            date(2025, 1, 1),
            date(2101, 1, 1),
        ],
    ),
    Kind.TIMESTAMP: (
        pa.timestamp("us"),
        [datetime(2025, 1, 1) + timedelta(microseconds=each) for each in (-1, 0, 1)]
        + [datetime(1800, 1, 1), datetime(2200, 1, 1)],
    ),
    Kind.TIMESTAMP_TZ: (
        pa.timestamp("us", tz="UTC"),
        [datetime(2025, 1, 1, tzinfo=UTC) + timedelta(microseconds=each) for each in (-1, 0, 1)],
    ),
}


def catalog_for(engine: DuckDbEngine, **declared: Any) -> Catalog:
    given: dict[str, Any] = {"epsilon": 10, "unit": "row", **declared}
    return resolve(declare({"t": None}, **given), engine.columns)


def plan_for(catalog: Catalog, epsilon: Fraction | int = 1, *, name: str = "x") -> Plan:
    question = histogram_question(column_named(catalog, name), catalog, NO_PUBLIC)
    return make_plan(question, EpsilonTarget(epsilon, delta=0), catalog.budget)


def exact_bins(engine: DuckDbEngine, plan: Plan) -> Counter[int]:
    """Return how many rows the engine finds in each bin."""
    rows = engine.run(unbound(plan.releases[0].queries[0]), ()).unseal().to_pylist()
    return Counter({row["k0"]: int(row["s0"]) for row in rows if row["s0"]})


def histogram(table: pa.Table, **declared: Any) -> Counter[int]:
    engine = DuckDbEngine.load({"t": table})
    return exact_bins(engine, plan_for(catalog_for(engine, **declared)))


def as_number(value: Any) -> Fraction:
    return number_from_time(value) if isinstance(value, date) else Fraction(value)


@pytest.mark.parametrize("kind", VALUES)
def test_the_engine_puts_every_value_into_the_bin_that_the_catalog_means(kind: Kind) -> None:
    stored, values = VALUES[kind]
    meant = Counter(bin_of(as_number(each), kind) for each in values)
    assert histogram(pa.table({"x": pa.array(values, stored)})) == meant


def test_any_real_is_in_the_bin_that_the_catalog_means() -> None:
    bits = np.frombuffer(ReplayableEntropy(1).draw(8 * 3000), np.float64)
    values = bits[np.isfinite(bits)]
    meant = Counter(bin_of(Fraction(each), Kind.REAL) for each in values)
    assert histogram(pa.table({"x": pa.array(values)})) == meant


def test_what_is_no_number_is_in_no_bin() -> None:
    assert not histogram(pa.table({"x": pa.array([None, nan, inf, -inf], pa.float64())}))


def test_rows_without_a_value_do_not_take_the_place_of_others() -> None:
    """Only rows that have a value count towards the limit of a unit."""
    x = pa.array([None] * 20 + [5.0, 5.0], pa.float64())
    table = pa.table({"unit": pa.array([1] * 22), "x": x})
    assert sum(histogram(table, unit="unit", rows_per_unit=2).values()) == 2


# --------------------------------------------------------------------------- price

Row = tuple[int, int | None]

CASES = 6


def some_rows(source: ReplayableEntropy) -> list[Row]:
    """Return rows of four units, with values of few bins."""
    values = [0, 1, 5, 900, -7, None]
    return [(each % 4, values[each // 4 % 6]) for each in source.draw(25)]


def table_of(rows: Sequence[Row]) -> pa.Table:
    columns = [pa.array([row[i] for row in rows], pa.int64()) for i in (0, 1)]
    return pa.table(columns, names=["unit", "x"])


def test_a_unit_moves_the_histogram_no_further_than_its_price_says() -> None:
    source, limit = ReplayableEntropy(2), 3
    tables: dict[str, list[Row]] = {}
    for case in range(CASES):
        rows, others = some_rows(source), some_rows(source)
        without = [row for row in rows if row[0] != 0]
        replaced = [*without, *(row for row in others if row[0] == 0)]
        tables |= {f"all{case}": rows, f"left{case}": without, f"swapped{case}": replaced}
    engine = DuckDbEngine.load({name: table_of(rows) for name, rows in tables.items()})
    declared = declare(dict.fromkeys(tables), epsilon=1, unit="unit", rows_per_unit=limit)
    catalog = resolve(declared, engine.columns)
    bins = {name: exact_bins(engine, plan_for(catalog, name=f"{name}.x")) for name in tables}
    for case in range(CASES):
        for other, furthest in ((f"left{case}", limit), (f"swapped{case}", 2 * limit)):
            one, two = bins[f"all{case}"], bins[other]
            assert sum(abs(one[i] - two[i]) for i in {*one, *two}) <= furthest


@pytest.mark.parametrize(("neighbours", "times"), [("add-remove", 1), ("replace", 2)])
def test_finding_is_priced_as_the_histogram_that_it_is(neighbours: str, times: int) -> None:
    engine = DuckDbEngine.load({"t": pa.table({"unit": [1], "x": [1]})})
    declared = {"unit": "unit", "rows_per_unit": 3, "neighbours": neighbours, "delta": 1e-6}
    plan = plan_for(catalog_for(engine, **declared), Fraction(1, 3))
    (event,) = plan.events
    assert basic_cost(event) == (Fraction(1, 3), Fraction(0))
    assert plan.releases[0].components[0].measured.sensitivity.l1 == 3 * times


def test_what_is_declared_of_columns_does_not_make_it_another_question() -> None:
    engine = DuckDbEngine.load({"t": pa.table({"unit": [1], "x": [1]})})
    plain = plan_for(catalog_for(engine, unit="unit"))
    bounded = plan_for(
        catalog_for(
            engine, unit="unit", bounds={"x": (0, 128)}, nulls={"x": False}, rows_per_unit=10
        )
    )
    other = plan_for(catalog_for(engine, unit="unit", rows_per_unit=9))
    assert plain.identities == bounded.identities != other.identities


# --------------------------------------------------------------------------- bounds


def false_finds(threshold_times: float, runs: int) -> int:
    """Return in how many runs over no data at all some bin passes a multiple of the threshold."""
    engine = DuckDbEngine.load({"t": pa.table({"x": pa.array([], pa.int64())})})
    noise = plan_for(catalog_for(engine)).releases[0].components[0].noise
    empty = np.zeros((runs, len(BINS[Kind.INTEGER])), np.int64)
    noisy = noise.release(empty, entropy=ReplayableEntropy(7))
    threshold = float(threshold_for(noise, Kind.INTEGER)) * threshold_times
    return int((np.asarray(noisy) > threshold).any(axis=1).sum())


def test_noise_alone_passes_the_threshold_as_rarely_as_stated() -> None:
    """The false-alarm rate is one in a million, and a threshold of half the height is caught."""
    runs, stated = 4_000, 1 / 1000
    found, found_below = (false_finds(times, runs) for times in (1, 0.5))
    assert found <= runs * stated or share_misfit(found, runs, stated) > FALSE_ALARM
    assert found_below > runs * stated
    assert share_misfit(found_below, runs, stated) < FALSE_ALARM


def test_bounds_of_integers_fit_integers() -> None:
    engine = DuckDbEngine.load({"t": pa.table({"x": [1]})})
    plan = plan_for(catalog_for(engine))
    counts = [0] * (len(BINS[Kind.INTEGER]) - 1) + [1000]
    found = read_bounds(plan.releases[0], counts, Kind.INTEGER)
    assert found == Bounds(low=Fraction(2**62), high=Fraction(2**63 - 1))
    assert read_bounds(plan.releases[0], [0] * len(counts), Kind.INTEGER) is None


def test_bounds_are_told_as_people_write_them() -> None:
    day = Bounds(low=Fraction(0), high=Fraction(364))
    assert bounds_text(day, Kind.DATE) == "1970-01-01 to 1970-12-31"
    assert bounds_text(Bounds(low=Fraction(1, 4), high=Fraction(8)), Kind.REAL) == "0.25 to 8"


def test_a_column_is_named_alone_or_with_its_table() -> None:
    tables = {"t": pa.table({"x": [1], "a": ["b"]}), "u": pa.table({"x": [1], "y": [1]})}
    engine = DuckDbEngine.load(tables)
    declared = declare({"t": None, "u": None}, epsilon=1, unit="row")
    catalog = resolve(declared, engine.columns)
    assert str(column_named(catalog, "T.X")) == "t.x"
    assert str(column_named(catalog, "y")) == "u.y"
    for name, error, words in (
        ("x", UnknownNameError, "t.x or u.x"),
        ("t.xx", UnknownNameError, "Did you mean t.x"),
        ("yy", UnknownNameError, "Did you mean"),
        ("a", ParameterError, "numbers, dates or timestamps"),
    ):
        with pytest.raises(error, match=words):
            column_named(catalog, name)
