"""The interface between the ledger's operations and its storage: transactions over rows.

A storage keeps rows and answers and knows nothing of prices. Every transaction sees all that was
committed before it began; one that writes has the whole ledger to itself; and when it ends without
an error, what it wrote is durable.

What is called by a digest of data can be guessed by whoever reads the ledger. So each has a key of
256 random bits in a file of one user, created once and never shown. With the key in the digest,
which is in no entry and in no export, nobody can check a guess.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from errno import ENOSPC
from fractions import Fraction
from hashlib import sha256
from itertools import chain
from pathlib import Path
from stat import S_ISREG
from typing import Literal, Protocol, TypeAlias

from discreet.account_limits import AccountLimits
from discreet.accounting.events import positive
from discreet.errors import (
    HIDDEN,
    AccountError,
    LedgerError,
    ParameterError,
    PinnedError,
    UnansweredError,
    shown,
)
from discreet.ledger.analysts import OWNER, Analyst
from discreet.ledger.base import EntryKind, Item
from discreet.ledger.charges import check_scope, events_from_text, is_covered
from discreet.ledger.incidents import resume_record
from discreet.ledger.inputs import (
    check_name,
    check_notes,
    one_or_more,
    record_from_analyst,
    selector_of,
)
from discreet.ledger.limits import epsilon_of, limits_on
from discreet.ledger.policy import Policy
from discreet.ledger.state import (
    ALTERED,
    BEGINNING,
    LedgerState,
    NewEntry,
    StoredEntry,
    check_follows,
    scope_of,
    source_of,
)
from discreet.ledger.tick_entries import is_answer_paid
from discreet.ledger.versions import version_notes
from discreet.noise import SYSTEM

LENGTH = 32


def key_in(file: Path) -> bytes:
    """Return the key that a file holds, made if there is none; raise OSError or ValueError."""
    with suppress(FileNotFoundError):
        return _read(file)
    with tempfile.TemporaryDirectory(prefix=".key-", dir=file.parent) as folder:
        new = Path(folder) / "key"
        handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            if os.write(handle, SYSTEM.draw(LENGTH)) != LENGTH:  # the disk is full
                raise OSError(ENOSPC, "a key was not written whole")
            os.fsync(handle)
        finally:
            os.close(handle)
        with suppress(FileExistsError):  # of two processes, both take the key of the first
            os.link(new, file)
    sync_folder(file.parent)
    return _read(file)


def sync_folder(folder: Path) -> None:
    """Make the name of a new file as durable as the file."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(file: Path) -> bytes:
    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        found = os.read(handle, LENGTH + 1) if S_ISREG(os.fstat(handle).st_mode) else b""
    finally:
        os.close(handle)
    if len(found) != LENGTH:
        raise ValueError
    return found


Mode: TypeAlias = Literal["read", "write"]


Words: TypeAlias = tuple[str, str]
"""What is wrong, and what to do instead."""


BUSY = ("Another process locked the ledger for too long", "Run the query again")


CLOSED = ("This ledger is closed", "Open it again")


FORKED = ("The ledger was opened by another process", "Open it in this process")


NEWER = ("The ledger was written by a newer version of Discreet", "Install that version")


BEGINLESS = (
    "The ledger has lost its first entry, and with it its charges",
    "Restore a copy that passes discreet ledger verify, together with its -wal file. To start "
    "without any charges, delete the ledger",
)


class Transaction(Protocol):
    """What one transaction can read and write."""

    def rows(self, first: int, most: int | None = None) -> Iterator[StoredEntry]:
        """Return the rows from this number on, in order, no more than `most`."""

    def answered(self) -> Iterator[tuple[StoredEntry, bytes | None]]:
        """Return all rows with the answers that stand beside them, whatever an index says."""

    def of_question(
        self, question: str, kind: EntryKind
    ) -> tuple[StoredEntry, bytes | None] | None:
        """Return the one row of this kind for a query, and the answer beside it."""

    def charges_under(self, beginning: str, most: int) -> list[StoredEntry]:
        """Return the last charges of queries that begin with these ASCII characters."""

    def digest(self, number: int) -> bytes | None:
        """Return the digest of the row of this number."""

    def append(self, row: StoredEntry, answer: bytes | None) -> None:
        """Write a row after the last."""

    def check_schema(self) -> None:
        """Reject tables, indices or triggers that are not ours."""

    def check_pages(self) -> None:
        """Reject a store that finds itself damaged."""


class Storage(Protocol):
    """Where a ledger is kept: one connection at a time, shared by the threads of a process.

    Words of a failed transaction are fixed and tell nothing about data.
    """

    def transaction(self, mode: Mode) -> AbstractContextManager[Transaction]:
        """Commit what is done inside, durably, or leave nothing of it."""

    def alone(self) -> AbstractContextManager[None]:
        """Keep the other threads of this process out."""

    def may_begin(self) -> bool:
        """Return whether the store was made just now, so that it has no entry yet."""

    def has_begun(self) -> None:
        """Note that the first entry is durable: from now on a store without it has lost it."""

    def key(self) -> bytes | None:
        """Return the secret that belongs to the ledger: the same for all who have it open.

        None if it may not be read.
        """

    def check_open(self) -> None:
        """Reject a storage that was closed, has failed, or was opened by another process."""

    def rest(self) -> None:
        """Let go of the connection, and of what it remembers, until it is needed again."""

    def close(self) -> None:
        """Reject everything from now on."""


class Turn:
    """One transaction: what it finds, what it appends, and the state that will follow."""

    def __init__(self, transaction: Transaction, state: LedgerState) -> None:
        self.transaction = transaction
        self.state = state

    def charge_of(self, question: str) -> StoredEntry | None:
        """Return the charge of a query, checked against its digest."""
        found = self._of(question, "charge")
        return None if found is None else found[0]

    def answer_of(self, question: str) -> bytes | None:
        """Return the saved answer of a query, checked against its digest."""
        found = self._of(question, "answer")
        return None if found is None else answer_in(*found)

    def _of(self, question: str, kind: EntryKind) -> tuple[StoredEntry, bytes | None] | None:
        found = self.transaction.of_question(question, kind)
        if found is None:
            return None
        row = self._checked(found[0], kind)
        if row.question != question:  # an index that leads astray
            raise LedgerError(*ALTERED)
        return found

    def charges_under(self, beginning: str, most: int) -> list[StoredEntry]:
        """Return charges of queries whose names begin so, each checked against its digest."""
        found = self.transaction.charges_under(beginning, most)
        rows = [self._checked(each, "charge") for each in found]
        if not all(each.question.startswith(beginning) for each in rows):
            raise LedgerError(*ALTERED)
        return rows

    def _checked(self, row: StoredEntry, kind: EntryKind) -> StoredEntry:
        check_follows(self.transaction.digest(row.number - 1) or BEGINNING, row)
        if row.kind != kind:
            raise LedgerError(*ALTERED)
        return row

    def charged(
        self, line: NewEntry, paid: dict[str, StoredEntry | None]
    ) -> tuple[StoredEntry, bool]:
        """Return the charge of a query, and whether it was among those that were paid."""
        earlier = paid[line.question]
        if earlier is not None:
            return _paid_alike(earlier, line), True
        row = paid[line.question] = self.append(line)
        return row, False

    def append(self, line: NewEntry, answer: bytes | None = None) -> StoredEntry:
        row = self.state.row(line, datetime.now(UTC))
        # What will be read back one day is read, and priced, before it is written.
        self.state = self.state.after([row])
        self.transaction.append(row, answer)
        return row

    def keep(self, paid: StoredEntry, answer: bytes) -> None:
        about = {"sha256": sha256(answer).hexdigest()}
        line = NewEntry(kind="answer", question=paid.question, account=paid.account, about=about)
        self.append(line, answer)

    def check_unanswered(self, account: str, most: Callable[[], int] | None) -> None:
        """Reject an account that has so many charges without an answer."""
        if most is not None and self.state.unanswered.get(account, 0) >= most():
            raise UnansweredError(account)

    def limits_of(self, account: str) -> AccountLimits:
        """Return the limits of an account now, and how much of the day's is left."""
        if account == OWNER:
            return AccountLimits()
        spent = self.state.days.get(account)
        return limits_on(self.state.declared(account), spent, datetime.now(UTC))

    def check_limits(self, account: str, lines: Iterable[NewEntry]) -> None:
        """Reject lines that together cost more than one query of the account, or its day, may."""
        limits = self.limits_of(account)
        if limits.per_query is None and limits.per_day is None:
            return
        costs = [each.stated or epsilon_of(self.state.total, each.events) for each in lines]
        if (rejection := limits.rejection(account, sum(costs, Fraction(0)))) is not None:
            raise rejection

    def unanswered_of(self, account: str) -> list[str]:
        """Return the charges of an account that have no answer, in order."""
        found: dict[str, None] = {}
        for row in self.transaction.rows(1):
            if row.account == account and row.kind == "charge":
                found[row.question] = None
            elif row.kind == "answer":
                found.pop(row.question, None)
        return list(found)

    def resume(self, account: str) -> None:
        """Note that the owner has looked at an account's incidents; reject one without any."""
        state = self.state
        if account not in state.suspended and not state.unanswered.get(account):
            names = ", ".join(map(shown, state.suspended))
            fix = f"Suspended accounts: {names}" if names else "No account is suspended"
            raise AccountError("This account is not suspended", fix)
        about = resume_record(self.unanswered_of(account))
        self.append(NewEntry(kind="resume", account=account, about=about))

    def check_unpinned(self, questions: Iterable[str]) -> None:
        """Reject to charge for what was read off a saved answer: that is shown for free."""
        if any(each in self.state.pins for each in questions):
            raise PinnedError

    def pin(self, pins: Mapping[str, str], account: str) -> None:
        """Note off which saved answers questions are read; what was paid for has its own."""
        for question, source in pins.items():
            if self.charge_of(question) is not None:
                raise PinnedError
            if self.answer_of(source) is None:
                raise ParameterError("pins", HIDDEN, "must refer to queries with saved answers")
            known = self.state.pins.get(question)
            if known not in {None, source}:
                raise PinnedError
            if known is None:
                about = {"source": source}
                line = NewEntry(kind="pin", question=question, account=account, about=about)
                self.append(line)

    def declare(self, policy: Policy | None, *, may_begin: bool) -> None:
        """Put a policy in force, or the recorded one if there is none to declare.

        Only a store that was made just now may have no entry yet.
        """
        if self.state.policy is None and (policy is None or not may_begin):
            raise LedgerError(*BEGINLESS)
        if policy is None:
            return
        if policy.data <= self.state.noted:
            policy = replace(policy, data=self.state.noted)
        if self.state.policy is not None:
            policy = policy.with_earlier(self.state.policy, is_charged=self.state.is_charged)
        if policy != self.state.policy:
            self.state.check_policy(policy)
            self.append(NewEntry(kind="policy", about=policy.record))

    def note_version(self, name: str, earlier: str) -> None:
        """Note a data version, unless it is known or nothing was charged so far."""
        policy = self.state.policy
        if policy is None or name in self.state.versions or not self.state.accounts:
            return
        about = {**policy.record, **version_notes(name, earlier)}
        self.append(NewEntry(kind="policy", about=about))

    def declare_analyst(self, analyst: Analyst) -> None:
        """Put an account in force, unless it is already as declared."""
        self.state.check_cap(analyst)
        others = [each for each in self.state.analysts.values() if each.name != analyst.name]
        if analyst.token_hash is not None and selected(others, selector_of(analyst.token_hash)):
            raise ParameterError("token_hash", HIDDEN, "must not belong to another analyst")
        if self.state.analysts.get(analyst.name) != analyst:
            about = record_from_analyst(analyst)
            self.append(NewEntry(kind="analyst", account=analyst.name, about=about))


def caught_up(state: LedgerState, transaction: Transaction) -> LedgerState:
    """Return the state with what was written since; reject a ledger that lacks its last entry."""
    rows = transaction.rows(state.number)
    if state.number:
        last = next(rows, None)
        if last is None or last.digest != state.digest:
            raise LedgerError(*ALTERED)
    first = next(rows, None)
    return state if first is None else state.after(chain((first,), rows))


def following(rows: Iterable[StoredEntry], digest: bytes = BEGINNING) -> Iterator[StoredEntry]:
    """Hand on rows that follow each other, or reject the first that does not."""
    for row in rows:
        check_follows(digest, row)
        digest = row.digest
        yield row


def selected(analysts: Iterable[Analyst], selector: str | None) -> Analyst | None:
    """Return the analyst whose token has this public part."""
    for each in analysts:
        if each.token_hash is not None and selector_of(each.token_hash) == selector:
            return each
    return None


def checked_entries(
    found: Iterable[tuple[StoredEntry, bytes | None]], digests: set[str]
) -> Iterator[StoredEntry]:
    """Hand on the rows and note their digests; reject answers that are altered or were not paid."""
    paid: set[str] = set()
    kept: set[str] = set()
    for row, answer in found:
        yield row  # checked against the chain before we go on
        digests.add(row.digest.hex())
        match row.kind:
            case "charge" if row.question not in paid and answer is None:
                paid.add(row.question)
            case "answer" if row.question not in kept:
                if not is_answer_paid(row.question, row.about, paid):
                    raise LedgerError(*ALTERED)
                answer_in(row, answer)
                kept.add(row.question)
            case "incident" if row.question in paid and answer is None:
                pass
            case "pin" if row.question not in paid and source_of(row) in kept and answer is None:
                pass
            case "policy" | "analyst" | "resume" | "request" | "decision" if answer is None:
                pass
            case _:
                raise LedgerError(*ALTERED)


def answer_in(row: StoredEntry, answer: bytes | None) -> bytes:
    """Return the answer beside a row, or reject one that is not as it was written."""
    # A damaged file may hold something else than bytes.
    noted = json.loads(row.about)
    if not isinstance(answer, bytes) or noted.get("sha256") != sha256(answer).hexdigest():
        raise LedgerError(*ALTERED)
    return answer


def _paid_alike(paid: StoredEntry, line: NewEntry) -> StoredEntry:
    """Return the charge if it paid for these events and units: others would be had for nothing."""
    if events_from_text(paid.events) != line.events:
        rule, fix = "must be those of the charge for this name", "Use another name for other events"
        raise ParameterError("events", HIDDEN, rule, fix)
    if not is_covered(line.scope, scope_of(paid)):
        rule, fix = "must be that of the charge for this name", "Use another name for other tables"
        raise ParameterError("scope", HIDDEN, rule, fix)
    return paid


def new_entries(items: object, account: object) -> list[NewEntry]:
    """Return what an account is to be charged for, or reject what is not several Items."""
    if not isinstance(items, Iterable):
        raise ParameterError("items", HIDDEN, "must be Items, in a list")
    return [new_entry(each, account) for each in items]


def new_entry(item: object, account: object) -> NewEntry:
    """Return what an account is to be charged for, or reject what cannot be stored."""
    if not isinstance(item, Item):
        raise ParameterError("items", HIDDEN, "must be Items")
    return NewEntry(
        kind="charge",
        question=check_name("question", item.question),
        account=check_name("account", account),
        events=one_or_more(item.events),
        scope=check_scope(item.scope),
        about=check_notes(item.about),
        stated=None if item.epsilon is None else positive("epsilon", item.epsilon),
    )
