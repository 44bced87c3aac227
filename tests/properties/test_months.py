"""A budget per month: rows of other months change nothing, and those of one month only so much.

Two databases that differ in a unit's rows of one month, or in other months, are asked the same.
"""

# ruff: noqa: S608 - all texts are ours

import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.catalog import Catalog, catalog_from
from discreet.catalog.catalog import RowChoice
from discreet.catalog.schema import PrivateTable
from discreet.engines.base import Engine, PreparedTables, as_prepared, scans_to_prepare
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.postgresql import PostgreSqlEngine
from discreet.engines.public_store import PublicStore
from discreet.engines.spark import SparkEngine
from discreet.engines.writer import rows as written_rows
from discreet.months import EVERY_MONTH, Months, MonthSpan, month_of
from discreet.planner import Planner
from discreet.query.plan import Plan
from discreet.query.plan import months as plan_months
from discreet.query.plan.identity import months_read
from discreet.query.plan.plan import EpsilonTarget
from discreet.query.tree import Scan
from tests.engines.contract import ENGINES, engine_of
from tests.engines.on_postgresql import run, stored
from tests.postgresql import shared_server
from tests.properties.movement import check_movement, exact_tables, same_tables
from tests.spark import shared_session

Row = tuple[Any, ...]
Choices = Iterator[int]
LIMIT = 3
KINDS: dict[str, tuple[str, pa.DataType]] = {
    "date": ("date", pa.date32()),
    "timestamp": ("timestamp", pa.timestamp("us")),
    "zoned": ("timestamp with time zone", pa.timestamp("us", tz="UTC")),
}
YEAR = [(2024, month) for month in range(1, 13)]
SPRING = "came >= DATE '2024-03-01' AND came < DATE '2024-06-01'"
MARCH = "came >= DATE '2024-03-01' AND came < DATE '2024-04-01'"
CHARGED = Months((MonthSpan(first=month_of(date(2024, 3, 1)), last=month_of(date(2024, 5, 1))),))

QUERIES = (
    f"SELECT COUNT(*), SUM(x) FROM visits WHERE {SPRING}",
    f"SELECT kind, COUNT(*), AVG(x) FROM visits WHERE {SPRING} GROUP BY kind",
    f"SELECT free, COUNT(*), SUM(x) FROM visits WHERE {SPRING} GROUP BY free",
    f"SELECT COUNT(DISTINCT x) FROM visits WHERE {SPRING}",
    f"SELECT MEDIAN(x) FROM visits WHERE {SPRING}",
    f"SELECT SUM(x) FROM (SELECT came AS c, x FROM visits) WHERE {SPRING.replace('came', 'c')}",
    f"SELECT COUNT(*) FROM (SELECT x FROM visits WHERE {MARCH} UNION ALL "
    f"SELECT x FROM visits WHERE {MARCH.replace('04', '05').replace('03', '04')})",
    f"SELECT COUNT(DISTINCT who) FROM visits WHERE {MARCH}",
    f"SELECT AVG(LEAST(n, 4)) FROM (SELECT COUNT(*) AS n FROM visits WHERE {MARCH} GROUP BY who)",
    f"SELECT COUNT(*) FROM visits v WHERE {MARCH} AND EXISTS (SELECT 1 FROM visits w "
    f"WHERE w.who = v.who AND {MARCH.replace('came', 'w.came')} AND w.kind = 'b')",
)
"""Queries that are charged to months from March to May at most."""


def catalog_of(kind: str = "date", **budget: object) -> Catalog:
    entries: dict[str, object] = {
        "budget": {"epsilon": 1, "delta": 1e-6, "per": "month", **budget},
        "source": {"row_choice": "per-query"},
        "tables": {
            "visits": {
                "unit": "who",
                "rows_per_unit": LIMIT,
                "arrival": "came",
                "columns": {
                    "who": {"type": "text"},
                    "came": {"type": KINDS[kind][0]},
                    "x": {"type": "integer", "bounds": [-5, 5]},
                    "kind": {"type": "text", "values": ["a", "b"]},
                    "free": {"type": "text"},
                },
            }
        },
    }
    return catalog_from(entries)


def arrival(kind: str, year: int, month: int, hour: int) -> date:
    """Return a moment of a month; in other time zones it may be in another month."""
    if kind == "date":
        return date(year, month, 1 + hour)
    moment = datetime(year, month, 1) + timedelta(hours=hour)
    return moment.replace(tzinfo=UTC) if kind == "zoned" else moment


def choices(seed: int) -> Choices:
    """Yield numbers that look random, the same in every run."""
    while True:
        seed = (6364136223846793005 * seed + 1442695040888963407) % 2**64
        yield seed >> 33


def rows_of(draw: Choices, kind: str, who: str, months: Iterable[tuple[int, int]]) -> list[Row]:
    return [
        (
            who,
            arrival(kind, year, month, 23 * (next(draw) % 2)),
            next(draw) % 19 - 9,
            "abc"[next(draw) % 3],
            "pqr"[next(draw) % 3],
        )
        for year, month in months
        for _ in range(next(draw) % 6 + 1)
    ]


def crowd(draw: Choices, kind: str, units: int = 30) -> list[Row]:
    """Return rows of units in every month, and rows without a unit or a month."""
    names = [f"u@{number}" for number in range(units)]
    rows = [row for who in names for row in rows_of(draw, kind, who, YEAR)]
    return [*rows, ("u@5", None, 1, "a", "p"), (None, arrival(kind, 2024, 3, 0), 1, "a", "p")]


def table_of(kind: str, rows: Iterable[Row]) -> pa.Table:
    types = (pa.string(), KINDS[kind][1], pa.int64(), pa.string(), pa.string())
    named = zip(("who", "came", "x", "kind", "free"), zip(*rows, strict=True), types, strict=True)
    return pa.table({name: pa.array(list(each), type_) for name, each, type_ in named})


@cache
def planner() -> Planner:
    tables = {"visits": table_of("date", [("u", date(2024, 1, 1), 1, "a", "p")])}
    return Planner(engine=DuckDbEngine.load(tables), public=PublicStore({}))


def planned(sql: str, catalog: Catalog) -> Plan:
    return planner().draft(sql, EpsilonTarget(1), catalog)


@contextmanager
def plain(engine: str, table: pa.Table, catalog: Catalog) -> Iterator[Engine]:
    """Yield an engine whose queries choose rows by themselves."""
    del catalog
    with closing(engine_of(engine, {"visits": table})) as made:
        yield made


@contextmanager
def prepared(engine: str, table: pa.Table, catalog: Catalog) -> Iterator[Engine]:
    """Yield an engine whose prepared table has chosen the rows of each unit and month."""
    scans = scans_to_prepare(as_prepared(catalog))
    with ExitStack() as stack:
        made: Any
        if engine == "duckdb":
            made = stack.enter_context(closing(DuckDbEngine.load({"visits": table})))
            made.prepare(scans)
        elif engine == "postgresql":
            schema = stored({"visits": table})
            stack.callback(run, f"DROP SCHEMA {schema} CASCADE")
            form = PreparedTables(tables={"visits": f"{schema}.visits"}, declared="months")
            with closing(PostgreSqlEngine.open(shared_server(), form.tables)) as making:
                making.prepare(form, scans)
            opened = PostgreSqlEngine.open(shared_server(), form.tables, form=form)
            made = stack.enter_context(closing(opened))
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            pq.write_table(table, folder / "visits.parquet")
            place = folder / "prepared"
            files = {"visits": str(folder / "visits.parquet")}
            form = PreparedTables(tables=files, declared="", place=place)
            with closing(SparkEngine.open(shared_session(), form.tables)) as spark:
                spark.prepare(form, scans)
            made = SparkEngine.open(shared_session(), form.tables, form=form)
            stack.enter_context(closing(made))
        assert made.is_prepared
        yield made


WAYS = {"per-query": plain, "once": prepared}


SLOW = {("spark", "date", "per-query"), ("spark", "date", "once"), ("spark", "timestamp", "once")}
"""Spark is asked the rest on a push, and these in the long run."""


def catalog_for(way: str, kind: str = "date", **budget: object) -> Catalog:
    """Return the catalog for an engine that is made in this way."""
    catalog = catalog_of(kind, **budget)
    if way == "per-query":
        return catalog
    return as_prepared(replace(catalog, source=replace(catalog.source, row_choice=RowChoice.ONCE)))


def _day(moment: date) -> date:
    return moment.date() if isinstance(moment, datetime) else moment


def is_in_spring(row: Row) -> bool:
    return row[1] is not None and _day(row[1]).month in (3, 4, 5)


# --------------------------------------------------------------------------- other months


def test_every_query_is_charged_to_the_months_of_its_condition() -> None:
    for sql in QUERIES:
        for release in planned(sql, catalog_of()).releases:
            months = months_read(release)
            assert months is not None
            assert CHARGED.holds(months)


@pytest.mark.parametrize(
    ("engine", "kind", "way"),
    [
        pytest.param(*each, marks=[pytest.mark.slow] if each in SLOW else [])
        for each in product(ENGINES, KINDS, WAYS)
    ],
)
def test_rows_of_months_that_are_not_charged_change_nothing(
    engine: str, kind: str, way: str
) -> None:
    draw = choices(len(engine + kind))
    catalog, rows = catalog_for(way, kind), crowd(draw, kind)
    others = [row for row in crowd(draw, kind, 60) if not is_in_spring(row)]
    twin = [*others, *filter(is_in_spring, rows[::-1])]
    with (
        WAYS[way](engine, table_of(kind, rows), catalog) as one,
        WAYS[way](engine, table_of(kind, twin), catalog) as two,
    ):
        for sql in QUERIES:
            plan = planned(sql, catalog)
            assert same_tables(exact_tables(plan, one), exact_tables(plan, two)), sql


def test_many_units_in_other_months_change_nothing_in_any_thread() -> None:
    draw, catalog = choices(7), catalog_for("once")
    rows = crowd(draw, "date", 1500)
    twin = [*(row for row in crowd(draw, "date", 2500) if not is_in_spring(row))]
    twin += filter(is_in_spring, rows)
    plans = [planned(sql, catalog) for sql in QUERIES] * 4
    with (
        prepared("duckdb", table_of("date", rows), catalog) as one,
        prepared("duckdb", table_of("date", twin), catalog) as two,
        ThreadPoolExecutor(4) as pool,
    ):
        here = list(pool.map(lambda plan: exact_tables(plan, one), plans))
        there = list(pool.map(lambda plan: exact_tables(plan, two), plans))
    assert all(map(same_tables, here, there))


def test_a_wrong_analysis_of_conditions_reads_no_month_that_is_not_charged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The scan itself is bound to the months; a broken twin of the writer is not, and is caught."""
    march = MonthSpan(first=month_of(date(2024, 3, 1)), last=month_of(date(2024, 3, 1)))
    monkeypatch.setattr(plan_months, "_span", lambda *_: march)
    rows = crowd(choices(1), "date")
    less = [row for row in rows if row[1] is not None and row[1].month == 3]
    plan = planned(QUERIES[0], catalog_of())
    assert months_read(plan.releases[0]) == Months((march,))

    def are_alike() -> bool:
        with (
            plain("duckdb", table_of("date", rows), catalog_of()) as one,
            plain("duckdb", table_of("date", less), catalog_of()) as two,
        ):
            return same_tables(exact_tables(plan, one), exact_tables(plan, two))

    assert are_alike()
    bounded = written_rows._of_months

    def unbounded(scan: Scan, *others: Any, **more: Any) -> str:
        return bounded(replace(scan, months=EVERY_MONTH), *others, **more)

    monkeypatch.setattr(written_rows, "_of_months", unbounded)
    assert not are_alike()


# --------------------------------------------------------------------------- one month


def own_rows(kind: str) -> list[Row]:
    """Return rows of a unit with too many in March and in April, which pull apart."""
    march = [("own", arrival(kind, 2024, 3, n), 5, "a", "pqr"[n % 3]) for n in range(6)]
    return [*march, *(("own", arrival(kind, 2024, 4, n), -5, "b", "s") for n in range(6))]


def test_a_unit_s_rows_of_one_month_move_results_by_no_more_than_is_charged() -> None:
    _check_march("duckdb", "per-query", "date")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("engine", ENGINES)
def test_no_engine_lets_one_month_move_results_by_more_than_is_charged(
    engine: str, way: str
) -> None:
    _check_march(engine, way, "zoned")


def _check_march(engine: str, way: str, kind: str) -> None:
    catalog, rows = catalog_for(way, kind), crowd(choices(3), kind, 12)
    with_own = [*rows, *own_rows(kind)]
    without = [row for row in with_own if (row[0], _month(row)) != ("own", 3)]
    with (
        WAYS[way](engine, table_of(kind, with_own), catalog) as one,
        WAYS[way](engine, table_of(kind, without), catalog) as two,
    ):
        for sql in QUERIES:
            plan = planned(sql, catalog)
            check_movement(plan, exact_tables(plan, one), exact_tables(plan, two))


def _month(row: Row) -> int | None:
    return None if row[1] is None else _day(row[1]).month


def test_bounding_over_all_months_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken twin: rows are chosen for a unit, so those of April come in place of March's."""
    monkeypatch.setattr(PrivateTable, "is_by_month", False)
    with pytest.raises(AssertionError):
        _check_march("duckdb", "per-query", "date")


# --------------------------------------------------------------------------- months of a unit

TWO_YEARS = [(year, month) for year in (2023, 2024) for month in range(1, 13)]
EACH_MONTH = [
    f"SELECT COUNT(*), SUM(x) FROM visits WHERE came >= DATE '{year}-{month:02}-01' AND "
    f"came < DATE '{year + month // 12}-{month % 12 + 1:02}-01'"
    for year, month in TWO_YEARS
]


def months_apart(engine: str, way: str, rows: list[Row], fewer: list[Row]) -> set[int]:
    """Return the months in which two databases give different results."""
    catalog = catalog_for(way, months_per_unit=3)
    with (
        WAYS[way](engine, table_of("date", rows), catalog) as one,
        WAYS[way](engine, table_of("date", fewer), catalog) as two,
    ):
        plans = [planned(sql, catalog) for sql in EACH_MONTH]
        return {
            number
            for number, plan in enumerate(plans)
            if not same_tables(exact_tables(plan, one), exact_tables(plan, two))
        }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("engine", ["duckdb", "postgresql"])
def test_a_unit_of_two_years_changes_no_more_months_than_are_used(engine: str, way: str) -> None:
    rows = crowd(choices(5), "date", 4)
    own = [("own", date(year, month, 3), 5, "a", "p") for year, month in TWO_YEARS]
    assert months_apart(engine, way, [*rows, *own], rows) == {0, 1, 2}
    late = own[7:]
    assert months_apart(engine, way, [*rows, *late], rows) == {7, 8, 9}


def test_from_the_last_used_month_to_the_first_each_step_changes_one() -> None:
    rows = crowd(choices(5), "date", 4)
    own = [("own", date(year, month, 3), 5, "a", "p") for year, month in TWO_YEARS]
    chain = [own, own[:3], own[:2], own[:1], []]
    steps = [
        months_apart("duckdb", "once", [*rows, *more], [*rows, *less])
        for more, less in pairwise(chain)
    ]
    assert steps == [set(), {2}, {1}, {0}]
