"""Spark: what is read of files, tables and frames, how long it may take, what is never told."""

import logging
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from signal import SIGINT, pthread_kill
from threading import Timer, main_thread
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.catalog.schema import ColumnUnit, Kind, PathUnit, PrivateTable, RowUnit
from discreet.engines.base import ResourceLimits
from discreet.engines.spark import SparkEngine
from discreet.engines.spark.conditions import spark_text, with_our_names
from discreet.engines.spark.dialect import ROW_ID
from discreet.engines.spark.sessions import GROUP, TALKERS, collected, own_session
from discreet.errors import CatalogError, EngineError, SourceError, UnsupportedError
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.tree import Scan
from tests.engines.made import column, count, exact, private, select
from tests.spark import ENDLESS, shared_session
from tests.statements import unbound

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def session() -> "SparkSession":
    return shared_session()


def opened(tables: dict[str, object], limits: ResourceLimits | None = None) -> SparkEngine:
    return SparkEngine.open(shared_session(), tables, limits=limits or ResourceLimits())  # type: ignore[arg-type]


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Return a folder of two Parquet files, with equal rows among them."""
    for number in range(2):
        table = pa.table({"patient_id": [1, 1, 2, None], "cost": [5, 5, 7, 9]})
        pq.write_table(table, tmp_path / f"part-{number}.parquet")
    return tmp_path


# --------------------------------------------------------------------------- what is read

TYPES = {
    "TINYINT": Kind.INTEGER,
    "BIGINT": Kind.INTEGER,
    "DECIMAL(38, 0)": Kind.INTEGER,
    "DECIMAL(10, 2)": Kind.REAL,
    "FLOAT": Kind.REAL,
    "DOUBLE": Kind.REAL,
    "STRING": Kind.TEXT,
    "STRING COLLATE UNICODE_CI": Kind.TEXT,
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "TIMESTAMP_NTZ": Kind.TIMESTAMP,
    "TIMESTAMP_LTZ": Kind.TIMESTAMP_TZ,
    "BINARY": Kind.OTHER,
    "ARRAY<INT>": Kind.OTHER,
    "INTERVAL DAY TO SECOND": Kind.OTHER,
}


def test_types_of_spark_are_folded_into_kinds(session: "SparkSession") -> None:
    nulls = ", ".join(f"CAST(NULL AS {each}) AS c{n}" for n, each in enumerate(TYPES))
    engine = opened({"kinds": session.sql(f"SELECT {nulls}")})
    assert [each.kind for each in engine.columns("KINDS")] == list(TYPES.values())
    assert engine.columns("kinds")[3].step == Fraction(1, 100)
    with pytest.raises(SourceError, match="Did you mean kinds"):
        engine.columns("kind")
    engine.close()


def test_values_that_no_kind_has_are_null(session: "SparkSession") -> None:
    frame = session.sql(
        "SELECT CAST('NaN' AS DOUBLE) AS r, DATE'-0044-03-15' AS d, TIMESTAMP_NTZ'+10000-01-01' "
        "AS t, CAST(X'ff61' AS STRING) AS s, CAST(1e30 AS DECIMAL(38, 0)) AS w UNION ALL "
        "SELECT CAST('-Infinity' AS FLOAT), DATE'9999-12-31', TIMESTAMP_NTZ'0001-01-01', 'é', 7"
    )
    engine = opened({"odd": frame})
    first, second = engine.table("odd").to_pylist()
    assert first == {"r": None, "d": None, "t": None, "s": None, "w": Decimal(10**30)}
    assert second == {
        "r": None,
        "d": date(9999, 12, 31),
        "t": datetime(1, 1, 1),
        "s": "é",
        "w": Decimal(7),
    }
    engine.close()


def test_a_collation_does_not_decide_what_is_equal(session: "SparkSession") -> None:
    frame = session.sql(
        "SELECT 1 AS u, CAST(s AS STRING COLLATE UTF8_LCASE) AS s FROM VALUES ('a'), ('A') AS t(s)"
    )
    engine = opened({"visits": frame})
    table = private(engine, unit=ColumnUnit(column="u"))
    found = exact(engine, count(table, keys=(column("s", Kind.TEXT),)))
    assert [row["k0"] for row in found] == ["A", "a"]
    engine.close()


@pytest.mark.parametrize("collation", ["UTF8_LCASE", "UNICODE", "UTF8_BINARY_RTRIM"])
def test_texts_that_spark_takes_for_one_are_no_units(
    session: "SparkSession", collation: str
) -> None:
    """By its collation 'Ann' and 'ann' are one person, and two by their bytes."""
    loose = f"CAST(s AS STRING COLLATE {collation}) AS loose"
    frame = session.sql(
        f"SELECT {loose}, s AS plain FROM VALUES ('Ann'), ('ann') AS t(s)"  # noqa: S608
    )
    with pytest.raises(CatalogError, match="cannot be compared reliably"):
        discreet.open(frame, name="visits", unit="loose", epsilon=1)
    discreet.open(frame, name="visits", unit="plain", epsilon=1).close()


def test_names_are_taken_as_they_are(session: "SparkSession") -> None:
    frame = session.createDataFrame(
        pa.table({"__unit": [1, 1], "sel`e\\ct.$": [7, 8], "Größe ☃": ["x", "y"]})
    )
    engine = opened({'we"ird`. näme': frame})
    table = PrivateTable(
        name='we"ird`. näme',
        columns=engine.columns('we"ird`. näme'),
        unit=ColumnUnit(column="__unit"),
    )
    query = count(table, keys=(column("Größe ☃", Kind.TEXT),), sums=(column("sel`e\\ct.$"),))
    engine.bind(query)
    assert exact(engine, query) == [{"k0": "x", "s0": 7}, {"k0": "y", "s0": 8}]
    engine.close()


@pytest.mark.parametrize("name", [ROW_ID, "COST"])
def test_names_that_cannot_be_told_apart_are_refused(name: str, session: "SparkSession") -> None:
    frame = session.createDataFrame(pa.table({"cost": [1], name: [2]}))
    with pytest.raises(SourceError, match="called"):
        opened({"visits": frame})


def test_a_table_that_is_not_there_is_refused_without_sparks_words() -> None:
    for source in ("nowhere.visits", "/nowhere/visits.parquet"):
        with pytest.raises(SourceError, match="Spark could not read the table visits") as found:
            opened({"visits": source})
        assert "nowhere" not in str(found.value)


def test_views_and_frames_of_a_session_are_read_and_its_settings_left_alone(
    session: "SparkSession",
) -> None:
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    session.range(5).selectExpr("id AS patient_id", "id AS cost").createOrReplaceTempView("mine")
    engine = opened({"visits": "mine"})
    assert exact(engine, count(private(engine), sums=(column("cost"),))) == [{"s0": 10}]
    assert session.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    handed_over = "SHOW VIEWS IN global_temp LIKE 'discreet_*'"
    before = session.sql(handed_over).count()
    engine.close()
    assert session.sql(handed_over).count() == before - 1


def test_files_have_a_version_that_changes_with_them(visits: Path) -> None:
    def version() -> str:
        engine = opened({"visits": str(visits / "*.parquet")})
        engine.close()
        return engine.version

    first = version()
    assert version() == first
    pq.write_table(pa.table({"patient_id": [1], "cost": [5]}), visits / "part-2.parquet")
    assert version() != first


# --------------------------------------------------------------------------- rows as units


def test_rows_of_parquet_files_are_told_apart(visits: Path) -> None:
    engine = opened({"visits": str(visits / "*.parquet")})
    table = private(engine, unit=RowUnit())
    query = count(table, sums=(column("cost"),), limit=1, units=True)
    engine.bind(query)
    assert exact(engine, query) == [{"s0": 52, "units": 8}]
    engine.close()


@pytest.mark.parametrize(
    "made",
    ["SELECT * FROM files UNION ALL SELECT * FROM files", "SELECT cost, id FROM files, range(2)"],
)
def test_rows_that_have_no_name_of_their_own_are_no_units(
    made: str, visits: Path, session: "SparkSession"
) -> None:
    """After a union or a join several rows come of one of a file: they must not count as one."""
    session.read.parquet(str(visits)).createOrReplaceTempView("files")
    engine = opened({"visits": session.sql(made)})
    query = count(private(engine, unit=RowUnit()), sums=(column("cost"),), limit=1)
    with pytest.raises(UnsupportedError, match="row of visits is a privacy unit"):
        engine.bind(query)
    engine.close()


def _twice(folder: Path, session: "SparkSession") -> Iterator["object"]:
    """Yield ways to read a file twice."""
    file = folder / "part-0.parquet"
    yield session.read.parquet(str(file), str(file))
    yield session.read.parquet(str(folder / "part-*.parquet"), str(file))
    (folder / "link.parquet").symlink_to(file)
    yield session.read.parquet(str(folder))


def test_a_file_that_is_read_twice_is_refused(visits: Path, session: "SparkSession") -> None:
    """Else two rows would have one name, and count as one unit."""
    refused = []
    for each in _twice(visits, session):
        try:
            opened({"visits": each}).close()
        except SourceError as error:
            refused.append("visits reads a file twice" in str(error))
    assert refused == [True] * 3


def test_a_pattern_that_names_a_file_twice_reads_it_once(visits: Path) -> None:
    engine = opened({"visits": str(visits / "{part-0,part-1,part-0}.parquet")})
    query = count(private(engine, unit=RowUnit()), sums=(literal(1),), limit=1, units=True)
    assert exact(engine, query) == [{"s0": 8, "units": 8}]
    engine.close()


def test_what_spark_reads_off_names_of_folders_tells_no_units_apart(
    tmp_path: Path, session: "SparkSession"
) -> None:
    """The folders who=7 and who=07 are one value, 7; texts are as they are written."""
    folder = tmp_path / "t.parquet"
    for each in ("7", "07"):
        (folder / f"who={each}" / f"site=x{each}").mkdir(parents=True)
        table = pa.table({"x": [1]})
        pq.write_table(table, folder / f"who={each}" / f"site=x{each}" / "a.parquet")
    frame = session.read.parquet(str(folder))
    for source in (str(folder), frame, frame.where("x = 1")):
        engine = opened({"t": source})
        rounded = {each.name: each.is_rounded for each in engine.columns("t")}
        assert rounded == {"x": False, "who": True, "site": False}
        engine.close()


def test_a_column_that_names_of_folders_would_hide_is_refused(
    tmp_path: Path, session: "SparkSession"
) -> None:
    """Else all rows of a folder would be one unit."""
    folder = tmp_path / "t.parquet"
    (folder / "who=1").mkdir(parents=True)
    pq.write_table(pa.table({"who": [5, 6, 7]}), folder / "who=1" / "a.parquet")
    for source in (str(folder), session.read.parquet(str(folder)).where("who > 0")):
        with pytest.raises(SourceError, match="'who' both in its files and in the names"):
            opened({"t": source})


@pytest.mark.parametrize("other", [pa.float64(), pa.int32(), pa.string()], ids=str)
def test_files_that_store_a_column_as_different_types_are_refused(
    tmp_path: Path, other: pa.DataType
) -> None:
    """Spark would fail if and only if the second file may have a row that is asked for."""
    folder = tmp_path / "t.parquet"
    folder.mkdir()
    pq.write_table(pa.table({"who": [1, 2], "x": [1, 1]}), folder / "a.parquet")
    second = pa.table({"x": [1, 7], "who": pa.array([3, 4]).cast(other)})
    pq.write_table(second, folder / "b.parquet")
    with pytest.raises(SourceError, match="store a column with different types"):
        opened({"t": str(folder)})


def test_a_path_to_rows_without_names_is_refused(session: "SparkSession") -> None:
    frame = session.range(3).selectExpr("id AS visit_id")
    engine = opened({"visits": frame, "drugs": frame})
    parent = private(engine, "visits", RowUnit())
    unit = PathUnit(column="visit_id", table="visits", key="visit_id")
    scan = Scan(table=private(engine, "drugs", unit), parents=(parent,))
    with pytest.raises(UnsupportedError, match="cannot compute this query"):
        engine.bind(count(scan, units=True))
    engine.close()


# --------------------------------------------------------------------------- what is never told


def test_texts_and_names_are_never_read_as_anything_else() -> None:
    nasty = "'; DROP -- \\' \" ` ${spark.app.name} {0} \0 ß"
    assert spark_text("plain text") == "'plain text'"
    assert not set(spark_text(nasty)) & set('"`\\$;-{')
    assert with_our_names('SELECT "a", `"b"`, `c``"d"` FROM "e"') == (
        'SELECT `a`, `"b"`, `c``"d"` FROM `e`'
    )


def test_a_nasty_text_is_found_as_it_is() -> None:
    nasty = "'; DROP -- \\' \" ` ${spark.app.name} {0} \0 ß"
    engine = opened({"visits": pa.table({"patient_id": [1, 2], "s": [nasty, "other"]})})
    where = call("equal", column("s", Kind.TEXT), literal(nasty))
    rows = select(Scan(table=private(engine)), where=where)
    assert exact(engine, count(rows)) == [{"s0": 1}]
    engine.close()


def test_sparks_words_stay_in_the_owners_log(
    visits: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    engine = opened({"visits": str(visits / "*.parquet")})
    query = count(private(engine), sums=(column("cost"),))
    for each in visits.iterdir():
        each.unlink()
    with caplog.at_level(logging.ERROR, "discreet.engine"), pytest.raises(EngineError) as found:
        engine.run(unbound(query), ())
    assert found.value.__cause__ is None
    assert found.value.__context__ is None
    assert "part-0" not in str(found.value) + caplog.text
    with pytest.raises(UnsupportedError) as refused:
        engine.bind(count(private(engine), sums=(column("no_such_column"),)))
    assert refused.value.__context__ is None
    engine.close()
    assert capfd.readouterr() == ("", "")


def test_a_session_that_is_handed_over_is_silent_from_the_first_failure(
    session: "SparkSession", capfd: pytest.CaptureFixture[str]
) -> None:
    loggers = [logging.getLogger(name) for name in TALKERS]
    for each in loggers:  # as they are before anything of ours was run
        each.filters.clear()
    made = "SELECT id AS patient_id, raise_error(concat('secret', id)) AS cost FROM range(3)"
    engine = SparkEngine.open(session, {"visits": session.sql(made)})
    query = count(private(engine), sums=(call("length", column("cost", Kind.TEXT)),))
    with pytest.raises(EngineError):
        engine.run(unbound(query), ())
    engine.close()
    assert capfd.readouterr() == ("", "")
    assert all(each.filters for each in loggers)


# --------------------------------------------------------------------------- how long it may take


@pytest.fixture
def own(session: "SparkSession") -> Iterator["SparkSession"]:
    yield own_session(session)
    assert session.sparkContext.getLocalProperty(GROUP[0]) is None


def is_idle(session: "SparkSession") -> bool:
    return not session.sparkContext.statusTracker().getActiveJobsIds()


def test_a_query_that_takes_too_long_is_cancelled(
    own: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SparkEngine(own, {}, limits=ResourceLimits(timeout=1))
    monkeypatch.setattr("discreet.engines.spark.write_query", lambda *_: ENDLESS)
    with pytest.raises(EngineError):
        engine.run(unbound(count(PrivateTable(name="t", columns=(), unit=RowUnit()))), ())
    assert is_idle(own)
    assert collected(own, "SELECT 1 AS n", timeout=60).to_pylist() == [{"n": 1}]


def test_ctrl_c_cancels_a_query(own: "SparkSession") -> None:
    timer = Timer(1, pthread_kill, [main_thread().ident, SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        collected(own, ENDLESS, timeout=600)
    timer.join()
    assert is_idle(own)


def test_a_query_is_checked_without_a_job(visits: Path, session: "SparkSession") -> None:
    engine = opened({"visits": str(visits / "*.parquet")})
    session.sparkContext.setJobGroup("checking", "")
    engine.bind(count(private(engine), keys=(column("cost"),)))
    assert not session.sparkContext.statusTracker().getJobIdsForGroup("checking")
    for name in GROUP:
        session.sparkContext.setLocalProperty(name, None)  # type: ignore[arg-type]
    engine.close()
