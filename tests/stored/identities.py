"""What the releases of every question are called in a ledger, as short digests."""

from discreet.query.plan.identity import Identity
from tests.stored.questions import WAYS, all_plans

LENGTH = 20
"""Hexadecimal digits of a digest that are held fixed."""


def identities() -> dict[str, dict[str, list[str]]]:
    """Return for each question and way what its releases are called: whole, base, aggregates."""
    found: dict[str, dict[str, list[str]]] = {}
    for way in WAYS:
        for question, plan, _ in all_plans(way):
            found.setdefault(question, {})[way] = [told(each) for each in plan.identities]
    return found


def told(identity: Identity) -> str:
    """Return an identity as one line."""
    digests = (identity.whole, identity.base, *identity.aggregates)
    return " ".join(each[:LENGTH] for each in digests)
