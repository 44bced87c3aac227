"""A durable collection in a file: it counts reports and stores none.

One SQLite file holds the tally of one mechanism, and a keyed digest of the id of each counted
report, so a report that is sent twice is counted once. Counting a report and storing its digest are
one transaction: after a crash, both happened or neither did.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from types import TracebackType
from typing import Any, Self

from discreet.errors import CollectionError, ParameterError
from discreet.local.client import Memoized, reporting
from discreet.local.mechanism import Mechanism
from discreet.local.registry import mechanism_from_json, mechanism_to_json
from discreet.local.reports import Reports, Tally
from discreet.noise import SYSTEM
from discreet.parameters import integer

APPLICATION = 0x4449534C
"""Marks a SQLite file as a collection: "DISL"."""

VERSION = 1
PATIENCE = 60.0
"""Seconds to wait while other processes write."""

ID_BYTES_MOST = 256
DIGEST_BYTES = 16
LEAST_PEOPLE = 100

SCHEMA = (
    """CREATE TABLE collection (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        mechanism TEXT NOT NULL,
        salt BLOB NOT NULL,
        least_people INTEGER NOT NULL,
        tally BLOB NOT NULL
    )""",
    "CREATE TABLE counted (digest BLOB PRIMARY KEY) WITHOUT ROWID",
)

FAILED = ("The collection could not be read or written", "check the disk and the file")
MISSING = (
    "There is no collection in this file",
    "create one with Collector.create or discreet local collect",
)
DAMAGED = (
    "This collection is damaged: its mechanism or its counts are missing",
    "restore a copy, or collect into another file",
)
NO_PAIRS = ("Reports are counted with their ids", "pass pairs of an id and a report")
NO_FOLDER = ("The folder of the collection does not exist", "create it, or name another file")
LINK = ("The collection's file is a symbolic link", "name the file itself")
LOST = ("The collection's file was moved or replaced while it was open", "open it again")
PRESENT = ("This file exists already", "open it, or name another file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """How many reports were counted now, and how many had been counted before."""

    counted: int
    repeated: int


class Collector:
    """Counts reports of one mechanism in a file that threads and processes of a machine share.

    It only returns tallies of at least `least_people` reports. The privacy of the reports does not
    depend on this limit: two tallies that differ by one report reveal that report, and a report
    reveals no more than its epsilon allows.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = _resolved(path)
        if not self._path.is_file():
            raise CollectionError(*MISSING)
        self._inode = self._path.stat().st_ino
        self._lock = RLock()
        self._connection = _connected(self._path)
        with self._transaction("DEFERRED") as connection:
            _check(connection)
            row = connection.execute("SELECT mechanism, salt, least_people FROM collection")
            text, self._salt, self.least_people = _first(row.fetchone())
        self.mechanism: Mechanism = _mechanism(text)

    @classmethod
    def create(
        cls,
        path: Path | str,
        mechanism: Mechanism | Memoized[Mechanism],
        *,
        least_people: int = LEAST_PEOPLE,
    ) -> Self:
        """Create a collection in a new file, and open it."""
        least = integer("least_people", least_people, least=1, most=10**9)
        text = mechanism_to_json(mechanism)
        place = _resolved(path)
        if Path(path).is_symlink():
            raise CollectionError(*LINK)
        first = (1, text, SYSTEM.draw(32), least, bytes(Tally(reporting(mechanism))))
        _make_file(place, first)
        return cls(place)

    def __repr__(self) -> str:
        return f"Collector({self.mechanism!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def add(self, report: bytes, *, report_id: bytes | str) -> bool:
        """Count one report. It is on disk when this returns. False if its id was counted before.

        The device draws the id at random. It sends the same id and report again if it does not know
        whether the first attempt arrived.
        """
        return self.add_many([(report_id, report)]).counted == 1

    def add_many(self, reports: Iterable[tuple[bytes | str, bytes]]) -> Added:
        """Count reports with their ids, all or none: one malformed report rejects them all."""
        given = [(self._digest(name), report) for name, report in _pairs(reports)]
        for _, report in given:
            _check_single(self.mechanism, report)
        with self._transaction("IMMEDIATE") as connection:
            fresh = [report for digest, report in given if _is_new(connection, digest)]
            if fresh:
                tally = self._read(connection)
                tally.add(Reports.join(self.mechanism, fresh))
                connection.execute("UPDATE collection SET tally = ?", (bytes(tally),))
        return Added(counted=len(fresh), repeated=len(given) - len(fresh))

    @property
    def people(self) -> int:
        """How many reports were counted."""
        with self._transaction("DEFERRED") as connection:
            return self._read(connection).people

    def tally(self) -> Tally[Mechanism]:
        """Return the tally, if it has reports of at least `least_people` people."""
        with self._transaction("DEFERRED") as connection:
            found = self._read(connection)
        if found.people < self.least_people:
            raise CollectionError(
                f"Only {found.people} reports were counted, and results need at least "
                f"{self.least_people}",
                "collect more",
            )
        return found

    def _read(self, connection: sqlite3.Connection) -> Tally[Mechanism]:
        (data,) = _first(connection.execute("SELECT tally FROM collection").fetchone())
        return Tally.from_bytes(self.mechanism, data)

    def _digest(self, name: bytes | str) -> bytes:
        content = name.encode("utf-8", "surrogatepass") if isinstance(name, str) else name
        if not isinstance(content, bytes) or not 0 < len(content) <= ID_BYTES_MOST:
            raise CollectionError(
                f"A report's id must have 1 to {ID_BYTES_MOST} bytes or letters",
                "let the device draw 16 random bytes",
            )
        return blake2b(content, key=self._salt, digest_size=DIGEST_BYTES).digest()

    @contextmanager
    def _transaction(self, mode: str) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if not self._path.exists() or self._path.stat().st_ino != self._inode:
                raise CollectionError(*LOST)
            try:
                self._connection.execute(f"BEGIN {mode}")
                yield self._connection
                self._connection.execute("COMMIT")
            except sqlite3.Error as cause:
                self._undo()
                raise _failure(cause) from cause
            except BaseException:
                self._undo()
                raise

    def _undo(self) -> None:
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def _resolved(path: object) -> Path:
    """Return the absolute path of a collection, or reject what is not a path."""
    if not isinstance(path, str | Path):
        raise ParameterError("path", path, "must be the path of a file")
    try:
        return Path(path).resolve()
    except (OSError, ValueError):
        raise ParameterError("path", path, "must be the path of a file") from None


def _pairs(reports: Iterable[object]) -> Iterator[tuple[bytes | str, bytes]]:
    """Yield ids with reports, or reject what is not a pair."""
    try:
        given = iter(reports)
    except TypeError:
        raise CollectionError(*NO_PAIRS) from None
    for each in given:
        if not isinstance(each, tuple | list) or len(each) != 2:
            raise CollectionError(*NO_PAIRS)
        yield each[0], each[1]


def _first(row: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """Return the one row of a collection, or reject a file that lost it."""
    if row is None:
        raise CollectionError(*DAMAGED)
    return row


def _mechanism(text: object) -> Mechanism:
    if not isinstance(text, str):
        raise CollectionError(*DAMAGED)
    return mechanism_from_json(text)


def _make_file(place: Path, first: tuple[object, ...]) -> None:
    """Create the whole file under another name, then link it: it exists complete or not at all."""
    if not place.parent.is_dir():
        raise CollectionError(*NO_FOLDER)
    with TemporaryDirectory(dir=place.parent, prefix=".collection-") as folder:
        made = Path(folder) / "new"
        with closing(_connected(made)) as connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute("INSERT INTO collection VALUES (?, ?, ?, ?, ?)", first)
        made.chmod(0o600)
        try:
            os.link(made, place)
        except FileExistsError:
            raise CollectionError(*PRESENT) from None
    _sync_folder(place.parent)


def _sync_folder(folder: Path) -> None:
    """Write a folder's names to disk. Where folders cannot be opened, this is not necessary."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _connected(path: Path) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA secure_delete = ON")
    except sqlite3.Error as cause:
        raise _failure(cause) from cause
    return connection


def _failure(cause: sqlite3.Error) -> CollectionError:
    is_other = getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB
    return CollectionError(*(MISSING if is_other else FAILED))


def _check(connection: sqlite3.Connection) -> None:
    (marked,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if marked != APPLICATION:
        raise CollectionError(*MISSING)
    if version > VERSION:
        raise CollectionError("A newer version made this collection", "update Discreet")


def _check_single(mechanism: Mechanism, report: bytes) -> None:
    if len(Reports.from_bytes(mechanism, report)) != 1:
        raise CollectionError("An id must have exactly one report", "send reports one by one")


def _is_new(connection: sqlite3.Connection, digest: bytes) -> bool:
    """Store an id's digest; False if it was stored before."""
    done = connection.execute("INSERT OR IGNORE INTO counted VALUES (?)", (digest,))
    return done.rowcount == 1
