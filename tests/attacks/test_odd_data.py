"""Odd data: whatever is in a table, every aggregate is answered, in the same shape."""

# ruff: noqa: S608 - questions are made, not taken from anyone

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from math import inf, nan
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.curator import Curator
from discreet.errors import UnsupportedError
from tests.attacks.plans import only, plan_of
from tests.statements import unbound

ROWS = 40
SNOWMAN = 'naïve ☃ "q"'

ODD: dict[str, tuple[list[Any], pa.DataType]] = {
    "u": ([None, 1, 2, 3, 4, 5, 5, 5], pa.int64()),
    "x": ([nan, inf, -inf, -0.0, 5e-324, 1.7976931348623157e308, 3.5, None], pa.float64()),
    "i": ([2**63 - 1, -(2**63), 0, None], pa.int64()),
    "h": ([Decimal("123456789012345678901234.56"), None], pa.decimal128(38, 2)),
    "m": ([Decimal("0.25"), Decimal("-7.50")], pa.decimal128(10, 2)),
    "empty": ([None], pa.float64()),
    "b": ([True, False, None], pa.bool_()),
    "d": ([date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), None], pa.date32()),
    "ts": ([datetime(2024, 1, 1, 1), None], pa.timestamp("us")),
    "tz": ([datetime(2024, 1, 1, 1, tzinfo=UTC)], pa.timestamp("us", tz="Europe/Paris")),
    "nothing": ([None], pa.string()),
    SNOWMAN: (["é", "☃", '"', "'", ""], pa.string()),
    "select": ([1, 2, 3], pa.int32()),
    "__unit": ([7], pa.int64()),
    "rank": ([7], pa.uint8()),
    "l": ([[1], None], pa.list_(pa.int64())),
    "bin": ([b"\x00\xff"], pa.binary()),
    "clock": ([time(1, 2)], pa.time64("us")),
    "span": ([timedelta(1)], pa.duration("us")),
}

BOUNDS = {
    "x": (-1000, 1000),
    "i": (-(10**12), 10**12),
    "h": (0, 10**25),
    "m": (-10, 10),
    "empty": (0, 1),
    "d": ("0001-01-01", "9999-12-31"),
    "ts": ("2024-01-01", "2024-01-02"),
    "tz": ("2024-01-01", "2024-01-02"),
    "select": (0, 10),
    "__unit": (0, 10),
    "rank": (0, 255),
}

NUMBERS = ["x", "i", "h", "m", "empty", "select", "__unit", "rank"]
MOMENTS = ["d", "ts", "tz"]
UNORDERED = ["l", "bin", "clock", "span"]
ALL = [*ODD]


def table(rows: int) -> pa.Table:
    columns = {
        name: pa.array([values[n % len(values)] for n in range(rows)], kind)
        for name, (values, kind) in ODD.items()
    }
    return pa.table(columns)


@pytest.fixture(scope="module", params=[ROWS, 0, 1], ids=lambda rows: f"{rows} rows")
def curator(request: pytest.FixtureRequest) -> Iterator[Curator]:
    with discreet.open(
        table(request.param),
        name="t",
        unit="u",
        bounds=BOUNDS,
        values={"nothing": ["a", "b"]},
        epsilon=100_000,
        delta=0.01,
    ) as found:
        yield found


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.parametrize("column", NUMBERS)
def test_every_aggregate_of_a_number_is_answered(curator: Curator, column: str) -> None:
    x = quoted(column)
    asked = [f"{each}({x})" for each in ("COUNT", "SUM", "AVG", "VARIANCE", "STDDEV")]
    asked += [f"COUNT(DISTINCT {x})", f"SUM(DISTINCT {x})"]
    selected = [*(f"{each}({x})" for each in ("MEDIAN", "MIN", "MAX")), f"quantile({x}, 0.9)"]
    answer = curator.ask(f"SELECT {', '.join(asked + selected)} FROM t", epsilon=1)
    ((*numbers, _, _, _, _),) = (row.values() for row in answer.rows)
    assert None not in numbers
    if None in answer.rows[0].values():
        assert any("too few rows" in each for each in answer.notes)


@pytest.mark.parametrize("column", MOMENTS)
def test_every_aggregate_of_a_moment_is_answered(curator: Curator, column: str) -> None:
    asked = ", ".join(f"{each}({column})" for each in ("COUNT", "MEDIAN", "MIN", "MAX"))
    assert len(curator.ask(f"SELECT {asked} FROM t", epsilon=1).rows) == 1


@pytest.mark.parametrize("column", ALL, ids=ascii)
def test_whatever_a_column_holds_can_be_counted(curator: Curator, column: str) -> None:
    x = quoted(column)
    sql = f"SELECT COUNT({x}), COUNT(*) FILTER (WHERE {x} IS NULL) FROM t"
    assert len(curator.ask(sql, epsilon=1).rows) == 1


@pytest.mark.parametrize("column", [each for each in ALL if each != "u"], ids=ascii)
def test_groups_are_answered_or_refused(curator: Curator, column: str) -> None:
    sql = f"SELECT {quoted(column)}, COUNT(*) FROM t GROUP BY 1"
    if column in UNORDERED:
        with pytest.raises(UnsupportedError, match="GROUP BY a value of type"):
            curator.ask(sql, epsilon=1)
    else:
        curator.ask(sql, epsilon=1)


def test_every_aggregate_of_one_unit_is_answered(curator: Curator) -> None:
    inner = (
        "SELECT u, AVG(x) AS a, SUM(i) AS s, MIN(d) AS d, MEDIAN(m) AS m, MAX(ts) AS t,"
        " COUNT(DISTINCT l) AS l, COUNT(*) AS n FROM t GROUP BY u"
    )
    sums = ", ".join(f"SUM(clamp({each}, 0, 9))" for each in "sln")
    outer = f"SELECT AVG(a), MIN(d), MEDIAN(m), MAX(t), {sums} FROM"
    assert len(curator.ask(f"{outer} ({inner})", epsilon=1).rows) == 1


def test_rows_of_no_unit_are_left_out_and_that_is_said(curator: Curator) -> None:
    explained = str(curator.explain("SELECT COUNT(*) FROM t", epsilon=1))
    assert "Rows of t where u is NULL." in explained


def test_rows_of_no_unit_count_nowhere() -> None:
    rows = pa.table({"u": pa.array([None] * 500 + [1, 2], pa.int64()), "x": [1] * 502})
    with discreet.open(rows, name="t", unit="u", epsilon=1000, bounds={"x": (0, 1)}) as opened:
        asked = "COUNT(*) AS n, SUM(x) AS s, COUNT(DISTINCT u) AS u"
        row = only(opened, f"SELECT {asked} FROM t", epsilon=100)
    assert all(abs(value - 2) < 10 for value in row.values())


def test_a_unit_counts_with_no_more_rows_than_declared() -> None:
    rows = pa.table({"u": [1] * 5_000 + [2], "x": [10.0] * 5_001})
    with discreet.open(
        rows, name="t", unit="u", epsilon=10, rows_per_unit=3, bounds={"x": (0, 10)}
    ) as opened:
        (planned,) = plan_of(opened, "SELECT COUNT(*) FROM t").releases
        (exact,) = opened._engine.run(unbound(planned.queries[0]), ()).unseal().to_pylist()
    assert [int(value) for value in exact.values()] == [4]


@pytest.mark.slow
def test_a_unit_with_a_million_rows_is_held_to_its_limit() -> None:
    rows = pa.table({"u": [1] * 1_000_000, "x": [n % 100 for n in range(1_000_000)]})
    with discreet.open(rows, name="t", unit="u", epsilon=100, bounds={"x": (0, 99)}) as opened:
        for statistic in ("COUNT(*)", "SUM(x)", "COUNT(DISTINCT x)"):
            (planned,) = plan_of(opened, f"SELECT {statistic} FROM t").releases
            (exact,) = opened._engine.run(unbound(planned.queries[0]), ()).unseal().to_pylist()
            most = 10 * (99 if statistic == "SUM(x)" else 1)
            assert all(int(value) <= most for value in exact.values())


def test_a_table_of_300_columns_is_answered() -> None:
    wide = pa.table({"u": [1, 2]} | {f"c{n}": [1, 2] for n in range(300)})
    bounds = {f"c{n}": (0, 10) for n in range(300)}
    with discreet.open(wide, name="t", unit="u", epsilon=1000, bounds=bounds) as opened:
        sums = ", ".join(f"SUM(c{n})" for n in range(0, 300, 10))
        assert len(opened.ask(f"SELECT {sums} FROM t", epsilon=1).columns) == 30
        sql = "SELECT COUNT(*) FROM (SELECT * FROM t) AS a JOIN t AS b ON a.u = b.u"
        assert len(opened.ask(sql, epsilon=1).rows) == 1


def test_times_are_seen_in_utc() -> None:
    paris = datetime(2024, 1, 1, 0, 30, tzinfo=UTC)
    rows = pa.table(
        {"u": list(range(200)), "t": pa.array([paris] * 200, pa.timestamp("us", "Europe/Paris"))}
    )
    with discreet.open(
        rows,
        name="t",
        unit="u",
        epsilon=1000,
        rows_per_unit=1,
        bounds={"t": ("2024-01-01", "2024-01-02")},
    ) as opened:
        sql = "SELECT hour(t) AS h, COUNT(*) AS n FROM t WHERE hour(t) IN (0, 1) GROUP BY h"
        found = {row["h"]: row["n"] for row in opened.ask(sql, epsilon=50).rows}
    assert found == {0: 200, 1: 0}
