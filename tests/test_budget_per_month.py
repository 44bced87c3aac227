"""A budget per month from end to end: charged months, what is said of them, and what is left."""

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.accounting import Budget
from discreet.curator import Curator
from discreet.errors import BudgetError, LedgerError, NothingFoundError
from discreet.explanation.months import budget_promise
from discreet.opening.open import open_catalog
from tests.cli.runs import call

MONTHS = [(2024, month) for month in range(1, 7)]
ROWS = [
    (who, date(year, month, 1 + n), n)
    for who in range(60)
    for year, month in MONTHS
    for n in range(who % 4)
]
VISITS = pa.table(dict(zip(("patient", "arrived", "cost"), zip(*ROWS, strict=True), strict=True)))


def in_month(month: int, what: str = "COUNT(*) AS n") -> str:
    return (
        f"SELECT {what} FROM visits WHERE arrived >= DATE '2024-{month:02}-01' "  # noqa: S608
        f"AND arrived < DATE '2024-{month + 1:02}-01'"
    )


def opened(**more: object) -> Curator:
    return discreet.open(
        {"visits": VISITS},
        epsilon=1,
        unit="patient",
        rows_per_unit=3,
        bounds={"cost": (0, 5)},
        arrival="arrived",
        per="month",
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture(name="curator")
def _curator() -> Iterator[Curator]:
    with opened() as curator:
        yield curator


def test_every_month_has_the_whole_budget_and_no_more(curator: Curator) -> None:
    for month in range(1, 7):
        answer = curator.ask(in_month(month), epsilon=1)
        assert answer.remaining.epsilon == 0
    for month in range(1, 7):
        with pytest.raises(BudgetError, match=f"remains for 2024-0{month}"):
            curator.ask(in_month(month, "SUM(cost) AS s"), epsilon=0.1)
    with pytest.raises(BudgetError):
        curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=0.1)
    assert curator.ask(in_month(7), epsilon=1).remaining.epsilon == 0
    left = {name: each.epsilon for name, each in curator.remaining_by_month().items()}
    assert left == {
        "before 2024-01": 1,
        "2024-01": 0,
        **{f"2024-0{month}": 0 for month in range(2, 8)},
        "from 2024-08": 1,
    }


def test_an_explanation_says_what_is_charged_and_protected(curator: Curator) -> None:
    text = curator.explain(in_month(2), epsilon=0.5).to_text()
    assert "Charged to  2024-02\n" in text
    assert "Protects    the data of one patient in one month (add-remove neighbours)" in text
    assert "rows of each patient and month" in text
    assert "Rows of visits where arrived is NULL or outside of the years 1 to 9999." in text
    assert "Without a first and a last month" not in text


def test_a_query_without_an_end_says_how_to_charge_fewer_months(curator: Curator) -> None:
    sql = "SELECT COUNT(*) AS n FROM visits WHERE arrived >= DATE '2024-02-01'"
    explained = curator.explain(sql, epsilon=0.5)
    assert explained.months == "2024-02 and every later month"
    assert any(
        "arrived >= DATE '2024-02-01' AND arrived < DATE '2024-03-01'" in each
        for each in explained.hints
    )


def test_what_remains_in_a_preview_is_what_remains_of_its_months(curator: Curator) -> None:
    curator.ask(in_month(2), epsilon=0.75)
    remaining = [curator.explain(in_month(n), epsilon=0.1).remaining for n in (1, 2)]
    assert [None if each is None else each.epsilon for each in remaining] == [1, Fraction(1, 4)]
    assert curator.remaining.epsilon == Fraction(1, 4)


def test_an_answer_says_what_was_charged_and_what_stays_protected(curator: Curator) -> None:
    answer = curator.ask(in_month(2), epsilon=0.5)
    note = "Charged to 2024-02. Protects the data of one patient in one month."
    assert note in map(str, answer.notes)


def test_an_answer_is_free_again_and_another_month_is_another_query(curator: Curator) -> None:
    first = curator.ask(in_month(2), epsilon=0.5)
    again = curator.ask(in_month(2), epsilon=0.5)
    other = curator.ask(in_month(3), epsilon=0.5)
    assert (first.from_ledger, again.from_ledger, other.from_ledger) == (False, True, False)


def test_coverage_and_found_bounds_are_charged_to_every_month(curator: Curator) -> None:
    curator.ask(in_month(2), epsilon=0.5)
    coverage = curator.coverage("visits", epsilon=0.25)
    assert "rows of each patient and month" in str(coverage)
    with suppress(NothingFoundError):
        curator.find_bounds("visits.cost", epsilon=0.125)
    left = [each.epsilon for each in curator.remaining_by_month().values()]
    assert left == [Fraction(5, 8), Fraction(1, 8), Fraction(5, 8)]


def test_coverage_says_that_shares_are_of_rows_in_used_months() -> None:
    with opened(months_per_unit=2) as curator:
        coverage = curator.coverage("visits", epsilon=1)
        text = " ".join(str(coverage).split())
        assert "Coverage of visits: its rows in used months, before any WHERE" in text
        assert "Only rows of a privacy unit's first 2 months are used. Other rows are in" in text
        assert json.loads(coverage.to_json())["months_per_unit"] == 2
        explained = curator.explain("SELECT SUM(cost) AS s FROM visits", epsilon=0.5)
        assert "of rows of visits in used months" in " ".join(explained.bounding)
    with opened() as curator:
        coverage = curator.coverage("visits", epsilon=1)
        assert "Coverage of visits: all of its rows that have a month, before" in str(coverage)
        assert "used" not in str(coverage)
        assert "months_per_unit" not in json.loads(coverage.to_json())


def test_an_analyst_has_the_cap_for_each_month() -> None:
    with opened(analysts={"ann": 0.5}) as curator:
        ann = curator.on_account("ann")
        for month in (1, 2):
            ann.ask(in_month(month), epsilon=0.5)
        with pytest.raises(BudgetError, match="for 2024-02 in the cap of analyst 'ann'"):
            ann.ask(in_month(2, "SUM(cost) AS s"), epsilon=0.25)
        left = [each.epsilon for each in ann.remaining_by_month().values()]
        assert left == [Fraction(1, 2), 0, 0, Fraction(1, 2)]


def test_only_the_first_months_of_a_patient_are_used() -> None:
    with opened(months_per_unit=2) as curator:
        explained = curator.explain(in_month(2), epsilon=0.5)
        assert explained.protects == (
            "the used data of one patient in one month; all data of one patient together at 2 "
            "times the cost at most (add-remove neighbours)"
        )
        assert any(
            "after the first 2 months in which a patient has any" in each
            for each in explained.left_out
        )
        counts = [int(str(curator.ask(in_month(n), epsilon=1).rows[0]["n"])) for n in (1, 2, 3, 4)]
        assert min(counts[:2]) > 60
        assert max(counts[2:]) < 30


@pytest.mark.parametrize(
    ("total", "months", "says"),
    [
        (Budget(epsilon=1), None, "with ε = 1. A unit with data in several months has less"),
        (Budget(epsilon=1), 1, "At most 1 month of a unit is used: ε = 1 for all its data."),
        (Budget(epsilon=1), 3, "At most 3 months of a unit are used: ε = 3 for all its data."),
        (Budget(epsilon=1, delta=Fraction(1, 10**6)), 2, "ε = 2, δ ≈ 3.71829e-6 for all"),
        (Budget(epsilon=9, delta=Fraction(1, 10**6)), 12, "this proves nothing about all data"),
    ],
)
def test_the_promise_over_time_has_the_numbers_of_group_privacy(
    total: Budget, months: int | None, says: str
) -> None:
    assert says in budget_promise(total, months)


# --------------------------------------------------------------------------- a catalog file

CATALOG = """
[budget]
epsilon = 1
per = "month"
months_per_unit = 6

[tables.visits]
from = "visits.parquet"
unit = "patient"
rows_per_unit = 3
arrival = "arrived"
"""


@pytest.fixture(name="catalog")
def _catalog(tmp_path: Path) -> Path:
    pq.write_table(VISITS, tmp_path / "visits.parquet")
    place = tmp_path / "discreet.toml"
    place.write_text(CATALOG, encoding="utf-8")
    return place


def test_the_budget_command_shows_what_is_left_by_month(
    catalog: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = call(capsys, monkeypatch, "budget", "-c", str(catalog)).out
    assert "At most 6 months of a unit are used: ε = 6 for all" in " ".join(text.split())
    with open_catalog(catalog) as curator:
        curator.ask(in_month(2), epsilon=0.5)
    text = call(capsys, monkeypatch, "budget", "-c", str(catalog)).out
    assert "2024-02          ε = 0.5 of 1" in text
    assert "from 2024-03     ε = 1 of 1" in text
    assert "protects the used data of one unit in one month with ε = 1." in " ".join(text.split())
    told = json.loads(call(capsys, monkeypatch, "budget", "-c", str(catalog), "--json").out)[
        "report"
    ]
    assert [each["epsilon"] for each in told["months"].values()] == [1, 0.5, 1]


def test_a_ledger_per_month_stays_one(catalog: Path) -> None:
    with open_catalog(catalog) as curator:
        curator.ask(in_month(2), epsilon=0.5)
    with open_catalog(catalog) as curator:
        assert curator.ask(in_month(2), epsilon=0.5).from_ledger
        assert curator.explain(in_month(3), epsilon=0.5).remaining.epsilon == 1  # type: ignore[union-attr]
    for line in ('per = "month"\nmonths_per_unit = 6\n', "months_per_unit = 6\n"):
        catalog.write_text(CATALOG.replace(line, ""), encoding="utf-8")
        with pytest.raises(LedgerError, match="cannot be changed"):
            open_catalog(catalog)
