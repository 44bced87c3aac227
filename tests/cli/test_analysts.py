"""Analysts and the book of charges, from the command line."""

import json
from pathlib import Path

import pytest

from discreet.engines.duckdb import DuckDbEngine
from discreet.errors import EngineError
from discreet.ledger import SqliteLedger
from tests.cli.conftest import Discreet


def test_an_analyst_is_added_with_a_token_that_lets_in(discreet: Discreet, folder: Path) -> None:
    added = discreet("analyst", "add", "eve", "--epsilon", "0.5", "--delta", "1e-7")
    assert added.code == 0
    assert "shown this once" in added.err
    with SqliteLedger.existing(folder / "discreet.ledger") as ledger:
        assert ledger.authenticate(added.out.strip()) == "eve"
    listed = discreet("analyst", "list").out
    assert "eve" in listed
    assert "1e-7" in listed


def test_an_analyst_who_is_disabled_is_listed_as_such(discreet: Discreet, folder: Path) -> None:
    discreet("analyst", "add", "eve", "-e", "0.5")
    assert discreet("analyst", "disable", "eve").code == 0
    assert discreet("analyst", "list").out.split()[-1] == "no"
    with SqliteLedger.existing(folder / "discreet.ledger") as ledger:
        assert [each.enabled for each in ledger.analysts()] == [False]


@pytest.mark.usefixtures("folder")
def test_who_is_not_declared_cannot_be_disabled(discreet: Discreet) -> None:
    assert discreet("analyst", "list").out.strip() == "no analysts are declared"
    discreet("analyst", "add", "mallory", "-e", "0.5")
    refused = discreet("analyst", "disable", "malory")
    assert refused.code == 1
    assert "the nearest is 'mallory'" in refused.err


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


def test_a_ledger_may_be_named(discreet: Discreet, folder: Path) -> None:
    place = str(folder / "other.db")
    assert discreet("analyst", "add", "eve", "-e", "0.5", "--ledger", place).code == 0
    assert "eve" in discreet("analyst", "list", "--ledger", place).out
    assert "2 entries" in discreet("ledger", "verify", place).out


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
    assert "suspended until the owner has looked" in ended.err
    return folder


@pytest.mark.usefixtures("failed")
def test_incidents_are_listed_until_the_account_is_resumed(discreet: Discreet) -> None:
    listed = discreet("ledger", "incidents").out
    assert "eve       time limit   no        SELECT SUM(age) FROM visits" in listed
    assert "1 incident among 2 charges: 2 bits at most were told outside of ε" in listed
    assert "eve is suspended: discreet analyst resume eve" in listed
    assert discreet("analyst", "list").out.split()[-1] == "suspended"
    assert "suspended" in discreet("budget").out
    refused = discreet("ask", "SELECT SUM(age) FROM visits", "-e", "0.1", "--as", "eve")
    assert refused.code == 1
    assert "this account is suspended" in refused.err
    assert discreet("ask", "SELECT COUNT(*) FROM visits", "-e", "0.2", "--as", "eve").code == 0
    assert discreet("analyst", "resume", "eve").out.strip() == "eve may ask again"
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
    assert discreet("ledger", "incidents").out.strip() == "no incidents among 1 charge"
    refused = discreet("analyst", "resume", "owner")
    assert refused.code == 1
    assert "this account is not suspended; no account is" in refused.err


ELDERLY = ("ask", "SELECT COUNT(*) FROM visits WHERE age > 65", "-e", "0.4")


def test_a_question_is_charged_to_who_asks(
    discreet: Discreet, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = folder / "discreet.toml"
    catalog.write_text(f"{catalog.read_text()}\n[analysts.eve]\nepsilon = 0.5\n")
    assert "Remaining: ε = 0.1 of 0.5" in discreet(*ELDERLY, "--as", "eve").out
    refused = discreet("ask", "SELECT SUM(age) FROM visits", "-e", "0.4", "--as", "eve")
    assert refused.code == 3
    assert "the cap of analyst 'eve'" in refused.err
    token = discreet("analyst", "add", "bob", "-e", "1").out.strip()
    assert "Remaining: ε = 1 of 1" in discreet(*ELDERLY, "--token", token).out  # eve has paid
    monkeypatch.setenv("DISCREET_TOKEN", token)
    question = ("SELECT SUM(age) FROM visits", "-e", "0.3")
    assert "Remaining: ε = 0.7 of 1" in discreet("ask", *question).out
    assert "Remaining   ε = 0.7 of 1" in discreet("explain", *question).out
    assert discreet("ask", *question, "--as", "eve").code == 2
    monkeypatch.delenv("DISCREET_TOKEN")
    assert "Remaining   ε = 0.1 of 0.5" in discreet("explain", *question, "--as", "eve").out
    assert discreet("ask", *question, "--as", "mallory").code == 1


@pytest.mark.usefixtures("folder")
def test_the_budget_is_shown_by_account_beside_a_report(discreet: Discreet) -> None:
    assert "nothing was asked yet" in discreet("budget").out
    discreet("analyst", "add", "eve", "-e", "0.5")
    discreet(*ELDERLY, "--as", "eve")
    discreet("ask", "SELECT SUM(age) FROM visits", "-e", "0.3")
    shown = discreet("budget").out
    assert "left ε = 1.3 of 2" in shown
    assert "report, not the filter: ε" in shown
    assert "had all questions been fixed in advance" in shown
    lines = [line.split() for line in shown.splitlines()]
    assert ["owner", "0.3", "yes"] in lines
    assert ["eve", "0.4", "0.5", "0.1", "yes"] in lines
    told = json.loads(discreet("budget", "--json").out)
    assert 0 < told["report"]["epsilon"] <= 0.7
    assert [each["account"] for each in told["accounts"]] == ["owner", "eve"]
    assert [each["account"] for each in told["questions"]] == ["eve", "owner"]
