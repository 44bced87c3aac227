"""What a ledger holds at one moment: everything that is read here is read in one transaction."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from discreet.account_limits import AccountLimits
from discreet.accounting import Budget, Event, Remaining, compose
from discreet.errors import HIDDEN, ParameterError
from discreet.ledger.analysts import OWNER, Analyst
from discreet.ledger.base import (
    AccountBalance,
    Entry,
    Item,
    Receipt,
    Report,
    SavedAnswer,
)
from discreet.ledger.blocks import PerMonth, least, paid_by_block, span_text
from discreet.ledger.charges import ChargeScope, check_scope, events_from_text, one_event
from discreet.ledger.inputs import check_name, check_prefix
from discreet.ledger.policy import Policy
from discreet.ledger.requests import Request
from discreet.ledger.state import LedgerState, StoredEntry, entry_from_row, scope_of
from discreet.ledger.storage import Turn, following, new_entries
from discreet.ledger.versions import SeenVersion
from discreet.months import Months
from discreet.parameters import Real


class StoredView:
    """A ledger as one read transaction finds it."""

    def __init__(self, turn: Turn) -> None:
        self._held: Turn | None = turn

    def end(self) -> None:
        """Reject everything from now on."""
        self._held = None

    @property
    def _turn(self) -> Turn:
        if self._held is None:
            raise ParameterError("view", HIDDEN, "must not be read after its end", "Open another")
        return self._held

    @property
    def _state(self) -> LedgerState:
        return self._turn.state

    def check(
        self, items: Sequence[Item] = (), *, account: str = OWNER, to_run: bool = False
    ) -> None:
        """Raise what charging an account for all of the items would raise, were none paid for."""
        self._state.check_enabled(check_name("account", account))
        lines = new_entries(items, account)
        if lines or to_run:
            self._state.check_running(account)
        if lines:
            self._state.check_affordable(account, lines)
            self._turn.check_limits(account, lines)

    def find(self, question: str) -> Receipt | SavedAnswer | None:
        """Return the saved answer, else the receipt of a query that was charged, else None."""
        question = check_name("question", question)
        paid = self._turn.charge_of(question)
        if paid is None:  # what was not charged has no answer
            return None
        answer = self._turn.answer_of(question)
        receipt = receipt_from(paid, events_from_text(paid.events), self._state, already_paid=True)
        return receipt if answer is None else SavedAnswer(receipt=receipt, answer=answer)

    def pin_of(self, question: str) -> str | None:
        """Return the query off whose saved answer this one is read, if it was pinned."""
        return self._state.pins.get(check_name("question", question))

    def charges_with_prefix(self, prefix: str, most: int) -> tuple[Entry, ...]:
        """Return the last charges of queries whose names begin so, the newest first."""
        return tuple(map(entry_from_row, self._turn.charges_under(check_prefix(prefix), most)))

    def versions(self) -> Mapping[str, SeenVersion]:
        """Return the data versions that entries name, in the order of their first entries."""
        return MappingProxyType(dict(self._state.versions))

    def remaining(self, account: str | None = None, *, scope: ChargeScope = None) -> Remaining:
        """Return what is left of the total, or of an account's cap; the total holds besides."""
        name = None if account is None else check_name("account", account)
        return self._state.remaining(name, check_scope(scope))

    def balance(
        self, account: str = OWNER, *, scopes: Sequence[ChargeScope] = (None,)
    ) -> AccountBalance:
        """Return what an account may still spend on queries of these scopes; by default on any."""
        return balance_in(self._state, check_name("account", account), scopes)

    def by_month(self, account: str = OWNER) -> dict[str, AccountBalance]:
        """Return what an account may still spend on each month, if the budget is per month."""
        return balances_by_month(self._state, check_name("account", account))

    def per_month(self) -> PerMonth | None:
        """Return how the budget is per month, with all tables that there ever were, if it is."""
        return self._state.per_month

    def limits_of(self, account: str) -> AccountLimits:
        """Return the limits of an account, and how much of the day's is left."""
        return self._turn.limits_of(check_name("account", account))

    def analysts(self) -> tuple[Analyst, ...]:
        """Return the accounts that were declared, as they are in force."""
        return tuple(self._state.analysts.values())

    def requests(self, account: str | None = None) -> tuple[Request, ...]:
        """Return what analysts, or one of them, asked for, with the decisions, in order."""
        name = None if account is None else check_name("account", account)
        return self._state.requests.of(name)

    def is_approved(self, account: str, question: str) -> bool:
        """Return whether the last decision about this query lets the account run it."""
        return (account, question) in self._state.requests.approved

    def report(self, delta: Real | None = None) -> Report:
        """Return what was spent by the tightest accountant, at this delta or that of the total."""
        return report_on(self._state, self.charges(), delta)

    def entries(self) -> Iterator[Entry]:
        """Return all entries in the order in which they were written."""
        rows = following(self._turn.transaction.rows(1))
        return (entry_from_row(row) for row in rows if self._turn)

    def charges(self) -> list[StoredEntry]:
        """Return the rows of all charges, each checked against the chain."""
        rows = following(self._turn.transaction.rows(1))
        return [row for row in rows if row.kind == "charge"]


def balance_in(
    state: LedgerState, account: str, scopes: Sequence[ChargeScope] = (None,)
) -> AccountBalance:
    """Return what an account may still spend: of its cap, or of the total where that is less."""
    about = (scopes or (None,)) if state.per_month is not None else (None,)
    left = [state.remaining(scope=each) for each in about]
    if account == OWNER:
        return AccountBalance(remaining=least(left), limit=state.total)
    left += [state.remaining(account, each) for each in about]
    return AccountBalance(remaining=least(left), limit=state.cap(account))


def balances_by_month(state: LedgerState, account: str) -> dict[str, AccountBalance]:
    """Return the same for each part of time in which months have the same charges, in order."""
    if state.per_month is None:
        return {}
    parts = [each.months for each in state.blocks([None]) if each.months is not None]
    return {span_text(each): balance_in(state, account, [Months((each,))]) for each in parts}


def receipt_from(
    paid: StoredEntry,
    events: tuple[Event, ...],
    state: LedgerState,
    *,
    already_paid: bool,
    balance: AccountBalance | None = None,
) -> Receipt:
    """Return the receipt of a charge that is stored."""
    return Receipt(
        question=paid.question,
        events=events,
        account=paid.account,
        number=paid.number,
        already_paid=already_paid,
        remaining=state.remaining(scope=scope_of(paid)),
        balance=balance,
    )


def report_on(state: LedgerState, charges: Sequence[StoredEntry], delta: Real | None) -> Report:
    """Return what charges cost together, by the accountant that proves the least."""
    slack = state.total.delta if delta is None else delta
    scopes: dict[ChargeScope, Counter[str]] = {}
    for row in charges:
        scopes.setdefault(scope_of(row), Counter())[row.events] += 1
    paid = paid_by_block(scopes, state.blocks([None]))
    concerned = {frozenset(each.items()) for each in paid}
    prices = [compose(_events(each), slack) for each in concerned]
    tables = sorted(state.disjoint.tables)
    return Report(
        price=max(prices, key=lambda price: price.epsilon),
        charged=state.charged,
        total=state.total,
        questions=len(charges),
        accounts=MappingProxyType(dict(state.accounts)),
        partitions={each: state.remaining(scope=frozenset([each])) for each in tables},
        months={name: each.remaining for name, each in balances_by_month(state, OWNER).items()},
        months_per_unit=None if state.per_month is None else state.per_month.months_in_all,
    )


def largest_total(entries: Iterable[Entry], total: Budget) -> Budget:
    """Return what all that was charged holds for: this total, or that of an earlier charge.

    Proof: docs/proofs/composition.md, "A total that changes".
    """
    found, now = [total], total
    for each in entries:
        if each.kind == "policy":
            now = Policy.from_record(each.about).total
        elif each.kind == "charge":
            found.append(now)
    aside = max(each.set_aside for each in found)
    return replace(
        total,
        epsilon=max(each.epsilon for each in found),
        delta=aside + max(each.delta - each.set_aside for each in found),
        set_aside=aside,
    )


def _events(paid: Iterable[tuple[str, int]]) -> list[Event]:
    return [one_event(events_from_text(text)) * count for text, count in paid]
