"""Failures and forks: a child waits for nobody, and counts what it runs itself."""

from threading import Event, Thread, Timer
from typing import Any

import pytest

import discreet.executor
from discreet.errors import LedgerError, SuspendedError, UnansweredError
from discreet.executor import MOST_UNANSWERED
from discreet.mechanisms import Geometric
from tests.failing import about, interrupted, made
from tests.ledger.stores import child, end_of

EVENT = Geometric(epsilon=1, sensitivity=1).event


def test_a_fork_waits_for_a_failure_that_is_being_recorded(tmp_path: Any) -> None:
    """Else the child would have its lock for ever, and record the failure once more."""
    curator, _ = made(ledger=str(tmp_path / "l"))
    breaker, ledger = curator._executor._breaker, curator._ledger
    receipt, recorded, go_on = ledger.charge("q", [EVENT]), Event(), Event()
    plainly = ledger.record_incident

    def slowly(*given: Any, **named: Any) -> None:
        plainly(*given, **named)
        recorded.set()
        assert go_on.wait(60)

    ledger.record_incident = slowly  # type: ignore[method-assign]
    thread = Thread(target=lambda: breaker.record(receipt, "failed", account="owner"))
    thread.start()
    assert recorded.wait(60)
    Timer(0.2, go_on.set).start()

    def work() -> None:
        ledger.record_incident = plainly  # type: ignore[method-assign]
        with pytest.raises(SuspendedError):
            curator.ask(about(0), epsilon=1)

    assert end_of(child(work)) == 0
    thread.join()
    assert len(curator.incidents()) == 1


def test_a_child_goes_on_with_what_is_owed(tmp_path: Any) -> None:
    curator, _ = made(ledger=str(tmp_path / "l"))
    breaker, ledger = curator._executor._breaker, curator._ledger
    receipt, plainly = ledger.charge("q", [EVENT]), ledger.record_incident

    def failing(*_: object, **__: object) -> None:
        raise LedgerError("the ledger's server failed", "see to it")

    ledger.record_incident = failing  # type: ignore[method-assign]
    with pytest.raises(LedgerError):
        breaker.record(receipt, "failed", account="owner")

    def work() -> None:
        ledger.record_incident = plainly  # type: ignore[method-assign]
        with pytest.raises(SuspendedError):
            curator.ask(about(0), epsilon=1)

    assert end_of(child(work)) == 0
    assert ledger.suspended() == {"owner": False}


def test_what_the_threads_of_a_parent_run_makes_no_room_in_its_child(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discreet.executor, "PATIENCE", 0.0)
    curator, engine = made(ledger=str(tmp_path / "l"))
    engine.run = interrupted  # type: ignore[method-assign]

    def work() -> None:
        for person in range(MOST_UNANSWERED):
            with pytest.raises(KeyboardInterrupt):
                curator.ask(about(person), epsilon=1)
        with pytest.raises(UnansweredError):
            curator.ask(about(MOST_UNANSWERED), epsilon=1)

    with curator._executor._breaker.asking("owner", 5):
        assert end_of(child(work)) == 0


def test_nobody_is_answered_whose_question_ran_while_another_failed() -> None:
    """The failure of another thread is recorded before the answer is shown."""
    curator, engine = made()
    ledger, run = curator._ledger, engine.run
    receipt, plainly = ledger.charge("q", [EVENT]), ledger.record_incident

    def failing(*_: object, **__: object) -> None:
        raise LedgerError("the ledger's server failed", "see to it")

    def meanwhile(*given: Any) -> Any:
        ledger.record_incident = failing  # type: ignore[method-assign]
        with pytest.raises(LedgerError):
            curator._executor._breaker.record(receipt, "failed", account="owner")
        return run(*given)

    engine.run = meanwhile  # type: ignore[method-assign]
    with pytest.raises(LedgerError):
        curator.ask(about(0), epsilon=1)
    ledger.record_incident = plainly  # type: ignore[method-assign]
    assert curator.ask(about(0), epsilon=1).from_ledger
    assert len(curator.incidents()) == 1
