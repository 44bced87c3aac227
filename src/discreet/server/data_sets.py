"""Data sets that owners add on the page: written, checked, opened and served.

A data set is a folder with a catalog and its ledger. The catalog gets its name last: a folder
without one is what a crash left, and the next data set of that name replaces it.
"""

import fcntl
import logging
import os
import shutil
import stat
from asyncio import Lock
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from discreet.catalog.resolve import read, resolve
from discreet.errors import CatalogError, DiscreetError, ParameterError
from discreet.explanation.coverage import Coverage
from discreet.opening import LEDGER_SUFFIX
from discreet.opening.private_draft import TYPICAL_PART
from discreet.server.callers import Caller
from discreet.server.data_drafts import Declared, catalog_checks, text_of
from discreet.server.data_places import DataPlace, DataPlaces, covered_by, places_from
from discreet.server.faults import CallError
from discreet.server.settings import Settings
from discreet.server.sites import CATALOG_FILE, NAME, Site, added_catalogs, open_site

log = logging.getLogger("discreet.server")

DRAFT_FILE = "draft.toml"
"""What a catalog is called until all is done."""

OFF = CallError(
    status=403,
    code="adding_is_off",
    what="Adding data on the page is turned off on this server",
    fix="The administrator turns it on: add_data_from and catalog_folder in the server's settings",
)
NOT_OFFERED = CallError(
    status=404,
    code="not_offered",
    what="These data are not among those that can be added here",
    fix="GET /v1/datasets/sources lists them",
)
"""The same for what does not exist and for what is not allowed."""

NOT_AS_DECLARED = CallError(
    status=422,
    code="unreadable_data",
    what="These data cannot be opened as declared",
    fix="Check the types, above all that of the column that identifies whom you protect. The log "
    "of the server has the reason",
)
"""Says nothing about the data: which value does not fit is in the log alone."""

TAKEN = CallError(
    status=409,
    code="name_taken",
    what="Another data set has this name",
    fix="Choose another name",
)
IN_USE = CallError(
    status=409,
    code="data_in_use",
    what="These data are in another data set of this server already",
    fix="Use that one. Two budgets for the same data would add up",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDataSet:
    """A data set to be added."""

    name: str
    place: DataPlace
    declared: Declared
    find: Fraction | None = None
    """How much of the budget is spent to find the best contribution limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedDataSet:
    """A data set that was added, and the limit that was found privately, if one was asked for."""

    site: Site
    rows_per_unit: int | None
    measured: Coverage | None = None
    is_found: bool = False


@dataclass(slots=True)
class DataSets:
    """Adds data sets to those that are served."""

    settings: Settings
    sites: dict[str, Site]
    """All that are served; what is added is put here."""
    added: list[Site] = field(default_factory=list)
    places: DataPlaces = field(init=False)
    """The data that can be added."""
    turn: Lock = field(default_factory=Lock)
    """Whoever adds waits for it, so that no more than one thread does."""

    def __post_init__(self) -> None:
        self.places = places_from("add_data_from", self.settings.add_data_from)

    @property
    def is_on(self) -> bool:
        """Whether the administrator lets owners add data."""
        return bool(self.settings.add_data_from) and self.settings.catalog_folder is not None

    def place(self, file: str | None, address: str | None, table: str | None) -> DataPlace:
        """Return the data that a caller chose, or reject them."""
        if not self.is_on:
            raise OFF
        found = None
        if file is not None and address is None and table is None:
            found = self.places.file(file)
        elif file is None and address is not None and table is not None:
            found = self.places.table(address, table)
        if found is None:
            raise NOT_OFFERED
        return found

    def covered(self) -> frozenset[str]:
        """Return what stands for the data that are served now."""
        return frozenset().union(*(each.covered() for each in list(self.sites.values())))

    def close(self) -> None:
        """Close what was added since the server began."""
        for each in self.added:
            each.close()
        self.added.clear()

    # ----------------------------------------------------------------------- adding

    def add(self, owner: Caller, new: NewDataSet) -> AddedDataSet:
        """Add a data set. Its caller becomes its owner: the same account, the same token."""
        name = new.name
        if not NAME.fullmatch(name):
            rule = "must be small letters, digits, - and _, and begin and end with no sign"
            raise ParameterError("name", name, rule)
        with self._alone() as folder:
            if name in self.sites or (folder / name / CATALOG_FILE).exists():
                raise TAKEN
            if not new.place.marks.isdisjoint(self.covered() | _covered_in(folder)):
                raise IN_USE
            own = folder / name
            if not _is_left_by_crash(own):
                raise TAKEN
            shutil.rmtree(own, ignore_errors=True)
            own.mkdir(mode=0o700)
            try:
                found = _made(own, owner, new, self.settings.audit_file)
            except BaseException:
                shutil.rmtree(own, ignore_errors=True)
                raise
            self.added.append(found.site)
            self.sites[name] = found.site
            return found

    @contextmanager
    def _alone(self) -> Iterator[Path]:
        """Keep other processes from adding at the same time."""
        if self.settings.catalog_folder is None:
            raise OFF
        folder = made_folder(self.settings.catalog_folder)
        handle = os.open(folder / ".lock", os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield folder
        finally:
            os.close(handle)


def _covered_in(folder: Path) -> frozenset[str]:
    """Return what stands for data of added catalogs: another process may have added some."""
    found: frozenset[str] = frozenset()
    for path in added_catalogs(folder).values():
        with suppress(CatalogError):
            found |= covered_by(read(path))
    return found


def _is_left_by_crash(folder: Path) -> bool:
    """Return whether a folder without a catalog has a draft, or nothing: no ledger is in use."""
    is_empty = not folder.is_dir() or next(folder.iterdir(), None) is None
    return is_empty or (folder / DRAFT_FILE).exists()


def made_folder(folder: Path) -> Path:
    """Create the folder of added catalogs for this user only; reject one that others can change."""
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.stat()
    if state.st_uid != os.geteuid() or state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        rule = "must belong to the user who runs the server, and other users must not write to it"
        raise ParameterError("catalog_folder", str(folder), rule, "Run: chmod 700 on it")
    return folder.resolve()


def _made(folder: Path, owner: Caller, new: NewDataSet, audit_file: Path | None) -> AddedDataSet:
    """Write, check and open a data set; its catalog gets its name last."""
    draft, ledger = folder / DRAFT_FILE, (folder / CATALOG_FILE).with_suffix(LEDGER_SUFFIX)
    declared, measured, best = new.declared, None, None
    if new.find is not None and declared.unit is not None:
        _write(draft, replace(declared, rows_per_unit=1), new.place)
        measured = _measured(draft, ledger, declared.table, new.find)
        best = measured.best_rows_per_unit(declared.epsilon * TYPICAL_PART)
        declared = replace(declared, rows_per_unit=best or declared.rows_per_unit)
    _write(draft, declared, new.place)
    with _opening():
        site = open_site(new.name, draft, audit_file, ledger=ledger, is_added=True)
    try:
        _make_owner(site, owner)
        about = {"data_set": new.name, "source": new.place.label}
        site.records.log(owner.name, "add_data", "done", **about)
        draft.replace(folder / CATALOG_FILE)
        _sync(folder)
        _sync(folder.parent)
    except BaseException:
        site.close()
        raise
    return AddedDataSet(
        site=site,
        rows_per_unit=None if declared.unit is None else declared.rows_per_unit,
        measured=measured,
        is_found=best is not None,
    )


def _measured(draft: Path, ledger: Path, table: str, epsilon: Fraction) -> Coverage:
    """Measure rows of units; this is charged to the ledger of the new data set."""
    with _opening():
        site = open_site("draft", draft, ledger=ledger)
    with closing(site):
        return site.curator.coverage(table, epsilon=epsilon, columns=())


def _make_owner(site: Site, owner: Caller) -> None:
    """Make the caller the owner of a new data set, with the account that they have elsewhere."""
    owner.check_still()  # the call may have waited
    known = next(each for each in owner.site.ledger.analysts() if each.name == owner.name)
    site.ledger.declare_analyst(
        known.name, token_hash=known.token_hash, scram=known.scram, role="owner"
    )


@contextmanager
def _opening() -> Iterator[None]:
    """Tell what fails while data are read in fixed words: the reason may be in the data."""
    try:
        yield
    except DiscreetError as error:
        log.warning("data could not be opened: %s", type(error).__name__)
        log.info("why data could not be opened", exc_info=error)
        raise NOT_AS_DECLARED from None


def _write(file: Path, declared: Declared, place: DataPlace) -> None:
    """Write a catalog to the disk, and reject what catalogs reject. No data are read."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(file, flags, 0o600), "w", encoding="utf-8") as opened:
        opened.write(text_of(declared.sections(place.source, place.engine)))
        opened.flush()
        os.fsync(opened.fileno())
    with catalog_checks():
        resolve(read(file))


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
