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


def intervals() -> dict[str, dict[str, list[str]]]:
    """Return the new names of all releases that are made in another way since the first ledgers.

    Quantiles, minima and maxima are released with an interval and a noisy count, so that they are
    charged as other events. What was paid for before is found by its old name.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for way in WAYS:
        for question, plan, _ in all_plans(way):
            if any(each.whole != each.earlier for each in plan.identities):
                names = [each.whole[:LENGTH] for each in plan.identities]
                found.setdefault(question, {})[way] = names
    return found


def told(identity: Identity) -> str:
    """Return an identity as one line, with the name by which the first ledgers know it."""
    digests = (identity.earlier, identity.base, *identity.aggregates)
    return " ".join(each[:LENGTH] for each in digests)
