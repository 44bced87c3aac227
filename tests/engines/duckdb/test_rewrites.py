"""Places that prepared tables keep: the same whole numbers as if they were computed by question."""

# ruff: noqa: S608 - names are made here

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.catalog.catalog import BudgetPolicy, Catalog
from discreet.catalog.resolve import read
from discreet.catalog.schema import Bounds, Column, ColumnUnit, Kind, PrivateTable
from discreet.engines import duckdb
from discreet.engines.base import as_prepared, scans_to_prepare
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb import prepared as preparing
from discreet.engines.duckdb.copied import key_of
from discreet.engines.duckdb.rewrites import StoredColumn, stored_columns
from discreet.engines.public_store import PublicStore
from discreet.errors import UnboundedError
from discreet.opening.stores import copied_from, copy_of, prepare_catalog
from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.plan import make_plan
from discreet.query.plan.bounded_rows import reading_bounded_rows
from discreet.query.plan.plan import EpsilonTarget
from discreet.query.tree import ExactQuery
from tests.engines.contract import Row, exact_rows

REALS = [0.0, -0.0, 0.005, 0.015, 249.995, 499.99, 500.0, 500.004, 1e300, -1e300, -3.5, nan, inf]
WHOLES = [0, 1, -1, 7, 239, 240, 241, 2**31, -(2**31), 2**63 - 1, -(2**63), None, 120]
SIZE = 13 * 11


def bounded(name: str, kind: Kind, low: float, high: float, step: str | None = None) -> Column:
    ends = Bounds(low=Fraction(low), high=Fraction(high))
    return Column(name=name, kind=kind, bounds=ends, step=None if step is None else Fraction(step))


VISITS = PrivateTable(
    name="visits",
    columns=(
        Column(name="who", kind=Kind.INTEGER),
        Column(name="region", kind=Kind.TEXT, values=("north", "south")),
        bounded("minutes", Kind.INTEGER, 0, 240),
        bounded("change", Kind.INTEGER, -7, 1000),
        bounded("cost", Kind.REAL, 0, 500, "0.01"),
        bounded("share", Kind.REAL, 0, 1, "0.25"),
        bounded("height", Kind.REAL, -7.25, 7.25),
        bounded("__size", Kind.INTEGER, 10, 12),
        bounded("price", Kind.REAL, 1, 9, "0.01"),
    ),
    unit=ColumnUnit(column="who"),
    rows_per_unit=60,
)
COLUMNS = ("minutes", "change", "cost", "share", "height", '"__size"', "price")


def table() -> pa.Table:
    numbers = range(SIZE)
    return pa.table(
        {
            "who": pa.array([n % 29 for n in numbers], pa.int32()),
            "region": [["north", "south", "north", "lost", None][n % 5] for n in numbers],
            "minutes": pa.array([WHOLES[n % 13] for n in numbers], pa.int64()),
            "change": pa.array([WHOLES[n * 7 % 13] for n in numbers], pa.int64()),
            "cost": [REALS[n % 13] for n in numbers],
            "share": [REALS[n * 5 % 13] / 3 for n in numbers],
            "height": [REALS[n * 3 % 13] for n in numbers],
            "__size": pa.array([n % 23 for n in numbers], pa.int8()),
            "price": pa.array([Decimal(n * 7) / 100 for n in numbers], pa.decimal128(9, 2)),
        }
    )


def catalog_of(*tables: PrivateTable) -> Catalog:
    return as_prepared(Catalog(budget=BudgetPolicy(epsilon=Fraction(9)), tables=tables))


CATALOG = catalog_of(VISITS)


def prepared(catalog: Catalog = CATALOG) -> DuckDbEngine:
    engine = DuckDbEngine.load({"visits": table()})
    engine.prepare(scans_to_prepare(catalog))
    return engine


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDbEngine]:
    with closing(prepared()) as made:
        yield made


def queries(sql: str, catalog: Catalog = CATALOG) -> list[ExactQuery]:
    question = reading_bounded_rows(check(parse(sql), catalog, PublicStore({})))
    plan = make_plan(question, EpsilonTarget(Fraction(1)), catalog.budget)
    return [query for each in plan.releases for query in each.queries]


def answers(engine: DuckDbEngine, sql: str, catalog: Catalog = CATALOG) -> list[list[Row]]:
    return [exact_rows(engine, each) for each in queries(sql, catalog)]


def computed(patch: pytest.MonkeyPatch, engine: DuckDbEngine, sql: str) -> list[list[Row]]:
    """Return the answers without a look at places that are kept."""
    with patch.context() as own:
        own.setattr(duckdb, "read_stored_columns", lambda query, _: query)
        assert not any(is_placed(engine.bind(each).sql) for each in queries(sql))
        return answers(engine, sql)


def is_placed(text: str) -> bool:
    return " steps from " in text


ASKED = {
    "sums": "SELECT region, COUNT(*), {0} FROM visits GROUP BY region",
    "a filter": "SELECT COUNT(*), {0} FROM visits WHERE cost > 3 OR cost IS NULL",
    "other names": "SELECT {0} FROM (SELECT *, cost AS c FROM visits AS v) AS w",
}
STATISTICS = ("SUM({0})", "AVG({0})", "COUNT({0})", "VARIANCE({0})", "SUM({0}), COUNT({0})")
QUESTIONS = [
    sql.format(", ".join(each.format(column) for column in COLUMNS))
    for sql in ASKED.values()
    for each in STATISTICS
] + [
    "SELECT region, AVG(minutes), STDDEV(minutes) FROM visits GROUP BY region",
    "SELECT MEDIAN(cost) FROM visits",
    "SELECT SUM(c), SUM(d), AVG(c) FROM (SELECT cost AS c, cost AS d FROM visits)",
    "SELECT SUM(a.cost), AVG(b.minutes) FROM visits a JOIN visits b ON a.who = b.who",
    "SELECT SUM(a.cost), AVG(b.minutes) FROM visits a LEFT JOIN visits b "
    "ON a.who = b.who AND b.minutes > 100 AND a.region = b.region",
    "SELECT SUM(cost + 1), AVG(CASE WHEN cost > 2 THEN minutes END) FROM visits",
    "SELECT SUM(clamp(minutes, 0, 240)), SUM(clamp(minutes, 0.0, 240.0)) FROM visits",
]


@pytest.mark.parametrize("sql", QUESTIONS)
def test_whole_numbers_are_the_same_to_the_last_digit(
    engine: DuckDbEngine, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answers(engine, sql) == computed(monkeypatch, engine, sql)


@pytest.mark.parametrize("sql", [each for each in QUESTIONS if "SUM" in each or "AVG" in each][:9])
def test_sums_of_columns_read_them(engine: DuckDbEngine, sql: str) -> None:
    for each in queries(sql):
        assert is_placed(engine.bind(each).sql)
        assert not re.search(r"CASE|TRY_CAST\(\(", engine.bind(each).sql)


def one_step_too_far(patch: pytest.MonkeyPatch) -> None:
    original = preparing._place

    def place(placed: StoredColumn, source: str) -> str:
        return original(placed, source).replace("TRY_CAST(", "TRY_CAST(1 + ", 1)

    patch.setattr(preparing, "_place", place)


def without_clamps(patch: pytest.MonkeyPatch) -> None:
    original = preparing._place

    def place(placed: StoredColumn, source: str) -> str:
        far = Bounds(low=Fraction(-(10**6)), high=Fraction(10**6))
        wide = replace(placed, grid=replace(placed.grid, low=far.low, high=far.high))
        return original(wide, source).rpartition(" AS ")[0] + f' AS "{placed.name}"'

    patch.setattr(preparing, "_place", place)


@pytest.mark.parametrize("broken", [one_step_too_far, without_clamps])
def test_places_that_are_off_are_caught(
    broken: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)
    with closing(prepared()) as engine:
        sql = "SELECT SUM(cost), AVG(minutes) FROM visits"
        assert answers(engine, sql) != computed(monkeypatch, engine, sql)


def test_places_fill_the_smallest_type_and_never_leave_their_ruler(engine: DuckDbEngine) -> None:
    expected = {}
    with engine._store.cursor() as cursor:
        types = {row[0]: row[1] for row in cursor.execute("DESCRIBE kept.visits").fetchall()}
        for each in stored_columns(VISITS):
            name = f"_{each.name}" if each.name.startswith("__") else each.name
            found = f'SELECT min("{name}"), max("{name}"), count("{name}") FROM kept.visits'
            ((low, high, count),) = cursor.execute(found).fetchall()
            assert 0 <= low < high <= each.grid.steps
            assert 0 < count < SIZE or each.column.name in ("__size", "price")
            expected[each.name] = types[name]
    assert expected["minutes in 240 steps from 0 to 240"] == "SMALLINT"
    assert expected["cost in 50000 steps from 0 to 500"] == "INTEGER"
    assert set(expected.values()) == {"SMALLINT", "INTEGER", "BIGINT"}


def test_bounds_that_were_changed_since_are_computed_anew(
    engine: DuckDbEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kept places are of other bounds: to read them would be another question's answer."""
    narrow = (bounded("cost", Kind.REAL, 0, 50, "0.01"), bounded("minutes", Kind.INTEGER, 0, 24))
    columns = tuple(
        next((new for new in narrow if new.name == old.name), old) for old in VISITS.columns
    )
    changed = catalog_of(replace(VISITS, columns=columns))
    sql = "SELECT SUM(cost), SUM(minutes), SUM(change) FROM visits"
    (query,) = queries(sql, changed)
    read = re.findall(r'"(\w+) in \d+ steps', engine.bind(query).sql)
    assert set(read) == {"change"}
    ((row,),) = answers(engine, sql, changed)
    with monkeypatch.context() as own, closing(prepared(changed)) as other:
        own.setattr(duckdb, "read_stored_columns", lambda each, _: each)
        assert answers(other, sql, changed) == [[row]]


def test_a_column_of_the_table_is_never_taken_for_a_place() -> None:
    name = "x in 10 steps from 0 to 10"
    columns = (
        Column(name="who", kind=Kind.INTEGER),
        bounded("x", Kind.INTEGER, 0, 10),
        Column(name=name, kind=Kind.INTEGER),
    )
    visits = replace(VISITS, columns=columns)
    assert [each.name for each in stored_columns(replace(visits, columns=columns[:2]))] == [name]
    assert stored_columns(visits) == ()
    catalog = catalog_of(visits)
    given = pa.table({"who": [1, 2], "x": [3, 4], name: [10**6, 10**6]})
    with closing(DuckDbEngine.load({"visits": given})) as engine:
        engine.prepare(scans_to_prepare(catalog))
        assert answers(engine, "SELECT SUM(x) FROM visits", catalog) == [[(("s0", 7),)]]


def test_rows_that_are_not_all_kept_are_read_without_places(engine: DuckDbEngine) -> None:
    sql = "SELECT AVG(total) FROM (SELECT who, LEAST(SUM(cost), 9) AS total FROM visits GROUP BY 1)"
    assert not any(is_placed(engine.bind(each).sql) for each in queries(sql))


def test_a_form_that_was_begun_for_other_bounds_is_begun_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Places of both would stand in one column, under the name of one of them."""
    monkeypatch.setattr(preparing, "PART", 20)
    other = replace(VISITS, columns=tuple(map(with_wider_bounds, VISITS.columns)))
    made: list[int] = []

    def ends_early(_: str, number: int, __: int) -> None:
        made.append(number)
        if number == 3:
            raise KeyboardInterrupt

    sql = "SELECT SUM(cost), SUM(minutes), COUNT(*) FROM visits"
    with closing(DuckDbEngine.load({"visits": table()})) as engine:
        with pytest.raises(KeyboardInterrupt):
            engine.prepare(scans_to_prepare(catalog_of(other)), ends_early)
        engine.prepare(scans_to_prepare(CATALOG))
        assert made == [0, 1, 2, 3]
        assert all(is_placed(engine.bind(each).sql) for each in queries(sql))
        assert answers(engine, sql) == computed(monkeypatch, engine, sql)
        with closing(prepared()) as whole:
            assert answers(engine, sql) == answers(whole, sql)


def with_wider_bounds(column: Column) -> Column:
    ends = column.bounds
    wider = replace(ends, high=ends.high + 1) if isinstance(ends, Bounds) else None
    return replace(column, bounds=wider)


TOML = """
[budget]
epsilon = 900

[tables.visits]
from = "visits.parquet"
unit = "who"
rows_per_unit = 100

[tables.visits.columns]
minutes = { bounds = [0, 240] }
"""


def test_a_copy_keeps_places_and_other_bounds_do_not_outdate_it(tmp_path: Path) -> None:
    file = tmp_path / "discreet.toml"
    file.write_text(TOML)
    pq.write_table(table(), tmp_path / "visits.parquet")
    assert prepare_catalog(file)
    sql = "SELECT SUM(minutes) AS total FROM visits"
    with discreet.open(file, ledger=":memory:") as curator:
        assert "minutes in 240 steps from 0 to 240" in str(curator.explain(sql, epsilon=1).sqls)
        first = float(str(curator.ask(sql, epsilon=900).rows[0]["total"]))
    file.write_text(TOML.replace("240", "24"))
    with discreet.open(file, ledger=":memory:") as curator:
        assert not is_placed(str(curator.explain(sql, epsilon=1).sqls))
        second = float(str(curator.ask(sql, epsilon=900).rows[0]["total"]))
    assert second < first
    declared = read(file)
    assert key_of(copy_of(file)) == copied_from(declared, declared.sources).key


@pytest.mark.parametrize("bounds", [(0, 1e250), (-1e290, 1e290)])
def test_tables_open_whatever_their_bounds_and_questions_narrow_them(
    bounds: tuple[float, float],
) -> None:
    table = pa.table({"u": [1, 2, 3], "x": [0.5, 1.5, 2.5]})
    with discreet.open(table, name="t", unit="u", bounds={"x": bounds}, epsilon=10) as curator:
        assert curator.ask("SELECT COUNT(*) AS n FROM t", epsilon=1).rows
        with pytest.raises(UnboundedError, match="CLAMP"):
            curator.ask("SELECT SUM(x) FROM t", epsilon=1)
        assert curator.ask("SELECT SUM(clamp(x, 0, 9)) FROM t", epsilon=1).rows
