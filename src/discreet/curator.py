"""The curator: holds private tables, answers questions about them, and keeps the books."""

from collections.abc import Callable, Collection, Mapping
from types import TracebackType
from typing import Self

from discreet.answer import Answer, Balance
from discreet.answer.present import present
from discreet.books import Books, Earlier, balance_of
from discreet.breaker import Breaker
from discreet.catalog.policy import Catalog, RowChoice
from discreet.catalog.schema import Bounds
from discreet.engines.base import Engine
from discreet.engines.foreign import write_for
from discreet.engines.madeup import made_up
from discreet.engines.public import PublicStore
from discreet.errors import ParameterError, QuestionError, QuestionSizeError, UnsupportedError
from discreet.explanation import Explanation
from discreet.explanation.from_plan import explain_plan, notes_of
from discreet.finding import Finder
from discreet.ledger import OWNER, Incident, Ledger
from discreet.noise import SYSTEM, Entropy
from discreet.parameters import Real, confidence_level, rational
from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.kept import bounded, with_choice
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
        earlier: Earlier | None = None,
        entropy: Entropy = SYSTEM,
    ) -> None:
        self.catalog = catalog
        self._engine, self._public, self._ledger = engine, public, ledger
        self._books = Books(
            ledger=ledger,
            engine=engine,
            public=public,
            data_version=data_version,
            earlier=earlier,
            entropy=entropy,
            replan=lambda sql, target: self._plan(sql, target, catalog),
            least=catalog.budget.least_per_question,
            breaker=Breaker(ledger, catalog.budget.incident_suspends),
        )

    def ask(  # noqa: PLR0913 - each is a thing that an analyst may state
        self,
        sql: str,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        within: Real | Mapping[str, Real] | None = None,
        confidence: Real = 0.95,
        find_bounds: Collection[str] = (),
        bounding: RowChoice | str | None = None,
        account: str = OWNER,
    ) -> Answer:
        """Return the answer, at the price of exactly epsilon, or at the least price for an error.

        The charge is durable before any data is read, the answer before anyone sees it. Asked
        again, the same question is free. It is charged to an account, within its cap and the total.

        Where there is no answer without the bounds of columns that the catalog calls AUTO, or that
        `find_bounds` names ("visits.cost"), a fifth of epsilon finds these first.

        `bounding` says when it is settled which rows of a unit count: "prepared", as the catalog
        has it if nothing is said, or "per-query".
        """
        books = self._books.of(account)
        confidence_level(confidence)  # refused here, not when the answer is paid for
        target = make_target(epsilon, delta, within, confidence)
        ready = self._finder(books, bounding).ready(sql, target, find_bounds)
        paid = books.pay(ready.plan, sql)
        price, was_kept = ready.price(paid.price)
        return present(
            paid.plan,
            paid.noisy,
            self._public.run,
            text=sql,
            confidence=confidence,
            price=price,
            balance=self.remaining_of(account),
            from_ledger=was_kept,
            notes=(*ready.notes, *paid.notes, *notes_of(paid.plan, confidence)),
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
        bounding: RowChoice | str | None = None,
        dialect: str | None = None,
        account: str = OWNER,
    ) -> Explanation:
        """Return what `ask` would do and cost, and how good the answer would be; reads no data.

        `dialect` has the statements in the words of another engine, "bigquery", "databricks",
        "snowflake" or "trino", over tables that are not prepared; nothing is run there.
        """
        books, left = self._books.of(account), self.remaining_of(account)
        finder = self._finder(books, bounding if dialect is None else RowChoice.PER_QUERY)
        target = make_target(epsilon, delta, within, confidence)

        def explained(plan: Plan) -> Explanation:
            queries = [query for planned in plan.releases for query in planned.queries]
            sqls = [
                self._engine.sql(each) if dialect is None else write_for(each, dialect)
                for each in queries
            ]
            return explain_plan(
                plan, sqls, confidence, question=sql, remaining=left, due=books.due(plan)
            )

        first = finder.first(sql, target, find_bounds)
        if first is not None:
            return finder.explanation(sql, first, explained)
        return explained(self._plan(sql, target, finder.catalog))

    def find_bounds(self, column: str, *, epsilon: Real, account: str = OWNER) -> Bounds:
        """Return bounds of a column, found privately at the price of exactly epsilon.

        They are read off noisy numbers of values by magnitude, charged and kept as any answer is:
        anyone may see them, and the same epsilon finds them again for free. With probability 0.999
        both ends are those of magnitudes that do occur.
        """
        finder = self._finder(self._books.of(account))
        return finder.bounds(column, rational("epsilon", epsilon, above=0))

    def on_account(self, name: str) -> "Account":
        """Return what an analyst may do, for whoever holds the data, or raise AccountError."""
        self._ledger.check(account=name)
        return Account(self, lambda: name)

    def as_analyst(self, token: str) -> "Account":
        """Return what the analyst who holds this token may do, or raise AccountError."""
        self._ledger.authenticate(token)
        return Account(self, lambda: self._ledger.authenticate(token))

    def incidents(self) -> tuple[Incident, ...]:
        """Return the questions that failed after they were charged, and those without an answer.

        For whoever holds the data. `discreet.ledger.bits_told` says how much they can have told.
        """
        return self._ledger.incidents()

    def resume(self, account: str) -> None:
        """Let an account ask again that a failure has suspended, once its cause is understood.

        For whoever holds the data; the ledger records it. The owner's own account is "owner".
        """
        self._ledger.resume(account)

    @property
    def remaining(self) -> Balance:
        """What is left of the budget."""
        return self.remaining_of(OWNER)

    def remaining_of(self, account: str) -> Balance:
        """Return what is left for an account: of its cap, or of the total where that is less."""
        return balance_of(self._ledger, self.catalog.budget, account)

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

    def _finder(self, books: Books, bounding: RowChoice | str | None = None) -> Finder:
        catalog = with_choice(self.catalog, bounding)
        return Finder(catalog, self._public, books, self._plan, self._check_queries)

    def _plan(self, sql: str, target: Target | None, catalog: Catalog) -> Plan:
        """Return all that will happen; refusals show the place in the question."""
        try:
            question = check(parse(sql), catalog, self._public)
            self._check_sql(question)
            plan = make_plan(bounded(question, catalog), _needed(target, question), catalog.budget)
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
        if question.shown is None:
            self._public.check(question.afterwards, schemas)
            self._public.rehearse(question.afterwards, made_up(question, schemas))
        for each in question.scalars:
            if not self._public.check(each.sql, schemas).begins_with_a_number:
                raise UnsupportedError(
                    "a query that stands in a condition on rows gives no number",
                    "compare rows with released numbers only",
                )
            self._public.rehearse(each.sql, made_up(question, schemas))


class Account:
    """A curator as one analyst has it: what is asked is charged to that account.

    Who it is is looked up for every question, so that it ends with the analyst's token.
    """

    def __init__(self, curator: Curator, holder: Callable[[], str]) -> None:
        self._curator, self._holder = curator, holder

    @property
    def name(self) -> str:
        """Whose account it is."""
        return self._holder()

    @property
    def catalog(self) -> Catalog:
        """What may be asked about."""
        return self._curator.catalog

    @property
    def remaining(self) -> Balance:
        """What is left of the account's cap, or of the total where that is less."""
        return self._curator.remaining_of(self.name)

    def ask(  # noqa: PLR0913 - as the curator's
        self,
        sql: str,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        within: Real | Mapping[str, Real] | None = None,
        confidence: Real = 0.95,
        find_bounds: Collection[str] = (),
        bounding: RowChoice | str | None = None,
    ) -> Answer:
        """Return the answer as `Curator.ask` does, charged to this account."""
        return self._curator.ask(
            sql,
            epsilon=epsilon,
            delta=delta,
            within=within,
            confidence=confidence,
            find_bounds=find_bounds,
            bounding=bounding,
            account=self.name,
        )

    def explain(  # noqa: PLR0913 - as the curator's
        self,
        sql: str,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        within: Real | Mapping[str, Real] | None = None,
        confidence: Real = 0.95,
        find_bounds: Collection[str] = (),
        bounding: RowChoice | str | None = None,
        dialect: str | None = None,
    ) -> Explanation:
        """Return what `ask` would do and cost; reads no data."""
        return self._curator.explain(
            sql,
            epsilon=epsilon,
            delta=delta,
            within=within,
            confidence=confidence,
            find_bounds=find_bounds,
            bounding=bounding,
            dialect=dialect,
            account=self.name,
        )

    def find_bounds(self, column: str, *, epsilon: Real) -> Bounds:
        """Return bounds of a column as `Curator.find_bounds` does, charged to this account."""
        return self._curator.find_bounds(column, epsilon=epsilon, account=self.name)

    def __repr__(self) -> str:
        return f"Account({self.name} · left {self.remaining})"


NOTHING = EpsilonTarget(1)
"""Stands for the target of a question that releases nothing, and so spends nothing of it."""


def _needed(target: Target | None, question: Question) -> Target:
    if target is None and question.releases:
        raise ParameterError("epsilon", None, "must be given, or an accuracy: ask(sql, within=20)")
    return target or NOTHING
