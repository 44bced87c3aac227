"""Numbers made to break arithmetic (cases N1 to N8): refused by name, or computed exactly."""

# ruff: noqa: S608 - questions are made, not taken from anyone

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from math import inf, isfinite, nan
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.curator import Curator
from discreet.errors import CatalogError, DiscreetError, ParameterError, TargetError
from tests.attacks.plans import only, plan_of
from tests.statements import unbound

PEOPLE = pa.table({"u": list(range(50)), "x": [float(n) for n in range(50)]})


def opened(table: pa.Table = PEOPLE, **arguments: Any) -> Curator:
    declared: dict[str, Any] = {
        "name": "t",
        "unit": "u",
        "epsilon": 1_000,
        "least_epsilon": 1e-9,
        "bounds": {"x": (0, 100)},
        "rows_per_unit": 1,
    }
    return discreet.open(table, **(declared | arguments))


@pytest.fixture(scope="module")
def curator() -> Iterator[Curator]:
    with opened(delta=1e-4) as found:
        yield found


def exact_sums(curator: Curator, sql: str) -> list[int]:
    """Return the whole numbers that the engine computes for a question without groups."""
    (planned,) = plan_of(curator, sql).releases
    tables = [curator._engine.run(unbound(each), ()).unseal() for each in planned.queries]
    return [int(value) for table in tables for value in table.to_pylist()[0].values()]


# --------------------------------------------------------------------------- N2, N5: sums


@pytest.mark.parametrize("size", [2**10, 2**14])
def test_n2_sums_do_not_drift(size: int) -> None:
    """A huge value next to many small ones swallows none of them, in whatever order they come."""
    values = [1e15] + [0.1] * size + [-1e15] + [1e-9] * size
    tables = [values, list(reversed(values)), values[1:], values[:-1]]
    sums = []
    for each in tables:
        table = pa.table({"u": list(range(len(each))), "x": each})
        with opened(table, bounds={"x": (0, 1)}) as curator:
            sums.append(exact_sums(curator, "SELECT SUM(x) FROM t"))
            (planned,) = plan_of(curator, "SELECT SUM(x) FROM t").releases
    sensitivity = planned.components[0].measured.sensitivity.l1
    assert sums[0] == sums[1]
    for neighbour in sums[2:]:
        assert sum(abs(a - b) for a, b in zip(sums[0], neighbour, strict=True)) <= sensitivity


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (pa.float32(), 2**13),
        pytest.param(pa.float64(), 2**22, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_n2_the_order_and_number_of_rows_moves_no_sum(kind: pa.DataType, size: int) -> None:
    """Past so many rows a sum of floats loses small values: by more than one unit may move it."""
    small = pa.array(np.full(size, 0.1), kind)
    large = pa.array(np.full(size // 2, 2.0**24), kind)
    sums = []
    for parts in ([small, large], [large, small], [small[1:], large]):
        values = pa.chunked_array(parts).combine_chunks()
        table = pa.table({"u": pa.array(np.arange(len(values))), "x": values})
        with opened(table, bounds={"x": (0, 2**24)}) as curator:
            sums.append(exact_sums(curator, "SELECT SUM(x) FROM t"))
            (planned,) = plan_of(curator, "SELECT SUM(x) FROM t").releases
    assert sums[0] == sums[1]
    moved = sum(abs(a - b) for a, b in zip(sums[0], sums[2], strict=True))
    assert moved <= planned.components[0].measured.sensitivity.l1


MOMENTS = ["SUM(x)", "AVG(x)", "VARIANCE(x)", "COUNT(x)"]


@pytest.mark.parametrize("odd", [nan, inf, -inf, -0.0, 5e-324, 1.8e308 * 0.99, -1e308, None])
def test_n5_an_odd_value_moves_a_sum_by_what_one_unit_may(odd: float) -> None:
    sums = []
    for rows in ([1.0, 2.0], [1.0, 2.0, odd]):
        table = pa.table({"u": list(range(len(rows))), "x": pa.array(rows, pa.float64())})
        with opened(table) as curator:
            plans = [plan_of(curator, f"SELECT {each} FROM t") for each in MOMENTS]
            sums.append([exact_sums(curator, f"SELECT {each} FROM t") for each in MOMENTS])
    for plan, before, after in zip(plans, *sums, strict=True):
        (measure,) = plan.releases[0].components
        moved = [
            sum(weight * (b - a) for weight, a, b in zip(cell, before, after, strict=True))
            for cell in measure.measure.cells
        ]
        assert sum(map(abs, moved)) <= measure.measured.sensitivity.l1


# --------------------------------------------------------------------------- N6: parameters

BAD_BOUNDS = [
    *((5, 1), (5, 5), (nan, 1), (0, nan), (0, inf), (-inf, 0), (-1e308, 1e308), (0, 10**400)),
    *(("a", "b"), (0,), (0, 1, 2), (None, 1), (True, False), "01", (1e-320, 2e-320)),
]


@pytest.mark.parametrize("bounds", BAD_BOUNDS, ids=lambda bounds: str(bounds)[:30])
def test_n6_bad_bounds_are_refused_by_name(bounds: Any) -> None:
    with pytest.raises(CatalogError, match=r"bounds\['x'\]"):
        opened(bounds={"x": bounds})


BAD = [0, -1, nan, inf, -inf, 1e-300, 1e300, "1", True, 10**400, 1j]


@pytest.mark.parametrize("epsilon", BAD, ids=lambda each: str(each)[:20])
def test_n6_a_bad_budget_is_refused_by_name(epsilon: Any) -> None:
    with pytest.raises((CatalogError, ParameterError), match="epsilon"):
        opened(epsilon=epsilon)


@pytest.mark.parametrize("delta", [-1, 1, 2, nan, inf, 1e-300, "x"])
def test_n6_a_bad_delta_is_refused_by_name(delta: Any) -> None:
    with pytest.raises((CatalogError, ParameterError), match="delta"):
        opened(delta=delta)


@pytest.mark.parametrize("rows", [0, -1, 1.5, "3", 10**30, True, nan])
def test_n6_a_bad_limit_is_refused_by_name(rows: Any) -> None:
    with pytest.raises(CatalogError, match="rows_per_unit"):
        opened(rows_per_unit=rows)


@pytest.mark.parametrize("step", [0, -1, nan, inf, 1e-300, 7])
def test_n6_a_bad_step_is_refused_by_name(step: Any) -> None:
    with pytest.raises(CatalogError, match=r"step\['x'\]"):
        opened(step={"x": step})


@pytest.mark.parametrize("epsilon", BAD, ids=lambda each: str(each)[:20])
def test_n6_a_bad_price_is_refused_by_name_and_costs_nothing(
    curator: Curator, epsilon: Any
) -> None:
    before = curator.remaining
    with pytest.raises((ParameterError, TargetError), match="epsilon"):
        curator.ask("SELECT SUM(x) FROM t", epsilon=epsilon)
    assert curator.remaining == before


@pytest.mark.parametrize(
    "target",
    [
        *({"epsilon": 1, "delta": each} for each in (-1, 1, 2, nan, inf, "x")),
        *({"within": each} for each in (0, -1, nan, inf, "x", True, {}, {"y": 0}, {"y": nan})),
        *({"epsilon": 1, "confidence": each} for each in (0, 1, -1, 2, nan, "x")),
    ],
    ids=str,
)
def test_n6_a_bad_target_is_refused_by_name_and_costs_nothing(
    curator: Curator, target: dict[str, Any]
) -> None:
    name = list(target)[-1]
    before = curator.remaining
    with pytest.raises(ParameterError, match=name):
        curator.ask("SELECT SUM(x) AS y FROM t", **target)
    assert curator.remaining == before


def test_n6_an_accuracy_never_costs_more_than_the_price_beside_it(curator: Curator) -> None:
    before = curator.remaining
    with pytest.raises(TargetError, match="at most ε = 1 may be spent"):
        curator.ask("SELECT SUM(x) FROM t", epsilon=1, within=3)
    assert curator.remaining == before
    with pytest.raises(ParameterError, match="epsilon or within must be given"):
        curator.ask("SELECT SUM(x) FROM t")


# --------------------------------------------------------------------------- N7: far scales


@pytest.mark.parametrize(("high", "epsilon"), [(1e15, 1e-6), (1e-12, 1), (1e-12, 1e-6), (1e100, 1)])
def test_n7_noise_of_any_size_is_finite_and_there(high: float, epsilon: float) -> None:
    with opened(bounds={"x": (0, high)}) as curator:
        for statistic in ("SUM", "AVG", "VARIANCE", "STDDEV", "MEDIAN", "MAX"):
            sql = f"SELECT {statistic}(x) AS y FROM t"
            number = only(curator, sql, epsilon=epsilon)["y"]
            is_selected = statistic in ("MEDIAN", "MAX")  # NULL if too few rows support it
            assert (is_selected and number is None) or isfinite(number)
            (planned,) = plan_of(curator, sql, epsilon=epsilon).releases
            for each in planned.components:
                share = each.measured.sensitivity.l1 / each.epsilon
                assert each.noise.scale >= share  # rounded up, if at all


def test_n7_squares_that_overflow_are_refused() -> None:
    with opened(bounds={"x": (0, 1e180)}) as curator:
        with pytest.raises(DiscreetError, match="too large"):
            curator.ask("SELECT VARIANCE(x) FROM t", epsilon=1)
        assert isfinite(only(curator, "SELECT SUM(x) AS y FROM t")["y"])
        sql = "SELECT VARIANCE(clamp(x, 0, 10)) AS y FROM t"
        assert isfinite(only(curator, sql)["y"])


def test_n7_whole_numbers_beyond_64_bits_are_chosen_without_failing() -> None:
    """Whether a chosen number fits into 64 bits must not show as an error: it tells of the data."""
    for value in (0, 2**64 - 1):
        table = pa.table({"u": list(range(50)), "x": pa.array([value] * 50, pa.uint64())})
        with opened(table, bounds={"x": (0, 2**64 - 1)}) as curator:
            for statistic in ("MIN(x)", "MAX(x)", "quantile(x, 0.5)", "SUM(x)"):
                assert len(curator.ask(f"SELECT {statistic} FROM t", epsilon=50).rows) == 1


# --------------------------------------------------------------------------- N8: other types


@pytest.mark.parametrize(
    "condition",
    [
        "d + 2147483647 > d",
        "d - 2147483647 < d",
        "d + (year(d) * 1000000) > d",
        "d + INTERVAL 100000 DAY > d",
        "date_add(d, INTERVAL 9000 YEAR) > d",
        "make_date(year(d) * 10, month(d) + 11, day(d) + 30) > d",
        "date_diff('day', DATE '0001-01-01', d) > 0",
        "date_trunc('century', d) < d",
        "CAST(d AS VARCHAR) LIKE '%9999%'",
        "m * 99999999999999 > 0",
        "m / (m - m) > 0",
        "CAST(m AS INTEGER) % 0 = 0",
        "b AND NOT b",
        "CAST(b AS INTEGER) / 0 > 0",
        "t + INTERVAL 200000 HOUR > t",
        "date_diff('microsecond', t, TIMESTAMP '9999-12-31 00:00:00') > 0",
    ],
)
def test_n8_arithmetic_on_other_types_is_total_or_refused(condition: str) -> None:
    table = pa.table(
        {
            "u": [1, 2, 3],
            "d": [date(1, 1, 1), date(9999, 12, 31), None],
            "m": pa.array([Decimal("99999999.99"), Decimal("-0.01"), None], pa.decimal128(10, 2)),
            "b": [True, False, None],
            "t": pa.array([0, 2**62, None], pa.timestamp("us", tz="Europe/Paris")),
        }
    )
    with opened(table, bounds={}) as curator:
        before = curator.remaining
        try:
            answer = curator.ask(f"SELECT COUNT(*) FROM t WHERE {condition}", epsilon=1)
        except DiscreetError:
            assert curator.remaining == before
        else:
            assert len(answer.rows) == 1
