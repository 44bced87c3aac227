"""Copies of a ledger file while it is in use."""

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import LedgerError, ParameterError
from discreet.ledger.sqlite import KEY, SqliteLedger
from discreet.ledger.storage import sync_folder

RECORDS = ".records"
"""Ends the name of the file in which a server keeps answers by id and its audit log."""

FAILED = ("The copy of the ledger could not be written", "Check the disk and run it again")


LEDGER = ".ledger"


def records_of(ledger: Path) -> Path:
    """Return the file of a server's records: clinic.records for clinic.ledger.

    That of any other name is added to it, so that clinic.2025 and clinic.2026 have one each.
    """
    is_usual = ledger.suffix == LEDGER
    return ledger.with_suffix(RECORDS) if is_usual else ledger.with_name(f"{ledger.name}{RECORDS}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A copy that was made: its files, its number of entries and the digest of the last."""

    files: tuple[Path, ...]
    entries: int
    head: str


def back_up(ledger: Path, target: Path) -> Backup:
    """Copy a ledger, its key and a server's records to new files, and verify the copy.

    The ledger may be in use: SQLite's own backup copies one state of it.
    """
    parts = [(ledger, target), (records_of(ledger), records_of(target))]
    key = (ledger.with_name(f"{ledger.name}{KEY}"), target.with_name(f"{target.name}{KEY}"))
    for _, new in (*parts, key):
        if new.exists() or new.is_symlink():
            raise ParameterError("FILE", str(new), "must be a new file", "Name another")
    if not target.parent.is_dir():
        raise ParameterError("FILE", str(target), "must be in a folder that exists")
    with closing(SqliteLedger.existing(ledger)) as found:
        head = found.head()
    made: list[Path] = []
    try:
        for old, new in (key, *parts):
            if old.exists():
                _make(new, made)
                _copy(old, new, is_database=old != key[0])
        sync_folder(target.parent)
        with closing(SqliteLedger.existing(target)) as copy:
            copy.verify(head)
            entries, last = sum(1 for _ in copy.entries()), copy.head()
    except (OSError, sqlite3.Error) as cause:
        _remove(made)
        raise LedgerError(*FAILED) from cause
    except BaseException:
        _remove(made)
        raise
    return Backup(files=tuple(made), entries=entries, head=last)


def _make(file: Path, made: list[Path]) -> None:
    """Make a file that only this user may read, and note it."""
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
    made.append(file)


def _copy(old: Path, new: Path, *, is_database: bool) -> None:
    if is_database:
        source = sqlite3.connect(f"{old.absolute().as_uri()}?mode=ro", uri=True, timeout=60)
        with closing(source), closing(sqlite3.connect(new)) as target:
            source.backup(target)
    else:
        new.write_bytes(old.read_bytes())
    descriptor = os.open(new, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(files: list[Path]) -> None:
    for each in files:
        each.unlink(missing_ok=True)
