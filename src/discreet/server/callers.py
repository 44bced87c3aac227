"""Who calls, and what they may do."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from discreet.errors import AccountError
from discreet.ledger import OWNER
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

    @property
    def account(self) -> str:
        """The account that queries are charged to."""
        return OWNER if self.role == "owner" else self.name

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
    return Caller(name=found.name, role=found.role, site=site)


def caller_named(site: Site, name: str, fingerprint: str) -> Caller | None:
    """Return who signed in by name, unless the token was changed or the account ended since."""
    for each in site.ledger.analysts():
        if each.name == name and each.enabled and site.fingerprint(each) == fingerprint:
            return Caller(name=each.name, role=each.role, site=site)
    return None
