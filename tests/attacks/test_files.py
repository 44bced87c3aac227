"""Files made to break loading (cases I1 to I9): refused with their line, or loaded whole."""

from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import CatalogError, DiscreetError, SourceError
from tests.attacks.plans import only
from tests.attacks.twins import SECRET
from tests.attacks.writing import written

SOUND = "u,x\n1,2.5\n2,3.5\n"


@pytest.mark.parametrize(
    "content",
    [
        "u,x\n1,2\n2,3,4\n",
        "u,x\n1,2\n3\n",
        'u,x\n1,"2\n2,3\n',
        b"u,x\n1,\x00\n",
        b"u,x\n1,caf\xe9\n",
        "u,u\n1,2\n",
        "u,\n1,2\n",
        "",
    ],
    ids=["too many", "too few", "open quote", "NUL", "latin-1", "twice", "no name", "empty"],
)
def test_i1_a_broken_file_is_refused_whole(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(SourceError, match=r"t\.csv|table t"):
        discreet.open(written(tmp_path, content), unit="u", epsilon=1)


def test_i1_a_field_of_any_length_is_refused_with_its_line(tmp_path: Path) -> None:
    """The engine reads lines of 2 MB; an open quote may swallow as much of the file."""
    for open_quote in ("", '"'):
        content = f"u,s\n1,a\n2,{open_quote}{'a' * 3_000_000}\n3,b\n"
        with pytest.raises(SourceError, match=r"A field has more than [\d,]+ characters.*line 3\)"):
            discreet.open(written(tmp_path, content), unit="u", epsilon=1)


@pytest.mark.parametrize(
    "content",
    [SOUND.replace("\n", "\r\n"), "\ufeff" + SOUND, SOUND.rstrip(), SOUND.replace(",", ";")],
    ids=["CRLF", "BOM", "no last line end", "semicolons"],
)
def test_i1_files_that_differ_in_layout_are_the_same_table(tmp_path: Path, content: str) -> None:
    with discreet.open(
        written(tmp_path, content), unit="u", bounds={"x": (0, 10)}, rows_per_unit=1, epsilon=200
    ) as curator:
        (row,) = curator.ask("SELECT COUNT(*) AS n, SUM(x) AS s FROM t", epsilon=100).rows
    assert row["n"] == 2
    assert row["s"] == pytest.approx(6, abs=3)


def test_i3_numbers_that_are_none_count_as_null(tmp_path: Path) -> None:
    odd = ["nan", "NaN", "inf", "-inf", "-0", "1e400", ""]
    rows = "".join(f"{n},{text}\n" for n, text in enumerate(odd))
    path = written(tmp_path, f"u,x\n{rows}")
    with discreet.open(
        path, unit="u", bounds={"x": (0, 10)}, rows_per_unit=1, epsilon=1000
    ) as curator:
        (row,) = curator.ask("SELECT COUNT(*) AS n, COUNT(x) AS k FROM t", epsilon=200).rows
        assert row == {"n": 7, "k": 1}
        assert 0 <= only(curator, "SELECT AVG(x) AS a FROM t")["a"] <= 10


@pytest.mark.parametrize("text", ["0x1p3", "0x10", "1,5", "٣", "1e400", "one", "--1"])
def test_i3_what_is_no_decimal_is_null_where_a_number_is_declared(
    tmp_path: Path, text: str
) -> None:
    """No spelling is read as another number than a person reads, and none stops the load."""
    path = written(tmp_path, f'u,x\n1,2.5\n2,"{text}"\n')
    with discreet.open(
        path, unit="u", types={"x": "real"}, bounds={"x": (0, 10)}, rows_per_unit=1, epsilon=200
    ) as curator:
        (row,) = curator.ask("SELECT COUNT(*) AS n, COUNT(x) AS k FROM t", epsilon=100).rows
    assert row == {"n": 2, "k": 1}


def test_i4_a_file_that_is_not_what_it_says_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not a Parquet file"):
        discreet.open(written(tmp_path, "no parquet", "t.parquet"), unit="u", epsilon=1)
    with pytest.raises(SourceError, match="does not exist"):
        discreet.open(tmp_path / "none.parquet", unit="u", epsilon=1)


def test_i4_awkward_columns_of_parquet_are_loaded(tmp_path: Path) -> None:
    table = pa.table(
        {
            "u": pa.array(["a", "b", None]).dictionary_encode(),
            "nested": [[{"k": 1}], [], None],
            "t": pa.array([date(2024, 1, 1)] * 3),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    with discreet.open(tmp_path / "t.parquet", unit="u", rows_per_unit=1, epsilon=200) as curator:
        (row,) = curator.ask("SELECT COUNT(*) AS n, COUNT(nested) AS k FROM t", epsilon=100).rows
    assert row == {"n": 2, "k": 2}


def test_i4_times_of_old_parquet_files_and_units_of_nobody_are_loaded(tmp_path: Path) -> None:
    table = pa.table({"u": [1, None, 3], "t": pa.array([datetime(1600, 1, 1)] * 3)})
    pq.write_table(table, tmp_path / "t.parquet", use_deprecated_int96_timestamps=True)
    with discreet.open(tmp_path / "t.parquet", unit="u", rows_per_unit=1, epsilon=200) as curator:
        sql = "SELECT COUNT(*) FILTER (WHERE year(t) = 1600) AS n FROM t"
        assert curator.ask(sql, epsilon=100).rows == [{"n": 2}]


def test_i4_a_damaged_file_is_read_or_refused_by_name(tmp_path: Path) -> None:
    """Whatever byte is turned over (values have no checksum there), no other error comes out."""
    pq.write_table(pa.table({"u": list(range(50)), "x": [1.0] * 50}), tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    refusals = []
    for place in range(0, len(whole), 67):
        damaged = whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :]
        path = written(tmp_path, damaged, "t.parquet")
        try:
            with discreet.open(path, unit="u", epsilon=2) as curator:
                assert len(curator.ask("SELECT COUNT(*) AS n FROM t", epsilon=1).rows) == 1
        except (SourceError, CatalogError) as refusal:
            refusals.append(str(refusal))
    assert len(refusals) > 5
    assert all("t.parquet" in each or "table t" in each for each in refusals)


def test_i4_a_table_without_the_declared_unit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match='unit="person" is not a column of t'):
        discreet.open(written(tmp_path, SOUND), unit="person", epsilon=1)


@pytest.mark.parametrize(
    "rows",
    [[], [(1, 1.0)], [(1, 1.0)] * 5_000, [(n, 1.0) for n in range(3)] * 2],
    ids=["no rows", "one row", "one person", "duplicates"],
)
def test_i6_tables_of_any_size_are_answered_alike(rows: list[tuple[int, float]]) -> None:
    table = pa.table(
        {
            "u": pa.array([u for u, _ in rows], pa.int64()),
            "x": pa.array([x for _, x in rows], pa.float64()),
        }
    )
    with discreet.open(table, name="t", unit="u", bounds={"x": (0, 1)}, epsilon=10) as curator:
        explained = str(curator.explain("SELECT COUNT(*), SUM(x) FROM t", epsilon=1))
        assert len(curator.ask("SELECT COUNT(*), SUM(x) FROM t", epsilon=1).rows) == 1
        assert curator.remaining.epsilon == 9
    assert "Counts at most 10 rows of each u (the default;" in explained


def test_i7_a_table_is_a_snapshot(tmp_path: Path) -> None:
    path = written(tmp_path, SOUND)
    with discreet.open(path, unit="u", rows_per_unit=1, epsilon=200) as curator:
        path.write_text("u,x\n")
        assert curator.ask("SELECT COUNT(*) AS n FROM t", epsilon=100).rows == [{"n": 2}]


def test_i7_the_budget_outlives_a_change_of_the_data(tmp_path: Path) -> None:
    path, ledger = written(tmp_path, SOUND), tmp_path / "t.ledger"
    with discreet.open(path, unit="u", epsilon=1, ledger=ledger) as curator:
        curator.ask("SELECT COUNT(*) FROM t", epsilon=0.75)
    path.write_text(SOUND + "3,4.5\n")
    with discreet.open(path, unit="u", epsilon=1, ledger=ledger) as curator:
        assert curator.remaining.epsilon * 4 == 1
        with pytest.raises(DiscreetError, match="budget"):
            curator.ask("SELECT COUNT(*) FROM t", epsilon=0.75)


def test_i8_nothing_about_a_column_is_taken_from_the_data(tmp_path: Path) -> None:
    """Bounds and keys that nobody declared stay unknown, however regular the data are."""
    path = written(tmp_path, "u,x,s\n" + "".join(f"{n},1,a\n" for n in range(50)))
    with discreet.open(path, unit="u", epsilon=10) as curator:
        for column in curator.catalog.tables[0].columns:
            assert column.bounds is None
            assert column.values is None
        with pytest.raises(DiscreetError, match="needs bounds for"):
            curator.ask("SELECT SUM(x) FROM t", epsilon=1)
        with pytest.raises(DiscreetError, match="GROUP BY s needs a list of values"):
            curator.ask("SELECT s, COUNT(*) FROM t GROUP BY s", epsilon=1)


@pytest.mark.parametrize("text", ["=cmd()", "+1", "-1", "@x", "<script>", "\x1b[31m", "a\nb"])
def test_i9_texts_are_inert_in_exports(text: str) -> None:
    table = pa.table({"u": list(range(500)), "s": [text] * 500})
    with discreet.open(
        table, name="t", unit="u", epsilon=100, values={"s": [text]}, rows_per_unit=1
    ) as curator:
        answer = curator.ask("SELECT s, COUNT(*) AS n FROM t GROUP BY s", epsilon=50)
    shown, html, lines = str(answer), answer._repr_html_(), str(answer.to_csv()).splitlines()
    assert "\x1b" not in shown
    assert "<script>" not in html
    assert not any(line.startswith(("=", "+", "-", "@")) for line in lines)
    assert SECRET not in shown
