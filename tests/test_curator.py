"""How a question passes through the curator: its terms, and how often the ledger is asked."""

import inspect
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from discreet.account import Account
from discreet.curator import Curator
from discreet.errors import AccountError, LedgerError
from discreet.ledger import SqliteLedger
from discreet.terms import ExplainTerms, Terms
from tests.curated import curator_of, transactions

COLUMNS: dict[str, list[object]] = {
    "patient_id": list(range(400)),
    "cost": [float(i % 90) for i in range(400)],
    "region": [("north", "south")[i % 2] for i in range(400)],
}
DECLARED: dict[str, Any] = {
    "bounds": {"cost": (0, 100)},
    "values": {"region": ["north", "south"]},
    "rows_per_unit": 1,
}
WIDE = "SELECT region, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY region"
SOME = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"
NESTED = "SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)"


@pytest.fixture
def curator() -> Curator:
    return curator_of(COLUMNS, seed=None, **DECLARED)


# --------------------------------------------------------------------------- transactions


READ, CHARGE, PIN, KEEP = "read", "write", "write", "write"
MAY_RUN = "read"
"""Whether the account was suspended since the charge is looked up before each release runs."""


def test_a_new_question_takes_one_read_one_charge_and_one_record_of_each_release(
    curator: Curator,
) -> None:
    with transactions(curator) as seen:
        answer = curator.ask(WIDE, epsilon=1)
    assert seen == [READ, CHARGE, MAY_RUN, KEEP]
    assert answer.remaining == curator.remaining
    with transactions(curator) as seen:
        answer = curator.ask(NESTED, epsilon=1)
    assert seen == [READ, CHARGE, MAY_RUN, KEEP, MAY_RUN, KEEP]
    assert answer.remaining == curator.remaining
    assert curator.remaining.epsilon == 98


def test_a_question_that_was_asked_before_takes_one_read(curator: Curator) -> None:
    for sql in (WIDE, NESTED):
        first = curator.ask(sql, epsilon=1)
        with transactions(curator) as seen:
            again = curator.ask(sql, epsilon=1)
        assert seen == [READ]
        assert (again.rows, again.remaining) == (first.rows, curator.remaining)


def test_what_is_read_off_another_answer_is_noted_once(curator: Curator) -> None:
    curator.ask(WIDE, epsilon=1)
    for expected in ([READ, PIN], [READ]):
        with transactions(curator) as seen:
            assert curator.ask(SOME, epsilon=Fraction(1, 10)).from_ledger
        assert seen == expected


@pytest.mark.parametrize("act", [Curator.explain, Curator.ask], ids=["explain", "public"])
def test_an_explanation_and_a_public_question_take_one_read(
    curator: Curator, act: Callable[..., object]
) -> None:
    with transactions(curator) as seen:
        act(curator, SOME if act is Curator.explain else "SELECT 1 AS one", epsilon=1)
    assert seen == [READ]


def test_a_rejected_question_takes_none(curator: Curator) -> None:
    with transactions(curator) as seen, pytest.raises(Exception, match="nowhere"):
        curator.ask("SELECT COUNT(*) FROM nowhere", epsilon=1)
    assert seen == []


def test_an_account_that_another_process_declared_or_disabled_is_found_so(tmp_path: Path) -> None:
    """What this process read last rejects nobody, and lets nobody charge or read an answer."""
    with curator_of(COLUMNS, ledger=tmp_path / "l", **DECLARED) as curator:
        curator.ask(SOME, epsilon=1)
        with SqliteLedger.existing(tmp_path / "l") as other:
            other.declare_analyst("eve", epsilon=2)
            assert curator.ask(SOME, epsilon=1, account="eve").from_ledger
            other.declare_analyst("eve", epsilon=2, enabled=False)
            with pytest.raises(AccountError, match="disabled"):
                curator.ask(SOME, epsilon=1, account="eve")


def test_a_curator_that_is_closed_plans_nothing(
    curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curator._planner, "plan", lambda *_: pytest.fail("planned"))
    curator.close()
    for act in (curator.ask, curator.explain):
        with pytest.raises(LedgerError, match="closed"):
            act(SOME, epsilon=1)


# --------------------------------------------------------------------------- terms


def terms_of(act: Callable[..., object]) -> dict[str, inspect.Parameter]:
    found = inspect.signature(act).parameters
    return {name: each for name, each in found.items() if each.kind is each.KEYWORD_ONLY}


def test_an_account_takes_the_terms_of_the_curator() -> None:
    """Defaults are those of the curator's methods, as an account hands on what it is given."""
    ask, explain = terms_of(Curator.ask), terms_of(Curator.explain)
    assert {**get_type_hints(Terms), "account": str} == {
        name: get_type_hints(Curator.ask)[name] for name in ask
    }
    assert {**get_type_hints(ExplainTerms), "account": str} == {
        name: get_type_hints(Curator.explain)[name] for name in explain
    }
    assert {name: explain[name].default for name in ask} == {
        name: each.default for name, each in ask.items()
    }
    assert not Terms.__required_keys__ | ExplainTerms.__required_keys__


def test_an_account_hands_on_what_it_is_given(curator: Curator) -> None:
    curator._ledger.declare_analyst("eve", epsilon=2)
    eve = curator.on_account("eve")
    assert eve.ask(SOME, epsilon=1, confidence=0.9, row_choice="per-query").confidence == Fraction(
        9, 10
    )
    in_trino = eve.explain(SOME, within=20, sql_for="trino")
    assert in_trino.sqls
    assert "Generated SQL" in str(in_trino)
    assert "Generated SQL" not in str(eve.explain(SOME, within=20))
    with pytest.raises(TypeError):
        eve.ask(SOME, epsilon=1, account="owner")  # type: ignore[call-arg]


def old_names(act: Callable[..., object], old: dict[str, Any], says: str) -> object:
    with pytest.warns(DeprecationWarning, match=says) as told:
        found = act("SELECT SUM(cost) AS s FROM visits", epsilon=1, **old)
    assert [each.filename for each in told] == [__file__]
    return found


@pytest.mark.parametrize("whose", ["curator", "account"])
def test_arguments_are_accepted_as_they_were_called_before(curator: Curator, whose: str) -> None:
    asked: Curator | Account = curator if whose == "curator" else curator.on_account("owner")
    old_names(asked.ask, {"find_bounds": ["visits.cost"]}, "find_bounds= is now find_bounds_of=")
    assert curator.ask(
        "SELECT SUM(cost) FROM visits", epsilon=1, find_bounds_of=["visits.cost"]
    ).from_ledger
    told: Any = old_names(asked.explain, {"find_bounds": "visits.cost"}, "find_bounds_of")
    assert "and cost nothing now" in told.first[0]
    old_names(asked.ask, {"bounding": "per-query"}, "bounding= is now row_choice=")
    old_names(asked.explain, {"bounding": None}, "bounding= is now row_choice=")
    old_names(asked.ask, {"row_choice": "prepared"}, "is now .*once")
