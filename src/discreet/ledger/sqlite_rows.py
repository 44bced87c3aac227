"""Rows in a SQLite file: the table, its triggers against edits, and the statements over it."""

import sqlite3
from collections.abc import Iterator, Mapping

from discreet.errors import LedgerError
from discreet.ledger.base import EntryKind
from discreet.ledger.state import ALTERED, StoredEntry

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


BATCH = 10_000
"""So many rows are fetched at a time."""


FIELDS = ", ".join(StoredEntry._fields)


ROWS = f"SELECT {FIELDS} FROM entries WHERE number >= ? ORDER BY number LIMIT ?"  # noqa: S608 - constants


ANSWERED = f"SELECT {FIELDS}, answer FROM entries ORDER BY number"  # noqa: S608 - constants


DIGEST = "SELECT digest FROM entries WHERE number = ?"


OF_QUESTION: Mapping[EntryKind, str] = {
    "charge": f"SELECT {FIELDS}, answer FROM entries WHERE kind = 'charge' AND question = ?",  # noqa: S608 - constants
    "answer": f"SELECT {FIELDS}, answer FROM entries WHERE kind = 'answer' AND question = ?",  # noqa: S608 - constants
}


UNDER = (
    f"SELECT {FIELDS} FROM entries WHERE kind = 'charge' AND question >= ? AND question < ?"  # noqa: S608 - constants
    " ORDER BY number DESC LIMIT ?"
)


APPEND = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


class SqliteTransaction:
    """One transaction of a SQLite file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, first: int, most: int | None = None) -> Iterator[StoredEntry]:
        """Return rows, fetched by the batch: a statement left open would show others old rows."""
        left = most
        while left is None or left > 0:
            count = BATCH if left is None else min(BATCH, left)
            found = self._connection.execute(ROWS, (first, count)).fetchall()
            yield from map(StoredEntry._make, found)
            if len(found) < count:
                return
            first, left = found[-1][0] + 1, None if left is None else left - count

    def answered(self) -> Iterator[tuple[StoredEntry, bytes | None]]:
        for *values, answer in self._connection.execute(ANSWERED):
            yield StoredEntry._make(values), answer

    def of_question(
        self, question: str, kind: EntryKind
    ) -> tuple[StoredEntry, bytes | None] | None:
        found = self._connection.execute(OF_QUESTION[kind], (question,)).fetchone()
        return None if found is None else (StoredEntry._make(found[:-1]), found[-1])

    def charges_under(self, beginning: str, most: int) -> list[StoredEntry]:
        beyond = beginning[:-1] + chr(ord(beginning[-1]) + 1)
        return list(
            map(StoredEntry._make, self._connection.execute(UNDER, (beginning, beyond, most)))
        )

    def digest(self, number: int) -> bytes | None:
        found = self._connection.execute(DIGEST, (number,)).fetchone()
        return None if found is None else found[0]

    def append(self, row: StoredEntry, answer: bytes | None) -> None:
        self._connection.execute(APPEND, (*row, answer))

    def check_schema(self) -> None:
        """Reject a file whose tables or triggers are not ours."""
        found = self._connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
        if {sql for (sql,) in found} != set(SCHEMA):
            raise LedgerError(*ALTERED)

    def check_pages(self) -> None:
        """Reject a file whose pages or indices do not agree with each other."""
        if self._connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            raise LedgerError(*ALTERED)
