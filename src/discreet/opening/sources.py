"""Finds the engine for an address.

Where the data are: files, data frames and servers; their names, versions and engines.
"""

import os
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from stat import S_ISLNK
from typing import TYPE_CHECKING

from discreet import engines
from discreet.catalog import Column, RowChoice, SourcePolicy
from discreet.catalog.declaration import Declaration
from discreet.catalog.sources import (
    EMBEDDED,
    ENVIRONMENT,
    is_on_server,
    is_spark,
    is_spark_path,
    without_password,
)
from discreet.engines.base import LIMITS, PreparedTables, ResourceLimits, TableEngine
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb.file_lists import InFiles, files_of
from discreet.engines.duckdb.frames import is_connection, tables_at
from discreet.engines.duckdb.loading import (
    DUCKDB,
    DataSource,
    Kinds,
    tables_in,
)
from discreet.engines.spark_sources import Session, is_frame, is_session
from discreet.errors import HIDDEN, CatalogError, ParameterError, SourceError
from discreet.opening.bounding_key import bounding_key, kinds_of
from discreet.opening.contents import CHANGED, SETTLED, FileDigests
from discreet.opening.registry import at_hand, content_of, files_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_engine(  # noqa: PLR0913 - each is a thing that differs from opening to opening
    address: "str | SparkSession",
    tables: Mapping[str, DataSource],
    *,
    public: Collection[str] = (),
    kinds: Mapping[str, Kinds] | None = None,
    form: PreparedTables | None = None,
    limits: ResourceLimits = LIMITS,
) -> TableEngine:
    """Return the engine at an address, with tables as it calls them by their names in queries.

    It reads the prepared form of the tables, if there is one that is of the data as they are now.
    """
    if isinstance(address, str) and not is_spark(address):
        named = {name: str(each) for name, each in tables.items()}
        return engines.postgresql.PostgreSqlEngine.open(address, named, form=form, limits=limits)
    return engines.spark.SparkEngine.open(
        address, tables, kinds=kinds, public=public, form=form, limits=limits
    )


def forget_forms_at(address: str, form: PreparedTables, limits: ResourceLimits = LIMITS) -> bool:
    """Remove the prepared forms of tables at an address; return whether there were any."""
    if is_spark(address):
        return engines.spark.prepared.forget_files(form)
    sessions = engines.postgresql.sessions.Sessions(address, limits)
    try:
        return engines.postgresql.prepared.forget_forms(sessions, form)
    finally:
        sessions.close()


LINKS_MOST = 40
"""Linux follows no more links than this on the way to a file."""

SESSION = "spark://session"
"""The address of a Spark session whose own address has an unusual form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The data version. Saved answers belong to data of the same version."""

    text: str = field(repr=False)
    """As declared; else text that is equal only for equal data. The ledger keys it."""
    declared: str | None = None
    """As the owner calls it, if a version is declared."""
    earlier: str | None = None
    """The version that older releases computed. Charges in older ledgers refer to it."""
    contents: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Digests of the tables that this process has read, by name."""


def sources_by_name(
    source: DataSource | Mapping[str, DataSource], name: str | None
) -> dict[str, DataSource]:
    """Return the sources by the names that tables have in queries."""
    if isinstance(source, Mapping):
        return dict(source)
    if is_connection(source):
        return dict.fromkeys([name] if name else tables_at(source), source)
    if not isinstance(source, str | Path):
        return {name or "data": source}
    if str(source).casefold().endswith(DUCKDB):
        return dict.fromkeys([name] if name else tables_in(Path(source)), source)
    stem = Path(source).name.split(".")[0].split("*")[0].strip("-_ ")
    return {name or stem or "data": source}


def load_files(
    declared: Declaration, sources: Mapping[str, DataSource], digests: FileDigests | None = None
) -> tuple[Version, DuckDbEngine]:
    """Load the tables; return the data version and the engine. They belong together.

    A change between reading the version and loading the rows changes the times of a file. For
    files that changed just now, where it might not, the bytes are read again after loading.
    """
    tables = {name: at_hand(name, source) for name, source in sources.items()}
    is_old, before = is_settled(tables), state_of(tables)
    contents = contents_of(tables, digests)
    version = version_from(contents, earlier_version(tables))
    engine = DuckDbEngine.load(tables, kinds=kinds_of(declared), limits=limits_of(declared.source))
    try:
        is_same = state_of(tables) == before and (is_old or contents_of(tables) == contents)
    except BaseException:
        engine.close()
        raise
    if not is_same:
        engine.close()
        raise SourceError(CHANGED)
    return declared_version(declared, version), engine


def limits_of(policy: SourcePolicy) -> ResourceLimits:
    """Return the limits of a query: time, memory and threads."""
    timeout = policy.timeout if policy.timeout is not None else Fraction(ResourceLimits().timeout)
    return ResourceLimits(
        timeout=float(timeout), memory=policy.memory_limit, threads=policy.threads
    )


def declared_version(declared: Declaration, found: Version) -> Version:
    """Return the declared version, or the one that was computed from the data."""
    version = declared.source.version
    if version is None:
        return found
    return replace(found, text=f"declared {version}", declared=version, earlier=None)


def contents_of(
    sources: Mapping[str, DataSource], digests: FileDigests | None = None
) -> dict[str, str]:
    """Return a digest of the contents of each table. Reads all bytes that no cache knows."""
    of = (digests or FileDigests()).of
    paths = {each for each in sources.values() if isinstance(each, InFiles)}
    read = {each: content_of(each, of) for each in paths}  # several tables may be in one file
    return {
        name: read[source] if isinstance(source, InFiles) else content_of(source, of)
        for name, source in sources.items()
    }


def version_from(contents: Mapping[str, str], earlier: str | None) -> Version:
    """Return the version of tables with these contents."""
    lines = "\n".join(f"{name}:{each}" for name, each in sorted(contents.items()))
    text = sha256(f"contents\n{lines}".encode()).hexdigest()
    return Version(text=text, contents=contents, earlier=earlier)


def state_of(sources: Mapping[str, DataSource]) -> str:
    """Return text that changes when a file changes: a digest of paths, links, sizes and times."""
    lines = [
        f"{name}:{_state(each)}:{_links(each)}"
        for name, source in sorted(sources.items())
        for each in files_in(source)
    ]
    return sha256("\n".join(lines).encode()).hexdigest()


def earlier_version(sources: Mapping[str, DataSource]) -> str | None:
    """Return the version that older releases gave to these files; None for data frames."""
    lines = []
    for name, source in sorted(sources.items()):
        if not isinstance(source, InFiles):
            return None
        for file in files_of(source):
            lines += [f"{name}:{_state(each)}" for each in (file, Path(f"{file}.wal"))]
    return sha256("\n".join(lines).encode()).hexdigest()


def _state(file: Path) -> str:
    """Return path, size and times of a file. Its change time cannot be set back."""
    place = os.path.realpath(file)
    try:
        state = os.stat(file)
    except FileNotFoundError:
        return f"{place}:none"
    times = f"{state.st_mtime_ns}:{state.st_ctime_ns}"
    return f"{place}:{state.st_ino}:{state.st_size}:{times}"


def _links(file: Path) -> str:
    """Return all links on the way to a file: one that led elsewhere meanwhile is another link."""
    found: list[str] = []
    here, ahead = "", [*reversed(file.absolute().parts)]
    while ahead and len(found) < LINKS_MOST:
        here = os.path.join(here, ahead.pop())
        try:
            state = os.lstat(here)
        except FileNotFoundError:
            break
        if S_ISLNK(state.st_mode):
            found.append(f"{state.st_dev}:{state.st_ino}:{state.st_ctime_ns}")
            ahead += reversed(Path(os.readlink(here)).parts)
            here = os.path.dirname(here)
    return ",".join(found)


def is_settled(sources: Mapping[str, DataSource]) -> bool:
    """Return whether every file is old enough that a further change would change its times."""
    latest = time.time_ns() - int(SETTLED * 1e9)
    return all(
        each.stat().st_ctime_ns < latest
        for source in sources.values()
        for each in files_in(source)
        if each.exists()
    )


# --------------------------------------------------------------------------- servers


def open_on_server(
    declared: Declaration,
    tables: Mapping[str, DataSource],
    address: "str | Session",
    place: Path | None = None,
) -> tuple[Version, TableEngine]:
    """Open the server that holds the tables; return the data version and the engine.

    `place` is where prepared tables are that are files.
    """
    public = [each.name for each in declared.tables if each.unit is None]
    form = (
        form_of(declared, tables, place) if declared.source.row_choice is RowChoice.ONCE else None
    )
    engine = open_engine(
        address,
        tables,
        public=public,
        kinds=kinds_of(declared),
        form=form,
        limits=limits_of(declared.source),
    )
    state = f"{public_address(address)}|{engine.version}"
    # A server's count of changes reveals the number of rows: without a key it could be guessed.
    version = Version(text=state, earlier=sha256(state.encode()).hexdigest())
    return declared_version(declared, version), engine


def form_of(
    declared: Declaration, tables: Mapping[str, DataSource], place: Path | None = None
) -> PreparedTables | None:
    """Return the description of prepared tables; None for data frames, which have no address."""
    private = {each.name: tables[each.name] for each in declared.tables if each.unit is not None}
    texts = {name: str(each) for name, each in private.items() if isinstance(each, str | Path)}
    if len(texts) < len(private):
        return None
    key = f"{declared.source.version!r} {bounding_key(declared)}"
    return PreparedTables(tables=texts, declared=key, place=place)


def public_address(address: "str | Session") -> str:
    """Return an address without its password, as a catalog may contain it."""
    if isinstance(address, str):
        return without_password(address)
    place = engines.spark.sessions.place_of(address)
    return place if is_on_server(place) else SESSION


def server_of(source: object) -> "str | Session | None":
    """Return the address or session that keeps the tables; None if they are read from files."""
    if is_session(source):
        return source
    if isinstance(source, str):
        return source if is_on_server(source) else None
    given = source.values() if isinstance(source, Mapping) else [source]
    return next((each.sparkSession for each in given if is_frame(each)), None)


def names_tables(source: object) -> bool:
    """Return whether the source is a server or session, whose tables must be named."""
    return is_on_server(source) or is_session(source)


def address_of(path: str | Path, declared: Declaration) -> str | None:
    """Return the address of the server of a catalog; None if its tables are read from files."""
    named = declared.source.engine
    if not named.startswith(ENVIRONMENT):
        return None if named == EMBEDDED else named
    found = from_environment("engine", named, path)
    if not is_on_server(found):
        what = f"The environment variable {named.removeprefix(ENVIRONMENT)} is not an address"
        fix = "Set it to an address that begins with postgresql://, spark:// or sc://"
        raise CatalogError(what, fix, file=str(path))
    return found


def from_environment(key: str, named: str, path: str | Path) -> str:
    """Return the address in an environment variable."""
    name = named.removeprefix(ENVIRONMENT)
    found = os.environ.get(name)
    if not found:
        what = f"source.{key} uses the environment variable {name}, which is not set"
        raise CatalogError(what, f"Set {name} to the address of the {key}", file=str(path))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTables:
    """Tables of a server that the arguments of `open` name. schema.table is called table."""

    tables: dict[str, str]
    unit: str | dict[str, str] | None
    public: bool | tuple[str, ...]


def tables_named(
    name: str | None, unit: str | Mapping[str, str] | None, public: bool | Collection[str]
) -> NamedTables:
    """Return the tables that are named, with unit and public by their names in queries."""
    others = () if isinstance(public, bool) else (public,) if isinstance(public, str) else public
    units = dict(unit) if isinstance(unit, Mapping) else {}
    places = [*([name] if name else []), *units, *others]
    if not places:
        raise ParameterError("name", name, "must name a table of the server")
    return NamedTables(
        tables={_table_of(each): each for each in places},
        unit={_table_of(each): what for each, what in units.items()} or _one(unit),
        public=public if isinstance(public, bool) else tuple(map(_table_of, others)),
    )


CATALOG_TO_BE = "discreet.toml"
"""The file in errors about an address, before there is a catalog."""


def read_server_columns(address: str, places: Sequence[str]) -> dict[str, tuple[Column, ...]]:
    """Return the columns of tables of a server by their names in queries: names and types.

    The address may be that of an environment variable, env:NAME.
    """
    if address.startswith(ENVIRONMENT):
        address = from_environment("engine", address, CATALOG_TO_BE)
    tables: dict[str, DataSource] = {_table_of(each): each for each in places}
    if len(tables) < len(places):
        raise ParameterError("DATA", HIDDEN, "must not name two tables of the same name")
    with closing(open_engine(address, tables)) as engine:
        return {name: engine.columns(name) for name in tables}


def _table_of(place: str) -> str:
    """Return what a table is called: the last part of its name, or of the path of its files."""
    if not is_spark_path(place):
        return place.rpartition(".")[2].strip('"')
    name = place.rstrip("/").rpartition("/")[2].partition(".")[0].partition("*")[0]
    return name.strip("-_ ") or "data"


def _one(unit: str | Mapping[str, str] | None) -> str | None:
    return unit if isinstance(unit, str) else None
