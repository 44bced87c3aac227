"""The embedded engine: sealed, silent about its data, and safe for many at a time."""

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from discreet.catalog.schema import Kind
from discreet.engines import duckdb as engines_duckdb
from discreet.engines.base import Engine, ResourceLimits
from discreet.engines.duckdb import DuckDbEngine, sql
from discreet.engines.duckdb.store import FIXED, SEALED, Store, bound
from discreet.errors import EngineError
from discreet.tables import ExactTable
from tests.engines.made import column, count, exact, loaded, private
from tests.ledger.stores import child, end_of
from tests.statements import unbound


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDbEngine]:
    engine = loaded(visits={"patient_id": [1, 1, 2], "cost": [1, 2, 3]})
    yield engine
    engine.close()


def test_it_is_an_engine(engine: DuckDbEngine) -> None:
    as_engine: Engine = engine
    assert as_engine.dialect == "duckdb"


OUTSIDE = [
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM '{file}'",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM glob('/*')",
    "COPY visits TO '{file}'",
    "COPY visits FROM '{file}'",
    "EXPORT DATABASE '{file}'",
    "ATTACH '{file}' AS other",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET threads = 1",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "PRAGMA memory_limit = '1GB'",
    "SELECT getenv('HOME')",
]


@pytest.mark.parametrize("statement", OUTSIDE)
def test_nothing_outside_can_be_reached_once_loaded(
    engine: DuckDbEngine, statement: str, tmp_path: Path
) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("x\n1\n")
    with engine._store.cursor() as cursor, pytest.raises(duckdb.Error):
        cursor.execute(statement.format(file=file)).fetchall()
    assert file.read_text() == "x\n1\n"


@pytest.mark.parametrize("setting", [*FIXED, *SEALED])
def test_every_cursor_has_the_settings(engine: DuckDbEngine, setting: str) -> None:
    name, value = setting.split(" = ")
    with engine._store.cursor() as cursor:
        found = cursor.execute(f"SELECT current_setting('{name}')").fetchall()
    assert str(found[0][0]).casefold() == value.strip("'").casefold()


def test_a_variable_of_the_caller_is_no_table(engine: DuckDbEngine) -> None:
    mine = pa.table({"x": [1]})
    with engine._store.cursor() as cursor, pytest.raises(duckdb.Error):
        cursor.execute("SELECT * FROM mine").fetchall()
    assert mine.num_rows == 1


def test_the_engine_s_words_go_to_the_owner_alone(
    engine: DuckDbEngine, caplog: pytest.LogCaptureFixture
) -> None:
    table = private(engine)
    query = count(table, keys=(column("secret-column"),))
    with caplog.at_level(logging.ERROR, "discreet.engine"), pytest.raises(EngineError) as caught:
        engine.run(unbound(query), ())
    assert "secret-column" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "secret-column" in caplog.text


def test_a_query_is_stopped_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = (
        "SELECT count(*) FROM range(10000000000) a, range(10000000000) b WHERE a.range = -b.range"
    )
    monkeypatch.setattr(engines_duckdb, "write_query", lambda *_: endless)
    engine = DuckDbEngine.load(
        {"visits": pa.table({"patient_id": [1]})}, limits=ResourceLimits(timeout=0.2)
    )
    with pytest.raises(EngineError):
        engine.run(unbound(count(private(engine))), ())
    engine.close()


class Counted:
    """A relation that counts how often it is run, by whatever asks for its rows."""

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self.relation, self.runs = relation, 0

    def __len__(self) -> int:
        self.runs += 1
        return len(self.relation)

    def to_arrow_table(self) -> pa.Table:
        self.runs += 1
        found: pa.Table = self.relation.to_arrow_table()
        return found


@pytest.mark.parametrize("rows", [0, 3])
def test_a_query_that_was_checked_is_run_once_whatever_it_finds(
    monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """More runs for some data than for others would show in the time that an answer takes."""
    made: list[Counted] = []

    def counted(cursor: duckdb.DuckDBPyConnection, text: str) -> Counted:
        found = Counted(bound(cursor, text))
        if not text.startswith("WITH "):  # made-up rows are tried before
            made.append(found)
        return found

    monkeypatch.setattr(engines_duckdb, "bound", counted)
    numbers = pa.array(range(rows), pa.int64())
    engine = DuckDbEngine.load({"visits": pa.table({"patient_id": numbers, "cost": numbers})})
    query = count(private(engine), keys=(column("cost"),))
    engine.run(engine.bind(query), ())
    assert [each.runs for each in made] == [1]
    engine.close()


def test_many_can_ask_at_once(engine: DuckDbEngine) -> None:
    query = count(private(engine), units=True)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: exact(engine, query), range(40)))
    assert found == [[{"s0": 3, "units": 2}]] * 40


def test_what_is_exact_comes_back_sealed(engine: DuckDbEngine) -> None:
    found = engine.run(unbound(count(private(engine))), ())
    assert isinstance(found, ExactTable)
    assert repr(found) == "ExactTable(sealed)"


def test_sql_can_be_shown_without_a_database(engine: DuckDbEngine) -> None:
    query = count(private(engine))
    assert sql(query) == engine.bind(query).sql


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Kind.BOOLEAN, True),
        (Kind.INTEGER, -(2**63)),
        (Kind.REAL, 0.1),
        (Kind.TEXT, "a'\"\0👍"),
        (Kind.DATE, date(9999, 12, 31)),
        (Kind.TIMESTAMP, datetime(2024, 1, 1, 1, 2, 3, 4)),
        (Kind.TIMESTAMP_TZ, datetime(2024, 1, 1, tzinfo=UTC)),
    ],
)
def test_keys_come_back_as_the_values_that_they_are(kind: Kind, value: Any) -> None:
    engine = loaded(visits={"patient_id": [1, 2], "x": [value, None]})
    found = exact(engine, count(private(engine), keys=(column("x", kind),)))
    assert [row["k0"] for row in found] == [value, None]
    assert type(found[0]["k0"]) is type(value)
    engine.close()


def test_wide_integers_are_units_and_keys_without_being_merged() -> None:
    big = pa.array([2**64 - 1, 2**64 - 2, 5], pa.uint64())
    engine = DuckDbEngine.load({"visits": pa.table({"patient_id": big, "x": big})})
    assert exact(engine, count(private(engine), units=True)) == [{"s0": 3, "units": 3}]
    found = exact(engine, count(private(engine), keys=(column("x"),), sums=(column("x"),)))
    assert found == [{"k0": 5, "s0": 5}, {"k0": None, "s0": 0}]
    engine.close()


def test_a_closed_store_leaves_no_files_and_threads() -> None:
    before = threading.active_count()
    store = Store(ResourceLimits(memory="200MB", threads=1))
    spill = store._spill.folder
    with store.cursor() as cursor:
        cursor.execute("CREATE TABLE big AS SELECT range AS x FROM range(100000)")
    store.close()
    assert not spill.exists()
    assert threading.active_count() <= before


def test_a_forked_child_leaves_the_database_to_its_parent() -> None:
    """Closing it there would wait for threads that were not forked, and remove files in use."""
    store = Store(ResourceLimits(threads=2))
    with store.cursor() as cursor:
        cursor.execute("CREATE TABLE big AS SELECT range AS x FROM range(1000000)")
    assert end_of(child(store.close)) == 0
    assert store._spill.folder.exists()
    with store.cursor() as cursor:
        assert cursor.sql("SELECT count(*) FROM big").fetchall() == [(1_000_000,)]
    store.close()
    assert not store._spill.folder.exists()
