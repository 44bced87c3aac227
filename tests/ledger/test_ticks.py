"""Ticks of a series in a ledger: saved once each, for one charge."""

import json
import signal
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.errors import LedgerError, ParameterError
from discreet.ledger import Ledger, Receipt
from discreet.ledger.tick_entries import is_answer_paid, tick_name
from tests.ledger.stores import TENTH, FileStore, Store, child, die, end_of, told_by_children


def saved(last: int, number: int = 0) -> bytes:
    return json.dumps({"last": last, "numbers": [number]}).encode()


def charged(ledger: Ledger) -> Receipt:
    receipt = ledger.charge("s", [TENTH])
    ledger.keep(receipt, b"what it is")
    return receipt


def test_ticks_are_saved_one_after_the_other_for_one_charge(store: Store) -> None:
    ledger = store.open()
    receipt = charged(ledger)
    for first, last in ((1, 1), (2, 5), (6, 6)):
        assert ledger.keep_tick(receipt, first, saved(last)) == saved(last)
    assert list(ledger.ticks("s")) == [saved(1), saved(5), saved(6)]
    assert list(ledger.ticks("s", 6)) == [saved(6)]
    assert ledger.remaining().epsilon == Fraction(9, 10)
    assert [each.kind for each in ledger.entries()].count("charge") == 1
    ledger.verify()


def test_a_tick_that_is_saved_is_never_replaced(store: Store) -> None:
    ledger = store.open()
    receipt = charged(ledger)
    ledger.keep_tick(receipt, 1, saved(1, number=7))
    assert ledger.keep_tick(receipt, 1, saved(3, number=8)) == saved(1, number=7)
    assert list(ledger.ticks("s")) == [saved(1, number=7)]


def test_ticks_outlast_the_process(durable: Store) -> None:
    with durable.open() as ledger:
        ledger.keep_tick(charged(ledger), 1, saved(4))
    with durable.existing() as ledger:
        assert list(ledger.ticks("s")) == [saved(4)]
        ledger.verify()


def test_a_tick_needs_a_charge_of_this_ledger(store: Store) -> None:
    ledger = store.open()
    receipt = charged(ledger)
    other = ledger.charge("other", [TENTH])
    forged = replace(receipt, number=other.number)
    with pytest.raises(ParameterError, match="must come from this ledger"):
        ledger.keep_tick(forged, 1, saved(1))
    for tick in (0, -1, True, "1"):
        with pytest.raises(ParameterError, match="tick"):
            ledger.keep_tick(receipt, tick, saved(1))  # type: ignore[arg-type]
    for answer in (b"not json", b"{}", b"[]", b'{"last": 1}', b'{"last": "9"}'):
        with pytest.raises(ParameterError, match="up to which tick"):
            ledger.keep_tick(receipt, 2, answer)


def test_ticks_make_no_room_for_charges_without_an_answer(store: Store) -> None:
    """A tick is no answer to another charge that failed."""
    ledger = store.open()
    receipt = charged(ledger)
    ledger.charge("failed", [TENTH])
    ledger.keep_tick(receipt, 1, saved(1))
    assert [each.question for each in ledger.incidents()] == ["failed"]
    assert ledger._state.unanswered["owner"] == 1


def test_processes_that_release_at_once_save_each_tick_once(durable: Store) -> None:
    with durable.open() as ledger:
        charged(ledger)

    def work(process: int) -> list[str]:
        with durable.open() as ledger, ThreadPoolExecutor(3) as pool:
            receipt = ledger.charge("s", [TENTH])
            ticks = [tick for tick in range(1, 11) for _ in range(3)]
            kept = pool.map(
                lambda tick: ledger.keep_tick(receipt, tick, saved(tick, process)).decode(), ticks
            )
            texts = [each.replace(" ", "") for each in kept]
            return [f"{tick}:{text}" for tick, text in zip(ticks, texts, strict=True)]

    told = set(told_by_children(3, work))
    assert len(told) == 10
    with durable.existing() as ledger:
        ledger.verify()
        kinds = Counter(entry.kind for entry in ledger.entries())
        assert kinds == {"policy": 1, "charge": 1, "answer": 11}


def test_killed_at_any_statement_a_tick_is_saved_whole_or_not_at_all(durable: Store) -> None:
    status, seen = -1, []
    for statement in range(1, 60):
        durable.renew()
        ledger = durable.open()
        receipt = charged(ledger)
        begun = 0

        def count() -> None:
            nonlocal begun
            begun += 1
            if begun == statement:  # noqa: B023 - waited for
                die()

        def crash() -> None:
            durable.trace(ledger, count)  # noqa: B023 - waited for
            ledger.keep_tick(receipt, 1, saved(1, number=1))  # noqa: B023 - waited for

        status = end_of(child(crash))
        found = list(ledger.ticks("s"))
        seen.append(len(found))
        assert found in ([], [saved(1, number=1)])
        expected = found[0] if found else saved(1, number=2)
        assert ledger.keep_tick(receipt, 1, saved(1, number=2)) == expected
        ledger.verify()
        ledger.close()
        if status == 0:
            break
        assert status == -signal.SIGKILL
    assert status == 0
    assert seen[0] == 0
    assert seen[-1] == 1


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entries SET answer = x'7b7d' WHERE about LIKE '%tick%'",
        "UPDATE entries SET question = 'other/tick/1' WHERE about LIKE '%tick%'",
        "UPDATE entries SET about = replace(about, '\"tick\"', '\"tock\"')",
    ],
)
def test_an_edited_tick_is_noticed(file: FileStore, change: str) -> None:
    with file.open() as ledger:
        ledger.keep_tick(charged(ledger), 1, saved(1))
    with closing(sqlite3.connect(file.path)) as connection:
        connection.execute("DROP TRIGGER no_update")
        connection.execute(change)
        connection.commit()
    with pytest.raises(LedgerError), file.existing() as ledger:
        ledger.verify()


def test_a_tick_without_its_charge_is_noticed() -> None:
    about = '{"sha256":"","tick":"3"}'
    assert is_answer_paid(tick_name("s", 3), about, {"s"})
    assert not is_answer_paid(tick_name("s", 3), about, {"other"})
    assert not is_answer_paid(tick_name("s", 4), about, {"s"})
    assert not is_answer_paid("s", about, {"s"})
