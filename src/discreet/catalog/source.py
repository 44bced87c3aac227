"""Which engine holds the tables and what it may use, as the owner declares it."""

import re
from fractions import Fraction
from pathlib import Path

from discreet.catalog.addresses import EMBEDDED, ENVIRONMENT, is_on_server, without_password
from discreet.catalog.fields import (
    a_choice,
    a_number_within,
    a_section,
    a_text,
    a_whole_number,
    told,
)
from discreet.catalog.places import Place
from discreet.catalog.policy import RowChoice, SourcePolicy

SOURCE = ("engine", "memory_limit", "threads", "timeout", "version", "ledger", "bounding")


def declared_source(
    place: Place, value: object, folder: Path | None
) -> tuple[SourcePolicy, str | None]:
    """Return which engine holds the tables, and where the ledger is."""
    given = a_section(place, value, SOURCE)
    engine = _engine(place.at("engine"), given.get("engine", EMBEDDED))
    policy = SourcePolicy(
        engine=engine,
        memory_limit=_memory(place.at("memory_limit"), given.get("memory_limit")),
        threads=_threads(place.at("threads"), given.get("threads")),
        timeout=_timeout(place.at("timeout"), given.get("timeout")),
        version=_version(place.at("version"), given.get("version")),
        bounding=_row_choice(place.at("bounding"), given.get("bounding")),
    )
    return policy, _ledger(place.at("ledger"), given.get("ledger"), folder)


ENGINE_FIX = 'write "duckdb", "postgresql://user@host/database", "spark://host:7077" or "env:NAME"'


def _engine(place: Place, value: object) -> str:
    """Return where the tables are; a variable of the environment is looked up when it is opened."""
    if isinstance(value, str) and value.startswith(ENVIRONMENT):
        return _variable(place, value, "engine")
    if value != EMBEDDED and not is_on_server(value):
        raise place.refused(f"names no engine: {told(value)}", ENGINE_FIX)
    address = str(value)
    if without_password(address) != address:
        fix = 'keep it in a variable of the environment: engine = "env:NAME"'
        raise place.refused("holds a password, and what a catalog says is public", fix)
    return address


def _row_choice(place: Place, value: object) -> RowChoice:
    """Return when rows are chosen; on a server, once only where the owner had them prepared."""
    return RowChoice.PREPARED if value is None else a_choice(place, value, RowChoice)


def _memory(place: Place, value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]+(\.[0-9]+)? ?[KMGT]i?B", value):
        rule = f"must be a number and a unit, not {told(value)}"
        raise place.refused(rule, 'write for example memory_limit = "4 GB"')
    return value


def _threads(place: Place, value: object) -> int | None:
    if value is None:
        return None
    return a_whole_number(place, value, 1, 4096, "write for example threads = 4")


def _timeout(place: Place, value: object) -> Fraction | None:
    if value is None:
        return None
    fix = "write it in seconds, for example timeout = 60"
    return a_number_within(place, value, Fraction(1, 1000), 10**9, fix)


def _version(place: Place, value: object) -> str | None:
    fix = 'write what the data are called as they are now, for example version = "2024-11"'
    return None if value is None else a_text(place, value, fix)


def _ledger(place: Place, value: object, folder: Path | None) -> str | None:
    """Return where the ledger is; a variable of the environment is looked up when it is opened."""
    if isinstance(value, str) and value.startswith(ENVIRONMENT):
        return _variable(place, value, "ledger")
    return a_file(place, value, folder)


def _variable(place: Place, value: str, key: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value.removeprefix(ENVIRONMENT)):
        rule = f"names no variable of the environment after {ENVIRONMENT!r}"
        raise place.refused(rule, f'write for example {key} = "env:DISCREET_{key.upper()}"')
    return value


def a_file(place: Place, value: object, folder: Path | None) -> str | None:
    """Return the path of a file, from a folder if there is one; addresses stay as they are."""
    if value is None:
        return None
    path = a_text(place, value, "write the path of a file")
    return path if folder is None or "://" in path else str(folder / path)
