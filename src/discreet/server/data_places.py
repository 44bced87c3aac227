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
from urllib.parse import parse_qsl, unquote, urlsplit

from discreet.catalog.declaration import Declaration
from discreet.catalog.sources import EMBEDDED, ENVIRONMENT, SERVERS, without_password
from discreet.errors import ParameterError

ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".pq", ".parq")
"""Files that can be added. A DuckDB file is not among them: it may contain more than tables."""

MOST_FILES, MOST_DEPTH = 1000, 4
"""So many files are listed, in folders of so many levels."""

LOOPBACK = ("", "127.0.0.1", "localhost")
USUAL_PORT = 5432

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
    def marks(self) -> frozenset[str]:
        """What a catalog of the same data covers: none of it may be covered by any."""
        return _marks(self.source, self.engine or EMBEDDED, sought=True)


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
    """Return what stands for the private data of a catalog, as they are now."""
    engine = declared.source.engine
    found: frozenset[str] = frozenset()
    for each in declared.tables:
        if each.unit is not None:
            source = each.source or each.name
            is_pattern = engine == EMBEDDED and has_magic(source) and not Path(source).exists()
            files = glob(source, recursive=True) if is_pattern else [source]
            found = found.union(*(_marks(file, engine) for file in files))
    return found


def _marks(source: str, engine: str, *, sought: bool = False) -> frozenset[str]:
    """Return what stands for data: of files, both the path and the file that is there now.

    A file that was replaced has the same path, and a hard link is the same file. A table without
    a schema may be in any: sought, it also stands for tables of its name that have one.
    """
    address = _resolved(engine)
    if not address.startswith((*SERVERS, ENVIRONMENT)):
        path = f"path {os.path.realpath(source)}"
        try:
            state = os.stat(source)
        except (OSError, ValueError):
            return frozenset({path})
        return frozenset({path, f"file {state.st_dev}:{state.st_ino}"})
    schema, dot, table = source.replace('"', "").casefold().rpartition(".")
    server, anywhere = _server(address), f"table {table}"
    if not dot:
        also = {f"{server} named {table}"} if sought else set()
        return frozenset({f"{server} {anywhere}", *also})
    also = {f"{server} {anywhere}"} if sought else {f"{server} named {table}"}
    return frozenset({f"{server} {schema}.{table}", *also})


def _resolved(engine: str) -> str:
    """Return the address that an environment variable has, or the name of one without."""
    if not engine.startswith(ENVIRONMENT):
        return engine
    return os.environ.get(engine.removeprefix(ENVIRONMENT), engine)


def _server(address: str) -> str:
    """Return host, port and database of an address: who asks, and how, makes no difference."""
    parts = urlsplit(address)
    options = dict(parse_qsl(parts.query))
    host, _, port = parts.netloc.rpartition("@")[2].casefold().partition(":")
    host = options.get("hostaddr") or options.get("host") or host
    host = "localhost" if host in LOOPBACK else host
    name = options.get("dbname") or parts.path.strip("/")
    return f"{host} {options.get('port') or port or USUAL_PORT} {unquote(name)}"


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
