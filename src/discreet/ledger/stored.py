"""The operations of a ledger, over any storage that has transactions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from hmac import new as new_hmac
from types import MappingProxyType, TracebackType
from typing import Self, Unpack

from discreet.account_limits import AccountLimits
from discreet.accounting import Budget, Charge, Event, Remaining
from discreet.deprecated import Renamed
from discreet.errors import HIDDEN, AccountError, Failure, LedgerError, ParameterError
from discreet.ledger.accounts import TokenCheck, cap_in, decide_in, limit_in, replace_in, request_in
from discreet.ledger.analysts import OWNER, Analyst, LimitTerms, Role
from discreet.ledger.base import (
    Entry,
    Incident,
    Item,
    Receipt,
    Report,
    SavedAnswer,
    Suspends,
)
from discreet.ledger.charges import ChargeScope
from discreet.ledger.incidents import incident_record, incidents_in
from discreet.ledger.inputs import (
    check_analyst,
    check_answer,
    check_head,
    check_limits,
    check_name,
    check_receipt,
    selector_in,
)
from discreet.ledger.policy import Policy
from discreet.ledger.requests import Request, request_record
from discreet.ledger.state import BEGINNING, LedgerState, NewEntry, StoredEntry, entry_from_row
from discreet.ledger.storage import (
    Mode,
    Storage,
    Turn,
    caught_up,
    checked_entries,
    following,
    new_entries,
    selected,
)
from discreet.ledger.ticks import TickKeeper
from discreet.ledger.view import StoredView, balance_in, receipt_from, report_on
from discreet.parameters import Real

BATCH = 1000
"""So many entries are read at a time, so that others may write in between."""

DROPPED = (
    "The ledger does not contain the entry with this digest: entries were removed or replaced",
    "Keep this file for investigation, and restore a copy that contains the entry",
)


class StoredLedger(TickKeeper):
    """A ledger in a storage; each kind of storage has a class that says how it is opened."""

    def __init__(self, storage: Storage, policy: Policy | None) -> None:
        self._state, self._declared = LedgerState(), policy
        self._storage = storage
        self._under_way: Turn | None = None
        self._tokens = TokenCheck()
        try:
            with self._turn("write") as turn:
                turn.transaction.check_schema()
                turn.declare(policy, may_begin=storage.may_begin())
            storage.has_begun()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def view(self) -> Iterator[StoredView]:
        """Yield what the ledger holds, read in one transaction that lasts as long as this."""
        with self._turn("read") as turn:
            view = StoredView(turn)
            try:
                yield view
            finally:
                view.end()

    def find(self, question: str) -> Receipt | SavedAnswer | None:
        """Return the saved answer, else the receipt of a query that was charged, else None."""
        with self.view() as view:
            return view.find(question)

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

        A query that was charged before must come with the same events.
        """
        item = Item(question=question, events=events, scope=scope, about=about)
        return self.charge_all([item], account=account)[0]

    def charge_all(
        self,
        items: Sequence[Item],
        *,
        account: str = OWNER,
        pins: Mapping[str, str] = MappingProxyType({}),
        most_unanswered: Callable[[], int] | None = None,
    ) -> tuple[Receipt, ...]:
        """Charge for all items in one transaction, or raise BudgetError and charge for none.

        What was charged before, or stands in an earlier item, is not charged again.
        """
        lines = new_entries(items, account)
        pinned = {check_name("question", each): check_name("source", pins[each]) for each in pins}
        despite = {each.question for each in items if each.despite_pin}
        with self._turn("write") as turn:
            turn.state.check_enabled(account)
            paid = {each.question: turn.charge_of(each.question) for each in lines}
            due = {each.question: each for each in reversed(lines) if paid[each.question] is None}
            if due or any(turn.answer_of(each) is None for each in turn.state.suspended and paid):
                turn.state.check_running(account)
            if due:
                turn.state.check_session(self._declared)
                turn.check_unanswered(account, most_unanswered)
                turn.check_unpinned(due.keys() - despite)
                turn.state.check_affordable(account, due.values())
                turn.check_limits(account, due.values())
            charged = [turn.charged(each, paid) for each in lines]
            turn.pin(pinned, account)
        balance = balance_in(turn.state, account, [each.scope for each in lines])
        return tuple(
            receipt_from(row, line.events, turn.state, already_paid=already, balance=balance)
            for line, (row, already) in zip(lines, charged, strict=True)
        )

    def check(
        self, items: Sequence[Item] = (), *, account: str = OWNER, to_run: bool = False
    ) -> None:
        """Raise what charging an account for all of the items would raise, were none paid for."""
        with self.view() as view:
            view.check(items, account=account, to_run=to_run)

    def check_early(self, account: str = OWNER) -> None:
        """Reject an account that may not ask, without reading the ledger if it last could."""
        self._storage.check_open()
        try:
            self._state.check_enabled(check_name("account", account))
        except AccountError:
            self.check(account=account)

    def keep(self, receipt: Receipt, answer: bytes) -> bytes:
        """Return the answer that is kept, the first one handed in; durable when it returns."""
        answer = check_answer(answer)
        with self._turn("write") as turn:
            paid = turn.charge_of(check_receipt(receipt).question)
            if paid is None or paid.number != receipt.number:
                raise ParameterError("receipt", HIDDEN, "must come from this ledger")
            kept = turn.answer_of(paid.question)
            if kept is None:
                turn.keep(paid, answer)
        return answer if kept is None else kept

    def remaining(self, account: str | None = None, *, scope: ChargeScope = None) -> Remaining:
        """Return what is left of the total, or of an account's cap; the total holds besides.

        With a scope, what is left for queries about units of these tables; else the least that
        is left for anybody.
        """
        with self.view() as view:
            return view.remaining(account, scope=scope)

    def cap(self, account: str) -> Budget:
        """Return the cap of an analyst's account as a budget, uncharged."""
        return self._current().cap(check_name("account", account))

    def keyed(self, text: str) -> str | None:
        """Return what stands for a text in this ledger; without its key nobody can guess which.

        None if there is no key that may be read.
        """
        key = self._storage.key()
        return None if key is None else new_hmac(key, text.encode(), sha256).hexdigest()

    def note_version(self, name: str, *, earlier: str = "") -> None:
        """Note the version of the data that are open now, if it is new to a ledger with charges.

        `earlier` is the name that an older release gave to the same data, sealed.
        """
        name, known = check_name("name", name), self._current()
        if name not in known.versions and known.accounts:
            with self._turn("write") as turn:
                turn.note_version(name, earlier and check_name("earlier", earlier))

    def charged(self) -> Charge:
        """Return what all entries together have taken."""
        return self._current().charged

    # ----------------------------------------------------------------------- failures and pins

    def pin_of(self, question: str) -> str | None:
        """Return the query off whose saved answer this one is read, if it was pinned."""
        with self.view() as view:
            return view.pin_of(question)

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
        about, name = incident_record(failure, suspends), check_name("account", account)
        kept = None if answer is None else check_answer(answer)
        with self._turn("write") as turn:
            paid = turn.charge_of(check_receipt(receipt).question)
            if paid is None or paid.number != receipt.number:
                raise ParameterError("receipt", HIDDEN, "must come from this ledger")
            line = NewEntry(kind="incident", question=paid.question, account=name, about=about)
            turn.append(line)
            if kept is not None and turn.answer_of(paid.question) is None:
                turn.keep(paid, kept)

    def incidents(self) -> tuple[Incident, ...]:
        """Return all incidents, and the charges that have no answer, in order."""
        return incidents_in(self.entries())

    def suspended(self) -> Mapping[str, bool]:
        """Return the accounts whose incidents nobody has looked at, and whether all wait for it."""
        return MappingProxyType(dict(self._current().suspended))

    def resume(self, account: str) -> None:
        """Note that the owner has looked at an account's incidents, and let it ask again."""
        name = check_name("account", account)
        with self._turn("write") as turn:
            turn.resume(name)

    # ----------------------------------------------------------------------- analysts

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
        """Put an analyst's account in force, in place of what was declared of it before."""
        given = {"name": name, "epsilon": epsilon, "delta": delta, "role": role, **limits}
        signing = {"token_hash": token_hash, "scram": scram}
        analyst = check_analyst(**given, **signing, enabled=enabled)
        with self._turn("write") as turn:
            turn.declare_analyst(analyst)
        return analyst

    def declare_cap(self, name: str, *, epsilon: Real, delta: Real | None = None) -> Analyst:
        """Put a cap in force; token and role stay, and who is disabled stays so."""
        new = check_analyst(name=name, epsilon=epsilon, delta=delta, token_hash=None, enabled=True)
        with self._turn("write") as turn:
            return cap_in(turn, new)

    def declare_limits(self, name: str, **limits: Unpack[LimitTerms]) -> Analyst:
        """Put limits of an account in force, None for no limit; all else of it stays."""
        changed = check_limits(limits)
        with self._turn("write") as turn:
            return limit_in(turn, check_name("name", name), changed)

    def limits_of(self, account: str) -> AccountLimits:
        """Return the limits of an account, and how much of the day's is left."""
        with self.view() as view:
            return view.limits_of(account)

    def replace_analyst(self, known: Analyst | None, new: Analyst) -> Analyst:
        """Put an account in force if it is still as it was known; return it as it is then."""
        with self._turn("write") as turn:
            return replace_in(turn, known, new)

    def analysts(self) -> tuple[Analyst, ...]:
        """Return the accounts that were declared, as they are in force."""
        return tuple(self._current().analysts.values())

    def authenticate(self, token: str) -> str:
        """Return the name of the enabled analyst who holds this token, or raise AccountError.

        The token of a reader or of an owner is rejected: their accounts are never charged.
        """
        state = self._current()
        name = self._tokens.holder(token, state.analysts.values()).name
        state.check_enabled(name)
        return name

    def holder(self, token: str) -> Analyst:
        """Return the enabled account that this token belongs to, whatever its role."""
        return self._tokens.holder(token, self.analysts())

    def knows_token(self, token: str) -> bool:
        """Return whether an account has the public part of this token; its secret is not read."""
        return selected(self.analysts(), selector_in(token)) is not None

    # ----------------------------------------------------------------------- requests

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
        """Ask the owner for a cap of epsilon (and delta) in total, or for leave to run a query."""
        name = check_name("account", account)
        cap = {"epsilon": epsilon, "delta": delta}
        record = request_record(**cap, question=question, price=price, reason=reason)
        with self._turn("write") as turn:
            return request_in(turn, name, record)

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
        """Grant or decline an open request; a cap is in force when it returns."""
        made = {"granted": granted, "by": by, "reason": reason}
        with self._turn("write") as turn:
            return decide_in(turn, number, **made, epsilon=epsilon, delta=delta)

    def requests(self, account: str | None = None) -> tuple[Request, ...]:
        """Return what analysts, or one of them, asked for, with the decisions, in order."""
        with self.view() as view:
            return view.requests(account)

    def is_approved(self, account: str, question: str) -> bool:
        """Return whether the last decision about this query lets the account run it."""
        with self.view() as view:
            return view.is_approved(account, question)

    # ----------------------------------------------------------------------- reading

    def report(self, delta: Real | None = None) -> Report:
        """Return what was spent by the tightest accountant, at this delta or that of the total."""
        with self._turn("read") as turn:
            state, charges = turn.state, StoredView(turn).charges()
        return report_on(state, charges, delta)

    def charges_with_prefix(self, prefix: str, most: int) -> tuple[Entry, ...]:
        """Return the last charges of queries whose names begin so, the newest first."""
        with self.view() as view:
            return view.charges_with_prefix(prefix, most)

    charges_under = Renamed("charges_with_prefix")

    def head(self) -> str:
        """Return the digest of the last entry; noted elsewhere, it shows a dropped tail."""
        return self._current().digest.hex()

    def entries(self) -> Iterator[Entry]:
        """Return all entries in the order in which they were written."""
        last, digest = 0, BEGINNING
        while rows := self._batch(last):
            yield from map(entry_from_row, following(rows, digest))
            last, digest = rows[-1].number, rows[-1].digest

    def verify(self, head: str | None = None) -> None:
        """Raise LedgerError unless every entry is as it was written and head is among them."""
        noted = None if head is None else check_head(head)
        with self._storage.alone():
            if self._under_way is None:
                self._storage.rest()  # what is read afterwards comes from the store, not a cache
        with self._turn("read") as turn:
            turn.transaction.check_schema()
            turn.transaction.check_pages()
            digests: set[str] = set()
            LedgerState().after(checked_entries(turn.transaction.answered(), digests))
            if noted is not None and noted not in digests:
                raise LedgerError(*DROPPED)

    def close(self) -> None:
        """Let go of the store; charges and answers are in it already."""
        self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _current(self) -> LedgerState:
        with self._turn("read") as turn:
            return turn.state

    def _batch(self, last: int) -> list[StoredEntry]:
        with self._turn("read") as turn:
            return list(turn.transaction.rows(last + 1, BATCH))

    @contextmanager
    def _turn(self, mode: Mode) -> Iterator["Turn"]:
        """Run one transaction that begins with all that other processes have written.

        What a thread reads while it holds a view is read in the transaction of that view.
        """
        with self._storage.alone():
            if self._under_way is not None:
                yield self._shared(mode)
                return
            with self._storage.transaction(mode) as transaction:
                self._state = caught_up(self._state, transaction)
                turn = self._under_way = Turn(transaction, self._state)
                try:
                    yield turn
                finally:
                    self._under_way = None
            self._state = turn.state

    def _shared(self, mode: Mode) -> "Turn":
        """Return the transaction that this thread is in, to read; reject to write in it."""
        if self._under_way is None or mode == "write":
            rule, fix = "must not be written in its own view", "Let the view end before"
            raise ParameterError("ledger", HIDDEN, rule, fix)
        return self._under_way
