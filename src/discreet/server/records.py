"""What a server keeps besides the ledger: answers, client keys, sessions, shelves, the audit log.

It is in a SQLite file beside a ledger that is a file, and in a schema of the PostgreSQL server of
any other ledger, so that several servers share it. Nothing in it was not
released: losing it loses no charge and no noisy table, which are in the ledger.
"""

# ruff: noqa: S608 - all SQL is of constants

import errno
import json
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Any, Protocol, TypeAlias

from discreet.errors import LedgerError
from discreet.extras import psycopg_module
from discreet.ledger import is_on_server
from discreet.ledger.backup import records_of
from discreet.ledger.postgres import parted

ID = re.compile("[A-Za-z0-9_-]{24}")
"""The id of an answer: 18 bytes, as text of URLs."""

Row: TypeAlias = tuple[Any, ...]

TABLES = (
    """CREATE TABLE IF NOT EXISTS {schema}answers (
        id TEXT PRIMARY KEY, account TEXT NOT NULL, written TEXT NOT NULL,
        question TEXT NOT NULL, terms TEXT NOT NULL, body {bytes} NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS {schema}client_keys (
        account TEXT NOT NULL, name TEXT NOT NULL, call TEXT NOT NULL, answer TEXT,
        body {bytes}, written TEXT NOT NULL, PRIMARY KEY (account, name))""",
    """CREATE TABLE IF NOT EXISTS {schema}sessions (
        digest TEXT PRIMARY KEY, about TEXT NOT NULL, expires TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS {schema}log (
        number {serial}, written TEXT NOT NULL, who TEXT NOT NULL, action TEXT NOT NULL,
        outcome TEXT NOT NULL, about TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS log_by_name ON {schema}log (who, number)",
    "CREATE INDEX IF NOT EXISTS answers_by_time ON {schema}answers (written, id)",
    """CREATE TABLE IF NOT EXISTS {schema}shelf (
        account TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, content TEXT NOT NULL,
        written TEXT NOT NULL, PRIMARY KEY (account, kind, name))""",
)

KEPT_IN_SQLITE = tuple(
    f"""CREATE TRIGGER IF NOT EXISTS log_has_no_{event} BEFORE {event} ON log
        BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"""
    for event in ("update", "delete")
)
KEPT_IN_POSTGRES = (
    """CREATE OR REPLACE FUNCTION {schema}keep_log() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN RAISE EXCEPTION 'the audit log is append-only'; END$$""",
    """CREATE OR REPLACE TRIGGER log_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}log
        FOR EACH STATEMENT EXECUTE FUNCTION {schema}keep_log()""",
)
"""Lines of the audit log are added, and neither changed nor removed."""

MAKING = int.from_bytes(b"discreet")
"""The advisory lock under which tables are made: two servers may start at the same time."""

FAILED = ("The records of the server cannot be read or written", "Check the disk and the server")


class Database(Protocol):
    """Runs statements with ? for values, each call in one durable transaction."""

    def run(self, sql: str, values: Sequence[object] = ()) -> list[Row]: ...

    def close(self) -> None: ...


class SqliteDatabase:
    """A SQLite file, or the memory of this process."""

    def __init__(self, path: Path | None) -> None:
        self._lock = RLock()
        place = ":memory:" if path is None else str(path)
        if path is not None:
            _make(path)
        self._connection = sqlite3.connect(
            place, check_same_thread=False, isolation_level=None, timeout=60
        )
        for each in ("journal_mode = WAL", "synchronous = FULL", "trusted_schema = OFF"):
            self._connection.execute(f"PRAGMA {each}")
        for each in TABLES:
            serial = "INTEGER PRIMARY KEY AUTOINCREMENT"
            self._connection.execute(each.format(schema="", bytes="BLOB", serial=serial))
        for each in KEPT_IN_SQLITE:
            self._connection.execute(each)

    def run(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Run one statement; it is durable when this returns."""
        with self._lock, _told():
            return self._connection.execute(sql.format(schema=""), tuple(values)).fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


def _make(path: Path) -> None:
    """Make a file that only this user may read, unless it is there; follow no link."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    except OSError as error:
        what = f"The records of the server, {path}, are no file that this user may write"
        raise LedgerError(what, "Check what is at this place") from error


class PostgresDatabase:
    """A schema on a PostgreSQL server. A cut connection is made again, once a statement."""

    def __init__(self, address: str, schema: str) -> None:
        self._lock, self._address = RLock(), address
        self._schema = f"{schema}."
        self._psycopg = psycopg_module()
        with _told():
            self._connection = self._connected()
            with self._connection.transaction():
                self._connection.execute(f"SELECT pg_advisory_xact_lock({MAKING})")
                self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
                serial = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
                for each in (*TABLES, *KEPT_IN_POSTGRES):
                    sql = each.format(schema=self._schema, bytes="BYTEA", serial=serial)
                    self._connection.execute(sql)

    def _connected(self) -> Any:
        return self._psycopg.connect(self._address, autocommit=True, connect_timeout=10)

    def run(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Run one statement; it is durable when this returns."""
        text = sql.format(schema=self._schema).replace("?", "%s")
        with self._lock, _told():
            if self._connection.closed or self._connection.broken:
                self._connection = self._connected()
            found = self._connection.execute(text, tuple(values))
            return [tuple(row) for row in found.fetchall()] if found.description else []

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()


@contextmanager
def _told() -> Iterator[None]:
    """Tell failures of a database in fixed words."""
    try:
        yield
    except Exception as error:
        raise LedgerError(*FAILED) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedCall:
    """A call that came with a key of the client."""

    call: str
    """Stands for what was asked."""
    answer: str | None = None
    """The id of the answer, once there is one."""
    body: bytes = b""
    """The reply to the call: it says what this call was charged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedReply:
    """An answer under its permanent id."""

    id: str
    account: str
    written: str
    question: str
    terms: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """A line of the audit log: who did what, and how it ended; never a value of an answer."""

    number: int
    written: str
    who: str
    action: str
    outcome: str
    about: Mapping[str, Any]

    def to_json(self) -> dict[str, object]:
        """Return it for a line of JSON."""
        return {
            "number": self.number,
            "written": self.written,
            "who": self.who,
            "action": self.action,
            "outcome": self.outcome,
            **self.about,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFile:
    """A file that lines of the audit log of a catalog are added to, each as a line of JSON."""

    path: Path
    catalog: str

    def add(self, entry: LogEntry) -> None:
        """Add a line in one step, so that several processes may add to one file.

        All but ASCII is escaped: nothing that a caller wrote begins a line or reaches a terminal.
        """
        line = json.dumps({"catalog": self.catalog, **entry.to_json()}) + "\n"
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if os.write(file, line.encode("ascii")) < len(line):
                raise OSError(errno.ENOSPC, "The line was not written to its end")
        finally:
            os.close(file)


def now() -> str:
    """Return the time as it is recorded."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Records:
    """The records of one catalog. Every method may be called from several threads."""

    def __init__(self, database: Database, audit_file: AuditFile | None = None) -> None:
        self._database, self._audit_file = database, audit_file

    @property
    def database(self) -> Database:
        """Where they are, for shelves beside them."""
        return self._database

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    # ----------------------------------------------------------------------- answers

    def save(self, reply: SavedReply) -> None:
        """Save an answer. What is saved under an id stays."""
        self._database.run(
            "INSERT INTO {schema}answers (id, account, written, question, terms, body)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
            (reply.id, reply.account, reply.written, reply.question, reply.terms, reply.body),
        )

    def reply(self, id: str) -> SavedReply | None:  # noqa: A002 - as routes call it
        """Return the answer with an id."""
        if not ID.fullmatch(id):  # PostgreSQL fails for some texts
            return None
        found = self._database.run(
            "SELECT id, account, written, question, terms, body FROM {schema}answers WHERE id = ?",
            (id,),
        )
        for name, account, written, question, terms, body in found:
            return SavedReply(
                id=name,
                account=account,
                written=written,
                question=question,
                terms=terms,
                body=bytes(body),
            )
        return None

    # ----------------------------------------------------------------------- keys of clients

    def begin(self, account: str, name: str, call: str) -> SavedCall:
        """Note a client's key, unless it was used before; return the call that it stands for."""
        self._database.run(
            "INSERT INTO {schema}client_keys (account, name, call, written) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (account, name) DO NOTHING",
            (account, name, call, now()),
        )
        return self._saved_call(account, name)

    def finish(self, account: str, name: str, answer: str, body: bytes) -> SavedCall:
        """Note the reply to a call with a key; return the first one that was noted."""
        self._database.run(
            "UPDATE {schema}client_keys SET answer = ?, body = ?"
            " WHERE account = ? AND name = ? AND answer IS NULL",
            (answer, body, account, name),
        )
        return self._saved_call(account, name)

    def _saved_call(self, account: str, name: str) -> SavedCall:
        ((call, answer, body),) = self._database.run(
            "SELECT call, answer, body FROM {schema}client_keys WHERE account = ? AND name = ?",
            (account, name),
        )
        return SavedCall(call=call, answer=answer, body=bytes(body or b""))

    # ----------------------------------------------------------------------- sessions

    def open_session(self, secret: str, about: Mapping[str, str], lasts: timedelta) -> None:
        """Note a session or a code for signing in, by the digest of its secret."""
        self._database.run("DELETE FROM {schema}sessions WHERE expires < ?", (now(),))
        expires = (datetime.now(UTC) + lasts).isoformat(timespec="milliseconds")
        self._database.run(
            "INSERT INTO {schema}sessions (digest, about, expires) VALUES (?, ?, ?)",
            (_digest(secret), json.dumps(about), expires),
        )

    def session(self, secret: str) -> dict[str, str] | None:
        """Return what was noted of a session, unless it has ended."""
        found = self._database.run(
            "SELECT about FROM {schema}sessions WHERE digest = ? AND expires >= ?",
            (_digest(secret), now()),
        )
        return json.loads(found[0][0]) if found else None

    def end_session(self, secret: str) -> dict[str, str] | None:
        """End a session, or use up a code; return what was noted of it. Of several calls, one."""
        found = self._database.run(
            "DELETE FROM {schema}sessions WHERE digest = ? AND expires >= ? RETURNING about",
            (_digest(secret), now()),
        )
        return json.loads(found[0][0]) if found else None

    # ----------------------------------------------------------------------- the audit log

    def log(self, who: str, action: str, outcome: str, **about: object) -> None:
        """Add a line to the audit log, and to the file of it if there is one."""
        written = now()
        ((number,),) = self._database.run(
            "INSERT INTO {schema}log (written, who, action, outcome, about) VALUES (?, ?, ?, ?, ?)"
            " RETURNING number",
            (written, who, action, outcome, json.dumps(about)),
        )
        if self._audit_file is not None:
            entry = LogEntry(
                number=number,
                written=written,
                who=who,
                action=action,
                outcome=outcome,
                about=about,
            )
            with _told():
                self._audit_file.add(entry)

    def entries(
        self,
        *,
        who: str | None = None,
        actions: Sequence[str] = (),
        before: int | None = None,
        most: int = 100,
    ) -> list[LogEntry]:
        """Return lines of the audit log, the newest first; of some actions, or of all."""
        asked = ["number < ?"] if before is not None else []
        asked += ["who = ?"] if who is not None else []
        asked += [f"action IN ({', '.join('?' for _ in actions)})"] if actions else []
        where = f" WHERE {' AND '.join(asked)}" if asked else ""
        values = [each for each in (before, who, *actions) if each is not None]
        found = self._database.run(
            "SELECT number, written, who, action, outcome, about FROM {schema}log"
            + where
            + " ORDER BY number DESC LIMIT ?",
            [*values, most],
        )
        return [
            LogEntry(
                number=number,
                written=written,
                who=name,
                action=action,
                outcome=outcome,
                about=json.loads(about),
            )
            for number, written, name, action, outcome, about in found
        ]


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def records_beside(ledger: str | Path, audit_file: AuditFile | None = None) -> Records:
    """Return the records of the catalog that has this ledger."""
    return Records(_database_beside(ledger), audit_file)


MOST_SCHEMA = 63
"""Characters of a name that PostgreSQL keeps."""


def schema_of(ledger: str) -> str:
    """Return the schema of the records of a ledger, which no other ledger has."""
    name = f"{ledger}_server"
    return name if len(name) <= MOST_SCHEMA else f"{ledger[:40]}_{_digest(ledger)[:15]}_server"


def _database_beside(ledger: str | Path) -> Database:
    if isinstance(ledger, str) and is_on_server(ledger):
        address, schema = parted(ledger)
        return PostgresDatabase(address, schema_of(schema))
    if str(ledger) == ":memory:":
        return SqliteDatabase(None)
    return SqliteDatabase(records_of(Path(ledger)))
