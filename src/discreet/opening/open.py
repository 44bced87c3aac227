"""`discreet.open`: from files, data frames, servers or a catalog file to a curator."""

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import ParamSpec, TypeVar, cast
from warnings import warn

from discreet.catalog import Accounting, Auto, Catalog, Column, PublicTable, RowChoice, Value
from discreet.catalog.arguments import ARGUMENTS, declare
from discreet.catalog.catalog import Per, Suspends
from discreet.catalog.declaration import Declaration
from discreet.catalog.resolve import known_limit, read, resolve
from discreet.catalog.sources import without_password
from discreet.curator import Curator
from discreet.engines.base import (
    PreparingEngine,
    Progress,
    TableEngine,
    as_prepared,
    scans_to_prepare,
)
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb.loading import DataSource, csv_columns, is_csv
from discreet.engines.public_store import PublicStore
from discreet.engines.spark_sources import Session, SparkFrame
from discreet.errors import HIDDEN, ParameterError
from discreet.known_releases import DataVersion
from discreet.ledger import Ledger, is_on_server
from discreet.mechanisms.sensitivity import Neighbours
from discreet.opening.contents import FileDigests, cache_of
from discreet.opening.registry import is_synthetic, prints_of, register
from discreet.opening.sources import (
    Version,
    address_of,
    load_files,
    names_tables,
    open_on_server,
    public_address,
    server_of,
    sources_by_name,
    tables_named,
)
from discreet.opening.stores import copy_of, from_copy, ledger_at, ledger_of
from discreet.opening.versions import NewVersion, note_version, version_in_memory
from discreet.parameters import Real, plain_text

MEMORY = ":memory:"

GUESSED_FROM = 1000
"""Rows of a CSV file that types are guessed from."""

Given = ParamSpec("Given")
Result = TypeVar("Result")


def _with_old_row_choice(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Accept the argument `bounding` and its value "prepared", as in 0.1, with a warning."""

    @functools.wraps(function)
    def accepting(*args: Given.args, **given: Given.kwargs) -> Result:
        if "bounding" in given:
            if given.get("row_choice") is not None:
                rule = "is the old name of row_choice: give row_choice only"
                raise ParameterError("bounding", given["bounding"], rule)
            given["row_choice"] = given.pop("bounding")
            warn("bounding= is now row_choice=.", DeprecationWarning, stacklevel=2)
        if isinstance(given.get("row_choice"), str) and given["row_choice"] == "prepared":
            given["row_choice"] = "once"
            warn('row_choice="prepared" is now "once".', DeprecationWarning, stacklevel=2)
        return function(*args, **given)

    return accepting


@_with_old_row_choice
def open(  # noqa: A001, PLR0913 - called discreet.open; each argument is a setting of the catalog
    source: "DataSource | Mapping[str, DataSource] | SparkFrame | Session",
    *,
    epsilon: Real | None = None,
    delta: Real = 0,
    unit: str | Mapping[str, str] | None = None,
    bounds: Mapping[str, Sequence[object] | Auto] | None = None,
    values: Mapping[str, Sequence[Value]] | None = None,
    step: Mapping[str, Real | str] | None = None,
    nulls: Mapping[str, bool] | None = None,
    types: Mapping[str, str] | None = None,
    rows_per_unit: int | Mapping[str, int] | None = None,
    groups_per_unit: int | Mapping[str, int | Mapping[str, int]] | None = None,
    arrival: str | Mapping[str, str] | None = None,
    key: str | Mapping[str, str] | None = None,
    public: bool | Collection[str] = (),
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    accounting: Accounting | str = Accounting.BASIC,
    question_delta: Real | None = None,
    least_epsilon: Real | None = None,
    incident_suspends: Suspends | str | None = None,
    per: Per | str | None = None,
    months_per_unit: int | None = None,
    analysts: Mapping[str, Real | Mapping[str, Real]] | None = None,
    disjoint: Sequence[Sequence[str]] = (),
    series: Sequence[Mapping[str, object]] = (),
    version: str | None = None,
    row_choice: RowChoice | str | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    timeout: Real | None = None,
    name: str | None = None,
    ledger: str | Path | None = None,
) -> Curator:
    """Open data and return a curator, which answers SQL with noise until the budget is used up.

    `source` is a CSV, Parquet or DuckDB file, a data frame (also a lazy one of Polars), a relation
    or connection of DuckDB, or a dictionary of these by table name. What is lazy runs once, here.
    It can also be the address of a PostgreSQL or Spark server, a Spark session or a Spark data
    frame. Tables of a server stay there; `name`, `unit` and `public` say which tables are meant.

    If `source` is a catalog file (`discreet.toml`), everything is declared there. Otherwise each
    argument is a setting of the catalog, with the same name:

    - `epsilon` and `delta` are the total privacy budget, and `question_delta` the delta of a query
      that states none. `least_epsilon` is the smallest cost of a query. `analysts` has a cap for
      each analyst. `neighbours` and `accounting` choose the guarantee and how costs add up.
    - `unit` is the column that identifies the person, or "row". At most `rows_per_unit` rows of
      each are used; `row_choice` says whether they are chosen "once" or "per-query". Where it
      lowers the noise, each is counted in at most `groups_per_unit` groups: 3, or by table and
      column {"flights": {"carrier": 1}}. `arrival` is the column that says when a row came into
      the table. `key` is the primary key. Anyone may see the `public` tables.
    - `bounds`, `values`, `step`, `nulls` and `types` are dictionaries by column.
    - No unit has rows in two tables of a group in `disjoint`, so their costs are separate.
    - Each of `series` is a dictionary: a query that is released again at every tick of a clock.
    - With `per`="month", each month has the budget for itself: a query is charged to the months
      that it reads by `arrival`. What is protected is then a unit's data of one month. With
      `months_per_unit`, only a unit's first months are used, at most this many.
    - Saved answers belong to data of the same `version`; by default, to the same contents.
    - `memory_limit`, `threads` and `timeout` limit a query. If a query fails after its charge,
      `incident_suspends` says who is suspended: the "account" that ran it, or "all".

    `ledger` is the file or server for charges and answers: by default a file beside the catalog,
    else memory, so that the budget ends with the process.
    """
    arguments = {each: given for each, given in locals().items() if each in ARGUMENTS}
    _check_names(source, name, ledger)
    if isinstance(source, str | Path) and str(source).endswith(".toml"):
        _reject_arguments(name=name, **arguments)
        return open_catalog(source, ledger=ledger)
    if epsilon is None:
        rule = "is missing. discreet.open needs a total privacy budget, for example epsilon=1"
        raise ParameterError("epsilon", HIDDEN, rule)
    address = server_of(source)
    if not names_tables(source):
        sources = sources_by_name(cast("DataSource | Mapping[str, DataSource]", source), name)
    else:
        tables = tables_named(name, unit, public)
        sources = {**tables.tables}
        arguments |= {"unit": tables.unit, "public": tables.public}
    files = {
        each: str(path) if isinstance(path, str | Path) else None for each, path in sources.items()
    }
    engine = None if address is None else public_address(address)
    declared = declare(files, engine=engine, **arguments)
    place = ledger or MEMORY
    opening = Opening(address=address, digests=digests_for(place))
    return curator_of(declared, sources, place, opening)


def _check_names(source: object, name: object, ledger: object) -> None:
    """Check names of tables and the location of the ledger before anything is read."""
    if name is not None:
        plain_text("name", name, what="must be the name of a table")
    for each in source if isinstance(source, Mapping) else ():
        plain_text("source", each, what="must have names of tables as text")
    if ledger is None:
        return
    place = str(ledger) if isinstance(ledger, Path) else ledger
    plain_text("ledger", place, what="must be the path of a file, or an address")


def _reject_arguments(**given: object) -> None:
    """Reject arguments beside a catalog file, unless they have their default value."""
    parameters = inspect.signature(open).parameters
    for name, value in given.items():
        default = parameters[name].default
        is_constant = default is None or isinstance(default, Enum)
        if (value is not default) if is_constant else bool(value):
            raise ParameterError(name, value, "is declared in the catalog: change it there")


# --------------------------------------------------------------------------- catalog files


def open_catalog(
    path: str | Path,
    *,
    ledger: str | Path | None = None,
    declared: Declaration | None = None,
    new_version: NewVersion = NewVersion.ACCEPT,
    progress: Progress | None = None,
) -> Curator:
    """Open the data of a catalog file. `declared` is the declaration, if it was read before.

    With `NewVersion.REJECT`, data that changed since the last charge are not opened.
    """
    declared = declared or read(path)
    place = ledger or ledger_of(path, declared)
    opening = Opening(
        copy=copy_of(path),
        address=sources_address(path, declared),
        digests=digests_for(place, progress),
        new_version=new_version,
    )
    return curator_of(declared, catalog_sources(declared), place, opening)


def sources_address(path: str | Path, declared: Declaration) -> str | None:
    """Return the address of the server of the tables; reject tables without any source."""
    address = address_of(path, declared)
    for each in declared.tables:
        if each.source is None and address is None:
            raise each.location.invalid("has no source", 'Add from = "FILE.csv"')
    return address


def open_to_measure(path: str | Path, *, declared: Declaration) -> Curator:
    """Open the data of a catalog whose contribution limits may be yet to be found.

    Rows of units are then measured the same as under any limit. Nothing else should be asked.
    """
    tables = (
        replace(each, rows_per_unit=1) if isinstance(each.rows_per_unit, Auto) else each
        for each in declared.tables
    )
    return open_catalog(path, declared=replace(declared, tables=tuple(tables)))


def open_for_ticks(
    path: str | Path,
    *,
    declared: Declaration,
    ledger: str | Path | None = None,
    progress: Progress | None = None,
) -> Curator:
    """Open the data of a catalog as they are now, to release ticks of its series.

    A tick chooses the rows of a unit itself, so that no table is prepared for it.
    """
    source = replace(declared.source, row_choice=RowChoice.PER_QUERY)
    return open_catalog(
        path,
        declared=replace(declared, source=source),
        ledger=ledger,
        new_version=NewVersion.LEAVE,
        progress=progress,
    )


def catalog_sources(declared: Declaration) -> dict[str, DataSource]:
    """Return the sources of a catalog's tables by name."""
    return {each.name: each.source or each.name for each in declared.tables}


def rows_guessed_from(source: str | Path) -> int | None:
    """Return the most rows that types of a file are guessed from; None if the file has types."""
    return GUESSED_FROM if is_csv(source) else None


def read_columns(source: str | Path) -> dict[str, tuple[Column, ...]]:
    """Return the columns of each table in a file: names and types, and nothing about values.

    A CSV file has no types: they are guessed from its first rows, and only these are read.
    """
    sources = sources_by_name(source, None)
    if is_csv(source):
        return dict.fromkeys(sources, csv_columns(source, GUESSED_FROM))
    with closing(DuckDbEngine.load(sources)) as engine:
        return {name: engine.columns(name) for name in sources}


# --------------------------------------------------------------------------- the curator


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How data are opened: from where, and what is done about their version."""

    copy: Path | None = None
    """Where a prepared copy of the tables may be."""
    address: "str | Session | None" = None
    """The server or session that keeps the tables."""
    digests: FileDigests = field(default_factory=FileDigests)
    new_version: NewVersion = NewVersion.ACCEPT


def digests_for(ledger: str | Path, progress: Progress | None = None) -> FileDigests:
    """Return the digests of files, cached beside a ledger that is a file."""
    has_cache = ledger != MEMORY and not is_on_server(ledger)
    return FileDigests(cache_of(ledger) if has_cache else None, progress)


def curator_of(
    declared: Declaration,
    sources: Mapping[str, DataSource],
    ledger: str | Path,
    opening: Opening | None = None,
) -> Curator:
    """Return a curator of declared tables: on a server, in a prepared copy, or loaded now."""
    for each in declared.tables:
        known_limit(each)  # rejected before anything is read
    opening = opening or Opening()
    version, engine = engine_for(declared, sources, opening)

    def open_ledger() -> tuple[Ledger, DataVersion]:
        return _ledger_for(declared, sources, version, ledger, opening)

    return curator_over(declared, engine, open_ledger)


def curator_over(
    declared: Declaration,
    engine: DuckDbEngine | TableEngine,
    open_ledger: Callable[[], tuple[Ledger, DataVersion]],
) -> Curator:
    """Return a curator over an engine, which is closed if the ledger cannot be opened."""
    try:
        catalog = prepared_in(_as_held(resolve(declared, engine.columns), engine), engine)
        public = _public_store(catalog, engine)
        opened, version = open_ledger()
        return Curator(
            catalog=catalog,
            engine=engine,
            public=public,
            ledger=opened,
            data_version=version,
            owns_public=True,
        )
    except BaseException:
        engine.close()
        raise


def _ledger_for(
    declared: Declaration,
    sources: Mapping[str, DataSource],
    version: Version,
    place: str | Path,
    opening: Opening,
) -> tuple[Ledger, DataVersion]:
    """Open the ledger; return it with the data version as it is named there.

    Warn if another ledger is about the same data.
    """
    if place == MEMORY:
        return ledger_at(place, declared), version_in_memory(version)
    where = None if opening.address is None else public_address(opening.address)
    # A table that grows has other contents at every tick: only where it is is noted then.
    contents = {} if opening.new_version is NewVersion.LEAVE else version.contents
    prints = prints_of(declared, sources, contents, where)
    ledger = ledger_at(place, declared, prints)
    try:
        if not is_synthetic(declared, version.contents):
            register(without_password(str(place)) if is_on_server(place) else Path(place), prints)
        opening.digests.save()
        return ledger, note_version(version, ledger, opening.new_version)
    except BaseException:
        ledger.close()
        raise


def engine_for(
    declared: Declaration,
    sources: Mapping[str, DataSource],
    opening: Opening,
) -> tuple[Version, DuckDbEngine | TableEngine]:
    """Open the data; return their version and the engine."""
    copy, digests = opening.copy, opening.digests
    if opening.address is not None:
        return open_on_server(declared, sources, opening.address, copy)
    found = from_copy(declared, sources, copy, digests)
    return found or load_files(declared, sources, digests)


def _as_held(catalog: Catalog, engine: DuckDbEngine | TableEngine) -> Catalog:
    """Return the catalog, with public tables on a server marked as ones that may change."""
    if isinstance(engine, DuckDbEngine):
        return catalog
    tables = (
        replace(each, may_change=True) if isinstance(each, PublicTable) else each
        for each in catalog.tables
    )
    return replace(catalog, tables=tuple(tables))


def prepared_in(catalog: Catalog, engine: DuckDbEngine | TableEngine) -> Catalog:
    """Choose the rows within the contribution limit, unless each query does that itself.

    Tables on a server are not prepared here. The owner may have prepared them before.
    """
    if catalog.source.row_choice is not RowChoice.ONCE:
        return catalog
    prepared = as_prepared(catalog)
    if isinstance(engine, DuckDbEngine):
        if not engine.is_prepared:
            engine.prepare(scans_to_prepare(prepared))
        return prepared
    is_prepared = isinstance(engine, PreparingEngine) and engine.is_prepared
    per_query = replace(catalog.source, row_choice=RowChoice.PER_QUERY)
    return prepared if is_prepared else replace(catalog, source=per_query)


def _public_store(catalog: Catalog, engine: DuckDbEngine | TableEngine) -> PublicStore:
    names = [each.name for each in catalog.tables if isinstance(each, PublicTable)]
    return PublicStore({name: engine.table(name) for name in names})
