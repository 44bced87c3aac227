"""What an owner may set of a server. Every limit is a public number: it depends on no data."""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from discreet.errors import CatalogError, ParameterError
from discreet.parameters import rational
from discreet.server.data_places import places_from
from discreet.server.oidc_settings import OidcSettings, oidc_from


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """How much one account, and all accounts together, may ask of a server."""

    requests_per_minute: int = 240
    """Calls that one account may make per minute, on average."""
    burst: int = 60
    """Calls that one account may make at once."""
    running_per_account: int = 4
    """Queries of one account that run at the same time."""
    running: int = max(2, os.cpu_count() or 2)
    """Queries of all accounts that run at the same time."""
    waiting: int = 200
    """Queries that wait for their turn. Further ones get status 429 and `Retry-After`."""
    waiting_per_account: int = 50
    """Queries of one account that wait, so that nobody keeps all others out."""
    body_bytes: int = 1 << 18
    """Length of the body of a call. Longer ones get status 413."""
    answer_bytes: int = 1 << 26
    """Length of an answer."""
    seconds: int = 300
    """A query that has not begun after this many seconds gets status 429."""
    reply_seconds: int = 50
    """A query that has not ended this many seconds after it began gets status 504. It runs on, and
    the same call gets its answer later."""
    header_seconds: int = 10
    """A connection whose next call has no whole headers after this many seconds is closed."""
    body_seconds: int = 20
    """A call whose body is not whole after this many seconds gets status 408."""
    sign_ins_per_minute: int = 30
    """Calls with a wrong token or code that one address may make per minute."""
    pg_connections: int = 100
    """Connections of PostgreSQL's clients that may be open (`--pg-port`)."""
    pg_connections_per_account: int = 20
    """Connections of PostgreSQL's clients that one account may have open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of a server."""

    limits: ServerLimits = ServerLimits()
    """The table `[limits]`, below."""
    release_every: Fraction | None = None
    """Queries take multiples of this time, such as "250ms" or "1s", and replies leave at them."""
    approval_above: Fraction | None = None
    """A single query that costs a larger ε runs only after an owner has approved it."""
    session_hours: int = 12
    """Hours after which a person who signed in on the page signs in again."""
    audit_file: Path | None = None
    """Every line of the audit log is also added to this file, as a line of JSON."""
    hosts: tuple[str, ...] = ()
    """Names under which the server is reached, in addition to its address."""
    proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    """Addresses or networks of proxies whose `X-Forwarded-For` is trusted (`--behind-proxy`)."""
    agents: bool = False
    """Whether AI agents may ask at `/mcp` (`--mcp`). They sign in with tokens of accounts."""
    series: bool = True
    """Whether the server releases ticks of series when they are due. The first tick of a series
    charges for all of them."""
    oidc: OidcSettings | None = None
    """The OpenID provider that people may sign in at."""
    add_data_from: tuple[str, ...] = ()
    """Folders, and addresses of PostgreSQL, whose data any owner of a catalog may add on the page.
    By default, adding data is off. An address is written without a password, or as `env:NAME`."""
    catalog_folder: Path | None = None
    """Folder for the catalogs and ledgers of data that were added; they are served at each start.
    Needed by `add_data_from`."""


DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s)")


def seconds_from(name: str, text: object) -> Fraction:
    """Return seconds from a text such as 250ms."""
    found = DURATION.fullmatch(text) if isinstance(text, str) else None
    if found is None or not Fraction(found[1]):
        raise ParameterError(name, text, 'must be a time, such as "250ms" or "1s"')
    return Fraction(found[1]) / (1000 if found[2] == "ms" else 1)


def read_settings(path: Path | None) -> Settings:
    """Return the settings of a TOML file; the defaults without one."""
    if path is None:
        return Settings()
    if not path.is_file():
        raise ParameterError("--config", str(path), "must be a file")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        what = "This file of settings cannot be read"
        raise CatalogError(what, "Check that it is TOML in UTF-8", file=str(path)) from error
    try:
        return settings_from(content)
    except ParameterError as error:
        raise CatalogError(error.what, error.fix, file=str(path)) from None


def settings_from(content: Mapping[str, Any]) -> Settings:
    """Return the settings that a file contains, or reject what no setting is."""
    given = _known("settings", content, {each.name for each in fields(Settings)})
    made: dict[str, Any] = {name: READERS[name](name, value) for name, value in given.items()}
    if "oidc" in made:
        made["hosts"] = (*made.get("hosts", ()), made["oidc"].host)
    if made.get("add_data_from") and "catalog_folder" not in made:
        fix = "Name a folder for the catalogs and ledgers of data that are added"
        raise ParameterError("catalog_folder", None, "must be set beside add_data_from", fix)
    return Settings(**made)


def _limits(_: str, content: object) -> ServerLimits:
    if not isinstance(content, Mapping):
        raise ParameterError("limits", content, "must be a table")
    given = _known("limits", content, {each.name for each in fields(ServerLimits)})
    return ServerLimits(**{name: _whole(f"limits.{name}", value) for name, value in given.items()})


def _known(where: str, content: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    for name in content:
        if name not in names:
            raise ParameterError(where, name, f"must be among {', '.join(sorted(names))}")
    return dict(content)


def _whole(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ParameterError(name, value, "must be a whole number, 1 or more")
    return value


def _switch(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ParameterError(name, value, "must be true or false")
    return value


def _file(name: str, value: object) -> Path:
    if not isinstance(value, str) or not value or not Path(value).parent.is_dir():
        raise ParameterError(name, value, "must be the path of a file in a folder that exists")
    return Path(value)


def _texts(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ParameterError(name, value, "must be a list of texts")
    return tuple(value)


def _networks(name: str, value: object) -> tuple[str, ...]:
    texts = _texts(name, value)
    for each in texts:
        try:
            ip_network(each)
        except ValueError:
            rule = 'must be addresses or networks, such as "10.0.0.2" or "10.0.0.0/24"'
            raise ParameterError(name, each, rule) from None
    return texts


def _places(name: str, value: object) -> tuple[str, ...]:
    texts = _texts(name, value)
    places_from(name, texts)
    return texts


READERS: Mapping[str, Callable[[str, Any], Any]] = {
    "limits": _limits,
    "release_every": seconds_from,
    "approval_above": lambda name, value: rational(name, value, above=0),
    "session_hours": _whole,
    "audit_file": _file,
    "hosts": _texts,
    "proxies": _networks,
    "agents": _switch,
    "series": _switch,
    "oidc": lambda _, value: oidc_from(value),
    "add_data_from": _places,
    "catalog_folder": _file,
}
"""How each setting is read."""
