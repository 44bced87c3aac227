"""Who signs in at an OpenID provider: accounts, roles and caps by claims.

An account is declared when its holder is first seen, with the cap of the rule. From then on the
ledger decides the cap, so that no rule undoes what an owner changed. The role follows the newest
claims. Whoever is disabled stays so.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from threading import Lock
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError
from discreet.extras import load
from discreet.ledger import Analyst
from discreet.server.callers import STRANGER, Caller
from discreet.server.faults import CallError
from discreet.server.oidc_settings import PREFIX, OidcSettings, RoleRule
from discreet.server.sites import Site

if TYPE_CHECKING:
    from discreet.server.oidc_provider import Provider

NO_ROLE = CallError(
    status=403,
    code="no_role",
    what="You signed in, but no rule of this server gives you a role in a catalog",
    fix="Ask the data owner",
)

MOST_NAME = 200


def looks_signed(token: str) -> bool:
    """Return whether a token has the form of one that a provider signs."""
    return token.startswith("ey") and token.count(".") == 2


class OidcCallers:
    """Finds out who somebody is whom the provider vouches for."""

    def __init__(self, settings: OidcSettings, sites: Mapping[str, Site]) -> None:
        for number, rule in enumerate(settings.roles, 1):
            if rule.catalog not in sites:
                allowed = f"must be a catalog that is served: {', '.join(sites)}"
                raise ParameterError(f"oidc.roles[{number}].catalog", rule.catalog, allowed)
        module = load("discreet.server.oidc_provider", what="Sign-on with OpenID", extra="oidc")
        self.settings, self._sites = settings, sites
        self.provider: Provider = module.Provider(settings)
        self._newest: dict[tuple[str, str], float] = {}
        self._lock = Lock()

    async def with_token(self, token: str) -> dict[str, Caller]:
        """Return who holds an access token, in every catalog that they may use."""
        claims = await self.provider.claims(token, audience=self.settings.audience)
        if claims is None:
            raise STRANGER
        return await self.with_claims(claims)

    async def with_claims(self, claims: Mapping[str, Any]) -> dict[str, Caller]:
        """Return who has claims that were checked."""
        return await asyncio.to_thread(self._callers, claims)

    def _callers(self, claims: Mapping[str, Any]) -> dict[str, Caller]:
        name = PREFIX + str(claims[self.settings.name_claim])
        if len(name) > MOST_NAME or not name.isprintable():
            raise STRANGER
        rules: dict[str, RoleRule] = {}
        for rule in self.settings.roles:
            if rule.matches(claims):
                rules.setdefault(rule.catalog, rule)
        if not rules:
            raise NO_ROLE
        issued = float(claims.get("iat", 0))
        with self._lock:
            tried = {
                catalog: self._account(self._sites[catalog], name, rule, issued)
                for catalog, rule in rules.items()
            }
        found = {
            catalog: Caller(
                name=name,
                role=account.role,
                site=self._sites[catalog],
                token_hash=account.token_hash,
            )
            for catalog, account in tried.items()
            if account.enabled
        }
        if not found:
            raise STRANGER
        return found

    def _account(self, site: Site, name: str, rule: RoleRule, issued: float) -> Analyst:
        """Return somebody's account; declare it at first sight, and when the role changed.

        A token from before the newest one changes nothing, so that two tokens never take turns.
        """
        known = next((each for each in site.ledger.analysts() if each.name == name), None)
        is_newest = issued >= self._newest.get((site.name, name), 0)
        if is_newest:
            self._newest[site.name, name] = issued
        if known is not None and (known.role == rule.role or not known.enabled or not is_newest):
            return known
        new = _by_rule(known, name, rule)
        found = site.ledger.replace_analyst(known, new)
        if found == new:
            action = "add" if known is None else "change"
            site.records.log(name, action, "done", account=name, role=rule.role, by="oidc")
        return found


def _by_rule(known: Analyst | None, name: str, rule: RoleRule) -> Analyst:
    """Return an account as a rule has it; a cap that is there stays."""
    epsilon = Fraction(rule.epsilon or 0)
    if known is None:
        return Analyst(
            name=name,
            epsilon=epsilon,
            delta=rule.delta,
            token_hash=None,
            enabled=True,
            role=rule.role,
        )
    if known.epsilon > 0 or rule.epsilon is None:
        return replace(known, role=rule.role)
    return replace(known, role=rule.role, epsilon=epsilon, delta=rule.delta)
