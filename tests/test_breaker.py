"""Whether an engine fails may depend on data: a failure is written down and stops its account."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import discreet
import discreet.executor
from discreet.account import Account
from discreet.curator import Curator
from discreet.engines import duckdb as engines_duckdb
from discreet.errors import (
    AccountError,
    CatalogError,
    DiscreetError,
    EngineError,
    Failure,
    LeastEpsilonError,
    LedgerError,
    SuspendedError,
    UnansweredError,
)
from discreet.executor import MOST_UNANSWERED
from discreet.ledger import Ledger, SqliteLedger
from discreet.mechanisms import Geometric
from tests.curated import curator_of
from tests.failing import COLUMNS, DECLARED, PEOPLE, Oracle, about, interrupted, made
from tests.ledger.stores import PostgresStore

TINY = Fraction(1, 10**4)


def read_secrets(ask: Callable[..., object]) -> list[bool]:
    """Return what an analyst reads: of each person, whether the question failed."""
    told = []
    for person in range(PEOPLE):
        try:
            ask(about(person), epsilon=TINY)
        except SuspendedError:
            break
        except EngineError:
            told.append(True)
        else:
            told.append(False)
    return told


# --------------------------------------------------------------------------- the attack


def test_who_reads_secrets_by_failures_is_stopped_by_the_first() -> None:
    curator, engine = made()
    told = read_secrets(curator.ask)
    assert told == [False, False, True]
    assert engine.ran == 3
    assert curator.remaining.epsilon == 100 - 3 * TINY
    (incident,) = curator.incidents()
    assert (incident.account, incident.failure) == ("owner", "failed")
    assert incident.about["sql"] == about(2)


@pytest.mark.postgresql
def test_the_attack_is_stopped_over_a_ledger_on_a_server(tmp_path: Path) -> None:
    ledger = PostgresStore(tmp_path).address
    table = pa.table(COLUMNS)
    given: dict[str, Any] = {"name": "visits", "unit": "patient_id", "epsilon": 9, "ledger": ledger}
    for _ in range(2):  # whoever opens it again finds the account suspended
        with discreet.open(table, **given, **DECLARED) as curator:
            engine = Oracle(curator._engine)
            curator._executor._engine = engine
            told = read_secrets(curator.ask)
            assert len(curator.incidents()) == 1
    assert told == [False, False]  # as they were kept
    assert engine.ran == 0


def test_the_analyst_reads_the_same_words_whatever_failed() -> None:
    words = set()
    failures: tuple[Failure, ...] = ("failed", "time", "memory")
    for failure in failures:
        curator, engine = made()
        engine._failure = failure
        with pytest.raises(EngineError) as caught:
            curator.ask(about(2), epsilon=1)
        words.add(str(caught.value))
        assert caught.value.failure == "failed"
        assert caught.value.__context__ is None
        assert [each.failure for each in curator.incidents()] == [failure]
    assert len(words) == 1


def test_any_error_of_an_engine_is_an_incident() -> None:
    for error, kind in ((ValueError("secret 7"), "failed"), (MemoryError(), "memory")):
        curator, engine = made()

        def fail(*_: object, error: Exception = error) -> None:
            raise error

        engine.run = fail  # type: ignore[method-assign]
        with pytest.raises(EngineError) as caught:
            curator.ask(about(0), epsilon=1)
        assert "secret" not in str(caught.value)
        assert [each.failure for each in curator.incidents()] == [kind]


ENDLESS = "SELECT count(*) FROM range(10000000000) a, range(10000000000) b WHERE a.range = -b.range"


def test_a_time_limit_is_an_incident(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines_duckdb, "write_query", lambda *_: ENDLESS)
    parquet.write_table(pa.table({"who": [1, 2], "x": [3, 4]}), tmp_path / "t.parquet")
    (tmp_path / "discreet.toml").write_text(
        "[budget]\nepsilon = 1\n[source]\ntimeout = 0.2\n"
        '[tables.t]\nfrom = "t.parquet"\nunit = "who"\n'
    )
    with discreet.open(tmp_path / "discreet.toml") as curator:
        with pytest.raises(EngineError):
            curator.ask("SELECT COUNT(*) FROM t", epsilon=0.5)
        assert [each.failure for each in curator.incidents()] == ["time"]


def test_a_release_that_fails_after_its_noise_was_drawn_is_an_incident(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise AssertionError  # of no kind that anybody foresaw

    monkeypatch.setattr(discreet.executor, "bytes_from_noisy", failing)
    curator, engine = made()
    with pytest.raises(EngineError):
        curator.ask(about(0), epsilon=1)
    monkeypatch.undo()
    assert [each.failure for each in curator.incidents()] == ["release"]
    with pytest.raises(EngineError):  # kept so: no second noise, and no second incident
        curator.ask(about(0), epsilon=1)
    assert len(curator.incidents()) == 1
    assert engine.ran == 1


# --------------------------------------------------------------------------- accounts


def on_accounts(curator: Curator) -> tuple[Account, Account]:
    for name in ("eve", "bob"):
        curator._ledger.declare_analyst(name, epsilon=5)
    return curator.on_account("eve"), curator.on_account("bob")


def test_others_go_on_and_what_was_kept_stays_readable() -> None:
    curator, engine = made()
    eve, bob = on_accounts(curator)
    kept = eve.ask(about(0), epsilon=1)
    with pytest.raises(EngineError):
        eve.ask(about(2), epsilon=1)
    ran, left = engine.ran, curator.remaining
    for question in (about(2), about(3)):
        with pytest.raises(SuspendedError, match="This account is suspended"):
            eve.ask(question, epsilon=1)
    assert (engine.ran, curator.remaining) == (ran, left)
    assert eve.ask(about(0), epsilon=1).rows == kept.rows
    assert eve.ask(about(0), epsilon=0.5).rows == kept.rows  # read off it, without a statement
    bob.ask(about(3), epsilon=1)
    curator.ask(about(4), epsilon=1)
    curator.resume("eve")
    engine.is_mended = True
    assert eve.ask(about(2), epsilon=1).from_ledger
    assert [each.is_resumed for each in curator.incidents()] == [True]


def test_an_owner_may_have_every_account_suspended() -> None:
    curator, _ = made(incident_suspends="all")
    eve, bob = on_accounts(curator)
    with pytest.raises(EngineError):
        eve.ask(about(2), epsilon=1)
    for ask in (bob.ask, curator.ask):
        with pytest.raises(SuspendedError, match="All accounts are suspended"):
            ask(about(3), epsilon=1)
    curator.resume("eve")
    bob.ask(about(3), epsilon=1)


def test_who_runs_again_what_another_paid_for_is_who_is_suspended() -> None:
    curator, engine = made()
    eve, bob = on_accounts(curator)
    run, engine.run = engine.run, interrupted  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        eve.ask(about(2), epsilon=1)
    engine.run = run  # type: ignore[method-assign]
    with pytest.raises(EngineError):
        bob.ask(about(2), epsilon=1)
    assert curator._ledger.suspended() == {"bob": False}
    eve.ask(about(3), epsilon=1)


def test_an_analyst_has_no_way_to_look_or_to_resume() -> None:
    assert {"incidents", "resume"} <= set(dir(Curator))
    assert not {"incidents", "resume"} & set(dir(Account))


# --------------------------------------------------------------------------- races and crashes


def test_of_threads_that_fail_at_once_each_is_counted() -> None:
    curator, engine = made()
    begin, told = Barrier(4), []
    run = engine.run

    def together(*given: Any) -> Any:
        begin.wait()
        return run(*given)

    engine.run = together  # type: ignore[method-assign]

    def ask(person: int) -> None:
        try:
            curator.ask(about(person), epsilon=1)
        except DiscreetError as error:
            told.append(type(error))

    threads = [Thread(target=ask, args=(person,)) for person in (2, 5, 8, 11)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert told == [EngineError] * 4
    assert [each.failure for each in curator.incidents()] == ["failed"] * 4
    with pytest.raises(SuspendedError):
        curator.ask(about(0), epsilon=1)
    curator._ledger.verify()


def test_who_is_suspended_between_the_charge_and_the_run_runs_nothing() -> None:
    curator, engine = made()
    ledger = curator._ledger
    charge_all = ledger.charge_all

    def suspended_since(*given: Any, **named: Any) -> Any:
        receipts = charge_all(*given, **named)
        ledger.record_incident(receipts[0], "failed")
        return receipts

    ledger.charge_all = suspended_since  # type: ignore[method-assign]
    with pytest.raises(SuspendedError, match="This query was charged, and its cost stays spent"):
        curator.ask(about(0), epsilon=1)
    assert engine.ran == 0
    ledger.charge_all = charge_all  # type: ignore[method-assign]
    curator.resume("owner")
    left = curator.remaining
    assert left.epsilon == 99
    curator.ask(about(0), epsilon=1)
    assert curator.remaining == left


def test_an_explanation_says_that_the_account_is_suspended() -> None:
    curator, engine = made()
    eve, bob = on_accounts(curator)
    eve.ask(about(0), epsilon=1)
    with pytest.raises(EngineError):
        eve.ask(about(2), epsilon=1)
    suspended = "This account is suspended, so running this query would be rejected."
    for question in (about(2), about(3)):
        explained = eve.explain(question, epsilon=1)
        assert explained.warnings == (suspended,)
        assert suspended in explained.to_text()
        assert bob.explain(question, epsilon=1).warnings == ()
    assert eve.explain(about(0), epsilon=1).warnings == ()  # its answer is saved
    engine.is_mended = True
    curator.resume("eve")
    assert eve.explain(about(3), epsilon=1).warnings == ()


def test_the_command_that_ends_a_suspension_names_the_account() -> None:
    curator, _ = made(incident_suspends="all")
    eve, bob = on_accounts(curator)
    with pytest.raises(EngineError):
        eve.ask(about(2), epsilon=1)
    for ask, name in ((eve.ask, "eve"), (curator.ask, "eve"), (bob.ask, "NAME")):
        with pytest.raises(SuspendedError, match=f"then run discreet analyst resume {name}\\."):
            ask(about(3), epsilon=1)


def test_nothing_is_answered_until_a_failure_is_recorded() -> None:
    curator, engine = made()
    ledger = curator._ledger
    record = ledger.record_incident

    def failing(*_: object, **__: object) -> None:
        raise LedgerError("the ledger's server failed", "see to it")

    ledger.record_incident = failing  # type: ignore[method-assign]
    kept = curator.ask(about(0), epsilon=1)
    for question in (about(2), about(0), about(3)):
        with pytest.raises(LedgerError):
            curator.ask(question, epsilon=1)
    ledger.record_incident = record  # type: ignore[method-assign]
    ran = engine.ran
    with pytest.raises(SuspendedError):
        curator.ask(about(3), epsilon=1)
    assert engine.ran == ran
    assert [each.about["sql"] for each in curator.incidents()] == [about(2)]
    assert curator.ask(about(0), epsilon=1).rows == kept.rows


def test_ctrl_c_is_no_incident_but_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed looks the same: charged, and nobody recorded how it ended."""
    monkeypatch.setattr(discreet.executor, "PATIENCE", 0.0)
    curator, engine = made()
    run, engine.run = engine.run, interrupted  # type: ignore[method-assign]
    for person in range(MOST_UNANSWERED):
        with pytest.raises(KeyboardInterrupt):
            curator.ask(about(person), epsilon=1)
    left = curator.remaining
    with pytest.raises(UnansweredError):
        curator.ask(about(MOST_UNANSWERED), epsilon=1)
    assert curator.remaining == left
    assert [each.failure for each in curator.incidents()] == ["unanswered"] * MOST_UNANSWERED
    assert curator._ledger.suspended() == {}
    engine.run, engine.is_mended = run, True  # type: ignore[method-assign]
    curator.ask(about(0), epsilon=1)
    assert curator.remaining == left
    curator.ask(about(MOST_UNANSWERED), epsilon=1)
    curator.resume("owner")


def test_a_number_that_cannot_be_computed_leaves_no_charge_without_an_answer() -> None:
    """It is NULL, as all that fails on a value is; else ten of them would stop the account."""
    data = {"patient_id": list(range(2000)), "x": [i % 10 for i in range(2000)]}
    with curator_of(data) as curator:
        for number in range(MOST_UNANSWERED + 2):
            sql = (
                "SELECT COUNT(*) AS n FROM visits WHERE x > "  # noqa: S608
                f"(SELECT CAST(COUNT(*) AS TINYINT) FROM visits WHERE x <> {number})"
            )
            assert -100 < curator.ask(sql, epsilon=5).to_arrow().column("n")[0].as_py() < 100
        assert curator.incidents() == ()


def test_a_process_that_dies_again_and_again_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discreet.executor, "PATIENCE", 0.0)
    ledger = str(tmp_path / "l")
    for person in range(MOST_UNANSWERED + 2):
        curator, engine = made(ledger=ledger)
        engine.run = interrupted  # type: ignore[method-assign]
        error = KeyboardInterrupt if person < MOST_UNANSWERED else UnansweredError
        with curator, pytest.raises(error):
            curator.ask(about(person), epsilon=1)


def test_many_questions_that_run_at_once_are_not_taken_for_lost_ones() -> None:
    curator, engine = made()
    engine.is_mended = True
    many = MOST_UNANSWERED + 6
    begin, told, run = Barrier(many), [], engine.run

    def together(*given: Any) -> Any:
        begin.wait(timeout=60)
        return run(*given)

    engine.run = together  # type: ignore[method-assign]
    threads = [
        Thread(target=lambda i=i: told.append(curator.ask(about(i), epsilon=1)))
        for i in range(many)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(told) == many
    assert curator.incidents() == ()


# --------------------------------------------------------------------------- a least epsilon


def test_a_question_below_the_least_epsilon_is_refused_before_it_is_charged() -> None:
    curator, engine = made(least_epsilon=Fraction(1, 100))
    with pytest.raises(LeastEpsilonError) as refusal:
        curator.ask(about(0), epsilon=Fraction(1, 101))
    assert str(refusal.value).endswith("Run it with epsilon = 0.01 or more.")
    assert curator.remaining.epsilon == 100
    assert engine.ran == 0
    curator.ask(about(0), epsilon=Fraction(1, 100))


def test_without_a_least_epsilon_a_million_questions_can_be_charged_for() -> None:
    curator, _ = made()
    curator.ask(about(0), epsilon=Fraction(100, 10**6))
    with pytest.raises(LeastEpsilonError):
        curator.ask(about(1), epsilon=Fraction(99, 10**6))
    policy = made(epsilon=1, delta=1e-6, accounting="concentrated")[0].catalog.budget
    assert policy.least_per_question == Fraction(1, 1000)
    assert made(epsilon=10**9)[0].catalog.budget.least_per_question == Fraction(1, 1000)


def test_it_is_the_charge_of_the_question_that_counts_not_that_of_each_release() -> None:
    least = Fraction(1, 100)
    curator, engine = made(least_epsilon=least)
    engine.is_mended = True
    two = (
        "SELECT COUNT(*) AS n FROM visits WHERE hiv = 1 "
        "UNION ALL SELECT COUNT(*) FROM visits WHERE hiv = 0"
    )
    assert curator.ask(two, epsilon=least).charged.epsilon == least
    assert curator._ledger.report().questions == 2


def test_what_was_paid_for_stays_free_below_the_least_epsilon(tmp_path: Path) -> None:
    ledger = str(tmp_path / "l")
    with made(ledger=ledger)[0] as curator:
        rows = curator.ask(about(0), epsilon=Fraction(1, 1000)).rows
    with made(ledger=ledger, least_epsilon=1)[0] as curator:
        assert curator.ask(about(0), epsilon=Fraction(1, 1000)).rows == rows
        curator.ask(about(1), epsilon=2)
        assert curator.ask(about(1), epsilon=Fraction(1, 2)).from_ledger


@pytest.mark.parametrize("wrong", [0, -1, 101, "much"])
def test_a_least_epsilon_that_allows_nothing_is_refused(wrong: object) -> None:
    with pytest.raises(CatalogError, match="least_epsilon"):
        made(least_epsilon=wrong)


def test_open_takes_both_choices() -> None:
    given: dict[str, Any] = {"name": "visits", "unit": "patient_id", "epsilon": 1, **DECLARED}
    table = pa.table(COLUMNS)
    with discreet.open(table, **given, least_epsilon=0.1, incident_suspends="all") as curator:
        assert curator.catalog.budget.incident_suspends.value == "all"
        with pytest.raises(LeastEpsilonError):
            curator.ask(about(0), epsilon=0.05)
    with pytest.raises(CatalogError, match="incident_suspends"):
        discreet.open(table, **given, incident_suspends="nobody")


def test_a_ledger_of_before_is_gone_on_with(tmp_path: Path) -> None:
    """Failures of older ledgers left no trace but charges without answers."""
    place = tmp_path / "l"
    with made(ledger=str(place))[0] as curator:
        curator.ask(about(0), epsilon=1)
    ledger: Ledger = SqliteLedger.existing(place)
    assert ledger.incidents() == ()
    assert ledger.suspended() == {}
    with pytest.raises(AccountError):
        ledger.resume("owner")


def test_nobody_is_answered_while_a_failure_is_being_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thread that comes while another one writes a failure down waits for it."""
    curator, _ = made()
    breaker, recording, go_on = curator._executor._breaker, Event(), Event()
    receipt = curator._ledger.charge("q", [Geometric(epsilon=1, sensitivity=1).event])
    plainly = curator._ledger.record_incident

    def slowly(*given: Any, **named: Any) -> None:
        recording.set()
        assert go_on.wait(20)
        plainly(*given, **named)

    monkeypatch.setattr(curator._ledger, "record_incident", slowly)
    writer = Thread(target=lambda: breaker.record(receipt, "failed", account="owner"))
    settled = Event()

    def settle() -> None:
        breaker.settle()
        settled.set()

    waiter = Thread(target=settle)
    writer.start()
    assert recording.wait(20)
    waiter.start()
    assert not settled.wait(0.3)
    go_on.set()
    for each in (writer, waiter):
        each.join(20)
    assert settled.is_set()
    assert len(curator.incidents()) == 1
