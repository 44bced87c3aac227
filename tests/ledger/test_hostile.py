"""Signals, full disks, lost servers and clocks at bad moments: nothing is unpaid or lost."""

import resource
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest

import discreet.ledger.storage
from discreet.accounting import Budget
from discreet.errors import LedgerError
from discreet.ledger import SavedAnswer, SqliteLedger
from discreet.ledger.storage import LENGTH, key_in
from tests.ledger.stores import TENTH, FileStore, PostgresStore, Store, child, end_of


class Interrupted:
    """A connection on which Ctrl-C is pressed while a transaction begins."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, *given: object) -> Any:
        done = self._connection.execute(statement, *given)
        if statement.startswith("BEGIN"):
            raise KeyboardInterrupt
        return done


def test_ctrl_c_while_a_transaction_begins_leaves_none_open(file: FileStore) -> None:
    """Else nobody could write until this process ends, and this one could do nothing more."""
    with file.open() as ledger, file.open() as other:
        storage: Any = ledger._storage
        connection, storage._connection = storage._connection, Interrupted(storage._connection)
        with pytest.raises(KeyboardInterrupt):
            ledger.charge("q", [TENTH])
        storage._connection = connection
        assert not connection.in_transaction
        other.charge("other", [TENTH])
        ledger.charge("q", [TENTH])
        assert ledger.remaining().epsilon == Fraction(8, 10)


def limited(size: int) -> None:
    """Let no file of this process grow beyond a size, as a full disk would not."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_a_full_disk_loses_no_answer_that_was_returned_and_charges_for_none_twice(
    file: FileStore,
) -> None:
    """The disk has room for some of the answers, wherever in a transaction it ends."""
    told = file.path.with_name("told")
    file.open(Budget(epsilon=1000)).close()
    for room in range(4_000, 60_000, 7_919):

        def ask(room: int = room) -> None:
            with file.existing() as ledger, told.open("a") as out:
                ledger.remaining()
                size = max(Path(f"{file.path}{end}").stat().st_size for end in ("", "-wal"))
                limited(size + room)
                with suppress(LedgerError):
                    for i in range(100):
                        name = f"{room}-{i}"
                        kept = ledger.keep(ledger.charge(name, [TENTH]), f"{name} ".encode() * 200)
                        out.write(f"{name} {kept.hex()}\n")
                        out.flush()
                    pytest.fail("the disk was not full")

        assert end_of(child(ask)) == 0
    answers = dict(line.split() for line in told.read_text().splitlines())
    assert answers
    with file.existing() as ledger:
        ledger.verify()
        for name, answer in answers.items():
            found = ledger.find(name)
            assert isinstance(found, SavedAnswer)
            assert found.answer.hex() == answer
        paid = [each.question for each in ledger.entries() if each.kind == "charge"]
        assert len(paid) == len(set(paid))
        assert set(answers) <= set(paid)
        assert ledger.charged().epsilon == Fraction(len(paid), 10)
        assert len(paid) - len(answers) <= 2 * 8


def test_a_ledger_on_a_full_disk_answers_nothing_more_and_says_so(file: FileStore) -> None:
    file.open().close()

    def ask() -> None:
        ledger = SqliteLedger.existing(file.path)
        ledger.remaining()
        limited(4096)
        for name in ("a", "b"):
            with pytest.raises(LedgerError, match="could not be read or written"):
                ledger.charge(name, [TENTH], about={"sql": "x" * 8000})

    assert end_of(child(ask)) == 0
    with file.existing() as ledger:
        assert ledger.remaining().epsilon == 1


def test_a_key_that_a_full_disk_cut_short_is_not_left_behind(tmp_path: Path) -> None:
    """Else it could never be read, and nobody could open the ledger."""
    file = tmp_path / "ledger.key"

    def ask() -> None:
        limited(LENGTH // 2)
        with pytest.raises(OSError, match="not written whole"):
            key_in(file)

    assert end_of(child(ask)) == 0
    assert list(tmp_path.iterdir()) == []
    assert len(key_in(file)) == LENGTH


def test_a_clock_that_goes_backwards_changes_nothing_but_the_times(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)

    class Backwards(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            nonlocal now
            now -= timedelta(days=40)
            return now.astimezone(tz)

    monkeypatch.setattr(discreet.ledger.storage, "datetime", Backwards)
    ledger = store.open()
    receipt = ledger.charge("q", [TENTH])
    ledger.record_incident(receipt, "failed")
    ledger.resume("owner")
    ledger.keep(receipt, b"42")
    assert ledger.charge("q", [TENTH]).already_paid
    written = [each.written for each in ledger.entries() if each.kind != "policy"]
    assert written == sorted(written, reverse=True)
    assert [each.is_resumed for each in ledger.incidents()] == [True]
    assert ledger.remaining().epsilon == Fraction(9, 10)
    ledger.verify()


def cut_off(server: PostgresStore) -> None:
    """End all connections of ledgers."""
    with psycopg.connect(server.server, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'discreet ledger' AND query LIKE %s",
            (f"%{server.schema}%",),
        )


@pytest.mark.postgresql
def test_a_connection_that_is_lost_at_any_statement_costs_no_answer(server: PostgresStore) -> None:
    """Charge, keep and view are cut off before each of their statements, one after the other."""
    with server.open(Budget(epsilon=1000)) as ledger:
        survived = 0
        for last in range(1, 60):
            left = last

            def step() -> None:
                nonlocal left
                left -= 1
                if left == 0:
                    cut_off(server)

            server.trace(ledger, step)
            name, seen = f"q{last}", b""
            try:
                with ledger.view() as view:
                    assert view.find(name) is None
                seen = ledger.keep(ledger.charge(name, [TENTH]), f"first {last}".encode())
            except LedgerError:
                pass
            survived += left > 0
            kept = ledger.keep(ledger.charge(name, [TENTH]), b"second")
            assert seen in {b"", kept}
            assert ledger.charged().epsilon == Fraction(last, 10)
            if survived > 2:
                break
        assert last > 15
        ledger.verify()
