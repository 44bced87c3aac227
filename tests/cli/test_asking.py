"""From data to answers: draft a catalog, complete it, ask, look at the books."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Discreet
from tests.cli.runs import VISITS, run

COUNT = "SELECT region, COUNT(*) AS visits FROM visits GROUP BY region"


def test_data_become_answers_in_a_few_commands(folder: Path) -> None:
    drafted = run(
        "init", VISITS, "--unit", "patient_id", "--epsilon", "3", "-o", "new.toml", folder=folder
    )
    assert drafted.code == 0, drafted.err
    assert drafted.out == ""
    assert "give bounds or values to the columns you will ask about: age, region" in drafted.err
    catalog = folder / "new.toml"
    text = catalog.read_text()
    assert "epsilon = 3   # total privacy budget" in text
    assert "north" not in text + drafted.err
    plain, blank = 'age = { type = "integer" }\n', "# age = { type"
    text = text.replace(plain, "").replace(blank, blank[2:]).replace("LOW, HIGH", "0, 110")
    catalog.write_text(text)

    terms = ("-c", "new.toml", "--epsilon", "1/2")
    asked = run("ask", "SELECT AVG(age) AS age FROM visits", *terms, folder=folder)
    assert asked.code == 0, asked.err
    assert asked.err == ""
    assert "Spent ε = 0.5 · Remaining: ε = 2.5 of 3" in asked.out

    again = run("ask", "-", *terms, folder=folder, given="select avg(age) age\nfrom visits")
    assert "Spent nothing: this is the saved answer to this query" in again.out
    assert again.out.splitlines()[:2] == asked.out.splitlines()[:2]

    books = run("budget", "-c", "new.toml", folder=folder)
    assert books.out.splitlines()[0].startswith("left ε = 2.5 of 3")
    assert books.out.splitlines()[-1].endswith("0.5   0   SELECT AVG(age) AS age FROM visits")


def test_explaining_needs_no_data_and_charges_nothing(folder: Path, discreet: Discreet) -> None:
    assert discreet("ask", COUNT, "-e", "0.5").code == 0
    (folder / VISITS).rename(folder / "moved.csv")
    told = discreet("explain", "SELECT AVG(age) FROM visits", "-e", "1/4")
    assert told.code == 0, told.err
    assert "Cost        ε = 0.25\nRemaining   ε = 1.5 of 2" in told.out
    assert "Protects    each patient_id, with all of its rows" in told.out
    assert "left ε = 1.5 of 2" in discreet("budget").out
    refused = discreet("ask", "SELECT AVG(age) FROM visits", "-e", "1/4")
    assert refused.code == 1
    assert "visits.csv does not exist" in refused.err


def test_an_explanation_is_also_json(folder: Path, discreet: Discreet) -> None:
    (folder / "q.sql").write_text(COUNT)
    told = json.loads(discreet("explain", "-f", "q.sql", "-e", "0.5", "--json").out)
    assert told["price"]["epsilon_exact"] == "1/2"
    assert told["remaining"]["epsilon"] == 2.0


@pytest.mark.usefixtures("folder")
def test_json_has_everything_and_nothing_else_is_printed(discreet: Discreet) -> None:
    ended = discreet("ask", COUNT, "-e", "0.5", "--json")
    content = json.loads(ended.out)
    assert ended.err == ""
    assert [row[0] for row in content["rows"]] == ["north", "south"]
    assert content["price"]["epsilon"] == 0.5


@pytest.mark.usefixtures("folder")
def test_csv_has_rows_and_errors_and_the_price_is_a_remark(discreet: Discreet) -> None:
    ended = discreet("ask", COUNT, "--within", "visits=30", "--csv")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert [row["region"] for row in rows] == ["north", "south"]
    assert all(float(row["visits_error"]) <= 30 for row in rows)
    assert "paid ε" in ended.err


def test_a_picture_is_saved_and_a_name_that_cannot_be_is_refused_before_paying(
    folder: Path, discreet: Discreet
) -> None:
    refused = discreet("ask", COUNT, "-e", "0.5", "--plot", "visits.gif")
    assert refused.code == 1
    assert "nothing was asked yet" in discreet("budget").out
    saved = discreet("ask", COUNT, "-e", "0.5", "--plot", "visits.png")
    assert saved.err == "picture: visits.png\n"
    assert (folder / "visits.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("folder")
def test_a_refusal_shows_the_place_and_an_exhausted_budget_has_its_own_code(
    discreet: Discreet,
) -> None:
    refused = discreet("ask", "SELECT patient_id FROM visits", "-e", "0.5")
    assert refused.code == 1
    assert refused.out == ""
    assert "(line 1, column 8)" in refused.err
    assert refused.err.splitlines()[-1].strip().startswith("^")
    exhausted = discreet("ask", COUNT, "-e", "2.5")
    assert exhausted.code == 3
    assert "requested epsilon = 2.5, remaining epsilon = 2" in exhausted.err
    assert "nothing was asked yet" in discreet("budget").out


@pytest.mark.usefixtures("folder")
def test_the_ledger_is_shown_and_verified(discreet: Discreet) -> None:
    discreet("ask", COUNT, "-e", "0.5")
    shown = discreet("ledger", "show").out
    assert [line.split()[3] for line in shown.splitlines()[1:]] == ["policy", "charge", "answer"]
    verified = discreet("ledger", "verify").out
    assert verified.startswith("3 entries, each as it was written\nhead ")
    head = verified.split()[-1]
    assert discreet("ledger", "verify", "discreet.ledger", "--head", head).code == 0
    lost = discreet("ledger", "verify", "--head", "00" * 32)
    assert lost.code == 1
    assert "lacks the entry" in lost.err


@pytest.mark.usefixtures("folder")
def test_the_books_are_also_json(discreet: Discreet) -> None:
    discreet("ask", COUNT, "-e", "0.5")
    told = json.loads(discreet("budget", "--json").out)
    assert told["remaining"]["epsilon_exact"] == "3/2"
    assert [each["question"] for each in told["questions"]] == [COUNT]


def test_bounds_are_found_for_a_price_that_the_new_catalog_has_paid(
    folder: Path, discreet: Discreet
) -> None:
    spent = discreet(
        "init", VISITS, "--unit", "patient_id", "--epsilon", "20", "--spend", "16", "-o", "new.toml"
    )
    assert spent.code == 0, spent.err
    assert "found privately, for ε = 16" in spent.err
    assert "# found privately: " in (folder / "new.toml").read_text()
    assert "left ε = 4 of 20" in discreet("budget", "-c", "new.toml").out
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
    monkeypatch.setattr("discreet.cli.drafting.is_interactive", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO("nobody\nAGE\n"))
    asked = discreet("init", VISITS, "--force")
    assert asked.code == 0
    assert "visits has the columns patient_id, age, region." in asked.err
    assert "There is no such column: nobody." in asked.err
    assert asked.out.strip() == ""
    assert 'unit = "age"\n' in (folder / "discreet.toml").read_text()


def test_statements_are_shown_in_another_dialect(discreet: Discreet, folder: Path) -> None:
    assert folder.is_dir()
    sql = "SELECT COUNT(*) AS visits FROM visits"
    told = discreet("explain", sql, "-e", "1", "--dialect", "snowflake")
    assert "NUMBER(38, 0)" in told.out
    wrong = discreet("explain", sql, "-e", "1", "--dialect", "oracle")
    assert wrong.code == 1
    assert "must be one of bigquery, databricks, snowflake, trino" in wrong.err
