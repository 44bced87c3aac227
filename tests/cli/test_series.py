"""`discreet series`: the cost is said before it is charged, and ticks are read without data."""

import io
import json
from datetime import timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Discreet
from tests.cli.runs import Ended
from tests.series.files import DAYS, first_day, write_clinic

REGIONS = "visits by region"


@pytest.fixture(autouse=True)
def clinic(folder: Path) -> Path:
    """Replace the small table by one that has series."""
    write_clinic(folder)
    return folder


@pytest.fixture
def ticked(discreet: Discreet) -> Ended:
    return discreet("series", "tick")


def test_a_list_says_what_is_due_and_what_it_costs(discreet: Discreet) -> None:
    head, first, second = discreet("series", "list").out.splitlines()
    names = ("series", "clock", "released", "next", "cost", "charged")
    assert [each for each in names if each in head] == list(names)
    assert first.split("   ")[0] == REGIONS
    assert f"0 of 30   {DAYS} ticks now" in first
    assert first.endswith("no")
    assert "ε = 20" in second
    (found, _) = json.loads(discreet("series", "list", "--json").out)["series"]
    assert (found["name"], found["due"], found["is_charged"]) == (REGIONS, DAYS, False)


def test_an_explanation_comes_before_any_charge(discreet: Discreet, clinic: Path) -> None:
    (clinic / "visits.csv").unlink()
    found = discreet("series", "explain", REGIONS)
    assert found.code == 0
    assert "Cost: ε = 10, for all 30 days together, charged once." in found.out
    assert f"State: not charged yet: 0 of 30 days released, {DAYS} more" in found.out
    assert "Protects all data of one patient_id over the whole series (add-remove)." in found.out
    assert found.out.count("±") == 4
    assert discreet("series", "show", REGIONS).out == found.out
    assert "Remaining: ε = 100 of 100" in discreet("budget").out


def test_ticks_that_are_due_are_released_and_charged_once(
    discreet: Discreet, ticked: Ended
) -> None:
    assert ticked.out.splitlines() == [
        f"{REGIONS}: Released {DAYS} days. Spent ε = 10.",
        f"patients: Released {DAYS} days. Spent ε = 20.",
    ]
    assert f"{REGIONS} costs ε = 10 for all 30 days, charged once and now." in ticked.err
    assert "Remaining: ε = 70 of 100" in ticked.err
    again = discreet("series", "tick", "patients")
    assert again.out == "patients: No tick is due.\n"
    assert again.err == ""


def test_an_earlier_moment_releases_fewer_ticks(discreet: Discreet) -> None:
    until = (first_day() + timedelta(days=2)).isoformat()
    found = discreet("series", "tick", "PATIENTS", "--until", until, "--json")
    (record,) = json.loads(found.out)["released"]
    assert (record["series"], record["ticks"]) == ("patients", 2)
    assert record["charged"]["epsilon"] == 20
    assert discreet("series", "tick", "--until", "soon").code == 2
    late = discreet("series", "tick", "--until", "9000-01-01")
    assert (late.code, "must not be in the future" in late.err) == (1, True)


@pytest.mark.parametrize(("said", "code"), [("n\n", 1), ("y\n", 0)])
def test_someone_at_a_terminal_is_asked_before_the_charge(
    discreet: Discreet, monkeypatch: pytest.MonkeyPatch, said: str, code: int
) -> None:
    monkeypatch.setattr("discreet.cli.series.is_interactive", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(said))
    found = discreet("series", "tick", "patients")
    assert found.code == code
    assert "Charge and release? [y/N]" in found.err
    if code:
        assert "No tick was released, and nothing was spent." in found.err
    left = 100 if code else 80
    assert f"Remaining: ε = {left} of 100" in discreet("budget").out
    assert "Charge and release?" not in discreet("series", "tick", "patients", "--yes").err


@pytest.mark.usefixtures("ticked")
def test_released_ticks_are_shown_without_the_data(discreet: Discreet, clinic: Path) -> None:
    (clinic / "visits.csv").unlink()
    shown = discreet("series", "show", REGIONS, "--window", "7", "--last", "2").out
    assert shown.startswith(f"{REGIONS}: last 7 days ({DAYS} of 30 days released)")
    yesterday = (first_day() + timedelta(days=DAYS - 1)).isoformat()
    assert [line.split()[:2] for line in shown.splitlines() if line.startswith(yesterday)] == [
        [yesterday, "north"],
        [yesterday, "south"],
    ]
    head, *rows = discreet("series", "show", REGIONS, "--kind", "tick", "--csv").out.splitlines()
    assert head == "tick,region,visits,visits_margin"
    assert len(rows) == 2 * DAYS
    told = json.loads(discreet("series", "show", "patients", "--last", "1", "--json").out)
    assert (told["kind"], len(told["rows"])) == ("running", 1)
    assert abs(told["rows"][0][1] - 40 * DAYS) < 20


@pytest.mark.usefixtures("ticked")
def test_a_chart_of_a_series_is_saved(discreet: Discreet, clinic: Path) -> None:
    assert discreet("series", "plot", REGIONS, "-o", "chart.svg").err == "Chart: chart.svg\n"
    drawn = (clinic / "chart.svg").read_text()
    assert "north" in drawn
    assert "south" in drawn
    assert discreet("series", "plot", REGIONS, "-o", "chart.gif").code == 1


def test_what_cannot_be_shown_is_told_in_one_sentence(discreet: Discreet) -> None:
    unknown = discreet("series", "show", "patient")
    assert unknown.code == 1
    assert unknown.err == "discreet: There is no series 'patient'. Did you mean patients?\n"
    early = discreet("series", "plot", "patients", "-o", "chart.png")
    assert "No tick of the series patients is released yet" in early.err
    assert discreet("series", "show", "patients", "--kind", "window").code == 2
    assert discreet("series", "show", "patients", "--kind", "tick", "--window", "3").code == 2


def test_a_series_that_is_rejected_hinders_no_list(discreet: Discreet, clinic: Path) -> None:
    catalog = clinic / "discreet.toml"
    text = catalog.read_text().replace("COUNT(DISTINCT patient_id)", "MEDIAN(patient_id)")
    catalog.write_text(text)
    found = discreet("series", "list")
    assert found.code == 0
    assert "patients: no tick can be released." in found.err
    assert REGIONS in found.out


def test_a_series_that_fails_hinders_no_other(discreet: Discreet, clinic: Path) -> None:
    catalog = clinic / "discreet.toml"
    good = catalog.read_text()
    catalog.write_text(good.replace("COUNT(*) AS visits", "MEDIAN(patient_id) AS visits"))
    found = discreet("series", "tick", "--json")
    assert found.code == 1
    told = json.loads(found.out)
    assert [each["series"] for each in told["released"]] == ["patients"]
    assert [each["series"] for each in told["failed"]] == [REGIONS]
    assert f"{REGIONS}: no tick was released. " in found.err
    assert "Remaining: ε = 80 of 100" in found.err


def test_a_budget_that_is_exhausted_stops_no_cheaper_series(
    discreet: Discreet, clinic: Path
) -> None:
    catalog = write_clinic(clinic, budget=25)
    catalog.write_text(catalog.read_text().replace("epsilon = 10", "epsilon = 30"))
    found = discreet("series", "tick")
    assert (found.code, found.out) == (3, f"patients: Released {DAYS} days. Spent ε = 20.\n")
    assert f"{REGIONS}: no tick was released. " in found.err


def test_a_catalog_without_series_says_so(discreet: Discreet, clinic: Path) -> None:
    catalog = clinic / "discreet.toml"
    catalog.write_text(catalog.read_text().partition("[[series]]")[0])
    assert discreet("series", "list").out == "The catalog declares no series.\n"
    assert discreet("series", "tick").out == "The catalog declares no series.\n"
