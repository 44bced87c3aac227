"""Columns of files that tell units or rows apart are read one-to-one, or the file is refused."""

import gzip
from collections import Counter
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.catalog.schema import Kind
from discreet.engines.duckdb import DuckDbEngine, csv_files
from discreet.engines.duckdb.csv_files import first_not_written
from discreet.errors import CatalogError, SourceError

COUNT = "SELECT COUNT(DISTINCT who) AS n FROM t"


def written(folder: Path, values: list[str]) -> Path:
    file = folder / "t.csv"
    file.write_text("who,x\n" + "".join(f"{each},1\n" for each in values), encoding="utf-8")
    return file


BAD = [
    ("integer", "0.4"),
    ("integer", "7.5"),
    ("integer", "7.0"),
    ("integer", "0x10"),
    ("integer", "0b11"),
    ("integer", "1_000"),
    ("integer", "1e3"),
    ("integer", "007"),
    ("integer", "+7"),
    ("integer", "-0"),
    ("integer", " 7"),
    ("integer", "9223372036854775808"),
    ("integer", "anna"),
    ("date", "2024-1-5"),
    ("date", "2024/01/05"),
    ("date", "2024-01-05 10:00:00"),
    ("date", "2024-02-30"),
    ("date", "infinity"),
    ("timestamp", "2024-01-05 10:00:00.1234567"),
    ("timestamp", "2024-01-05 10:00:00+02"),
    ("timestamp", "2024-01-05 24:00:00"),
    ("timestamp", "2024-01-05"),
    ("timestamp with time zone", "2024-01-05 10:00:00"),
    ("timestamp with time zone", "2024-01-05 10:00:00 Europe/Berlin"),
]
GOOD = {
    "integer": ["0", "7", "-12", "9223372036854775807", ""],
    "date": ["2024-01-05", "0001-01-01", "9999-12-31"],
    "timestamp": ["2024-01-05 10:00:00", "2024-01-05T10:00:00.123456"],
    "timestamp with time zone": ["2024-01-05 10:00:00Z", "2024-01-05 10:00:00.5+02:00"],
    "text": ["007", "7", "0x7", " 7", "7.0"],
}


@pytest.mark.parametrize(("kind", "value"), BAD)
def test_a_unit_that_is_not_written_as_its_type_is_refused_with_its_line(
    tmp_path: Path, kind: str, value: str
) -> None:
    file = written(tmp_path, [*GOOD[kind], value])
    with pytest.raises(SourceError) as caught:
        discreet.open(file, unit="who", types={"who": kind}, epsilon=1)
    assert str(caught.value).startswith("A value of 'who', ")
    assert f"t.csv, line {len(GOOD[kind]) + 2})." in str(caught.value)
    told = str(caught.value).split("is not an integer of 64 bits: 7 or -12")[0]
    assert len(value) < 4 or value not in told.replace(str(tmp_path), "")


@pytest.mark.parametrize("kind", GOOD)
def test_units_that_are_written_as_their_type_are_all_told_apart(tmp_path: Path, kind: str) -> None:
    file = written(tmp_path, GOOD[kind])
    with discreet.open(file, unit="who", types={"who": kind}, epsilon=100) as curator:
        found = curator.ask(COUNT, epsilon=99).rows[0]["n"]
    assert found == len([each for each in GOOD[kind] if each])


@pytest.mark.parametrize("kind", ["real", "boolean"])
def test_a_kind_with_many_spellings_of_a_value_is_no_unit_of_a_csv_file(
    tmp_path: Path, kind: str
) -> None:
    file = written(tmp_path, ["1", "0"])
    with pytest.raises(CatalogError, match=r'write who = \{ type = "text" \}'):
        discreet.open(file, unit="who", types={"who": kind}, epsilon=1)


def test_numbers_too_long_to_tell_apart_are_no_units_either_if_no_type_is_declared(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, ["12345678901234567890", "12345678901234567891"])
    with pytest.raises(SourceError, match=r"'who'.*of 64 bits.*line 2\)"):
        discreet.open(file, unit="who", epsilon=1)
    file = written(tmp_path, ["0.1", "0.10"])
    with pytest.raises(CatalogError, match="cannot be compared reliably"):
        discreet.open(file, unit="who", epsilon=1)


def test_a_rounded_column_stays_one_when_its_type_is_declared(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE t (who DECIMAL(38, 3), x INTEGER)")
    with pytest.raises(CatalogError, match="cannot be compared reliably"):
        discreet.open(tmp_path / "t.db", unit="who", types={"who": "real"}, epsilon=1)


CATALOG = """
[budget]
epsilon = 1
[tables.visits]
from = "visits.csv"
unit = "who"
key = "visit"
[tables.visits.columns]
who = {{ type = "integer" }}
visit = {{ type = "{kind}" }}
[tables.items]
from = "items.csv"
unit = "visits.who via visit"
[tables.items.columns]
visit = {{ type = "{kind}" }}
"""


@pytest.mark.parametrize("file", ["visits.csv", "items.csv"])
def test_keys_that_a_path_compares_are_read_as_strictly_as_units(tmp_path: Path, file: str) -> None:
    (tmp_path / "visits.csv").write_text("who,visit\n1,10\n2,11\n")
    (tmp_path / "items.csv").write_text("x,visit\n1,10\n2,11\n")
    catalog = tmp_path / "discreet.toml"
    catalog.write_text(CATALOG.format(kind="integer"))
    discreet.open(catalog).close()
    with (tmp_path / file).open("a") as stream:
        stream.write("3,10.4\n")
    with pytest.raises(SourceError, match=rf"'visit'.*{file}, line 4\)"):
        discreet.open(catalog)
    catalog.write_text(CATALOG.format(kind="real"))
    with pytest.raises(CatalogError, match="visit, whose values cannot be compared"):
        discreet.open(catalog)


def test_the_line_is_counted_over_quoted_fields_and_in_compressed_files(tmp_path: Path) -> None:
    file = tmp_path / "t.csv.gz"
    file.write_bytes(gzip.compress(b'x,who\n"a\nb",1\nc,2.5\n'))
    with pytest.raises(SourceError, match=r"'who'.*t\.csv\.gz, line 4\)"):
        discreet.open(file, unit="who", types={"who": "integer"}, epsilon=1)


def test_a_number_of_another_column_is_read_exactly_or_not_at_all(tmp_path: Path) -> None:
    texts = ["7", "007", "+7", " 7 ", "7.0", "7.5", "0x10", "1_000", "1e3", "anna"]
    file = written(tmp_path, texts)
    kinds = {"t": {"who": Kind.INTEGER}}
    with closing(DuckDbEngine.load({"t": file}, kinds=kinds)) as engine:
        assert engine.table("t").column("who").to_pylist() == [7] * 5 + [None] * 5
    kinds = {"t": {"who": Kind.REAL}}
    with closing(DuckDbEngine.load({"t": file}, kinds=kinds)) as engine:
        expected = [7.0] * 5 + [7.5, None, None, 1000.0, None]
        assert engine.table("t").column("who").to_pylist() == expected


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (
            Kind.INTEGER,
            ["".join(each) for n in range(1, 5) for each in product("01-+._xe ", repeat=n)],
        ),
        (
            Kind.DATE,
            [
                f"{year}{a}{month}{b}{day}{end}"
                for year in ("2024", "02024", "24", "-2024", "0000", "10000")
                for a, b in product("-/ ", repeat=2)
                for month in ("01", "1", "13")
                for day in ("05", "5", "32")
                for end in ("", " ", " (BC)", " 00:00", "T00:00:00Z")
            ],
        ),
    ],
)
def test_no_two_texts_are_read_as_one_value(tmp_path: Path, kind: Kind, texts: list[str]) -> None:
    """By all short texts: what DuckDB reads is one-to-one, and Python finds the same at fault."""
    sql = csv_files.written_as("x", kind).replace(f"error('{csv_files.NOT_WRITTEN}')", "NULL")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (x VARCHAR)")
        connection.execute("INSERT INTO t SELECT unnest(?)", [texts])
        found = connection.execute(f"SELECT x, {sql} FROM t").fetchall()  # noqa: S608
    read = [(text, value) for text, value in found if value is not None]
    assert len(read) > 1 or kind is Kind.DATE
    assert set(Counter(value for _, value in read).values()) == {1}
    file = tmp_path / "t.csv"
    for text, value in found[::7] + read:
        file.write_text(f'x\n"{text}"\n')
        error = str(first_not_written((file,), ",", {0: ("x", kind)}))
        assert ("line 2" in error) == (value is None), text


# --------------------------------------------------------------------------- Parquet, folders


OTHER_TYPES: dict[str, tuple[Any, Any]] = {
    "integer, then real": (pa.array([1, 2]), pa.array([7.1, 7.2])),
    "integer, then text": (pa.array([1, 2]), pa.array(["7", "07", " 7"])),
    "date, then timestamp": (
        pa.array([1], pa.date32()),
        pa.array([1, 2], pa.timestamp("us")),
    ),
    "timestamps by the nanosecond": (
        pa.array([1], pa.timestamp("us")),
        pa.array([1001, 1002], pa.timestamp("ns")),
    ),
    "reals of 32 bits first": (
        pa.array([1.5], pa.float32()),
        pa.array([1.00000001, 1.00000002]),
    ),
}


@pytest.mark.parametrize("types", OTHER_TYPES)
def test_parquet_files_that_store_units_as_other_types_are_refused(
    tmp_path: Path, types: str
) -> None:
    """DuckDB casts to the type in the first file, and would make one person of several."""
    for name, units in zip("ab", OTHER_TYPES[types], strict=True):
        pq.write_table(pa.table({"who": units}), tmp_path / f"{name}.parquet")
    with pytest.raises(SourceError, match=r"'who' identifies .*b\.parquet and"):
        discreet.open(tmp_path / "*.parquet", name="t", unit="who", epsilon=1)


def test_parquet_files_may_store_units_as_integers_of_other_widths(tmp_path: Path) -> None:
    pq.write_table(pa.table({"WHO": [2**40], "x": [1]}), tmp_path / "a.parquet")
    narrow = pa.table({"x": [1.5], "who": pa.array([7], pa.int16())})
    pq.write_table(narrow, tmp_path / "b.parquet")
    with discreet.open(tmp_path / "*.parquet", name="t", unit="who", epsilon=100) as curator:
        assert curator.ask(COUNT, epsilon=99).rows[0]["n"] == 2


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names_of_folders_replace_no_units(tmp_path: Path, kind: str) -> None:
    """DuckDB takes x of the folder x=1 for a column, instead of the one that the file has."""
    folder = tmp_path / "who=1"
    folder.mkdir()
    file = written(folder, ["1", "2", "3"])
    if kind == "parquet":
        file = folder / "t.parquet"
        pq.write_table(pa.table({"who": [1, 2, 3]}), file)
    with discreet.open(file, unit="who", epsilon=100) as curator:
        assert curator.ask(COUNT, epsilon=99).rows[0]["n"] == 3
