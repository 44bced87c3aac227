"""Delta tables in Spark: the files that their log names, and what is rejected by its name."""

import base64
import json
import shutil
import struct
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

import discreet
from discreet.catalog.schema import Kind, RowUnit
from discreet.engines.spark import SparkEngine
from discreet.engines.spark.tables import state_now
from discreet.errors import MissingExtraError, SourceError
from discreet.query.expressions.facts import literal
from tests.engines.made import column, count, exact, private
from tests.spark import AT, shared_session

ROWS = pa.table(
    {
        "patient_id": [1, 1, 2, 3],
        "cost": [5, 6, 7, 8],
        "day": [date(2024, 1, 1), date(2024, 1, 1), None, date(2023, 5, 5)],
        "code": ["007", "7", "7", "a b"],
        "seen": [True, True, False, True],
    }
)


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """Return a table some of whose files were deleted again, and are still there."""
    folder = tmp_path / "visits"
    write_deltalake(folder, ROWS, partition_by=["day", "code", "seen"])
    DeltaTable(folder).delete("patient_id = 2")
    return folder


def opened(place: object) -> SparkEngine:
    return SparkEngine.open(shared_session(), {"visits": place})  # type: ignore[dict-item]


def rows_in(engine: SparkEngine) -> int:
    query = count(private(engine, unit=RowUnit()), sums=(literal(1),), limit=1, units=True)
    engine.bind(query)
    ((found),) = exact(engine, query)
    assert found["s0"] == found["units"]
    return int(str(found["s0"]))


def test_the_files_of_the_latest_version_are_read(visits: Path) -> None:
    assert len(list(visits.rglob("*.parquet"))) == 4
    engine = opened(f"{visits}/")
    kinds = {each.name: each.kind for each in engine.columns("visits")}
    assert kinds == {
        "patient_id": Kind.INTEGER,
        "cost": Kind.INTEGER,
        "day": Kind.DATE,
        "code": Kind.TEXT,
        "seen": Kind.BOOLEAN,
    }
    assert rows_in(engine) == 3
    keys = (column("code", Kind.TEXT), column("day", Kind.DATE))
    found = exact(engine, count(private(engine), keys=keys, sums=(column("cost"),)))
    assert [(each["k0"], each["k1"], each["s0"]) for each in found] == [
        ("007", date(2024, 1, 1), 5),
        ("7", date(2024, 1, 1), 6),
        ("a b", date(2023, 5, 5), 8),
    ]
    engine.close()


def test_a_version_is_a_state_of_the_data(visits: Path) -> None:
    shared_session()
    path = visits.parent / "discreet.toml"
    path.write_text(
        f'[budget]\nepsilon = 99\n[source]\nengine = "{AT}"\n'
        '[tables.visits]\nfrom = "visits/"\nunit = "patient_id"\nrows_per_unit = 2\n'
    )
    sql = "SELECT COUNT(*) AS n FROM visits"
    free = []
    for change in (False, False, True, False):
        if change:
            write_deltalake(visits, ROWS.slice(0, 1), mode="append")
        with discreet.open(path) as curator:
            free.append(curator.ask(sql, epsilon=4).is_free)
    assert free == [False, True, False, True]


def test_a_change_since_it_was_opened_is_noticed_and_not_read(visits: Path) -> None:
    engine = opened(f"{visits}/")
    table = engine._tables["visits"]
    assert table.state is not None
    assert state_now(table) == table.state
    write_deltalake(visits, ROWS, mode="append")
    assert state_now(table) != table.state
    assert rows_in(engine) == 3
    engine.close()


def test_columns_that_were_added_are_null_in_older_files(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", pa.table({"patient_id": [1, 2]}))
    more = pa.table({"patient_id": [3], "cost": [4]})
    write_deltalake(tmp_path / "t", more, mode="append", schema_mode="merge")
    engine = opened(f"{tmp_path}/t/")
    found = exact(engine, count(private(engine), keys=(column("cost"),)))
    assert [each["k0"] for each in found] == [4, None]
    assert rows_in(engine) == 3
    engine.close()


def test_a_table_without_rows_is_read(visits: Path) -> None:
    DeltaTable(visits).delete()
    engine = opened(f"{visits}/")
    assert rows_in(engine) == 0
    engine.close()


def test_files_below_a_delta_table_are_never_read_without_its_log(visits: Path) -> None:
    for place in (f"{visits}/*/*/*/*.parquet", f"{visits}/day=2024-01-01/"):
        with pytest.raises(SourceError, match="belong to a Delta table"):
            opened(place)


@pytest.mark.parametrize("table", ["lake", "lake/Ab", "lake/site=a", "lake/a[1]"])
def test_files_anywhere_in_a_delta_table_are_never_read_without_its_log(
    tmp_path: Path, table: str
) -> None:
    """Files may lie in folders of any name, and a table in a folder named after a value."""
    write_deltalake(tmp_path / "made", pa.table({"patient_id": [1, 2]}))
    folder = tmp_path / table
    folder.parent.mkdir(exist_ok=True)
    (tmp_path / "made").rename(folder)
    file = next(folder.glob("*.parquet"))
    (folder / "Xy").mkdir()
    file.rename(folder / "Xy" / file.name)
    for place in ("", f"{'*/' * (table.count('/') + 1)}Xy/*.parquet"):
        with pytest.raises(SourceError, match="belong to a Delta table"):
            opened(f"{tmp_path}/{place}")


def test_the_log_of_another_folder_is_never_read(tmp_path: Path) -> None:
    """The library that reads logs takes %20 in a path for a space."""
    write_deltalake(tmp_path / "made", pa.table({"patient_id": [1, 2]}))
    shutil.copytree(tmp_path / "made", tmp_path / "a b")
    DeltaTable(tmp_path / "made").delete("patient_id = 2")
    (tmp_path / "made").rename(tmp_path / "a%20b")
    with pytest.raises(SourceError, match="has a % in it"):
        opened(f"{tmp_path}/a%20b/")


# --------------------------------------------------------------------------- what is rejected


def rewritten(folder: Path, changed: Mapping[str, Mapping[str, object]]) -> None:
    """Change actions in the first entry of a table's log."""
    log = folder / "_delta_log" / "00000000000000000000.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for each in actions:
        for kind, changes in changed.items():
            if kind in each:
                each[kind] |= changes
    log.write_text("\n".join(map(json.dumps, actions)))


def using(feature: str) -> dict[str, Mapping[str, object]]:
    features = {"readerFeatures": [feature], "writerFeatures": [feature]}
    return {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}}


def deleted(*positions: int) -> dict[str, object]:
    """Return a deletion vector that stands in the log itself."""
    values = struct.pack(f"<{len(positions)}H", *positions)
    bitmap = struct.pack("<IIHHI", 12346, 1, 0, len(positions) - 1, 16) + values
    whole = struct.pack("<IQI", 1681511377, 1, 0) + bitmap
    whole += bytes(-len(whole) % 4)
    python = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
    z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    written = base64.b85encode(whole).decode().translate(str.maketrans(python, z85))
    told = {"storageType": "i", "pathOrInlineDv": written, "sizeInBytes": len(whole)}
    return {**told, "cardinality": len(positions)}


def field(number: int, name: str, stored: str) -> dict[str, object]:
    """Return a column that files store under another name."""
    mapping = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": stored}
    return {"name": name, "type": "long", "nullable": True, "metadata": mapping}


FIELDS = [field(1, "patient_id", "cost"), field(2, "cost", "patient_id")]
MAPPED: Mapping[str, object] = {
    "configuration": {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"},
    "schemaString": json.dumps({"type": "struct", "fields": FIELDS}),
}

REFUSED: dict[str, dict[str, Mapping[str, object]]] = {
    "deletion vectors": {
        **using("deletionVectors"),
        "add": {"deletionVector": deleted(0, 2)},
    },
    "column mapping": {**using("columnMapping"), "metaData": MAPPED},
    "type widening": using("typeWidening"),
    "variant columns": using("variantType-preview"),
}

UNREADABLE = ["catalogManaged", "whatIsYetToCome"]


@pytest.mark.parametrize("what", REFUSED)
def test_what_files_alone_do_not_show_is_refused_by_its_name(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "t"
    write_deltalake(folder, pa.table({"patient_id": [1, 2, 3], "cost": [4, 5, 6]}))
    opened(f"{folder}/").close()
    rewritten(folder, REFUSED[what])
    with pytest.raises(SourceError, match=f"visits uses {what}") as found:
        opened(f"{folder}/")
    assert found.value.__cause__ is None


@pytest.mark.parametrize("feature", UNREADABLE)
def test_what_nobody_here_can_read_is_refused(tmp_path: Path, feature: str) -> None:
    write_deltalake(tmp_path / "t", pa.table({"patient_id": [1, 2, 3]}))
    rewritten(tmp_path / "t", using(feature))
    with pytest.raises(SourceError, match=f"could not be read|visits uses {feature}"):
        opened(f"{tmp_path}/t/")


def test_deletion_vectors_that_no_file_has_are_no_reason(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", pa.table({"patient_id": [1, 2, 3]}))
    rewritten(tmp_path / "t", using("deletionVectors"))
    engine = opened(f"{tmp_path}/t/")
    assert rows_in(engine) == 3
    engine.close()


def test_folders_that_say_something_else_than_the_log_are_refused(tmp_path: Path) -> None:
    """Spark would read the value from the name of the folder."""
    folder = tmp_path / "t"
    write_deltalake(folder, ROWS, partition_by=["cost"])
    rewritten(folder, {"add": {"partitionValues": {"cost": "9"}}})
    with pytest.raises(SourceError, match="not named after the values of its partition"):
        opened(f"{folder}/")
    other = pa.table({"patient_id": [1], "place": ["ü"]})
    write_deltalake(tmp_path / "u", other, partition_by=["place"])
    with pytest.raises(SourceError, match="not named after the values of its partition"):
        opened(f"{tmp_path}/u/")


def test_a_partition_by_numbers_that_can_be_written_in_many_ways_is_refused(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", pa.table({"u": [1], "x": [0.5]}), partition_by=["x"])
    with pytest.raises(SourceError, match="partitioned by 'x', whose type is double"):
        opened(f"{tmp_path}/t/")


def test_files_with_other_types_than_the_log_says_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    write_deltalake(folder, pa.table({"u": [1, 2]}))
    (file,) = folder.glob("*.parquet")
    for name in ("u", "U"):
        pq.write_table(pa.table({name: ["1", "2"]}), file)
        with pytest.raises(SourceError, match="store a column with different types"):
            opened(f"{folder}/")


def test_the_extra_is_named(visits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(MissingExtraError, match=r"discreet\[delta\]"):
        opened(f"{visits}/")
