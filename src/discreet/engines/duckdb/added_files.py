"""What came to the files of a table: whole files, and lines at the ends of CSV files.

Old files are known by digests of their contents, whatever they are called now. What is read of the
new ones alone is what a load of all files would read of them, or it is not read: where that is not
sure, CannotGrowError is raised.
"""

# ruff: noqa: S608 - names are quoted and paths are literals

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from discreet.catalog.schema import Column, Kind
from discreet.engines.base import log
from discreet.engines.duckdb.file_lists import FilesNow, InFiles, ReadFile
from discreet.engines.duckdb.loading import (
    CSV,
    PARQUET,
    DataSource,
    Identifying,
    Kinds,
    csv_options,
    csv_reader,
    load,
    parquet_reader,
)
from discreet.engines.growth import Anew, CannotGrowError
from discreet.errors import SourceError

SNIFFED = 10
"""DuckDB guesses the types of CSV files from the values of so many of them, the first ones."""


GUESSED = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
}
"""Types that DuckDB guesses, by kind, of those that are written in one way only. Times are not:
which day 01/02/2026 is follows from other values."""


MARK = b"\xef\xbb\xbf"
"""May begin a file, and is part of a value anywhere else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedRows:
    """What came to the files of a table."""

    now: tuple[ReadFile, ...]
    """All files, as they are listed."""
    old: tuple[ReadFile, ...]
    """Those that begin with the bytes of the earlier ones, in the order of these."""
    new: tuple[Path, ...]
    longer: tuple[tuple[Path, int], ...]
    """Files that only grew, and where they ended."""

    @property
    def files(self) -> int:
        return len(self.new) + len(self.longer)


def is_listed(source: DataSource) -> bool:
    """Return whether a source is a list of files of rows, which can grow."""
    return isinstance(source, InFiles) and str(source).casefold().endswith((*CSV, *PARQUET))


def added_to(
    held: Sequence[ReadFile], now: Sequence[ReadFile], source: DataSource
) -> AddedRows | None:
    """Return what came to files; None if any of what they held is not there any more."""
    name = str(source).casefold()
    new, old = list(now), dict[int, ReadFile]()
    longer: list[tuple[Path, int]] = []
    for number, each in enumerate(held):
        same = next((one for one in new if one.digest == each.digest), None)
        if same is not None:
            old[number] = same
            new.remove(same)
    for number, each in enumerate(held):
        if number in old:
            continue
        grown = next((one for one in new if one.prefixes.get(each.size) == each.digest), None)
        if grown is None or not name.endswith(CSV) or name.endswith(".gz"):
            return None
        old[number] = grown
        longer.append((grown.path, each.size))
        new.remove(grown)
    return AddedRows(
        now=tuple(now),
        old=tuple(old[number] for number in range(len(held))),
        new=tuple(each.path for each in new),
        longer=tuple(longer),
    )


Holds = Callable[[str], bool]
"""Says whether a column of texts, by its name, holds any that is not empty."""


def load_added(  # noqa: PLR0913 - each is a thing that differs from table to table
    connection: duckdb.DuckDBPyConnection,
    name: str,
    added: AddedRows,
    *,
    kinds: Kinds,
    columns: Sequence[Column],
    holds: Holds,
    folder: Path,
) -> None:
    """Load what came to files into a table of this name; `columns` are those of the old rows.

    `folder` is a private one, for what is cut off files.
    """
    is_csv = str(added.now[0].path).casefold().endswith(CSV)
    try:
        files = (*added.new, *_ends(added.longer, folder))
        if is_csv:
            _check_heads(added, files)
        else:
            _check_types(connection, name, added)
        if not files:
            raise CannotGrowError(Anew.PLACE, name)
        if is_csv:
            guessed = _guessed(connection, name, files, kinds, columns, holds)
            strict = _identified(kinds, columns)
            found = load(connection, name, FilesNow(str(files[0]), files), strict, guessed)
        else:
            found = load(connection, name, FilesNow(str(files[0]), files), kinds)
    except (SourceError, duckdb.Error) as cause:
        log.info("what came to %s is not read by itself", name, exc_info=cause)
        raise CannotGrowError(Anew.TYPES, name) from None
    if tuple(found) != tuple(columns):
        raise CannotGrowError(Anew.TYPES, name)


# --------------------------------------------------------------------------- Parquet


def _check_types(connection: duckdb.DuckDBPyConnection, name: str, added: AddedRows) -> None:
    """Check that all new files, and the one that decides types now, are like the old ones."""
    paths = {added.now[0].path, added.old[0].path, *added.new}
    described: list[Any] = [
        connection.execute(f"DESCRIBE SELECT * FROM {parquet_reader((each,))}").fetchall()
        for each in sorted(paths)
    ]
    if any(each != described[0] for each in described):
        raise CannotGrowError(Anew.TYPES, name)


# --------------------------------------------------------------------------- CSV


def _ends(longer: Sequence[tuple[Path, int]], folder: Path) -> list[Path]:
    """Write the new lines of files to files of their own, each below the header."""
    return [_end(path, size, folder, number) for number, (path, size) in enumerate(longer)]


def _end(path: Path, size: int, folder: Path, number: int) -> Path:
    end = folder / f"{number}{path.suffix}"
    end.unlink(missing_ok=True)
    with path.open("rb") as whole:
        header = whole.readline()
        while header.count(b'"') % 2 and (line := whole.readline()):
            header += line
        whole.seek(max(0, size - 3))
        last, begin = whole.read(min(3, size)), whole.read(len(MARK))
        # Up to here the file was a table by itself. So its last line end also ended a row. An empty
        # line may be a row or not, by where it stands.
        is_ended = last.endswith(b"\n") and not last.endswith((b"\n\n", b"\n\r\n"))
        if not is_ended or begin == MARK or len(header) > size:
            raise CannotGrowError(Anew.CHANGED)
        with os.fdopen(os.open(end, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as target:
            target.write(header)
            whole.seek(size)
            while chunk := whole.read(2**20):
                target.write(chunk)
    return end


def _check_heads(added: AddedRows, files: Sequence[Path]) -> None:
    """Check that headers and line ends are the same, and that types are guessed from old files."""
    heads = dict.fromkeys((added.old[0].path, added.now[0].path, *files))
    csv_options(tuple(heads))
    ends = {_line_end(line) for each in heads for line in _first_lines(each)}
    first = [each.path for each in added.now[:SNIFFED]]
    is_pushed_out = any(each.path not in first for each in added.old[:SNIFFED])
    if len(ends) > 1 or is_pushed_out:
        raise CannotGrowError(Anew.GUESSED)


def _first_lines(file: Path) -> list[bytes]:
    """Return the first two lines, the second is the first new one where an end was cut off."""
    if file.suffix == ".gz":
        return []
    with file.open("rb") as opened:
        return [line for line in (opened.readline(), opened.readline()) if line.endswith(b"\n")]


def _line_end(line: bytes) -> bytes:
    return b"\r\n" if line.endswith(b"\r\n") else b"\n"


def _identified(kinds: Kinds, columns: Sequence[Column]) -> Kinds:
    """Return the kinds that columns are read as, with those that were guessed from old rows."""
    found = {each.name.casefold(): each.kind for each in columns}
    return {
        name: replace(kind, kind=kind.kind or found.get(name))
        if isinstance(kind, Identifying)
        else kind
        for name, kind in kinds.items()
    }


def _guessed(  # noqa: PLR0913, PLR0917 - what types are guessed from
    connection: duckdb.DuckDBPyConnection,
    name: str,
    files: tuple[Path, ...],
    kinds: Kinds,
    columns: Sequence[Column],
    holds: Holds,
) -> Mapping[str, str]:
    """Return the types that all files together have where they are guessed, or refuse to grow.

    Of all values, as of old and of new ones, the narrowest type is guessed that fits. So it is the
    old one where the new values have the same, or none, or integers among reals, or where old texts
    fit no other type.
    """
    _, names, options = csv_options(files)
    declared = {each for each, kind in kinds.items() if not _is_guessed(kind)}
    free = [each for each in columns if each.name.casefold() not in declared]
    if any(each.kind not in GUESSED for each in free):
        raise CannotGrowError(Anew.GUESSED, name)
    told = {each: "VARCHAR" for each in names if each.casefold() in declared}
    described = connection.execute(
        f"DESCRIBE SELECT * FROM {csv_reader(files, options, told)}"
    ).fetchall()
    new = {str(each[0]): str(each[1]) for each in described}
    for each in free:
        old = GUESSED[each.kind]
        if old == new[each.name] != "VARCHAR" or (old, new[each.name]) == ("DOUBLE", "BIGINT"):
            continue
        texts = dict.fromkeys(names, "VARCHAR")
        is_empty = new[each.name] == "VARCHAR" and not _has_texts(
            connection, csv_reader(files, options, texts), each.name
        )
        fits = is_empty if old != "VARCHAR" else not is_empty and new[each.name] == "VARCHAR"
        if not fits and not (old == "VARCHAR" and holds(each.name)):
            raise CannotGrowError(Anew.GUESSED, name)
    return {each.name: GUESSED[each.kind] for each in free if each.name.casefold() not in kinds}


def _is_guessed(kind: Kind | Identifying) -> bool:
    return isinstance(kind, Identifying) and kind.kind is None


def _has_texts(connection: duckdb.DuckDBPyConnection, reader: str, column: str) -> bool:
    quoted = '"' + column.replace('"', '""') + '"'
    found = connection.execute(f"SELECT 1 FROM {reader} WHERE {quoted} <> '' LIMIT 1").fetchall()
    return bool(found)
