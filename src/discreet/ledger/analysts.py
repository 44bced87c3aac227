"""Analysts' accounts: caps within the total budget, enforced by the same theorem.

What an analyst paid for is (epsilon, delta)-private by the cap's own numbers. Caps are shares of
one total and never add to it: whoever pools what they learnt, the total holds for all of it.
"""

from collections.abc import Mapping
from fractions import Fraction

from discreet.accounting import Budget
from discreet.accounting.events import positive, zero_or_delta
from discreet.errors import ParameterError
from discreet.ledger.base import OWNER, Analyst
from discreet.ledger.checks import a_name
from discreet.ledger.tokens import a_hash
from discreet.parameters import flag

YES, NO, NONE = "yes", "no", "none"


def an_analyst(
    *, name: object, epsilon: object, delta: object, token_hash: object, enabled: object
) -> Analyst:
    """Return an account as it can be declared, or reject what it cannot be."""
    if name == OWNER:
        raise ParameterError("name", name, "must be another name, because the owner has no cap")
    return Analyst(
        name=a_name("name", name),
        epsilon=positive("epsilon", epsilon),
        delta=None if delta is None else zero_or_delta("delta", delta),
        token_hash=None if token_hash is None else a_hash(token_hash),
        enabled=flag("enabled", enabled),
    )


def cap_of(analyst: Analyst, total: Budget, share: Fraction) -> Budget:
    """Return an analyst's cap as a budget, uncharged: the total's filter, a share of delta aside.

    The share stays what it was when the account was first declared, so that a cap with a delta of
    its own means the same whatever becomes of the total. One without has the delta of the total.
    """
    delta = total.delta if analyst.delta is None else analyst.delta
    aside = share * delta
    return Budget(epsilon=analyst.epsilon, delta=delta, filter=total.filter, set_aside=aside)


def record_from_analyst(analyst: Analyst) -> dict[str, str]:
    """Return the account as its entry holds it; the name stands beside it."""
    return {
        "epsilon": str(analyst.epsilon),
        "delta": NONE if analyst.delta is None else str(analyst.delta),
        "token": NONE if analyst.token_hash is None else analyst.token_hash,
        "enabled": YES if analyst.enabled else NO,
    }


def analyst_from_record(name: str, record: Mapping[str, str]) -> Analyst:
    """Return the account that `record_from_analyst` wrote; reject what this version cannot read."""
    if record.keys() != {"epsilon", "delta", "token", "enabled"}:
        raise ParameterError(
            "record", sorted(record), "must be a record that record_from_analyst returned"
        )
    delta, token = record["delta"], record["token"]
    return an_analyst(
        name=name,
        epsilon=Fraction(record["epsilon"]),
        delta=None if delta == NONE else Fraction(delta),
        token_hash=None if token == NONE else token,
        enabled={YES: True, NO: False}[record["enabled"]],
    )
