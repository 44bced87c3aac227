"""Values that are equal are interchangeable: no function tells them apart, so no layout shows.

An engine may take either of two rows of a unit that no order tells apart, and which one it takes
depends on who else is in the table, on threads and on partitions. That is harmless only if such
rows are the same in all that a question can see (docs/proofs/measures.md, section 11).
"""

# ruff: noqa: S608 - this file writes questions

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.catalog.arguments import declare
from discreet.catalog.catalog import Catalog
from discreet.catalog.resolve import resolve
from discreet.catalog.schema import Kind
from discreet.engines import duckdb as duckdb_engine
from discreet.engines.base import ResourceLimits, as_prepared, scans_to_prepare
from discreet.engines.duckdb import DuckDbEngine, prepared
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.loading import DuckDbTable
from discreet.engines.public_store import PublicStore
from discreet.engines.spark import SparkEngine
from discreet.query.check import check
from discreet.query.expressions.facts import case_of, literal
from discreet.query.expressions.functions import FUNCTIONS, call
from discreet.query.parse import parse
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.bounded_rows import reading_bounded_rows
from discreet.query.plan.plan import EpsilonTarget
from discreet.query.tree import Call, Expression, map_columns
from tests.attacks.clinic import spread
from tests.engines.calls import all_calls
from tests.engines.contract import ENGINES, Holder, engine_of
from tests.engines.contract_values import PLACES, awkward_table, evaluated, name_of
from tests.engines.on_postgresql import postgresql_engine
from tests.engines.prepared import FORMS, catalog_of, table_of, visits
from tests.engines.prepared import Row as Kept
from tests.properties.movement import check_additivity, check_movement, exact_tables
from tests.spark import shared_session

# --------------------------------------------------------------------------- functions


def flipped(expression: Expression) -> Expression:
    """Return what is equal in every row, made of zeros of the other sign."""

    def other(column: Any) -> Expression:
        if column.facts.kind is not Kind.REAL:
            return column  # type: ignore[no-any-return]
        is_zero = call("equal", column, literal(0.0))
        return case_of(((is_zero, call("negate", column)),), column)

    return map_columns(expression, other)


def seen(expression: Expression) -> Expression:
    """Return an expression such that values that differ at all differ."""
    return call("to_text", expression) if expression.facts.kind is Kind.REAL else expression


@cache
def zeros() -> pa.Table:
    """Return the rows of the awkward table that have a real 0."""
    table = awkward_table()
    names = [name_of(Kind.REAL, place) for place in range(PLACES)]
    rows = zip(*(table.column(each).to_pylist() for each in names), strict=True)
    return table.filter(pa.array([0.0 in row for row in rows]))


CALLS: list[Call] = [
    each
    for function in FUNCTIONS.values()
    for each in all_calls(function)
    if any(argument.facts.kind is Kind.REAL for argument in each.arguments)
]


def test_all_functions_of_reals_are_among_those_that_are_tried() -> None:
    assert {
        name for name, each in FUNCTIONS.items() if Kind.REAL in frozenset().union(*each.accepts)
    } == {each.function for each in CALLS}


FEW = list({each.function: each for each in CALLS}.values())
"""One call of each function: Spark reads long statements slowly."""


@pytest.mark.parametrize(
    ("engine", "calls"),
    [
        ("duckdb", CALLS),
        ("postgresql", CALLS),
        ("spark", FEW),
        pytest.param("spark", CALLS, marks=pytest.mark.slow),
    ],
    ids=["duckdb", "postgresql", "spark", "spark, all"],
)
def test_no_function_tells_zeros_apart(engine: str, calls: list[Call]) -> None:
    with closing(engine_of(engine, {"awkward": zeros()})) as holder:
        for start in range(0, len(calls), 30):
            some = calls[start : start + 30]
            pairs = [seen(made) for each in some for made in (each, flipped(each))]
            for row in evaluated(holder, pairs):
                for number, each in enumerate(some):
                    assert row[2 * number] == row[2 * number + 1], each


@pytest.mark.parametrize("engine", ENGINES)
def test_stored_zeros_are_read_as_one(engine: str) -> None:
    table = pa.table({"patient_id": [1, 2, 3], "cost": [0.0, -0.0, 1.5]})
    with closing(engine_of(engine, {"visits": table})) as holder:
        assert sorted(map(repr, holder.table("visits")["cost"].to_pylist())) == [
            "0.0",
            "0.0",
            "1.5",
        ]


# --------------------------------------------------------------------------- layouts

LIMIT, ROWS_OF_A_UNIT = 3, 6
VICTIM = -5

ZERO = "(z * CASE WHEN b THEN 1e0 ELSE -1e0 END)"
"""A zero whose sign an analyst makes."""

INSTANCES = {
    "stored zeros": "SELECT COUNT(*) FROM t WHERE CAST(z AS TEXT) = '0.0'",
    "ROW_NUMBER": "SELECT COUNT(*) FROM (SELECT z, ROW_NUMBER() OVER (PARTITION BY u ORDER BY n) "
    "AS r FROM t) WHERE r <= 2 AND CAST(z AS TEXT) = '0.0'",
    "ROW_NUMBER by zeros": f"SELECT COUNT(*) FROM (SELECT m, ROW_NUMBER() OVER (PARTITION BY u "
    f"ORDER BY m) AS r FROM (SELECT u, {ZERO} AS m FROM t)) "
    "WHERE r = 1 AND LENGTH(CAST(m AS TEXT)) = 3",
    "MIN": f"SELECT COUNT(*) FROM (SELECT u, MIN({ZERO}) AS m FROM t GROUP BY u) "
    "WHERE CAST(m AS TEXT) = '0.0'",
    "MAX": f"SELECT COUNT(*) FROM (SELECT u, MAX({ZERO}) AS m FROM t GROUP BY u) "
    "WHERE CAST(m AS TEXT) LIKE '-%'",
    "MIN OVER": f"SELECT COUNT(*) FROM (SELECT MIN(m) OVER (PARTITION BY u) AS f FROM "
    f"(SELECT u, {ZERO} AS m FROM t)) WHERE CAST(f AS TEXT) = '0.0'",
    "FIRST_VALUE": "SELECT COUNT(*) FROM (SELECT FIRST_VALUE(m) OVER (PARTITION BY u ORDER BY m) "
    f"AS f FROM (SELECT u, {ZERO} AS m FROM t)) WHERE CAST(f AS TEXT) = '0.0'",
    "LAG": "SELECT COUNT(*) FROM (SELECT m, LAG(m) OVER (PARTITION BY u ORDER BY m) AS f FROM "
    f"(SELECT u, {ZERO} AS m FROM t)) WHERE CAST(f AS TEXT) <> CAST(m AS TEXT)",
    "literal zeros": "SELECT COUNT(*) FROM (SELECT u, MAX(CASE WHEN b THEN 0e0 ELSE 0e0 * -1e0 "
    "END) AS m FROM t GROUP BY u) WHERE CAST(m AS TEXT) = '0.0'",
    "first row of a unit": "SELECT n, COUNT(*), SUM(CLAMP(z, -1, 2)) FROM (SELECT * FROM t "
    "QUALIFY ROW_NUMBER() OVER (PARTITION BY u ORDER BY z) = 1) GROUP BY n",
    "first two rows of a unit": "SELECT n, b, COUNT(*), SUM(CLAMP(z, -1, 2)) FROM (SELECT *, "
    "ROW_NUMBER() OVER (PARTITION BY u) AS i FROM t) WHERE i <= 2 GROUP BY n, b",
    "number of groups": "SELECT COUNT(*) FROM (SELECT DISTINCT z, b, n FROM t)",
}


def rows_of(units: range) -> list[tuple[int, float, bool, int]]:
    """Return rows of which many are equal but for the sign of their zeros."""
    return [
        (
            unit,
            [0.0, -0.0, 0.0, -0.0, 1.5][spread(at, 5)],
            spread(at + 7, 2) == 1,
            spread(at + 3, 2),
        )
        for unit in units
        for at in range(unit * ROWS_OF_A_UNIT, (unit + 1) * ROWS_OF_A_UNIT)
    ]


def stored_as(rows: list[tuple[int, float, bool, int]]) -> pa.Table:
    types = (pa.int64(), pa.float64(), pa.bool_(), pa.int64())
    columns = zip(*rows, strict=True)
    return pa.table({n: pa.array(c, t) for n, c, t in zip("uzbn", columns, types, strict=True)})


def mixed(rows: list[Any]) -> list[Any]:
    """Return rows in an order in which neighbours were far apart."""
    return [rows[each] for each in sorted(range(len(rows)), key=lambda at: spread(at + 11, 2**31))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layouts:
    """The same units twice, in other places and with one unit more; and that unit alone."""

    catalog: Catalog
    here: Holder
    there: Holder
    own: Holder
    public: PublicStore

    def check(self, sql: str) -> None:
        """Assert that the unit adds what it has, touches no other, and moves what is paid."""
        plan = self.plan(sql)
        before, after, alone = (
            exact_tables(plan, each) for each in (self.here, self.there, self.own)
        )
        check_additivity(plan, before, after, alone)
        check_movement(plan, before, after)

    def plan(self, sql: str) -> Plan:
        found = check(parse(sql), self.catalog, self.public)
        is_prepared = any(getattr(each, "is_prepared", False) for each in self.catalog.tables)
        chosen = reading_bounded_rows(found) if is_prepared else found
        return make_plan(chosen, EpsilonTarget(1), self.catalog.budget)

    def close(self) -> None:
        for each in (self.here, self.there, self.own):
            each.close()


def _embedded(table: pa.Table, _: int) -> Holder:
    return DuckDbEngine.load({"t": table}, limits=ResourceLimits(threads=4))


def _prepared(table: pa.Table, _: int) -> Holder:
    engine = DuckDbEngine.load({"t": table}, limits=ResourceLimits(threads=4))
    engine.prepare(scans_to_prepare(as_prepared(catalog(engine))))
    return engine


def _on_server(table: pa.Table, _: int) -> Holder:
    return postgresql_engine({"t": table})


def _in_partitions(table: pa.Table, partitions: int) -> Holder:
    session = shared_session()
    frame = session.createDataFrame(table).repartition(partitions)
    engine = SparkEngine.open(session, {"t": frame})
    engine._session.conf.set("spark.sql.shuffle.partitions", str(partitions))
    return engine


MAKERS: dict[str, Callable[[pa.Table, int], Holder]] = {
    "duckdb": _embedded,
    "prepared": _prepared,
    "postgresql": _on_server,
    "spark": _in_partitions,
}


def catalog(engine: Holder) -> Catalog:
    declared = declare(
        {"t": None}, epsilon=100, delta=0.01, unit="u", rows_per_unit=LIMIT, values={"t.n": [0, 1]}
    )
    return resolve(declared, engine.columns)


def made_layouts(kind: str, units: int) -> Layouts:
    """Return neighbours in an engine."""
    others = rows_of(range(units))
    own = [(VICTIM, *row[1:]) for row in rows_of(range(2))]
    here, there, alone = (
        MAKERS[kind](stored_as(rows), partitions)
        for rows, partitions in ((own + mixed(others), 3), (others, 1), (own, 1))
    )
    found = catalog(here)
    return Layouts(
        catalog=as_prepared(found) if kind == "prepared" else found,
        here=here,
        there=there,
        own=alone,
        public=PublicStore({}),
    )


_made: dict[tuple[str, int], Layouts] = {}


def layouts(kind: str, units: int) -> Layouts:
    """Return neighbours that all tests of this file share."""
    if (kind, units) not in _made:
        _made[kind, units] = made_layouts(kind, units)
    return _made[kind, units]


@pytest.fixture(autouse=True, scope="module")
def _given_back() -> Iterator[None]:
    yield
    while _made:
        _made.popitem()[1].close()


SIZES = [
    ("duckdb", 500),
    ("duckdb", 5000),
    ("prepared", 500),
    ("prepared", 5000),
    ("postgresql", 500),
    pytest.param("postgresql", 5000, marks=pytest.mark.slow),
    ("spark", 500),
    pytest.param("spark", 5000, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("engine", "units"), SIZES)
@pytest.mark.parametrize("instance", INSTANCES)
def test_a_unit_more_in_another_layout_changes_no_other_units_numbers(
    instance: str, engine: str, units: int
) -> None:
    layouts(engine, units).check(INSTANCES[instance])


@pytest.mark.parametrize(
    "engine", ["duckdb", "postgresql", pytest.param("spark", marks=pytest.mark.slow)]
)
def test_a_prepared_form_keeps_the_same_rows_of_others_whoever_else_is_there(engine: str) -> None:
    others: list[Kept] = [(n, str(unit), zero) for unit, zero, _, n in rows_of(range(200))]
    own: list[Kept] = [(0, "the victim", 0.0), (0, "the victim", -0.0)]
    forms = [
        FORMS[engine](table_of(each, pa.string()), catalog_of(visits(Kind.TEXT, LIMIT)))
        for each in (others, own + mixed(others))
    ]
    kept = [sorted(repr(row) for row in each.kept if row[0] != "the victim") for each in forms]
    assert kept[0] == kept[1]


def test_rows_whose_hashes_are_equal_are_ordered_by_what_they_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blind = replace(DUCKDB, hash="1")
    for module in (duckdb_engine, prepared):
        monkeypatch.setattr(module, "DUCKDB", blind)
    for kind in ("duckdb", "prepared"):
        found = made_layouts(kind, 500)
        found.check("SELECT n, b, COUNT(*), SUM(CLAMP(z, -1, 2)) AS s FROM t GROUP BY n, b")
        found.close()


# --------------------------------------------------------------------------- of no known kind

UNITS_OF_OTHERS = 600

OTHERS = {
    "interval": "CASE WHEN i % 2 = 0 THEN INTERVAL '1 month' ELSE INTERVAL '30 days' END",
    "list": "[CASE WHEN i % 2 = 0 THEN 0e0 ELSE -0e0 END]",
    "struct": "{'a': [CASE WHEN i % 2 = 0 THEN 0e0 ELSE -0e0 END]}",
}
"""Values of DuckDB that are equal and are written differently."""

FIRST = "SELECT k, COUNT(DISTINCT f) AS c FROM ({0}) AS first_of_a_unit GROUP BY k"


def database(folder: Path, value: str, role: str) -> dict[str, DuckDbTable]:
    """Return a table of values of no known kind, in an order that differs from role to role."""
    file = folder / f"{role}.duckdb"
    units = {"here": "i // 4 >= 0", "there": "i // 4 > 0", "own": "i // 4 = 0"}[role]
    order = "hash(i)" if role == "here" else "i"
    rows = (
        f"SELECT i // 4 AS u, i // 8 AS k, 0 AS n, {value} AS x FROM range({4 * UNITS_OF_OTHERS})"
    )
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE TABLE t AS {rows} AS r(i) WHERE {units} ORDER BY {order}")
        pairs = f"SELECT 0 AS n, {value} AS x FROM range(2) AS r(i)"
        connection.execute(f"CREATE TABLE p AS {pairs} ORDER BY {order} DESC")
    return {name: DuckDbTable(file=file, table=name) for name in ("t", "p")}


@pytest.mark.parametrize(
    ("source", "is_prepared"),
    [
        ("SELECT k, x AS f FROM t", True),
        ("SELECT k, FIRST_VALUE(x) OVER (PARTITION BY u ORDER BY n) AS f FROM t", False),
        (
            "SELECT t.k, FIRST_VALUE(p.x) OVER (PARTITION BY t.u ORDER BY t.n) AS f "
            "FROM t JOIN p ON t.n = p.n",
            False,
        ),
    ],
    ids=["prepared rows", "FIRST_VALUE", "a public table"],
)
@pytest.mark.parametrize("value", OTHERS)
def test_values_of_no_known_kind_are_told_apart_by_their_texts(
    value: str, source: str, is_prepared: bool, tmp_path: Path
) -> None:
    engines = [
        DuckDbEngine.load(database(tmp_path, OTHERS[value], role), limits=ResourceLimits(threads=4))
        for role in ("here", "there", "own")
    ]
    declared = declare(
        {"t": None, "p": None},
        epsilon=100,
        delta=0.01,
        unit={"t": "u"},
        rows_per_unit=1,
        public=["p"],
    )
    catalog = resolve(declared, engines[0].columns)
    if is_prepared:
        catalog = as_prepared(catalog)
        for each in engines:
            each.prepare(scans_to_prepare(catalog))
    here, there, own = engines
    public = PublicStore({"p": here.table("p")})
    layouts = Layouts(catalog=catalog, here=here, there=there, own=own, public=public)
    layouts.check(FIRST.format(source))
    layouts.close()


# --------------------------------------------------------------------------- drawn questions


@st.composite
def reals(draw: st.DrawFn) -> str:
    """Return a real that is often a zero of either sign."""
    x = draw(st.sampled_from(["z", "-z", ZERO, "z * -1e0", "CAST(n AS DOUBLE) * -1e0", "0e0 - z"]))
    return draw(
        st.sampled_from(
            [
                x,
                x,
                f"ROUND({x} / 7)",
                f"TRUNC({x} * 0.25e0)",
                f"CEIL({x} - 0.5e0)",
                f"SQRT({x})",
                f"({x} % 2e0)",
                f"GREATEST({x}, -z)",
                f"LEAST({x}, 0e0)",
                f"COALESCE({x}, 0e0)",
                f"CLAMP({x}, 0, 1)",
                f"CAST({x} AS FLOAT)",
                f"POWER({x}, 3)",
                f"CASE WHEN b THEN {x} ELSE -({x}) END",
            ]
        )
    )


RUNNING = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
WINDOWS = [
    "ROW_NUMBER() OVER (PARTITION BY u ORDER BY m)",
    "ROW_NUMBER() OVER (PARTITION BY u, m ORDER BY n)",
    "RANK() OVER (PARTITION BY u ORDER BY m DESC)",
    "DENSE_RANK() OVER (PARTITION BY u ORDER BY m, n)",
    "FIRST_VALUE(m) OVER (PARTITION BY u ORDER BY n)",
    "FIRST_VALUE(m) OVER (PARTITION BY u ORDER BY m)",
    f"LAST_VALUE(m) OVER (PARTITION BY u ORDER BY n {RUNNING})",
    "LAG(m) OVER (PARTITION BY u ORDER BY n)",
    "LEAD(m, 2, 0e0) OVER (PARTITION BY u ORDER BY m)",
    "MIN(m) OVER (PARTITION BY u)",
    f"MAX(m) OVER (PARTITION BY u ORDER BY n {RUNNING})",
    "COUNT(m) OVER (PARTITION BY u, m)",
]
AGGREGATES = [
    "MIN(m)",
    "MAX(m)",
    "MEDIAN(m)",
    "SUM(CLAMP(m, -1, 2))",
    "AVG(CLAMP(m, -1, 2))",
    "COUNT(DISTINCT m)",
]
SIGHTS = [
    "CAST({0} AS TEXT) = '0.0'",
    "CAST({0} AS TEXT) LIKE '-%'",
    "LENGTH(CAST({0} AS TEXT)) = 3",
    "CAST({0} AS TEXT) < CAST(m AS TEXT) || 'x'",
    "{0} = m",
    "{0} IS DISTINCT FROM -m",
    "{0} IN (0e0, 1.5e0)",
    "1e0 / {0} IS NULL",
    "SIGN({0}) = 0",
    "CAST({0} AS BIGINT) = 0",
]


@st.composite
def questions(draw: st.DrawFn) -> str:
    """Return a question that chooses among a unit's rows and looks closely at what it gets."""
    inner = f"(SELECT u, n, b, {draw(reals())} AS m FROM t)"
    sight = draw(st.sampled_from(SIGHTS))
    if draw(st.booleans()):
        more = f", {draw(st.sampled_from(WINDOWS))} AS g" if draw(st.booleans()) else ""
        source = f"(SELECT u, n, m, {draw(st.sampled_from(WINDOWS))} AS f{more} FROM {inner} AS i)"
        sight += " AND g = f" if more and draw(st.booleans()) else ""
    else:
        found = f"{draw(st.sampled_from(AGGREGATES))} AS f, MAX(m) AS m"
        source = f"(SELECT u, n, {found} FROM {inner} AS i GROUP BY u, n)"
    joined = " JOIN t AS j ON o.u = j.u AND j.z = o.f" if draw(st.integers(0, 3)) == 0 else ""
    asked = draw(st.sampled_from(["COUNT(*)", "COUNT(*)", "COUNT(DISTINCT f)", CLAMPED]))
    keys = draw(st.sampled_from(["", "", "o.n", "f"]))
    listed = f"{keys}, " if keys else ""
    group = f" GROUP BY {keys}" if keys else ""
    where = sight.format("f")
    return f"SELECT {listed}{asked} AS c FROM {source} AS o{joined} WHERE {where}{group}"


CLAMPED = "SUM(CLAMP(f, -1, 2))"

DRAWN = {"duckdb": 25, "prepared": 25, "postgresql": 20, "spark": 6}


@pytest.mark.parametrize("engine", DRAWN)
def test_no_drawn_question_sees_a_layout(engine: str) -> None:
    _draw(engine, 500, DRAWN[engine])


@pytest.mark.slow
@pytest.mark.parametrize("engine", DRAWN)
def test_no_drawn_question_of_many_sees_a_layout(engine: str) -> None:
    _draw(engine, 5000, 10 * DRAWN[engine])


def _draw(engine: str, units: int, examples: int) -> None:
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(questions())
    def property_holds(sql: str) -> None:
        layouts(engine, units).check(sql)

    property_holds()
