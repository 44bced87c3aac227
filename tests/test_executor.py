"""Every release is charged before it runs, kept before it is seen, and drawn once."""

import logging
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet.executor
from discreet.answer import Price
from discreet.curator import Curator
from discreet.engines.base import Scalars, Statement
from discreet.errors import (
    AccountError,
    BudgetError,
    DiscreetError,
    EngineError,
    LedgerError,
    UnsupportedError,
)
from discreet.ledger import Ledger, Token, existing_ledger, make_token
from discreet.tables import ExactTable
from tests.curated import curator_of
from tests.statements import unbound

VISITS: dict[str, list[float]] = {
    "patient_id": list(range(200)),
    "cost": [float(i % 90) for i in range(200)],
}
BOUNDS: dict[str, Any] = {"bounds": {"cost": (0, 100)}}
NESTED = "SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)"


class Failing:
    """An engine that fails from some query on."""

    def __init__(self, engine: object, *, after: int) -> None:
        self._engine, self._left = engine, after
        self.ran = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def run(self, statement: Statement, scalars: Scalars) -> ExactTable:
        self.ran += 1
        if self._left <= 0:
            raise EngineError
        self._left -= 1
        return self._engine.run(statement, scalars)  # type: ignore[attr-defined, no-any-return]


def test_a_question_that_failed_is_run_again_without_a_charge() -> None:
    engines: list[Failing] = []

    def failing(engine: object) -> Failing:
        engines.append(Failing(engine, after=0))
        return engines[0]

    curator = curator_of(VISITS, seed=None, engine=failing, **BOUNDS)
    with pytest.raises(EngineError):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    assert curator.remaining.epsilon == 99
    engines[0]._left = 10
    curator.resume("owner")
    curator.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    assert curator.remaining.epsilon == 99


def test_an_inner_number_is_kept_when_the_outer_question_fails() -> None:
    """Else asking again would draw it again, and each failure would show a new draw for free."""
    engines: list[Failing] = []

    def failing(engine: object) -> Failing:
        engines.append(Failing(engine, after=1))
        return engines[0]

    curator = curator_of(VISITS, seed=None, engine=failing, **BOUNDS)
    with pytest.raises(EngineError):
        curator.ask(NESTED, epsilon=1)
    ran = engines[0].ran
    engines[0]._left = 10
    curator.resume("owner")
    curator.ask(NESTED, epsilon=1)
    assert engines[0].ran == ran + 1
    assert curator.remaining.epsilon == 99


def test_a_release_that_cannot_be_kept_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discreet.executor, "MOST_ANSWER", 10)
    curator = curator_of(VISITS, seed=None, **BOUNDS)
    for _ in range(2):
        with pytest.raises(EngineError):
            curator.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    monkeypatch.setattr(discreet.executor, "MOST_ANSWER", 2**28)
    with pytest.raises(EngineError):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=1)
    assert curator.remaining.epsilon == 99


def test_what_does_not_fit_together_is_refused_whole() -> None:
    curator = curator_of(VISITS, epsilon=1, **BOUNDS)
    curator.ask("SELECT COUNT(*) FROM visits", epsilon=Fraction(6, 10))
    with pytest.raises(BudgetError):
        curator.ask(NESTED, epsilon=Fraction(6, 10))
    assert curator.remaining.epsilon == Fraction(4, 10)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM nowhere",
        "SELECT * FROM visits",
        f"SELECT COUNT(*) FROM visits WHERE {' + '.join(['cost'] * 150)} > 3",  # noqa: S608
        "SELECT nothing(COUNT(*)) FROM visits",
    ],
)
def test_a_refusal_costs_nothing_and_reads_nothing(sql: str) -> None:
    engines: list[Failing] = []

    def watched(engine: object) -> Failing:
        engines.append(Failing(engine, after=0))
        return engines[0]

    curator = curator_of(VISITS, engine=watched, **BOUNDS)
    with pytest.raises(DiscreetError):
        curator.ask(sql, epsilon=1)
    assert curator.remaining.epsilon == 100
    assert engines[0].ran == 0


def test_a_mistake_in_what_comes_afterwards_costs_nothing() -> None:
    curator = curator_of(VISITS, **BOUNDS)
    with pytest.raises(UnsupportedError):
        curator.ask("SELECT COUNT(*) + 'x' FROM visits", epsilon=1)
    assert curator.remaining.epsilon == 100
    curator.ask("SELECT COUNT(*) + 1 FROM visits", epsilon=1)
    assert curator.ask("SELECT COUNT(*) + 2 FROM visits", epsilon=1).from_ledger
    assert curator.remaining.epsilon == 99


def test_a_row_unit_keeps_its_rows_whoever_else_is_there() -> None:
    """Which rows of a joined row count follows from them alone, not from where they stand."""
    public = pa.table({"k": [1] * 8, "w": list(range(8))})
    exact = []
    for rows in ([5, 1, 1, 1], [1, 1, 1]):
        table = pa.table({"k": rows, "x": list(range(len(rows)))[::-1]})
        with discreet.open(
            {"t": table, "p": public},
            unit="row",
            public=["p"],
            values={"p.w": [0, 1, 2]},
            epsilon=1000,
        ) as curator:
            sql = "SELECT COUNT(DISTINCT w) AS n FROM t JOIN p ON t.k = p.k"
            exact.append(curator.ask(sql, epsilon=90).rows[0]["n"])
    assert exact[0] == exact[1]


# --------------------------------------------------------------------------- accounts

COUNT = "SELECT COUNT(*) AS n FROM visits"
SUM = "SELECT SUM(cost) AS n FROM visits"


@pytest.fixture(scope="module")
def token() -> Token:
    return make_token()


def with_eve(token: Token, **given: Any) -> tuple[Curator, Ledger]:
    """Return a curator whose analyst eve has a cap of 2, and its ledger."""
    curator = curator_of(VISITS, **BOUNDS, **given)
    ledger = curator._ledger
    ledger.declare_analyst("eve", epsilon=2, token_hash=token.hash)
    return curator, ledger


def test_what_an_account_asks_is_charged_to_it_within_its_cap(token: Token) -> None:
    curator, ledger = with_eve(token)
    eve = curator.as_analyst(token.text)
    answer = eve.ask(COUNT, epsilon=Fraction(3, 2))
    assert str(answer.remaining) == "ε = 0.5 of 2"
    assert eve.name == "eve"
    assert eve.remaining == answer.remaining
    assert curator.remaining.epsilon == Fraction(197, 2)
    for ask in (eve.ask, lambda sql, **given: curator.ask(sql, account="eve", **given)):
        with pytest.raises(BudgetError, match="cap of analyst 'eve'"):
            ask(SUM, epsilon=1)
    assert eve.explain(SUM, epsilon=1).remaining == eve.remaining
    eve.ask(SUM, epsilon=Fraction(1, 2))
    assert eve.remaining.epsilon == 0
    assert not curator.ask(NESTED, epsilon=1).from_ledger
    assert {each.account for each in ledger.entries() if each.kind == "charge"} == {"eve", "owner"}


def test_what_does_not_fit_a_cap_together_is_refused_whole(token: Token) -> None:
    curator, ledger = with_eve(token)
    with pytest.raises(BudgetError, match="cap of analyst 'eve'"):
        curator.ask(NESTED, epsilon=3, account="eve")
    assert ledger.charged().epsilon == 0


def test_the_total_holds_for_an_account_and_is_what_it_has_left(token: Token) -> None:
    curator, _ = with_eve(token, epsilon=3)
    curator.ask(COUNT, epsilon=2)
    assert curator.remaining_of("eve").epsilon == 1
    with pytest.raises(BudgetError) as refusal:
        curator.ask(SUM, epsilon=Fraction(3, 2), account="eve")
    assert refusal.value.analyst is None


def test_a_kept_answer_is_free_for_everybody_who_may_ask(token: Token) -> None:
    curator, ledger = with_eve(token)
    paid = curator.ask(COUNT, epsilon=1)
    free = curator.as_analyst(token.text).ask(COUNT, epsilon=1)
    assert free.from_ledger
    assert free.rows == paid.rows
    assert ledger.remaining("eve").epsilon == 2


def test_bounds_are_found_on_the_account_of_who_asks(token: Token) -> None:
    curator = curator_of(VISITS, bounds={"cost": "AUTO"}, rows_per_unit=1)
    ledger = curator._ledger
    ledger.declare_analyst("eve", epsilon=2, token_hash=token.hash)
    eve = curator.as_analyst(token.text)
    eve.ask(SUM, epsilon=1)
    assert eve.remaining.epsilon == 1
    with pytest.raises(BudgetError, match="cap of analyst 'eve'"):
        eve.find_bounds("visits.cost", epsilon=2)


@pytest.mark.parametrize("sql", [COUNT, "SELECT 1", "no question at all"])
def test_who_may_not_ask_is_refused_before_anything(token: Token, sql: str) -> None:
    engines: list[Failing] = []

    def watched(engine: object) -> Failing:
        engines.append(Failing(engine, after=9))
        return engines[0]

    curator, ledger = with_eve(token, engine=watched)
    curator.ask(COUNT, epsilon=1)
    eve = curator.as_analyst(token.text)
    ledger.declare_analyst("eve", epsilon=2, token_hash=token.hash, enabled=False)
    for ask in (curator.ask, curator.explain):
        for account, says in (
            ("eve", "disabled"),
            ("mallory", "There is no analyst"),
        ):
            with pytest.raises(AccountError, match=says):
                ask(sql, epsilon=1, account=account)
    for act in (lambda: eve.ask(sql, epsilon=1), lambda: eve.find_bounds("visits.cost", epsilon=1)):
        with pytest.raises(AccountError, match="disabled"):
            act()
    with pytest.raises(AccountError, match="disabled"):
        curator.on_account("eve")
    with pytest.raises(AccountError, match="This token is not valid"):
        curator.as_analyst("discreet_nobody")
    assert engines[0].ran == 1


def test_an_account_ends_with_its_token(token: Token) -> None:
    curator, ledger = with_eve(token)
    eve = curator.as_analyst(token.text)
    eve.ask(COUNT, epsilon=1)
    ledger.declare_analyst("eve", epsilon=2, token_hash=make_token().hash)
    with pytest.raises(AccountError, match="This token is not valid"):
        eve.ask(COUNT, epsilon=1)


# --------------------------------------------------------------------------- an engine that fails

FAILING = """
[budget]
epsilon = 3

[source]
version = "the same data"
bounding = "per-query"
{settings}

[tables.visits]
from = "visits.parquet"
unit = "patient_id"
rows_per_unit = 5

[tables.visits.columns]
patient_id = {{ type = "integer" }}
cost = {{ type = "real", bounds = [0, 100] }}
"""

HEAVY = "SELECT COUNT(*) AS n, SUM(cost) AS cost FROM visits WHERE cost > 10"


def written_visits(folder: Path, rows: int) -> None:
    numbers = np.arange(rows)
    columns = {"patient_id": pa.array(numbers // 3), "cost": pa.array(numbers % 90 + 0.5)}
    table = pa.table(columns)
    pq.write_table(table, folder / "visits.parquet")


def opened(folder: Path, settings: str = "") -> Curator:
    catalog = folder / "discreet.toml"
    catalog.write_text(FAILING.format(settings=settings), encoding="utf-8")
    return discreet.open(catalog)


def check_failure_is_charged_once(
    folder: Path, broken: Curator, caplog: pytest.LogCaptureFixture, cause: str
) -> None:
    """Ask a curator whose engine fails twice, then one whose engine works."""
    with broken, caplog.at_level(logging.DEBUG, logger="discreet"):
        for _ in range(2):
            with pytest.raises(EngineError) as failure:
                broken.ask(HEAVY, epsilon=1)
            broken.resume("owner")
            assert str(failure.value) == str(EngineError())
            assert failure.value.__cause__ is None
            assert failure.value.__context__ is None
            assert broken.remaining.epsilon == 2
            assert broken.explain(HEAVY, epsilon=1).due == Price(epsilon=Fraction(0))
    assert cause in caplog.text
    kinds = [each.kind for each in existing_ledger(folder / "discreet.ledger").entries()]
    assert kinds == ["policy", "charge", "incident", "resume", "incident", "resume"]
    with opened(folder) as working:
        answer = working.ask(HEAVY, epsilon=1)
        assert answer.from_ledger
        assert working.remaining.epsilon == 2


ENDLESS = (
    "SELECT sum(a.range % (b.range + 1)) AS s0 FROM range(10000000000) a, range(10000000000) b"
)


def test_a_question_whose_time_is_over_stays_charged_and_is_free_when_there_is_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is run ends by its limit alone, however fast the machine is."""
    written_visits(tmp_path, 3000)
    broken = opened(tmp_path, "timeout = 0.2\nthreads = 1")
    engine: Any = broken._engine
    real = engine.run

    def endless(statement: Statement, scalars: Scalars) -> ExactTable:
        return real(replace(statement, sql=ENDLESS), scalars)  # type: ignore[no-any-return]

    monkeypatch.setattr(engine, "run", endless)
    check_failure_is_charged_once(tmp_path, broken, caplog, "InterruptException")


def test_a_question_whose_table_is_gone_stays_charged_and_is_free_when_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    written_visits(tmp_path, 3000)
    broken = opened(tmp_path)
    engine: Any = broken._engine
    real = engine.run

    def dropping(*given: Any) -> ExactTable:
        held = "SELECT schema_name, table_name FROM duckdb_tables()"
        for schema, name in engine._store.connection.execute(held).fetchall():
            engine._store.connection.execute(f'DROP TABLE "{schema}"."{name}" CASCADE')
        return real(*given)  # type: ignore[no-any-return]

    monkeypatch.setattr(engine, "run", dropping)
    monkeypatch.setattr(engine, "bind", unbound)
    check_failure_is_charged_once(tmp_path, broken, caplog, "Catalog")


# --------------------------------------------------------------------------- a ledger that fails


class Harming:
    """An engine during whose run something happens to the ledger."""

    def __init__(self, engine: Any) -> None:
        self._engine, self.ran = engine, 0
        self.harm: Callable[[], object] = lambda: None

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def run(self, *given: Any) -> Any:
        self.ran += 1
        self.harm()
        return self._engine.run(*given)


def test_without_its_ledger_nothing_is_read_and_nothing_is_shown(tmp_path: Path) -> None:
    ledger, away = tmp_path / "books.db", tmp_path / "away.db"
    engines: list[Harming] = []

    def watched(engine: object) -> Harming:
        engines.append(Harming(engine))
        return engines[-1]

    with curator_of(VISITS, seed=None, ledger=ledger, engine=watched, **BOUNDS) as curator:
        engines[0].harm = lambda: ledger.rename(away)
        with pytest.raises(LedgerError, match="moved, replaced or truncated"):
            curator.ask(COUNT, epsilon=1)
        with pytest.raises(LedgerError):
            curator.ask(SUM, epsilon=1)
        assert engines[0].ran == 1
    away.rename(ledger)
    with curator_of(VISITS, seed=None, ledger=ledger, engine=watched, **BOUNDS) as curator:
        assert curator.ask(COUNT, epsilon=1).from_ledger
        assert curator.remaining.epsilon == 99
        assert engines[1].ran == 1
        assert not curator.ask(SUM, epsilon=1).from_ledger


# --------------------------------------------------------------------------- told beforehand


def test_an_explanation_says_when_a_question_would_be_free(token: Token) -> None:
    curator, _ = with_eve(token)
    eve = curator.as_analyst(token.text)
    nested = "SELECT (SELECT COUNT(*) FROM visits) + (SELECT COUNT(*) FROM visits WHERE cost > 9)"

    def told(sql: str, epsilon: Fraction | int) -> str:
        lines = str(eve.explain(sql, epsilon=epsilon)).splitlines()
        assert lines[3] == "Remaining   ε = 2 of 2"
        return lines[2]

    assert told(COUNT, 1) == "Cost        ε = 1"
    curator.ask(COUNT, epsilon=1)
    free = "Cost        nothing: this is the saved answer to this query"
    assert told("SELECT 2 * COUNT(*) FROM VISITS", 1) == f"{free} (it cost ε = 1)"
    other = "Cost        nothing: read from the saved answer to another query"
    assert told(COUNT, Fraction(1, 2)) == other
    assert told(COUNT, 2) == "Cost        ε = 2"
    assert "because the rest of ε = 2 was spent before" in told(nested, 2)
    assert eve.explain(nested, epsilon=2).due == Price(epsilon=Fraction(1))
    assert eve.ask(nested, epsilon=2).charged.epsilon == 1
    assert eve.remaining.epsilon == 1


def test_what_an_explanation_says_is_charged_is_charged(token: Token) -> None:
    curator, ledger = with_eve(token)
    for sql, epsilon in [(COUNT, 1), (NESTED, 1), (SUM, 2), (SUM, 1), (NESTED, 1), (COUNT, 2)]:
        due = curator.explain(sql, epsilon=epsilon).due
        before = Fraction(ledger.charged().epsilon)
        curator.ask(sql, epsilon=epsilon)
        assert due is not None
        assert due.epsilon == Fraction(ledger.charged().epsilon) - before


def test_where_only_rho_is_left_that_is_told() -> None:
    delta = Fraction(1, 10**6)
    curator = curator_of(VISITS, **BOUNDS, epsilon=3, delta=delta, accounting="concentrated")
    total = curator.remaining
    assert str(total).startswith("ε = 3 of 3 or ρ ≈ 0.17")
    curator.ask("SELECT cost, COUNT(*) FROM visits GROUP BY cost", epsilon=Fraction(1, 10))
    left = curator.remaining
    assert left.epsilon == 0
    assert total.rho - Fraction(1, 200) <= left.rho < total.rho
    assert str(left).startswith("ρ ≈ 0.17")
    assert left.to_json()["total_rho"] == float(total.rho)
