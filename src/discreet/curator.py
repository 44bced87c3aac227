"""The curator: holds private tables, answers questions about them, and keeps the books."""

from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Self

import pyarrow.types as pt

from discreet.answer import Answer, Balance
from discreet.answer.present import present
from discreet.books import Books
from discreet.catalog.policy import Catalog
from discreet.catalog.schema import Bounds
from discreet.engines.base import Engine
from discreet.engines.public import PublicStore
from discreet.errors import ParameterError, QuestionError, QuestionSizeError, UnsupportedError
from discreet.explanation import Explanation, explain_plan, notes_of
from discreet.finding import Finder
from discreet.ledger import Ledger
from discreet.noise import SYSTEM, Entropy
from discreet.parameters import Real, confidence_level, rational
from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.targets import EpsilonTarget, Target, make_target
from discreet.query.questions import Question
from discreet.release import schemas_of


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
        self._books = Books(
            ledger=ledger,
            engine=engine,
            public=public,
            policy=catalog.budget,
            data_version=data_version,
            entropy=entropy,
        )
        self._finder = Finder(catalog, public, self._books, self._plan)

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
        confidence_level(confidence)  # refused here, not when the answer is paid for
        target = make_target(epsilon, delta, within, confidence)
        ready = self._finder.ready(sql, target, find_bounds)
        paid = self._books.pay(ready.plan, sql)
        price, was_kept = ready.price(paid.price)
        return present(
            ready.plan,
            paid.noisy,
            self._public.run,
            text=sql,
            confidence=confidence,
            price=price,
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
                self._engine.check(query)

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


NOTHING = EpsilonTarget(1)
"""Stands for the target of a question that releases nothing, and so spends nothing of it."""


def _needed(target: Target | None, question: Question) -> Target:
    if target is None and question.releases:
        raise ParameterError("epsilon", None, "must be given, or an accuracy: ask(sql, within=20)")
    return target or NOTHING
