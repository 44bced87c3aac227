"""The ledgers on this machine and their data, to warn about two ledgers for the same data.

A registry in the user's state folder holds, for each ledger, keyed digests of its private tables:
their paths and their contents. It is for this user on this machine, and decides nothing. If it
cannot be read or written, data are opened anyway, and the log has the reason.

A digest of contents lets whoever has a guess of the data check it. It is never stored where others
than the data's owner can read it, and the ledger knows it under a key only.
"""

import fcntl
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from glob import has_magic
from hashlib import sha256
from hmac import new as new_hmac
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO
from warnings import warn

import pyarrow as pa

from discreet import on_use
from discreet.catalog.declaration import Declaration
from discreet.engines.duckdb.file_lists import FilesNow, InFiles, files_of
from discreet.engines.duckdb.frames import frame_table
from discreet.engines.duckdb.loading import DUCKDB, DataSource, DuckDbTable
from discreet.errors import DiscreetError, DiscreetWarning
from discreet.ledger.storage import key_in

SLICE = 2**17
"""Rows of a column that are looked at together: how a table is cut into chunks must not matter."""


PLAIN = (
    (pa.types.is_boolean, pa.uint8()),
    (pa.types.is_string_view, pa.large_string()),
    (pa.types.is_binary_view, pa.large_binary()),
)
"""Types whose values can be stored in several ways, and what they are looked at as."""


LISTS = (
    pa.ListArray,
    pa.LargeListArray,
    pa.FixedSizeListArray,
    pa.ListViewArray,
    pa.LargeListViewArray,
)
"""Arrays of lists: how long they are, and what they hold one after another."""


def at_hand(name: str, source: DataSource) -> DataSource:
    """Return what can be read as often as needed, and is the same each time.

    That is a table of Arrow for a data frame, and a list of files for a pattern.
    """
    if isinstance(source, str | Path) and has_magic(str(source)):
        return FilesNow(str(source), files_of(source))
    return source if isinstance(source, InFiles | DuckDbTable) else frame_table(name, source)


def files_in(source: DataSource) -> tuple[Path, ...]:
    """Return the files that a source is read from; none for a table in memory.

    What a DuckDB file holds may be in the log beside it.
    """
    if isinstance(source, DuckDbTable):
        return source.file, Path(f"{source.file}.wal")
    if not isinstance(source, InFiles):
        return ()
    files = files_of(source)
    if str(source).casefold().endswith(DUCKDB):
        return *files, *(Path(f"{each}.wal") for each in files)
    return files


def content_of(source: DataSource, digest_of: Callable[[Path], str]) -> str:
    """Return what is the same only for the same contents: bytes of files, values of tables."""
    if isinstance(source, InFiles | DuckDbTable):
        table = source.table if isinstance(source, DuckDbTable) else ""
        told = [table, *map(digest_of, files_in(source))]
        return sha256("\n".join(told).encode()).hexdigest()
    return _table(source)


def _table(source: Any) -> str:
    """Return the digest of names, types and values; what lies below a NULL is none of them."""
    table: pa.Table = pa.table(source)
    told = sha256(str(table.schema.remove_metadata()).encode())
    for column in table.columns:
        told.update(f"|{len(column)}|".encode())
        for start in range(0, len(column), SLICE):
            _add(told, column.slice(start, SLICE).combine_chunks())
    return told.hexdigest()


def _add(told: Any, values: Any) -> None:
    """Add values to a digest: which are there, and then these alone.

    Nested values are added part by part: Arrow writes what a dictionary inside of them holds apart
    from them, and leaves whatever lies below their NULLs.
    """
    if isinstance(values, pa.ChunkedArray):  # of no chunk, or of more text than one can hold
        for each in values.chunks:
            _add(told, each)
        return
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if pa.types.is_dictionary(values.type):
        _add(told, _decoded(values))
        return
    told.update(values.is_valid().to_numpy(zero_copy_only=False).tobytes())
    try:
        parts = _parts(values.drop_null())
    except pa.ArrowNotImplementedError:  # of a kind that Arrow can hardly do anything with
        parts = None
    if parts is None:
        told.update(repr(values.to_pylist()).encode())
        return
    for part in parts:
        if isinstance(part, bytes):
            told.update(part)
        else:
            _add(told, part)


def _decoded(values: Any) -> Any:
    """Return values without the dictionary that they are coded by."""
    for is_of_kind, stored in PLAIN:
        if is_of_kind(values.type.value_type):  # Arrow cannot take single ones of these
            return values.dictionary.cast(stored).take(values.indices)
    return values.dictionary_decode()


def _parts(values: Any) -> list[Any] | None:
    """Return what values that are all there consist of: bytes, or other values; None if unknown."""
    kind = values.type
    if pa.types.is_struct(kind):
        return list(values.flatten())
    if pa.types.is_map(kind):
        pairs = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
        return [values.cast(pa.list_(pairs))]
    if isinstance(values, LISTS):
        return [on_use.compute.list_value_length(values), values.flatten()]
    if pa.types.is_nested(kind):
        return None
    for is_of_kind, stored in PLAIN:
        if is_of_kind(kind):
            return [values.cast(stored)]
    return [pa.record_batch([values], names=["values"]).serialize().to_pybytes()]


FOLDER = "DISCREET_STATE"
"""The environment variable for the state folder."""


MOST = 400
"""The most digests of a ledger that are kept, the latest ones. Data that change have many."""


LARGEST = 2**24
"""The most bytes of a registry that are read."""


SYNTHETIC = frozenset(
    {
        "02ff02eca29d86b716384c3cd88b0a65b24c13ae1795ff1be388ca73ab95bb37",
        "ec30ed96faf85516abf39cd4d22ce5e628d82765de693bf7bab6ddf035e86b1a",
        "c4d4a8ea61dd0f1648c9d3e0bedc3980e1151a884a7cfbe8dd5729fe5c56f536",
    }
)
"""The contents of the private tables of the demos. They are about nobody, so each folder with
them may have its own ledger."""


_warned: set[tuple[str, ...]] = set()
"""The ledgers that this process has warned about, each with the others."""


PATIENCE = 2.0
"""Seconds to wait for other processes that are writing the registry."""


log = logging.getLogger("discreet.opening")


log.addHandler(logging.NullHandler())


def state_folder() -> Path:
    """Return the folder for Discreet's state of this user, by the rules of the platform."""
    named = os.environ.get(FOLDER)
    if named:
        return Path(named).absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "discreet"
    given = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".local" / "state") / "discreet"


def machine_key() -> bytes:
    """Return the key of this user on this machine, made if there is none."""
    return key_in(_made(state_folder()) / "key")


def prints_of(
    declared: Declaration,
    sources: Mapping[str, DataSource],
    contents: Mapping[str, str],
    address: str | None,
) -> frozenset[str]:
    """Return keyed digests of the private tables: of their locations, and of contents if read.

    The key is of this machine, so a reader of the digests cannot check guesses. Without a key there
    are none.
    """
    try:
        texts = _identifying_texts(declared, sources, contents, address)
        key = machine_key()
        return frozenset(new_hmac(key, each.encode(), sha256).hexdigest()[:32] for each in texts)
    except (OSError, RuntimeError, ValueError, DiscreetError) as cause:
        log.warning("the digests of the data of a ledger cannot be made", exc_info=cause)
        return frozenset()


def _identifying_texts(
    declared: Declaration,
    sources: Mapping[str, DataSource],
    contents: Mapping[str, str],
    address: str | None,
) -> list[str]:
    """Return the locations and contents of private tables, as texts."""
    private = {each.name: sources[each.name] for each in declared.tables if each.unit is not None}
    texts = []
    for name, source in private.items():
        table = _table_in(name, source)
        if address is None:
            texts += [f"contents|{contents[name]}|{table}"] if name in contents else []
            texts += [f"file|{each.resolve()}|{table}" for each in files_in(source)]
        elif isinstance(source, str | Path):
            texts.append(f"table|{address}|{source}")
    return texts


def _table_in(name: str, source: DataSource) -> str:
    """Return the name of the table in its file, if the file can have several."""
    if isinstance(source, DuckDbTable):
        return source.table
    is_database = isinstance(source, InFiles) and str(source).casefold().endswith(DUCKDB)
    return name.casefold() if is_database else ""


def is_synthetic(declared: Declaration, contents: Mapping[str, str]) -> bool:
    """Return whether all private tables are those of `discreet demo`, as it writes them."""
    private = [each.name for each in declared.tables if each.unit is not None]
    return bool(private) and all(contents.get(each) in SYNTHETIC for each in private)


def register(place: str | Path, prints: frozenset[str]) -> None:
    """Register the data of a ledger, and warn if other ledgers here are about the same data.

    A process warns once for each ledger and the same others.
    """
    if not prints:
        return
    own = str(place if isinstance(place, str) else place.resolve())
    try:
        others = _noted(own, prints)
    except (OSError, RuntimeError, ValueError, TypeError, AttributeError) as cause:
        log.warning("the registry of ledgers cannot be read or written", exc_info=cause)
        return
    if others and (own, *others) not in _warned:
        _warned.add((own, *others))
        warn(_warning(own, others), DiscreetWarning, stacklevel=2)


def _warning(own: str, others: Sequence[str]) -> str:
    what = f"Another ledger covers the same data as {own}: {others[0]}."
    if len(others) > 1:
        what = f"{len(others)} other ledgers cover the same data as {own}, for example {others[0]}."
    return (
        f"{what} Their budgets add up: together they reveal more than each allows. Use one ledger."
    )


def _noted(own: str, prints: frozenset[str]) -> list[str]:
    """Add digests to the registry, and return the other ledgers that have one of them."""
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
    """Return whether a ledger may still be in use: an existing file, or any on a server."""
    return "://" in place or Path(place).exists()


def _read(file: Path) -> dict[str, list[str]]:
    """Return the registry. A damaged one is moved aside, and a new one is started."""
    try:
        with _plain(file) as opened:
            found = json.loads(opened.read(LARGEST))  # a longer one is cut off, so damaged
        return {str(place): [str(each) for each in noted] for place, noted in found.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError, RecursionError) as cause:
        log.warning("the registry of ledgers is damaged, and was put aside", exc_info=cause)
        file.replace(file.with_name("ledgers.damaged"))
        return {}


def _plain(file: Path) -> BinaryIO:
    """Open a regular file; raise ValueError for others, such as pipes, which may block."""
    handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ValueError("not a regular file")
    return os.fdopen(handle, "rb")


def _write(file: Path, known: Mapping[str, list[str]]) -> None:
    part = file.with_name(f"ledgers.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as opened:
        json.dump(known, opened, indent=1)
    part.replace(file)


def _made(folder: Path) -> Path:
    """Create the state folder for this user only; reject one that others may write to."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = folder.stat()
    if state.st_uid != os.geteuid() or state.st_mode & 0o022:
        raise OSError(f"other users may write to {folder}")
    return folder


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Lock the registry against other processes. Give up after a while."""
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
