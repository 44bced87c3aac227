"""Analysts, their caps and tokens, from the command line."""

from pathlib import Path

import pytest

from discreet.ledger import SqliteLedger
from tests.cli.conftest import Discreet


def test_an_analyst_is_added_with_a_token_that_lets_in(discreet: Discreet, folder: Path) -> None:
    added = discreet("analyst", "add", "eve", "--epsilon", "0.5", "--delta", "1e-7")
    assert added.code == 0
    said = " ".join(added.err.split())
    assert "Analyst eve may spend ε = 0.5, δ = 1e-7 in total." in said
    assert "for --token or DISCREET_TOKEN. It is shown only once." in said
    with SqliteLedger.existing(folder / "discreet.ledger") as ledger:
        assert ledger.authenticate(added.out.strip()) == "eve"
    listed = discreet("analyst", "list").out
    assert "eve" in listed
    assert "1e-7" in listed


def test_an_analyst_who_is_disabled_is_listed_as_such(discreet: Discreet, folder: Path) -> None:
    discreet("analyst", "add", "eve", "-e", "0.5")
    assert discreet("analyst", "disable", "eve").code == 0
    assert discreet("analyst", "list").out.split()[-1] == "disabled"
    with SqliteLedger.existing(folder / "discreet.ledger") as ledger:
        assert [each.enabled for each in ledger.analysts()] == [False]


@pytest.mark.usefixtures("folder")
def test_who_is_not_declared_cannot_be_disabled(discreet: Discreet) -> None:
    assert discreet("analyst", "list").out.strip() == "No analysts are declared."
    discreet("analyst", "add", "mallory", "-e", "0.5")
    refused = discreet("analyst", "disable", "malory")
    assert refused.code == 1
    assert "The nearest is 'mallory'" in refused.err


def test_a_ledger_may_be_named(discreet: Discreet, folder: Path) -> None:
    place = str(folder / "other.db")
    assert discreet("analyst", "add", "eve", "-e", "0.5", "--ledger", place).code == 0
    assert "eve" in discreet("analyst", "list", "--ledger", place).out
    assert "2 entries" in discreet("ledger", "verify", place).out


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
