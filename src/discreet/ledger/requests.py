"""Requests of analysts, and the owner's decisions about them: both are entries of the ledger.

An analyst asks for a new cap, or for leave to run one query that is above the owner's limit for a
single query. A request changes nothing by itself, and each is decided once.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from typing import Literal, TypeAlias

from discreet.accounting.events import positive, zero_or_delta
from discreet.errors import HIDDEN, ParameterError

RequestKind: TypeAlias = Literal["cap", "question"]
"""What is asked for: a new cap of the account, or leave to run one query."""

RequestState: TypeAlias = Literal["open", "granted", "declined"]

MOST_REASON, MOST_QUESTION, MOST_PRICE = 1000, 50_000, 200
"""Longer reasons, queries with their terms, and prices (in characters) are rejected."""

MOST_OPEN = 100
"""An account with so many open requests can make no other."""

YES, NO, NONE = "yes", "no", "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What an analyst asked the owner for, and what the owner decided."""

    number: int
    """The number of the entry that holds the request."""
    written: datetime
    account: str
    kind: RequestKind
    epsilon: Fraction | None = None
    """The new total cap of the account, not an increase; None for a query."""
    delta: Fraction | None = None
    """The new cap in delta; None leaves it as it is."""
    question: str = ""
    """The query with its terms, as the caller writes them; "" for a cap."""
    price: str = ""
    """What the query costs, as it is shown to the owner; "" for a cap."""
    reason: str
    state: RequestState = "open"
    decided: datetime | None = None
    by: str = ""
    """Who decided; "" while it is open."""
    answer: str = ""
    """The reason that was given for the decision."""
    granted_epsilon: Fraction | None = None
    """The cap that was granted, which may be another than the one that was asked for."""
    granted_delta: Fraction | None = None
    """The cap in delta that was granted; None is no separate cap."""

    @property
    def record(self) -> dict[str, str]:
        """What was asked for, as the entry of the request holds it."""
        if self.kind == "cap":
            return request_record(epsilon=self.epsilon, delta=self.delta, reason=self.reason)
        return request_record(question=self.question, price=self.price, reason=self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the owner decided about a request, with the cap that was granted if it is about one."""

    request: int
    granted: bool
    by: str
    reason: str
    epsilon: Fraction | None = None
    delta: Fraction | None = None

    @property
    def record(self) -> dict[str, str]:
        """The decision as its entry holds it."""
        is_cap = self.epsilon is not None
        return {
            "request": str(self.request),
            "granted": YES if self.granted else NO,
            "by": self.by,
            "reason": self.reason,
            **({"epsilon": str(self.epsilon), "delta": _delta_text(self.delta)} if is_cap else {}),
        }


def request_record(
    *,
    epsilon: object = None,
    delta: object = None,
    question: object = None,
    price: object = None,
    reason: object,
) -> dict[str, str]:
    """Return what a request's entry holds, or reject what cannot be asked for."""
    if question is None:
        if price is not None:
            raise ParameterError("price", price, "must come with the query that costs it")
        cap = None if delta is None else zero_or_delta("delta", delta)
        wanted = {"epsilon": str(positive("epsilon", epsilon)), "delta": _delta_text(cap)}
    else:
        for name, value in (("epsilon", epsilon), ("delta", delta)):
            if value is not None:
                rule = "must be None beside a query, because it is the new cap of the account"
                raise ParameterError(name, value, rule)
        wanted = {
            "question": limited_text("question", question, MOST_QUESTION),
            "price": limited_text("price", price, MOST_PRICE),
        }
    kind = "cap" if question is None else "question"
    return {"kind": kind, **wanted, "reason": limited_text("reason", reason, MOST_REASON)}


def limited_text(name: str, value: object, most: int, *, least: int = 1) -> str:
    """Return text of limited length that can be stored, or reject it by name."""
    if not isinstance(value, str) or not least <= len(value) <= most:
        raise ParameterError(name, value, f"must be text of {least} to {most:,} characters")
    if any(0xD800 <= ord(each) <= 0xDFFF for each in value):
        raise ParameterError(name, value, "must not contain lone surrogates")
    return value


@dataclass(kw_only=True)
class Requests:
    """All requests of a ledger as they are now, and the queries that accounts may run.

    A state of the ledger never changes the ones that it has: what follows works on a copy.
    """

    known: dict[int, Request] = field(default_factory=dict)
    approved: set[tuple[str, str]] = field(default_factory=set)
    """Accounts and queries whose last decision grants them."""

    def copy(self) -> "Requests":
        """Return the same, to be added to."""
        return Requests(known=dict(self.known), approved=set(self.approved))

    def of(self, account: str | None) -> tuple[Request, ...]:
        """Return the requests of an account, or of all, in the order of their numbers."""
        return tuple(each for each in self.known.values() if account in {None, each.account})

    def open_of(self, account: str) -> tuple[Request, ...]:
        """Return the requests of an account that are not decided."""
        return tuple(each for each in self.of(account) if each.state == "open")

    def add(self, kind: str, number: int, written: str, account: str, about: str) -> None:
        """Add the request or the decision of an entry; reject what this version cannot read."""
        record = json.loads(about)
        if kind == "request":
            self.known[number] = request_from_record(number, written, account, record)
        else:
            self._decide(decision_from_record(record), written, account)

    def _decide(self, decision: Decision, written: str, account: str) -> None:
        request = self.known.get(decision.request)
        if request is None or request.state != "open" or request.account != account:
            raise ParameterError("record", HIDDEN, "must be about an open request")
        self.known[request.number] = _decided(request, decision, written)
        if request.kind == "question":
            change = self.approved.add if decision.granted else self.approved.discard
            change((account, request.question))


def request_from_record(
    number: int, written: str, account: str, record: Mapping[str, str]
) -> Request:
    """Return the request that an entry holds; reject what this version cannot read."""
    is_cap = record["kind"] == "cap"
    request = Request(
        number=number,
        written=datetime.fromisoformat(written),
        account=account,
        kind="cap" if is_cap else "question",
        epsilon=Fraction(record["epsilon"]) if is_cap else None,
        delta=_delta(record["delta"]) if is_cap else None,
        question="" if is_cap else record["question"],
        price="" if is_cap else record["price"],
        reason=record["reason"],
    )
    if request.record != record:
        raise ParameterError("record", HIDDEN, "must be a record that request_record returned")
    return request


def decision_from_record(record: Mapping[str, str]) -> Decision:
    """Return the decision that an entry holds; reject what this version cannot read."""
    is_cap = "epsilon" in record
    decision = Decision(
        request=int(record["request"]),
        granted={YES: True, NO: False}[record["granted"]],
        by=record["by"],
        reason=record["reason"],
        epsilon=Fraction(record["epsilon"]) if is_cap else None,
        delta=_delta(record["delta"]) if is_cap else None,
    )
    if decision.record != record:
        raise ParameterError("record", HIDDEN, "must be the record of a decision")
    return decision


def _decided(request: Request, decision: Decision, written: str) -> Request:
    if (decision.epsilon is not None) != (decision.granted and request.kind == "cap"):
        raise ParameterError("record", HIDDEN, "must have a cap if and only if one is granted")
    return replace(
        request,
        state="granted" if decision.granted else "declined",
        decided=datetime.fromisoformat(written),
        by=decision.by,
        answer=decision.reason,
        granted_epsilon=decision.epsilon,
        granted_delta=decision.delta,
    )


def _delta_text(delta: Fraction | None) -> str:
    return NONE if delta is None else str(delta)


def _delta(text: str) -> Fraction | None:
    return None if text == NONE else Fraction(text)
