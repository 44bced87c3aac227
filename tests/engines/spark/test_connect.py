"""Spark Connect: the same exact tables, limits, silence and states as a Spark in this process."""

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from signal import SIGINT, pthread_kill
from threading import Timer, main_thread
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.catalog.schema import Kind, PrivateTable, RowUnit
from discreet.engines.base import ResourceLimits
from discreet.engines.spark import SparkEngine
from discreet.engines.spark.addresses import take
from discreet.engines.spark.sessions import SETTINGS, collected, own_session, place_of
from discreet.engines.spark.tables import state_now
from discreet.errors import (
    CatalogError,
    EngineError,
    MissingExtraError,
    SourceError,
    UnsupportedError,
)
from discreet.opening.stores import prepare_catalog
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from tests.attacks.clinic import tables
from tests.cli.runs import call as command
from tests.engines.corpus import QUESTIONS, exact, expected, plan_of
from tests.engines.made import column, count, private
from tests.engines.made import exact as exact_of
from tests.engines.spark.on_connect import connect_server
from tests.spark import ENDLESS
from tests.statements import unbound

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOME = 109
"""Of so many questions of the corpus, one is asked here."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with connect_server() as found:
        yield found


@pytest.fixture
def session(address: str) -> Iterator["SparkSession"]:
    found = take(address)
    yield found
    found.stop()


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    for number in range(2):
        table = pa.table({"patient_id": [1, 1, 2, None], "cost": [5, 5, 7, 9 + number]})
        pq.write_table(table, tmp_path / f"part-{number}.parquet")
    return tmp_path


def test_questions_have_the_same_exact_tables(address: str, tmp_path: Path) -> None:
    places: dict[str, str | pa.Table] = {"clinics": tables()["clinics"]}
    for name in ("visits", "patients", "prescriptions"):
        pq.write_table(tables()[name], tmp_path / f"{name}.parquet")
        places[name] = str(tmp_path / f"{name}.parquet")
    engine = SparkEngine.open(address, places, public=["clinics"])
    for sql in QUESTIONS[::SOME]:
        plan = plan_of(sql)
        for planned in plan.releases:
            for query in planned.queries:
                engine.bind(query)
        assert exact(engine, plan) == expected(sql)
    engine.close()


def test_a_catalog_names_a_server_of_spark_connect(address: str, visits: Path) -> None:
    path = visits / "discreet.toml"
    path.write_text(
        f'[budget]\nepsilon = 9\n[source]\nengine = "{address}"\n'
        '[tables.visits]\nfrom = "part-*.parquet"\nunit = "row"\n'
    )
    sql = "SELECT COUNT(*) AS n FROM visits"
    with discreet.open(path) as curator:
        assert abs(int(str(curator.ask(sql, epsilon=2).rows[0]["n"])) - 8) < 20
    with discreet.open(path) as again:
        assert again.ask(sql, epsilon=2).is_free
    pq.write_table(pa.table({"patient_id": [1], "cost": [5]}), visits / "part-2.parquet")
    with discreet.open(path) as later:
        assert not later.ask(sql, epsilon=2).is_free


def test_a_token_is_kept_out_of_catalogs(tmp_path: Path) -> None:
    path = tmp_path / "discreet.toml"
    path.write_text(
        '[budget]\nepsilon = 9\n[source]\nengine = "sc://host:15002/;user_id=me;token=secret"\n'
        '[tables.visits]\nfrom = "visits"\nunit = "row"\n'
    )
    with pytest.raises(CatalogError, match="contains a password") as found:
        discreet.open(path)
    assert "secret" not in str(found.value)


def test_a_session_and_its_frames_are_handed_over(session: "SparkSession", visits: Path) -> None:
    before = {name: session.conf.get(name) for name in SETTINGS}
    frame = session.read.parquet(str(visits)).where("cost < 9")
    frame.createOrReplaceTempView("few")
    with discreet.open(frame, name="visits", unit="patient_id", rows_per_unit=9, epsilon=9) as c:
        assert isinstance(c._engine, SparkEngine)
        assert (
            abs(int(str(c.ask("SELECT COUNT(*) AS n FROM visits", epsilon=9).rows[0]["n"])) - 6)
            < 30
        )
    engine = SparkEngine.open(session, {"visits": "few"})
    assert exact_of(engine, count(private(engine), sums=(column("cost"),))) == [{"s0": 34}]
    handed_over = "SHOW VIEWS IN global_temp LIKE 'discreet_*'"
    assert session.sql(handed_over).count() == 1
    assert {name: session.conf.get(name) for name in SETTINGS} == before
    with pytest.raises(UnsupportedError, match="row of visits is a privacy unit"):
        engine.bind(count(private(engine, unit=RowUnit())))
    engine.close()
    assert session.sql(handed_over).count() == 0
    assert place_of(session).startswith("sc://127.0.0.1")


def test_rows_of_files_are_units_and_a_link_makes_them_none(address: str, visits: Path) -> None:
    def rows() -> SparkEngine:
        return SparkEngine.open(address, {"visits": f"{visits}/"})

    engine = rows()
    query = count(private(engine, unit=RowUnit()), sums=(column("cost"),), limit=1, units=True)
    engine.bind(query)
    assert exact_of(engine, query) == [{"s0": 53, "units": 8}]
    engine.close()
    os.link(visits / "part-0.parquet", visits / "part-9.parquet")
    linked = rows()
    with pytest.raises(UnsupportedError, match="row of visits is a privacy unit"):
        linked.bind(count(private(linked, unit=RowUnit())))
    linked.close()


def test_the_state_of_files_is_known_without_java(address: str, visits: Path) -> None:
    engine = SparkEngine.open(address, {"visits": str(visits), "mine": pa.table({"x": [1]})})
    table = engine._tables["visits"]
    assert table.state is not None
    assert state_now(table) == table.state
    assert state_now(engine._tables["mine"]) is None
    pq.write_table(pa.table({"patient_id": [1], "cost": [5]}), visits / "part-2.parquet")
    assert state_now(table) != table.state
    query = count(private(engine), sums=(literal(1),))
    assert exact_of(engine, query) == [{"s0": 6}], "files that come later are not read"
    engine.close()


def test_a_folder_that_names_a_unit_is_none(address: str, tmp_path: Path) -> None:
    for each in ("7", "07"):
        (tmp_path / f"who={each}").mkdir()
        pq.write_table(pa.table({"x": [1]}), tmp_path / f"who={each}" / "a.parquet")
    session = take(address)
    for source in (f"{tmp_path}/", session.read.parquet(str(tmp_path))):
        at = session if not isinstance(source, str) else address
        engine = SparkEngine.open(at, {"t": source})
        assert {each.name: each.is_rounded for each in engine.columns("t")} == {
            "x": False,
            "who": True,
        }
        engine.close()
    pq.write_table(pa.table({"who": [5], "x": [1]}), tmp_path / "who=7" / "a.parquet")
    with pytest.raises(SourceError, match="'who' both in its files and in the names"):
        SparkEngine.open(address, {"t": f"{tmp_path}/"})
    session.stop()


# --------------------------------------------------------------------------- limits and silence


def test_a_query_that_takes_too_long_is_ended_on_the_server(
    session: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_session(session)
    engine = SparkEngine(own, {}, limits=ResourceLimits(timeout=1))
    monkeypatch.setattr("discreet.engines.spark.write_query", lambda *_: ENDLESS)
    with pytest.raises(EngineError):
        engine.run(unbound(count(PrivateTable(name="t", columns=(), unit=RowUnit()))), ())
    assert collected(own, "SELECT 1 AS n", timeout=60).to_pylist() == [{"n": 1}]
    assert not own.getTags()
    assert not session.interruptAll()
    assert not own.interruptAll(), "it ran on after its time"
    engine.close()


def test_ctrl_c_ends_a_query_on_the_server(session: "SparkSession") -> None:
    own = own_session(session)
    timer = Timer(1, pthread_kill, [main_thread().ident, SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        collected(own, ENDLESS, timeout=600)
    timer.join()
    assert collected(own, "SELECT 1 AS n", timeout=60).to_pylist() == [{"n": 1}]
    assert not own.interruptAll(), "it ran on"
    own.stop()


def test_words_of_the_server_stay_in_the_owners_log(
    session: "SparkSession",
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    made = "SELECT id AS patient_id, raise_error(concat('secret', id)) AS cost FROM range(3)"
    engine = SparkEngine.open(session, {"visits": session.sql(made)})
    query = count(private(engine), sums=(call("length", column("cost", Kind.TEXT)),))
    with caplog.at_level(logging.INFO, "discreet"), pytest.raises(EngineError) as found:
        engine.run(unbound(query), ())
    assert found.value.__context__ is None
    assert "secret0" not in str(found.value) + caplog.text
    with pytest.raises(UnsupportedError) as refused:
        engine.bind(count(private(engine), sums=(column("no_such_column"),)))
    assert refused.value.__context__ is None
    with pytest.raises(SourceError, match="Spark could not read the table visits") as missing:
        SparkEngine.open(session, {"visits": "nowhere.visits"})
    assert "nowhere" not in str(missing.value)
    engine.close()
    assert capfd.readouterr() == ("", "")


# --------------------------------------------------------------------------- nobody there


def test_nobody_at_an_address_is_said_soon(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("discreet.engines.spark.addresses.ANSWERS_WITHIN", 1.0)
    with pytest.raises(
        SourceError, match=r"No Spark Connect server answers at sc://127\.0\.0\.1:1/;user_id=me\."
    ):
        take("sc://127.0.0.1:1/;user_id=me;x-key=secret")
    with pytest.raises(SourceError, match="is not an address of Spark Connect"):
        take("sc://127.0.0.1:1/path")
    assert capfd.readouterr() == ("", "")


def test_a_command_says_that_nobody_is_there_and_charges_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("discreet.engines.spark.addresses.ANSWERS_WITHIN", 1.0)
    path = tmp_path / "discreet.toml"
    path.write_text(
        '[budget]\nepsilon = 9\n[source]\nengine = "sc://127.0.0.1:1"\n'
        '[tables.visits]\nfrom = "visits/"\nunit = "patient_id"\n'
    )
    asking = ("ask", "SELECT COUNT(*) FROM visits", "--epsilon", "1", "--catalog", str(path))
    drafting = ("init", "sc://127.0.0.1:1", "visits/", "-o", str(tmp_path / "new.toml"))
    for arguments in (asking, drafting, ("prepare", "--catalog", str(path))):
        ended = command(capsys, monkeypatch, *arguments)
        assert ended.code != 0
        assert "No Spark Connect server answers at sc://127.0.0.1:1." in ended.err
        assert "Traceback" not in ended.err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["discreet.toml"]


def test_tables_are_prepared_where_the_server_reaches_the_catalog(
    address: str, visits: Path
) -> None:
    path = visits / "discreet.toml"
    path.write_text(
        f'[budget]\nepsilon = 9\n[source]\nengine = "{address}"\n'
        '[tables.visits]\nfrom = "part-*.parquet"\nunit = "patient_id"\n'
    )
    assert prepare_catalog(path)
    with discreet.open(path) as curator:
        assert isinstance(curator._engine, SparkEngine)
        assert curator._engine.is_prepared
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=5)


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql.connect.session", None)
    with pytest.raises(MissingExtraError, match=r"discreet\[spark-connect\]"):
        take("sc://127.0.0.1:1")
