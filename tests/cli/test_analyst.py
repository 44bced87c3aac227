"""Analysts, their caps and tokens, from the command line."""

import json
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


def test_limits_are_given_changed_and_removed_without_a_new_token(
    discreet: Discreet, folder: Path
) -> None:
    token = discreet("analyst", "add", "eve", "-e", "1", "--per-query", "1/10").out.strip()
    discreet("analyst", "add", "bob", "-e", "1")
    assert "per day" not in discreet("analyst", "list").out
    changed = discreet(
        *("analyst", "limit", "eve", "--per-day", "0.5", "--default-epsilon", "0.05"),
        *("--confirm-above", "0"),
    )
    assert changed.out.strip() == (
        "eve: at most ε = 0.1 per query, at most ε = 0.5 per day, ε = 0.05 if a client states "
        "none, confirmation above ε = 0."
    )
    refused = discreet(*ELDERLY, "--as", "eve")
    assert refused.code == 3
    assert "may spend at most ε = 0.1 per query" in " ".join(refused.err.split())
    assert discreet("analyst", "limit", "eve", "--per-query", "none").code == 0
    assert discreet(*ELDERLY, "--token", token).code == 0
    listed = json.loads(discreet("analyst", "list", "--json").out)["analysts"]
    limits = {each["analyst"]: each["limits"] for each in listed}
    assert limits["eve"]["per_query"] is None
    assert (limits["eve"]["per_day_exact"], limits["eve"]["remaining_today"]) == ("1/2", 0.1)
    assert set(limits["bob"].values()) == {None}
    head, eve, bob = discreet("analyst", "list").out.splitlines()
    assert head.split("remaining")[-1].split() == ["today", "default", "ε", "confirm", "above", "ε"]
    assert eve.split()[-4:] == ["0.5", "0.1", "0.05", "0"]
    assert bob.split()[-1] == "enabled"
    shown = discreet("ledger", "show").out
    assert "at most ε = 0.1 per query" in shown
    everything = discreet("ledger", "export").out + shown
    assert "SCRAM" not in everything
    with SqliteLedger.existing(folder / "discreet.ledger") as ledger:
        (kept, _) = ledger.analysts()
        assert kept.scram is not None
        assert kept.scram.startswith("SCRAM-SHA-256$4096:")
    discreet("analyst", "disable", "eve")
    with SqliteLedger.existing(folder / "discreet.ledger") as ledger:
        disabled = ledger.analysts()[0]
        assert (disabled.scram, disabled.per_day) == (kept.scram, kept.per_day)


@pytest.mark.usefixtures("folder")
def test_an_account_that_is_added_again_says_which_limits_are_removed(discreet: Discreet) -> None:
    limits = ("--per-query", "0.1", "--per-day", "0.2")
    assert "removed" not in discreet("analyst", "add", "eve", "-e", "1", *limits).err
    said = " ".join(discreet("analyst", "add", "eve", "-e", "1", "--per-day", "0.2").err.split())
    assert "Limits that eve had are removed: at most ε = 0.1 per query." in said
    assert "Limits" not in discreet("analyst", "add", "eve", "-e", "1", "--per-day", "0.3").err


@pytest.mark.usefixtures("folder")
def test_limits_that_make_no_sense_are_rejected(discreet: Discreet) -> None:
    discreet("analyst", "add", "eve", "-e", "1")
    assert "Give a limit to change: --per-query" in " ".join(
        discreet("analyst", "limit", "eve").err.split()
    )
    assert "is not a number" in discreet("analyst", "limit", "eve", "--per-day", "x").err
    refused = discreet("analyst", "limit", "eve", "--per-query", "0.1", "--default-epsilon", "1")
    assert "default_epsilon must be at most per_query, 0.1" in refused.err
    assert "no analyst 'eva'" in discreet("analyst", "limit", "eva", "--per-day", "1").err
    reader = discreet("analyst", "add", "rea", "--role", "reader", "--per-day", "1")
    assert "Limits are for analysts" in reader.err


def test_limits_of_the_catalog_apply_when_it_is_opened(discreet: Discreet, folder: Path) -> None:
    catalog = folder / "discreet.toml"
    declared = "[analysts.eve]\nepsilon = 0.5\nper_query = 0.1\nconfirm_above = 0\n"
    catalog.write_text(f"{catalog.read_text()}\n{declared}")
    assert discreet("analyst", "limit", "eve", "--per-day", "0.2").err == ""
    assert "per query" in discreet(*ELDERLY, "--as", "eve").err
    again = discreet("analyst", "limit", "eve", "--per-query", "0.3")
    assert "declares limits for eve too" in again.err
    listed = json.loads(discreet("analyst", "list", "--json").out)["analysts"][0]["limits"]
    assert (listed["per_query"], listed["per_day"], listed["confirm_above"]) == (0.1, 0.2, 0)


def test_readers_and_owners_have_a_role_and_no_cap(discreet: Discreet, folder: Path) -> None:
    added = discreet("analyst", "add", "rea", "--role", "reader")
    assert "Reader rea may read saved answers and spends nothing." in " ".join(added.err.split())
    discreet("analyst", "add", "ann", "--role", "owner")
    discreet("analyst", "add", "eve", "-e", "0.5")
    rows = [line.split() for line in discreet("analyst", "list").out.splitlines()]
    assert [row[:2] for row in rows[1:]] == [
        ["rea", "reader"],
        ["ann", "owner"],
        ["eve", "analyst"],
    ]
    assert rows[1] == ["rea", "reader", "enabled"]
    listed = json.loads(discreet("analyst", "list", "--json").out)["analysts"]
    assert [(each["analyst"], each["role"], each["epsilon"]) for each in listed] == [
        ("rea", "reader", None),
        ("ann", "owner", None),
        ("eve", "analyst", 0.5),
    ]
    assert discreet("analyst", "disable", "rea").code == 0
    with SqliteLedger.existing(folder / "discreet.ledger") as ledger:
        assert {each.name: (each.role, each.enabled) for each in ledger.analysts()} == {
            "rea": ("reader", False),
            "ann": ("owner", True),
            "eve": ("analyst", True),
        }
    shown = discreet("ledger", "show").out
    assert "reader, enabled" in shown
    assert discreet("budget").code == 0
    refused = discreet(
        "ask", "SELECT COUNT(*) FROM visits", "-e", "0.1", "--token", added.out.strip()
    )
    assert refused.code == 1
    assert "This analyst's account is disabled" in refused.err
    refused = discreet("ask", "SELECT COUNT(*) FROM visits", "-e", "0.1", "--as", "ann")
    assert refused.code == 1
    assert "never charged" in refused.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "Give the analyst's cap with --epsilon."),
        (("--role", "king", "-e", "1"), "--role must be analyst, reader or owner."),
        (("--role", "reader", "-e", "1"), "--epsilon and --delta are for analysts"),
    ],
)
def test_a_cap_is_for_analysts_and_only_for_them(
    discreet: Discreet, given: tuple[str, ...], said: str
) -> None:
    refused = discreet("analyst", "add", "eve", *given)
    assert refused.code == 2
    assert said in " ".join(refused.err.replace("│", " ").split())


def test_requests_are_made_listed_and_decided(discreet: Discreet, folder: Path) -> None:
    discreet("analyst", "add", "eve", "-e", "0.5")
    assert discreet("analyst", "requests").out.strip() == "No requests."
    asked = discreet("analyst", "request", "eve", "-e", "1", "--reason", "a \x1b[31mstudy")
    assert "Request 3: eve asks for a cap of ε = 1 in total." in asked.out
    discreet("analyst", "request", "eve", "-e", "2", "--delta", "1e-8", "--reason", "more")
    with SqliteLedger.existing(folder / "discreet.ledger") as ledger:
        ledger.request_budget("eve", question="SELECT 1", price="ε = 9", reason="once")
    granted = discreet("analyst", "grant", "3", "-e", "0.75", "--reason", "less will do")
    assert granted.out.strip() == "The cap of eve is ε = 0.75 in total now."
    declined = discreet("analyst", "decline", "4", "--reason", "no")
    assert declined.out.strip() == "Request 4 of eve is declined."
    assert discreet("analyst", "grant", "5").out.strip() == "eve may run the query of request 5."
    table = discreet("analyst", "requests").out
    assert "a \\x1b[31mstudy" in table
    assert "\x1b" not in table
    found = json.loads(discreet("analyst", "requests", "--json").out)["requests"]
    assert [(each["number"], each["state"], each["granted_epsilon"]) for each in found] == [
        (3, "granted", 0.75),
        (4, "declined", None),
        (5, "granted", None),
    ]
    shown = discreet("ledger", "show").out
    assert "asks for a cap of ε = 2, δ = 1e-8 in total. Reason: more" in shown
    assert "asks to run a query at ε = 9: SELECT 1. Reason: once" in shown
    assert "request 3 granted by owner, cap ε = 0.75. Reason: less will do" in shown
    assert "request 4 declined by owner. Reason: no" in shown
    again = discreet("analyst", "grant", "4")
    assert again.code == 1
    assert "This one was declined." in again.err


def test_a_grant_says_that_the_catalog_has_a_cap_too(discreet: Discreet, folder: Path) -> None:
    catalog = folder / "discreet.toml"
    catalog.write_text(f"{catalog.read_text()}\n[analysts.eve]\nepsilon = 0.5\n")
    discreet("analyst", "list")
    discreet("analyst", "request", "eve", "-e", "1", "--reason", "more")
    granted = discreet("analyst", "grant", "3")
    assert "declares a cap for eve too" in " ".join(granted.err.split())
