"""Digests of the bytes of files, and a cache of them, so that files are not read at every opening.

The cache is a file beside the ledger, for its user only. It knows a file by device, inode, size and
times; the change time cannot be set back by a program. A file system in memory (tmpfs) does not
change times for programs that write through mapped memory: declare a version there. Everything in
the cache is under the key of this user on this machine (`registry.machine_key`): a digest lets
whoever has a guess of the data check it. Losing the cache costs time, and nothing else.
"""

import json
import logging
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from hmac import compare_digest
from hmac import new as new_hmac
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from discreet.engines.base import Progress
from discreet.engines.duckdb.file_lists import ReadFile
from discreet.errors import DiscreetError, SourceError
from discreet.opening.registry import machine_key

SUFFIX = ".contents"
"""The cache of discreet.ledger is discreet.ledger.contents, beside it."""

ABSENT = "none"
"""The digest of a file that is not there, such as the log of a DuckDB file."""

CHUNK = 2**20
"""Bytes that are read at a time."""

REPORTED = 2**26
"""Bytes after which progress is reported. Smaller files report none."""

SETTLED = 60.0
"""Seconds after which a change of a file changes its times.

Disk clocks are coarse. And a program that maps a file into its memory changes the times when it
first writes to a page; what it writes there later does not, until the system has written the page
to the disk: on Linux half a minute at most.
"""

MOST = 4000
"""The most files that a cache remembers, the latest ones."""

LARGEST = 2**22
"""The most bytes of a cache that are read."""

CHANGED = "A file changed while it was read. Open it again."

log = logging.getLogger("discreet.opening")


class FileDigests:
    """Digests of files: from the cache for files that did not change, else from their bytes.

    What was `earlier` read counts as cached. Of files that are read, the first bytes get digests
    too, as many as an earlier file had: so it is seen which file only grew.
    """

    def __init__(
        self,
        cache: Path | None = None,
        progress: Progress | None = None,
        earlier: Iterable[ReadFile] = (),
    ) -> None:
        self._cache, self._progress = cache, progress
        before = tuple(earlier)
        self._earlier = {each.identity: each for each in before if each.identity}
        self._sizes = sorted({each.size for each in before})
        self.read: dict[Path, ReadFile] = {}
        """What every file was when its digest was asked for last."""
        self._key = _key() if cache is not None else None
        self._known: dict[str, list[str]] | None = None
        self._new: dict[str, list[str]] = {}

    def of(self, file: Path) -> str:
        """Return the digest of a file's bytes; reject one that changes while it is read."""
        try:
            before, now = file.stat(), time.time_ns()
            identity = _identity(before)
            known = self._earlier.get(identity)
            found = self._cached(identity) if known is None else known.digest
            if found is not None:
                self.read[file] = ReadFile(
                    path=file, size=before.st_size, digest=found, identity=identity
                )
                return found
            with file.open("rb") as opened:
                _check_same(opened, identity)
                digest, prefixes = self._read(opened, file.name, before.st_size)
                _check_same(opened, identity)
        except FileNotFoundError:
            return ABSENT
        except OSError as cause:
            raise SourceError(
                f"{file} could not be read", "Check that you may read the file"
            ) from cause
        is_settled = before.st_ctime_ns < now - int(SETTLED * 1e9)
        if is_settled:
            self._note(identity, digest)
        self.read[file] = ReadFile(
            path=file,
            size=before.st_size,
            digest=digest,
            identity=identity if is_settled else "",
            prefixes=prefixes,
        )
        return digest

    def save(self) -> None:
        """Write what was computed to the cache, if there is one. If that fails, the log says so."""
        if self._cache is None or not self._new:
            return
        kept = {each: what for each, what in self._all().items() if each not in self._new}
        try:
            _write(self._cache, dict([*kept.items(), *self._new.items()][-MOST:]))
        except OSError as cause:
            log.warning("the cache of digests cannot be written", exc_info=cause)

    def _read(self, opened: BinaryIO, name: str, size: int) -> tuple[str, dict[int, str]]:
        digest, done, prefixes = sha256(), 0, {}
        sizes = [each for each in self._sizes if each < size]
        while chunk := opened.read(min(CHUNK, sizes[0] - done) if sizes else CHUNK):
            digest.update(chunk)
            done += len(chunk)
            if sizes and done == sizes[0]:
                prefixes[sizes.pop(0)] = digest.hexdigest()
            if self._progress is not None and done % REPORTED < CHUNK and size > REPORTED:
                self._progress(f"{name} (MiB)", done // CHUNK, max(size, done) // CHUNK)
        return digest.hexdigest(), prefixes

    # ----------------------------------------------------------------------- the cache

    def _cached(self, identity: str) -> str | None:
        if self._key is None:
            return None
        found = self._all().get(self._keyed("file", identity))
        if found is None:
            return None
        digest = _xor(found[0], self._keyed("digest", identity))
        is_whole = compare_digest(found[1], self._keyed("check", f"{identity}|{digest}"))
        return digest if is_whole else None

    def _note(self, identity: str, digest: str) -> None:
        if self._key is not None:
            sealed = _xor(digest, self._keyed("digest", identity))
            check = self._keyed("check", f"{identity}|{digest}")
            self._new[self._keyed("file", identity)] = [sealed, check]

    def _keyed(self, what: str, text: str) -> str:
        assert self._key is not None  # noqa: S101 - for types
        return new_hmac(self._key, f"contents|{what}|{text}".encode(), sha256).hexdigest()

    def _all(self) -> dict[str, list[str]]:
        if self._known is None:
            self._known = {} if self._cache is None else _read_cache(self._cache)
        return self._known


def cache_of(ledger: str | Path) -> Path:
    """Return the path of the cache beside a ledger that is a file."""
    return Path(f"{Path(ledger).absolute()}{SUFFIX}")


def _key() -> bytes | None:
    try:
        return machine_key()
    except (OSError, RuntimeError, ValueError, DiscreetError) as cause:
        log.warning("digests of files are not cached: there is no key", exc_info=cause)
        return None


def _identity(state: os.stat_result) -> str:
    times = f"{state.st_mtime_ns}:{state.st_ctime_ns}"
    return f"{state.st_dev}:{state.st_ino}:{state.st_size}:{times}"


def _check_same(opened: BinaryIO, identity: str) -> None:
    if _identity(os.fstat(opened.fileno())) != identity:
        raise SourceError(CHANGED)


def _xor(text: str, pad: str) -> str:
    """Return a digest that is sealed, or a sealed one opened."""
    return f"{int(text, 16) ^ int(pad, 16):064x}"


def _read_cache(file: Path) -> dict[str, list[str]]:
    """Return what a cache holds; nothing if it is damaged, or others may write or read it."""
    try:
        with _own(file) as opened:
            found = json.loads(opened.read(LARGEST))  # a longer one is cut off, so damaged
        return {
            str(each): [f"{int(part, 16):064x}" for part in (sealed, check)]
            for each, (sealed, check) in found.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as cause:
        log.warning("the cache of digests is not used", exc_info=cause)
        return {}


@contextmanager
def _own(file: Path) -> Iterator[BinaryIO]:
    """Open a regular file that only this user may read and write; raise ValueError for others."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(file, flags), "rb") as opened:
        state = os.fstat(opened.fileno())
        if not S_ISREG(state.st_mode) or state.st_uid != os.geteuid() or state.st_mode & 0o077:
            raise ValueError("not a file of this user alone")
        yield opened


def _write(file: Path, known: dict[str, list[str]]) -> None:
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            json.dump(known, opened)
        part.replace(file)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
