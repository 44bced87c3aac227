"""`discreet budget` and `discreet ledger`: balances by partition, and books that were edited."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Discreet
from tests.cli.runs import VISITS

pytestmark = pytest.mark.usefixtures("folder")

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
    assert lines[0] == "left ε = 0.5 of 2"
    assert "report, not the filter: ε = 1.5 by pure accounting" in shown
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
    assert "the budget for units of 'visits_23' does not allow this" in refused.err


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
    assert "left ε = 2 of 2 or ρ ≈ 0.0" in discreet("budget").out
    sql = "SELECT region, COUNT(*) FROM visits GROUP BY region"
    assert discreet("ask", sql, "--epsilon", "0.2").code == 0
    assert discreet("budget").out.startswith("left ρ ≈ 0.0")


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
    assert "each as it was written" in discreet("ledger", "verify").out
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
        assert "the ledger's entries are not as they were written" in ended.err
        assert ended.out == ""
