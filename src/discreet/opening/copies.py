"""The prepared copy beside a catalog: made, used while it is of the same data, forgotten."""

import json
from collections.abc import Mapping
from pathlib import Path

from discreet.catalog import Column, complete, read
from discreet.catalog.addresses import is_spark
from discreet.catalog.declared import Declared
from discreet.catalog.policy import RowChoice
from discreet.engines.copies import (
    Copied,
    contents_in,
    forget_copy,
    key_of,
    make_copy,
    open_copy,
)
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.loading import Source
from discreet.engines.preparing import Progress, Scans, as_prepared, scans_to_prepare
from discreet.errors import CatalogError, SourceError
from discreet.opening.files import (
    Version,
    contents_of,
    declared_version,
    earlier_version,
    is_settled,
    kinds_of,
    limits_of,
    limits_told,
    state_of,
    version_from,
)
from discreet.opening.forms import forget_form, is_form_outdated, prepare_form
from discreet.opening.servers import address_of

COPY_SUFFIX = ".prepared"
"""The prepared copy of what discreet.toml declares is discreet.prepared, beside it."""


def copy_of(path: str | Path) -> Path:
    """Return where the prepared copy of a catalog's tables is, if it was made."""
    return Path(path).with_suffix(COPY_SUFFIX)


def is_on_server(path: str | Path, *, declared: Declared | None = None) -> bool:
    """Return whether what is prepared of a catalog's tables stays on the server that has them."""
    address = address_of(path, declared or read(path))
    return address is not None and not is_spark(address)


def is_copy_outdated(path: str | Path, *, declared: Declared | None = None) -> bool:
    """Return whether there is a prepared copy that is not of what catalog and data are now."""
    declared, copy = declared or read(path), copy_of(path)
    address = address_of(path, declared)
    if address is not None:
        return is_form_outdated(declared, address, copy)
    return copy.is_file() and key_of(copy) != copied_from(declared, declared.sources, copy).key


def prepare_catalog(path: str | Path, progress: Progress | None = None) -> bool:
    """Make the prepared copy of a catalog's tables, beside it or on the server that holds them.

    Return False if it was there.
    """
    declared = read(path)
    if declared.source.bounding is not RowChoice.PREPARED:
        raise CatalogError(
            'source.bounding is "per-query", so nothing is prepared',
            'write bounding = "prepared", or leave it out',
            file=str(path),
        )
    address = address_of(path, declared)
    if address is not None:
        return prepare_form(declared, address, copy_of(path), progress)
    before = state_of(declared.sources)
    copied = copied_from(declared, declared.sources)
    if key_of(copy_of(path)) == copied.key:
        return False

    def scans_of(columns: Mapping[str, tuple[Column, ...]]) -> Scans:
        return scans_to_prepare(as_prepared(complete(declared, columns.__getitem__)))

    make_copy(copy_of(path), copied, scans_of, limits=limits_of(declared.source), progress=progress)
    if state_of(declared.sources) != before:
        forget_catalog(path)
        raise SourceError("a file changed while it was read; prepare it again.")
    return True


def forget_catalog(path: str | Path) -> bool:
    """Remove the prepared copy of a catalog's tables; return whether there was one."""
    declared, copy = read(path), copy_of(path)
    address = address_of(path, declared)
    return forget_copy(copy) if address is None else forget_form(declared, address, copy)


def copied_from(
    declared: Declared, sources: Mapping[str, Source], copy: Path | None = None
) -> Copied:
    """Return what a copy would be of: files as they are now, and what decides which rows count.

    Contents are read again unless a copy was made of files of the same places, sizes and times.
    """
    state = state_of(sources) if is_settled(sources) else ""
    known = None if copy is None else contents_in(copy, state)
    contents = known or json.dumps(contents_of(sources), sort_keys=True)
    return Copied(
        sources=sources,
        kinds=kinds_of(declared),
        version=version_from(json.loads(contents), None).text,
        declared=limits_told(declared),
        state=state,
        contents=contents,
    )


def from_copy(
    declared: Declared, sources: Mapping[str, Source], copy: Path | None
) -> tuple[Version, DuckDbEngine] | None:
    """Return the data's version and an engine that reads the prepared copy, if there is one."""
    is_wanted = declared.source.bounding is RowChoice.PREPARED
    if copy is None or not is_wanted or not copy.is_file():
        return None
    copied = copied_from(declared, sources, copy)
    if key_of(copy) != copied.key:
        return None
    store, columns = open_copy(copy, copied.key, limits_of(declared.source))
    version = version_from(json.loads(copied.contents), earlier_version(sources))
    engine = DuckDbEngine(store, columns, is_prepared=True)
    return declared_version(declared, version), engine
