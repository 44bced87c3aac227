"""Tables that stay on a server: where it is, which of them are meant, and what version they are."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from discreet.catalog.addresses import EMBEDDED, ENVIRONMENT, is_on_server, without_password
from discreet.catalog.declared import Declared
from discreet.catalog.policy import RowChoice
from discreet.engines.base import Holder
from discreet.engines.forms import Form
from discreet.engines.loading import Source
from discreet.engines.opening import open_engine
from discreet.engines.spark.tables import Session, is_frame, is_session
from discreet.errors import CatalogError, ParameterError
from discreet.opening.files import (
    Version,
    declared_version,
    kinds_of,
    limits_of,
    limits_told,
)

SESSION = "spark://session"
"""What the address of a session is called that is of no usual form."""


def held(
    declared: Declared,
    tables: Mapping[str, Source],
    address: "str | Session",
    place: Path | None = None,
) -> tuple[Version, Holder]:
    """Return the data's version and the engine of the server that holds them.

    Prepared forms that are files are looked for at `place`.
    """
    public = [each.name for each in declared.tables if each.unit is None]
    form = (
        form_of(declared, tables, place) if declared.source.bounding is RowChoice.PREPARED else None
    )
    engine = open_engine(
        address,
        tables,
        public=public,
        kinds=kinds_of(declared),
        form=form,
        limits=limits_of(declared.source),
    )
    state = f"{shown(address)}|{engine.version}"
    # What a server counts of changes tells how many rows there are: unkeyed it could be guessed.
    version = Version(text=state, earlier=sha256(state.encode()).hexdigest())
    return declared_version(declared, version), engine


def form_of(
    declared: Declared, tables: Mapping[str, Source], place: Path | None = None
) -> Form | None:
    """Return what a prepared form of the tables would be of; None for frames, which are nowhere."""
    private = {each.name: tables[each.name] for each in declared.tables if each.unit is not None}
    named = {name: str(each) for name, each in private.items() if isinstance(each, str | Path)}
    if len(named) < len(private):
        return None
    told = f"{declared.source.version!r} {limits_told(declared)}"
    return Form(tables=named, declared=told, place=place)


def shown(address: "str | Session") -> str:
    """Return an address as a catalog may have it."""
    if isinstance(address, str):
        return without_password(address)
    master = address.sparkContext.master
    return master if master and is_on_server(master) else SESSION


def place_of(source: object) -> "str | Session | None":
    """Return where the tables stay: at an address, in a session, or with frames of a session."""
    if is_session(source):
        return source
    if isinstance(source, str):
        return source if is_on_server(source) else None
    given = source.values() if isinstance(source, Mapping) else [source]
    return next((each.sparkSession for each in given if is_frame(each)), None)


def names_tables(source: object) -> bool:
    """Return whether tables must be named besides: of a server or a session."""
    return is_on_server(source) or is_session(source)


def address_of(path: str | Path, declared: Declared) -> str | None:
    """Return the address of the server that holds the tables; None if they are read from files."""
    named = declared.source.engine
    if not named.startswith(ENVIRONMENT):
        return None if named == EMBEDDED else named
    found = from_environment("engine", named, path)
    if not is_on_server(found):
        what = "the variable of the environment that source.engine names holds no address"
        raise CatalogError(what, "let it begin with postgresql:// or spark://", file=str(path))
    return found


def from_environment(key: str, named: str, path: str | Path) -> str:
    """Return the address that a variable of the environment holds, or refuse."""
    name = named.removeprefix(ENVIRONMENT)
    found = os.environ.get(name)
    if not found:
        what = f"source.{key} names the variable {name} of the environment, which is not set"
        raise CatalogError(what, f"set {name} to the address of the {key}", file=str(path))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The tables that the arguments of a call speak of; schema.table is called table."""

    tables: dict[str, str]
    unit: str | dict[str, str] | None
    public: bool | tuple[str, ...]


def tables_named(
    name: str | None, unit: str | Mapping[str, str] | None, public: bool | Collection[str]
) -> Named:
    """Return the tables that are named, and what is said of them by their names in questions."""
    others = () if isinstance(public, bool) else (public,) if isinstance(public, str) else public
    units = dict(unit) if isinstance(unit, Mapping) else {}
    places = [*([name] if name else []), *units, *others]
    if not places:
        raise ParameterError("name", name, "must say which table of the server is meant")
    return Named(
        tables={_table_of(each): each for each in places},
        unit={_table_of(each): what for each, what in units.items()} or _one(unit),
        public=public if isinstance(public, bool) else tuple(map(_table_of, others)),
    )


def _table_of(place: str) -> str:
    return place.rpartition(".")[2].strip('"')


def _one(unit: str | Mapping[str, str] | None) -> str | None:
    return unit if isinstance(unit, str) else None
