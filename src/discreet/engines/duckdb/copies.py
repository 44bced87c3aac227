"""The prepared copy: tables in one file, which the owner makes once and which opens quickly.

The copy is made in a folder of its own beside the final file, part by part, so that an interrupted
start goes on where it ended; it takes the final name only when it is whole. Whoever opens it opens
it to read only. It holds private rows: only its owner may read it, also while it is made, when
DuckDB keeps a log beside it. A copy that somebody else could have written is not used.
"""

# ruff: noqa: S608 - names are quoted

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import duckdb

from discreet.catalog.schema import Column
from discreet.engines.base import (
    LIMITS,
    Progress,
    ResourceLimits,
    Scans,
    columns_from,
    columns_text,
    log,
)
from discreet.engines.dialect import text_literal
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.loading import DataSource, Kinds, load
from discreet.engines.duckdb.prepared import drop_plain, prepare, view_of_every
from discreet.engines.duckdb.store import Store
from discreet.engines.writer import ABOUT
from discreet.errors import SourceError

FORM = 4
"""Changes when copies are made in another way: older ones are made again."""


PART_SUFFIX = ".part"


SCHEMAS = ("main", "kept", "rest", "every", ABOUT)


Columns = Mapping[str, tuple[Column, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What a copy is made of; copies of the same have the same key."""

    sources: Mapping[str, DataSource]
    kinds: Mapping[str, Kinds]
    version: str
    """Of the data: a digest of their contents."""
    declared: str
    """What the catalog says of units and limits."""
    state: str = ""
    """In which places, sizes and times the files have these contents; empty if that is not sure."""
    contents: str = ""
    """What the contents are, table by table, for whoever finds the files in this state again."""

    @property
    def key(self) -> str:
        told = json.dumps([FORM, self.version, self.declared, sorted(self.sources)])
        return sha256(told.encode()).hexdigest()


def make_copy(
    file: Path,
    copied: Copied,
    scans_of: Callable[[Columns], Scans],
    *,
    limits: ResourceLimits = LIMITS,
    progress: Progress | None = None,
) -> None:
    """Make the prepared copy, or go on making it; raise SourceError and keep what is done."""
    part = _part_of(file)
    with alone(file):
        make_private(part.parent)
        if key_of(part) != copied.key:
            _remove(part)
        with _told(), _writing(part, limits) as connection:
            _begin(connection, copied)
            columns = {
                name: _loaded(connection, name, source, copied.kinds.get(name), progress)
                for name, source in copied.sources.items()
            }
            scans = scans_of(columns)
            prepare(connection, scans, progress)
            drop_plain(connection, scans)
            connection.execute("CHECKPOINT")
        part.replace(file)
        shutil.rmtree(part.parent, ignore_errors=True)


def key_of(file: Path) -> str | None:
    """Return what a copy is of; None if there is none, or none that can be read and trusted."""
    found = _about(file)
    return None if found is None else found[0]


def contents_in(file: Path, state: str) -> str | None:
    """Return the contents of files in this state, if a copy was made of them and says so."""
    found = _about(file)
    return found[2] if found is not None and state and found[1] == state else None


def _about(file: Path) -> tuple[str, str, str] | None:
    if not file.is_file():
        return None
    if not is_private(file):
        log.warning("a prepared copy is not used: others than its user may write or read it")
        return None
    is_whole = file.parent.suffix != PART_SUFFIX
    try:
        with duckdb.connect(str(file), read_only=is_whole) as connection:
            found = connection.execute(f"SELECT key, state, contents FROM {ABOUT}.copy").fetchone()
    except duckdb.Error as cause:
        log.warning("a prepared copy could not be read", exc_info=cause)
        return None
    return None if found is None else (str(found[0]), str(found[1]), str(found[2]))


def open_copy(
    file: Path, key: str, limits: ResourceLimits = LIMITS
) -> tuple[Store, dict[str, tuple[Column, ...]]]:
    """Return a sealed store that reads a copy of this key, and the columns of its tables."""
    store = Store(limits)
    try:
        with _told():
            attached = text_literal(str(file))
            store.connection.execute(f"ATTACH {attached} AS stored (READ_ONLY)")
            _refuse_other(store.connection, key)
            columns = _columns_in(store.connection)
            _show(store.connection, columns)
            store.seal()
    except BaseException:
        store.close()
        raise
    return store, columns


def forget_copy(file: Path) -> bool:
    """Remove a copy and what was made of one; return whether there was any."""
    with alone(file):
        part = _part_of(file)
        found = [_remove(each) for each in (file, part)]
        shutil.rmtree(part.parent, ignore_errors=True)
    _lock_of(file).unlink(missing_ok=True)
    return any(found)


def _remove(file: Path) -> bool:
    is_there = file.exists()
    for each in (file, Path(f"{file}.wal")):
        each.unlink(missing_ok=True)
    return is_there


# --------------------------------------------------------------------------- making one


def _part_of(file: Path) -> Path:
    return file.with_name(f"{file.name}{PART_SUFFIX}") / file.name


def make_private(folder: Path) -> None:
    """Make a folder that only this user may enter, or reject one that others may."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if folder.is_symlink() or not folder.is_dir() or not is_private(folder):
        raise SourceError(f"{folder} exists, and other users have access to it", "Remove it")


def is_private(file: Path) -> bool:
    """Return whether nobody but this user may read or write a file or folder."""
    state = file.stat()
    return state.st_uid == os.geteuid() and not state.st_mode & 0o077


def _lock_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.lock")


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Lock out other processes that make the same copy. Raises an error if one is doing so."""
    lock = _lock_of(file)
    try:
        handle = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as cause:
        raise SourceError(
            f"{lock} cannot be opened as a file of this user",
            "Check that it is not a link, and that you may write to its folder",
        ) from cause
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SourceError(
                f"Another process is making {file}", "Try again when it has finished"
            ) from None
        yield
    finally:
        os.close(handle)


@contextmanager
def _writing(part: Path, limits: ResourceLimits) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to the file that becomes the copy; only its owner may read it."""
    if not part.exists():
        with duckdb.connect(str(part)):
            part.chmod(0o600)
    store = Store(limits)
    try:
        store.connection.execute(f"ATTACH {text_literal(str(part))} AS stored")
        store.connection.execute("USE stored")
        yield store.connection
        store.connection.execute("USE memory")
        store.connection.execute("DETACH stored")
    finally:
        store.close()


def _begin(connection: duckdb.DuckDBPyConnection, copied: Copied) -> None:
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {ABOUT}")
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {ABOUT}.copy (key VARCHAR, state VARCHAR, contents VARCHAR)"
    )
    connection.execute(f"CREATE TABLE IF NOT EXISTS {ABOUT}.columns (name VARCHAR, told VARCHAR)")
    if connection.execute(f"SELECT key FROM {ABOUT}.copy").fetchone() is None:
        about = [copied.key, copied.state, copied.contents]
        connection.execute(f"INSERT INTO {ABOUT}.copy VALUES (?, ?, ?)", about)


def _loaded(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    source: DataSource,
    kinds: Kinds | None,
    progress: Progress | None,
) -> tuple[Column, ...]:
    """Load a table, unless that was done before; return its columns."""
    told = f"SELECT told FROM {ABOUT}.columns WHERE name = ?"
    found = connection.execute(told, [name]).fetchone()
    if found is not None:
        return columns_from(str(found[0]))
    if progress is not None:
        progress(name, 0, 1)
    connection.execute(f"DROP TABLE IF EXISTS {DUCKDB.quoted(name)}")
    columns = load(connection, name, source, kinds)
    connection.execute(f"INSERT INTO {ABOUT}.columns VALUES (?, ?)", [name, columns_text(columns)])
    return columns


# --------------------------------------------------------------------------- opening one


def _refuse_other(connection: duckdb.DuckDBPyConnection, key: str) -> None:
    """Reject a copy that took the place of the one whose key was looked at."""
    if connection.execute(f"SELECT key FROM stored.{ABOUT}.copy").fetchone() != (key,):
        raise SourceError("The prepared copy changed while it was opened", "Open it again")


def _columns_in(connection: duckdb.DuckDBPyConnection) -> dict[str, tuple[Column, ...]]:
    found = connection.execute(f"SELECT name, told FROM stored.{ABOUT}.columns").fetchall()
    return {name: columns_from(told) for name, told in found}


def _show(connection: duckdb.DuckDBPyConnection, columns: Mapping[str, tuple[Column, ...]]) -> None:
    """Show the tables of a copy under the names that they have in memory."""
    numbered = {
        name
        for name, found in columns.items()
        if DUCKDB.row_id not in {each.name.casefold() for each in found}
    }
    for schema in SCHEMAS[1:]:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    listed = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'stored'"
    ).fetchall()
    for schema, name in listed:
        shown = f"{schema}.{DUCKDB.quoted(name)}"
        number = f"{DUCKDB.row_id}, " if schema == "main" and name in numbered else ""
        connection.execute(f"CREATE VIEW memory.{shown} AS SELECT {number}* FROM stored.{shown}")
    for schema, name in listed:
        if schema == "kept":
            connection.execute(view_of_every(name, [each.name for each in columns[name]]))


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except duckdb.Error as cause:
        log.warning("the prepared copy failed", exc_info=cause)
        raise SourceError(
            "The prepared copy could not be made or read",
            "The log discreet.engine has the cause. discreet prepare --remove deletes the copy",
        ) from None
