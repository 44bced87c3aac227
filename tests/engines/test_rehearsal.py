"""A statement that can fail on some rows is refused before it runs on private ones."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import discreet
from discreet.catalog.schema import Kind
from discreet.engines.dialect import Dialect, FunctionTemplate
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.postgresql.dialect import POSTGRESQL
from discreet.engines.rehearsal import ROWS, Rehearsal
from discreet.engines.spark.dialect import SPARK
from discreet.errors import UnsupportedError
from discreet.query.expressions.facts import literal
from discreet.query.tree import Call, Case, ExactQuery, Expression, Facts, Scan
from tests.engines.contract import ENGINES, Holder, engine_of
from tests.engines.made import column, count, private, select

VISITS = pa.table({"patient_id": [1, 1, 2], "s": ["p", "q", "r"], "x": [1.5, 2.5, None]})

FAILING: dict[str, tuple[Dialect, str]] = {
    "duckdb": (DUCKDB, "CASE WHEN {0} = 'mark' THEN error('raised') ELSE upper({0}) END"),
    "postgresql": (
        POSTGRESQL,
        "CASE WHEN {0} = 'mark' THEN CAST(1 / (length({0}) - 4) AS TEXT) ELSE upper({0}) END",
    ),
    "spark": (SPARK, "CASE WHEN {0} = 'mark' THEN raise_error('raised') ELSE upper({0}) END"),
}
"""A function that fails on one text only: no row that is stored has it."""


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Holder]:
    made = engine_of(request.param, {"visits": VISITS})
    yield made
    made.close()


def text(value: str) -> Expression:
    return literal(value)


def call(name: str, *arguments: Expression, kind: Kind = Kind.BOOLEAN) -> Call:
    return Call(function=name, arguments=arguments, facts=Facts(kind=kind))


def guarded(engine: Holder, value: Expression, guard: Expression | None = None) -> ExactQuery:
    """Return a count of rows on a condition: upper(value) = 'MARK', inside a CASE if guarded."""
    upper = call("upper", value, kind=Kind.TEXT)
    tested: Expression = call("equal", upper, text("MARK"))
    if guard is not None:
        tested = Case(
            branches=((guard, tested),), otherwise=literal(False), facts=Facts(kind=Kind.BOOLEAN)
        )
    source = Scan(table=private(engine))
    return count(select(source, literal(1), where=tested))


GUARDS = {
    "none": None,
    "a person": call("equal", column("patient_id"), literal(17)),
    "a person and a value": call(
        "and",
        call("equal", column("patient_id"), literal(17)),
        call("greater", column("x", Kind.REAL), literal(40)),
    ),
}


@pytest.mark.parametrize("guard", GUARDS)
def test_what_fails_on_a_value_that_the_question_names_is_refused(
    engine: Holder, guard: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = guarded(engine, column("s", Kind.TEXT), GUARDS[guard])
    engine.bind(query)
    dialect, template = FAILING[engine.dialect]
    monkeypatch.setitem(dialect.functions, "upper", FunctionTemplate(template=template))
    with pytest.raises(UnsupportedError):
        engine.bind(query)


def guards(number: int) -> tuple[Expression, ...]:
    """Return so many conditions that hardly any row meets all of."""
    return tuple(
        call("equal", column("x", Kind.REAL), literal(1000 + each)) for each in range(number)
    )


def test_what_stands_behind_many_conditions_is_rehearsed(
    engine: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No row need meet them all: each part of a condition is computed for every row."""
    failing = call("equal", call("upper", column("s", Kind.TEXT), kind=Kind.TEXT), text("MARK"))
    others = call("or", call("not", call("and", *guards(9))), call("and", *guards(2)))
    marked = call("equal", column("s", Kind.TEXT), text("mark"))
    conditions: dict[str, Expression] = {
        "and": call("and", *guards(7), marked, failing),
        "nested": call("or", call("and", call("or", *guards(2), marked), *guards(5), failing)),
        "when": Case(
            branches=((others, literal(False)), (failing, literal(True))),
            otherwise=literal(False),
            facts=Facts(kind=Kind.BOOLEAN),
        ),
    }
    source = Scan(table=private(engine))
    queries = {
        name: count(select(source, literal(1), where=each)) for name, each in conditions.items()
    }
    dialect, template = FAILING[engine.dialect]
    monkeypatch.setitem(dialect.functions, "upper", FunctionTemplate(template=template))
    for query in queries.values():
        with pytest.raises(UnsupportedError):
            engine.bind(query)


def test_every_branch_of_a_case_is_rehearsed(
    engine: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the last of 25, whose value reaches a function that fails on it."""
    branches = tuple(
        (call("and", *guards(6)), text("mark" if number == 24 else f"plain {number}"))
        for number in range(25)
    )
    chosen = Case(branches=branches, otherwise=text(""), facts=Facts(kind=Kind.TEXT))
    tested = call("equal", call("upper", chosen, kind=Kind.TEXT), text("X"))
    query = count(select(Scan(table=private(engine)), literal(1), where=tested))
    engine.bind(query)
    dialect, template = FAILING[engine.dialect]
    monkeypatch.setitem(dialect.functions, "upper", FunctionTemplate(template=template))
    with pytest.raises(UnsupportedError):
        engine.bind(query)


def test_a_statement_is_rehearsed_once(engine: Holder, monkeypatch: pytest.MonkeyPatch) -> None:
    query = guarded(engine, column("s", Kind.TEXT), GUARDS["a person"])
    engine.bind(query)
    monkeypatch.setattr(Rehearsal, "statements", lambda *_: pytest.fail("rehearsed again"))
    engine.bind(query)


def test_no_rehearsal_names_a_stored_table(engine: Holder) -> None:
    """Every table that a statement names is made up in its own WITH."""
    query = guarded(engine, column("s", Kind.TEXT), GUARDS["a person"])
    dialect, _ = FAILING[engine.dialect]
    rehearsal = Rehearsal(
        dialect=dialect, columns=engine.columns, typed=lambda _t, _c, _k, values: values
    )
    name = dialect.quoted("visits")
    for each in rehearsal.statements(query):
        assert each.startswith(f"WITH {name} AS (SELECT ")
        assert f"{name} AS (" in each


def test_rows_meet_values_of_the_question_in_combination() -> None:
    engine = DuckDbEngine.load({"visits": VISITS})
    query = guarded(engine, column("s", Kind.TEXT), GUARDS["a person and a value"])
    rehearsal = Rehearsal(
        dialect=DUCKDB, columns=engine.columns, typed=lambda _t, _c, _k, values: values
    )
    made = next(each for each in rehearsal.statements(query) if " WHERE 1 = 0" not in each)
    rows = made[made.index("(SELECT") : made.index(") SELECT")] + ")"
    with duckdb.connect() as connection:
        found = connection.execute(
            f"SELECT count(*), count(*) FILTER (patient_id = 17 AND x > 40), "  # noqa: S608
            f"count(*) FILTER (s = 'mark'), count(*) FILTER (s IS NULL) FROM {rows}"
        ).fetchall()
    ((every, guards, marks, nulls),) = found
    assert every == ROWS[2]
    assert min(guards, marks, nulls) > 0


TYPES = [
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    *("FLOAT", "DOUBLE", "DECIMAL(4,1)", "DECIMAL(38,10)", "BOOLEAN", "VARCHAR", "BLOB", "UUID"),
    *("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMPTZ", "INTERVAL"),
    *(
        "ENUM('a', 'b')",
        "BIT",
        "INTEGER[]",
        "STRUCT(a INTEGER, b VARCHAR)",
        "MAP(VARCHAR, INTEGER)",
        "BIT",
    ),
]


def test_no_type_of_a_column_stands_in_the_way(tmp_path: Any) -> None:
    file = tmp_path / "types.duckdb"
    columns = ", ".join(f"NULL::{each} AS c{number}" for number, each in enumerate(TYPES))
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT i // 2 AS u, {columns} FROM range(40) r(i)")  # noqa: S608
    with discreet.open(file, unit="u", epsilon=10_000, delta=1e-3) as curator:
        for choice in ("once", "per-query"):
            counts = ", ".join(f"COUNT(c{number})" for number in range(len(TYPES)))
            sql = f"SELECT {counts} FROM t"  # noqa: S608
            assert len(curator.ask(sql, epsilon=1, row_choice=choice).columns) == len(TYPES)


@pytest.mark.parametrize("taken", ["kept_visits", "every_visits", "about_parts"])
def test_tables_may_be_called_as_prepared_ones_are(taken: str) -> None:
    other = pa.table({"k": [1, 2], "town": ["a", "b"]})
    tables = {"visits": VISITS, taken: other}
    with discreet.open(
        tables, unit={"visits": "patient_id"}, public=[taken], rows_per_unit=2, epsilon=10
    ) as curator:
        sql = (
            f'SELECT o.town, COUNT(DISTINCT v.patient_id) AS n FROM visits v JOIN "{taken}" o '  # noqa: S608
            "ON o.k = v.patient_id GROUP BY o.town"
        )
        for choice in ("once", "per-query"):
            assert len(curator.ask(sql, epsilon=1, row_choice=choice).rows) == 2


def test_keys_of_every_kind_are_rehearsed_as_they_are_fetched() -> None:
    """Python's own values are not made of them: for times with a zone a package would be needed."""
    moments = pa.array([0, 1, 2], pa.timestamp("us", "UTC"))
    table = VISITS.append_column("at", moments)
    with discreet.open(
        {"visits": table}, unit="patient_id", rows_per_unit=2, epsilon=10, delta=1e-3
    ) as curator:
        for key in ("at", "date_trunc('day', at)", "s", "x"):
            curator.ask(f"SELECT {key} AS k, COUNT(*) FROM visits GROUP BY 1", epsilon=1)  # noqa: S608


def test_what_finds_bounds_is_rehearsed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rehearsed: list[ExactQuery] = []
    own = Rehearsal.statements

    def noted(rehearsal: Rehearsal, query: ExactQuery) -> Iterator[str]:
        rehearsed.append(query)
        return own(rehearsal, query)

    monkeypatch.setattr(Rehearsal, "statements", noted)
    table = pa.table({"patient_id": list(range(3000)), "x": [float(i % 90) for i in range(3000)]})
    with discreet.open({"visits": table}, unit="patient_id", epsilon=10) as curator:
        curator.find_bounds("visits.x", epsilon=5)
    assert rehearsed


@pytest.mark.parametrize("most", [1, 127, 128, 32767, 32768, 65535, 10**6, 2**31])
def test_places_of_prepared_tables_are_rehearsed_within_their_grid(most: int) -> None:
    """No row has another place, so squares of others, which would overflow, are no reason."""
    whole = [None, 0, most, -(2**63), 2**63 - 1, most // 2]
    rows = pa.table({"who": range(6), "x": pa.array(whole, pa.int64())})
    bounds = {"x": (0, most)}
    with discreet.open(rows, name="t", unit="who", bounds=bounds, epsilon=100) as data:
        for asked in ("VARIANCE(x)", "REGR_SXX(x, x)", "CORR(x, x)", "REGR_SLOPE(x, x), SUM(x)"):
            answer = data.ask(f"SELECT {asked} FROM t", epsilon=1)  # noqa: S608 - from this list
            assert answer.price.epsilon == 1
