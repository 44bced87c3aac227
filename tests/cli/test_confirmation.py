"""`discreet ask` asks before it pays for an answer that is likely to be empty."""

import io
from pathlib import Path

import pytest

from tests.cli.conftest import Discreet
from tests.cli.runs import CATALOG


@pytest.fixture
def undeclared(folder: Path) -> Path:
    """Declare no regions, and how many patients there can be."""
    text = CATALOG.replace(', values = ["north", "south"]', "").replace(
        "rows_per_unit = 3", "rows_per_unit = 50"
    )
    (folder / "discreet.toml").write_text(
        text.replace(
            'patient_id = { type = "integer" }',
            'patient_id = { type = "integer", bounds = [0, 299] }',
        )
    )
    return folder


ASK = (
    "ask",
    "SELECT region, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY region",
    "-e",
    "0.1",
)


def answering(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("discreet.cli.ask.is_interactive", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


@pytest.mark.usefixtures("undeclared")
def test_a_query_that_is_declined_costs_nothing(
    discreet: Discreet, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, "n\n")
    asked = discreet(*ASK)
    assert asked.code == 1
    assert "Warning: Probably no group would be shown: a group needs about" in asked.err
    assert "Run the query anyway? [y/N]" in asked.err
    assert "The query was not run, and nothing was spent." in asked.err
    assert asked.out.strip() == ""
    assert "Remaining: ε = 2 of 2" in discreet("budget").out


@pytest.mark.usefixtures("undeclared")
def test_a_query_that_is_confirmed_is_run(
    discreet: Discreet, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, "y\n")
    asked = discreet(*ASK)
    assert asked.code == 0
    assert "No group had at least about" in asked.out
    assert "Remaining: ε = 1.9 of 2" in discreet("budget").out


@pytest.mark.usefixtures("undeclared")
def test_a_script_is_warned_and_goes_on(discreet: Discreet) -> None:
    asked = discreet(*ASK)
    assert asked.code == 0
    assert asked.err.startswith("Warning: Probably no group would be shown")
    assert "anyway?" not in asked.err
    assert "Remaining: ε = 1.9 of 2" in discreet("budget").out


@pytest.mark.usefixtures("undeclared")
def test_yes_asks_and_warns_of_nothing(discreet: Discreet, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "")
    asked = discreet(*ASK, "--yes")
    assert asked.code == 0
    assert asked.err == ""


@pytest.mark.usefixtures("undeclared")
def test_the_preview_warns_by_what_is_declared(discreet: Discreet) -> None:
    told = discreet("explain", *ASK[1:])
    assert told.code == 0
    assert "Warnings\n  Probably no group would be shown" in told.out
