"""The prepared copy: tables in one file, which the owner makes once and which opens quickly.

The copy is made in a folder of its own beside the final file, part by part, so that an interrupted
start goes on where it ended; it takes the final name only when it is whole. Whoever opens it opens
it to read only. It holds private rows: only its owner may read it, also while it is made, when
DuckDB keeps a log beside it. A copy that somebody else could have written is not used.

Where files only grew, the copy does too: a copy of the copy takes what is new, family by family of
tables, and then the final name. Who reads the old one reads on.
"""

# ruff: noqa: S608 - names are quoted

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
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
from discreet.engines.duckdb.copied import (
    PART_SUFFIX,
    Columns,
    Copied,
    EarlierCopy,
    begin_copy,
    earlier_of,
    goes_on,
    identity_of,
    is_private,
    note_files,
)
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.growing import keep_waiting
from discreet.engines.duckdb.growing_copies import Growing, begin_growth, note_growth
from discreet.engines.duckdb.loaded import both_files, keep_loaded, loaded_file, loading
from discreet.engines.duckdb.loading import load
from discreet.engines.duckdb.prepared import drop_plain, prepare, view_of_every
from discreet.engines.duckdb.store import Store
from discreet.engines.growth import Told, tell_nobody
from discreet.engines.writer import ABOUT
from discreet.errors import SourceError

SCHEMAS = ("main", "kept", "rest", "every", ABOUT)


def make_copy(  # noqa: PLR0913 - what is made, of what, and who hears of it
    file: Path,
    copied: Copied,
    scans_of: Callable[[Columns], Scans],
    *,
    store: Store,
    earlier: EarlierCopy | None = None,
    is_same: Callable[[], bool] = lambda: True,
    progress: Progress | None = None,
    told: Told = tell_nobody,
) -> bool:
    """Make the prepared copy, let one grow, or go on; raise SourceError and keep what is done.

    It is made in a store that holds nothing else. `earlier` is what is known of the copy so far.
    If the sources are not the same any more when it is whole, the copy that was there stays, and
    False is returned.
    """
    part, begun = _part_of(file), None
    with alone(file):
        make_private(part.parent)
        if not goes_on(part, copied):
            _remove(part)
            _remove(loaded_file(part))
            with _told():
                if file.is_file() and (earlier is None or earlier.identity != identity_of(file)):
                    earlier = earlier_of(file, store.connection)
                begun = begin_growth(file, part, copied, earlier, told)
        with _told(), _writing(part, store.connection) as connection:
            if begun is not None:
                note_growth(connection, begun, copied)
            begin_copy(connection, copied)
            Growing(
                connection=connection,
                copied=copied,
                folder=part.parent,
                progress=progress,
                told=told,
            ).grow(scans_of)
            columns = {
                name: _loaded(connection, part, name, copied, progress) for name in copied.sources
            }
            scans = scans_of(columns)
            if loaded_file(part).exists():
                keep_loaded(connection, besides={each.table.name for each in scans})
            prepare(connection, scans, progress, may_grow=True)
            for each in scans:
                keep_waiting(connection, each)
            drop_plain(connection, scans)
            connection.execute("CHECKPOINT")
        is_whole = is_same()
        if is_whole:
            part.replace(file)
        _remove(part)
        shutil.rmtree(part.parent, ignore_errors=True)
    return is_whole


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


def forget_begun(file: Path) -> None:
    """Remove what was begun of a copy, unless somebody makes it now: it holds private rows too."""
    folder = _part_of(file).parent
    if folder.exists():
        with suppress(SourceError), alone(file):
            shutil.rmtree(folder, ignore_errors=True)


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
def _writing(
    part: Path, connection: duckdb.DuckDBPyConnection
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to the file that becomes the copy; only its owner may read it."""
    if not part.exists():
        with duckdb.connect(str(part)):
            part.chmod(0o600)
    with both_files(part, connection):
        yield connection


def _loaded(
    connection: duckdb.DuckDBPyConnection,
    part: Path,
    name: str,
    copied: Copied,
    progress: Progress | None,
) -> tuple[Column, ...]:
    """Load a table, unless that was done before; return its columns."""
    told = f"SELECT told FROM {ABOUT}.columns WHERE name = ?"
    found = connection.execute(told, [name]).fetchone()
    if found is not None:
        return columns_from(str(found[0]))
    if progress is not None:
        progress(name, 0, 1)
    if name in copied.undivided:
        connection.execute(f"DROP TABLE IF EXISTS {DUCKDB.quoted(name)}")
        columns = load(connection, name, copied.sources[name], copied.kinds.get(name))
    else:
        with loading(connection, part, name):
            columns = load(connection, name, copied.sources[name], copied.kinds.get(name))
    note_files(connection, copied, name)
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
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'stored' "
        "AND schema_name IN (SELECT unnest($shown))",
        {"shown": list(SCHEMAS)},
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
    except (duckdb.Error, OSError) as cause:
        log.warning("the prepared copy failed", exc_info=cause)
        raise SourceError(
            "The prepared copy could not be made or read",
            "The log discreet.engine has the cause. discreet prepare --remove deletes the copy",
        ) from None
