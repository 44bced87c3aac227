"""The operations of a ledger, over any storage that has transactions."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from hmac import new as new_hmac
from types import MappingProxyType, TracebackType
from typing import Self

from discreet.accounting import Budget, Charge, Event, Remaining, compose
from discreet.errors import (
    HIDDEN,
    AccountError,
    Failure,
    LedgerError,
    ParameterError,
    PinnedError,
    UnansweredError,
    shown,
)
from discreet.ledger.analysts import an_analyst, record_from_analyst
from discreet.ledger.base import (
    OWNER,
    Analyst,
    Entry,
    Incident,
    Item,
    Kept,
    Kind,
    Receipt,
    Report,
    Suspends,
)
from discreet.ledger.book import (
    ALTERED,
    BEGINNING,
    Book,
    Line,
    Policy,
    Row,
    check_follows,
    entry_from_row,
    paid_by_choice,
    scope_of,
    source_of,
)
from discreet.ledger.checks import a_beginning, a_head, a_name, a_receipt, an_answer
from discreet.ledger.incidents import incident_record, incidents_in, resume_record
from discreet.ledger.items import lines_of
from discreet.ledger.prices import events_from_text, one_event
from discreet.ledger.scopes import Scope, a_scope, is_covered
from discreet.ledger.tokens import is_token_of, selector_in, selector_of
from discreet.ledger.transactions import Mode, Storage, Transaction
from discreet.parameters import Real

BATCH = 1000
"""So many entries are read at a time, so that others may write in between."""

DROPPED = (
    "The ledger does not contain the entry with this digest: entries were removed or replaced",
    "Keep this file for investigation, and restore a copy that contains the entry",
)

BEGINLESS = (
    "The ledger has lost its first entry, and with it its charges",
    "Restore a copy that passes discreet ledger verify, together with its -wal file. To start "
    "without any charges, delete the ledger",
)

STRANGER = ("This token is not valid", "Ask the data owner for a new one")


class StoredLedger:
    """A ledger in a storage; each kind of storage has a class that says how it is opened."""

    def __init__(self, storage: Storage, policy: Policy | None) -> None:
        self._book = Book()
        self._storage = storage
        self._seen: dict[str, bytes] = {}  # hashes of tokens that were compared once
        try:
            with self._turn("write") as turn:
                turn.transaction.check_schema()
                turn.declare(policy, may_begin=storage.may_begin())
            storage.has_begun()
        except BaseException:
            self.close()
            raise

    def find(self, question: str) -> Receipt | Kept | None:
        """Return the saved answer, else the receipt of a query that was charged, else None."""
        question = a_name("question", question)
        with self._turn("read") as turn:
            paid, answer = turn.charge_of(question), turn.answer_of(question)
        if paid is None:
            return None
        receipt = _receipt(paid, events_from_text(paid.events), turn.book, already_paid=True)
        return receipt if answer is None else Kept(receipt=receipt, answer=answer)

    def charge(
        self,
        question: str,
        events: Sequence[Event],
        *,
        account: str = OWNER,
        about: Mapping[str, str] = MappingProxyType({}),
        scope: Scope = None,
    ) -> Receipt:
        """Charge for all of the events or raise BudgetError; durable when it returns.

        A query that was charged is not charged again, whoever paid; it must come with the same
        events. An account other than the owner's must be declared and enabled. The scope names the
        tables whose units it is about; without one it is charged to everybody.
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

        What was charged before, or stands in an earlier item, is not charged again. `pins` are
        queries that are read off the saved answers of others, noted in the same transaction. What
        is rejected, and when PinnedError is raised, is said in the protocol.
        """
        lines = lines_of(items, account)
        pinned = {a_name("question", each): a_name("source", pins[each]) for each in pins}
        despite = {each.question for each in items if each.despite_pin}
        with self._turn("write") as turn:
            turn.book.check_enabled(account)
            paid = {each.question: turn.charge_of(each.question) for each in lines}
            due = {each.question: each for each in reversed(lines) if paid[each.question] is None}
            if due or any(turn.answer_of(each) is None for each in turn.book.suspended and paid):
                turn.book.check_running(account)
            if due:
                turn.check_unanswered(account, most_unanswered)
                turn.check_unpinned(due.keys() - despite)
                turn.book.check_affordable(account, due.values())
            charged = [turn.charged(each, paid) for each in lines]
            turn.pin(pinned, account)
        return tuple(
            _receipt(row, line.events, turn.book, already_paid=already)
            for line, (row, already) in zip(lines, charged, strict=True)
        )

    def check(
        self, items: Sequence[Item] = (), *, account: str = OWNER, to_run: bool = False
    ) -> None:
        """Raise what charging an account for all of the items would raise, were none paid for.

        Writes nothing. Without items, only an account that may not ask is refused, and `to_run` one
        that is suspended.
        """
        book = self._current()
        book.check_enabled(a_name("account", account))
        lines = lines_of(items, account)
        if lines or to_run:
            book.check_running(account)
        if lines:
            book.check_affordable(account, lines)

    def keep(self, receipt: Receipt, answer: bytes) -> bytes:
        """Return the answer that is kept, the first one handed in; durable when it returns."""
        answer = an_answer(answer)
        with self._turn("write") as turn:
            paid = turn.charge_of(a_receipt(receipt).question)
            if paid is None or paid.number != receipt.number:
                raise ParameterError("receipt", HIDDEN, "must come from this ledger")
            kept = turn.answer_of(paid.question)
            if kept is None:
                turn.keep(paid, answer)
        return answer if kept is None else kept

    def remaining(self, account: str | None = None, *, scope: Scope = None) -> Remaining:
        """Return what is left of the total, or of an account's cap; the total holds besides.

        With a scope, what is left for queries about units of these tables; else the least that
        is left for anybody.
        """
        name = None if account is None else a_name("account", account)
        return self._current().remaining(name, a_scope(scope))

    def cap(self, account: str) -> Budget:
        """Return the cap of an analyst's account as a budget, uncharged."""
        return self._current().cap(a_name("account", account))

    def keyed(self, text: str) -> str | None:
        """Return what stands for a text in this ledger; without its key nobody can guess which.

        None if there is no key that may be read.
        """
        key = self._storage.key()
        return None if key is None else new_hmac(key, text.encode(), sha256).hexdigest()

    def charged(self) -> Charge:
        """Return what all entries together have taken."""
        return self._current().charged

    # ----------------------------------------------------------------------- failures and pins

    def pin_of(self, question: str) -> str | None:
        """Return the query off whose saved answer this one is read, if it was pinned."""
        return self._current().pins.get(a_name("question", question))

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
        about, name = incident_record(failure, suspends), a_name("account", account)
        kept = None if answer is None else an_answer(answer)
        with self._turn("write") as turn:
            paid = turn.charge_of(a_receipt(receipt).question)
            if paid is None or paid.number != receipt.number:
                raise ParameterError("receipt", HIDDEN, "must come from this ledger")
            line = Line(kind="incident", question=paid.question, account=name, about=about)
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
        name = a_name("account", account)
        with self._turn("write") as turn:
            book = turn.book
            if name not in book.suspended and not book.unanswered.get(name):
                names = ", ".join(map(shown, book.suspended))
                fix = f"Suspended accounts: {names}" if names else "No account is suspended"
                raise AccountError("This account is not suspended", fix)
            about = resume_record(turn.unanswered_of(name))
            turn.append(Line(kind="resume", account=name, about=about))

    # ----------------------------------------------------------------------- analysts

    def declare_analyst(
        self,
        name: str,
        *,
        epsilon: Real,
        delta: Real | None = None,
        token_hash: str | None = None,
        enabled: bool = True,
    ) -> Analyst:
        """Put an analyst's account in force, in place of what was declared of it before."""
        analyst = an_analyst(
            name=name, epsilon=epsilon, delta=delta, token_hash=token_hash, enabled=enabled
        )
        with self._turn("write") as turn:
            turn.declare_analyst(analyst)
        return analyst

    def declare_cap(self, name: str, *, epsilon: Real, delta: Real | None = None) -> Analyst:
        """Put a cap in force; a token stays good, and who is disabled stays so."""
        new = an_analyst(name=name, epsilon=epsilon, delta=delta, token_hash=None, enabled=True)
        with self._turn("write") as turn:
            known = turn.book.analysts.get(new.name, new)
            analyst = replace(known, epsilon=new.epsilon, delta=new.delta)
            turn.declare_analyst(analyst)
        return analyst

    def analysts(self) -> tuple[Analyst, ...]:
        """Return the accounts that were declared, as they are in force."""
        return tuple(self._current().analysts.values())

    def authenticate(self, token: str) -> str:
        """Return the name of the enabled analyst who holds this token, or raise AccountError.

        A token is compared by its slow hash once, and then by a fast one that is never stored.
        """
        book, selector = self._current(), selector_in(token)
        analyst = _selected(book.analysts.values(), selector)
        if analyst is None or not self._holds(token, analyst.token_hash):
            raise AccountError(*STRANGER)
        book.check_enabled(analyst.name)
        return analyst.name

    def _holds(self, token: str, token_hash: str | None) -> bool:
        if token_hash is None:
            return False
        fast, seen = sha256(token.encode("ascii")).digest(), self._seen.get(token_hash)
        if seen is not None:
            return compare_digest(seen, fast)
        if not is_token_of(token, token_hash):
            return False
        self._seen[token_hash] = fast
        return True

    # ----------------------------------------------------------------------- reading

    def report(self, delta: Real | None = None) -> Report:
        """Return what was spent by the tightest accountant, at this delta or that of the total."""
        with self._turn("read") as turn:
            book = turn.book
            rows = [row for row in _following(turn.transaction.rows(1)) if row.kind == "charge"]
        slack = book.total.delta if delta is None else delta
        concerned = {frozenset(each.items()) for each in paid_by_choice(rows, book.disjoint)}
        prices = [compose(_events(each), slack) for each in concerned]
        tables = sorted(book.disjoint.tables)
        return Report(
            price=max(prices, key=lambda price: price.epsilon),
            charged=book.charged,
            total=book.total,
            questions=len(rows),
            accounts=MappingProxyType(dict(book.accounts)),
            partitions={each: book.remaining(scope=frozenset([each])) for each in tables},
        )

    def charges_under(self, beginning: str, most: int) -> tuple[Entry, ...]:
        """Return the last charges of queries whose names begin so, the newest first."""
        beginning = a_beginning(beginning)
        with self._turn("read") as turn:
            return tuple(map(entry_from_row, turn.charges_under(beginning, most)))

    def head(self) -> str:
        """Return the digest of the last entry; noted elsewhere, it shows a dropped tail."""
        return self._current().digest.hex()

    def entries(self) -> Iterator[Entry]:
        """Return all entries in the order in which they were written."""
        last, digest = 0, BEGINNING
        while rows := self._batch(last):
            yield from map(entry_from_row, _following(rows, digest))
            last, digest = rows[-1].number, rows[-1].digest

    def verify(self, head: str | None = None) -> None:
        """Raise LedgerError unless every entry is as it was written and head is among them."""
        noted = None if head is None else a_head(head)
        self._storage.rest()  # what is read afterwards comes from the store, not from a cache
        with self._turn("read") as turn:
            turn.transaction.check_schema()
            turn.transaction.check_pages()
            digests: set[str] = set()
            Book().after(_whole(turn.transaction.answered(), digests))
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

    def _current(self) -> Book:
        with self._turn("read") as turn:
            return turn.book

    def _batch(self, last: int) -> list[Row]:
        with self._turn("read") as turn:
            return list(turn.transaction.rows(last + 1, BATCH))

    @contextmanager
    def _turn(self, mode: Mode) -> Iterator["_Turn"]:
        """Run one transaction that begins with all that other processes have written."""
        with self._storage.alone():
            with self._storage.transaction(mode) as transaction:
                self._book = _caught_up(self._book, transaction)
                turn = _Turn(transaction, self._book)
                yield turn
            self._book = turn.book


class _Turn:
    """One transaction: what it finds, what it appends, and the book as it will be."""

    def __init__(self, transaction: Transaction, book: Book) -> None:
        self.transaction = transaction
        self.book = book

    def charge_of(self, question: str) -> Row | None:
        """Return the charge of a query, checked against its digest."""
        found = self._of(question, "charge")
        return None if found is None else found[0]

    def answer_of(self, question: str) -> bytes | None:
        """Return the saved answer of a query, checked against its digest."""
        found = self._of(question, "answer")
        return None if found is None else _kept(*found)

    def _of(self, question: str, kind: Kind) -> tuple[Row, bytes | None] | None:
        found = self.transaction.of_question(question, kind)
        if found is None:
            return None
        row = self._checked(found[0], kind)
        if row.question != question:  # an index that leads astray
            raise LedgerError(*ALTERED)
        return found

    def charges_under(self, beginning: str, most: int) -> list[Row]:
        """Return charges of queries whose names begin so, each checked against its digest."""
        found = self.transaction.charges_under(beginning, most)
        rows = [self._checked(each, "charge") for each in found]
        if not all(each.question.startswith(beginning) for each in rows):
            raise LedgerError(*ALTERED)
        return rows

    def _checked(self, row: Row, kind: Kind) -> Row:
        check_follows(self.transaction.digest(row.number - 1) or BEGINNING, row)
        if row.kind != kind:
            raise LedgerError(*ALTERED)
        return row

    def charged(self, line: Line, paid: dict[str, Row | None]) -> tuple[Row, bool]:
        """Return the charge of a query, and whether it was among those that were paid."""
        earlier = paid[line.question]
        if earlier is not None:
            return _paid_alike(earlier, line), True
        row = paid[line.question] = self.append(line)
        return row, False

    def append(self, line: Line, answer: bytes | None = None) -> Row:
        row = self.book.row(line, datetime.now(UTC))
        # What will be read back one day is read, and priced, before it is written.
        self.book = self.book.after([row])
        self.transaction.append(row, answer)
        return row

    def keep(self, paid: Row, answer: bytes) -> None:
        about = {"sha256": sha256(answer).hexdigest()}
        line = Line(kind="answer", question=paid.question, account=paid.account, about=about)
        self.append(line, answer)

    def check_unanswered(self, account: str, most: Callable[[], int] | None) -> None:
        """Reject an account that has so many charges without an answer."""
        if most is not None and self.book.unanswered.get(account, 0) >= most():
            raise UnansweredError

    def unanswered_of(self, account: str) -> list[str]:
        """Return the charges of an account that have no answer, in order."""
        found: dict[str, None] = {}
        for row in self.transaction.rows(1):
            if row.account == account and row.kind == "charge":
                found[row.question] = None
            elif row.kind == "answer":
                found.pop(row.question, None)
        return list(found)

    def check_unpinned(self, questions: Iterable[str]) -> None:
        """Reject to charge for what was read off a saved answer: that is shown for free."""
        if any(each in self.book.pins for each in questions):
            raise PinnedError

    def pin(self, pins: Mapping[str, str], account: str) -> None:
        """Note off which saved answers queries are read; what was charged has its own."""
        for question, source in pins.items():
            if self.charge_of(question) is not None:
                raise PinnedError
            if self.answer_of(source) is None:
                raise ParameterError("pins", HIDDEN, "must refer to queries with saved answers")
            known = self.book.pins.get(question)
            if known not in {None, source}:
                raise PinnedError
            if known is None:
                about = {"source": source}
                line = Line(kind="pin", question=question, account=account, about=about)
                self.append(line)

    def declare(self, policy: Policy | None, *, may_begin: bool) -> None:
        """Put a policy in force, or the recorded one if there is none to declare.

        Only a store that was made just now may have no entry yet.
        """
        if self.book.policy is None and (policy is None or not may_begin):
            raise LedgerError(*BEGINLESS)
        if policy is None:
            return
        if policy.data <= self.book.noted:
            policy = replace(policy, data=self.book.noted)
        if policy != self.book.policy:
            self.book.check_policy(policy)
            self.append(Line(kind="policy", about=policy.record))

    def declare_analyst(self, analyst: Analyst) -> None:
        """Put an account in force, unless it is already as declared."""
        self.book.check_cap(analyst)
        others = [each for each in self.book.analysts.values() if each.name != analyst.name]
        if analyst.token_hash is not None and _selected(others, selector_of(analyst.token_hash)):
            raise ParameterError("token_hash", HIDDEN, "must not belong to another analyst")
        if self.book.analysts.get(analyst.name) != analyst:
            about = record_from_analyst(analyst)
            self.append(Line(kind="analyst", account=analyst.name, about=about))


def _caught_up(book: Book, transaction: Transaction) -> Book:
    """Return the book with what was written since; reject a ledger that lacks its last entry."""
    rows = transaction.rows(book.number)
    if book.number:
        last = next(rows, None)
        if last is None or last.digest != book.digest:
            raise LedgerError(*ALTERED)
    return book.after(rows)


def _following(rows: Iterable[Row], digest: bytes = BEGINNING) -> Iterator[Row]:
    """Hand on rows that follow each other, or reject the first that does not."""
    for row in rows:
        check_follows(digest, row)
        digest = row.digest
        yield row


def _selected(analysts: Iterable[Analyst], selector: str | None) -> Analyst | None:
    """Return the analyst whose token has this public part."""
    for each in analysts:
        if each.token_hash is not None and selector_of(each.token_hash) == selector:
            return each
    return None


def _whole(found: Iterable[tuple[Row, bytes | None]], digests: set[str]) -> Iterator[Row]:
    """Hand on the rows and note their digests; reject answers that are altered or were not paid."""
    paid: set[str] = set()
    kept: set[str] = set()
    for row, answer in found:
        yield row  # checked against the chain before we go on
        digests.add(row.digest.hex())
        match row.kind:
            case "charge" if row.question not in paid and answer is None:
                paid.add(row.question)
            case "answer" if row.question in paid and row.question not in kept:
                _kept(row, answer)
                kept.add(row.question)
            case "incident" if row.question in paid and answer is None:
                pass
            case "pin" if row.question not in paid and source_of(row) in kept and answer is None:
                pass
            case "policy" | "analyst" | "resume" if answer is None:
                pass
            case _:
                raise LedgerError(*ALTERED)


def _kept(row: Row, answer: bytes | None) -> bytes:
    # A damaged file may hold something else than bytes.
    if not isinstance(answer, bytes) or json.loads(row.about) != {
        "sha256": sha256(answer).hexdigest()
    }:
        raise LedgerError(*ALTERED)
    return answer


def _events(paid: Iterable[tuple[str, int]]) -> list[Event]:
    return [one_event(events_from_text(text)) * count for text, count in paid]


def _receipt(paid: Row, events: tuple[Event, ...], book: Book, *, already_paid: bool) -> Receipt:
    return Receipt(
        question=paid.question,
        events=events,
        account=paid.account,
        number=paid.number,
        already_paid=already_paid,
        remaining=book.remaining(scope=scope_of(paid)),
    )


def _paid_alike(paid: Row, line: Line) -> Row:
    """Return the charge if it paid for these events and units: others would be had for nothing."""
    if events_from_text(paid.events) != line.events:
        rule, fix = "must be those of the charge for this name", "Use another name for other events"
        raise ParameterError("events", HIDDEN, rule, fix)
    if not is_covered(line.scope, scope_of(paid)):
        rule, fix = "must be that of the charge for this name", "Use another name for other tables"
        raise ParameterError("scope", HIDDEN, rule, fix)
    return paid
