"""From files, data frames or a catalog to a curator, in one call."""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing, suppress
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import cast
from uuid import uuid4

from discreet.books import budget_from
from discreet.catalog import (
    Catalog,
    Column,
    Kind,
    PublicTable,
    Value,
    complete,
    declare,
    read,
)
from discreet.catalog.addresses import EMBEDDED, ENVIRONMENT
from discreet.catalog.declared import Declared
from discreet.catalog.policy import (
    Accounting,
    RowChoice,
    SourcePolicy,
)
from discreet.curator import Curator
from discreet.engines.base import Holder
from discreet.engines.connection import Limits
from discreet.engines.copies import Copied, forget_copy, key_of, make_copy, open_copy
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.loading import DUCKDB, Source, files_of, tables_in
from discreet.engines.preparing import Progress, Scans, as_prepared, scans_to_prepare
from discreet.engines.public import PublicStore
from discreet.engines.spark.tables import Session, SparkFrame
from discreet.engines.unplugged import UnpluggedEngine
from discreet.errors import CatalogError, ParameterError, SourceError
from discreet.ledger import Ledger, SqliteLedger, is_on_server, open_ledger
from discreet.mechanisms.sensitivity import Neighbours
from discreet.parameters import Real
from discreet.servers import (
    address_of,
    from_environment,
    held,
    names_tables,
    place_of,
    shown,
    tables_named,
)

LEDGER_SUFFIX = ".ledger"
"""The ledger of discreet.toml is discreet.ledger, beside it."""

COPY_SUFFIX = ".prepared"
"""The prepared copy of what discreet.toml declares is discreet.prepared, beside it."""

MEMORY = ":memory:"


def open_data(  # noqa: PLR0913 - each is a thing that an owner may declare
    source: "Source | Mapping[str, Source] | SparkFrame | Session",
    *,
    epsilon: Real | None = None,
    delta: Real = 0,
    unit: str | Mapping[str, str] | None = None,
    bounds: Mapping[str, Sequence[object]] | None = None,
    values: Mapping[str, Sequence[Value]] | None = None,
    step: Mapping[str, Real] | None = None,
    nulls: Mapping[str, bool] | None = None,
    types: Mapping[str, str] | None = None,
    rows_per_unit: int | Mapping[str, int] | None = None,
    public: bool | Collection[str] = (),
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    accounting: Accounting | str = Accounting.BASIC,
    name: str | None = None,
    ledger: str | Path | None = None,
    version: str | None = None,
    bounding: RowChoice | str | None = None,
    disjoint: Sequence[Sequence[str]] = (),
) -> Curator:
    """Return a curator of a CSV or Parquet file, a data frame, a DuckDB file or a catalog.

    `source` is one of these, or several by table name; or a data frame of Spark, which stays there;
    or a session of Spark, or the address of a PostgreSQL or Spark server, whose tables are those
    that `name`, `unit` and `public` name. A catalog file (discreet.toml) says all the rest itself.
    Charges are kept in `ledger`: beside a catalog by default, else in memory only, so that the
    budget ends with the process. What was answered about data applies to data of the same
    `version`: as it is given, else files in the same state. `disjoint` names groups of tables that
    have no unit in common, and are charged apart.
    """
    if isinstance(source, str | Path) and str(source).endswith(".toml"):
        _refuse_arguments(
            epsilon=epsilon,
            unit=unit,
            bounds=bounds,
            values=values,
            step=step,
            nulls=nulls,
            types=types,
            rows_per_unit=rows_per_unit,
            name=name,
            version=version,
            bounding=bounding,
            delta=delta or None,
            public=public or None,
            disjoint=disjoint or None,
            neighbours=None if neighbours is Neighbours.ADD_REMOVE else neighbours,
            accounting=None if accounting is Accounting.BASIC else accounting,
        )
        return open_catalog(source, ledger=ledger)
    if epsilon is None:
        raise ParameterError("epsilon", None, "must say how much may be revealed in all")
    address = place_of(source)
    if not names_tables(source):
        sources = _named(cast("Source | Mapping[str, Source]", source), name)
    else:
        named = tables_named(name, unit, public)
        sources, unit, public = {**named.tables}, named.unit, named.public
    files = {
        each: str(path) if isinstance(path, str | Path) else None for each, path in sources.items()
    }
    declared = declare(
        files,
        engine=None if address is None else shown(address),
        epsilon=epsilon,
        delta=delta,
        unit=unit,
        bounds=bounds,
        values=values,
        step=step,
        nulls=nulls,
        types=types,
        rows_per_unit=rows_per_unit,
        public=public,
        neighbours=neighbours,
        accounting=accounting,
        version=version,
        bounding=bounding,
        disjoint=disjoint,
    )
    return _curator(declared, sources, ledger or MEMORY, address=address)


def open_catalog(path: str | Path, *, ledger: str | Path | None = None) -> Curator:
    """Return a curator of what a catalog file declares."""
    declared = read(path)
    place = ledger or _ledger_of(path, declared)
    address = address_of(path, declared)
    for each in declared.tables:
        if each.source is None and address is None:
            raise each.place.refused("says not where it is read from", 'add from = "file.csv"')
    sources = {each.name: each.source or each.name for each in declared.tables}
    return _curator(declared, sources, place, copy_of(path), address)


def open_unplugged(path: str | Path) -> Curator:
    """Return a curator that can explain what a catalog allows to ask, without the private data.

    Public tables are read if they are there. The books are not opened.
    """
    declared = read(path)
    if declared.source.engine != EMBEDDED:
        return open_catalog(path, ledger=MEMORY)
    sources = _public_sources(declared)
    with closing(DuckDbEngine.load(sources)) as engine:
        try:
            catalog = complete(declared, lambda name: _columns_at_hand(declared, engine, name))
        except CatalogError:
            return open_catalog(path, ledger=MEMORY)
        if catalog.source.bounding is RowChoice.PREPARED:
            catalog = as_prepared(catalog)
        public = PublicStore({name: engine.table(name) for name in sources})
    return Curator(
        catalog=catalog,
        engine=UnpluggedEngine(),
        public=public,
        ledger=SqliteLedger(MEMORY, budget=budget_from(catalog.budget)),
    )


def _columns_at_hand(declared: Declared, engine: DuckDbEngine, name: str) -> tuple[Column, ...]:
    """Return a table's columns: read, if it was loaded, else as they are declared with types."""
    with suppress(SourceError):
        return engine.columns(name)
    (table,) = (each for each in declared.tables if each.name == name)
    found = [(each.name, each.kind) for each in table.columns]
    columns = tuple(Column(name=column, kind=kind) for column, kind in found if kind is not None)
    if not columns or len(columns) < len(found):
        raise table.place.refused("has columns without a type", "open the data, or declare types")
    return columns


def ledger_place(path: str | Path) -> str | Path:
    """Return where the charges of a catalog file are kept: where it says, else beside it.

    A path is a file's, text the address of a server.
    """
    return _ledger_of(path, read(path))


def open_books(path: str | Path, *, ledger: str | Path | None = None) -> Ledger:
    """Return the ledger of a catalog file, made if it is not there yet; reads no data."""
    declared = read(path)
    place = ledger or _ledger_of(path, declared)
    return _ledger(place, declared)


def read_columns(source: str | Path) -> dict[str, tuple[Column, ...]]:
    """Return the columns of each table of a file, by its name; of values, only types are told."""
    sources = _named(source, None)
    with closing(DuckDbEngine.load(sources)) as engine:
        return {name: engine.columns(name) for name in sources}


def _ledger(place: str | Path, declared: Declared) -> Ledger:
    """Return the ledger at a place, with the accounts that the catalog declares.

    What they were charged stays charged, their tokens stay good, and who is disabled stays so.
    """
    policy = declared.budget
    ledger = open_ledger(
        place,
        budget=budget_from(policy),
        neighbours=policy.neighbours.value,
        disjoint=declared.disjoint,
    )
    try:
        known = {each.name: (each.epsilon, each.delta) for each in ledger.analysts()}
        for each in declared.analysts:
            if known.get(each.name) != (each.epsilon, each.delta):
                ledger.declare_cap(each.name, epsilon=each.epsilon, delta=each.delta)
    except BaseException:
        ledger.close()
        raise
    return ledger


def _ledger_of(path: str | Path, declared: Declared) -> str | Path:
    named = declared.ledger
    if named is None:
        return Path(path).with_suffix(LEDGER_SUFFIX)
    if named.startswith(ENVIRONMENT):
        named = from_environment("ledger", named, path)
    return named if is_on_server(named) else Path(path).absolute().parent / named


def _public_sources(declared: Declared) -> dict[str, str]:
    """Return where the public tables are that can be read now."""
    found = {}
    for each in declared.tables:
        if each.unit is None and each.source is not None:
            with suppress(SourceError):
                files_of(each.source)
                found[each.name] = each.source
    return found


def _curator(
    declared: Declared,
    sources: Mapping[str, Source],
    ledger: str | Path,
    copy: Path | None = None,
    address: "str | Session | None" = None,
) -> Curator:
    version, engine = _opened(declared, sources, copy, address)
    try:
        catalog = _prepared(complete(declared, engine.columns), engine)
        return Curator(
            catalog=catalog,
            engine=engine,
            public=_public_store(catalog, engine),
            ledger=_ledger(ledger, declared),
            data_version=version,
        )
    except BaseException:
        engine.close()
        raise


def _opened(
    declared: Declared,
    sources: Mapping[str, Source],
    copy: Path | None,
    address: "str | Session | None",
) -> tuple[str, DuckDbEngine | Holder]:
    """Return the data's version and the engine that holds them: a server's, or that of files."""
    if address is not None:
        return held(declared, sources, address, _kinds(declared), _limits(declared.source))
    return _from_copy(declared, sources, copy) or _loaded(declared, sources)


def copy_of(path: str | Path) -> Path:
    """Return where the prepared copy of a catalog's tables is, if it was made."""
    return Path(path).with_suffix(COPY_SUFFIX)


def is_copy_outdated(path: str | Path) -> bool:
    """Return whether there is a prepared copy that is not of what the catalog and files are now."""
    declared, copy = read(path), copy_of(path)
    return copy.is_file() and key_of(copy) != _copied(declared, declared.sources).key


def prepare_catalog(path: str | Path, progress: Progress | None = None) -> bool:
    """Make the prepared copy of a catalog's tables beside it; return False if it was there."""
    declared = read(path)
    if declared.source.bounding is not RowChoice.PREPARED:
        raise CatalogError(
            'source.bounding is "per-query", so nothing is prepared',
            'write bounding = "prepared", or leave it out',
            file=str(path),
        )
    copied = _copied(declared, declared.sources)
    if key_of(copy_of(path)) == copied.key:
        return False

    def scans_of(columns: Mapping[str, tuple[Column, ...]]) -> Scans:
        return scans_to_prepare(as_prepared(complete(declared, columns.__getitem__)))

    make_copy(copy_of(path), copied, scans_of, limits=_limits(declared.source), progress=progress)
    return True


def forget_catalog(path: str | Path) -> bool:
    """Remove the prepared copy of a catalog's tables; return whether there was one."""
    return forget_copy(copy_of(path))


def _copied(declared: Declared, sources: Mapping[str, Source]) -> Copied:
    units = [(each.name, repr(each.unit), each.rows_per_unit) for each in declared.tables]
    kinds = _kinds(declared)
    told = json.dumps(
        [units, repr(sorted((name, sorted(kinds[name].items(), key=str)) for name in kinds))]
    )
    return Copied(sources=sources, kinds=kinds, version=_version(sources), declared=told)


def _from_copy(
    declared: Declared, sources: Mapping[str, Source], copy: Path | None
) -> tuple[str, DuckDbEngine] | None:
    """Return the data's version and an engine that reads the prepared copy, if there is one."""
    is_wanted = declared.source.bounding is RowChoice.PREPARED
    if copy is None or not is_wanted or not copy.is_file():
        return None
    copied = _copied(declared, sources)
    if key_of(copy) != copied.key:
        return None
    store, columns = open_copy(copy, _limits(declared.source))
    told = declared.source.version
    version = copied.version if told is None else f"declared {told}"
    return version, DuckDbEngine(store, columns, is_prepared=True)


def _prepared(catalog: Catalog, engine: DuckDbEngine | Holder) -> Catalog:
    """Settle which rows of each unit count, unless every question shall do so by itself."""
    is_wanted = catalog.source.bounding is RowChoice.PREPARED
    if not is_wanted or not isinstance(engine, DuckDbEngine):
        return catalog
    prepared = as_prepared(catalog)
    if not engine.is_prepared:
        engine.prepare(scans_to_prepare(prepared))
    return prepared


def _loaded(declared: Declared, sources: Mapping[str, Source]) -> tuple[str, DuckDbEngine]:
    """Return the data's version and the engine that holds them; they belong together."""
    version = _version(sources)
    told = declared.source.version
    engine = DuckDbEngine.load(sources, kinds=_kinds(declared), limits=_limits(declared.source))
    if _version(sources) != version:
        engine.close()
        raise SourceError("a file changed while it was read; open it again.")
    return version if told is None else f"declared {told}", engine


def _public_store(catalog: Catalog, engine: DuckDbEngine | Holder) -> PublicStore:
    names = [each.name for each in catalog.tables if isinstance(each, PublicTable)]
    return PublicStore({name: engine.table(name) for name in names})


def _named(source: Source | Mapping[str, Source], name: str | None) -> dict[str, Source]:
    """Return the sources by the names that questions will call them."""
    if isinstance(source, Mapping):
        return dict(source)
    if not isinstance(source, str | Path):
        return {name or "data": source}
    if str(source).casefold().endswith(DUCKDB):
        return dict.fromkeys([name] if name else tables_in(Path(source)), source)
    stem = Path(source).name.split(".")[0].split("*")[0].strip("-_ ")
    return {name or stem or "data": source}


def _limits(policy: SourcePolicy) -> Limits:
    timeout = policy.timeout if policy.timeout is not None else Fraction(Limits().timeout)
    return Limits(timeout=float(timeout), memory=policy.memory_limit, threads=policy.threads)


def _kinds(declared: Declared) -> dict[str, dict[str, Kind]]:
    """Return what columns are declared to be, table by table."""
    return {
        table.name: {
            each.name.casefold(): each.kind for each in table.columns if each.kind is not None
        }
        for table in declared.tables
    }


FRAMES = uuid4().hex
"""Stands for the contents of data frames, which may change with every process."""


def _version(sources: Mapping[str, Source]) -> str:
    """Return what changes when the data do: files by their state, frames with every process."""
    told = []
    for name, source in sorted(sources.items()):
        if not isinstance(source, str | Path):
            told.append(f"{name}:{FRAMES}:{id(source)}")
            continue
        for file in files_of(source):
            told += [f"{name}:{_state(each)}" for each in (file, Path(f"{file}.wal"))]
    return sha256("\n".join(told).encode()).hexdigest()


def _state(file: Path) -> str:
    """Return place, size and times of a file; the time of its last change cannot be set back."""
    try:
        state = file.stat()
    except FileNotFoundError:
        return f"{file.resolve()}:none"
    times = f"{state.st_mtime_ns}:{state.st_ctime_ns}"
    return f"{file.resolve()}:{state.st_ino}:{state.st_size}:{times}"


def _refuse_arguments(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise ParameterError(name, value, "is declared in the catalog: change it there")
