"""Accounts in a transaction: who holds a token, what analysts request, what the owner decides."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from fractions import Fraction
from hashlib import sha256
from hmac import compare_digest

from discreet.accounting.events import positive, zero_or_delta
from discreet.errors import AccountError, ParameterError, shown
from discreet.ledger.analysts import OWNER, Analyst
from discreet.ledger.inputs import DISABLED, check_analyst, check_name, is_token_of, selector_in
from discreet.ledger.requests import (
    MOST_OPEN,
    MOST_REASON,
    Decision,
    Request,
    limited_text,
)
from discreet.ledger.state import LedgerState, NewEntry
from discreet.ledger.storage import Turn, selected
from discreet.parameters import flag, integer

STRANGER = ("This token is not valid", "Ask the data owner for a new one")

NOBODY = f"scrypt:32768:8:1:{'0' * 16}:{'0' * 32}:{'0' * 64}"
"""What a token is compared with that no account has."""

NO_TOKEN = f"discreet_{'0' * 16}_{'A' * 43}"
"""What is compared in place of a text that is not a token."""


class TokenCheck:
    """Compares tokens with the hashes of accounts.

    A bad token takes exactly one slow hash, whatever is wrong with it: its form, its public part,
    its secret, or that the account is disabled. So its time reveals none of this. A good one takes
    one the first time, and then a fast one that is never stored.
    """

    def __init__(self) -> None:
        self._seen: dict[str, bytes] = {}

    def holder(self, token: object, analysts: Iterable[Analyst]) -> Analyst:
        """Return the enabled account that this token belongs to, or raise AccountError."""
        selector = selector_in(token)
        text = NO_TOKEN if selector is None else str(token)
        analyst = selected(analysts, selector)
        stored = NOBODY if analyst is None or analyst.token_hash is None else analyst.token_hash
        fast, seen = sha256(text.encode("ascii")).digest(), self._seen.get(stored)
        is_enabled = analyst is not None and analyst.enabled
        if analyst is not None and is_enabled and seen and compare_digest(seen, fast):
            return analyst
        is_good = is_token_of(text, stored)
        if analyst is None or not is_good:
            raise AccountError(*STRANGER)
        if not is_enabled:
            raise AccountError(*DISABLED)
        self._seen[stored] = fast
        return analyst


def cap_in(turn: Turn, new: Analyst) -> Analyst:
    """Put the cap of an account in force, and leave the rest of it; declare it if it is new."""
    known = turn.state.analysts.get(new.name, new)
    analyst = replace(known, epsilon=new.epsilon, delta=new.delta)
    turn.declare_analyst(analyst)
    return analyst


def limit_in(turn: Turn, name: str, changed: Mapping[str, Fraction | None]) -> Analyst:
    """Put limits of an account in force, and leave the rest of it; reject an account unknown."""
    known = turn.state.declared(name)
    analyst = check_analyst(**(asdict(known) | dict(changed)))
    turn.declare_analyst(analyst)
    return analyst


def replace_in(turn: Turn, known: Analyst | None, new: Analyst) -> Analyst:
    """Put an account in force if it is still as it was known; return it as it is then."""
    analyst = check_analyst(**asdict(new))
    current = turn.state.analysts.get(analyst.name)
    if current != known:
        if current is None:
            raise AccountError(f"There is no analyst {shown(analyst.name)}", "Declare it first")
        return current
    turn.declare_analyst(analyst)
    return analyst


def request_in(turn: Turn, account: str, record: Mapping[str, str]) -> Request:
    """Write a request of an analyst; return the open one if the same was requested before."""
    state = turn.state
    if account == OWNER:
        raise AccountError("The owner's account has no cap of its own", "Name an analyst's account")
    state.check_enabled(account)
    waiting = state.requests.open_of(account)
    for each in waiting:
        if each.record == record:
            return each
    if len(waiting) >= MOST_OPEN:
        raise AccountError(
            f"This account has {MOST_OPEN} open requests",
            "Wait until the data owner has decided some of them",
        )
    if record["kind"] == "cap":
        _check_more(state, account, record)
    row = turn.append(NewEntry(kind="request", account=account, about=record))
    return turn.state.requests.known[row.number]


def _check_more(state: LedgerState, account: str, record: Mapping[str, str]) -> None:
    """Reject a cap that the filter cannot hold, and one that allows no more than the present one.

    The latter is likely to be an increase, and a request is for the new total.
    """
    present, epsilon = state.analysts[account], Fraction(record["epsilon"])
    delta = present.delta if record["delta"] == "none" else Fraction(record["delta"])
    state.check_cap(replace(present, epsilon=epsilon, delta=delta))
    is_more = present.delta is not None and delta is not None and delta > present.delta
    if epsilon <= present.epsilon and not is_more:
        rule = f"must be more than the present cap, {shown(present.epsilon)}"
        fix = "Request the new total cap of the account, not the increase"
        raise ParameterError("epsilon", epsilon, rule, fix)


def decide_in(  # noqa: PLR0913 - what is decided, by whom and why
    turn: Turn,
    number: object,
    *,
    granted: object,
    by: object,
    reason: object,
    epsilon: object,
    delta: object,
) -> Request:
    """Write a decision about an open request, and the cap that it grants."""
    is_granted = flag("granted", granted)
    request = _open_request(turn.state, integer("number", number))
    decision = Decision(
        request=request.number,
        granted=is_granted,
        by=check_name("by", by),
        reason=limited_text("reason", reason, MOST_REASON, least=0),
    )
    if is_granted:
        turn.state.cap(request.account)  # rejects an account that is no analyst's by now
    analyst = None
    if is_granted and request.kind == "cap":
        analyst = _with_cap(turn.state, request, epsilon, delta)
        decision = replace(decision, epsilon=analyst.epsilon, delta=analyst.delta)
    elif (epsilon, delta) != (None, None):
        raise ParameterError("epsilon", epsilon, "must be None unless a cap is granted")
    turn.append(NewEntry(kind="decision", account=request.account, about=decision.record))
    if analyst is not None:
        turn.declare_analyst(analyst)
    return turn.state.requests.known[request.number]


def _open_request(state: LedgerState, number: int) -> Request:
    request = state.requests.known.get(number)
    if request is None or request.state != "open":
        rule = "must be the number of an open request"
        was = "" if request is None else f"This one was {request.state}. "
        raise ParameterError("number", number, rule, f"{was}See discreet analyst requests")
    return request


def _with_cap(state: LedgerState, request: Request, epsilon: object, delta: object) -> Analyst:
    """Return the account with the cap that is granted; a delta that nobody names stays."""
    analyst = state.analysts[request.account]
    asked = analyst.delta if request.delta is None else request.delta
    new = replace(
        analyst,
        epsilon=positive("epsilon", request.epsilon if epsilon is None else epsilon),
        delta=asked if delta is None else zero_or_delta("delta", delta),
    )
    state.check_cap(new)
    return new
