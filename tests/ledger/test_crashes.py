"""Processes that are killed: nothing is answered unpaid, nothing is paid twice."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction

import pytest

from discreet.accounting import Budget
from discreet.ledger import Ledger, Receipt, SavedAnswer
from discreet.ledger.stored import StoredLedger
from tests.ledger.stores import TENTH, FileStore, Store, child, die, end_of

LEFT = {None: Fraction(1), Receipt: Fraction(9, 10), SavedAnswer: Fraction(9, 10)}
"""What must be left, by what the ledger knows of the one question."""


def answer_dying_at(store: Store, ledger: StoredLedger, statement: int) -> None:
    """Pay for a question and keep its answer, but die when the store starts that statement."""
    begun = 0

    def count() -> None:
        nonlocal begun
        begun += 1
        if begun == statement:
            die()

    store.trace(ledger, count)
    ledger.keep(ledger.charge("q", [TENTH]), b"42")


def test_killed_at_any_statement_it_is_paid_before_it_is_answered_and_once(durable: Store) -> None:
    """The statements are begin, read, insert and commit, of the charge and of the answer."""
    seen = []
    for statement in range(1, 100):
        durable.renew()
        ledger = durable.open()
        crash = child(lambda: answer_dying_at(durable, ledger, statement))  # noqa: B023 - waited for
        status = end_of(crash)
        found = ledger.find("q")
        seen.append(type(found))
        assert ledger.remaining().epsilon == LEFT[None if found is None else type(found)]
        ledger.verify()
        assert ledger.keep(ledger.charge("q", [TENTH]), b"43") in (b"42", b"43")
        assert ledger.remaining().epsilon == Fraction(9, 10)
        ledger.close()
        if status == 0:
            break
        assert status == -signal.SIGKILL
    assert status == 0
    assert sorted(set(seen), key=seen.index) == [type(None), Receipt, SavedAnswer]
    assert seen.count(SavedAnswer) == 1


@pytest.mark.parametrize(
    ("act", "known"),
    [
        (lambda ledger: ledger.charge("q", [TENTH]), Receipt),
        (lambda ledger: ledger.keep(ledger.charge("q", [TENTH]), b"42"), SavedAnswer),
    ],
    ids=["charged", "kept"],
)
def test_what_was_returned_survives_the_process(
    durable: Store, act: Callable[[Ledger], object], known: type
) -> None:
    durable.open().close()

    def crash() -> None:
        act(durable.open())
        die()

    assert end_of(child(crash)) == -signal.SIGKILL
    with durable.open() as ledger:
        assert isinstance(ledger.find("q"), known)
        assert ledger.remaining().epsilon == Fraction(9, 10)
        ledger.verify()


def test_a_ledger_that_dies_while_it_is_made_is_made_anew(file: FileStore) -> None:
    """What lies at the path is a whole ledger: an empty file is never taken for a new one."""

    def crash() -> None:
        os.link = lambda *_: die()
        file.open()

    assert end_of(child(crash)) == -signal.SIGKILL
    assert not file.path.exists()
    assert file.open().remaining().epsilon == 1


def test_a_writer_that_stops_is_waited_for_and_then_named(
    file: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.ledger.sqlite.PATIENCE", 0.1)
    with file.open() as ledger:
        with closing(sqlite3.connect(file.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(Exception, match="Another process locked the ledger for too long"):
                ledger.charge("q", [TENTH])
            assert ledger.remaining().epsilon == 1
        assert not ledger.charge("q", [TENTH]).already_paid


@pytest.mark.slow
def test_killed_at_random_200_times_no_answer_is_unpaid(durable: Store) -> None:
    """The child tells what it was handed by writing to a pipe; the book must have all of it."""
    budget = 10**6
    for attempt in range(200):
        reading, writing = os.pipe()

        def work() -> None:
            with durable.existing() as ledger:
                for i in range(1000):
                    question = f"{attempt}-{i}"  # noqa: B023 - waited for
                    ledger.keep(ledger.charge(question, [TENTH]), b"42")
                    os.write(writing, f"{question}\n".encode())  # noqa: B023 - waited for

        from_here = durable.open(Budget(epsilon=budget))
        number = child(work)
        time.sleep(0.005 + attempt * 0.0005)
        os.kill(number, signal.SIGKILL)
        end_of(number)
        os.close(writing)
        with os.fdopen(reading) as told:
            answered = told.read().split()
        assert all(isinstance(from_here.find(question), SavedAnswer) for question in answered)
        from_here.close()
    with durable.open(Budget(epsilon=budget)) as ledger:
        ledger.verify()
        charges = sum(entry.kind == "charge" for entry in ledger.entries())
        answers = sum(entry.kind == "answer" for entry in ledger.entries())
        assert ledger.remaining().epsilon == budget - Fraction(charges, 10)
        assert charges - 200 <= answers <= charges
        assert answers > 200
