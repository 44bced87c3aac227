"""What was charged, to whom and for which query: for owners, from the ledger alone."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import isinf
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from discreet.accounting import Budget, Charge
from discreet.amounts import balance_from, exact_and_float
from discreet.ledger import OWNER, Entry, Ledger
from discreet.ledger.charges import added, one_event
from discreet.server.bodies import JsonObject
from discreet.server.callers import Caller
from discreet.server.reading import OneReading
from discreet.server.signing import caller_in

router = APIRouter(prefix="/v1/catalogs/{catalog}", tags=["owners"], route_class=OneReading)

Owner = Annotated[Caller, Depends(caller_in("owner"))]


@dataclass(slots=True)
class QuerySpending:
    """What an account was charged for one query; a query may have several releases."""

    account: str
    question: str
    written: str
    charge: Charge = field(default_factory=Charge)
    releases: int = 0

    def to_json(self) -> JsonObject:
        """Return it for a reply."""
        return {
            "account": self.account,
            "question": self.question,
            "written": self.written,
            "releases": self.releases,
            **amounts_of(self.charge),
        }


@router.get("/spending")
async def spending(caller: Owner, limit: Annotated[int, Query(ge=1, le=1000)] = 200) -> JsonObject:
    """Return what was charged by account and by query, the newest query first. No value is in it.

    Amounts of single queries add up to those of accounts under basic accounting.
    """
    return await asyncio.to_thread(_spending, caller.site.ledger, limit)


def _spending(ledger: Ledger, limit: int) -> JsonObject:
    with ledger.view() as view:
        balance, analysts = view.balance(OWNER), view.analysts()
        entries = [each for each in view.entries() if each.kind == "charge"]
        caps = {each.name: view.balance(each.name) for each in analysts if each.role == "analyst"}
    queries = charged_for(entries, balance.limit)
    accounts: dict[str, Charge] = {OWNER: Charge(), **dict.fromkeys(caps, Charge())}
    for each in queries:
        accounts[each.account] = added(accounts.get(each.account, Charge()), each.charge)
    return {
        "total": balance_from(balance.remaining, balance.limit).to_json(),
        "charged": amounts_of(ledger.charged()),
        "accounts": [
            {
                "account": name,
                "queries": sum(each.account == name for each in queries),
                "charged": amounts_of(charge),
                "remaining": balance_from(caps[name].remaining, caps[name].limit).to_json()
                if name in caps
                else None,
            }
            for name, charge in accounts.items()
        ],
        "queries": [each.to_json() for each in queries[::-1][:limit]],
    }


def charged_for(entries: Iterable[Entry], total: Budget) -> list[QuerySpending]:
    """Return charges by account and query, in the order of their last ones."""
    found: dict[tuple[str, str], QuerySpending] = {}
    for entry in entries:
        question = entry.about.get("sql", "")
        known = found.pop((entry.account, question), None) or QuerySpending(
            account=entry.account, question=question, written=""
        )
        known.charge = added(known.charge, total.price(one_event(entry.events)))
        known.written, known.releases = entry.written.isoformat(), known.releases + 1
        found[entry.account, question] = known
    return list(found.values())


def amounts_of(charge: Charge) -> JsonObject:
    """Return each amount as a number and exactly; null where a bound has no theorem for it."""
    told: JsonObject = {}
    for name in ("epsilon", "delta", "rho"):
        amount = getattr(charge, name)
        is_known = not isinf(amount)
        told |= (
            exact_and_float(**{name: Fraction(amount)})
            if is_known
            else {name: None, f"{name}_exact": None}
        )
    return told
