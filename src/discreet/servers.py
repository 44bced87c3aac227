"""Tables that stay on a server: where it is, which of them are meant, and what version they are."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from discreet.catalog.addresses import EMBEDDED, ENVIRONMENT, is_on_server, without_password
from discreet.catalog.declared import Declared
from discreet.engines.base import Holder
from discreet.engines.connection import Limits
from discreet.engines.opening import open_engine
from discreet.errors import CatalogError, ParameterError


def held(
    declared: Declared, tables: Mapping[str, str], address: str, limits: Limits
) -> tuple[str, Holder]:
    """Return the data's version and the engine of the server that holds them."""
    engine = open_engine(address, tables, limits=limits)
    told = declared.source.version
    if told is not None:
        return f"declared {told}", engine
    state = f"{without_password(address)}|{engine.version}"
    return sha256(state.encode()).hexdigest(), engine


def address_of(path: str | Path, declared: Declared) -> str | None:
    """Return the address of the server that holds the tables; None if they are read from files."""
    named = declared.source.engine
    if not named.startswith(ENVIRONMENT):
        return None if named == EMBEDDED else named
    found = from_environment("engine", named, path)
    if not is_on_server(found):
        what = "the variable of the environment that source.engine names holds no address"
        raise CatalogError(what, "let it begin with postgresql://", file=str(path))
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
