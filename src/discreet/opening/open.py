"""`discreet.open`: from files, data frames, servers or a catalog file to a curator."""

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import ParamSpec, TypeVar, cast
from uuid import uuid4
from warnings import warn

from discreet.catalog import Accounting, Auto, Catalog, Column, PublicTable, RowChoice, Value
from discreet.catalog.arguments import ARGUMENTS, declare
from discreet.catalog.catalog import Suspends, budget_from
from discreet.catalog.declaration import Declaration
from discreet.catalog.resolve import read, resolve
from discreet.catalog.sources import EMBEDDED, without_password
from discreet.curator import Curator
from discreet.engines.base import PreparingEngine, TableEngine, as_prepared, scans_to_prepare
from discreet.engines.duckdb import DuckDbEngine, ExplainOnlyEngine
from discreet.engines.duckdb.loading import DataSource, csv_columns, files_of, is_csv
from discreet.engines.public_store import PublicStore
from discreet.engines.spark.tables import Session, SparkFrame
from discreet.errors import HIDDEN, CatalogError, DiscreetWarning, ParameterError, SourceError
from discreet.ledger import Ledger, SqliteLedger, is_on_server
from discreet.mechanisms.sensitivity import Neighbours
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
from discreet.parameters import Real, plain_text
from discreet.reuse import Earlier

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
    step: Mapping[str, Real] | None = None,
    nulls: Mapping[str, bool] | None = None,
    types: Mapping[str, str] | None = None,
    rows_per_unit: int | Mapping[str, int] | None = None,
    groups_per_unit: int | Mapping[str, int | Mapping[str, int]] | None = None,
    key: str | Mapping[str, str] | None = None,
    public: bool | Collection[str] = (),
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    accounting: Accounting | str = Accounting.BASIC,
    question_delta: Real | None = None,
    least_epsilon: Real | None = None,
    incident_suspends: Suspends | str | None = None,
    analysts: Mapping[str, Real | Mapping[str, Real]] | None = None,
    disjoint: Sequence[Sequence[str]] = (),
    version: str | None = None,
    row_choice: RowChoice | str | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    timeout: Real | None = None,
    name: str | None = None,
    ledger: str | Path | None = None,
) -> Curator:
    """Open data and return a curator, which answers SQL with noise until the budget is used up.

    `source` is a CSV, Parquet or DuckDB file, a data frame, or a dictionary of these by table name.
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
      column {"flights": {"carrier": 1}}. `key` is the primary key. Anyone may see the `public`
      tables.
    - `bounds`, `values`, `step`, `nulls` and `types` are dictionaries by column.
    - No unit has rows in two tables of a group in `disjoint`, so their costs are separate.
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
    return curator_of(declared, sources, ledger or MEMORY, address=address)


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
    path: str | Path, *, ledger: str | Path | None = None, declared: Declaration | None = None
) -> Curator:
    """Open the data of a catalog file. `declared` is the declaration, if it was read before."""
    declared = declared or read(path)
    place = ledger or ledger_of(path, declared)
    address = address_of(path, declared)
    for each in declared.tables:
        if each.source is None and address is None:
            raise each.location.invalid("has no source", 'Add from = "FILE.csv"')
    sources = {each.name: each.source or each.name for each in declared.tables}
    return curator_of(declared, sources, place, copy_of(path), address)


def open_unplugged(path: str | Path, *, declared: Declaration | None = None) -> Curator:
    """Return a curator that can explain queries on a catalog, without opening the private data.

    Public tables are read if they are there. The ledger is not opened.
    """
    declared = declared or read(path)
    if declared.source.engine != EMBEDDED:
        return open_catalog(path, ledger=MEMORY, declared=declared)
    sources = _public_sources(declared)
    with closing(DuckDbEngine.load(sources)) as engine:
        try:
            catalog = resolve(declared, lambda name: _columns_at_hand(declared, engine, name))
        except CatalogError:
            return open_catalog(path, ledger=MEMORY, declared=declared)
        if catalog.source.row_choice is RowChoice.ONCE:
            catalog = as_prepared(catalog)
        public = PublicStore({name: engine.table(name) for name in sources})
    return Curator(
        catalog=catalog,
        engine=ExplainOnlyEngine(),
        public=public,
        ledger=SqliteLedger(MEMORY, budget=budget_from(catalog.budget)),
    )


def _columns_at_hand(declared: Declaration, engine: DuckDbEngine, name: str) -> tuple[Column, ...]:
    """Return the columns of a table: from the data if it was loaded, else as declared."""
    with suppress(SourceError):
        return engine.columns(name)
    (table,) = (each for each in declared.tables if each.name == name)
    found = [(each.name, each.kind) for each in table.columns]
    columns = tuple(Column(name=column, kind=kind) for column, kind in found if kind is not None)
    if not columns or len(columns) < len(found):
        raise table.location.invalid("has columns without a type", "Declare all types")
    return columns


def _public_sources(declared: Declaration) -> dict[str, str]:
    """Return the sources of the public tables that exist now."""
    found = {}
    for each in declared.tables:
        if each.unit is None and each.source is not None:
            with suppress(SourceError):
                files_of(each.source)
                found[each.name] = each.source
    return found


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


def curator_of(
    declared: Declaration,
    sources: Mapping[str, DataSource],
    ledger: str | Path,
    copy: Path | None = None,
    address: "str | Session | None" = None,
) -> Curator:
    """Return a curator of declared tables: on a server, in a prepared copy, or loaded now."""
    version, engine = _engine_for(declared, sources, copy, address)
    try:
        catalog = prepared_in(_as_held(resolve(declared, engine.columns), engine), engine)
        public = _public_store(catalog, engine)
        opened, called = _ledger_for(declared, sources, version, ledger, address)
        return Curator(
            catalog=catalog,
            engine=engine,
            public=public,
            ledger=opened,
            data_version=called,
            earlier=None if version.earlier is None else Earlier(data_version=version.earlier),
        )
    except BaseException:
        engine.close()
        raise


def _ledger_for(
    declared: Declaration,
    sources: Mapping[str, DataSource],
    version: Version,
    place: str | Path,
    address: "str | Session | None",
) -> tuple[Ledger, str]:
    """Open the ledger; return it with the name that the data version has in it.

    Warn if another ledger is about the same data.
    """
    if place == MEMORY:
        return ledger_at(place, declared), version.text
    where = None if address is None else public_address(address)
    prints = prints_of(declared, sources, version.contents, where)
    ledger = ledger_at(place, declared, prints)
    try:
        if not is_synthetic(declared, version.contents):
            register(without_password(str(place)) if is_on_server(place) else Path(place), prints)
        return ledger, _version_in(version, ledger)
    except BaseException:
        ledger.close()
        raise


def _version_in(version: Version, ledger: Ledger) -> str:
    """Return the data version for the ledger, keyed so that a reader cannot check guesses."""
    if version.is_declared:
        return version.text
    keyed = ledger.keyed(version.text)
    if keyed is not None:
        return keyed
    warn(
        "The role may not read the ledger's key, so data versions are named as in older releases "
        "of Discreet. Grant it SELECT on the table secret beside the ledger's entries.",
        DiscreetWarning,
        stacklevel=2,
    )
    return version.earlier or uuid4().hex


def _engine_for(
    declared: Declaration,
    sources: Mapping[str, DataSource],
    copy: Path | None,
    address: "str | Session | None",
) -> tuple[Version, DuckDbEngine | TableEngine]:
    """Open the data; return their version and the engine."""
    if address is not None:
        return open_on_server(declared, sources, address, copy)
    return from_copy(declared, sources, copy) or load_files(declared, sources)


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
