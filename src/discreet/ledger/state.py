"""The state that follows from a ledger's entries: policy, charges and chain of digests.

Nothing here knows where entries are stored. Sums are computed from the events of the entries and
from nothing else; a stored sum would be one more thing to forge.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from hashlib import sha256
from shlex import quote
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, get_args

from discreet.accounting import Budget, Charge, Event, Remaining, record_from_event
from discreet.errors import (
    AccountError,
    BudgetError,
    LedgerError,
    ParameterError,
    SuspendedError,
    shown,
)
from discreet.ledger.analysts import OWNER, Analyst
from discreet.ledger.base import Entry, EntryKind
from discreet.ledger.blocks import BudgetBlock, PerMonth, Timeline, least, table_blocks
from discreet.ledger.charges import (
    NOTE,
    UNKNOWN,
    ChargeScope,
    Disjoint,
    added,
    events_from_text,
    noted_scope,
    scope_note,
    total_of,
)
from discreet.ledger.digests import digest_of, text_of
from discreet.ledger.incidents import looked_at, suspends_all
from discreet.ledger.inputs import (
    DISABLED,
    NEVER_CHARGED,
    analyst_from_record,
    cap_of,
    check_name,
)
from discreet.ledger.limits import DaySpending, NewSpending, stated_note
from discreet.ledger.policy import Largest, Policy
from discreet.ledger.requests import Requests
from discreet.ledger.tick_entries import tick_in
from discreet.ledger.versions import SeenVersion, with_versions

ALTERED = (
    "The ledger has been changed since it was written",
    "Keep this file for investigation, and restore a copy that passes discreet ledger verify",
)


BEGINNING = sha256(b"discreet ledger 1").digest()
"""The digest before the first entry."""


KINDS: Mapping[str, EntryKind] = {each: each for each in get_args(EntryKind)}


class StoredEntry(NamedTuple):
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
class NewEntry:
    """What is to be written next."""

    kind: EntryKind
    question: str = ""
    account: str = ""
    events: tuple[Event, ...] = ()
    scope: ChargeScope = None
    about: Mapping[str, str]
    stated: Fraction | None = None
    """The epsilon that its answer shows as its cost."""

    @property
    def notes(self) -> Mapping[str, str]:
        """What is noted, scope and stated epsilon among it, so that the digest covers them."""
        stated = stated_note(self.events, self.stated)
        return {**self.about, **scope_note(self.scope), **stated}


def digest_after(previous: bytes, row: StoredEntry) -> bytes:
    """Return the digest that row must have if it follows previous."""
    told = row[:-1]
    return digest_of(previous, told, tuple(map(type, told)))


def entry_from_row(row: StoredEntry) -> Entry:
    """Return the entry that a row holds."""
    if row.kind not in KINDS:
        raise LedgerError(*UNKNOWN)
    about = json.loads(row.about)  # its digest was compared, so it is as it was written
    return Entry(
        number=row.number,
        kind=KINDS[row.kind],
        written=datetime.fromisoformat(row.written),
        question=row.question,
        account=row.account,
        events=events_from_text(row.events),
        about=MappingProxyType(about),
        digest=row.digest.hex(),
        scope=scope_of(row),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerState:
    """All that follows from the entries up to a number, each checked against the chain."""

    number: int = 0
    digest: bytes = BEGINNING
    policy: Policy | None = None
    charged: Charge = Charge()  # noqa: RUF009 - frozen
    accounts: Mapping[str, Charge] = field(default_factory=dict)
    """What each account was charged; together they are what is charged."""
    scopes: Mapping[str, Mapping[ChargeScope, Charge]] = field(default_factory=dict)
    """The same by the tables whose units it was about."""
    timelines: Mapping[str | None, Timeline] = field(default_factory=dict)
    """With a budget per month, what is charged to each month: by account, and by all for None."""
    analysts: Mapping[str, Analyst] = field(default_factory=dict)
    """The accounts that were declared, as they are in force."""
    largest: Largest = Largest()  # noqa: RUF009 - a tuple
    """Of all totals that were declared."""
    shares: Mapping[str, Fraction] = field(default_factory=dict)
    """The part of an account's delta that is set aside: the total's when it was first declared."""
    suspended: Mapping[str, bool] = field(default_factory=dict)
    """Accounts whose incidents nobody has looked at, and whether all accounts wait for it."""
    unanswered: Mapping[str, int] = field(default_factory=dict)
    """How many charges of each account have no answer, since it was last resumed."""
    looked_at: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Those before it was: answered late, they make room for no others."""
    pins: Mapping[str, str] = field(default_factory=dict)
    """Queries that were read off saved answers, and the queries of those."""
    versions: Mapping[str, SeenVersion] = field(default_factory=dict)
    """The data versions that entries name, in the order in which they were first named."""
    requests: Requests = field(default_factory=Requests)
    """What analysts asked the owner for, and what was decided."""
    days: Mapping[str, DaySpending] = field(default_factory=dict)
    """What analysts spent on the last day on which they were charged."""

    @property
    def total(self) -> Budget:
        """The total in force, uncharged."""
        if self.policy is None:
            raise LedgerError(*ALTERED)
        return self.policy.total

    @property
    def noted(self) -> frozenset[str]:
        """What stands for the data that the ledger is about, as it was noted last."""
        return frozenset() if self.policy is None else self.policy.data

    @property
    def disjoint(self) -> Disjoint:
        """The groups of tables in force that have no unit in common."""
        return Disjoint() if self.policy is None else self.policy.disjoint

    @property
    def is_charged(self) -> bool:
        """Whether anything was ever charged."""
        return bool(self.accounts)

    @property
    def per_month(self) -> PerMonth | None:
        """How the budget is per month, if it is."""
        return None if self.policy is None else self.policy.per_month

    def remaining(self, account: str | None = None, scope: ChargeScope = None) -> Remaining:
        """Return what is left of the total, or of an account's cap; the total holds besides.

        It is the least over all blocks that the scope is about: units of some tables, or months.
        """
        own = None if account == OWNER else account
        limit = self.total if own is None else self.cap(own)
        blocks = self.blocks([scope], own)
        return least(limit.remaining_after(each.charged) for each in blocks)

    def blocks(
        self, scopes: Collection[ChargeScope], account: str | None = None
    ) -> list[BudgetBlock]:
        """Return all that has a budget of its own and that some scope is about.

        Each has all that is charged to it, or the charges of one account.
        """
        if self.per_month is not None:
            return self.timelines.get(account, Timeline()).blocks(scopes)
        charged = self.charged if account is None else self.accounts.get(account, Charge())
        found = self.scopes.values() if account is None else [self.scopes.get(account, {})]
        return table_blocks(self.disjoint, scopes, charged, found)

    def cap(self, account: str) -> Budget:
        """Return the cap of an analyst's account, uncharged; reject one that is never charged."""
        analyst = self.declared(account)
        if analyst.role != "analyst":
            raise AccountError(*NEVER_CHARGED[analyst.role])
        return cap_of(analyst, self.total, self.shares[account])

    def declared(self, account: str) -> Analyst:
        """Return an account as it is in force, or reject one that was never declared."""
        if account not in self.analysts:
            raise AccountError(
                f"There is no analyst {shown(account)}",
                "The data owner can add one with "
                f"discreet analyst add {quote(account) if account.isprintable() else 'NAME'} "
                "--epsilon 1",
            )
        return self.analysts[account]

    def check_session(self, declared: Policy | None) -> None:
        """Reject charges of a session whose months are no longer those of the ledger."""
        if self.policy is not None and declared is not None:
            self.policy.check_months(declared)

    def check_policy(self, declared: Policy) -> None:
        """Reject a policy under which the entries that there are would prove nothing."""
        if self.policy is not None:
            self.policy.check_change(declared, is_charged=self.is_charged)
        self.largest.after(declared)

    def check_cap(self, analyst: Analyst) -> None:
        """Reject a cap that the filter cannot hold; of those that are never charged, any may be."""
        if analyst.role != "analyst":
            return
        share = Fraction(0) if self.policy is None else self.policy.share
        cap_of(analyst, self.total, self.shares.get(analyst.name, share))

    def check_enabled(self, account: str) -> None:
        """Reject an account that may not ask."""
        if account == OWNER:
            return
        if not self.declared(account).enabled:
            raise AccountError(*DISABLED)
        self.cap(account)

    def check_running(self, account: str) -> None:
        """Reject an account that may run nothing until the owner has looked."""
        if account in self.suspended:
            raise SuspendedError(account)
        for other, stops_all in self.suspended.items():
            if stops_all and account == OWNER:
                raise SuspendedError(other, "All accounts are")
            if stops_all:  # whose query it was is not for other analysts
                raise SuspendedError(who="All accounts are")

    def check_affordable(self, account: str, lines: Collection[NewEntry]) -> None:
        """Reject lines that the account's cap or the total does not allow together, saying which.

        They are allowed if they are for units of every choice that one of them is about.
        """
        if account != OWNER:
            try:
                self._check_within(self.cap(account), lines, account)
            except BudgetError as refusal:
                raise refusal.of_analyst(account) from None
        self._check_within(self.total, lines, None)

    def _check_within(
        self, limit: Budget, lines: Collection[NewEntry], account: str | None
    ) -> None:
        tried: dict[tuple[Charge, tuple[Event, ...]], BudgetError | None] = {}
        for block in self.blocks([line.scope for line in lines], account):
            concerned = (line for line in lines if block.concerns(line.scope))
            events = tuple(event for line in concerned for event in line.events)
            if (block.charged, events) not in tried:
                tried[block.charged, events] = block.refusal(limit, events)
        refusals = [each for each in tried.values() if each is not None]
        if refusals:
            raise min(refusals, key=lambda each: min(each.remaining.values()))

    def row(self, line: NewEntry, written: datetime) -> StoredEntry:
        """Return the row that follows this state."""
        row = StoredEntry(
            number=self.number + 1,
            kind=line.kind,
            written=written.isoformat(timespec="microseconds"),
            question=line.question,
            account=line.account,
            events=text_of([record_from_event(each) for each in line.events]),
            about=text_of(line.notes),
            digest=b"",
        )
        return row._replace(digest=digest_after(self.digest, row))

    def after(self, rows: Iterable[StoredEntry]) -> "LedgerState":
        """Return the state after further rows, or reject rows that do not follow."""
        number, digest, policy, largest = self.number, self.digest, self.policy, self.largest
        paid: dict[tuple[str, ChargeScope], Counter[str]] = {}
        analysts, shares = dict(self.analysts), dict(self.shares)
        suspended, unanswered, pins = dict(self.suspended), dict(self.unanswered), self.pins
        looked, versions, requests = self.looked_at, self.versions, self.requests
        spending = NewSpending(self.days)
        for row in rows:
            number += 1
            check_follows(digest, row, number)
            digest = row.digest
            match row.kind:
                case "policy":
                    policy = _next_policy(policy, row, is_charged=self.is_charged or bool(paid))
                    largest = largest.after(policy)
                    versions = with_versions(versions, row.written, row.about)
                case "charge" if policy is not None:
                    paid.setdefault((row.account, scope_of(row)), Counter())[row.events] += 1
                    unanswered[row.account] = unanswered.get(row.account, 0) + 1
                    spending.add(row.account, row.written, row.events, row.about)
                    versions = with_versions(versions, row.written, row.about)
                case "analyst" if policy is not None:
                    analysts[row.account] = _known(_analyst, row)
                    shares.setdefault(row.account, policy.share)
                case "answer":
                    is_own = tick_in(row.about) is None
                    counts = is_own and row.question not in looked.get(row.account, ())
                    unanswered[row.account] = max(0, unanswered.get(row.account, 0) - counts)
                case "incident" if policy is not None:
                    own = suspended.get(row.account, False)
                    suspended[row.account] = own or _known(suspends_all, row.about)
                case "resume" if policy is not None:
                    suspended.pop(row.account, None)
                    unanswered.pop(row.account, None)
                    looked = {**looked, row.account: _known(looked_at, row.about)}
                case "pin" if policy is not None:
                    pins = dict(pins) if pins is self.pins else pins
                    assert isinstance(pins, dict)  # noqa: S101 - for types
                    pins[row.question] = source_of(row)
                case "request" | "decision" if policy is not None:
                    requests = requests.copy() if requests is self.requests else requests
                    _known(requests.add, row.kind, row.number, row.written, row.account, row.about)
                case _:
                    raise LedgerError(*UNKNOWN)
        return replace(
            self,
            number=number,
            digest=digest,
            policy=policy,
            analysts=analysts,
            largest=largest,
            shares=shares,
            suspended=suspended,
            unanswered=unanswered,
            looked_at=looked,
            pins=pins,
            versions=versions,
            requests=requests,
            **(self._charged_for(policy, paid, spending) if paid and policy is not None else {}),
        )

    def _charged_for(
        self,
        policy: Policy,
        paid: Mapping[tuple[str, ChargeScope], Mapping[str, int]],
        spending: NewSpending,
    ) -> dict[str, Any]:
        """Return the fields that tell what accounts paid: policies price alike for life."""
        accounts, charged = dict(self.accounts), self.charged
        scopes = {account: dict(each) for account, each in self.scopes.items()}
        timelines = dict(self.timelines)
        for (account, scope), events in paid.items():
            more = total_of(policy.total, events)
            accounts[account] = added(accounts.get(account, Charge()), more)
            own = scopes.setdefault(account, {})
            own[scope] = added(own.get(scope, Charge()), more)
            charged = added(charged, more)
            for whose in (None, account) if policy.per_month is not None else ():
                timelines[whose] = timelines.get(whose, Timeline()).plus(scope, more)
        return {
            "accounts": accounts,
            "scopes": scopes,
            "charged": charged,
            "timelines": timelines,
            "days": spending.spent(policy.total),
        }


def check_follows(previous: bytes, row: StoredEntry, number: int | None = None) -> None:
    """Reject a row whose digest does not cover it and the rows before it, or of another number."""
    try:
        follows = row.digest == digest_after(previous, row) and number in {None, row.number}
    except (TypeError, ValueError) as cause:
        raise LedgerError(*ALTERED) from cause
    if not follows:
        raise LedgerError(*ALTERED)


def _next_policy(policy: Policy | None, row: StoredEntry, *, is_charged: bool) -> Policy:
    try:
        declared = Policy.from_record(json.loads(row.about))
    except (ParameterError, KeyError, TypeError, ValueError) as cause:
        raise LedgerError(*UNKNOWN) from cause
    if policy is not None:
        policy.check_change(declared, is_charged=is_charged)
        declared = declared.with_earlier(policy, is_charged=is_charged)
    return declared


Read = TypeVar("Read")


def _known(read: Callable[..., Read], *stored: object) -> Read:
    """Return what is read of an entry, or reject what this version does not know."""
    try:
        return read(*stored)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as cause:
        raise LedgerError(*UNKNOWN) from cause


def _analyst(row: StoredEntry) -> Analyst:
    return analyst_from_record(row.account, json.loads(row.about))


def source_of(row: StoredEntry) -> str:
    """Return the query off whose answer a pinned one is read."""
    return _known(lambda: check_name("source", json.loads(row.about)["source"]))


_NAMED = f'"{NOTE}'


def scope_of(row: StoredEntry) -> ChargeScope:
    """Return the tables, or months, that a charge is about; without any it is about everybody."""
    if row.kind != "charge" or _NAMED not in row.about:  # no note has this name: no need to parse
        return None
    try:
        return noted_scope(json.loads(row.about))
    except (ParameterError, RecursionError, TypeError, ValueError) as cause:
        raise LedgerError(*UNKNOWN) from cause
