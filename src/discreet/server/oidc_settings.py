"""What an owner may set of sign-on by an OpenID provider: `[oidc]` in the file of settings."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from ipaddress import ip_address
from typing import Any, get_args
from urllib.parse import urlsplit

from discreet.errors import ParameterError
from discreet.ledger.analysts import Role
from discreet.parameters import rational

ROLES: Mapping[str, Role] = {each: each for each in get_args(Role)}

PREFIX = "oidc:"
"""Begins the names of accounts that sign in at the provider, so that none is taken for another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRule:
    """Whoever has a value in a claim gets a role in a catalog; analysts get a cap with it."""

    claim: str
    """A name, or names with dots between them for a claim inside others."""
    value: str
    catalog: str
    role: Role
    epsilon: Fraction | None = None
    delta: Fraction | None = None

    def matches(self, claims: Mapping[str, Any]) -> bool:
        """Return whether the claim is the value, or a list that contains it."""
        found = _claim(claims, self.claim)
        return self.value in found if isinstance(found, list) else found == self.value


def _claim(claims: Mapping[str, Any], name: str) -> object:
    if name in claims:
        return claims[name]
    found: object = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcSettings:
    """The provider, this server as a client of it, and who gets which role."""

    issuer: str
    client_id: str
    """The client of the page."""
    client_secret: str | None = field(default=None, repr=False)
    device_client_id: str | None = None
    """The client of the command line, which has no secret; None offers no sign-in there."""
    audience: str
    """Whom access tokens must be for."""
    server_url: str
    """How browsers reach this server; the provider sends them back there."""
    scopes: tuple[str, ...] = ("openid",)
    device_scopes: tuple[str, ...] = ("openid", "offline_access")
    name_claim: str = "sub"
    """What tells people apart; accounts are named by it."""
    roles: tuple[RoleRule, ...]
    """The first that matches decides, in each catalog."""

    @property
    def redirect_uri(self) -> str:
        """Where the provider sends browsers back to."""
        return f"{self.server_url}/v1/oidc/callback"

    @property
    def host(self) -> str:
        """The name under which browsers reach this server."""
        return urlsplit(self.server_url).hostname or ""


TEXTS = {"issuer", "client_id", "audience", "server_url"}
OPTIONAL = {"client_secret_env", "device_client_id", "name_claim"}
LISTS = {"scopes", "device_scopes"}
RULE_TEXTS = {"claim", "value", "catalog", "role"}
SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")


def oidc_from(content: object) -> OidcSettings:
    """Return the settings in the table oidc, or reject what no setting is."""
    given = _table("oidc", content, TEXTS | OPTIONAL | LISTS | {"roles"})
    made: dict[str, Any] = {name: _text(f"oidc.{name}", given.get(name)) for name in sorted(TEXTS)}
    for name in sorted(OPTIONAL & given.keys()):
        made[name] = _text(f"oidc.{name}", given[name])
    made["client_secret"] = _secret(made.pop("client_secret_env", None))
    made["scopes"] = _scopes("oidc.scopes", given.get("scopes", ["openid"]))
    asked = [*made["scopes"], "offline_access"]  # for a token that outlives the first
    made["device_scopes"] = _scopes("oidc.device_scopes", given.get("device_scopes", asked))
    made["issuer"] = check_url("oidc.issuer", made["issuer"])
    made["server_url"] = check_url("oidc.server_url", made["server_url"]).rstrip("/")
    if made["client_secret"] is None:
        made.setdefault("device_client_id", made["client_id"])
    if made["audience"] in {made["client_id"], made.get("device_client_id")}:
        rule = "must not be the name of a client, because ID tokens would pass for access tokens"
        raise ParameterError("oidc.audience", made["audience"], rule)
    return OidcSettings(**made, roles=_rules(given.get("roles")))


def check_url(name: str, text: str) -> str:
    """Return an address that is encrypted or on this machine, or reject it by name."""
    try:
        place = urlsplit(text)
        host, _ = place.hostname or "", place.port
    except ValueError:
        raise ParameterError(name, text, "must be an address that begins with https://") from None
    if place.scheme not in {"https", "http"} or not host or place.query or place.fragment:
        raise ParameterError(name, text, "must be an address that begins with https://")
    if place.username or place.password:
        raise ParameterError(name, text, "must not contain a name or a password")
    if place.scheme == "http" and not _is_here(host):
        raise ParameterError(name, text, "must begin with https://, except on this machine")
    return text


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _secret(name: str | None) -> str | None:
    if name is None:
        return None
    found = os.environ.get(name)
    if not found:
        rule = "must name an environment variable that is set"
        raise ParameterError("oidc.client_secret_env", name, rule)
    return found


def _scopes(name: str, value: object) -> tuple[str, ...]:
    found = value if isinstance(value, list) else []
    is_good = all(isinstance(each, str) and SCOPE.fullmatch(each) for each in found)
    if not is_good or "openid" not in found:
        raise ParameterError(name, value, 'must be a list of scopes with "openid" among them')
    return tuple(dict.fromkeys(found))


def _rules(content: object) -> tuple[RoleRule, ...]:
    if not isinstance(content, list) or not content:
        rule = "must be one or more tables, because nobody could sign in otherwise"
        raise ParameterError("oidc.roles", content, rule, "Add [[oidc.roles]]")
    return tuple(_rule(f"oidc.roles[{number}]", each) for number, each in enumerate(content, 1))


def _rule(where: str, content: object) -> RoleRule:
    given = _table(where, content, RULE_TEXTS | {"epsilon", "delta"})
    texts = {name: _text(f"{where}.{name}", given.get(name)) for name in sorted(RULE_TEXTS)}
    role = texts.pop("role")
    if role not in ROLES:
        raise ParameterError(f"{where}.role", role, f"must be one of {', '.join(ROLES)}")
    cap = {name: given[name] for name in ("epsilon", "delta") if name in given}
    if role == "analyst" and "epsilon" not in cap:
        raise ParameterError(f"{where}.epsilon", None, "must be given for the role analyst")
    if role != "analyst" and cap:
        rule = "must be left out, because only analysts are charged"
        raise ParameterError(f"{where}.{next(iter(cap))}", next(iter(cap.values())), rule)
    return RoleRule(
        **texts,
        role=ROLES[role],
        epsilon=rational(f"{where}.epsilon", cap["epsilon"], above=0)
        if role == "analyst"
        else None,
        delta=rational(f"{where}.delta", cap["delta"], least=0, below=1)
        if "delta" in cap
        else None,
    )


def _table(where: str, content: object, names: set[str]) -> dict[str, Any]:
    if not isinstance(content, Mapping):
        raise ParameterError(where, content, "must be a table")
    for name in content:
        if name not in names:
            raise ParameterError(where, name, f"must be among {', '.join(sorted(names))}")
    return dict(content)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(name, value, "must be a text that is not empty")
    return value
