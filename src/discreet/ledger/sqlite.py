"""Storage in one SQLite file. A transaction is durable, or the file is not used further.

Several threads share one connection under a lock; several processes share the file.
"""

import os
import sqlite3
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Self
from warnings import warn

from discreet.accounting import Budget
from discreet.errors import DiscreetWarning, LedgerError, ParameterError
from discreet.ledger.blocks import PerMonth
from discreet.ledger.charges import disjoint_from
from discreet.ledger.forks import SharedStorage
from discreet.ledger.policy import Policy
from discreet.ledger.sqlite_rows import SCHEMA, SqliteTransaction
from discreet.ledger.storage import BUSY, CLOSED, NEWER, Mode, Words, key_in, sync_folder
from discreet.ledger.stored import StoredLedger

APPLICATION = 0x44495343
"""Marks a SQLite file as a ledger: "DISC"."""


VERSION = 1
"""Counts the forms of the file; a newer one than this is rejected."""


PATIENCE = 60.0
"""Seconds to wait while other processes write."""


FAILED = ("The ledger could not be read or written", "Check the disk and open the ledger again")


CUT = ("The process was forked while it read the ledger", "Run the query again")


LOST = (
    "The ledger's file was moved, replaced or truncated while it was open",
    "Put it back and open it again",
)


MISSING = (
    "The ledger's file does not exist or cannot be created",
    "Check that its folder exists and that you may write to it",
)


NOT_A_LEDGER = ("The file is not a ledger", "Name another file")


READ_ONLY = ("The ledger cannot be written", "Check the permissions of its file and folder")


WORDS = {
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_LOCKED: BUSY,
    sqlite3.SQLITE_CANTOPEN: MISSING,
    sqlite3.SQLITE_NOTADB: NOT_A_LEDGER,
    sqlite3.SQLITE_PERM: READ_ONLY,
    sqlite3.SQLITE_READONLY: READ_ONLY,
}
"""What SQLite's errors mean here; all others are FAILED."""


UNREADABLE = (sqlite3.Error, UnicodeError)
"""What reading a damaged file raises: its texts, and SQLite's words about them, may be no text."""


KEY = ".key"
"""Ends the name of the file beside a ledger that holds its key."""


KEYLESS = (
    "The ledger's key file, which is next to it and ends in .key, cannot be read or created",
    "Let this user read it, or put it back. Without it, saved answers are charged again",
)


NEW = "-new"
"""Ends the name of a file that is beside a ledger until its first entry is durable.

SQLite writes the first entry to its log beside the file. If the log is lost, so is what was
charged, and the file looks as if it was made just now; but then this one is not there.
"""


BEGIN: Mapping[Mode, str] = {"read": "BEGIN DEFERRED", "write": "BEGIN IMMEDIATE"}


class SqliteStorage(SharedStorage):
    """A ledger's file, or a database in memory if path is None."""

    def __init__(self, path: Path | None) -> None:
        self._connection: sqlite3.Connection | None = None
        self._files = None if path is None else Files(path)
        super().__init__()
        with self.alone():
            connection = self._connect()
            if path is None:
                _prepare(connection)

    @contextmanager
    def transaction(self, mode: Mode) -> Iterator[SqliteTransaction]:
        """Commit what is done inside, durably, or leave nothing of it.

        If the file fails or is not the one that was opened, everything is rejected from then on.
        """
        with self.alone():
            connection = self._begun(mode)
            try:
                self._check_files()
                yield SqliteTransaction(connection)
                connection.execute("COMMIT")
                # Only what is still there after the commit is durable.
                self._check_files()
            except UNREADABLE as cause:
                if self._refusal is None and self._connection is not connection:
                    raise LedgerError(*CUT) from cause
                self._give_up(FAILED)
                raise LedgerError(*FAILED) from cause
            except LedgerError as refusal:
                self._give_up((refusal.problem, refusal.instead))
                raise
            except BaseException:
                self._roll_back(connection)
                raise

    def may_begin(self) -> bool:
        """Return whether the file was made just now, so that it has no entry yet."""
        return self._files is None or self._files.is_new()

    def has_begun(self) -> None:
        """Note that the first entry is durable."""
        if self._files is not None:
            self._files.has_begun()

    def key(self) -> bytes | None:
        """Return the secret in a file beside the ledger; in memory, which nobody reads, is none."""
        with self.alone():
            if self._key is None and self._files is not None:
                self._key = self._files.key()
            return self._key

    def rest(self) -> None:
        """Close the connection until it is needed again; a database in memory is left alone."""
        with self.alone():
            if self._files is not None:
                self._disconnect()

    def close(self) -> None:
        """Reject everything from now on."""
        with self.alone():
            if self._process == os.getpid():
                self._give_up(CLOSED)

    def _begun(self, mode: Mode) -> sqlite3.Connection:
        connection = self._usable()
        try:
            connection.execute(BEGIN[mode])
            if mode == "read":  # a deferred transaction begins with what it reads first
                connection.execute("SELECT 1 FROM sqlite_master").fetchall()
        except UNREADABLE as cause:
            words = _words(cause)
            if words is BUSY:
                self._roll_back(connection)
            else:
                self._give_up(words)
            raise LedgerError(*words) from cause
        except BaseException:  # Ctrl-C while others write: their turn comes next, not ours
            self._roll_back(connection)
            raise
        return connection

    def _usable(self) -> sqlite3.Connection:
        self.check_open()
        return self._connection or self._connect()

    def _connect(self) -> sqlite3.Connection:
        try:
            self._connection = _connected(None if self._files is None else self._files.opening())
        except UNREADABLE as cause:
            raise LedgerError(*_words(cause)) from cause
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            # A statement that was not read to its end would keep a closed connection's locks.
            with suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            with suppress(sqlite3.Error):
                connection.close()

    def _check_files(self) -> None:
        if self._files is not None:
            self._files.check()

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._give_up(FAILED)

    def _give_up(self, words: Words) -> None:
        """Reject everything from now on, and let other processes go on."""
        self._refusal = words
        self._disconnect()

    def is_of_one_process(self) -> bool:
        """Return whether it is a database in memory."""
        return self._files is None


class Files:
    """The three files of a SQLite database, which must stay where they are while it is open.

    SQLite would go on writing to a file that was deleted or moved, and report success; and it
    would share no locks with those who open what lies there now.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._all = tuple(f"{path}{end}" for end in ("", "-wal", "-shm"))
        self._database: tuple[int, int] | None = None
        self._beside: list[tuple[int, int]] | None = None
        self._size = 0

    def opening(self) -> Path:
        """Return the path of the database, to be opened now."""
        self._beside = None  # SQLite removes these two when it closes a database
        if self._database is None:
            with _lost_if_absent():
                self._database = _identity(self._path)
        return self._path

    def is_new(self) -> bool:
        """Return whether nobody has begun the ledger since it was made."""
        return _new(self._path).exists()

    def key(self) -> bytes:
        """Return the key in the file beside the ledger."""
        try:
            return key_in(self._path.with_name(f"{self._path.name}{KEY}"))
        except (OSError, ValueError) as cause:
            raise LedgerError(*KEYLESS) from cause

    def has_begun(self) -> None:
        """Remove the file that says that the ledger has no entry yet."""
        with suppress(OSError):
            _new(self._path).unlink(missing_ok=True)

    def check(self) -> None:
        """Reject files that are not those that were opened, or that became shorter."""
        try:  # before and after each transaction: one call of the system for each file
            database, *others = map(os.stat, self._all)
        except OSError as cause:
            raise LedgerError(*LOST) from cause
        beside = [(each.st_dev, each.st_ino) for each in others]
        is_ours = (database.st_dev, database.st_ino) == self._database
        if not is_ours or beside != (self._beside or beside) or database.st_size < self._size:
            raise LedgerError(*LOST)
        self._beside, self._size = beside, database.st_size


def make_file(path: Path) -> None:
    """Make an empty ledger at path, whole or not at all; one that is there is left alone."""
    try:
        with tempfile.TemporaryDirectory(prefix=".ledger-", dir=path.parent) as folder:
            new = Path(folder) / path.name
            new.touch(mode=0o600)
            with closing(sqlite3.connect(new, isolation_level=None)) as connection:
                _prepare(connection)
            os.close(os.open(_new(path), os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
            with suppress(FileExistsError):
                os.link(new, path)
        sync_folder(path.parent)
    except (OSError, sqlite3.Error) as cause:
        raise LedgerError(*MISSING) from cause


def _new(path: Path) -> Path:
    return path.with_name(f"{path.name}{NEW}")


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    for statement in SCHEMA:
        connection.execute(statement)
    connection.execute("PRAGMA journal_mode = WAL")


def _connected(path: Path | None) -> sqlite3.Connection:
    where = ":memory:" if path is None else f"{path.as_uri()}?mode=rw"
    connection = sqlite3.connect(
        where, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        if path is not None:
            _check_form(connection)
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # on macOS, fsync alone promises little
        connection.execute("PRAGMA cell_size_check = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_form(connection: sqlite3.Connection) -> None:
    """Reject a file that is no ledger, before anything is written to it."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise LedgerError(*NOT_A_LEDGER)
    if version > VERSION:
        raise LedgerError(*NEWER)


def _words(error: Exception) -> Words:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return WORDS.get(code & 0xFF, FAILED)  # the low byte is the kind, the rest its detail


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


@contextmanager
def _lost_if_absent() -> Iterator[None]:
    try:
        yield
    except OSError as cause:
        raise LedgerError(*LOST) from cause


class SqliteLedger(StoredLedger):
    """The ledger of one data set's budget, in a file or, if path is ":memory:", for one process.

    What is charged is computed from the stored events, never read from a stored sum, and compared
    exactly within the transaction that writes: no two processes can overspend together. budget is
    the total in force; one that differs from the last is recorded as a new entry and holds for
    all who have the ledger open. neighbours, the filter and the part of delta set aside are for
    life.
    disjoint names groups of tables that have no unit in common: what is charged for one of them
    leaves what the others have. With per_month each month has the total for itself.
    data stands for the data that it is about: it is noted when it
    changes, decides nothing here, and must be keyed, because entries can be read.

    A ledger that fails, or whose file is lost, answers nothing more until it is opened again.
    """

    def __init__(  # noqa: PLR0913 - the policy, field by field
        self,
        path: Path | str = ":memory:",
        *,
        budget: Budget,
        neighbours: str = "add-remove",
        disjoint: Iterable[Collection[str]] = (),
        per_month: PerMonth | None = None,
        data: Collection[str] = (),
    ) -> None:
        policy = Policy(
            total=budget,
            neighbours=neighbours,
            disjoint=disjoint_from(disjoint),
            per_month=per_month,
            data=frozenset(data),
        )
        place = _place(path)
        if place is not None and not place.exists():
            make_file(place)
        _warn_if_shared(place)
        super().__init__(SqliteStorage(place), policy)

    @classmethod
    def existing(cls, path: Path | str) -> Self:
        """Open a ledger under the policy that it records; none is made where there is none."""
        place = _place(path)
        if place is None or not place.exists():
            raise LedgerError(*MISSING)
        _warn_if_shared(place)
        ledger = cls.__new__(cls)
        StoredLedger.__init__(ledger, SqliteStorage(place), None)
        return ledger


def _warn_if_shared(place: Path | None) -> None:
    """Say that others may write a ledger: they could put back an old one, or lose it."""
    with suppress(OSError):
        if place is not None and place.stat().st_mode & 0o022:
            warn(
                f"Other users may write to the ledger {place}, and could replace it by an older "
                "one. Take this right from them with chmod go-w.",
                DiscreetWarning,
                stacklevel=3,
            )


def _place(path: object) -> Path | None:
    if not isinstance(path, str | PathLike) or "\0" in str(path) or not str(path):
        rule = "must be the path of a file without NUL characters, or ':memory:'"
        raise ParameterError("path", path, rule)
    return None if path == ":memory:" else Path(path).resolve()
