"""Coverage as owners and analysts meet it: charged once, kept, and said below every answer."""

import json
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.curator import Curator
from discreet.errors import BudgetError, CatalogError
from discreet.opening import open as opening
from tests.coverage.flights import ROWS, flights, share_counted
from tests.curated import curator_of, transactions
from tests.replay import ReplayableEntropy

COUNT = "SELECT COUNT(*) AS n FROM flights"
HOW = 'discreet coverage flights, or curator.coverage("flights")'

UNITS = 2000


@pytest.fixture(scope="module", autouse=True)
def replayed() -> Iterator[None]:
    """Let all noise follow from a seed: else one interval in twenty might miss."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "Curator", partial(Curator, entropy=ReplayableEntropy(1)))
        yield


def visits(**declared: Any) -> Curator:
    """Return a curator of 2,000 patients: each has 1 or 9 visits, of 2,000 values 1 in 4 is 90."""
    units = [unit for unit in range(UNITS) for _ in range(1 + 8 * (unit % 2))]
    costs = [90.0 if place % 4 == 0 else 20.0 for place in range(len(units))]
    given = {"rows_per_unit": 4, "bounds": {"cost": (0, 50)}, "epsilon": 200, **declared}
    return curator_of({"patient_id": units, "cost": costs}, **given)


@pytest.fixture
def curator() -> Iterator[Curator]:
    with visits() as found:
        yield found


# --------------------------------------------------------------------------- at realistic size


@pytest.fixture(scope="module")
def planes() -> Iterator[Curator]:
    with discreet.open(
        pa.Table.from_pandas(flights()),
        name="flights",
        unit="tailnum",
        rows_per_unit=10,
        epsilon=10,
        bounds={"arr_delay": (-60, 500)},
    ) as found:
        yield found


def test_an_answer_that_counts_a_ninth_of_all_rows_says_so(planes: Curator) -> None:
    """336,776 flights are answered as some 36,000: without a word, that was taken for the truth."""
    before = planes.ask(COUNT, epsilon=1)
    assert before.rows[0]["n"] < ROWS / 8  # type: ignore[operator]
    line = "Counts at most 10 rows of each tailnum, so counts and sums can be too low · To see how"
    assert line in str(before)
    assert HOW in " ".join(str(before).split())
    spent = planes.remaining.epsilon
    measured = planes.coverage("flights")
    assert spent - planes.remaining.epsilon == Fraction(10, 20)
    assert measured.rows is not None
    assert measured.rows.low <= share_counted(10) <= measured.rows.high
    assert measured.rows.margin < 0.05
    after = planes.ask(COUNT, epsilon=1)
    assert after.is_free
    (said,) = [each for each in after.notes if each.startswith("Counts at most")]
    assert said.startswith("Counts at most 10 rows of each tailnum · about 1")
    assert said.endswith(("% of all rows of flights", "%) of all rows of flights"))
    assert said in str(after)
    assert said in after._repr_html_()
    assert HOW not in " ".join(str(after).split())


def test_values_above_a_bound_are_said_with_their_share(planes: Curator) -> None:
    measured = planes.coverage("flights", epsilon=2)
    (delay,) = measured.columns
    exact = float((flights()["arr_delay"] > 500).mean())
    assert delay.above.low <= exact <= delay.above.high
    assert delay.below.low == 0
    total = planes.ask("SELECT SUM(arr_delay) AS s FROM flights", epsilon=1)
    text = " ".join(str(total).split())
    assert "-60 to 500 (at most " in text
    assert "% of values below, " in text


# --------------------------------------------------------------------------- charged once


def test_opening_and_asking_charge_nothing_for_coverage(curator: Curator) -> None:
    curator.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    curator.explain("SELECT COUNT(*) FROM visits", epsilon=1)
    assert curator.remaining.epsilon == 199


def test_it_is_charged_once_and_free_for_everyone_after(curator: Curator) -> None:
    first = curator.coverage("visits", epsilon=20)
    assert (float(first.price.epsilon), first.from_ledger) == (20, False)
    assert curator.remaining.epsilon == 180
    again = curator.coverage("VISITS", epsilon=20)
    assert (again.from_ledger, float(again.price.epsilon)) == (True, 20)
    assert curator.remaining.epsilon == 180
    assert again.rows == first.rows
    smaller = curator.coverage("visits", epsilon=5)
    assert (smaller.rows, smaller.columns) == (first.rows, first.columns)
    assert curator.remaining.epsilon == 180


def test_a_larger_epsilon_is_charged_and_then_said(curator: Curator) -> None:
    curator.coverage("visits", epsilon=Fraction(1, 10))
    curator.coverage("visits", epsilon=60)
    assert curator.remaining.epsilon == 200 - Fraction(1, 10) - 60
    (limit,) = curator.ask("SELECT COUNT(*) FROM visits", epsilon=1).limits
    share: Any = limit["share"]
    assert share["high"] - share["low"] < 0.05
    curator.coverage("visits", epsilon=Fraction(1, 5))
    assert curator.ask("SELECT COUNT(*) FROM visits", epsilon=1).limits == (limit,)


def test_it_does_not_depend_on_who_asks(tmp_path: Path) -> None:
    ledger = tmp_path / "l.ledger"
    with visits(ledger=ledger, analysts={"eve": 50, "bob": 50}) as curator:
        for name in ("eve", "bob"):
            curator._ledger.declare_analyst(name, epsilon=50)
        eve, bob = curator.on_account("eve"), curator.on_account("bob")
        hers = eve.coverage("visits", epsilon=20)
        his = bob.coverage("visits", epsilon=20)
        assert his.rows == hers.rows
        assert [float(each.remaining.epsilon) for each in (eve, bob)] == [30, 50]
        assert "about 5" in bob.ask("SELECT COUNT(*) FROM visits", epsilon=1).notes[0]


def test_other_data_have_another_coverage(tmp_path: Path) -> None:
    ledger = tmp_path / "l.ledger"
    with visits(ledger=ledger) as curator:
        curator.coverage("visits", epsilon=20)
    with visits(ledger=ledger) as curator:
        curator._reuse._data_version = "other data"
        answer = curator.ask("SELECT COUNT(*) FROM visits", epsilon=1)
        assert answer.limits[0]["share"] is None
        curator.coverage("visits", epsilon=20)
        assert curator.remaining.epsilon == 200 - 20 - 1 - 20


def test_what_cannot_be_afforded_is_rejected_before_anything_is_charged() -> None:
    with visits(epsilon=10) as curator:
        with pytest.raises(BudgetError):
            curator.coverage("visits", epsilon=11)
        assert curator.remaining.epsilon == 10


def test_it_is_looked_up_in_the_one_read_of_an_answer(curator: Curator) -> None:
    curator.coverage("visits", epsilon=20)
    curator.ask("SELECT COUNT(*), SUM(cost) FROM visits", epsilon=1)
    with transactions(curator) as seen:
        answer = curator.ask("SELECT COUNT(*), SUM(cost) FROM visits", epsilon=1)
    assert seen == ["read"]
    assert len(answer.limits) == 2


# --------------------------------------------------------------------------- what is said


def test_programs_get_the_shares_as_numbers(curator: Curator) -> None:
    curator.coverage("visits", epsilon=100)
    told = json.loads(curator.ask("SELECT SUM(cost) AS s FROM visits", epsilon=1).to_json())
    rows, values = told["limits"]
    exact = (4 + 1) / (9 + 1)
    assert rows["share"].pop("confidence") == 0.95
    assert rows["share"]["low"] <= exact <= rows["share"]["high"]
    assert rows == {
        "kind": "rows",
        "unit": "patient_id",
        "most": 4,
        "table": "visits",
        "share": rows["share"],
        "command": "discreet coverage visits",
    }
    assert (values["table"], values["column"], values["high"]) == ("visits", "cost", 50)
    assert 0.15 < values["above"]["estimate"] < 0.35
    assert all(isinstance(each, str) for each in told["notes"])
    whole = json.loads(curator.coverage("visits", epsilon=100).to_json())
    assert (whole["rows"]["estimate"], whole["was_kept"]) == (rows["share"]["estimate"], True)


def test_a_csv_has_numbers_only(curator: Curator) -> None:
    assert "Counts" not in str(curator.ask("SELECT COUNT(*) FROM visits", epsilon=1).to_csv())


def test_the_line_is_about_the_table_and_says_when_rows_were_chosen(curator: Curator) -> None:
    curator.coverage("visits", epsilon=100)
    sql = "SELECT COUNT(*) FROM visits WHERE cost > 50"
    per_query = curator.ask(sql, epsilon=1).notes[0]
    assert per_query.startswith("Counts at most 4 rows of each patient_id · about 50% of all rows")
    assert curator.explain(sql, epsilon=1).bounding == (per_query,)


def test_a_value_prints_itself(curator: Curator) -> None:
    measured = curator.coverage("visits", epsilon=100)
    lines = str(measured).splitlines()
    assert lines[0] == "Coverage of visits: all of its rows, before any WHERE, at 95% confidence."
    assert lines[1] == "At most 4 rows of each patient_id are counted: about 50% of rows."
    assert "cost: at most" in str(measured)
    assert "Spent ε = 100 · Remaining: ε = 100 of 200 · Repeating it is free" in lines
    assert "<div>" in measured._repr_html_()
    assert measured.best_rows_per_unit(10) == 10
    share = measured.rows_at(8)
    assert share is not None
    assert share.low <= (8 + 1) / (9 + 1) <= share.high


def test_too_little_epsilon_is_said(curator: Curator) -> None:
    measured = curator.coverage("visits", epsilon=Fraction(1, 1000))
    assert "This ε is too small to tell the share of rows." in str(measured)
    note = curator.ask("SELECT COUNT(*) FROM visits", epsilon=1).notes[0]
    assert "was too small to tell the share of rows of visits" in note


# --------------------------------------------------------------------------- several tables


@pytest.fixture(scope="module")
def clinic() -> Iterator[Curator]:
    patients = pa.table({"patient_id": list(range(300)), "age": [n % 90 for n in range(300)]})
    rows = [unit for unit in range(300) for _ in range(1 + 9 * (unit % 2))]
    seen = pa.table({"visit_id": list(range(len(rows))), "patient_id": rows})
    given = pa.table({"visit_id": [n for n in range(len(rows)) for _ in (1, 2)]})
    with discreet.open(
        {"patients": patients, "visits": seen, "given": given},
        unit={
            "patients": "patient_id",
            "visits": "patient_id",
            "given": "visits.patient_id via visit_id",
        },
        key={"patients": "patient_id", "visits": "visit_id"},
        rows_per_unit={"patients": 1, "visits": 5, "given": 6},
        epsilon=1000,
    ) as found:
        yield found


JOINED = "SELECT COUNT(*) FROM visits v JOIN given g ON g.visit_id = v.visit_id"


def test_a_limit_that_cannot_cut_is_not_mentioned(clinic: Curator) -> None:
    answer = clinic.ask("SELECT COUNT(*) FROM patients WHERE age < 40", epsilon=1)
    assert not any(each.startswith("Counts") for each in answer.notes)
    assert answer.limits == ()
    with curator_of({"x": [1.0, 2.0]}) as by_row:
        assert by_row.ask("SELECT COUNT(*) FROM visits", epsilon=1).notes == ()


def test_a_join_names_each_limited_table(clinic: Curator) -> None:
    clinic.coverage("visits", epsilon=50)
    partly = clinic.ask(JOINED, epsilon=1)
    assert [(each["table"], each["share"] is None) for each in partly.limits] == [
        ("visits", False),
        ("given", True),
    ]
    assert 'discreet coverage given, or curator.coverage("given")' in partly.notes[0]
    clinic.coverage("given", epsilon=50)
    wholly = clinic.ask(JOINED, epsilon=1).notes[0]
    assert "5 of each patient_id are about" in wholly
    assert "of all rows of visits" in wholly
    assert "6 of each patient_id are about" in wholly
    assert "of all rows of given" in wholly


def test_rows_on_a_path_belong_to_the_unit_at_its_end(clinic: Curator) -> None:
    measured = clinic.coverage("given", epsilon=100)
    exact = (2 + 6) / (2 + 20)
    assert measured.rows is not None
    assert measured.rows.low <= exact <= measured.rows.high
    assert measured.unit == "patient_id"


def test_groups_by_unit_have_a_line_without_a_share(clinic: Curator) -> None:
    sql = (
        "SELECT COUNT(*) FROM (SELECT patient_id, visit_id, COUNT(*) AS n FROM visits "
        "GROUP BY patient_id, visit_id)"
    )
    answer = clinic.ask(sql, epsilon=1)
    assert answer.notes[0].startswith("Counts at most 5 rows of each patient_id, so counts")
    assert "coverage" not in answer.notes[0]


def test_tables_that_share_no_units_are_charged_apart() -> None:
    rows = pa.table({"u": [n // 2 for n in range(400)]})
    with discreet.open(
        {"a": rows, "b": rows}, unit={"a": "u", "b": "u"}, disjoint=[("a", "b")], epsilon=10
    ) as curator:
        curator.coverage("a", epsilon=10)
        curator.coverage("b", epsilon=10)
        with pytest.raises(BudgetError):
            curator.coverage("a", epsilon=11)


def test_nothing_to_measure_is_said() -> None:
    with curator_of({"x": [1.0]}) as curator, pytest.raises(CatalogError, match="nothing to"):
        curator.coverage("visits")
