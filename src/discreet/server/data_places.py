"""Data that owners may add on the page: files in some folders, tables of some PostgreSQL addresses.

The administrator names the folders and addresses. A caller chooses from a list that the server
makes by itself: no path and no address of a caller is ever opened.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from stat import S_ISREG

from discreet.catalog.declaration import Declaration
from discreet.catalog.sources import EMBEDDED, ENVIRONMENT, SERVERS, without_password
from discreet.errors import ParameterError

ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".pq", ".parq")
"""Files that can be added. A DuckDB file is not among them: it may contain more than tables."""

MOST_FILES, MOST_DEPTH = 1000, 4
"""So many files are listed, in folders of so many levels."""

VARIABLE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPlace:
    """A file or a table that can be added."""

    label: str
    """As callers see it: no folder of the machine, no password."""
    source: str
    """As the catalog has it: a path, or the name of a table."""
    engine: str | None = None
    """The address of the server that has the table."""

    @property
    def identity(self) -> str:
        """What is the same for two catalogs of the same data."""
        return _identity(self.source, self.engine or EMBEDDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPlaces:
    """The folders and the addresses that the administrator has named."""

    folders: tuple[Path, ...] = ()
    addresses: tuple[str, ...] = ()

    def files(self) -> dict[str, Path]:
        """Return the files that can be added, by their labels."""
        found: dict[str, Path] = {}
        for folder in self.folders:
            for path in _files(folder, MOST_DEPTH):
                if len(found) >= MOST_FILES:
                    return found
                found[f"{folder.name}/{path.relative_to(folder).as_posix()}"] = path
        return found

    def file(self, label: str) -> DataPlace | None:
        """Return a file by its label, if it is one of those listed and still a plain file."""
        path = self.files().get(label)
        if path is None or not any(_is_inside(path, folder) for folder in self.folders):
            return None
        return DataPlace(label=label, source=str(path))

    def table(self, address: str, table: str) -> DataPlace | None:
        """Return a table of an address, if it is exactly one of those named."""
        if address not in self.addresses:
            return None
        return DataPlace(label=f"{address} {table}", source=table, engine=address)


def places_from(name: str, given: tuple[str, ...]) -> DataPlaces:
    """Return the places that a setting names, or reject one that is neither folder nor address."""
    folders: dict[str, Path] = {}
    addresses: list[str] = []
    for each in given:
        if each.startswith((*SERVERS, ENVIRONMENT)):
            addresses.append(_address(name, each))
            continue
        folder = Path(each).resolve()
        if not each or not folder.is_dir():
            rule = "must be folders that exist, or addresses that begin with postgresql:// or env:"
            raise ParameterError(name, each, rule)
        if folder.name in folders:
            rule = "must be folders of different names, which callers see"
            raise ParameterError(name, each, rule)
        folders[folder.name] = folder
    return DataPlaces(folders=tuple(folders.values()), addresses=tuple(addresses))


def covered_by(declared: Declaration) -> frozenset[str]:
    """Return what stands for the private data of a catalog."""
    engine = declared.source.engine
    found = set()
    for each in declared.tables:
        if each.unit is not None:
            source = each.source or each.name
            is_pattern = engine == EMBEDDED and has_magic(source) and not Path(source).exists()
            files = glob(source, recursive=True) if is_pattern else [source]
            found |= {_identity(file, engine) for file in files}
    return frozenset(found)


def _identity(source: str, engine: str) -> str:
    if engine == EMBEDDED:
        try:
            state = os.stat(source)
        except (OSError, ValueError):
            return os.path.realpath(source)
        return f"{state.st_dev}:{state.st_ino}"
    table = source.replace('"', "").casefold()
    return f"{engine} {table if '.' in table else f'public.{table}'}"


def _address(name: str, given: str) -> str:
    if given.startswith(ENVIRONMENT) and not VARIABLE.fullmatch(given):
        rule = "must have the name of an environment variable after env:"
        raise ParameterError(name, given, rule)
    if not given.startswith(ENVIRONMENT) and without_password(given) != given:
        fix = "Put the address into an environment variable and write env:NAME"
        raise ParameterError(name, without_password(given), "must not contain a password", fix)
    return given


def _files(folder: Path, depth: int) -> Iterator[Path]:
    """Yield plain files of known endings, in order of names; links are never followed."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda each: each.name)
    except OSError:
        return
    for each in entries:
        if each.name.startswith(".") or not each.name.isprintable() or has_magic(each.name):
            continue
        if each.is_dir(follow_symlinks=False):
            yield from _files(folder / each.name, depth - 1) if depth else ()
        elif each.is_file(follow_symlinks=False) and each.name.casefold().endswith(ENDINGS):
            yield folder / each.name


def _is_inside(path: Path, folder: Path) -> bool:
    """Return whether a path is a regular file below a folder, now, with no link on the way."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return False
    try:
        is_plain = S_ISREG(os.fstat(handle).st_mode)
    finally:
        os.close(handle)
    return is_plain and path.resolve() == path and path.is_relative_to(folder)
