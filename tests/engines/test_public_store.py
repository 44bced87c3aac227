"""The public store: what comes after the noise, and values that anyone may see."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from discreet.catalog.schema import Kind
from discreet.engines import public_store
from discreet.engines.base import ResourceLimits
from discreet.engines.public_store import PublicStore
from discreet.errors import QuestionSizeError, UnsupportedError
from discreet.query.expressions.facts import case_of, literal
from discreet.query.expressions.functions import call
from discreet.query.tree import Facts, ReleasedScalar
from tests.engines.made import column

ENDLESS = "SELECT count(*) FROM range(9999999999) a, range(9999999999) b WHERE a.range = -b.range"
NOISY = pa.table({"region": ["n", "s"], "a0": [12.5, 3.0]})


@pytest.fixture(scope="module")
def store() -> Iterator[PublicStore]:
    clinics = pa.table({"region": ["n", "s", None], "beds": [5, 7, 9]})
    store = PublicStore({"clinics": clinics})
    yield store
    store.close()


def test_public_tables_can_be_read(store: PublicStore) -> None:
    sql = 'SELECT DISTINCT "region" FROM "clinics" ORDER BY ALL'
    assert store.values(sql) == [("n",), ("s",), (None,)]


def test_noisy_tables_are_there_for_one_call(store: PublicStore) -> None:
    sql = "SELECT region, a0 * beds AS x, a0 AS x FROM released_0 JOIN clinics USING (region)"
    found = store.run(f"{sql} ORDER BY x DESC", {"released_0": NOISY})
    assert found.column_names == ["region", "x", "x"]
    assert found.column(1).to_pylist() == [62.5, 21.0]
    with pytest.raises(UnsupportedError):
        store.run(sql, {})


def test_many_can_compute_at_once_with_tables_of_one_name(store: PublicStore) -> None:
    def one(number: int) -> list[Any]:
        table = pa.table({"x": [number]})
        return store.run("SELECT x FROM released_0", {"released_0": table}).column(0).to_pylist()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(40))) == [[number] for number in range(40)]


def test_sql_is_checked_without_being_run(store: PublicStore) -> None:
    schemas = {"released_0": NOISY.schema}
    found = store.check("SELECT a0 + 1 AS more, region FROM released_0", schemas)
    assert found.names == ("more", "region")
    assert found.types == ("DOUBLE", "VARCHAR")
    store.check("SELECT 1 // 0 AS x, error('ran') FROM released_0", schemas)


@pytest.mark.parametrize(
    "sql", ["SELECT nothing FROM released_0", "SELECT a0 + region FROM released_0", "SELEC 1"]
)
def test_sql_that_cannot_run_is_refused_in_fixed_words(store: PublicStore, sql: str) -> None:
    with pytest.raises(UnsupportedError, match="SQL around the aggregates is not valid") as caught:
        store.check(sql, {"released_0": NOISY.schema})
    assert caught.value.__cause__ is None
    assert "Binder" not in str(caught.value)


def test_a_result_that_is_too_long_is_refused(
    store: PublicStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(public_store, "MOST_ROWS", 1000)
    with pytest.raises(QuestionSizeError, match="1,000 rows"):
        store.run("SELECT * FROM range(1000000)", {})


def test_a_computation_that_takes_too_long_is_stopped() -> None:
    store = PublicStore(limits=ResourceLimits(timeout=0.2))
    with pytest.raises(UnsupportedError):
        store.values(ENDLESS)
    store.close()


def test_what_fails_after_the_first_rows_is_null_as_well(store: PublicStore) -> None:
    """Arrow has its own errors for what comes late, which nobody else knows."""
    texts = pa.table({"x": ["1"] * 1_999_999 + ["a"]})
    found = store.run("SELECT CAST(x AS INTEGER) AS y FROM released_0", {"released_0": texts})
    assert found.column(0).null_count == 1
    assert found.column(0)[-1].as_py() is None


def test_rows_that_come_for_too_long_are_stopped(store: PublicStore) -> None:
    slow = "SELECT a.range FROM range(10000) a, range(10000) b WHERE (a.range * b.range) % 7919 = 1"
    with pytest.raises(UnsupportedError):
        store.run(slow, {}, timeout=0.01)


@pytest.mark.parametrize(
    "sql",
    ["SELECT * FROM read_csv('pyproject.toml')", "SET threads = 1", "ATTACH 'x.db'"],
)
def test_nothing_outside_can_be_reached(store: PublicStore, sql: str) -> None:
    with store._store.cursor() as cursor, pytest.raises(duckdb.Error):
        cursor.execute(sql).fetchall()


def test_values_of_an_expression_are_found_from_those_of_its_columns(store: PublicStore) -> None:
    day = column("day", Kind.DATE)
    days = {("v", "day"): (date(2024, 2, 3), date(2024, 2, 29), date(2024, 1, 3), None)}
    month = call("date_part", literal("month"), day)
    assert store.evaluate(month, days) == (1, 2, None)
    is_old = call("greater", column("age"), literal(64))
    group = case_of(((is_old, literal("old")),), literal("young"))
    assert store.evaluate(group, {("v", "age"): tuple(range(120))}) == ("old", "young")


def test_columns_of_one_source_and_of_two_are_combined(store: PublicStore) -> None:
    a, b, c = column("a"), column("b"), column("a", source="w")
    domains = {("v", "a"): (0, 1), ("v", "b"): (0, 10), ("w", "a"): (0, 100)}
    found = store.evaluate(call("add", call("add", a, b), c), domains)
    assert found == (0, 1, 10, 11, 100, 101, 110, 111)


def test_values_of_many_forms_are_accepted(store: PublicStore) -> None:
    assert store.evaluate(column("x", Kind.REAL), {("v", "x"): (Fraction(1, 2), 2)}) == (0.5, 2.0)
    assert store.evaluate(column("x", Kind.TEXT), {("v", "x"): ()}) == ()
    assert store.evaluate(literal("a"), {}) == ("a",)


def test_too_many_combinations_are_refused(store: PublicStore) -> None:
    many = tuple(range(1001))
    with pytest.raises(QuestionSizeError, match="1,000,000 combinations"):
        store.evaluate(call("add", column("a"), column("b")), {("v", "a"): many, ("v", "b"): many})


def test_a_noisy_number_has_no_values_known_beforehand(store: PublicStore) -> None:
    with pytest.raises(UnsupportedError, match="no declared values"):
        store.evaluate(ReleasedScalar(number=0, facts=Facts(kind=Kind.REAL)), {})
