"""What a prepared copy says of itself: of which files it was made, and how."""

# ruff: noqa: S608 - names are quoted

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import duckdb

from discreet.catalog.schema import Column
from discreet.engines.base import log
from discreet.engines.dialect import text_literal
from discreet.engines.duckdb.file_lists import ReadFile
from discreet.engines.duckdb.loading import DataSource, Kinds
from discreet.engines.writer import ABOUT

FORM = 6
"""Changes when copies are made in another way: older ones are made again."""


PART_SUFFIX = ".part"


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
    files: Mapping[str, tuple[ReadFile, ...]] = field(default_factory=dict)
    """Of tables that are lists of files: which these are, in their order."""
    public: frozenset[str] = frozenset()
    """Tables that are about nobody."""
    undivided: frozenset[str] = frozenset()
    """Tables that are stored as they are loaded, as far as the catalog tells."""

    @property
    def key(self) -> str:
        return _digest([FORM, self.version, self.declared, sorted(self.sources)])

    @property
    def made_by(self) -> str:
        """What must be the same for a copy to grow: its form, the catalog, and what chooses rows.

        Rows are ordered by a hash of DuckDB's, which need not be the same in all of its versions.
        """
        declared = _digest([self.declared, sorted(self.sources)])
        return json.dumps([FORM, duckdb.__version__, declared])


def _digest(told: object) -> str:
    return sha256(json.dumps(told).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierCopy:
    """What a whole copy was made of."""

    key: str
    made_by: str
    contents: Mapping[str, str]
    files: Mapping[str, tuple[ReadFile, ...]]
    identity: tuple[int, ...]
    """Of the file, when it was looked into."""


def key_of(file: Path) -> str | None:
    """Return what a copy is of; None if there is none, or none that can be read and trusted."""
    found = _about(file)
    return None if found is None else found[0]


def contents_in(file: Path, state: str) -> str | None:
    """Return the contents of files in this state, if a copy was made of them and says so."""
    found = _about(file)
    return found[2] if found is not None and state and found[1] == state else None


def goes_on(part: Path, copied: Copied) -> bool:
    """Return whether what was begun is a part of this copy, and was made as it would be now.

    Parts of units are told apart by a hash, which another version of DuckDB may have changed: a
    unit would be in two of them, and have twice as many rows that count.
    """
    found = _about(part)
    return found is not None and (found[0], found[3]) == (copied.key, copied.made_by)


def _about(file: Path) -> tuple[str, str, str, str] | None:
    if not file.is_file():
        return None
    if not is_private(file):
        log.warning("a prepared copy is not used: others than its user may write or read it")
        return None
    is_whole = file.parent.suffix != PART_SUFFIX
    try:
        with duckdb.connect(str(file), read_only=is_whole) as connection:
            told = f"SELECT key, state, contents, made_by FROM {ABOUT}.copy"
            found = connection.execute(told).fetchone()
    except duckdb.Error as cause:
        log.warning("a prepared copy could not be read", exc_info=cause)
        return None
    return None if found is None else (str(found[0]), str(found[1]), str(found[2]), str(found[3]))


def earlier_of(file: Path, connection: duckdb.DuckDBPyConnection) -> EarlierCopy | None:
    """Return what a copy was made of; None if there is none, or none of this form to trust.

    It is looked into over a connection that is open: to open another one takes longer than that.
    """
    if not file.is_file() or not is_private(file):
        return None
    found = identity_of(file)
    try:
        connection.execute(f"ATTACH {text_literal(str(file))} AS earlier (READ_ONLY)")
        try:
            told = f"SELECT key, made_by, contents FROM earlier.{ABOUT}.copy"
            ((key, made_by, contents),) = connection.execute(told).fetchall()
            files = files_in(connection, f"earlier.{ABOUT}")
        finally:
            connection.execute("DETACH earlier")
    except (duckdb.Error, ValueError) as cause:
        log.info("what a prepared copy is made of is not known", exc_info=cause)
        return None
    return EarlierCopy(
        key=str(key),
        made_by=str(made_by),
        contents=json.loads(str(contents)),
        files=files,
        identity=found,
    )


def identity_of(file: Path) -> tuple[int, ...]:
    """Return what changes when another file takes the place of a copy, which never changes."""
    state = file.stat()
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def files_in(connection: duckdb.DuckDBPyConnection, schema: str) -> dict[str, tuple[ReadFile, ...]]:
    """Return the files that tables of a copy were made of, by the tables' names."""
    found: dict[str, tuple[ReadFile, ...]] = {}
    for name, size, digest, identity in connection.execute(
        f"SELECT name, size, digest, identity FROM {schema}.files ORDER BY name, number"
    ).fetchall():
        each = ReadFile(path=Path(), size=int(size), digest=str(digest), identity=str(identity))
        found[str(name)] = (*found.get(str(name), ()), each)
    return found


def note_files(connection: duckdb.DuckDBPyConnection, copied: Copied, name: str) -> None:
    """Note the files that a table of a copy is made of."""
    connection.execute(f"DELETE FROM {ABOUT}.files WHERE name = ?", [name])
    files = copied.files.get(name, ())
    if files:
        connection.execute(
            f"INSERT INTO {ABOUT}.files SELECT ?, * FROM (SELECT unnest(?), unnest(?), unnest(?), "
            "unnest(?))",
            [
                name,
                list(range(len(files))),
                [each.size for each in files],
                [each.digest for each in files],
                [each.identity for each in files],
            ],
        )


def is_private(file: Path) -> bool:
    """Return whether nobody but this user may read or write a file or folder."""
    state = file.stat()
    return state.st_uid == os.geteuid() and not state.st_mode & 0o077


def begin_copy(connection: duckdb.DuckDBPyConnection, copied: Copied) -> None:
    """Write into a file what it is to become a copy of, unless it says so already."""
    for each in (
        f"CREATE SCHEMA IF NOT EXISTS {ABOUT}",
        f"CREATE TABLE IF NOT EXISTS {ABOUT}.copy "
        "(key VARCHAR, state VARCHAR, contents VARCHAR, made_by VARCHAR)",
        f"CREATE TABLE IF NOT EXISTS {ABOUT}.columns (name VARCHAR, told VARCHAR)",
        f"CREATE TABLE IF NOT EXISTS {ABOUT}.files "
        "(name VARCHAR, number INTEGER, size BIGINT, digest VARCHAR, identity VARCHAR)",
    ):
        connection.execute(each)
    if connection.execute(f"SELECT key FROM {ABOUT}.copy").fetchone() is None:
        about = [copied.key, copied.state, copied.contents, copied.made_by]
        connection.execute(f"INSERT INTO {ABOUT}.copy VALUES (?, ?, ?, ?)", about)
