"""What follows from a ledger's entries: the policy in force, what is charged, the chain of digests.

Nothing here knows where entries are stored. Sums are computed from the events of the entries and
from nothing else; a stored sum would be one more thing to forge.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple, Self, get_args

from discreet.accounting import Budget, Charge, Event, Remaining, record_from_event
from discreet.accounting.events import positive, zero_or_positive
from discreet.errors import AccountError, BudgetError, LedgerError, ParameterError
from discreet.ledger.analysts import analyst_from_record, cap_of
from discreet.ledger.base import OWNER, Analyst, Entry, Kind
from discreet.ledger.prices import UNKNOWN, added, events_from_text, total_of

ALTERED = (
    "the ledger's entries are not as they were written",
    "keep the file for inquiry and go on from a copy that verifies",
)
BEGINNING = sha256(b"discreet ledger 1").digest()
"""The digest before the first entry."""

KINDS: Mapping[str, Kind] = {each: each for each in get_args(Kind)}

NEIGHBOURS = ("add-remove", "replace")


class Row(NamedTuple):
    """An entry as it is stored: texts, and the digest that covers them and all rows before."""

    number: int
    kind: str
    written: str
    question: str
    account: str
    events: str
    about: str
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What is to be written next."""

    kind: Kind
    question: str = ""
    account: str = ""
    events: tuple[Event, ...] = ()
    about: Mapping[str, str]


def digest_after(previous: bytes, row: Row) -> bytes:
    """Return the digest that row must have if it follows previous."""
    return sha256(previous + _text(row[:-1]).encode("ascii")).digest()


def entry_from_row(row: Row) -> Entry:
    """Return the entry that a row holds."""
    if row.kind not in KINDS:
        raise LedgerError(*UNKNOWN)
    return Entry(
        number=row.number,
        kind=KINDS[row.kind],
        written=datetime.fromisoformat(row.written),
        question=row.question,
        account=row.account,
        events=events_from_text(row.events),
        about=MappingProxyType(json.loads(row.about)),
        digest=row.digest.hex(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the owner declares: the total, the theorem that holds it, and who are neighbours."""

    total: Budget
    neighbours: str

    def __post_init__(self) -> None:
        if not isinstance(self.total, Budget) or self.total.charged != Charge():
            rule = "must be a Budget that nothing is charged to: the ledger knows what is"
            raise ParameterError("budget", self.total, rule)
        if self.neighbours not in NEIGHBOURS:
            rule = f"must be {' or '.join(map(repr, NEIGHBOURS))}"
            raise ParameterError("neighbours", self.neighbours, rule)

    @property
    def record(self) -> dict[str, str]:
        """The policy as its entry holds it."""
        return {
            "epsilon": str(positive("epsilon", self.total.epsilon)),
            "delta": str(zero_or_positive("delta", self.total.delta)),
            "neighbours": self.neighbours,
            **self._for_life,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, str]) -> Self:
        """Return the policy that `record` wrote."""
        total = Budget(
            epsilon=Fraction(record["epsilon"]),
            delta=Fraction(record["delta"]),
            filter=record["filter"],
            set_aside=Fraction(record["set_aside"]),
        )
        return cls(total=total, neighbours=record["neighbours"])

    def check_change(self, declared: Self) -> None:
        """Refuse a policy under which the entries that there are would prove nothing."""
        mine, other = self._for_life, declared._for_life
        for name, value in mine.items():
            if other[name] != value:
                raise LedgerError(
                    f"the ledger was begun with {name} = {value} and opened with "
                    f"{name} = {other[name]}",
                    f"open it with {name} = {value}, which cannot be changed",
                )

    @property
    def _for_life(self) -> dict[str, str]:
        """What cannot change: prices and sensitivities of old entries depend on it."""
        assert self.total.filter is not None  # noqa: S101 - for types; Budget always names one
        return {
            "neighbours": self.neighbours,
            "filter": self.total.filter.value,
            "set_aside": str(zero_or_positive("set_aside", self.total.set_aside)),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """All that follows from the entries up to a number, each checked against the chain."""

    number: int = 0
    digest: bytes = BEGINNING
    policy: Policy | None = None
    charged: Charge = Charge()  # noqa: RUF009 - frozen
    accounts: Mapping[str, Charge] = field(default_factory=dict)
    """What each account was charged; together they are what is charged."""
    analysts: Mapping[str, Analyst] = field(default_factory=dict)
    """The accounts that were declared, as they are in force."""

    @property
    def total(self) -> Budget:
        """The total in force, uncharged."""
        if self.policy is None:
            raise LedgerError(*ALTERED)
        return self.policy.total

    @property
    def budget(self) -> Budget:
        """The total in force, with what is charged to it."""
        return replace(self.total, charged=self.charged)

    def remaining(self, account: str | None = None) -> Remaining:
        """Return what is left of the total, or of an account's cap; the total holds besides."""
        cap = None if account is None else self.cap(account)
        return (cap or self.budget).remaining()

    def cap(self, account: str) -> Budget | None:
        """Return the cap of an account, with what it was charged; None for the owner's."""
        if account == OWNER:
            return None
        if account not in self.analysts:
            raise AccountError(
                "no analyst of this name is declared", "ask the owner to add the account"
            )
        cap = cap_of(self.analysts[account], self.total)
        return replace(cap, charged=self.accounts.get(account, Charge()))

    def check_enabled(self, account: str) -> None:
        """Refuse an account that may not ask."""
        if self.cap(account) is not None and not self.analysts[account].enabled:
            raise AccountError("this analyst's account is disabled", "ask the owner to enable it")

    def check_affordable(self, account: str, event: Event) -> None:
        """Refuse an event that the account's cap or the total does not allow, saying which."""
        cap = self.cap(account)
        if cap is not None:
            try:
                cap.charge(event)
            except BudgetError as refusal:
                raise refusal.of_analyst(account) from None
        self.budget.charge(event)

    def row(self, line: Line, written: datetime) -> Row:
        """Return the row that follows this book."""
        row = Row(
            number=self.number + 1,
            kind=line.kind,
            written=written.isoformat(timespec="microseconds"),
            question=line.question,
            account=line.account,
            events=_text([record_from_event(each) for each in line.events]),
            about=_text(line.about),
            digest=b"",
        )
        return row._replace(digest=digest_after(self.digest, row))

    def after(self, rows: Iterable[Row]) -> "Book":
        """Return the book after further rows, or refuse rows that do not follow."""
        number, digest, policy = self.number, self.digest, self.policy
        paid: dict[str, Counter[str]] = {}
        analysts = dict(self.analysts)
        for row in rows:
            number += 1
            check_follows(digest, row)
            digest = row.digest
            match row.kind:
                case _ if row.number != number:
                    raise LedgerError(*ALTERED)
                case "policy":
                    policy = _next_policy(policy, row)
                case "charge" if policy is not None:
                    paid.setdefault(row.account, Counter())[row.events] += 1
                case "analyst" if policy is not None:
                    analysts[row.account] = _analyst(row)
                case "answer":
                    pass
                case _:
                    raise LedgerError(*UNKNOWN)
        known = replace(self, number=number, digest=digest, policy=policy, analysts=analysts)
        return known.charged_for(paid)

    def charged_for(self, paid: Mapping[str, Mapping[str, int]]) -> "Book":
        """Return the book with what accounts paid: policies price alike for life."""
        accounts, charged = dict(self.accounts), self.charged
        for account, events in paid.items():
            more = total_of(self.total, events)
            accounts[account] = added(accounts.get(account, Charge()), more)
            charged = added(charged, more)
        return replace(self, accounts=accounts, charged=charged) if paid else self


def check_follows(previous: bytes, row: Row) -> None:
    """Refuse a row whose digest does not cover it and the rows before it."""
    try:
        follows = row.digest == digest_after(previous, row)
    except (TypeError, ValueError) as cause:
        raise LedgerError(*ALTERED) from cause
    if not follows:
        raise LedgerError(*ALTERED)


def _next_policy(policy: Policy | None, row: Row) -> Policy:
    try:
        declared = Policy.from_record(json.loads(row.about))
    except (ParameterError, KeyError, TypeError, ValueError) as cause:
        raise LedgerError(*UNKNOWN) from cause
    if policy is not None:
        policy.check_change(declared)
    return declared


def _analyst(row: Row) -> Analyst:
    try:
        return analyst_from_record(row.account, json.loads(row.about))
    except (ParameterError, KeyError, TypeError, ValueError) as cause:
        raise LedgerError(*UNKNOWN) from cause


def _text(value: object) -> str:
    """Return the one text of a value: ASCII, keys in order, no spaces."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"))
