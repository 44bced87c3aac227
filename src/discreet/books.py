"""Paying: every release is charged before it runs, kept before it is seen, and paid for once."""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from time import monotonic, sleep

from discreet.accounting import Budget, Charge, Remaining
from discreet.answer import Balance, Price
from discreet.breaker import Breaker
from discreet.catalog.policy import Accounting, BudgetPolicy
from discreet.engines.base import Engine
from discreet.engines.public import PublicStore
from discreet.errors import (
    ArithmeticDriftError,
    DiscreetError,
    EngineError,
    EntropyError,
    Failure,
    LeastEpsilonError,
    PinnedError,
    SourceError,
    UnansweredError,
)
from discreet.ledger import OWNER, Entry, Item, Kept, Ledger, Receipt
from discreet.ledger.checks import MOST_ANSWER
from discreet.noise import SYSTEM, Entropy
from discreet.query.plan import Plan
from discreet.query.plan.identity import Identity, meanings_of
from discreet.query.plan.planned import PlannedRelease
from discreet.query.plan.targets import EpsilonTarget
from discreet.query.scope import scope_of
from discreet.release import release, spreads
from discreet.serving import Served, read_off
from discreet.tables import ExactTable, NoisyTable, bytes_from_noisy, noisy_from_bytes

Released = int | float | None
"""A noisy number that a later release of the same question uses."""

log = logging.getLogger("discreet.books")
log.addHandler(logging.NullHandler())

LEVEL = Fraction(95, 100)
"""SQL over released tables may read half widths; numbers fed into a question use these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paid:
    """What was released for a plan, and what of it was charged now."""

    plan: Plan
    """As it was carried out: with the noise of what was read off kept tables."""
    noisy: tuple[NoisyTable, ...]
    price: Price
    """Of what was not paid for before."""
    notes: tuple[str, ...] = ()
    """What was not released for this question, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Served):
    """A release as it is read off a kept table, and whether that was noted before."""

    question: str
    source: str
    """The question whose table it is."""
    is_pinned: bool


Replanner = Callable[[str, EpsilonTarget], Plan]
"""How a question that was paid for is planned again; raises where there is no plan."""

MOST_TRIED = 3
"""So many of the last releases of the same rows and groups are looked at."""

PATIENCE, PAUSE = 30.0, 0.1
"""Seconds to wait, and between two looks, while other processes run too many questions at once."""

JOINT = ":"
"""Parts what a release shares with all of the same rows and groups from what it is."""

READ_OFF = "read off an answer to a wider or dearer question, which was paid for before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What older versions of Discreet called the same data: what was paid for so stays free."""

    data_version: str
    paid: dict[str, bool] = field(default_factory=dict)
    """Names of releases, and whether they are in the ledger: nobody adds any."""


class Books:
    """The only way from a plan to noisy tables."""

    def __init__(  # noqa: PLR0913 - the parts that paying needs
        self,
        *,
        ledger: Ledger,
        engine: Engine,
        public: PublicStore,
        data_version: str = "",
        earlier: Earlier | None = None,
        entropy: Entropy = SYSTEM,
        account: str = OWNER,
        replan: Replanner | None = None,
        least: Fraction = Fraction(0),
        breaker: Breaker | None = None,
    ) -> None:
        self._ledger, self._engine, self._public = ledger, engine, public
        self._data_version, self._entropy, self._account = data_version, entropy, account
        self._replan, self._least = replan, least
        self._breaker = Breaker(ledger) if breaker is None else breaker
        self._replan, self._earlier = replan, earlier

    def of(self, account: str) -> "Books":
        """Return the books as an account charges them, or refuse one that may not ask."""
        self._ledger.check(account=account)
        return Books(
            ledger=self._ledger,
            engine=self._engine,
            public=self._public,
            data_version=self._data_version,
            earlier=self._earlier,
            entropy=self._entropy,
            account=account,
            replan=self._replan,
            least=self._least,
            breaker=self._breaker,
        )

    def pay(self, plan: Plan, about: str) -> Paid:
        """Return what a plan releases, now or when it was first paid for.

        Everything is charged before anything runs, and each release is kept before the next one
        may depend on it: whatever happens in between, no second noise is ever drawn. A failure is
        recorded before anything else is answered.
        """
        self._breaker.settle()
        with self._breaker.asking(self._account, len(plan.releases)) as most_unanswered:
            served, receipts = self._charged(plan, about, most_unanswered)
            releases = tuple(
                served[i].planned if i in served else each for i, each in enumerate(plan.releases)
            )
            carried_out = replace(plan, releases=releases)
            noisy: list[NoisyTable] = []
            for number, planned in enumerate(plan.releases):
                if number in served:
                    noisy.append(served[number].noisy)
                else:
                    numbers = self._numbers(carried_out, noisy)
                    noisy.append(self._kept(planned, receipts[number], numbers))
        new = [plan.releases[i] for i, each in receipts.items() if not each.already_paid]
        return Paid(
            plan=carried_out,
            noisy=tuple(noisy),
            price=_price(new),
            notes=(READ_OFF,) if served else (),
        )

    def kept(self, plan: Plan) -> tuple[NoisyTable, ...] | None:
        """Return what is in the books for a plan, if all of it is."""
        served = self._served(plan)
        found = [self._ledger.find(each) for each in self._questions(plan)]
        kept = [
            _opened(each.answer) if isinstance(each, Kept) else served[number].noisy
            for number, each in enumerate(found)
            if isinstance(each, Kept) or number in served
        ]
        return tuple(kept) if len(kept) == len(found) else None

    def is_paid(self, plan: Plan) -> bool:
        """Return whether nothing of a plan would be charged."""
        return not self.unpaid(plan)

    def unpaid(self, plan: Plan) -> tuple[PlannedRelease, ...]:
        """Return the releases of a plan that were not paid for and are read off no kept table."""
        return self._unpaid(plan, self._served(plan))

    def _unpaid(self, plan: Plan, served: Collection[int]) -> tuple[PlannedRelease, ...]:
        names = dict(zip(self._questions(plan), enumerate(plan.releases), strict=True))
        return tuple(
            planned
            for question, (number, planned) in names.items()
            if number not in served and self._ledger.find(question) is None
        )

    def due(self, plan: Plan) -> Price:
        """Return what paying for a plan would be charged now; tells nothing else of the books."""
        return _price(self.unpaid(plan))

    def afford(self, plans: Sequence[Plan]) -> None:
        """Refuse what does not fit together, were nothing of it paid for; nothing is charged."""
        for plan in plans:
            self._check_least(_price(plan.releases))
        items = [
            Item(question=question, events=planned.events, scope=scope_of(planned))
            for plan in plans
            for planned, question in zip(plan.releases, self._questions(plan), strict=True)
        ]
        self._ledger.check(items, account=self._account)

    # ----------------------------------------------------------------------- steps

    def _questions(self, plan: Plan) -> tuple[str, ...]:
        """Return what the releases are called in the ledger: the same over the same data.

        Names of releases of the same rows and groups begin alike.
        """
        return tuple(self._question(each) for each in plan.identities)

    def _question(self, identity: Identity) -> str:
        earlier = self._earlier
        if earlier is not None:
            name = _name(identity, earlier.data_version)
            if name not in earlier.paid:
                earlier.paid[name] = self._ledger.find(name) is not None
            if earlier.paid[name]:
                return name
        return _name(identity, self._data_version)

    def _charged(
        self, plan: Plan, about: str, most_unanswered: Callable[[], int]
    ) -> tuple[dict[int, "Reading"], dict[int, Receipt]]:
        """Return what is read off kept tables, and receipts for all else, by number of release.

        All are charged, and all that is read off is pinned, in one transaction, or none.
        """
        until = monotonic() + PATIENCE
        while True:
            served = self._served(plan)
            self._check_least(_price(self._unpaid(plan, served)))
            items = {
                number: Item(
                    question=question,
                    events=plan.releases[number].events,
                    scope=scope_of(plan.releases[number]),
                    about=_noted(plan, number, about),
                    despite_pin=self._ledger.pin_of(question) is not None,
                )
                for number, question in enumerate(self._questions(plan))
                if number not in served
            }
            pins = {each.question: each.source for each in served.values() if not each.is_pinned}
            if not items and not pins:
                return served, {}
            try:
                receipts = self._ledger.charge_all(
                    list(items.values()),
                    account=self._account,
                    pins=pins,
                    most_unanswered=most_unanswered,
                )
            except PinnedError:  # another call paid for it, or read it off, since we looked
                continue
            except UnansweredError:  # other processes may be about to answer
                if monotonic() >= until:
                    raise
                sleep(PAUSE)
                continue
            return served, dict(zip(items, receipts, strict=True))

    def _check_least(self, due: Price) -> None:
        """Refuse a charge that is less than a question may cost: it bounds how many there are."""
        if 0 < due.epsilon < self._least:
            raise LeastEpsilonError(due.epsilon, self._least)

    # ----------------------------------------------------------------------- what was kept

    def _served(self, plan: Plan) -> dict[int, "Reading"]:
        """Return the releases that were not paid for and are read off kept tables, by number.

        What was read off a table once is read off the same one ever after.
        """
        # Where what is released depends on released numbers, only what is pinned is read off.
        is_plain = not plan.question.scalars
        found = {
            number: self._read_off(
                plan.releases[number], question, plan.identities[number], is_new=is_plain
            )
            for number, question in enumerate(self._questions(plan))
        }
        return {number: each for number, each in found.items() if each is not None}

    def _alike(self, identity: Identity) -> list[Entry]:
        """Return the last charges for the same rows and groups, the newest first."""
        versions = [self._data_version]
        versions += [] if self._earlier is None else [self._earlier.data_version]
        return [
            entry
            for version in versions
            for entry in self._ledger.charges_under(
                _beginning(_name(identity, version)), MOST_TRIED
            )
        ]

    def _read_off(
        self, asked: PlannedRelease, question: str, identity: Identity, *, is_new: bool
    ) -> "Reading | None":
        if self._ledger.find(question) is not None:
            return None
        source = self._ledger.pin_of(question)
        if source is not None:
            alike: Iterable[Entry] = self._ledger.charges_under(source, 1)
        elif is_new:
            alike = self._alike(identity)
        else:
            return None
        wanted = set(meanings_of(asked.release))
        for entry in alike:
            if _may_serve(entry, wanted, asked.epsilon):
                kept, planned = self._ledger.find(entry.question), self._planned_again(entry)
                if isinstance(kept, Kept) and kept.answer != NOTHING and planned is not None:
                    served = read_off(asked, planned, _opened(kept.answer))
                    if served is not None:
                        return Reading(
                            question=question,
                            source=entry.question,
                            is_pinned=source is not None,
                            planned=served.planned,
                            noisy=served.noisy,
                        )
        return None

    def _planned_again(self, entry: Entry) -> PlannedRelease | None:
        """Return the release that an entry charged, if the same question still means the same."""
        if self._replan is None:
            return None
        epsilon, delta = Fraction(entry.about["epsilon"]), Fraction(entry.about["delta"])
        for slack in (None, delta):
            with suppress(DiscreetError):
                plan = self._replan(entry.about["sql"], EpsilonTarget(epsilon, delta=slack))
                names = self._questions(plan)
                if entry.question in names:
                    return plan.releases[names.index(entry.question)]
        return None

    # ----------------------------------------------------------------------- run and keep

    def _kept(
        self, planned: PlannedRelease, receipt: Receipt, numbers: tuple[Released, ...]
    ) -> NoisyTable:
        """Run and release, and keep the result before anyone or anything sees it."""
        found = self._ledger.find(receipt.question) if receipt.already_paid else None
        if isinstance(found, Kept):
            return _opened(found.answer)
        drawn = self._drawn(planned, self._exact(planned, receipt, numbers))
        if drawn == NOTHING:
            self._breaker.record(receipt, "release", account=self._account, answer=NOTHING)
            raise EngineError
        return _opened(self._ledger.keep(receipt, drawn))

    def _exact(
        self, planned: PlannedRelease, receipt: Receipt, numbers: tuple[Released, ...]
    ) -> tuple[ExactTable, ...]:
        """Run the queries of a release; whatever goes wrong is recorded, and told in fixed words.

        An account that was suspended since the charge runs nothing: what was charged stays so, and
        is free when it is resumed. Ctrl-C is no failure.
        """
        self._ledger.check(account=self._account, to_run=True)
        failure: Failure
        try:
            return tuple(self._engine.run(each, numbers) for each in planned.queries)
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
        self._breaker.record(receipt, failure, account=self._account)
        raise EngineError

    def _drawn(self, planned: PlannedRelease, exact: tuple[ExactTable, ...]) -> bytes:
        """Return the noisy table to keep, or that there is none: noise is drawn once only."""
        try:
            drawn = bytes_from_noisy(release(planned, exact, entropy=self._entropy))
        except (EntropyError, ArithmeticDriftError):  # no fact about the data
            raise
        except Exception:
            log.exception("a release failed after its noise was drawn")
            return NOTHING
        return drawn if len(drawn) <= MOST_ANSWER else NOTHING

    def _numbers(self, plan: Plan, noisy: list[NoisyTable]) -> tuple[Released, ...]:
        """Return the numbers that earlier releases give to the next one."""
        done = dict(enumerate(zip(plan.releases, noisy, strict=False)))
        tables = {
            f"released_{i}": spreads(planned, each, confidence=LEVEL)
            for i, (planned, each) in done.items()
        }
        return tuple(
            self._public.number(each.sql, tables) if done.keys() >= set(each.needs) else None
            for each in plan.question.scalars
        )


def _name(identity: Identity, data_version: str) -> str:
    """Return what a release is called over data of a version."""
    digests = (identity.base, identity.whole)
    named = [sha256(f"{each}|{data_version}".encode()).hexdigest() for each in digests]
    return JOINT.join(named)


def _beginning(question: str) -> str:
    """Return how the names of all releases of the same rows and groups begin."""
    return question.partition(JOINT)[0] + JOINT


def _price(releases: Iterable[PlannedRelease]) -> Price:
    new = list(releases)
    return Price(
        epsilon=sum((each.epsilon for each in new), Fraction(0)),
        delta=sum((each.delta for each in new), Fraction(0)),
    )


def _noted(plan: Plan, number: int, sql: str) -> dict[str, str]:
    """Return what the ledger notes of a release: by it, others may be read off its table."""
    if plan.question.scalars:
        return {"sql": sql}
    return {
        "sql": sql,
        "epsilon": str(plan.epsilon),
        "delta": str(plan.delta),
        "aggregates": " ".join(plan.identities[number].aggregates),
    }


def _may_serve(entry: Entry, wanted: set[str], epsilon: Fraction) -> bool:
    """Return whether it is worth planning again what an entry charged.

    A release costs no more than its question, so that none that would serve is left out.
    """
    about = entry.about
    if "epsilon" not in about or Fraction(about["epsilon"]) < epsilon:
        return False
    return wanted <= set(about.get("aggregates", "").split())


NOTHING = b""
"""Kept in place of a table that could not be made: asked again, the question fails again."""


def _opened(kept: bytes) -> NoisyTable:
    if kept == NOTHING:
        raise EngineError
    return noisy_from_bytes(kept)


def budget_from(policy: BudgetPolicy) -> Budget:
    """Return the budget that a policy declares, uncharged."""
    aside = policy.delta / 2 if policy.accounting is Accounting.CONCENTRATED else Fraction(0)
    return Budget(
        epsilon=policy.epsilon,
        delta=policy.delta,
        filter=policy.accounting.value,
        set_aside=aside,
    )


def balance_of(ledger: Ledger, policy: BudgetPolicy, account: str = OWNER) -> Balance:
    """Return what is left for an account: of its cap, or of the total where that is less.

    Where tables are declared disjoint, it is the least that is left for units of any of them.
    """
    left = ledger.remaining()
    if account == OWNER:
        return balance_from(left, budget_from(policy))
    own = ledger.remaining(account)
    least = Remaining(
        epsilon=min(left.epsilon, own.epsilon),
        rho=min(left.rho, own.rho),
        delta=min(left.delta, own.delta),
    )
    return balance_from(least, ledger.cap(account))


def balance_from(left: Remaining, limit: Budget) -> Balance:
    """Return what is left of a limit, as people read it."""
    return Balance(
        epsilon=left.epsilon,
        delta=left.delta,
        rho=left.rho,
        total_epsilon=limit.epsilon,
        total_delta=limit.delta,
        total_rho=replace(limit, charged=Charge()).remaining().rho,
    )
