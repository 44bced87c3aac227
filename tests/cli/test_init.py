"""`discreet init` and `discreet prepare`: what a draft has, and the prepared copy."""

import io
import re
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as api
from discreet.opening import read_columns
from tests.cli.conftest import Discreet
from tests.cli.runs import VISITS

ROWS = [f"{each},{each % 90}" for each in range(3000)]
SAID = "GUESS: all types below, from the first 1,000 rows of the CSV file. No other rows were read."


def drafted(folder: Path, discreet: Discreet, rows: list[str]) -> str:
    (folder / "t.csv").write_text("\n".join(["user_id,age", *rows]) + "\n")
    ended = discreet("init", "t.csv", "--output", "new.toml", "--force")
    assert ended.code == 0, ended
    return (folder / "new.toml").read_text()


def test_a_value_behind_the_first_rows_changes_nothing(folder: Path, discreet: Discreet) -> None:
    plain = drafted(folder, discreet, ROWS)
    assert SAID in plain
    assert 'age = { type = "integer" }' in plain
    for odd in ("7,old", "7,1,2,3", "seven,1.5", '7,"never closed'):
        assert drafted(folder, discreet, [*ROWS[:2000], odd, *ROWS[2000:]]) == plain


def test_a_value_among_the_first_rows_decides_and_the_draft_says_so(
    folder: Path, discreet: Discreet
) -> None:
    text = drafted(folder, discreet, [*ROWS[:5], "7,ancient", *ROWS[5:]])
    assert 'age = { type = "text" }' in text
    assert "a single odd value in these rows can decide a type" in text
    assert "ancient" not in text


def test_a_file_that_says_its_types_is_not_guessed(folder: Path, discreet: Discreet) -> None:
    pq.write_table(pa.table({"user_id": [1], "age": [2.5]}), folder / "t.parquet")
    assert discreet("init", "t.parquet", "--output", "new.toml").code == 0
    assert "rows of the CSV file" not in (folder / "new.toml").read_text()


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "-20", ""], "integer"),
        (["007", "7"], "text"),
        (["0x10", "1"], "text"),
        (["1_000"], "text"),
        (["7.0", "7"], "real"),
        (["1e3", ".5", "nan"], "real"),
        (["9223372036854775808"], "real"),
        (["true", "FALSE"], "boolean"),
        (["1", "0"], "integer"),
        (["2024-01-05"], "date"),
        (["05/01/2024"], "text"),
        (["2024-02-30"], "text"),
        (["2024-01-05 10:00:00", "2024-01-05T10:00:00.5"], "timestamp"),
        (["2024-01-05 10:00:00+02"], "timestamp with time zone"),
        (["2024-01-05", "2024-01-05 10:00:00"], "text"),
        (["", ""], "text"),
        ([], "text"),
        (["north"], "text"),
    ],
)
def test_a_type_that_is_guessed_reads_all_that_it_was_guessed_from(
    tmp_path: Path, texts: list[str], kind: str
) -> None:
    file = tmp_path / "t.csv"
    file.write_text("x,u\n" + "".join(f"{each},{n}\n" for n, each in enumerate(texts)))
    found = {each.name: each.kind.value for each in read_columns(file)["t"]}
    assert found["x"] == kind
    with api.open(file, unit="row", types=found, epsilon=100) as curator:
        answer = curator.ask("SELECT COUNT(x) AS n FROM t", epsilon=99)
    assert answer.rows == [{"n": len([each for each in texts if each not in ("", "nan")])}]


def test_what_is_spent_is_spent_on_columns_as_they_are_drafted(
    folder: Path, discreet: Discreet
) -> None:
    (folder / "t.csv").write_text("\n".join(["user_id,age", *ROWS, "3000,old"]) + "\n")
    ended = discreet("init", "t.csv", "-o", "new.toml", "--unit", "user_id", "--find-bounds", "0.9")
    assert ended.code == 0, ended
    assert 'age = { type = "integer", bounds = [' in (folder / "new.toml").read_text()


def test_a_file_that_cannot_be_read_is_refused_with_its_line(
    folder: Path, discreet: Discreet
) -> None:
    (folder / "t.csv").write_text("user_id,age\n1,2\n1,2,3\n")
    ended = discreet("init", "t.csv", "-o", "new.toml")
    assert ended.code == 1
    assert "There are 3 fields instead of 2 (t.csv, line 3)" in ended.err


def test_bounds_are_found_for_a_price_that_the_new_catalog_has_paid(
    folder: Path, discreet: Discreet
) -> None:
    spent = discreet(
        "init",
        VISITS,
        "--unit",
        "patient_id",
        "--epsilon",
        "20",
        "--find-bounds",
        "16",
        "-o",
        "new.toml",
    )
    assert spent.code == 0, spent.err
    assert "found privately. Spent ε = 16." in spent.err
    assert "# found privately: " in (folder / "new.toml").read_text()
    assert "Remaining: ε = 4 of 20" in discreet("budget", "-c", "new.toml").out
    assert discreet("ask", "SELECT AVG(age) FROM visits", "-e", "1", "-c", "new.toml").code == 0


def test_several_files_become_one_catalog(folder: Path, discreet: Discreet) -> None:
    (folder / "clinics.csv").write_text("name,beds\nAshgrove,4\n")
    assert discreet("init", VISITS, "clinics.csv", "--unit", "PATIENT_ID", "--force").code == 0
    text = (folder / "discreet.toml").read_text()
    assert 'unit = "patient_id"\n' in text
    assert 'unit = "FILL IN"' in text
    twice = discreet("init", VISITS, VISITS, "--force")
    assert twice.code == 1
    assert "second table called 'visits'" in twice.err


def test_a_row_can_be_a_unit_and_files_are_told_from_the_catalog_s_folder(
    folder: Path, discreet: Discreet
) -> None:
    (folder / "sub").mkdir()
    assert discreet("init", VISITS, "--unit", "row", "-o", "sub/new.toml").code == 0
    text = (folder / "sub" / "new.toml").read_text()
    assert 'unit = "row"\n' in text
    assert f'from = "{(folder / VISITS).as_posix()}"' in text
    assert discreet("ask", "SELECT COUNT(*) FROM visits", "-e", "1", "-c", "sub/new.toml").code == 0


def test_on_a_terminal_the_unit_is_asked_for_until_it_is_a_column(
    folder: Path, discreet: Discreet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.cli.init.is_interactive", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO("nobody\nAGE\n"))
    asked = discreet("init", VISITS, "--force")
    assert asked.code == 0
    assert "Columns of visits: patient_id, age, region." in asked.err
    assert "visits has no column nobody." in asked.err
    assert asked.out.strip() == ""
    assert 'unit = "age"\n' in (folder / "discreet.toml").read_text()


def test_a_copy_is_made_used_and_forgotten(folder: Path, discreet: Discreet) -> None:
    made = discreet("prepare")
    assert made.code == 0, made.err
    assert re.fullmatch(
        r"discreet\.prepared is ready: \d\.\d MB of private rows that only you may read\n", made.out
    )
    assert discreet("prepare").out == "discreet.prepared is up to date\n"
    asked = discreet("ask", "SELECT COUNT(*) FROM visits WHERE age > 30", "-e", "1")
    assert asked.code == 0
    assert asked.err == ""
    assert discreet("prepare", "--remove").out == "discreet.prepared is removed\n"
    assert discreet("prepare", "--remove").out == "discreet.prepared does not exist\n"
    assert not list(folder.glob("discreet.prepared*"))


@pytest.mark.parametrize(
    "text",
    [
        ",age,region\n0,30,north\n1,40,south\n",
        '"","age","region"\n"1",30,"north"\n"2",40,"south"\n',
        '"age","region"\n"1",30,"north"\n"2",40,"south"\n',
    ],
    ids=["pandas", "R write.csv", "R write.table"],
)
def test_a_first_column_without_a_name_is_called_row_name(
    folder: Path, discreet: Discreet, text: str
) -> None:
    (folder / "t.csv").write_text(text)
    ended = discreet("init", "t.csv", "--output", "new.toml", "--unit", "row")
    assert ended.code == 0, ended
    assert "to the columns you want to query: age, region." in ended.err
    drafted = (folder / "new.toml").read_text()
    assert [line.split(" =")[0] for line in drafted.split("columns]")[1].splitlines() if line][
        -5:
    ] == ["row_name", "age", "# age", "region", "# region"]
    with api.open(folder / "t.csv", unit="row", epsilon=100) as curator:
        names = [each.name for each in curator.catalog.tables[0].columns]
        assert names == ["row_name", "age", "region"]
        counted = curator.ask("SELECT COUNT(*) AS n FROM t WHERE row_name >= 1", epsilon=60)
        assert counted.table["n"][0].as_py() == (2 if text.startswith('"') else 1)


def test_another_column_without_a_name_is_refused(folder: Path, discreet: Discreet) -> None:
    for text, what in (
        ("age,,region\n1,2,3\n", "Column 2 has no name"),
        (",row_name\n1,2\n", "Column 1 has no name"),
        ("age,region\n1,2,3,4\n", "There are 4 fields instead of 2"),
        (",age\n1,2\n1,2,3\n", "There are 3 fields instead of 2"),
        ("age\n1,2\n1\n", "There is 1 field instead of 2"),
    ):
        (folder / "t.csv").write_text(text)
        ended = discreet("init", "t.csv", "--output", "new.toml")
        assert (ended.code, what in ended.err) == (1, True), ended


def test_tables_that_anyone_may_see_are_named(folder: Path, discreet: Discreet) -> None:
    (folder / "regions.csv").write_text("region,people\nnorth,9\n")
    (folder / "months.csv").write_text("month,days\n1,31\n")
    public = ("--public", "regions", "--public", "Months")
    data = ("regions.csv", VISITS, "months.csv")
    ended = discreet("init", *data, *public, "-o", "new.toml", "--unit", "patient_id")
    assert ended.code == 0, ended
    assert "SELECT COUNT(*) FROM visits" in ended.err
    assert "you want to query: age, region." in ended.err
    with api.open(folder / "new.toml") as curator:
        kinds = {each.name: type(each).__name__ for each in curator.catalog.tables}
    assert kinds == {"regions": "PublicTable", "visits": "PrivateTable", "months": "PublicTable"}
    ended = discreet("init", *data, "--public", "region", "-o", "other.toml")
    assert ended.code == 1
    assert "public must be a table of the data, perhaps 'regions'" in ended.err


@pytest.mark.parametrize("name", ["my visits", "it's; rm -rf $HOME", "order", 'a"b'])
def test_the_suggested_command_runs_as_it_is_printed(
    folder: Path, discreet: Discreet, name: str
) -> None:
    (folder / f"{name}.csv").write_text("user_id,age\n1,2\n")
    ended = discreet("init", f"{name}.csv", "-o", "my new.toml", "--unit", "user_id", "--force")
    assert ended.code == 0, ended
    (command,) = re.findall(r"Run a query: (discreet .*)", ended.err)
    asked = discreet(*shlex.split(command)[1:])
    assert asked.code == 0, asked


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (["postgresql://reader@host/db"], "DATA must name tables after the address. For example"),
        (["postgresql://reader:secret@host/db", "visits"], "must not contain a password"),
        ([VISITS, "postgresql://reader@host/db"], "must begin with the address"),
        (["env:NO_SUCH_SERVER", "visits"], "environment variable NO_SUCH_SERVER, which is not set"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_an_address_comes_before_the_names_of_its_tables(
    discreet: Discreet, data: list[str], what: str
) -> None:
    ended = discreet("init", *data, "-o", "new.toml")
    assert (ended.code, what in ended.err) == (1, True), ended
    assert "secret" not in ended.err
