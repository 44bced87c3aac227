"""Spark opened: by a catalog, a session, a data frame; and what is said where it is missing."""

import sys
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.catalog.schema import ColumnUnit, Kind
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.spark import SparkEngine
from discreet.engines.spark.addresses import _start, take
from discreet.engines.spark.sessions import pyspark_module
from discreet.errors import CatalogError, MissingExtraError, ParameterError, SourceError
from tests.engines.contract import exact_rows
from tests.engines.made import column, count, private
from tests.spark import AT, shared_session

COUNT = "SELECT COUNT(*) AS n FROM visits"


def visits() -> pa.Table:
    return pa.table(
        {"patient_id": [n % 50 for n in range(200)], "cost": [n % 7 for n in range(200)]}
    )


def test_a_frame_of_spark_stays_there() -> None:
    frame = shared_session().createDataFrame(visits())
    with discreet.open(frame, name="visits", unit="patient_id", epsilon=9) as curator:
        assert isinstance(curator._engine, SparkEngine)
        assert abs(int(str(curator.ask(COUNT, epsilon=9).rows[0]["n"])) - 200) < 60
        assert "`__unit`" in curator.explain(COUNT, epsilon=1).to_text(sql=True)
    with discreet.open({"visits": frame, "all": visits()}, unit="patient_id", epsilon=1) as both:
        assert [each.name for each in both.catalog.tables] == ["visits", "all"]


UNSIGNED = {pa.uint8(): 2**8, pa.uint16(): 2**16, pa.uint32(): 2**32, pa.uint64(): 2**64}


def test_unsigned_integers_of_a_table_in_memory_are_integers() -> None:
    """Spark lacks them. Units beyond 64 bits are told apart, numbers are NULL in computations."""
    values = {f"x{size}": pa.array([0, size - 1, None], kind) for kind, size in UNSIGNED.items()}
    held = pa.table({"u": pa.array([2**64 - 1, 2**64 - 2, 2**63], pa.uint64()), **values})
    for engine in (SparkEngine.open(shared_session(), {"t": held}), DuckDbEngine.load({"t": held})):
        assert {each.kind for each in engine.columns("t")} == {Kind.INTEGER}
        table = private(engine, "t", ColumnUnit(column="u"))
        sums = tuple(column(name) for name in values)
        found = exact_rows(engine, count(table, sums=sums, units=True))
        top = [size - 1 if size < 2**64 else 0 for size in UNSIGNED.values()]
        assert dict(found[0]) == {**{f"s{n}": each for n, each in enumerate(top)}, "units": 3}


def test_a_type_that_spark_lacks_is_refused_by_its_name() -> None:
    held = pa.table({"u": [1], "spent": pa.array([timedelta(1)])})
    with pytest.raises(SourceError, match=r"'spent' of the table t has the type .*interval"):
        SparkEngine.open(shared_session(), {"t": held})


def test_frames_that_differ_by_a_filter_are_different_data(tmp_path: Path) -> None:
    """Their files are the same, and do not tell what a frame does to them."""
    pq.write_table(visits(), tmp_path / "visits.parquet")
    files = shared_session().read.parquet(str(tmp_path / "visits.parquet"))
    few, many = files.where("cost < 1"), files.where("cost >= 1")
    doubled = files.selectExpr("patient_id", "cost * 2 AS cost")
    kept = []
    for frame in (files, few, many, doubled, few, files):
        with discreet.open(
            frame, name="visits", unit="patient_id", epsilon=9, ledger=tmp_path / "l"
        ) as curator:
            kept.append(curator.ask(COUNT, epsilon=1).from_ledger)
    assert kept == [False] * 5 + [True]


def test_a_table_of_a_session_is_opened_by_its_name() -> None:
    session = shared_session()
    session.createDataFrame(visits()).createOrReplaceTempView("visits_of_today")
    with discreet.open(
        session, name="visits_of_today", unit="patient_id", rows_per_unit=4, epsilon=9
    ) as curator:
        found = curator.ask("SELECT COUNT(*) AS n FROM visits_of_today", epsilon=9)
        assert abs(int(str(found.rows[0]["n"])) - 200) < 60
    with pytest.raises(ParameterError, match="must name a table of the server"):
        discreet.open(session, unit="patient_id", epsilon=1)


def test_a_catalog_names_spark_and_files_beside_it(tmp_path: Path) -> None:
    shared_session()
    pq.write_table(visits(), tmp_path / "visits.parquet")
    (tmp_path / "costs.csv").write_text("cost,name\n0,free\n1,cheap\n")
    path = tmp_path / "discreet.toml"
    path.write_text(
        f'[budget]\nepsilon = 9\n[source]\nengine = "{AT}"\n'
        '[tables.visits]\nfrom = "visits.parquet"\nunit = "row"\n'
        '[tables.costs]\nfrom = "costs.csv"\npublic = true\n'
    )
    sql = "SELECT name, COUNT(*) AS n FROM visits JOIN costs USING (cost) GROUP BY name"
    with discreet.open(path) as curator:
        assert [row["name"] for row in curator.ask(sql, epsilon=2).rows] == ["cheap", "free"]
    with discreet.open(path) as again:
        assert again.ask(sql, epsilon=2).is_free


@pytest.mark.parametrize("address", ["spark:/host", "local[]", "sparks://host", "hive://host"])
def test_an_address_that_is_none_is_refused(address: str, tmp_path: Path) -> None:
    path = tmp_path / "discreet.toml"
    path.write_text(
        f'[budget]\nepsilon = 1\n[source]\nengine = "{address}"\n'
        '[tables.visits]\nfrom = "visits"\nunit = "row"\n'
    )
    with pytest.raises(CatalogError, match="is not an engine"):
        discreet.open(path)


def test_there_is_one_spark_in_a_process() -> None:
    shared_session()
    with pytest.raises(SourceError, match="already uses Spark at"):
        take("spark://127.0.0.1:1")


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark = pyspark_module()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SourceError, match="Spark needs Java 17 or newer"):
        _start(pyspark, AT)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingExtraError, match=r"discreet\[spark\]"):
        pyspark_module()
