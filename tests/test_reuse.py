"""Questions that a kept table answers: free, with its numbers, and never with more noise."""

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.answer import Price
from discreet.curator import Curator
from discreet.query.plan.plan import EpsilonTarget
from tests.curated import curator_of

COLUMNS: dict[str, list[object]] = {
    "patient_id": list(range(2000)),
    "cost": [float(i % 90) for i in range(2000)],
    "age": [i % 80 for i in range(2000)],
    "region": [("north", "south")[i % 2] for i in range(2000)],
    "town": [f"town {i % 5}" for i in range(2000)],
}
DECLARED: dict[str, Any] = {
    "bounds": {"cost": (0, 100), "age": (0, 120)},
    "values": {"region": ["north", "south"]},
    "rows_per_unit": 1,
}
ALL = {
    "n": "COUNT(*)",
    "s": "SUM(cost)",
    "m": "AVG(age)",
    "v": "VARIANCE(cost)",
    "q": "MEDIAN(age)",
    "x": "MAX(cost)",
}
SHOWN = ", ".join(f"{what} AS {name}" for name, what in ALL.items())
WIDE = f"SELECT region, {SHOWN} FROM visits GROUP BY region"  # noqa: S608


def asked_widely() -> Curator:
    made = curator_of(COLUMNS, seed=None, **DECLARED)
    made.ask(WIDE, epsilon=1)
    return made


@pytest.fixture
def curator() -> Curator:
    return asked_widely()


@pytest.fixture(scope="module")
def served() -> Curator:
    """Return a curator that is asked only what is free."""
    return asked_widely()


def left(curator: Curator) -> Fraction:
    return curator.remaining.epsilon


@pytest.mark.parametrize("names", [*combinations(ALL, 1), ("v", "n"), ("x", "m", "q")])
def test_some_of_the_columns_are_free_at_a_price_that_buys_no_better(
    served: Curator, names: tuple[str, ...]
) -> None:
    wide = served.ask(WIDE, epsilon=1)
    shown = ", ".join(f"{ALL[name]} AS {name}2" for name in names)
    sql = f"select {shown}, region AS r from visits AS w group by r order by r desc"  # noqa: S608
    some = served.ask(sql, epsilon=Fraction(1, 20))
    assert some.from_ledger
    assert left(served) == 99
    for name in names:
        assert [row[f"{name}2"] for row in some.rows] == [row[name] for row in wide.rows][::-1]
        assert some.margins.get(f"{name}2") == (
            wide.margins[name][::-1] if name in wide.margins else None
        )


def test_what_a_question_pays_for_is_never_served_with_more_noise(curator: Curator) -> None:
    sql = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"
    assert not curator.ask(sql, epsilon=1).from_ledger
    assert left(curator) == 98
    assert curator.ask(sql, epsilon=Fraction(9, 10)).from_ledger
    assert not curator.ask(sql, epsilon=Fraction(11, 10)).from_ledger
    assert curator.ask(sql, within=50).from_ledger


def test_the_same_question_at_a_lower_price_is_free(curator: Curator) -> None:
    dear = curator.ask(WIDE, epsilon=1)
    assert curator.ask(WIDE, epsilon=Fraction(1, 3)).rows == dear.rows
    assert left(curator) == 99
    assert not curator.ask(WIDE, epsilon=2).from_ledger


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT region, COUNT(*) FROM visits WHERE age > 3 GROUP BY region",
        "SELECT COUNT(*) FROM visits",
        "SELECT region, SUM(age) FROM visits GROUP BY region",
        "SELECT region, COUNT(*), SUM(age) FROM visits GROUP BY region",
        "SELECT region, QUANTILE(age, 0.4) FROM visits GROUP BY region",
        "SELECT region, SUM(cost) FILTER (WHERE age > 3) FROM visits GROUP BY region",
        "SELECT region, age > 3, COUNT(*) FROM visits GROUP BY 1, 2",
        "SELECT COUNT(*) FROM visits WHERE region = 'north'",
        "SELECT region, COUNT(*) FROM visits WHERE region IN ('north') GROUP BY region",
    ],
)
def test_what_means_anything_else_is_paid_for(curator: Curator, sql: str) -> None:
    assert not curator.ask(sql, epsilon=Fraction(1, 20)).from_ledger
    assert left(curator) == 99 - Fraction(1, 20)


def test_keys_that_only_the_data_know_are_served_from_no_larger_a_threshold() -> None:
    curator = curator_of(COLUMNS, seed=None, **DECLARED, delta=Fraction(1, 10**6))
    wide = "SELECT town, COUNT(*) AS n, AVG(cost) AS s FROM visits GROUP BY town"
    kept = curator.ask(wide, epsilon=4)
    some = curator.ask("SELECT town, AVG(cost) AS s FROM visits GROUP BY town", epsilon=1)
    assert some.from_ledger
    assert some.rows == [{"town": row["town"], "s": row["s"]} for row in kept.rows]
    assert left(curator) == 96
    assert not curator.ask(wide, epsilon=5).from_ledger


def test_keys_that_units_select_are_not_served_from_those_that_rows_select() -> None:
    curator = curator_of(COLUMNS, seed=None, **DECLARED, delta=Fraction(1, 10**6))
    curator.ask("SELECT town, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY town", epsilon=4)
    alone = "SELECT town, SUM(cost) AS s FROM visits GROUP BY town"
    assert not curator.ask(alone, epsilon=1).from_ledger


def test_other_data_another_schema_and_other_bounds_are_asked_anew(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,x\n" + "".join(f"{i},{i % 9}\n" for i in range(99)))

    def kept(epsilon: float, **declared: Any) -> bool:
        given: dict[str, Any] = {"unit": "who", "epsilon": 9, "bounds": {"x": (0, 9)}, **declared}
        with discreet.open(tmp_path / "t.csv", ledger=tmp_path / "l", **given) as curator:
            return curator.ask("SELECT SUM(x) FROM t", epsilon=epsilon).from_ledger

    assert [kept(1), kept(0.5)] == [False, True]
    assert not kept(0.4, bounds={"x": (0, 8)})
    assert not kept(0.4, rows_per_unit=3)
    assert not kept(0.4, version="2")
    assert kept(0.4)


def test_a_release_that_depends_on_a_released_number_is_not_read_off_another() -> None:
    curator = curator_of(COLUMNS, seed=None, **DECLARED)
    wide = (
        "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE age > (SELECT AVG(age) FROM visits)"
    )
    curator.ask(wide, epsilon=1)
    sql = "SELECT COUNT(*) AS n FROM visits WHERE age > (SELECT AVG(age) FROM visits)"
    assert not curator.ask(sql, epsilon=Fraction(1, 2)).from_ledger
    assert curator.ask("SELECT AVG(age) FROM visits", epsilon=Fraction(1, 5)).charged.epsilon > 0


def test_an_answer_that_was_read_off_says_so(served: Curator) -> None:
    some = served.ask("SELECT region, SUM(cost) FROM visits GROUP BY region", epsilon=0.1)
    assert any("come from the saved answer to another query" in each for each in some.notes)
    assert "Spent nothing: read from the saved answer to another query" in some.to_text()
    assert "come from the saved answer to another query" in some.to_text(width=300)


def test_groups_alone_can_be_asked_after_a_question_that_fed_on_their_numbers() -> None:
    made = curator_of(COLUMNS, seed=None, delta=1e-3, **DECLARED)
    inner = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
    outer = f"SELECT COUNT(*) FROM visits WHERE age < (SELECT MAX(n) FROM ({inner}))"  # noqa: S608
    made.ask(outer, epsilon=9)
    assert made.ask("SELECT town FROM visits GROUP BY town", epsilon=1).table.num_rows == 5


# --------------------------------------------------------------------------- shown once

SOME = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"
OTHERS = [
    "SELECT region, SUM(age + 1) FROM visits GROUP BY region",
    "SELECT region, SUM(age + 2) FROM visits GROUP BY region",
    "SELECT region, SUM(age + 3) FROM visits GROUP BY region",
    "SELECT region, SUM(age + 4) FROM visits GROUP BY region",
]
TENTH = Fraction(1, 10)


def pinned(curator: Curator) -> int:
    return sum(each.kind == "pin" for each in curator._ledger.entries())


def test_what_was_read_off_once_is_shown_again_though_a_dearer_table_comes(
    curator: Curator,
) -> None:
    first = curator.ask(SOME, epsilon=TENTH).rows
    curator.ask(WIDE, epsilon=5)
    assert curator.ask(SOME, epsilon=TENTH).rows == first
    assert curator.ask(SOME.lower(), epsilon=TENTH).rows == first
    assert left(curator) == 94
    assert pinned(curator) == 1


def test_what_was_read_off_once_is_free_however_many_others_were_asked(curator: Curator) -> None:
    first = curator.ask(SOME, epsilon=TENTH).rows
    for each in OTHERS:
        curator.ask(each, epsilon=1)
    before = left(curator)
    assert curator.explain(SOME, epsilon=TENTH).due == Price(epsilon=Fraction(0))
    assert curator.ask(SOME, epsilon=TENTH).rows == first
    assert left(curator) == before


def test_what_was_read_off_once_is_the_same_in_other_processes_and_for_others(
    tmp_path: Path,
) -> None:
    def opened() -> Curator:
        return curator_of(COLUMNS, seed=None, ledger=tmp_path / "l", **DECLARED)

    with opened() as curator:
        curator._ledger.declare_analyst("eve", epsilon=1)
        curator.ask(WIDE, epsilon=1)
        first = curator.on_account("eve").ask(SOME, epsilon=TENTH).rows
        curator.ask(WIDE, epsilon=3)
    with opened() as curator:
        assert curator.ask(SOME, epsilon=TENTH).rows == first
        assert curator.on_account("eve").ask(SOME, epsilon=TENTH).rows == first
        assert pinned(curator) == 1
        curator._ledger.verify()


def test_a_question_that_was_paid_for_keeps_its_own_table() -> None:
    curator = curator_of(COLUMNS, seed=None, **DECLARED)
    own = curator.ask(SOME, epsilon=TENTH).rows
    curator.ask(WIDE, epsilon=5)
    assert curator.ask(SOME, epsilon=TENTH).rows == own
    assert pinned(curator) == 0


def test_a_number_that_was_read_off_is_the_one_that_a_later_question_uses() -> None:
    """Else the later question would charge for it, and it would change where it was shown."""
    curator = curator_of(COLUMNS, seed=None, **DECLARED)
    nested = "SELECT COUNT(*) AS n FROM visits WHERE age > (SELECT AVG(age) FROM visits)"
    plan = curator._planner.draft(nested, EpsilonTarget(1), curator.catalog)
    share = plan.releases[0].epsilon
    curator.ask("SELECT COUNT(*), AVG(age) FROM visits", epsilon=9)
    inner = "SELECT AVG(age) AS m FROM visits"
    first = curator.ask(inner, epsilon=share)
    assert first.from_ledger
    assert curator.explain(nested, epsilon=1).due == Price(epsilon=1 - share)
    assert curator.ask(nested, epsilon=1).charged.epsilon == 1 - share
    assert curator.ask(inner, epsilon=share).rows == first.rows
    assert curator.ask(nested, epsilon=1).from_ledger


@pytest.mark.parametrize("first", ["pays", "reads off"])
def test_of_two_who_ask_at_once_both_are_shown_the_same(
    first: str, curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One looks and finds no table, or finds one; before it writes, the other does the opposite."""
    charge_all, shown = curator._ledger.charge_all, []

    def in_between(*given: Any, **named: Any) -> Any:
        monkeypatch.undo()
        if first == "pays":
            with monkeypatch.context() as patch:
                patch.setattr("discreet.reuse.reused_table", lambda *_: None)
                shown.append(curator.ask(SOME, epsilon=TENTH).rows)
        else:
            shown.append(curator.ask(SOME, epsilon=TENTH).rows)
        return charge_all(*given, **named)

    monkeypatch.setattr(curator._ledger, "charge_all", in_between)
    if first == "reads off":
        monkeypatch.setattr("discreet.reuse.reused_table", lambda *_: None)
    shown.append(curator.ask(SOME, epsilon=TENTH).rows)
    assert shown[0] == shown[1] == curator.ask(SOME, epsilon=TENTH).rows
    assert pinned(curator) == (first == "reads off")
    assert left(curator) == 99 - (TENTH if first == "pays" else 0)
