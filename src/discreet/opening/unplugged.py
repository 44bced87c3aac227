"""A catalog without its data: a curator that explains queries and answers none."""

from contextlib import closing, suppress
from pathlib import Path

from discreet.catalog import Column, RowChoice
from discreet.catalog.catalog import budget_from
from discreet.catalog.declaration import Declaration
from discreet.catalog.resolve import read, resolve
from discreet.catalog.sources import EMBEDDED
from discreet.curator import Curator
from discreet.engines.base import Progress, as_prepared
from discreet.engines.duckdb import DuckDbEngine, ExplainOnlyEngine
from discreet.engines.duckdb.file_lists import files_of
from discreet.engines.public_store import PublicStore
from discreet.errors import CatalogError, SourceError
from discreet.known_releases import DataVersion
from discreet.ledger import Ledger, SqliteLedger
from discreet.opening.contents import FileDigests
from discreet.opening.open import (
    MEMORY,
    Opening,
    catalog_sources,
    curator_over,
    digests_for,
    engine_for,
    sources_address,
)
from discreet.opening.sources import (
    Version,
    contents_of,
    declared_version,
    earlier_version,
    version_from,
)
from discreet.opening.stores import copy_of, ledger_of, per_month_of
from discreet.opening.versions import version_in, version_in_memory


def open_unplugged(
    path: str | Path,
    *,
    declared: Declaration | None = None,
    ledger: Ledger | None = None,
    version: DataVersion | None = None,
    progress: Progress | None = None,
) -> Curator:
    """Return a curator that can explain queries on a catalog, without opening the private data.

    Public tables are read if they are there. With a ledger, explanations know what is saved in it:
    for that, files are read to recognize their contents, unless the cache knows them or a
    `version` is given. Nothing is written to the ledger, and the curator closes it.
    """
    declared = declared or read(path)
    place = MEMORY if ledger is None else ledger_of(path, declared)
    held = ledger or SqliteLedger(
        MEMORY, budget=budget_from(declared.budget), per_month=per_month_of(declared)
    )
    try:
        digests = digests_for(place, progress)
        curator = _unplugged(path, declared, held, digests, version)
    except BaseException:
        held.close()
        raise
    digests.save()
    return curator


def _unplugged(
    path: str | Path,
    declared: Declaration,
    ledger: Ledger,
    digests: FileDigests,
    version: DataVersion | None,
) -> Curator:
    if declared.source.engine != EMBEDDED:
        return _with_ledger(path, declared, ledger, digests)
    sources = _public_sources(declared)
    with closing(DuckDbEngine.load(sources)) as engine:
        try:
            catalog = resolve(declared, lambda name: _columns_at_hand(declared, engine, name))
        except CatalogError:
            return _with_ledger(path, declared, ledger, digests)
        if catalog.source.row_choice is RowChoice.ONCE:
            catalog = as_prepared(catalog)
        public = PublicStore({name: engine.table(name) for name in sources})
    return Curator(
        catalog=catalog,
        engine=ExplainOnlyEngine(),
        public=public,
        ledger=ledger,
        data_version=version or _unplugged_version(declared, ledger, digests),
    )


def _with_ledger(
    path: str | Path, declared: Declaration, ledger: Ledger, digests: FileDigests
) -> Curator:
    """Open the data of a catalog with a ledger that is only read."""
    address = sources_address(path, declared)
    opening = Opening(copy=copy_of(path), address=address, digests=digests)
    sources = catalog_sources(declared)
    version, engine = engine_for(declared, sources, opening)
    return curator_over(declared, engine, lambda: (ledger, _version_read(version, ledger)))


def _unplugged_version(declared: Declaration, ledger: Ledger, digests: FileDigests) -> DataVersion:
    """Return the version of the files of a catalog, as far as it can be known without opening."""
    sources = declared.sources
    found = Version(text="")
    if declared.source.version is None and not _is_in_memory(ledger):
        try:
            found = version_from(contents_of(sources, digests), earlier_version(sources))
        except SourceError:  # the data are elsewhere, so nothing saved is recognized
            return DataVersion()
    return _version_read(declared_version(declared, found), ledger)


def _version_read(version: Version, ledger: Ledger) -> DataVersion:
    """Return the version as a ledger names it. One in memory has no key, and nothing saved."""
    is_new = _is_in_memory(ledger)
    return version_in_memory(version) if is_new else version_in(version, ledger)


def _is_in_memory(ledger: Ledger) -> bool:
    return isinstance(ledger, SqliteLedger) and ledger.keyed("") is None


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
