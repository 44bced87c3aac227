"""Opening data: what files hold, what they are declared to be, and when they are others."""

import os
from pathlib import Path

import duckdb
import pytest

import discreet
from discreet.catalog.schema import Kind
from discreet.errors import DiscreetError, ParameterError, SourceError

AGES = "who,age,day\n" + "".join(f"{i},{20 + i % 50},2024-01-{1 + i % 28:02}\n" for i in range(300))

CATALOG = """
[budget]
epsilon = 100

[tables.people]
from = "people.csv"
unit = "who"
rows_per_unit = 1

[tables.people.columns]
who = { type = "integer" }
age = { type = "integer", bounds = [0, 120] }
day = { type = "date", bounds = [2024-01-01, 2024-12-31] }
"""


def written(folder: Path, text: str) -> Path:
    (folder / "people.csv").write_text(text, encoding="utf-8")
    (folder / "discreet.toml").write_text(CATALOG, encoding="utf-8")
    return folder / "discreet.toml"


@pytest.mark.parametrize("row", ["777,37.5,2024-02-01", "777,x,2024-02-01", "777,40,soon", "x,4,"])
def test_no_row_decides_what_a_declared_column_is(tmp_path: Path, row: str) -> None:
    with discreet.open(written(tmp_path, AGES)) as without:
        alone = without.catalog, without.ask("SELECT SUM(age) FROM people", epsilon=1).to_arrow()
    for file in tmp_path.glob("*.ledger*"):
        file.unlink()
    with discreet.open(written(tmp_path, f"{AGES}{row}\n")) as within:
        answer = within.ask("SELECT SUM(age) FROM people", epsilon=1)
        assert within.catalog == alone[0]
        assert answer.to_arrow().schema == alone[1].schema


def test_what_a_declared_column_cannot_hold_is_null(tmp_path: Path) -> None:
    text = "who,age,day\n1,10,2024-01-01\n2,x,never\n3,,\n"
    with discreet.open(written(tmp_path, text)) as people:
        answer = people.ask("SELECT COUNT(*), COUNT(age), COUNT(day) FROM people", epsilon=99)
    assert list(answer.rows[0].values()) == [3, 1, 1]


def test_a_column_that_is_not_declared_is_what_all_its_values_are(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,x\n1,2\n2,2.5\n", encoding="utf-8")
    with discreet.open(tmp_path / "t.csv", unit="who", epsilon=1) as curator:
        assert [each.kind for each in curator.catalog.tables[0].columns] == [
            Kind.INTEGER,
            Kind.REAL,
        ]


COUNT = "SELECT COUNT(*) AS n FROM people"


def test_a_file_written_again_is_asked_again(tmp_path: Path) -> None:
    catalog = written(tmp_path, AGES)
    with discreet.open(catalog) as people:
        assert not people.ask(COUNT, epsilon=1).was_kept
    with discreet.open(catalog) as people:
        assert people.ask(COUNT, epsilon=1).was_kept
    file = tmp_path / "people.csv"
    state = file.stat()
    file.write_text(AGES.replace("20", "21"), encoding="utf-8")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    with discreet.open(catalog) as people:
        assert not people.ask(COUNT, epsilon=1).was_kept


def test_all_tables_of_a_duckdb_file_are_opened(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT range AS who, range AS x FROM range(9)")
        connection.execute("CREATE TABLE people AS SELECT range AS who FROM range(9)")
    file = tmp_path / "clinic.duckdb"
    with discreet.open(file, unit="who", rows_per_unit=1, epsilon=100) as clinic:
        sql = "SELECT COUNT(*) AS n FROM visits JOIN people USING (who)"
        assert clinic.ask(sql, epsilon=90).rows == [{"n": 9}]


@pytest.mark.parametrize(
    ("source", "given", "error", "says"),
    [
        ("nowhere.csv", {"epsilon": 1, "unit": "who"}, SourceError, "does not exist"),
        ("people.csv", {"unit": "who"}, ParameterError, "epsilon"),
        ("people.csv", {"epsilon": 1}, DiscreetError, "unit"),
        ("people.csv", {"epsilon": 1, "unit": "whom"}, DiscreetError, "who"),
        ("discreet.toml", {"epsilon": 1}, ParameterError, "declared in the catalog"),
        ("people.xlsx", {"epsilon": 1, "unit": "who"}, SourceError, "no known kind"),
    ],
)
def test_what_cannot_be_opened_is_said_in_a_sentence(
    tmp_path: Path, source: str, given: dict[str, object], error: type[Exception], says: str
) -> None:
    written(tmp_path, AGES)
    (tmp_path / "people.xlsx").write_bytes(b"PK")
    with pytest.raises(error, match=says):
        discreet.open(tmp_path / source, **given)  # type: ignore[arg-type]
