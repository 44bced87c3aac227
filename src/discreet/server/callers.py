"""Who calls, and what they may do."""

from collections.abc import Sequence
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


def callers_with(token: str, sites: Sequence[Site]) -> list[Caller]:
    """Return who holds a token, in every catalog that has it. A bad one costs one slow hash.

    An account that was made with a data set has the same hash of the token as the account of the
    owner who added it, so that one comparison is enough for all.
    """
    tried = [(site, account) for site in sites if (account := site.account_of(token)) is not None]
    enabled = [(site, account) for site, account in tried if account.enabled]
    first = next((site for site, _ in [*enabled, *tried]), sites[0])
    try:
        holder = first.ledger.holder(token)
    except AccountError:
        return []
    return [
        _caller(account, site)
        for site, account in enabled
        if account.token_hash == holder.token_hash
    ]


def caller_elsewhere(site: Site, name: str, fingerprint: str) -> Caller | None:
    """Return who signed in to another catalog by name, if the account here is the same.

    It has the same token, or it was made when its holder, who has no token, added this data set.
    """
    for each in site.ledger.analysts():
        is_same = each.token_hash is not None or site.is_added
        if each.name == name and is_same:
            return caller_named(site, name, fingerprint)
    return None


def caller_named(site: Site, name: str, fingerprint: str) -> Caller | None:
    """Return who signed in by name, unless the token was changed or the account ended since."""
    for each in site.ledger.analysts():
        if each.name == name and each.enabled and site.fingerprint(each) == fingerprint:
            return _caller(each, site)
    return None


def _caller(found: Analyst, site: Site) -> Caller:
    return Caller(name=found.name, role=found.role, site=site, token_hash=found.token_hash)
