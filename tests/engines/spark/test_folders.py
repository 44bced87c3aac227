"""Folders of Parquet files as tables: columns that folders name, states, and what is rejected."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.catalog.schema import Kind, RowUnit
from discreet.catalog.sources import beside, is_spark_path
from discreet.engines.spark import SparkEngine
from discreet.engines.spark.tables import state_now
from discreet.errors import SourceError
from discreet.query.expressions.facts import literal
from tests.engines.made import column, count, exact, private
from tests.spark import AT, shared_session

if TYPE_CHECKING:
    from discreet.answer import Answer

YEARS = (2023, 2024)


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Return a folder with a folder for each year, whose names are odd in every way."""
    folder = tmp_path / "visits of ü 100%"
    for year in YEARS:
        for part in range(2):
            place = folder / f"year={year}" / f"site=a%20{part}"
            place.mkdir(parents=True)
            table = pa.table({"patient_id": [1, 2, 2], "cost": [part, year, 7]})
            pq.write_table(table, place / f"part-{part}.parquet")
    (folder / "_SUCCESS").touch()
    return folder


def opened(place: object, name: str = "visits") -> SparkEngine:
    return SparkEngine.open(shared_session(), {name: place})  # type: ignore[dict-item]


def test_what_folders_are_called_are_columns(visits: Path) -> None:
    engine = opened(f"{visits}/")
    assert {each.name: each.kind for each in engine.columns("visits")} == {
        "patient_id": Kind.INTEGER,
        "cost": Kind.INTEGER,
        "year": Kind.INTEGER,
        "site": Kind.TEXT,
    }
    rows = private(engine, unit=RowUnit())
    keys = (column("year"), column("site", Kind.TEXT))
    query = count(rows, keys=keys, sums=(literal(1),), limit=1, units=True)
    engine.bind(query)
    assert exact(engine, query) == [
        {"k0": year, "k1": f"a {part}", "s0": 3, "units": 3} for year in YEARS for part in range(2)
    ]
    engine.close()


def test_a_catalog_names_a_folder_beside_it(visits: Path) -> None:
    shared_session()
    path = visits.parent / "discreet.toml"
    path.write_text(
        f'[budget]\nepsilon = 99\n[source]\nengine = "{AT}"\n'
        f'[tables.visits]\nfrom = "{visits.name}/"\nunit = "row"\n'
    )
    sql = "SELECT COUNT(*) AS n FROM visits WHERE year = 2024"

    def asked() -> "Answer":
        with discreet.open(path) as curator:
            return curator.ask(sql, epsilon=4)

    assert abs(int(str(asked().rows[0]["n"])) - 6) < 20
    assert asked().is_free
    changed = visits / "year=2024" / "site=a%200" / "part-0.parquet"
    table = pq.read_table(changed, partitioning=None)
    pq.write_table(table.slice(0, 2), changed)
    assert not asked().is_free
    assert asked().is_free


def test_a_path_is_told_from_a_name() -> None:
    for path in ("s3a://lake/visits/", "/lake/visits", "visits/", "lake/visits", "v-*.parquet"):
        assert is_spark_path(path)
    for name in ("visits", "lake.visits", "`lake/odd`.visits"):
        assert not is_spark_path(name)
        assert beside(name, Path("/here")) == name
    assert beside("visits/", Path("/here")) == "/here/visits"
    assert beside("s3a://lake/visits/", Path("/here")) == "s3a://lake/visits/"


def test_the_state_is_that_of_all_files_as_they_are(visits: Path) -> None:
    engine = opened(f"{visits}/")
    table = engine._tables["visits"]
    assert table.state is not None
    assert table.state.count(".parquet:") == 4
    assert state_now(table) == table.state
    file = visits / "year=2024" / "site=a%200" / "part-0.parquet"
    for change in changes(visits, file):
        change()
        assert state_now(table) != table.state
    engine.close()


def changes(folder: Path, file: Path) -> list[Callable[[], None]]:
    """Return what an owner may do to files, one after the other."""

    def add() -> None:
        (folder / "year=2025").mkdir()
        pq.write_table(pa.table({"patient_id": [1]}), folder / "year=2025" / "a.parquet")

    return [
        lambda: os.utime(file, (1, 1)),
        lambda: pq.write_table(pa.table({"patient_id": [3], "cost": [1]}), file),
        add,
        file.unlink,
    ]


def test_a_frame_of_files_has_their_state_and_other_frames_have_none(visits: Path) -> None:
    session = shared_session()
    files = session.read.parquet(str(visits))
    engine = SparkEngine.open(
        session, {"all": files, "few": files.where("cost > 1"), "mine": pa.table({"x": [1]})}
    )
    tables = engine._tables
    assert tables["all"].state is not None
    assert state_now(tables["all"]) == tables["all"].state
    assert [tables[name].state for name in ("few", "mine")] == [None, None]
    assert [state_now(tables[name]) for name in ("few", "mine")] == [None, None]
    (visits / "year=2023" / "site=a%200" / "part-0.parquet").unlink()
    assert state_now(tables["all"]) != tables["all"].state
    engine.close()


def test_one_folder_of_a_table_is_read_as_it_is(visits: Path) -> None:
    """Below what a path names, folders are columns; what is above says nothing."""
    pq.write_table(pa.table({"year": [1, 2]}), visits.parent / "year=7.parquet")
    for source, names in (
        (f"{visits}/year=2023/", ["patient_id", "cost", "site"]),
        (f"{visits}/*/*/*.parquet", ["patient_id", "cost"]),
    ):
        engine = opened(source)
        assert [each.name for each in engine.columns("visits")] == names
        engine.close()
    opened(f"{visits.parent}/year=*.parquet").close()


@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), pa.int32()], ids=str)
def test_a_column_that_folders_hide_is_refused(visits: Path, kind: pa.DataType) -> None:
    hidden = pa.table({"patient_id": [1], "cost": [1], "Year": pa.array([5]).cast(kind)})
    pq.write_table(hidden, visits / "year=2023" / "site=a%200" / "part-0.parquet")
    with pytest.raises(SourceError, match="'Year' both in its files and in the names"):
        opened(f"{visits}/")


@pytest.mark.parametrize("place", ["here/../visits/", "./visits/", "*/../visits/", "here/../*/"])
def test_a_column_that_folders_hide_is_refused_by_any_path(tmp_path: Path, place: str) -> None:
    """All rows of a folder would be one unit."""
    (tmp_path / "here").mkdir()
    folder = tmp_path / "visits" / "patient_id=x"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"patient_id": ["a", "b"], "cost": [1, 2]}), folder / "a.parquet")
    with pytest.raises(SourceError, match="'patient_id' both in its files and in the names"):
        opened(f"{tmp_path}/{place}")


def test_files_of_different_types_in_folders_are_refused(visits: Path) -> None:
    other = pa.table({"patient_id": ["a"], "cost": [1]})
    pq.write_table(other, visits / "year=2024" / "site=a%201" / "part-1.parquet")
    with pytest.raises(SourceError, match="store a column with different types"):
        opened(f"{visits}/")


def test_a_link_to_a_file_of_another_folder_is_refused(visits: Path) -> None:
    file = visits / "year=2023" / "site=a%200" / "part-0.parquet"
    (visits / "year=2024" / "site=a%200" / "again.parquet").symlink_to(file)
    with pytest.raises(SourceError, match="visits reads a file twice"):
        opened(f"{visits}/")


def test_the_folder_of_an_iceberg_table_is_refused(visits: Path) -> None:
    (visits / "metadata").mkdir()
    (visits / "metadata" / "v1.metadata.json").write_text("{}")
    with pytest.raises(SourceError, match="is an Iceberg table"):
        opened(f"{visits}/")


def test_a_folder_that_is_not_there_is_refused_without_sparks_words(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="Spark could not read the table visits") as found:
        opened(f"{tmp_path}/nowhere/")
    assert "nowhere" not in str(found.value)
    with pytest.raises(SourceError, match="The table visits has no files"):
        opened(f"{tmp_path}/")
