"""From a plan to noisy tables: charged before it runs, kept before it is seen, paid for once.

Whether a statement fails may depend on data. So every failure after a charge is written into the
ledger before anything else is done, where it suspends the account that caused it. A failure that
could not be written is owed: nothing is answered in this process until it is.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from fractions import Fraction
from threading import Lock
from time import monotonic, sleep

from discreet.answer import Price
from discreet.catalog.catalog import Suspends
from discreet.engines.base import Engine, Statement
from discreet.engines.public_store import PublicStore
from discreet.engines.released import Row, fitting_rows, with_released
from discreet.errors import (
    ArithmeticDriftError,
    DiscreetError,
    EngineError,
    EntropyError,
    Failure,
    LeastEpsilonError,
    PinnedError,
    SourceError,
    SuspendedError,
    UnansweredError,
)
from discreet.known_releases import NO_TABLE, KnownRelease, KnownReleases, ReleaseState, table_from
from discreet.ledger import AccountBalance, Item, Ledger, Receipt, SavedAnswer
from discreet.ledger.forks import Forks
from discreet.ledger.inputs import MOST_ANSWER
from discreet.noise import SYSTEM, Entropy
from discreet.planner import BoundPlan
from discreet.postprocess import Number, scalars_of, tables_of
from discreet.query.plan import Plan
from discreet.query.plan.identity import scope_of
from discreet.query.plan.plan import PlannedRelease
from discreet.release import release
from discreet.reuse import Reuse
from discreet.tables import ExactTable, NoisyTable, bytes_from_noisy

MOST_UNANSWERED = 10
"""An account with so many charges that have no answer is charged for no more: a process that dies
tells as much as a failure, and nobody is left to record it. What this process runs now is not
counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Failed:
    """A failure to be recorded."""

    receipt: Receipt
    failure: Failure
    account: str
    answer: bytes | None


class Breaker:
    """Records failures of one curator, for all of its accounts and threads."""

    def __init__(self, ledger: Ledger, suspends: Suspends = Suspends.ACCOUNT) -> None:
        self._ledger, self._suspends = ledger, suspends
        self._recording = Lock()
        # These grow and shrink by single steps of the interpreter, so that threads need no lock.
        self._owed: list[Failed] = []
        self._running: dict[object, tuple[str, int]] = {}
        _breakers.follow(self)

    @contextmanager
    def asking(self, account: str, releases: int) -> Iterator[Callable[[], int]]:
        """Yield what says how many charges of an account may have no answer when it is called.

        Those that run now in this process are not lost, and come on top.
        """
        own = object()
        try:
            self._running[own] = (account, releases)
            yield lambda: MOST_UNANSWERED + self._running_besides(own, account)
        finally:
            self._running.pop(own, None)

    def _running_besides(self, own: object, account: str) -> int:
        running = list(self._running.items())
        return sum(count for each, (name, count) in running if name == account and each is not own)

    def settle(self) -> None:
        """Record all that is owed, or raise LedgerError: nothing is answered without it."""
        while self._owed:  # what is being recorded by another thread is owed until it is
            with self._recording:
                if not self._owed:
                    return
                owed = self._owed[0]
                self._ledger.record_incident(
                    owed.receipt,
                    owed.failure,
                    account=owed.account,
                    suspends=self._suspends.value,
                    answer=owed.answer,
                )
                del self._owed[0]

    def record(
        self, receipt: Receipt, failure: Failure, *, account: str, answer: bytes | None = None
    ) -> None:
        """Record a failure, and keep an answer in its place if one is handed in."""
        self._owed.append(Failed(receipt, failure, account, answer))
        self.settle()

    def before_fork(self) -> None:
        """Wait until no failure is being recorded: a child would record it again."""
        self._recording.acquire()

    def after_fork_in_parent(self) -> None:
        """Go on."""
        self._recording.release()

    def after_fork_in_child(self) -> None:
        """Go on with what is owed, and without the questions of the parent's threads."""
        self._recording = Lock()
        self._running = {}


_breakers = Forks()
"""Told before the storages of ledgers are: who records a failure waits for the storage."""


log = logging.getLogger("discreet.books")  # a public name, see docs/reference/stability.md


log.addHandler(logging.NullHandler())


SAVED_ONLY: ContextVar[bool] = ContextVar("saved_only", default=False)
"""Whether only what was released before may be answered, and nothing may be charged or run."""


def _at_once() -> None:
    """Wait for nothing."""


BEFORE_SAVING: ContextVar[Callable[[], None]] = ContextVar("before_saving", default=_at_once)
"""Called before a release is saved. From then on others can see that it was made, and by that how
long it took: a server that hides times waits here."""


class NotSavedError(DiscreetError):
    """A query of which not all is saved, where nothing may be charged or run."""


NOT_SAVED = ("No saved answer to this query has these numbers", "Run the query again")


PATIENCE, PAUSE = 30.0, 0.1
"""Seconds to wait, and between two looks, while other processes run too many questions at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedTables:
    """What was released for a plan, and what of it was charged now."""

    plan: Plan
    """As it was carried out: with the noise of what was read off kept tables."""
    noisy: tuple[NoisyTable, ...]
    charged: Price
    """What was charged now, without what was charged before."""
    is_reused: bool
    """Whether something was read off a table that was released for another question."""
    cut: tuple[str, ...]
    """Noisy tables of which only the first rows were joined, because there were too many."""
    balance: AccountBalance
    """Of the account that asked: after the charge, or as last read if nothing was charged."""


class Executor:
    """The only way from a plan to noisy tables."""

    def __init__(  # noqa: PLR0913 - the parts that it needs
        self,
        *,
        ledger: Ledger,
        engine: Engine,
        public: PublicStore,
        reuse: Reuse,
        breaker: Breaker,
        entropy: Entropy = SYSTEM,
        least: Fraction = Fraction(0),
    ) -> None:
        self._ledger, self._engine, self._public = ledger, engine, public
        self._reuse, self._breaker, self._entropy, self._least = reuse, breaker, entropy, least

    def execute(
        self, bound: BoundPlan, known: KnownReleases, *, note: str, account: str
    ) -> ReleasedTables:
        """Return what a plan releases, now or when it was first charged.

        Everything is charged before anything runs, and each release is saved before the next one
        may depend on it. Whatever happens in between, no second noise is ever shown: a table that
        could not be saved is dropped unseen. A failure is recorded before anything is answered.
        """
        self._breaker.settle()
        with self._breaker.asking(account, len(bound.plan.releases)) as most_unanswered:
            known, receipts = self._charge(bound.plan, known, note, account, most_unanswered)
            plan = _carried_out(bound.plan, known)
            noisy: list[NoisyTable] = []
            for number, each in enumerate(known.releases):
                table = each.table()
                if table is None:
                    table = self._stored(receipts[number])
                if table is None:
                    scalars = scalars_of(plan, noisy, self._public.number)
                    tables = tables_of(plan, noisy, self._public.rows)
                    statements = tuple(_filled(s, tables) for s in bound.statements[number])
                    exact = self.run(statements, receipts[number], account, scalars)
                    table = self._release(each.planned, exact, receipts[number], account)
                noisy.append(table)
        self._breaker.settle()  # of other threads, since
        new = [known.releases[i].planned for i, each in receipts.items() if not each.already_paid]
        balances = [each.balance for each in receipts.values() if each.balance is not None]
        return ReleasedTables(
            plan=plan,
            noisy=tuple(noisy),
            charged=price_of(new),
            is_reused=any(each.state is ReleaseState.REUSED for each in known.releases),
            cut=_cut(plan, tables_of(plan, noisy, self._public.rows)),
            balance=balances[-1] if balances else known.balance,
        )

    def check_affordable(self, plans: Sequence[Plan], account: str) -> None:
        """Reject what does not fit together, were nothing of it paid for; nothing is charged."""
        for plan in plans:
            self.check_least(price_of(plan.releases))
        items = [
            Item(
                question=name,
                events=planned.events,
                scope=scope_of(planned),
                epsilon=planned.epsilon,
            )
            for plan in plans
            for planned, name in zip(plan.releases, self._reuse.new_names(plan), strict=True)
        ]
        self._ledger.check(items, account=account)

    # ----------------------------------------------------------------------- charge

    def _charge(
        self,
        plan: Plan,
        known: KnownReleases,
        note: str,
        account: str,
        most_unanswered: Callable[[], int],
    ) -> tuple[KnownReleases, dict[int, Receipt]]:
        """Return what is known by then, and receipts of what has no table, by number of release.

        All are charged, and all that is read off is pinned, in one transaction, or none.
        """
        until = monotonic() + PATIENCE
        while True:
            self.check_least(price_of(known.unpaid))
            items = {
                number: _item(plan, number, each, note, self._reuse.version_note)
                for number, each in enumerate(known.releases)
                if each.state in (ReleaseState.DUE, ReleaseState.CHARGED)
            }
            pins = {
                each.name: each.reused.source
                for each in known.releases
                if each.reused is not None and not each.is_pinned
            }
            if not items and not pins:
                return known, {}
            if SAVED_ONLY.get():
                raise NotSavedError(*NOT_SAVED)
            try:
                receipts = self._ledger.charge_all(
                    list(items.values()),
                    account=account,
                    pins=pins,
                    most_unanswered=most_unanswered,
                )
            except PinnedError:  # another call paid for it, or read it off, since we looked
                pass
            except UnansweredError:  # other processes may be about to answer
                if monotonic() >= until:
                    raise
                sleep(PAUSE)
            else:
                return known, dict(zip(items, receipts, strict=True))
            known = self._reuse.find(plan, account)

    def check_least(self, due: Price) -> None:
        """Reject a charge that is less than a question may cost: it bounds how many there are."""
        if 0 < due.epsilon < self._least:
            raise LeastEpsilonError(due.epsilon, self._least)

    def _stored(self, receipt: Receipt) -> NoisyTable | None:
        """Return the table of a release that another call paid for, if it is kept by now."""
        found = self._ledger.find(receipt.question) if receipt.already_paid else None
        return table_from(found.answer) if isinstance(found, SavedAnswer) else None

    # ----------------------------------------------------------------------- run, release, keep

    def run(
        self,
        statements: tuple[Statement, ...],
        receipt: Receipt,
        account: str,
        scalars: tuple[Number, ...] = (),
    ) -> tuple[ExactTable, ...]:
        """Run the statements of a release; what goes wrong is recorded, and told in fixed words.

        An account that was suspended since the charge runs nothing: what was charged stays so, and
        is free when it is resumed. Ctrl-C is no failure.
        """
        try:
            self._ledger.check(account=account, to_run=True)
        except SuspendedError as rejection:
            raise rejection.after_charge() from None
        self._breaker.settle()
        failure: Failure
        try:
            return tuple(self._engine.run(each, scalars) for each in statements)
        except SourceError:  # a curator that can only explain: there are no data
            raise
        except EngineError as cause:
            failure = cause.failure
        except MemoryError:
            failure = "memory"
        except Exception as cause:
            log.error("a query failed with %s", type(cause).__name__)  # noqa: TRY400 - it may hold a value
            log.debug("the engine's own words", exc_info=cause)
            failure = "failed"
        self._breaker.record(receipt, failure, account=account)
        raise EngineError

    def _release(
        self,
        planned: PlannedRelease,
        exact: tuple[ExactTable, ...],
        receipt: Receipt,
        account: str,
    ) -> NoisyTable:
        """Draw the noise, and keep the result before anyone or anything sees it."""
        noisy: list[NoisyTable] = []

        def draws() -> bytes:
            noisy.append(release(planned, exact, entropy=self._entropy))
            return bytes_from_noisy(noisy[0])

        drawn = _drawn(draws)
        BEFORE_SAVING.get()()
        if drawn == NO_TABLE:
            self._breaker.record(receipt, "release", account=account, answer=NO_TABLE)
            raise EngineError
        kept = self._ledger.keep(receipt, drawn)
        # Another process may have been first: then its table is the answer.
        return noisy[0] if kept is drawn else table_from(kept)

    def draw(self, draws: Callable[[], bytes], receipt: Receipt, account: str) -> bytes:
        """Return what is drawn for a receipt that has further answers, to be saved by the caller.

        What goes wrong is recorded, and told in fixed words.
        """
        drawn = _drawn(draws)
        BEFORE_SAVING.get()()
        if drawn == NO_TABLE:
            self._breaker.record(receipt, "release", account=account)
            raise EngineError
        return drawn


def _drawn(draws: Callable[[], bytes]) -> bytes:
    """Return what is drawn, to be kept, or that there is nothing: noise is drawn once only."""
    try:
        drawn = draws()
    except (EntropyError, ArithmeticDriftError):
        # About the machine, not the data, so no incident. The charge has no answer, and an
        # account with MOST_UNANSWERED of these is charged for no more.
        raise
    except Exception:
        log.exception("a release failed after its noise was drawn")
        return NO_TABLE
    return drawn if len(drawn) <= MOST_ANSWER else NO_TABLE


def price_of(releases: Iterable[PlannedRelease]) -> Price:
    """Return what releases cost together."""
    found = list(releases)
    return Price(
        epsilon=sum((each.epsilon for each in found), Fraction(0)),
        delta=sum((each.delta for each in found), Fraction(0)),
    )


def _carried_out(plan: Plan, known: KnownReleases) -> Plan:
    """Return the plan with the releases whose tables are shown."""
    releases = tuple(
        each.planned if each.reused is None else each.reused.planned for each in known.releases
    )
    return replace(plan, releases=releases)


def _item(
    plan: Plan, number: int, known: KnownRelease, note: str, version: Mapping[str, str]
) -> Item:
    planned = known.planned
    return Item(
        question=known.name,
        events=planned.events,
        scope=scope_of(planned),
        about={**_noted(plan, number, note), **version},
        despite_pin=known.is_pinned,
        epsilon=planned.epsilon,
    )


def _filled(statement: Statement, tables: Mapping[int, Sequence[Row]]) -> Statement:
    """Return a statement with the rows of released tables that it reads."""
    return replace(statement, query=with_released(statement.query, tables))


def _cut(plan: Plan, tables: Mapping[int, Sequence[Row]]) -> tuple[str, ...]:
    """Return the tables of which a statement cannot hold all rows."""
    return tuple(
        each.name
        for each in plan.question.tables
        if sum(1 for _ in fitting_rows(tables[each.number])) < len(tables[each.number])
    )


def _noted(plan: Plan, number: int, sql: str) -> dict[str, str]:
    """Return what the ledger notes of a release: by it, others may be read off its table."""
    if plan.question.uses_releases:
        return {"sql": sql}
    return {
        "sql": sql,
        "epsilon": str(plan.epsilon),
        "delta": str(plan.delta),
        "aggregates": " ".join(plan.identities[number].aggregates),
    }
