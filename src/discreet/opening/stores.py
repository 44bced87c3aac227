"""What Discreet keeps for a catalog: its ledger and its prepared tables.

Prepared tables of files are a copy beside the catalog. Those of a server stay on the server.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from discreet.account_limits import LIMITS
from discreet.catalog import Column, RowChoice, RowUnit
from discreet.catalog.by_month import dated_tables
from discreet.catalog.catalog import budget_from
from discreet.catalog.declaration import Declaration
from discreet.catalog.resolve import read, resolve
from discreet.catalog.sources import ENVIRONMENT, is_spark
from discreet.engines.base import (
    PreparedTables,
    PreparingEngine,
    Progress,
    Scans,
    TableEngine,
    as_prepared,
    scans_to_prepare,
)
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb.added_files import is_listed
from discreet.engines.duckdb.copied import Copied, contents_in, earlier_of, key_of
from discreet.engines.duckdb.copies import forget_begun, forget_copy, make_copy, open_copy
from discreet.engines.duckdb.loading import DataSource
from discreet.engines.duckdb.store import Store
from discreet.engines.growth import Told, tell_nobody
from discreet.errors import CatalogError, SourceError
from discreet.ledger import Ledger, PerMonth, open_ledger
from discreet.ledger import is_on_server as is_ledger_on_server
from discreet.opening.bounding_key import bounding_key, kinds_of
from discreet.opening.contents import FileDigests
from discreet.opening.registry import at_hand, files_in
from discreet.opening.sources import (
    Version,
    address_of,
    contents_of,
    declared_version,
    earlier_version,
    forget_forms_at,
    form_of,
    from_environment,
    is_settled,
    limits_of,
    open_engine,
    state_of,
    version_from,
)

LEDGER_SUFFIX = ".ledger"
"""The ledger of discreet.toml is discreet.ledger, beside it."""

COPY_SUFFIX = ".prepared"
"""The prepared copy of the tables of discreet.toml is discreet.prepared, beside it."""

# --------------------------------------------------------------------------- the ledger


def ledger_place(path: str | Path, *, declared: Declaration | None = None) -> str | Path:
    """Return where the ledger of a catalog file is: as declared, else beside the catalog.

    A `Path` is a file; text is the address of a server.
    """
    return ledger_of(path, declared or read(path))


def open_books(
    path: str | Path, *, ledger: str | Path | None = None, declared: Declaration | None = None
) -> Ledger:
    """Open the ledger of a catalog file, or create it. Reads no data."""
    declared = declared or read(path)
    place = ledger or ledger_of(path, declared)
    return ledger_at(place, declared)


def per_month_of(declared: Declaration) -> PerMonth | None:
    """Return how the ledger of a catalog counts by month, if its budget is per month."""
    if declared.budget.per is None:
        return None
    return PerMonth(tables=dated_tables(declared.tables), most=declared.budget.months_per_unit)


def ledger_at(place: str | Path, declared: Declaration, data: Collection[str] = ()) -> Ledger:
    """Open the ledger at a place, with the analysts that the catalog declares.

    Charges of analysts stay, their tokens stay valid, and disabled analysts stay disabled. Limits
    that the catalog does not declare stay as they are.
    """
    policy = declared.budget
    ledger = open_ledger(
        place,
        budget=budget_from(policy),
        neighbours=policy.neighbours.value,
        disjoint=declared.disjoint,
        per_month=per_month_of(declared),
        data=data,
    )
    try:
        known = {each.name: each for each in ledger.analysts()}
        for each in declared.analysts:
            found = known.get(each.name)
            if found is None or (found.epsilon, found.delta) != (each.epsilon, each.delta):
                found = ledger.declare_cap(each.name, epsilon=each.epsilon, delta=each.delta)
            limits = {
                name: getattr(each, name) for name in LIMITS if getattr(each, name) is not None
            }
            if any(getattr(found, name) != limit for name, limit in limits.items()):
                ledger.declare_limits(each.name, **limits)
    except BaseException:
        ledger.close()
        raise
    return ledger


def ledger_of(path: str | Path, declared: Declaration) -> str | Path:
    """Return where the ledger of a catalog is: a path, or the address of a server."""
    named = declared.ledger
    if named is None:
        return Path(path).with_suffix(LEDGER_SUFFIX)
    if named.startswith(ENVIRONMENT):
        named = from_environment("ledger", named, path)
    return named if is_ledger_on_server(named) else Path(path).absolute().parent / named


# --------------------------------------------------------------------------- a prepared copy


def copy_of(path: str | Path) -> Path:
    """Return the path of the prepared copy of a catalog's tables. It need not exist."""
    return Path(path).with_suffix(COPY_SUFFIX)


def is_on_server(path: str | Path, *, declared: Declaration | None = None) -> bool:
    """Return whether the prepared tables of a catalog stay on the server of its tables."""
    address = address_of(path, declared or read(path))
    return address is not None and not is_spark(address)


def is_copy_outdated(path: str | Path, *, declared: Declaration | None = None) -> bool:
    """Return whether prepared tables exist that belong to other data or another catalog."""
    declared, copy = declared or read(path), copy_of(path)
    address = address_of(path, declared)
    if address is not None:
        return is_form_outdated(declared, address, copy)
    return copy.is_file() and key_of(copy) != copied_from(declared, declared.sources, copy).key


def prepare_catalog(
    path: str | Path, progress: Progress | None = None, told: Told = tell_nobody
) -> bool:
    """Prepare the tables of a catalog: in a copy beside it, or on their server.

    Where rows were only added since they were prepared last, only what is new is prepared; `told`
    hears what is done, and why. Return False if they were prepared already.
    """
    declared = read(path)
    if declared.source.row_choice is not RowChoice.ONCE:
        raise CatalogError(
            'source.row_choice is "per-query", so there is nothing to prepare',
            'Write row_choice = "once", or remove row_choice',
            file=str(path),
        )
    address, copy = address_of(path, declared), copy_of(path)
    if address is not None:
        return prepare_form(declared, address, copy, progress, told)
    with closing(Store(limits_of(declared.source))) as store:
        return _prepare_copy(declared, copy, store, progress, told)


def _prepare_copy(
    declared: Declaration, copy: Path, store: Store, progress: Progress | None, told: Told
) -> bool:
    sources = {name: at_hand(name, each) for name, each in declared.sources.items()}
    is_old, before = is_settled(sources), state_of(sources)
    earlier = earlier_of(copy, store.connection)
    held = () if earlier is None else tuple(one for of in earlier.files.values() for one in of)
    digests = FileDigests(progress=progress, earlier=held)
    copied = copied_from(declared, sources, digests=digests)
    if earlier is not None and earlier.key == copied.key:
        forget_begun(copy)
        return False

    def scans_of(columns: Mapping[str, tuple[Column, ...]]) -> Scans:
        return scans_to_prepare(as_prepared(resolve(declared, columns.__getitem__)))

    def is_same() -> bool:
        if state_of(sources) != before:
            return False
        again = FileDigests(earlier=held)
        return is_old or contents_of(sources, again) == json.loads(copied.contents)

    if not make_copy(
        copy,
        copied,
        scans_of,
        store=store,
        earlier=earlier,
        is_same=is_same,
        progress=progress,
        told=told,
    ):
        raise SourceError("A file changed while it was read. Run discreet prepare again.")
    return True


def forget_catalog(path: str | Path) -> bool:
    """Remove the prepared tables of a catalog; return whether there were any."""
    declared, copy = read(path), copy_of(path)
    address = address_of(path, declared)
    return forget_copy(copy) if address is None else forget_form(declared, address, copy)


def copied_from(
    declared: Declaration,
    sources: Mapping[str, DataSource],
    copy: Path | None = None,
    digests: FileDigests | None = None,
) -> Copied:
    """Return the description of a prepared copy: the files as they are now, and the chosen rows.

    Contents are read again unless the copy was made from files of the same paths, sizes and times.
    """
    state, digests = state_of(sources) if is_settled(sources) else "", digests or FileDigests()
    known = None if copy is None else contents_in(copy, state)
    contents = known or json.dumps(contents_of(sources, digests), sort_keys=True)
    files = {name: files_in(each) for name, each in sources.items() if is_listed(each)}
    read = digests.read
    return Copied(
        sources=sources,
        kinds=kinds_of(declared),
        version=version_from(json.loads(contents), None).text,
        declared=bounding_key(declared),
        state=state,
        contents=contents,
        files={
            name: tuple(read[each] for each in found)
            for name, found in files.items()
            if read.keys() >= {*found}
        },
        public=frozenset(each.name for each in declared.tables if each.unit is None),
        undivided=frozenset(
            each.name for each in declared.tables if isinstance(each.unit, RowUnit | None)
        ),
    )


def from_copy(
    declared: Declaration,
    sources: Mapping[str, DataSource],
    copy: Path | None,
    digests: FileDigests | None = None,
) -> tuple[Version, DuckDbEngine] | None:
    """Open the prepared copy, if there is one that is up to date; return version and engine."""
    is_wanted = declared.source.row_choice is RowChoice.ONCE
    if copy is None or not is_wanted or not copy.is_file():
        return None
    earlier = earlier_version(sources)
    copied = copied_from(declared, sources, copy, digests)
    if key_of(copy) != copied.key:
        return None
    store, columns = open_copy(copy, copied.key, limits_of(declared.source))
    is_same = earlier == earlier_version(sources)
    version = version_from(json.loads(copied.contents), earlier if is_same else None)
    engine = DuckDbEngine(store, columns, is_prepared=True)
    return declared_version(declared, version), engine


# --------------------------------------------------------------------------- on a server


def prepare_form(
    declared: Declaration,
    address: str,
    place: Path,
    progress: Progress | None = None,
    told: Told = tell_nobody,
) -> bool:
    """Prepare the tables of a catalog on their server; return False if that was done already.

    The role must be allowed to read the tables. Spark writes files to a folder beside the catalog.
    """
    form = _form(declared, place)
    with _engine_at(declared, address, None) as engine:
        if not isinstance(engine, PreparingEngine):
            raise SourceError(
                "Tables of this database cannot be prepared. Queries work without it."
            )
        catalog = as_prepared(resolve(declared, engine.columns))
        if not engine.prepare(form, scans_to_prepare(catalog), progress, told):
            return False
        with _engine_at(declared, address, form) as again:
            if not (isinstance(again, PreparingEngine) and again.is_prepared):
                raise SourceError("A table changed while it was read. Run discreet prepare again.")
    return True


def is_form_outdated(declared: Declaration, address: str, place: Path) -> bool:
    """Return whether prepared tables exist that belong to other data or another catalog."""
    if is_spark(address) and not place.is_dir():
        return False
    with _engine_at(declared, address, _form(declared, place)) as engine:
        return isinstance(engine, PreparingEngine) and engine.is_outdated


def forget_form(declared: Declaration, address: str, place: Path) -> bool:
    """Remove all prepared tables of a catalog; return whether there were any."""
    return forget_forms_at(address, _form(declared, place), limits_of(declared.source))


def _form(declared: Declaration, place: Path) -> PreparedTables:
    form = form_of(declared, _sources(declared), place)
    if form is None:
        raise SourceError("Data frames cannot be prepared. Name tables in a catalog.")
    return form


def _sources(declared: Declaration) -> dict[str, str]:
    return {each.name: each.source or each.name for each in declared.tables}


@contextmanager
def _engine_at(
    declared: Declaration, address: str, form: PreparedTables | None
) -> Iterator[TableEngine]:
    """Open an engine with all tables, and close it afterwards."""
    engine = open_engine(
        address,
        _sources(declared),
        public=[each.name for each in declared.tables if each.unit is None],
        kinds=kinds_of(declared),
        form=form,
        limits=limits_of(declared.source),
    )
    try:
        yield engine
    finally:
        engine.close()
