"""A ledger in one SQLite file, shared by threads and processes of one machine."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

from discreet.accounting import Budget, Charge, Event, Remaining
from discreet.errors import HIDDEN, LedgerError, ParameterError
from discreet.ledger.base import Entry, Kept, Kind, Receipt
from discreet.ledger.book import (
    ALTERED,
    BEGINNING,
    Book,
    Line,
    Policy,
    Row,
    check_follows,
    entry_from_row,
    events_from_text,
    one_event,
)
from discreet.ledger.checks import a_name, a_receipt, an_answer, notes, one_or_more
from discreet.ledger.storage import MISSING, Mode, Storage, make_file

SCHEMA = (
    """CREATE TABLE entries (
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        written TEXT NOT NULL,
        question TEXT NOT NULL,
        account TEXT NOT NULL,
        events TEXT NOT NULL,
        about TEXT NOT NULL,
        digest BLOB NOT NULL,
        answer BLOB
    )""",
    "CREATE UNIQUE INDEX paid_once ON entries (question) WHERE kind = 'charge'",
    "CREATE UNIQUE INDEX kept_once ON entries (question) WHERE kind = 'answer'",
    """CREATE TRIGGER no_update BEFORE UPDATE ON entries BEGIN
        SELECT RAISE(ABORT, 'a ledger is not edited');
    END""",
    """CREATE TRIGGER no_delete BEFORE DELETE ON entries BEGIN
        SELECT RAISE(ABORT, 'a ledger is not edited');
    END""",
    # INSERT OR REPLACE deletes without asking the trigger above.
    """CREATE TRIGGER no_replace BEFORE INSERT ON entries
    WHEN new.number <> (SELECT coalesce(max(number), 0) + 1 FROM entries)
        OR EXISTS (SELECT 1 FROM entries WHERE kind = 'charge' AND new.kind = 'charge'
                   AND question = new.question)
        OR EXISTS (SELECT 1 FROM entries WHERE kind = 'answer' AND new.kind = 'answer'
                   AND question = new.question)
    BEGIN
        SELECT RAISE(ABORT, 'a ledger is not edited');
    END""",
)

FIELDS = ", ".join(Row._fields)

ROWS = f"SELECT {FIELDS} FROM entries WHERE number >= ? ORDER BY number"  # noqa: S608 - constants

ANSWERED = f"SELECT {FIELDS}, answer FROM entries ORDER BY number"  # noqa: S608 - constants

PREVIOUS = "SELECT digest FROM entries WHERE number = ?"

OF_QUESTION: Mapping[Kind, str] = {
    "charge": f"SELECT {FIELDS}, answer FROM entries WHERE kind = 'charge' AND question = ?",  # noqa: S608 - constants
    "answer": f"SELECT {FIELDS}, answer FROM entries WHERE kind = 'answer' AND question = ?",  # noqa: S608 - constants
}

APPEND = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"

BATCH = 1000
"""So many entries are read at a time, so that others may write in between."""

DROPPED = (
    "the ledger lacks the entry whose digest was noted",
    "entries were dropped or replaced: keep the file for inquiry and go on from a copy that has it",
)


class SqliteLedger:
    """The book of one data set's budget, in a file or, if path is ":memory:", for one process.

    What is charged is computed from the stored events, never read from a stored sum, and compared
    exactly within the transaction that writes: no two processes can overspend together. budget is
    the total in force; one that differs from the last is recorded as a new entry and holds for
    all who have the ledger open. neighbours and the budget's filter and set_aside are for life.

    A ledger that fails, or whose file is lost, answers nothing more until it is opened anew.
    """

    def __init__(
        self, path: Path | str = ":memory:", *, budget: Budget, neighbours: str = "add-remove"
    ) -> None:
        policy = Policy(total=budget, neighbours=neighbours)
        place = _place(path)
        if place is not None and not place.exists():
            make_file(place, SCHEMA)
        self._open(place, policy)

    @classmethod
    def existing(cls, path: Path | str) -> Self:
        """Open a ledger under the policy that it records; none is made where there is none."""
        place = _place(path)
        if place is None or not place.exists():
            raise LedgerError(*MISSING)
        ledger = cls.__new__(cls)
        ledger._open(place, None)  # noqa: SLF001 - our own
        return ledger

    def _open(self, place: Path | None, policy: Policy | None) -> None:
        self._book = Book()
        self._storage = Storage(place, SCHEMA)
        try:
            with self._turn("IMMEDIATE") as turn:
                turn.check_schema()
                turn.declare(policy)
        except BaseException:
            self.close()
            raise

    def find(self, question: str) -> Receipt | Kept | None:
        """Return the kept answer, else the receipt of a question that was paid for, else None."""
        question = a_name("question", question)
        with self._turn("DEFERRED") as turn:
            paid, answer = turn.charge_of(question), turn.answer_of(question)
        if paid is None:
            return None
        receipt = _receipt(paid, turn.book, already_paid=True)
        return receipt if answer is None else Kept(receipt=receipt, answer=answer)

    def charge(
        self,
        question: str,
        events: Sequence[Event],
        *,
        account: str = "owner",
        about: Mapping[str, str] = MappingProxyType({}),
    ) -> Receipt:
        """Charge for all of the events or raise BudgetError; durable when it returns.

        A question that was paid for is not charged again; it must come with the same events.
        """
        line = Line(
            kind="charge",
            question=a_name("question", question),
            account=a_name("account", account),
            events=one_or_more(events),
            about=notes(about),
        )
        with self._turn("IMMEDIATE") as turn:
            earlier = turn.charge_of(question)
            if earlier is None:
                turn.book.budget.charge(one_event(line.events))
                paid = turn.append(line)
            else:
                paid = _paid_alike(earlier, line.events)
        return _receipt(paid, turn.book, already_paid=earlier is not None)

    def keep(self, receipt: Receipt, answer: bytes) -> bytes:
        """Return the answer that is kept, the first one handed in; durable when it returns."""
        answer = an_answer(answer)
        with self._turn("IMMEDIATE") as turn:
            paid = turn.charge_of(a_receipt(receipt).question)
            if paid is None or paid.number != receipt.number:
                raise ParameterError("receipt", HIDDEN, "must come from this ledger")
            kept = turn.answer_of(paid.question)
            if kept is None:
                turn.keep(paid, answer)
        return answer if kept is None else kept

    def remaining(self) -> Remaining:
        """Return what is left of the total in force."""
        return self._current().remaining()

    def charged(self) -> Charge:
        """Return what all entries together have taken."""
        return self._current().charged

    def head(self) -> str:
        """Return the digest of the last entry; noted elsewhere, it shows a dropped tail."""
        return self._current().digest.hex()

    def entries(self) -> Iterator[Entry]:
        """Return all entries in the order in which they were written."""
        last = 0
        while rows := self._batch(last):
            yield from map(entry_from_row, rows)
            last = rows[-1].number

    def verify(self, head: str | None = None) -> None:
        """Raise LedgerError unless every entry is as it was written and head is among them."""
        self._storage.rest()  # what is read afterwards comes from the file, not from a cache
        with self._turn("DEFERRED") as turn:
            turn.check_schema()
            turn.check_pages()
            digests: set[str] = set()
            Book().after(_whole(turn.connection.execute(ANSWERED), digests))
            if head is not None and head not in digests:
                raise LedgerError(*DROPPED)

    def close(self) -> None:
        """Let go of the file; charges and answers are in it already."""
        self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _current(self) -> Book:
        with self._turn("DEFERRED") as turn:
            return turn.book

    def _batch(self, last: int) -> list[Row]:
        with self._turn("DEFERRED") as turn:
            found = turn.connection.execute(f"{ROWS} LIMIT {BATCH}", (last + 1,))
            return list(map(Row._make, found))

    @contextmanager
    def _turn(self, mode: Mode) -> Iterator["_Turn"]:
        """Run one transaction that begins with all that other processes have written."""
        with self._storage.alone():
            with self._storage.transaction(mode) as connection:
                self._book = _caught_up(self._book, connection)
                turn = _Turn(connection, self._book)
                yield turn
            self._book = turn.book


class _Turn:
    """One transaction: what it finds, what it appends, and the book as it will be."""

    def __init__(self, connection: sqlite3.Connection, book: Book) -> None:
        self.connection = connection
        self.book = book

    def charge_of(self, question: str) -> Row | None:
        """Return the charge of a question, checked against its digest."""
        found = self._of(question, "charge")
        return None if found is None else found[0]

    def answer_of(self, question: str) -> bytes | None:
        """Return the kept answer of a question, checked against its digest."""
        found = self._of(question, "answer")
        return None if found is None else _kept(*found)

    def _of(self, question: str, kind: Kind) -> tuple[Row, bytes | None] | None:
        found = self.connection.execute(OF_QUESTION[kind], (question,)).fetchone()
        if found is None:
            return None
        row, answer = Row._make(found[:-1]), found[-1]
        previous = self.connection.execute(PREVIOUS, (row.number - 1,)).fetchone()
        check_follows(previous[0] if previous else BEGINNING, row)
        if (row.kind, row.question) != (kind, question):  # an index that leads astray
            raise LedgerError(*ALTERED)
        return row, answer

    def append(self, line: Line, answer: bytes | None = None) -> Row:
        row = self.book.row(line, datetime.now(UTC))
        # What will be read back one day is read, and priced, before it is written.
        self.book = self.book.after([row])
        self.connection.execute(APPEND, (*row, answer))
        return row

    def keep(self, paid: Row, answer: bytes) -> None:
        about = {"sha256": sha256(answer).hexdigest()}
        line = Line(kind="answer", question=paid.question, account=paid.account, about=about)
        self.append(line, answer)

    def declare(self, policy: Policy | None) -> None:
        """Put a policy in force, or the recorded one if there is none to declare."""
        if policy is None:
            self.book.remaining()  # refuses a book without a policy
        elif policy != self.book.policy:
            if self.book.policy is not None:
                self.book.policy.check_change(policy)
            self.append(Line(kind="policy", about=policy.record))

    def check_schema(self) -> None:
        """Refuse a file whose tables or triggers are not ours."""
        found = self.connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
        if {sql for (sql,) in found} != set(SCHEMA):
            raise LedgerError(*ALTERED)

    def check_pages(self) -> None:
        """Refuse a file whose pages or indices do not agree with each other."""
        if self.connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            raise LedgerError(*ALTERED)


def _caught_up(book: Book, connection: sqlite3.Connection) -> Book:
    """Return the book with what was written since; refuse a ledger that lacks its last entry."""
    rows = map(Row._make, connection.execute(ROWS, (book.number,)))
    if book.number:
        last = next(rows, None)
        if last is None or last.digest != book.digest:
            raise LedgerError(*ALTERED)
    return book.after(rows)


def _whole(found: Iterable[tuple[Any, ...]], digests: set[str]) -> Iterator[Row]:
    """Hand on the rows and note their digests; refuse answers that are altered or were not paid."""
    paid: set[str] = set()
    for *values, answer in found:
        row = Row._make(values)
        yield row  # checked against the chain before we go on
        digests.add(row.digest.hex())
        if row.kind == "charge":
            paid.add(row.question)
        if row.kind == "answer" and row.question in paid:
            _kept(row, answer)
        elif row.kind == "answer" or answer is not None:
            raise LedgerError(*ALTERED)


def _kept(row: Row, answer: bytes | None) -> bytes:
    if answer is None or json.loads(row.about) != {"sha256": sha256(answer).hexdigest()}:
        raise LedgerError(*ALTERED)
    return answer


def _receipt(paid: Row, book: Book, *, already_paid: bool) -> Receipt:
    return Receipt(
        question=paid.question,
        events=events_from_text(paid.events),
        account=paid.account,
        number=paid.number,
        already_paid=already_paid,
        remaining=book.remaining(),
    )


def _paid_alike(paid: Row, events: tuple[Event, ...]) -> Row:
    """Return the charge if it paid for these events: others would be had for nothing."""
    if events_from_text(paid.events) != events:
        rule = "must be those that this question was paid for with; a question that costs "
        raise ParameterError("events", HIDDEN, rule + "something else needs another name")
    return paid


def _place(path: Path | str) -> Path | None:
    return None if path == ":memory:" else Path(path).resolve()
