"""Where rho is counted, queries take the noise that is smallest at equal rho, and stay free."""

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.curator import Curator
from discreet.errors import BudgetError
from discreet.ledger import make_token
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.geometric import Geometric
from discreet.planner import Planner
from discreet.query.plan.plan import EpsilonTarget
from discreet.reuse import Reuse
from tests.curated import curator_of

VISITS = {"patient_id": list(range(40)), "cost": [each % 9 for each in range(40)]}
COUNT = "SELECT COUNT(*) AS n FROM visits"
SMALL, LARGE = Fraction(1, 10), Fraction(1, 2)


def opened(ledger: Path | str = ":memory:", accounting: str = "concentrated") -> Curator:
    return curator_of(
        VISITS,
        rows_per_unit=1,
        bounds={"cost": (0, 9)},
        epsilon=3,
        delta=Fraction(1, 10**6),
        accounting=accounting,
        ledger=ledger,
    )


def margin_of(curator: Curator, epsilon: Fraction, sql: str = COUNT) -> float:
    (margin,) = curator.ask(sql, epsilon=epsilon).margins["n"]
    assert margin is not None
    return margin


def test_small_queries_have_gaussian_noise_of_the_same_rho() -> None:
    curator = opened()
    before = curator.remaining.rho
    assert margin_of(curator, SMALL) == 20  # with Laplace noise: 30
    left = curator.remaining
    assert before - left.rho == SMALL**2 / 2
    assert left.delta == opened().remaining.delta
    assert curator.ask(COUNT, epsilon=SMALL).is_free


def test_an_explanation_says_what_the_query_will_do() -> None:
    curator = opened()
    told = curator.explain(COUNT, epsilon=SMALL)
    assert "Gaussian noise" in told.to_text()
    assert "ρ = 0.005" in told.to_text()
    assert "±20" in told.to_text()
    curator.ask(COUNT, epsilon=SMALL)
    assert "Gaussian noise" in curator.explain(COUNT, epsilon=SMALL).to_text()


def test_other_accounting_keeps_its_noise() -> None:
    assert margin_of(opened(accounting="basic"), SMALL) == 30


def test_large_queries_are_held_by_sums_of_epsilon() -> None:
    """By rho, this one would take 71% of the budget, and a sixth by epsilon."""
    curator = opened()
    assert margin_of(curator, LARGE) == 6
    assert curator.remaining.epsilon == 3 - LARGE


def test_a_query_that_is_large_for_an_account_keeps_laplace_noise() -> None:
    """It is small beside the total, and would take a third of the account's rho."""
    curator = opened()
    token = make_token()
    curator._ledger.declare_analyst("eve", epsilon=Fraction(1, 4), token_hash=token.hash)
    eve, little = curator.as_analyst(token.text), Fraction(1, 50)
    (margin,) = eve.ask(COUNT, epsilon=little).margins["n"]
    assert margin == 150
    assert eve.remaining.epsilon == Fraction(1, 4) - little


def test_where_rho_is_used_up_sums_of_epsilon_go_on() -> None:
    curator = opened()
    curator.ask(f"{COUNT} WHERE cost > 1", epsilon=1)
    assert curator.remaining.rho == 0
    assert margin_of(curator, SMALL) == 30
    assert curator.remaining.epsilon == 2 - SMALL


def test_where_sums_of_epsilon_are_used_up_only_rho_counts() -> None:
    curator = opened()
    curator.ask(COUNT, epsilon=SMALL)
    assert curator.remaining.epsilon == 0
    assert margin_of(curator, LARGE, f"{COUNT} WHERE cost > 1") == 4
    with pytest.raises(BudgetError):
        curator.ask(f"{COUNT} WHERE cost > 2", epsilon=LARGE)


def test_without_a_delta_a_query_keeps_laplace_noise() -> None:
    curator = opened()
    (margin,) = curator.ask(COUNT, epsilon=SMALL, delta=0).margins["n"]
    assert margin == 30
    assert curator.remaining.epsilon == 3 - SMALL


def test_what_was_paid_for_with_laplace_noise_stays_free_with_its_own_margin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Older versions knew no noise by rho."""
    with monkeypatch.context() as older:
        older.setattr(Planner, "by_rho", lambda *_: None)
        with opened(tmp_path / "ledger") as curator:
            paid = curator.ask(COUNT, epsilon=SMALL)
    with opened(tmp_path / "ledger") as curator:
        explained = curator.explain(COUNT, epsilon=SMALL)
        again = curator.ask(COUNT, epsilon=SMALL)
    assert explained.due is not None
    assert explained.due.is_free
    assert again.is_free
    assert again.rows == paid.rows
    assert again.margins == paid.margins == {"n": [30]}


def test_a_wider_table_with_gaussian_noise_answers_its_columns() -> None:
    curator = opened()
    wide = curator.ask("SELECT COUNT(*) AS n, COUNT(cost) AS m FROM visits", epsilon=SMALL)
    narrow = curator.ask("SELECT COUNT(cost) AS m FROM visits", epsilon=SMALL / 4)
    assert narrow.is_free
    assert narrow.rows[0]["m"] == wide.rows[0]["m"]


def test_a_broken_rule_that_spends_rho_beyond_the_budget_is_stopped_by_the_ledger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The ledger decides what fits, whatever noise was chosen."""
    monkeypatch.setattr(Reuse, "_is_cheap_by_rho", lambda *_: True)
    curator = opened()
    with pytest.raises(BudgetError):
        curator.ask(COUNT, epsilon=1)
    assert curator.remaining == opened().remaining


def test_both_plans_run_the_same_statements() -> None:
    curator = opened()
    bound = curator._planner.plan(COUNT, EpsilonTarget(SMALL), curator.catalog)
    assert bound.by_rho is not None
    (here,), (there,) = bound.plan.releases, bound.by_rho.releases
    assert here.queries == there.queries
    assert isinstance(here.components[0].noise, Geometric)
    assert isinstance(there.components[0].noise, Gaussian)
