"""The curator: holds private tables, answers questions about them, and keeps the books."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.types as pt

from discreet.accounting import Budget, ComposedEvent, Event
from discreet.answer import Answer, Balance
from discreet.answer.present import present
from discreet.catalog.policy import BudgetPolicy, Catalog
from discreet.catalog.schema import Bounds
from discreet.engines.base import Engine
from discreet.engines.public import PublicStore
from discreet.errors import ParameterError, QuestionError, QuestionSizeError, UnsupportedError
from discreet.explanation import Explanation, explain_plan, notes_of
from discreet.finding import Finder, Means
from discreet.ledger import Kept, Ledger, Receipt
from discreet.noise import SYSTEM, Entropy
from discreet.parameters import Real, rational
from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.plan import Plan, make_plan
from discreet.query.planned import PlannedRelease
from discreet.query.questions import Question, Scalar
from discreet.query.targets import EpsilonTarget, Target, make_target
from discreet.release import release, schemas_of, spreads
from discreet.tables import NoisyTable, bytes_from_noisy, noisy_from_bytes

Released = int | float | None
"""A noisy number that a later release of the same question uses."""


class Curator:
    """Answers SQL about private tables with noise, until the budget is gone."""

    def __init__(  # noqa: PLR0913 - the parts it is made of
        self,
        *,
        catalog: Catalog,
        engine: Engine,
        public: PublicStore,
        ledger: Ledger,
        data_version: str = "",
        entropy: Entropy = SYSTEM,
    ) -> None:
        self.catalog = catalog
        self._engine, self._public, self._ledger = engine, public, ledger
        self._data_version, self._entropy = data_version, entropy
        means = Means(
            plan=self._plan,
            pay=self._paid,
            is_paid=self._is_paid,
            kept=self._noisy_kept,
            afford=self._afford,
        )
        self._finder = Finder(catalog, public, means)

    def ask(  # noqa: PLR0913 - each is a thing that an analyst may state
        self,
        sql: str,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        within: Real | Mapping[str, Real] | None = None,
        confidence: Real = 0.95,
        find_bounds: Collection[str] = (),
    ) -> Answer:
        """Return the answer, at the price of exactly epsilon, or at the least price for an error.

        The charge is durable before any data is read, the answer before anyone sees it. Asked
        again, the same question is free.

        Where there is no answer without the bounds of columns that the catalog calls AUTO, or that
        `find_bounds` names ("visits.cost"), a fifth of epsilon finds these first.
        """
        target = make_target(epsilon, delta, within, confidence)
        ready = self._finder.ready(sql, target, find_bounds)
        noisy, was_kept = self._paid(ready.plan, sql) if ready.plan.releases else ((), False)
        was_kept = was_kept and ready.charged == 0
        return present(
            ready.priced(was_kept=was_kept),
            noisy,
            self._public.run,
            text=sql,
            confidence=confidence,
            balance=self.remaining,
            was_kept=was_kept,
            notes=(*ready.notes, *notes_of(ready.plan)),
        )

    def explain(  # noqa: PLR0913 - the same as for ask
        self,
        sql: str,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        within: Real | Mapping[str, Real] | None = None,
        confidence: Real = 0.95,
        find_bounds: Collection[str] = (),
    ) -> Explanation:
        """Return what `ask` would do and cost, and how good the answer would be; reads no data."""
        target = make_target(epsilon, delta, within, confidence)

        def explained(plan: Plan) -> Explanation:
            queries = [query for planned in plan.releases for query in planned.queries]
            sqls = [self._engine.sql(each) for each in queries]
            return explain_plan(plan, sqls, confidence, question=sql, remaining=self.remaining)

        first = self._finder.first(sql, target, find_bounds)
        if first is not None:
            return self._finder.explanation(sql, first, explained)
        return explained(self._plan(sql, target, self.catalog))

    def find_bounds(self, column: str, *, epsilon: Real) -> Bounds:
        """Return bounds of a column, found privately at the price of exactly epsilon.

        They are read off noisy numbers of values by magnitude, charged and kept as any answer is:
        anyone may see them, and the same epsilon finds them again for free. With probability 0.999
        both ends are those of magnitudes that do occur.
        """
        return self._finder.bounds(column, rational("epsilon", epsilon, above=0))

    @property
    def remaining(self) -> Balance:
        """What is left of the budget."""
        left, policy = self._ledger.remaining(), self.catalog.budget
        return Balance(
            epsilon=left.epsilon,
            delta=left.delta,
            total_epsilon=policy.epsilon,
            total_delta=policy.delta,
        )

    def close(self) -> None:
        """Give back the engine and the ledger."""
        self._engine.close()
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self.catalog.tables)
        return f"Curator({names} · left {self.remaining})"

    # ----------------------------------------------------------------------- before data is read

    def _plan(self, sql: str, target: Target | None, catalog: Catalog) -> Plan:
        """Return all that will happen; refusals show the place in the question."""
        try:
            question = check(parse(sql), catalog, self._public)
            self._check_sql(question)
            plan = make_plan(question, _needed(target, question), catalog.budget)
            self._check_queries(plan)
        except QuestionError as refusal:
            refusal.text = sql
            raise
        except RecursionError:
            raise QuestionSizeError(
                "the question is nested too deeply", "write it with fewer levels"
            ) from None
        return plan

    def _check_queries(self, plan: Plan) -> None:
        """Refuse what the engine cannot be told: before anything is charged."""
        for planned in plan.releases:
            for query in planned.queries:
                self._engine.sql(query)

    def _check_sql(self, question: Question) -> None:
        """Refuse SQL for afterwards that does not run, or gives no number where one is needed."""
        schemas = schemas_of(question)
        self._public.check(question.afterwards, schemas)
        for each in question.scalars:
            kind = self._public.check(each.sql, schemas).field(0).type
            if not (pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind)):
                raise UnsupportedError(
                    "a query that stands in a condition on rows gives no number",
                    "compare rows with released numbers only",
                )

    # ----------------------------------------------------------------------- charge, run, keep

    def _paid(self, plan: Plan, sql: str) -> tuple[tuple[NoisyTable, ...], bool]:
        """Return what was released for the plan, now or when it was first paid for.

        Everything is charged before anything runs, and each release is kept before the next one
        may depend on it: whatever happens in between, no second noise is ever drawn.
        """
        kept = self._noisy_kept(plan)
        if kept is not None:
            return kept, True
        receipts = self._charged(plan, sql)
        noisy: list[NoisyTable] = []
        for planned, receipt in zip(plan.releases, receipts, strict=True):
            noisy.append(self._kept(planned, receipt, self._numbers(plan, noisy)))
        return tuple(noisy), all(each.already_paid for each in receipts)

    def _charged(self, plan: Plan, sql: str) -> tuple[Receipt, ...]:
        """Return receipts for all releases of a plan, or refuse what does not fit together."""
        numbered = list(enumerate(plan.releases))
        unpaid = [
            event
            for number, planned in numbered
            if self._ledger.find(self._identity(plan, number)) is None
            for event in planned.events
        ]
        if unpaid:
            self._afford(tuple(unpaid))
        return tuple(
            self._ledger.charge(self._identity(plan, number), planned.events, about={"sql": sql})
            for number, planned in numbered
        )

    def _identity(self, plan: Plan, release: int) -> str:
        """Return what a release is called in the books: the same plan over the same data."""
        told = f"{plan.fingerprint}|{release}|{self._data_version}"
        return sha256(told.encode()).hexdigest()

    def _is_paid(self, plan: Plan) -> bool:
        numbers = range(len(plan.releases))
        return all(self._ledger.find(self._identity(plan, each)) is not None for each in numbers)

    def _noisy_kept(self, plan: Plan) -> tuple[NoisyTable, ...] | None:
        """Return what is in the books for a plan, if all of it is."""
        found = [self._ledger.find(self._identity(plan, i)) for i in range(len(plan.releases))]
        kept = [noisy_from_bytes(each.answer) for each in found if isinstance(each, Kept)]
        return tuple(kept) if len(kept) == len(found) else None

    def _afford(self, events: tuple[Event, ...]) -> None:
        """Refuse what does not fit together; nothing is charged."""
        budget = replace(budget_from(self.catalog.budget), charged=self._ledger.charged())
        budget.charge(ComposedEvent(events=events))

    def _kept(
        self, planned: PlannedRelease, receipt: Receipt, numbers: tuple[Released, ...]
    ) -> NoisyTable:
        """Run and release, and keep the result before anyone or anything sees it."""
        found = self._ledger.find(receipt.question)
        if isinstance(found, Kept):
            return noisy_from_bytes(found.answer)
        exact = tuple(self._engine.run(each, numbers) for each in planned.queries)
        noisy = release(planned, exact, entropy=self._entropy)
        return noisy_from_bytes(self._ledger.keep(receipt, bytes_from_noisy(noisy)))

    def _numbers(self, plan: Plan, noisy: list[NoisyTable]) -> tuple[Released, ...]:
        """Return the numbers that earlier releases give to the next one."""
        done = dict(enumerate(zip(plan.releases, noisy, strict=False)))
        tables = {
            f"released_{i}": spreads(planned, each, confidence=Fraction(95, 100))
            for i, (planned, each) in done.items()
        }
        return tuple(
            self._number(each, tables) if done.keys() >= set(each.needs) else None
            for each in plan.question.scalars
        )

    def _number(self, scalar: Scalar, tables: Mapping[str, pa.Table]) -> Released:
        found = self._public.run(scalar.sql, tables).column(0).to_pylist()
        return found[0] if found else None


NOTHING = EpsilonTarget(1)
"""Stands for the target of a question that releases nothing, and so spends nothing of it."""


def _needed(target: Target | None, question: Question) -> Target:
    if target is None and question.releases:
        raise ParameterError("epsilon", None, "must be given, or an accuracy: ask(sql, within=20)")
    return target or NOTHING


def budget_from(policy: BudgetPolicy) -> Budget:
    """Return the budget that a policy declares, uncharged."""
    aside = policy.delta / 2 if policy.accounting.value == "concentrated" else Fraction(0)
    return Budget(
        epsilon=policy.epsilon,
        delta=policy.delta,
        filter=policy.accounting.value,
        set_aside=aside,
    )
