"""Loading: a table comes in whole and clean, or the owner is told which line is at fault."""

import gzip
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.catalog.schema import Column, Kind
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb.csv_files import column_from_type
from discreet.engines.duckdb.frames import Frame
from discreet.engines.duckdb.loading import DataSource, DuckDbTable
from discreet.errors import CatalogError, SourceError

TWO: dict[str, list[Any]] = {"patient_id": [1, 2], "region": ["n", None]}


def rows(source: DataSource) -> list[dict[str, Any]]:
    engine = DuckDbEngine.load({"t": source})
    found: list[dict[str, Any]] = engine.table("t").to_pylist()
    engine.close()
    return found


def kinds(source: DataSource) -> dict[str, Kind]:
    engine = DuckDbEngine.load({"t": source})
    found = {each.name: each.kind for each in engine.columns("t")}
    engine.close()
    return found


@pytest.fixture
def csv(tmp_path: Path) -> Callable[[bytes | str], Path]:
    def write(content: bytes | str) -> Path:
        path = tmp_path / "visits.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame])
def test_frames_of_every_make_are_loaded(make: Callable[[dict[str, Any]], Frame]) -> None:
    assert rows(make(TWO)) == [{"patient_id": 1, "region": "n"}, {"patient_id": 2, "region": None}]


def test_files_of_every_make_are_loaded(tmp_path: Path, csv: Callable[[str], Path]) -> None:
    expected = rows(pa.table(TWO))
    pq.write_table(pa.table(TWO), tmp_path / "t.parquet")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE t (patient_id INTEGER NOT NULL, region VARCHAR)")
        connection.execute("INSERT INTO t VALUES (1, 'n'), (2, NULL)")
    text = "patient_id,region\n1,n\n2,\n"
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert rows(tmp_path / "t.parquet") == expected
    assert rows(str(tmp_path / "t.duckdb")) == expected
    assert rows(DuckDbTable(file=tmp_path / "t.duckdb", table="T")) == expected
    assert rows(tmp_path / "t.csv.gz") == expected
    assert rows(csv(text)) == expected
    assert rows(csv(text.replace(",", ";"))) == expected
    assert rows(csv(text.replace("\n", "\r\n"))) == expected
    assert rows(csv("\ufeff" + text)) == expected


def test_several_files_are_one_table(tmp_path: Path) -> None:
    for n in (1, 2):
        (tmp_path / f"part{n}.csv").write_text(f"patient_id,region\n{n},n\n")
        pq.write_table(pa.table({"patient_id": [n]}), tmp_path / f"part{n}.parquet")
    assert len(rows(str(tmp_path / "part*.csv"))) == 2
    assert len(rows(str(tmp_path / "part*.parquet"))) == 2
    (tmp_path / "part3.csv").write_text("other,region\n3,n\n")
    with pytest.raises(SourceError, match="different headers"):
        rows(str(tmp_path / "part*.csv"))


def test_a_file_whose_name_is_a_pattern_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "a[1]*'.csv").write_text("x\n1\n")
    (tmp_path / "a1.csv").write_text("x\n2\n")
    assert rows(tmp_path / "a[1]*'.csv") == [{"x": 1}]


BROKEN: dict[str, tuple[bytes, str]] = {
    "too few fields": (b"a,b\n1,2\n3\n4,5\n", "There is 1 field instead of 2 (FILE, line 3)."),
    "too many fields": (b"a,b\n1,2\n3,4,5\n", "There are 3 fields instead of 2 (FILE, line 3)."),
    "late": (
        b"a,b\n" + b"1,2\n" * 30_000 + b"3\n",
        "There is 1 field instead of 2 (FILE, line 30002).",
    ),
    "unclosed quote": (b'a,b\n1,2\n3,"x\n4,5\n', "A quote is not closed (FILE, line 3)."),
    "latin-1": ("a,b\n1,2\nx,café\n".encode("latin-1"), "The text is not UTF-8 (FILE, line 3)."),
    "latin-1 header": ("a,café\n1,2\n".encode("latin-1"), "The text is not UTF-8 (FILE, line 1)."),
    "twice": (b"a,A\n1,2\n", "Two columns are called 'A' (FILE, line 1)."),
    "unnamed": (b"a,\n1,2\n", "Column 2 has no name (FILE, line 1)."),
    "no header": (b"1,2\n3,4\n", "The first line looks like data (FILE, line 1)."),
    "empty": (b"", "There is no header (FILE, line 1)."),
    "NUL": (b"a,b\n1,2\nx\x00y,2\n", "There is a NUL character (FILE, line 3)."),
    "mixed endings": (
        b"a,b\r\n1,2\r\n3,4\n",
        "This line ends differently from the lines above it (FILE, line 3).",
    ),
    "preamble": (b"# made in March\na,b\n1,2\n", "line"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_with_its_line(name: str, csv: Callable[[bytes], Path]) -> None:
    content, message = BROKEN[name]
    file = csv(content)
    with pytest.raises(SourceError) as caught:
        rows(file)
    assert message.replace("FILE", str(file)) in str(caught.value)
    assert "visits.csv" in str(caught.value)
    assert caught.value.__cause__ is None or not isinstance(caught.value.__cause__, duckdb.Error)


def test_numbers_that_are_none_become_null(csv: Callable[[str], Path]) -> None:
    path = csv("x,y\nnan,1\nNaN,2\ninf,3\n-inf,4\n1e400,5\n,6\n-0,7\n1.5,8\n")
    found = [row["x"] for row in rows(path)]
    assert found == [None, None, None, None, None, None, 0.0, 1.5]


def test_a_column_of_digits_with_one_text_is_text(csv: Callable[[str], Path]) -> None:
    path = csv("id,y\n" + "".join(f"{n},1\n" for n in range(30_000)) + "x7,1\n")
    assert kinds(path) == {"id": Kind.TEXT, "y": Kind.INTEGER}
    assert rows(path)[-1] == {"id": "x7", "y": 1}


def test_numbers_with_leading_zeros_stay_apart(csv: Callable[[str], Path]) -> None:
    assert [row["id"] for row in rows(csv("id\n007\n7\n"))] == ["007", "7"]


def test_quoted_fields_keep_their_contents(csv: Callable[[str], Path]) -> None:
    (row,) = rows(csv('"a, ""x""",b\n"=cmd()\n<b>","he said ""hi"""\n'))
    assert row == {'a, "x"': "=cmd()\n<b>", "b": 'he said "hi"'}


def test_a_header_alone_is_an_empty_table(csv: Callable[[str], Path]) -> None:
    assert rows(csv("a,b\n")) == []


def test_values_that_expressions_cannot_have_are_cleaned() -> None:
    frame = pa.table(
        {
            "f": pa.array([float("nan"), float("inf"), 1.5], pa.float32()),
            "d": pa.array([10**8, -(10**8), 0], pa.int32()).cast(pa.date32()),
            "t": pa.array([2**62, -(2**62), 0], pa.timestamp("us")),
            "s": pa.array([2**62, -(2**62), 0], pa.timestamp("s")),
            "n": pa.array([Decimal("1.25"), None, Decimal("2.00")], pa.decimal128(10, 2)),
            "i": pa.array([10**30, None, 5], pa.decimal128(38, 0)),
        }
    )
    assert rows(frame) == [
        {"f": None, "d": None, "t": None, "s": None, "n": 1.25, "i": 10**30},
        {"f": None, "d": None, "t": None, "s": None, "n": None, "i": None},
        {
            "f": 1.5,
            "d": date(1970, 1, 1),
            "t": datetime(1970, 1, 1),
            "s": datetime(1970, 1, 1),
            "n": 2.0,
            "i": 5,
        },
    ]


@pytest.mark.parametrize(
    ("type_name", "kind"),
    [
        ("BOOLEAN", Kind.BOOLEAN),
        ("UTINYINT", Kind.INTEGER),
        ("HUGEINT", Kind.INTEGER),
        ("DECIMAL(38,0)", Kind.INTEGER),
        ("DECIMAL(10,2)", Kind.REAL),
        ("FLOAT", Kind.REAL),
        ("ENUM('a', 'b')", Kind.TEXT),
        ("UUID", Kind.TEXT),
        ("TIMESTAMP_NS", Kind.TIMESTAMP),
        ("TIMESTAMP WITH TIME ZONE", Kind.TIMESTAMP_TZ),
        ("INTEGER[]", Kind.OTHER),
        ("BLOB", Kind.OTHER),
        ("TIME", Kind.OTHER),
        ("INTERVAL", Kind.OTHER),
        ("STRUCT(a INTEGER)", Kind.OTHER),
    ],
)
def test_types_are_folded_into_kinds(type_name: str, kind: Kind) -> None:
    assert column_from_type("x", type_name).kind is kind


def test_a_decimal_says_its_step() -> None:
    assert column_from_type("x", "DECIMAL(10,2)").step == Fraction(1, 100)


@pytest.mark.parametrize(
    ("kind", "is_refused"),
    [
        ("DECIMAL(18, 2)", True),
        ("TIMESTAMP_NS", True),
        ("DECIMAL(15, 2)", False),
        ("DECIMAL(38, 0)", False),
        ("DOUBLE", False),
        ("TIMESTAMP", False),
    ],
)
def test_values_that_are_rounded_when_they_are_read_are_no_units(
    tmp_path: Path, kind: str, is_refused: bool
) -> None:
    """Units that differ in the data would be one here, and share its rows."""
    file = tmp_path / "t.db"
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE TABLE t (who {kind}, i INTEGER)")
    refused = pytest.raises(CatalogError, match="cannot be compared reliably")
    with refused if is_refused else nullcontext():
        discreet.open(file, unit="who", epsilon=1).close()


def test_a_database_says_which_columns_have_no_null(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE t (i INTEGER NOT NULL, x DOUBLE NOT NULL, s VARCHAR)")
    engine = DuckDbEngine.load({"t": tmp_path / "t.db"})
    assert engine.columns("T") == (
        Column(name="i", kind=Kind.INTEGER, nulls=False),
        Column(name="x", kind=Kind.REAL),
        Column(name="s", kind=Kind.TEXT),
    )
    engine.close()


def database_with_collations(file: Path) -> Path:
    with duckdb.connect(str(file)) as connection:
        for name in ("visits", "rooms"):
            connection.execute(
                f"CREATE TABLE {name} (id INTEGER, who VARCHAR COLLATE NOCASE, é VARCHAR)"
            )
            connection.execute(f"INSERT INTO {name} VALUES (1, 'a', 'ü'), (2, 'A', NULL)")  # noqa: S608
    return file


def test_texts_of_a_database_that_are_equal_are_the_same(tmp_path: Path) -> None:
    """With a collation of its own a public row would meet more private ones than were counted."""
    file = database_with_collations(tmp_path / "t.db")
    with discreet.open(
        {"visits": file, "rooms": file}, unit={"visits": "id"}, public=["rooms"], epsilon=100
    ) as curator:
        engine = curator._engine
        assert isinstance(engine, DuckDbEngine)
        joined = "FROM every.visits v JOIN rooms r ON v.who = r.who"
        with engine._store.cursor() as cursor:
            assert cursor.execute(f"SELECT count(*), count(v.é) {joined}").fetchall() == [(2, 1)]
            groups = "SELECT count(DISTINCT who), max(é) FROM every.visits"
            assert cursor.execute(groups).fetchall() == [(2, "ü")]


def test_texts_that_a_database_takes_for_one_are_no_units(tmp_path: Path) -> None:
    """By NOCASE 'a' and 'A' are one person, and two by their bytes."""
    file = database_with_collations(tmp_path / "t.db")
    with pytest.raises(CatalogError, match="cannot be compared reliably"):
        discreet.open({"visits": file}, unit="who", epsilon=1)
    discreet.open({"visits": file}, unit="é", epsilon=1).close()


def test_awkward_columns_of_frames_are_loaded() -> None:
    frame = pa.table(
        {
            "l": [[1, 2], None],
            "c": pa.array(["a", "b"]).dictionary_encode(),
            "z": pa.array([datetime(2024, 1, 1, tzinfo=UTC), None]),
            "nothing": pa.nulls(2),
        }
    )
    assert kinds(frame)["l"] is Kind.OTHER
    assert kinds(frame)["c"] is Kind.TEXT
    assert kinds(frame)["z"] is Kind.TIMESTAMP_TZ
    assert [row["nothing"] for row in rows(frame)] == [None, None]


def test_an_index_of_pandas_is_no_column() -> None:
    frame = pd.DataFrame({"x": [1, 2]}, index=["a", "b"])
    assert rows(frame) == [{"x": 1}, {"x": 2}]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Path("nowhere.csv"), "does not exist"),
        (Path("no*where.csv"), "does not exist"),
        (Path("nowhere.duckdb"), "does not exist"),
        (Path("pyproject.toml"), "not a supported kind of file"),
        (pd.DataFrame({"x": [1, "a", 2.5]}), "values of several types"),
        (pa.table([pa.array([1]), pa.array([2])], names=["x", "X"]), "two columns called 'X'"),
    ],
)
def test_a_source_that_cannot_be_used_is_named(source: DataSource, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        rows(source)


def test_a_file_that_is_not_what_it_says_is_refused(tmp_path: Path) -> None:
    for name in ("t.parquet", "t.duckdb"):
        (tmp_path / name).write_bytes(b"not that")
        with pytest.raises(SourceError):
            rows(tmp_path / name)


def test_a_table_that_the_database_lacks_is_named(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE visits (i INTEGER)")
    with pytest.raises(SourceError, match="Available tables: visits"):
        rows(DuckDbTable(file=tmp_path / "t.db", table="visist"))


def test_a_copy_is_a_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x\n1\n")
    engine = DuckDbEngine.load({"t": path})
    path.write_text("x\n1\n2\n")
    assert engine.table("t").num_rows == 1
    engine.close()


def test_an_unknown_table_is_answered_with_the_nearest() -> None:
    engine = DuckDbEngine.load({"visits": pa.table(TWO)})
    with pytest.raises(SourceError, match="Did you mean visits"):
        engine.columns("visist")
    engine.close()


# --------------------------------------------------------------------------- views of databases

REACHING = (
    "CREATE VIEW t AS SELECT content AS name FROM read_text('{secret}')",
    "CREATE VIEW inner_view AS FROM read_csv('{secret}'); CREATE VIEW t AS FROM inner_view",
    "CREATE MACRO reach(x) AS (SELECT max(content) FROM read_text('{secret}')); "
    "CREATE VIEW t AS SELECT reach(1) AS name",
    "CREATE MACRO rows() AS TABLE FROM read_text('{secret}'); CREATE VIEW t AS FROM rows()",
    "CREATE VIEW t AS SELECT error('raised') AS name",
    "CREATE TABLE base (name TEXT); CREATE VIEW t AS FROM base",
)


@pytest.mark.parametrize("made", REACHING)
def test_a_view_of_a_database_is_not_read(made: str, tmp_path: Path) -> None:
    secret, file = tmp_path / "secret.txt", tmp_path / "t.duckdb"
    secret.write_text("a\nsecret", encoding="ascii")
    with duckdb.connect(str(file)) as connection:
        connection.execute(made.format(secret=secret))
    with pytest.raises(SourceError, match="is a view, and Discreet only reads tables") as refused:
        DuckDbEngine.load({"t": file})
    assert "secret\n" not in str(refused.value)


def test_only_the_tables_of_a_database_are_opened(tmp_path: Path) -> None:
    file = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE visits (id INTEGER, twice INTEGER AS (2 * id))")
        connection.execute("INSERT INTO visits VALUES (1), (2)")
        connection.execute("CREATE VIEW reach AS FROM read_text('/etc/hostname')")
        connection.execute("CREATE SCHEMA other; CREATE TABLE other.apart (id INTEGER)")
    with discreet.open(file, unit="id", epsilon=1) as curator:
        assert [each.name for each in curator.catalog.tables] == ["visits"]
    assert rows(DuckDbTable(file=file, table="visits")) == [
        {"id": 1, "twice": 2},
        {"id": 2, "twice": 4},
    ]


CUT: dict[str, Frame] = {
    "a date first": pd.DataFrame(
        {"who": pd.Series([date(2024, 1, 1), datetime(2024, 1, 1, 5)], dtype=object)}
    ),
    "milliseconds": pa.table(
        {"who": pa.Array.from_buffers(pa.date64(), 2, pa.array([0, 1]).buffers())}
    ),
}


@pytest.mark.parametrize("frame", CUT)
def test_times_of_day_among_dates_are_refused(frame: str) -> None:
    """Read as dates, two people whose units differ by the hour would be one."""
    with pytest.raises(SourceError, match=r"'who' of the table .* mixes dates with times of day"):
        discreet.open(CUT[frame], name="t", unit="who", epsilon=1)


def test_plain_dates_of_frames_are_read() -> None:
    days = [date(2024, 1, 1), None, date(2024, 1, 2)]
    frames: list[Frame] = [
        pd.DataFrame({"d": pd.Series(days, dtype=object)}),
        pa.table({"d": pa.array(days, pa.date64())}),
    ]
    for each in frames:
        assert [row["d"] for row in rows(each)] == days


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["a", "A"])], ids=["any", "listed"])
def test_categories_of_polars_tell_units_apart(kind: Any) -> None:
    frame = pl.DataFrame({"who": pl.Series(["a", "A", None, "a"], dtype=kind)})
    with discreet.open(frame, name="t", unit="who", epsilon=100) as curator:
        count = curator.ask("SELECT COUNT(DISTINCT who) AS n FROM t", epsilon=99)
        assert count.rows[0]["n"] == 2
