"""The interface of every ledger, for any storage, and the values that it returns.

A query is charged once. Its charge is durable before any data are read, its answer is durable
before anyone sees it, and nothing that was written is changed: there is no reset, refund or edit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from types import MappingProxyType, TracebackType
from typing import Literal, Protocol, Self, TypeAlias, Unpack

from discreet.account_limits import AccountLimits
from discreet.accounting import Budget, Charge, ComposedPrice, Event, Remaining
from discreet.errors import Failure
from discreet.ledger.analysts import OWNER, Analyst, LimitTerms, Role
from discreet.ledger.blocks import PerMonth
from discreet.ledger.charges import ChargeScope
from discreet.ledger.requests import Request
from discreet.ledger.versions import SeenVersion
from discreet.parameters import Real

EntryKind: TypeAlias = Literal[
    "policy", "charge", "answer", "analyst", "incident", "resume", "pin", "request", "decision"
]
"""What an entry says: the total in force, a charged query, its answer, an analyst's account, a
failure after a charge, that the owner has looked, off which answer a query was read, what an
analyst asks the owner for, and what the owner decided."""

Suspends: TypeAlias = Literal["account", "all"]
"""Whom an incident suspends: the account that caused it, or all accounts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One of the things that are charged for together."""

    question: str
    events: Sequence[Event]
    scope: ChargeScope = None
    """The tables whose units it is about; None is about everybody."""
    about: Mapping[str, str] = field(default_factory=dict)
    """What the caller notes of it."""
    despite_pin: bool = False
    """Whether it is charged though it was read off an answer, which can no longer be read so."""
    epsilon: Fraction | None = None
    """The epsilon that its answer shows as its cost; None is what the events cost by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountBalance:
    """What an account may still spend, and of how much."""

    remaining: Remaining
    """Of its cap, or of the total where that is less."""
    limit: Budget
    """Its cap, or the total in force, uncharged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A query is charged: the charge is durable, and the answer may be computed."""

    question: str
    events: tuple[Event, ...]
    account: str
    number: int
    """The number of the entry that holds the charge."""
    already_paid: bool
    """Whether an earlier call paid; then this one charged nothing."""
    remaining: Remaining
    """What was left when this receipt was handed out."""
    balance: AccountBalance | None = None
    """Of the account that asked, after the charge; None for a receipt that was looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedAnswer:
    """The one answer of a query that was charged."""

    receipt: Receipt
    answer: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the ledger, as it was written; its digest covers it and all before it."""

    number: int
    kind: EntryKind
    written: datetime
    question: str
    account: str
    events: tuple[Event, ...]
    about: Mapping[str, str]
    """The total in force, what the caller noted of a query, or the answer's SHA-256."""
    digest: str
    scope: ChargeScope = None
    """The tables whose units a charge is about; None is about everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What all stored events cost by the accountant that proves the least: told, never enforced.

    Its price holds for events that were fixed before the first answer. What holds for events that
    were chosen after seeing answers is what the filter charged, and only that decides.
    """

    price: ComposedPrice
    charged: Charge
    """What the filter counts for all queries together, whatever units they are about."""
    total: Budget
    """The total in force, uncharged."""
    questions: int
    accounts: Mapping[str, Charge]
    """What each account was charged."""
    partitions: Mapping[str, Remaining] = field(default_factory=dict)
    """What is left for units of each table that is declared disjoint from others."""
    months: Mapping[str, Remaining] = field(default_factory=dict)
    """With a budget per month, what is left for each month; those with equal charges together."""
    months_per_unit: int | None = None
    """The most months of one unit that are used, over all tables, if that is limited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A query that was charged and failed, or has no answer."""

    number: int
    """The number of the entry that says so; of the charge, where there is no answer."""
    written: datetime
    account: str
    """Who asked when it failed."""
    question: str
    failure: str
    """"failed", "time", "memory" or "release" (noise was drawn, and no table made), or
    "unanswered"."""
    suspends: str
    """"account" or "all"; "" for an unanswered question, which suspends nobody by itself."""
    about: Mapping[str, str]
    """What was noted of the charge."""
    is_resumed: bool
    """Whether the account was resumed since."""


class LedgerView(Protocol):
    """A ledger as it is at one moment: all that is read of it is read in one transaction.

    Other threads of the process wait until it ends, so it is not held longer than reading takes.
    """

    def check(
        self, items: Sequence[Item] = (), *, account: str = OWNER, to_run: bool = False
    ) -> None:
        """Raise what charging an account for all of the items would raise, were none paid for."""

    def find(self, question: str) -> Receipt | SavedAnswer | None:
        """Return the kept answer, else the receipt of a question that was paid for, else None."""

    def pin_of(self, question: str) -> str | None:
        """Return the question off whose kept answer this one is read, if it was pinned."""

    def charges_with_prefix(self, prefix: str, most: int) -> tuple[Entry, ...]:
        """Return the last charges of queries whose names begin so, the newest first."""

    def versions(self) -> Mapping[str, SeenVersion]:
        """Return the data versions that entries name, in the order of their first entries."""

    def remaining(self, account: str | None = None, *, scope: ChargeScope = None) -> Remaining:
        """Return what is left of the total, or of an account's cap; the total holds besides."""

    def balance(
        self, account: str = OWNER, *, scopes: Sequence[ChargeScope] = (None,)
    ) -> AccountBalance:
        """Return what an account may still spend on queries of these scopes; by default on any."""

    def by_month(self, account: str = OWNER) -> dict[str, AccountBalance]:
        """Return what an account may still spend on each month, if the budget is per month."""

    def per_month(self) -> PerMonth | None:
        """Return how the budget is per month, with all tables that there ever were, if it is."""

    def limits_of(self, account: str) -> AccountLimits:
        """Return the limits of an account, and how much of the day's is left."""

    def analysts(self) -> tuple[Analyst, ...]:
        """Return the accounts that were declared, as they are in force."""

    def requests(self, account: str | None = None) -> tuple[Request, ...]:
        """Return what analysts, or one of them, asked for, with the decisions, in order."""

    def is_approved(self, account: str, question: str) -> bool:
        """Return whether the last decision about this query lets the account run it."""

    def report(self, delta: Real | None = None) -> Report:
        """Return what was spent by the tightest accountant, at this delta or that of the total."""

    def entries(self) -> Iterator[Entry]:
        """Return all entries in the order in which they were written."""


class Ledger(Protocol):
    """A record that several threads and processes write together and never overspend.

    Every method raises LedgerError, in words that do not depend on data, when the ledger cannot be
    read or written as it must.
    """

    def view(self) -> AbstractContextManager[LedgerView]:
        """Return what the ledger holds, read in one transaction that lasts as long as this."""

    def find(self, question: str) -> Receipt | SavedAnswer | None:
        """Return the saved answer, else the receipt of a query that was charged, else None."""

    def charge(
        self,
        question: str,
        events: Sequence[Event],
        *,
        account: str = OWNER,
        about: Mapping[str, str] = MappingProxyType({}),
        scope: ChargeScope = None,
    ) -> Receipt:
        """Charge for all of the events or raise BudgetError; durable when it returns.

        A query that was charged is not charged again, whoever paid. An account other than the
        owner's must be declared and enabled, else AccountError is raised. The scope names the
        tables whose units it is about; without one it is charged to everybody.
        """

    def charge_all(
        self,
        items: Sequence[Item],
        *,
        account: str = OWNER,
        pins: Mapping[str, str] = MappingProxyType({}),
        most_unanswered: Callable[[], int] | None = None,
    ) -> tuple[Receipt, ...]:
        """Charge for all items in one transaction, or raise BudgetError and charge for none.

        What was charged before is not charged again. `pins` are queries that are read off the
        saved answers of others, noted in the same transaction for good; if one of them was charged
        meanwhile, or an item was pinned, PinnedError is raised and nothing is written.

        A suspended account gets saved answers only. An account with `most_unanswered()` charges
        without answers gets no new ones; it is called after all other writers have finished.
        """

    def check(
        self, items: Sequence[Item] = (), *, account: str = OWNER, to_run: bool = False
    ) -> None:
        """Raise what charging an account for all of the items would raise, were none paid for.

        Writes nothing. Without items, only an account that may not ask is refused, and `to_run` one
        that is suspended.
        """

    def check_early(self, account: str = OWNER) -> None:
        """Reject an account that may not ask, without reading the ledger if it last could.

        An account that was not allowed to ask when the ledger was last read is looked up again.
        One that was disabled since by another process passes here; `view` and `charge_all` reject
        it.
        """

    def keep(self, receipt: Receipt, answer: bytes) -> bytes:
        """Return the answer that is kept, the first one handed in; durable when it returns."""

    def keep_tick(self, receipt: Receipt, tick: int, answer: bytes) -> bytes:
        """Return what is kept for a tick, the first answer handed in; durable when it returns."""

    def ticks(self, question: str, first: int = 1) -> Iterator[bytes]:
        """Yield what was saved for the ticks of a series, from the tick `first` on."""

    def pin_of(self, question: str) -> str | None:
        """Return the query off whose saved answer this one is read, if it was pinned."""

    def record_incident(
        self,
        receipt: Receipt,
        failure: Failure,
        *,
        account: str = OWNER,
        suspends: Suspends = "account",
        answer: bytes | None = None,
    ) -> None:
        """Note that a query failed after its charge, and suspend who asked it, or all.

        An answer that is handed in is kept in the same transaction, if none is.
        """

    def incidents(self) -> tuple[Incident, ...]:
        """Return all incidents, and the charges that have no answer, in order."""

    def suspended(self) -> Mapping[str, bool]:
        """Return the accounts whose incidents nobody has looked at, and whether all wait for it."""

    def resume(self, account: str) -> None:
        """Note that the owner has looked at an account's incidents, and let it ask again."""

    def remaining(self, account: str | None = None, *, scope: ChargeScope = None) -> Remaining:
        """Return what is left of the total, or of an account's cap; the total holds besides.

        With a scope, what is left for queries about units of these tables; else the least that
        is left for anybody.
        """

    def cap(self, account: str) -> Budget:
        """Return the cap of an analyst's account as a budget, uncharged, or raise AccountError."""

    def keyed(self, text: str) -> str | None:
        """Return what stands for a text in this ledger; without its key nobody can guess which.

        None if there is no key that may be read.
        """

    def note_version(self, name: str, *, earlier: str = "") -> None:
        """Note the version of the data that are open now, if it is new to a ledger with charges.

        `earlier` is the name that an older release gave to the same data, sealed.
        """

    def charged(self) -> Charge:
        """Return what all entries together have taken."""

    def declare_analyst(  # noqa: PLR0913 - each is a field
        self,
        name: str,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        token_hash: str | None = None,
        enabled: bool = True,
        role: Role = "analyst",
        scram: str | None = None,
        **limits: Unpack[LimitTerms],
    ) -> Analyst:
        """Put an analyst's account in force, in place of what was declared of it before.

        An analyst needs an epsilon; a reader and an owner, who are never charged, need none.
        Limits that are not named are none.
        """

    def declare_cap(self, name: str, *, epsilon: Real, delta: Real | None = None) -> Analyst:
        """Put a cap in force; token and role stay, and who is disabled stays so."""

    def declare_limits(self, name: str, **limits: Unpack[LimitTerms]) -> Analyst:
        """Put limits of an account in force, None for no limit; all else of it stays."""

    def limits_of(self, account: str) -> AccountLimits:
        """Return the limits of an account, and how much of the day's is left."""

    def replace_analyst(self, known: Analyst | None, new: Analyst) -> Analyst:
        """Put an account in force if it is still as it was known; return it as it is then.

        None stands for an account that was never declared. So no change undoes another one that
        was made since.
        """

    def analysts(self) -> tuple[Analyst, ...]:
        """Return the accounts that were declared, as they are in force."""

    def authenticate(self, token: str) -> str:
        """Return the name of the enabled analyst who holds this token, or raise AccountError.

        The token of a reader or of an owner is rejected: their accounts are never charged.
        """

    def holder(self, token: str) -> Analyst:
        """Return the enabled account that this token belongs to, whatever its role.

        Raise AccountError for a bad token, which takes as long whichever part of it is wrong.
        """

    def knows_token(self, token: str) -> bool:
        """Return whether an account has the public part of this token; its secret is not read."""

    def request_budget(  # noqa: PLR0913 - a cap or a query
        self,
        account: str,
        *,
        reason: str,
        epsilon: Real | None = None,
        delta: Real | None = None,
        question: str | None = None,
        price: str | None = None,
    ) -> Request:
        """Ask the owner for a cap of epsilon (and delta) in total, or for leave to run a query.

        The cap is the new total of the account, not an increase; without a delta, that of the
        account stays. A query is any text that fixes it and its terms, with its price as it is to
        be shown. Only an enabled analyst's account may ask, and the same is asked for only once.
        """

    def decide(  # noqa: PLR0913 - what, by whom and why
        self,
        number: int,
        *,
        granted: bool,
        by: str,
        reason: str = "",
        epsilon: Real | None = None,
        delta: Real | None = None,
    ) -> Request:
        """Grant or decline an open request; a cap is in force when it returns.

        Epsilon and delta grant another cap than the one that was asked for.
        """

    def requests(self, account: str | None = None) -> tuple[Request, ...]:
        """Return what analysts, or one of them, asked for, with the decisions, in order."""

    def is_approved(self, account: str, question: str) -> bool:
        """Return whether the last decision about this query lets the account run it."""

    def report(self, delta: Real | None = None) -> Report:
        """Return what was spent by the tightest accountant, at this delta or that of the total."""

    def entries(self) -> Iterator[Entry]:
        """Return all entries in the order in which they were written."""

    def charges_with_prefix(self, prefix: str, most: int) -> tuple[Entry, ...]:
        """Return the last charges of queries whose names begin so, the newest first."""

    def head(self) -> str:
        """Return the digest of the last entry; noted elsewhere, it shows a dropped tail."""

    def verify(self, head: str | None = None) -> None:
        """Raise LedgerError unless every entry is as it was written and head is among them."""

    def close(self) -> None:
        """Let go of the storage; charges and answers are in it already."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
