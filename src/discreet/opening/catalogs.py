"""From what is declared to a curator: the engine that holds the tables, and the books."""

from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4
from warnings import warn

from discreet.books import Earlier, budget_from
from discreet.catalog import Catalog, Column, PublicTable, complete, read
from discreet.catalog.addresses import EMBEDDED, without_password
from discreet.catalog.declared import Declared
from discreet.catalog.policy import RowChoice
from discreet.curator import Curator
from discreet.engines.base import Holder
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.forms import Preparing
from discreet.engines.loading import Source, csv_columns, files_of, is_csv
from discreet.engines.preparing import as_prepared, scans_to_prepare
from discreet.engines.public import PublicStore
from discreet.engines.spark.tables import Session
from discreet.engines.unplugged import UnpluggedEngine
from discreet.errors import CatalogError, DiscreetWarning, SourceError
from discreet.ledger import Ledger, SqliteLedger, is_on_server
from discreet.opening.copies import copy_of, from_copy
from discreet.opening.files import Version, loaded, named
from discreet.opening.ledgers import ledger_at, ledger_of
from discreet.opening.registry import prints_of, register
from discreet.opening.servers import address_of, held, shown

MEMORY = ":memory:"

GUESSED_FROM = 1000
"""Rows of a CSV file that types are guessed from."""


def rows_guessed_from(source: str | Path) -> int | None:
    """Return how many rows of a file its types are guessed from at most; None if it says them."""
    return GUESSED_FROM if is_csv(source) else None


def open_catalog(
    path: str | Path, *, ledger: str | Path | None = None, declared: Declared | None = None
) -> Curator:
    """Return a curator of what a catalog file declares; `declared` if it was read before."""
    declared = declared or read(path)
    place = ledger or ledger_of(path, declared)
    address = address_of(path, declared)
    for each in declared.tables:
        if each.source is None and address is None:
            raise each.place.refused("says not where it is read from", 'add from = "file.csv"')
    sources = {each.name: each.source or each.name for each in declared.tables}
    return curator_of(declared, sources, place, copy_of(path), address)


def open_unplugged(path: str | Path, *, declared: Declared | None = None) -> Curator:
    """Return a curator that can explain what a catalog allows to ask, without the private data.

    Public tables are read if they are there. The books are not opened.
    """
    declared = declared or read(path)
    if declared.source.engine != EMBEDDED:
        return open_catalog(path, ledger=MEMORY, declared=declared)
    sources = _public_sources(declared)
    with closing(DuckDbEngine.load(sources)) as engine:
        try:
            catalog = complete(declared, lambda name: _columns_at_hand(declared, engine, name))
        except CatalogError:
            return open_catalog(path, ledger=MEMORY, declared=declared)
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


def read_columns(source: str | Path) -> dict[str, tuple[Column, ...]]:
    """Return the columns of each table of a file, by its name; of values, only types are told.

    A CSV file does not say its types: they are guessed from its first rows, which are all it reads.
    """
    sources = named(source, None)
    if is_csv(source):
        return dict.fromkeys(sources, csv_columns(source, GUESSED_FROM))
    with closing(DuckDbEngine.load(sources)) as engine:
        return {name: engine.columns(name) for name in sources}


def _public_sources(declared: Declared) -> dict[str, str]:
    """Return where the public tables are that can be read now."""
    found = {}
    for each in declared.tables:
        if each.unit is None and each.source is not None:
            with suppress(SourceError):
                files_of(each.source)
                found[each.name] = each.source
    return found


def curator_of(
    declared: Declared,
    sources: Mapping[str, Source],
    ledger: str | Path,
    copy: Path | None = None,
    address: "str | Session | None" = None,
) -> Curator:
    """Return a curator of declared tables: on a server, in a prepared copy, or read now."""
    version, engine = _opened(declared, sources, copy, address)
    try:
        catalog = prepared_in(_as_held(complete(declared, engine.columns), engine), engine)
        public = _public_store(catalog, engine)
        books, called = _books_of(declared, sources, version, ledger, address)
        return Curator(
            catalog=catalog,
            engine=engine,
            public=public,
            ledger=books,
            data_version=called,
            earlier=None if version.earlier is None else Earlier(data_version=version.earlier),
        )
    except BaseException:
        engine.close()
        raise


def _books_of(
    declared: Declared,
    sources: Mapping[str, Source],
    version: Version,
    place: str | Path,
    address: "str | Session | None",
) -> tuple[Ledger, str]:
    """Return the ledger, which notes what it is about, and what the data are called in it.

    Warn if another ledger is about the same.
    """
    if place == MEMORY:
        return ledger_at(place, declared), version.text
    where = None if address is None else shown(address)
    prints = prints_of(declared, sources, version.contents, where)
    ledger = ledger_at(place, declared, prints)
    try:
        register(without_password(str(place)) if is_on_server(place) else Path(place), prints)
        return ledger, _called(version, ledger)
    except BaseException:
        ledger.close()
        raise


def _called(version: Version, ledger: Ledger) -> str:
    """Return what the data are called in the ledger: nobody who reads it can check a guess."""
    if version.is_declared:
        return version.text
    keyed = ledger.keyed(version.text)
    if keyed is not None:
        return keyed
    warn(
        "the role may not read the ledger's key, so that releases are called as older versions of "
        "Discreet called them; grant it SELECT on the table secret beside the ledger's entries.",
        DiscreetWarning,
        stacklevel=2,
    )
    return version.earlier or uuid4().hex


def _opened(
    declared: Declared,
    sources: Mapping[str, Source],
    copy: Path | None,
    address: "str | Session | None",
) -> tuple[Version, DuckDbEngine | Holder]:
    """Return the data's version and the engine that holds them: a server's, or that of files."""
    if address is not None:
        return held(declared, sources, address, copy)
    return from_copy(declared, sources, copy) or loaded(declared, sources)


def _as_held(catalog: Catalog, engine: DuckDbEngine | Holder) -> Catalog:
    """Return the catalog with public tables that may change, if they stay on a server."""
    if isinstance(engine, DuckDbEngine):
        return catalog
    tables = (
        replace(each, may_change=True) if isinstance(each, PublicTable) else each
        for each in catalog.tables
    )
    return replace(catalog, tables=tuple(tables))


def prepared_in(catalog: Catalog, engine: DuckDbEngine | Holder) -> Catalog:
    """Settle which rows of each unit count, unless every question shall do so by itself.

    On a server nothing is made: the owner may have had it prepared.
    """
    if catalog.source.bounding is not RowChoice.PREPARED:
        return catalog
    prepared = as_prepared(catalog)
    if isinstance(engine, DuckDbEngine):
        if not engine.is_prepared:
            engine.prepare(scans_to_prepare(prepared))
        return prepared
    is_prepared = isinstance(engine, Preparing) and engine.is_prepared
    per_query = replace(catalog.source, bounding=RowChoice.PER_QUERY)
    return prepared if is_prepared else replace(catalog, source=per_query)


def _public_store(catalog: Catalog, engine: DuckDbEngine | Holder) -> PublicStore:
    names = [each.name for each in catalog.tables if isinstance(each, PublicTable)]
    return PublicStore({name: engine.table(name) for name in names})
