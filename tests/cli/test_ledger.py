"""`discreet budget` and `discreet ledger`: what was spent by whom, incidents, edited ledgers."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from discreet.engines.duckdb import DuckDbEngine
from discreet.errors import EngineError
from discreet.ledger import Ledger, existing_ledger
from tests.cli.conftest import Discreet
from tests.cli.runs import VISITS

pytestmark = pytest.mark.usefixtures("folder")

REGIONS = "SELECT region, COUNT(*) AS visits FROM visits GROUP BY region"
ELDERLY = ("ask", "SELECT COUNT(*) FROM visits WHERE age > 65", "-e", "0.4")

CATALOG = """
[budget]
epsilon = 2
{budget}

[tables.visits_23]
from = "visits.csv"
unit = "patient_id"

[tables.visits_24]
from = "later.csv"
unit = "patient_id"

[[disjoint]]
tables = ["visits_23", "visits_24"]
"""


@pytest.fixture
def years(folder: Path) -> Path:
    """Return the folder with a catalog of two years whose patients are not the same."""
    later = [f"{1000 + i},30,north" for i in range(100)]
    (folder / "later.csv").write_text("\n".join(["patient_id,age,region", *later]) + "\n")
    (folder / "discreet.toml").write_text(CATALOG.format(budget=""))
    return folder


@pytest.mark.usefixtures("years")
def test_the_budget_is_shown_for_each_table_that_is_charged_apart(discreet: Discreet) -> None:
    for table, epsilon in (("visits_23", "1.5"), ("visits_24", "0.5")):
        asked = discreet("ask", f"SELECT COUNT(*) FROM {table}", "--epsilon", epsilon)  # noqa: S608
        assert asked.code == 0
        assert "Remaining: ε = 0.5 of 2" in asked.out
    shown = discreet("budget").out
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert lines[0] == "Remaining: ε = 0.5 of 2"
    assert "their total cost would be ε = 1.5 (pure accounting)" in shown
    assert "visits_23 ε = 0.5 of 2" in lines
    assert "visits_24 ε = 1.5 of 2" in lines
    told = json.loads(discreet("budget", "--json").out)
    assert told["report"]["partitions"]["visits_24"]["epsilon"] == 1.5
    assert 'disjoint [["visits_23", "visits_24"]]' in discreet("ledger", "show").out
    exported = [json.loads(line) for line in discreet("ledger", "export").out.splitlines()]
    assert [each["about"].get("scope") for each in exported if each["kind"] == "charge"] == [
        '["visits_23"]',
        '["visits_24"]',
    ]
    refused = discreet("ask", "SELECT COUNT(*) FROM visits_23 WHERE age > 1", "--epsilon", "1")
    assert refused.code == 3
    assert "ε = 0.5 remains for units of 'visits_23'" in refused.err


def test_a_catalog_that_replaces_units_is_refused_with_its_line(
    years: Path, discreet: Discreet
) -> None:
    (years / "discreet.toml").write_text(CATALOG.format(budget='neighbours = "replace"'))
    refused = discreet("ask", "SELECT COUNT(*) FROM visits_23", "--epsilon", "1")
    assert refused.code != 0
    assert "disjoint needs add-remove neighbours" in refused.err
    assert "line 14" in refused.err


def test_a_concentrated_budget_tells_rho_where_only_that_is_left(
    folder: Path, discreet: Discreet
) -> None:
    catalog = '[budget]\nepsilon = 2\ndelta = 1e-6\naccounting = "concentrated"\n\n'
    catalog += f'[tables.visits]\nfrom = "{VISITS}"\nunit = "patient_id"\n'
    (folder / "discreet.toml").write_text(catalog)
    assert "Remaining: ε = 2 of 2 or ρ ≈ 0.0" in discreet("budget").out
    sql = "SELECT region, COUNT(*) FROM visits GROUP BY region"
    assert discreet("ask", sql, "--epsilon", "0.2").code == 0
    assert discreet("budget").out.startswith("Remaining: ρ ≈ 0.0")


EDITS = {
    "a flipped bit": "UPDATE entries SET digest = ~number WHERE number = 2",
    "a removed entry": "DELETE FROM entries WHERE number = 2",
    "a reordered entry": "UPDATE entries SET number = 9 WHERE number = 2",
    "an edited price": """UPDATE entries SET events = replace(events, 'scale":"', 'scale":"9')
        WHERE kind = 'charge'""",
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_verify_sees_what_was_edited(folder: Path, discreet: Discreet, edit: str) -> None:
    assert discreet("ask", "SELECT COUNT(*) FROM visits", "--epsilon", "1").code == 0
    assert "The hash chain is intact." in discreet("ledger", "verify").out
    with closing(sqlite3.connect(folder / "discreet.ledger", isolation_level=None)) as book:
        triggers = book.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        found = triggers.fetchall()
        for name, _ in found:
            book.execute(f"DROP TRIGGER {name}")
        assert book.execute(edit).rowcount == 1
        for _, sql in found:
            book.execute(sql)
    for command in (["ledger", "verify"], ["ask", "SELECT COUNT(*) FROM visits", "--epsilon", "1"]):
        ended = discreet(*command)
        assert ended.code != 0
        assert "The ledger has been changed since it was written" in ended.err
        assert ended.out == ""


@pytest.mark.usefixtures("folder")
def test_the_ledger_is_shown_and_verified(discreet: Discreet) -> None:
    discreet("ask", REGIONS, "-e", "0.5")
    shown = discreet("ledger", "show").out
    assert [line.split()[3] for line in shown.splitlines()[1:]] == ["policy", "charge", "answer"]
    verified = discreet("ledger", "verify")
    assert verified.out.startswith(
        "3 entries. The hash chain is intact.\nDigest of the last entry: "
    )
    assert "To detect removed entries later, pass it to --head." in verified.err
    head = verified.out.split()[-1]
    again = discreet("ledger", "verify", "discreet.ledger", "--head", head)
    assert again.code == 0
    assert again.out.startswith("3 entries. The hash chain is intact, and the entry that you noted")
    assert again.err == ""
    lost = discreet("ledger", "verify", "--head", "00" * 32)
    assert lost.code == 1
    assert "The ledger does not contain the entry" in lost.err


@pytest.mark.usefixtures("folder")
def test_entries_are_shown_by_what_they_say_and_not_by_hashes(discreet: Discreet) -> None:
    discreet("ask", "SELECT region, COUNT(*), AVG(age) FROM visits GROUP BY region", "-e", "0.5")
    discreet("ask", REGIONS, "-e", "0.2")
    discreet("analyst", "add", "eve", "-e", "0.5")
    discreet("analyst", "disable", "eve")
    lines = discreet("ledger", "show").out.splitlines()
    details = [line[lines[0].index("details") :] for line in lines]
    assert details == [
        "details",
        "ε = 2, δ = 1e-6, basic accounting, add-remove neighbours",
        "SELECT region, COUNT(*), AVG(age) FROM visits GROUP BY region",
        "answer to entry 2",
        "reuses the answer to entry 2",
        "cap ε = 0.5, no cap on δ, enabled",
        "cap ε = 0.5, no cap on δ, disabled",
    ]


@pytest.mark.usefixtures("folder")
def test_the_books_are_also_json(discreet: Discreet) -> None:
    discreet("ask", REGIONS, "-e", "0.5")
    told = json.loads(discreet("budget", "--json").out)
    assert told["remaining"]["epsilon_exact"] == "3/2"
    assert [each["question"] for each in told["questions"]] == [REGIONS]


@pytest.mark.usefixtures("folder")
def test_a_ledger_is_exported_without_tokens_and_answers(discreet: Discreet) -> None:
    discreet("analyst", "add", "eve", "-e", "0.5")
    discreet("ask", "SELECT COUNT(*) FROM visits", "-e", "0.1")
    lines = discreet("ledger", "export").out.splitlines()
    entries = [json.loads(each) for each in lines]
    kinds = ["policy", "analyst", "policy", "charge", "answer"]  # the second one says of what data
    assert [each["kind"] for each in entries] == kinds
    assert [each["number"] for each in entries] == [1, 2, 3, 4, 5]
    assert not any("data" in each["about"] for each in entries)
    assert not any("scrypt" in each for each in lines)
    assert "scrypt" not in discreet("ledger", "show").out
    assert entries[3]["events"][0]["tag"] == "discrete-laplace/1"


@pytest.fixture
def failed(discreet: Discreet, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand where a question of eve's has failed."""

    def fail(*_: object) -> None:
        raise EngineError("time")

    discreet("analyst", "add", "eve", "-e", "0.5")
    discreet("ask", "SELECT COUNT(*) FROM visits", "-e", "0.2")
    with monkeypatch.context() as patch:
        patch.setattr(DuckDbEngine, "run", fail)
        ended = discreet("ask", "SELECT SUM(age) FROM visits", "-e", "0.1", "--as", "eve")
    assert ended.code == 1
    assert "the account is suspended until the data owner has checked" in ended.err
    return folder


@pytest.mark.usefixtures("failed")
def test_incidents_are_listed_until_the_account_is_resumed(discreet: Discreet) -> None:
    listed = discreet("ledger", "incidents").out
    assert "eve       time limit   no        SELECT SUM(age) FROM visits" in listed
    assert "1 incident. 2 queries were charged. At most 2 bits were revealed outside ε." in listed
    assert "eve is suspended. To lift it: discreet analyst resume eve" in listed
    assert discreet("analyst", "list").out.split()[-1] == "suspended"
    assert "suspended" in discreet("budget").out
    refused = discreet("ask", "SELECT SUM(age) FROM visits", "-e", "0.1", "--as", "eve")
    assert refused.code == 1
    assert "This account is suspended" in refused.err
    assert discreet("ask", "SELECT COUNT(*) FROM visits", "-e", "0.2", "--as", "eve").code == 0
    assert discreet("analyst", "resume", "eve").out.strip() == "eve can run queries again"
    assert discreet("ask", "SELECT SUM(age) FROM visits", "-e", "0.1", "--as", "eve").code == 0
    assert "time limit   yes" in discreet("ledger", "incidents").out
    assert discreet("ledger", "verify").code == 0


@pytest.mark.usefixtures("failed")
def test_incidents_are_told_to_programs_and_exported(discreet: Discreet) -> None:
    told = json.loads(discreet("ledger", "incidents", "--json").out)
    assert (told["suspended"], told["all_suspended"], told["charges"]) == (["eve"], False, 2)
    assert [each["failure"] for each in told["incidents"]] == ["time"]
    last = json.loads(discreet("ledger", "export").out.splitlines()[-1])
    assert (last["kind"], last["account"]) == ("incident", "eve")
    assert last["about"] == {"failure": "time", "suspends": "account"}


@pytest.mark.usefixtures("folder")
def test_without_incidents_there_is_nothing_to_resume(discreet: Discreet) -> None:
    discreet("ask", "SELECT COUNT(*) FROM visits", "-e", "0.2")
    assert discreet("ledger", "incidents").out.strip() == "No incidents. 1 query was charged."
    refused = discreet("analyst", "resume", "owner")
    assert refused.code == 1
    assert "This account is not suspended. No account is suspended." in refused.err


@pytest.mark.usefixtures("folder")
def test_the_budget_is_shown_by_account_beside_a_report(discreet: Discreet) -> None:
    assert "No queries yet." in discreet("budget").out
    discreet("analyst", "add", "eve", "-e", "0.5")
    discreet(*ELDERLY, "--as", "eve")
    discreet("ask", "SELECT SUM(age) FROM visits", "-e", "0.3")
    shown = discreet("budget").out
    assert "Remaining: ε = 1.3 of 2" in shown
    assert "If all queries had been fixed in advance, their total cost would be ε" in shown
    assert "The remaining budget does not use this." in shown
    lines = [line.split() for line in shown.splitlines()]
    assert ["owner", "0.3", "enabled"] in lines
    assert ["eve", "0.4", "0.5", "0.1", "enabled"] in lines
    told = json.loads(discreet("budget", "--json").out)
    assert 0 < told["report"]["epsilon"] <= 0.7
    assert [each["account"] for each in told["accounts"]] == ["owner", "eve"]
    assert [each["account"] for each in told["questions"]] == ["eve", "owner"]


def test_the_budget_opens_the_ledger_once(
    discreet: Discreet, monkeypatch: pytest.MonkeyPatch
) -> None:
    discreet("analyst", "add", "eve", "-e", "0.5")
    discreet("ask", REGIONS, "-e", "0.5")
    opened = []

    def counted(place: str | Path) -> Ledger:
        opened.append(place)
        return existing_ledger(place)

    monkeypatch.setattr("discreet.cli.ledger.existing_ledger", counted)
    assert "eve" in discreet("budget").out
    assert len(opened) == 1
