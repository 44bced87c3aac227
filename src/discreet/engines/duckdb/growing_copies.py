"""Prepared copies that grow: a copy of the copy takes what came to the files of its tables.

Tables that are tied by paths to their units grow in one transaction: after a kill they have grown
or they have not. Where one of them cannot grow they are all taken out, and are then made again as
if they had not been there yet; the others stay.
"""

# ruff: noqa: S608 - names are quoted

import json
import os
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fcntl import ioctl
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

import duckdb

from discreet.engines.base import Progress, Scans, columns_from
from discreet.engines.duckdb.added_files import AddedRows, added_to, is_listed, load_added
from discreet.engines.duckdb.copied import (
    Columns,
    Copied,
    EarlierCopy,
    files_in,
    note_files,
)
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.file_lists import ReadFile
from discreet.engines.duckdb.growing import (
    WAITING,
    end_growth,
    grow_table,
    has_table,
    refuse_to_grow,
)
from discreet.engines.duckdb.held import PARTS, drop_held
from discreet.engines.duckdb.prepared import REST
from discreet.engines.duckdb.store import disabled_optimizers
from discreet.engines.growth import (
    Anew,
    CannotGrowError,
    Grows,
    MadeAnew,
    Told,
    families,
)
from discreet.engines.writer import ABOUT, EVERY, KEPT, column_name, prepared_name
from discreet.errors import DiscreetError
from discreet.query.tree import Scan

GROWING = f"{ABOUT}.growing"
"""The tables that are yet to grow; not there in a copy that does not."""


def begin_growth(
    file: Path,
    part: Path,
    copied: Copied,
    earlier: EarlierCopy | None,
    told: Told,
) -> EarlierCopy | None:
    """Copy a copy, to grow into that of the sources as they are now, if it can; else do nothing.

    What is returned must be noted next: until then the copied file is still a copy of what it was.
    """
    if not file.is_file():
        return None
    reason = _reason_against(earlier, copied)
    if earlier is None or reason is not None:
        told(MadeAnew(reason=reason or Anew.RELEASE))
        return None
    begun = part.with_name(f"{part.name}.copying")
    _copy_file(file, begun)
    begun.replace(part)
    return earlier


def note_growth(
    connection: duckdb.DuckDBPyConnection, earlier: EarlierCopy, copied: Copied
) -> None:
    """Note in a copied copy what it is to grow into, and which of its tables are yet to grow."""
    connection.execute("BEGIN")
    connection.execute(f"CREATE TABLE {GROWING} (name VARCHAR)")
    for name in _changed(earlier, copied):
        connection.execute(f"INSERT INTO {GROWING} VALUES (?)", [name])
    connection.execute(
        f"UPDATE {ABOUT}.copy SET key = ?, state = ?, contents = ?",
        [copied.key, copied.state, copied.contents],
    )
    connection.execute("COMMIT")


def _reason_against(earlier: EarlierCopy | None, copied: Copied) -> Anew | None:
    """Return why a whole copy is not even begun with, if so."""
    if earlier is None:
        return Anew.RELEASE
    pairs = zip(json.loads(earlier.made_by), json.loads(copied.made_by), strict=True)
    reasons = zip(pairs, (Anew.RELEASE, Anew.DATABASE, Anew.CATALOG), strict=True)
    differs = [reason for (old, new), reason in reasons if old != new]
    if differs:
        return differs[0]
    # A file keeps bytes of rows that were taken out of it. So private rows that are gone from their
    # table, because somebody is to be forgotten, are only left behind with the whole file.
    is_lost = any(
        _added(copied, name, earlier.files.get(name, ())) is None
        for name in _changed(earlier, copied)
        if name not in copied.public
    )
    return Anew.CHANGED if is_lost else None


def _changed(earlier: EarlierCopy, copied: Copied) -> list[str]:
    now: Mapping[str, str] = json.loads(copied.contents)
    return [name for name in copied.sources if earlier.contents.get(name) != now[name]]


def _added(copied: Copied, name: str, held: Sequence[ReadFile]) -> AddedRows | None:
    source = copied.sources[name]
    if not held or not is_listed(source):
        return None
    return added_to(held, copied.files.get(name, ()), source)


CLONE = 0x40049409
"""Linux's request FICLONE: let a file share all bytes of another one."""


def _copy_file(file: Path, target: Path) -> None:
    """Copy a file for its owner alone; file systems that can, share what both have.

    It is on the disk when this returns. Else a log that is written later, of what it is to become,
    could outlast a loss of power that takes the end of the file.
    """
    target.unlink(missing_ok=True)
    with (
        file.open("rb", buffering=0) as source,
        os.fdopen(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "wb") as written,
    ):
        try:
            ioctl(written, CLONE, source.fileno())
        except OSError:
            _copy_bytes(source, written)
        written.flush()
        os.fsync(written.fileno())


def _copy_bytes(source: BinaryIO, written: BinaryIO) -> None:
    """Copy bytes into a file that has room for all of them: it is not enlarged page by page."""
    size = os.fstat(source.fileno()).st_size
    if size and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(written.fileno(), 0, size)
    shutil.copyfileobj(source, written, 2**17)


@dataclass(frozen=True, slots=True, kw_only=True)
class Growing:
    """Lets a file that becomes a copy grow, if it was begun so."""

    connection: duckdb.DuckDBPyConnection
    copied: Copied
    folder: Path
    """A private one, for parts of files."""
    progress: Progress | None
    told: Told

    def grow(self, scans_of: Callable[[Columns], Scans]) -> None:
        """Let tables grow that can, and take out those that cannot. Goes on where it ended."""
        if not self._has_begun():
            return
        columns = self._columns()
        # Few rows are looked for among many. Nobody but the owner sees if a statement here fails.
        self._disable(disabled_optimizers(self.connection, {"join_filter_pushdown"}))
        try:
            scans = scans_of(columns)
        except (DiscreetError, KeyError):  # columns are gone; or tables, that a kill left taken out
            self.told(MadeAnew(reason=Anew.TYPES))
            self._take_out(list(self.copied.sources))
            scans = ()
        tied = families(scans)
        for family in tied:
            self._settle([each.table.name for each in family], partial(self._grow, family, columns))
        for each in set(self.copied.sources) - {one.table.name for one in scans}:
            self._settle([each], partial(self._lengthen, each, columns))
        self.connection.execute(f"DROP TABLE {GROWING}")
        self._disable(disabled_optimizers(self.connection))

    def _has_begun(self) -> bool:
        try:
            self.connection.execute(f"SELECT 1 FROM {GROWING} LIMIT 0")
        except duckdb.CatalogException:
            return False
        return True

    def _disable(self, optimizers: str) -> None:
        self.connection.execute(f"SET GLOBAL disabled_optimizers = '{optimizers}'")

    def _settle(self, names: Collection[str], grow: Callable[[Collection[str]], None]) -> None:
        """Let tables grow together, or take them all out."""
        pending = {*names} & self._pending()
        if not pending:
            return
        self.connection.execute("BEGIN")
        try:
            grow(pending)
            for each in pending:
                note_files(self.connection, self.copied, each)
            self._done(names)
            self.connection.execute("COMMIT")
        except CannotGrowError as cause:
            self.connection.execute("ROLLBACK")
            named = cause.table if cause.table in names else min(pending)
            self.told(MadeAnew(reason=cause.reason, table=named))
            self._take_out(names)
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise

    def _grow(self, family: Sequence[Scan], columns: Columns, pending: Collection[str]) -> None:
        for scan in family:
            refuse_to_grow(scan)
        # What could be found out without reading anything is known before anything is read.
        added = {each: self._found(each) for each in pending}
        for scan in family:
            name = scan.table.name
            self._advance(name, 0)
            if name in pending:
                self._load(name, name, added[name], columns, self._form_holds(name))
            else:
                self._load_nothing(scan)
            if has_table(self.connection, name, WAITING):
                here, waits = DUCKDB.quoted(name), f'"{WAITING}".{DUCKDB.quoted(name)}'
                self.connection.execute(f"INSERT INTO {here} FROM {waits}")
            is_parent = any(scan.table in each.parents for each in family)
            grow_table(self.connection, scan, is_parent=is_parent)
            self._advance(name, 1)
        for scan in family:
            end_growth(self.connection, scan)

    def _lengthen(self, name: str, columns: Columns, _: Collection[str]) -> None:
        """Add rows to a table that is not prepared."""
        self._advance(name, 0)
        here, new = DUCKDB.quoted(name), "__added"
        self._load(new, name, self._found(name), columns, partial(self._holds, here, str))
        self.connection.execute(f'INSERT INTO {here} FROM "{new}"')
        self.connection.execute(f'DROP TABLE "{new}"')
        self._advance(name, 1)

    def _found(self, name: str) -> AddedRows:
        added = _added(self.copied, name, files_in(self.connection, ABOUT).get(name, ()))
        if added is None:
            raise CannotGrowError(Anew.CHANGED, name)
        self.told(Grows(table=name, files=added.files))
        return added

    def _load(
        self,
        target: str,
        name: str,
        added: AddedRows,
        columns: Columns,
        holds: Callable[[str], bool],
    ) -> None:
        load_added(
            self.connection,
            target,
            added,
            kinds=self.copied.kinds.get(name) or {},
            columns=columns[name],
            holds=holds,
            folder=self.folder,
        )

    def _load_nothing(self, scan: Scan) -> None:
        every = prepared_name(scan.table.name, DUCKDB, EVERY)
        columns = ", ".join(
            f"{DUCKDB.quoted(column_name(each.name))} AS {DUCKDB.quoted(each.name)}"
            for each in scan.table.columns
        )
        here, waits = DUCKDB.quoted(scan.table.name), f'"{WAITING}".'
        is_waiting = has_table(self.connection, scan.table.name, WAITING)
        rows = f"FROM {waits}{here}" if is_waiting else f"SELECT {columns} FROM {every}"
        self.connection.execute(f"CREATE TABLE {here} AS {rows} LIMIT 0")

    def _form_holds(self, name: str) -> Callable[[str], bool]:
        return partial(self._holds, prepared_name(name, DUCKDB, EVERY), column_name)

    def _holds(self, rows: str, named: Callable[[str], str], column: str) -> bool:
        """Return whether any old row has a text in a column."""
        found = self.connection.execute(
            f"SELECT 1 FROM {rows} WHERE {DUCKDB.quoted(named(column))} <> '' LIMIT 1"
        ).fetchall()
        return bool(found)

    def _advance(self, name: str, done: int) -> None:
        if self.progress is not None:
            self.progress(name, done, 1)

    # --------------------------------------------------------------------- what is done

    def _columns(self) -> Columns:
        found = self.connection.execute(f"SELECT name, told FROM {ABOUT}.columns").fetchall()
        return {str(name): columns_from(str(told)) for name, told in found}

    def _pending(self) -> set[str]:
        found = self.connection.execute(f"SELECT name FROM {GROWING}").fetchall()
        return {cast("str", name) for (name,) in found}

    def _done(self, names: Collection[str]) -> None:
        for each in names:
            self.connection.execute(f"DELETE FROM {GROWING} WHERE name = ?", [each])

    def _take_out(self, names: Collection[str]) -> None:
        """Remove tables with all that belongs to them: they are loaded and prepared afterwards."""
        self.connection.execute("BEGIN")
        for each in names:
            kept, rest, every = (prepared_name(each, DUCKDB, s) for s in (KEPT, REST, EVERY))
            self.connection.execute(f"DROP VIEW IF EXISTS {every}")
            for table in (kept, rest, f'"{WAITING}".{DUCKDB.quoted(each)}', DUCKDB.quoted(each)):
                self.connection.execute(f"DROP TABLE IF EXISTS {table}")
            drop_held(self.connection, each)
            for told in (PARTS, f"{ABOUT}.columns", f"{ABOUT}.files"):
                self.connection.execute(f"DELETE FROM {told} WHERE name = ?", [each])
        self._done(names)
        self.connection.execute("COMMIT")
