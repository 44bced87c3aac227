"""The ledgers of this machine, and what they are about: two for the same data are told.

A registry in the user's state folder holds, for each ledger, keyed digests of its private tables:
where they are and what they hold. It is for this user on this machine; it decides nothing. Whatever
is wrong with it, data are opened all the same, and the log says what was.
"""

import fcntl
import json
import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from hmac import new as new_hmac
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO
from warnings import warn

from discreet.catalog.declared import Declared
from discreet.engines.contents import files_in
from discreet.engines.loading import DUCKDB, DuckDbTable, Source
from discreet.errors import DiscreetError, DiscreetWarning
from discreet.ledger.keys import key_in

FOLDER = "DISCREET_STATE"
"""The variable of the environment that names the state folder."""

MOST = 400
"""So many digests are kept of a ledger, the last ones: data that change have many."""

LARGEST = 2**24
"""A registry of more bytes is not read."""

PATIENCE = 2.0
"""Seconds to wait for other processes that write the registry."""

log = logging.getLogger("discreet.opening")
log.addHandler(logging.NullHandler())


def state_folder() -> Path:
    """Return where this user's programs keep what they remember, as the platform has it."""
    named = os.environ.get(FOLDER)
    if named:
        return Path(named).absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "discreet"
    given = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".local" / "state") / "discreet"


def prints_of(
    declared: Declared,
    sources: Mapping[str, Source],
    contents: Mapping[str, str],
    address: str | None,
) -> frozenset[str]:
    """Return what stands for the private tables: where they are, and what they hold if it was read.

    It is keyed by this machine, so that who reads it where it is noted can check no guess. Without
    a key it is nothing.
    """
    try:
        told = _told(declared, sources, contents, address)
        key = key_in(_made(state_folder()) / "key")
        return frozenset(new_hmac(key, each.encode(), sha256).hexdigest()[:32] for each in told)
    except (OSError, RuntimeError, ValueError, DiscreetError) as cause:
        log.warning("what stands for the data of a ledger cannot be made", exc_info=cause)
        return frozenset()


def _told(
    declared: Declared,
    sources: Mapping[str, Source],
    contents: Mapping[str, str],
    address: str | None,
) -> list[str]:
    """Return where private tables are and what they hold."""
    private = {each.name: sources[each.name] for each in declared.tables if each.unit is not None}
    told = []
    for name, source in private.items():
        table = _table_in(name, source)
        if address is None:
            told.append(f"contents|{contents[name]}|{table}")
            told += [f"file|{each.resolve()}|{table}" for each in files_in(source)]
        elif isinstance(source, str | Path):
            told.append(f"table|{address}|{source}")
    return told


def _table_in(name: str, source: Source) -> str:
    """Return which table of a file is meant, if there are several in it."""
    if isinstance(source, DuckDbTable):
        return source.table
    is_database = isinstance(source, str | Path) and str(source).casefold().endswith(DUCKDB)
    return name.casefold() if is_database else ""


def register(place: str | Path, prints: frozenset[str]) -> None:
    """Note what a ledger is about, and warn if another one of this machine is about the same."""
    if not prints:
        return
    own = str(place if isinstance(place, str) else place.resolve())
    try:
        others = _noted(own, prints)
    except (OSError, RuntimeError, ValueError, TypeError, AttributeError) as cause:
        log.warning("the registry of ledgers cannot be read or written", exc_info=cause)
        return
    if others:
        more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
        warn(
            f"the ledger {others[0]}{more} is about the same data as {own}: each allows its whole "
            "budget, so "
            "that more may be revealed than either says; use one ledger for both.",
            DiscreetWarning,
            stacklevel=2,
        )


def _noted(own: str, prints: frozenset[str]) -> list[str]:
    """Add to the registry, and return the other ledgers that have one of these digests."""
    folder = _made(state_folder())
    with _alone(folder / "ledgers.lock"):
        file = folder / "ledgers.json"
        known = _read(file)
        before = known.get(own, [])
        known[own] = [*(each for each in before if each not in prints), *sorted(prints)][-MOST:]
        if known[own] != before:
            _write(file, known)
    return [
        place
        for place, noted in known.items()
        if place != own and not prints.isdisjoint(noted) and _is_there(place)
    ]


def _is_there(place: str) -> bool:
    """Return whether a ledger may still be used: a file that is there, or one on a server."""
    return "://" in place or Path(place).exists()


def _read(file: Path) -> dict[str, list[str]]:
    """Return what is in the registry; one that is damaged is put aside and begun anew."""
    try:
        with _plain(file) as opened:
            found = json.loads(opened.read(LARGEST))  # what is longer is cut off, and so damaged
        return {str(place): [str(each) for each in noted] for place, noted in found.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError, RecursionError) as cause:
        log.warning("the registry of ledgers is damaged, and was put aside", exc_info=cause)
        file.replace(file.with_name("ledgers.damaged"))
        return {}


def _plain(file: Path) -> BinaryIO:
    """Return a plain file to be read, and raise ValueError for what may keep a reader waiting."""
    handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ValueError("not a plain file")
    return os.fdopen(handle, "rb")


def _write(file: Path, known: Mapping[str, list[str]]) -> None:
    part = file.with_name(f"ledgers.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as opened:
        json.dump(known, opened, indent=1)
    part.replace(file)


def _made(folder: Path) -> Path:
    """Return the state folder, made for this user alone; refuse one that others may write."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = folder.stat()
    if state.st_uid != os.geteuid() or state.st_mode & 0o022:
        raise OSError(f"others than this user may write {folder}")
    return folder


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Keep other processes from writing the registry; give up after a while."""
    handle = os.open(file, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)
        yield
    finally:
        os.close(handle)
