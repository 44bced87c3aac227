"""From data to answers: draft a catalog, complete it, ask, look at the books."""

import csv
import io
import json
import tomllib
from pathlib import Path
from typing import Any

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
    assert "Give bounds or values to the columns you want to query: age, region." in drafted.err
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
    assert books.out.splitlines()[0].startswith("Remaining: ε = 2.5 of 3")
    assert books.out.splitlines()[-1].endswith("0.5   0   SELECT AVG(age) AS age FROM visits")


def test_explaining_needs_no_data_and_charges_nothing(folder: Path, discreet: Discreet) -> None:
    assert discreet("ask", COUNT, "-e", "0.5").code == 0
    (folder / VISITS).rename(folder / "moved.csv")
    told = discreet("explain", "SELECT AVG(age) FROM visits", "-e", "1/4")
    assert told.code == 0, told.err
    assert "Cost        ε = 0.25\nRemaining   ε = 1.5 of 2" in told.out
    assert "Protects    each patient_id with all its rows" in told.out
    assert "Remaining: ε = 1.5 of 2" in discreet("budget").out
    refused = discreet("ask", "SELECT AVG(age) FROM visits", "-e", "1/4")
    assert refused.code == 1
    assert "visits.csv does not exist" in refused.err


FREE = "Cost        nothing: this is the saved answer to this query (it cost ε = 0.5)"


def test_a_preview_says_that_a_saved_answer_is_free(folder: Path, discreet: Discreet) -> None:
    preview = ("explain", COUNT, "-e", "0.5")
    assert "Cost        ε = 0.5\n" in discreet(*preview).out
    assert not (folder / "discreet.ledger").exists()
    assert discreet("ask", COUNT, "-e", "0.5").code == 0
    before = discreet("ledger", "verify").out
    assert FREE in discreet(*preview).out
    (folder / VISITS).touch()
    assert FREE in discreet(*preview).out
    assert json.loads(discreet(*preview, "--json").out)["due"]["epsilon"] == 0
    assert "nothing: read from the saved answer" in discreet("explain", COUNT, "-e", "0.25").out
    (folder / VISITS).write_text((folder / VISITS).read_text().replace("north", "south", 1))
    changed = "ε = 0.5. The data changed since this query was last charged; this is a new charge."
    assert f"Cost        {changed}" in discreet(*preview).out
    assert discreet("ledger", "verify").out == before
    assert "; this is a new charge." in discreet("ask", COUNT, "-e", "0.5").out
    assert FREE in discreet(*preview).out
    (folder / VISITS).unlink()
    assert "Cost        ε = 0.5\n" in discreet(*preview).out


def test_a_preview_on_an_account_knows_what_is_saved(folder: Path, discreet: Discreet) -> None:
    catalog = folder / "discreet.toml"
    catalog.write_text(f"{catalog.read_text()}\n[analysts.eve]\nepsilon = 0.75\n")
    assert discreet("ask", COUNT, "-e", "0.5", "--as", "eve").code == 0
    told = discreet("explain", COUNT, "-e", "0.5", "--as", "eve").out
    assert FREE in told
    assert "Remaining   ε = 0.25 of 0.75" in told
    refused = discreet("explain", COUNT, "-e", "0.5", "--as", "bob")
    assert (refused.code, refused.out) == (1, "")


@pytest.mark.usefixtures("folder")
def test_a_margin_has_a_ceiling(discreet: Discreet) -> None:
    terms = ("SELECT COUNT(*) AS n FROM visits", "--within", "10", "--epsilon")
    refused = discreet("ask", *terms, "0.1")
    assert refused.code == 1
    assert "A margin of error of ±10 for n needs ε = " in refused.err
    assert "at most ε = 0.1 may be spent. ε = 0.1 would give ±" in refused.err
    assert "No queries yet." in discreet("budget").out
    asked, alone = discreet("ask", *terms, "1"), discreet("explain", *terms[:3])
    assert asked.code == 0, asked.err
    assert "Cost        nothing" in alone.out
    assert discreet("ask", *terms, "2").out.splitlines()[:2] == asked.out.splitlines()[:2]


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
    assert "Spent ε" in ended.err


def test_a_picture_is_saved_and_a_name_that_cannot_be_is_refused_before_paying(
    folder: Path, discreet: Discreet
) -> None:
    refused = discreet("ask", COUNT, "-e", "0.5", "--plot", "visits.gif")
    assert refused.code == 1
    assert "No queries yet." in discreet("budget").out
    saved = discreet("ask", COUNT, "-e", "0.5", "--plot", "visits.png")
    assert saved.err == "Chart: visits.png\n"
    assert (folder / "visits.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("folder")
def test_a_refusal_shows_the_place_and_an_exhausted_budget_has_its_own_code(
    discreet: Discreet,
) -> None:
    refused = discreet("ask", "SELECT patient_id FROM visits", "-e", "0.5")
    assert refused.code == 1
    assert refused.out == ""
    assert "(line 1, column 8)" in refused.err
    assert refused.err.splitlines()[-2].strip().startswith("^")
    exhausted = discreet("ask", COUNT, "-e", "2.5")
    assert exhausted.code == 3
    assert "this would cost ε = 2.5, and ε = 2 remains" in exhausted.err
    assert "No queries yet." in discreet("budget").out


def test_placeholders_are_given_values(discreet: Discreet, folder: Path) -> None:
    assert folder.is_dir()
    where = f"{COUNT.partition(' GROUP')[0]} WHERE age > 30 AND region = 'north' GROUP BY region"
    first = discreet("ask", where, "-e", "0.5", "--csv")
    for sql, given in (
        (":least AND region = :where", ("--parameter", "least=30", "-P", "where=north")),
        ("? AND region = ?", ("-P", "2=north", "-P", "1=30")),
        ("$1 AND region = $2", ("-P", "1=30", "-P", '2="north"')),
    ):
        asked = f"{COUNT.partition(' GROUP')[0]} WHERE age > {sql} GROUP BY region"
        told = discreet("ask", asked, "-e", "0.5", "--csv", *given)
        assert told.out == first.out, told.err

    assert discreet("budget").out.count("SELECT") == 1
    missing = discreet("ask", f"{COUNT} LIMIT :most", "-e", "0.5")
    assert missing.code == 1
    assert "There is no value for :most" in missing.err
    for odd in ("age", "=3", "a=1 -P a=2"):
        assert discreet("ask", COUNT, "-e", "0.5", "-P", *odd.split()).code == 2


def test_a_query_may_be_in_another_dialect(discreet: Discreet, folder: Path) -> None:
    assert folder.is_dir()
    wrong = discreet("ask", COUNT, "-e", "0.5", "--dialect", "oracle")
    assert wrong.code == 1
    assert "dialect must be 'duckdb', 'postgres' or 'bigquery'" in wrong.err


def test_statements_are_shown_in_another_dialect(discreet: Discreet, folder: Path) -> None:
    assert folder.is_dir()
    sql = "SELECT COUNT(*) AS visits FROM visits"
    told = discreet("explain", sql, "-e", "1", "--sql-for", "snowflake")
    assert "NUMBER(38, 0)" in told.out
    wrong = discreet("explain", sql, "-e", "1", "--sql-for", "oracle")
    assert wrong.code == 1
    assert "must be one of bigquery, databricks, snowflake, trino" in wrong.err


FILTERED = "SELECT COUNT(*) AS visits FROM visits WHERE age > 30"


def test_a_copy_of_other_data_is_said_to_be(folder: Path, discreet: Discreet) -> None:
    discreet("prepare")
    with (folder / VISITS).open("a", encoding="utf-8") as visits:
        visits.write("1,30,north\n")
    asked = discreet("ask", FILTERED, "-e", "1")
    assert asked.code == 0
    assert "Run discreet prepare to rebuild it." in " ".join(asked.err.split())


def test_rows_can_be_chosen_by_the_query(discreet: Discreet, folder: Path) -> None:
    assert folder.is_dir()
    told = discreet("explain", FILTERED, "-e", "1", "--row-choice", "per-query", "--sql")
    assert '"heavy"' in told.out
    assert '"kept"' not in told.out
    wrong = discreet("ask", FILTERED, "-e", "1", "--row-choice", "never")
    assert wrong.code == 1
    assert "must be 'once' or 'per-query'" in wrong.err


@pytest.mark.parametrize("command", ["ask", "explain"])
@pytest.mark.usefixtures("folder")
def test_the_catalog_is_read_once(
    discreet: Discreet, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    parsed, loads = [], tomllib.loads

    def counted(text: str, **options: Any) -> dict[str, Any]:
        parsed.extend(["whole"] * ("[budget]" in text))
        return loads(text, **options)

    monkeypatch.setattr(tomllib, "loads", counted)
    assert discreet(command, COUNT, "-e", "0.5").code == 0
    assert len(parsed) == 1


@pytest.mark.usefixtures("folder")
def test_the_groups_of_a_unit_can_be_limited(discreet: Discreet) -> None:
    """Of both regions a patient counts in one: the noise is that of one number."""
    by_region = "SELECT region, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY region"
    wide, narrow = (
        discreet("explain", by_region, "-e", "1", *more).out
        for more in ((), ("--groups-per-unit", "1"))
    )
    assert "±6" in wide
    assert "±3" in narrow
    assert "Counts each patient_id in at most 1 group, so" in " ".join(narrow.split())
    assert discreet("ask", by_region, "-e", "1", "--groups-per-unit", "1").code == 0
    assert discreet("ask", by_region, "-e", "1", "--groups-per-unit", "0").code == 2
