"""Who calls, and what they may do."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from discreet.errors import AccountError
from discreet.ledger import OWNER, Analyst
from discreet.server.faults import CallError
from discreet.server.sites import Site

Role: TypeAlias = Literal["reader", "analyst", "owner"]

RANK: dict[Role, int] = {"reader": 0, "analyst": 1, "owner": 2}
"""A role may do what those before it may."""

STRANGER = CallError(
    status=401,
    code="not_signed_in",
    what="This call needs a valid token",
    fix="Send the header Authorization: Bearer TOKEN; ask the data owner for a token",
    headers={"WWW-Authenticate": "Bearer"},
)

NOWHERE = CallError(
    status=404,
    code="not_found",
    what="There is nothing at this address that you may see",
    fix="GET /v1/me lists the catalogs that you may use",
)
"""The same for what is not there and for what somebody else may see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Somebody who has signed in to a catalog."""

    name: str
    role: Role
    site: Site
    token_hash: str | None = None
    """Of the token that the account has, if it has one."""

    @property
    def account(self) -> str:
        """The account that queries are charged to."""
        return OWNER if self.role == "owner" else self.name

    @property
    def place(self) -> str:
        """The account and its catalog: two catalogs may have accounts of one name."""
        return f"{self.site.name} {self.account}"

    def check_still(self) -> None:
        """Reject whose account ended, or has another role or token by now."""
        for each in self.site.ledger.analysts():
            if each.name == self.name:
                now = (each.enabled, each.role, each.token_hash)
                if now == (True, self.role, self.token_hash):
                    return
        raise STRANGER

    def check(self, least: Role) -> "Caller":
        """Reject whoever has a lesser role."""
        if RANK[self.role] < RANK[least]:
            raise CallError(
                status=403,
                code="not_allowed",
                what=f"This call is for the role {least}, and {self.name} has the role {self.role}",
                fix="Ask the data owner",
            )
        return self


def caller_with(token: str, site: Site) -> Caller | None:
    """Return who holds a token of a catalog."""
    try:
        found = site.ledger.holder(token)
    except AccountError:
        return None
    return _caller(found, site)


def caller_named(site: Site, name: str, fingerprint: str) -> Caller | None:
    """Return who signed in by name, unless the token was changed or the account ended since."""
    for each in site.ledger.analysts():
        if each.name == name and each.enabled and site.fingerprint(each) == fingerprint:
            return _caller(each, site)
    return None


def _caller(found: Analyst, site: Site) -> Caller:
    return Caller(name=found.name, role=found.role, site=site, token_hash=found.token_hash)
