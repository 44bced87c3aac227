"""From SQL to what an engine will run: parsed, checked, planned and bound; reads no private row.

Everything that can be rejected is rejected here, before anything is charged. Whether SQL runs is
tried on synthetic rows, so a rejection reveals nothing about the real ones.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from discreet import engines
from discreet.catalog.catalog import Accounting, Catalog
from discreet.checked_questions import CheckedQuestion, CheckedQuestions
from discreet.engines.base import Engine, Statement
from discreet.engines.public_store import PublicStore
from discreet.engines.synthetic import released_schemas, synthetic_tables
from discreet.errors import (
    HIDDEN,
    ParameterError,
    QuestionError,
    QuestionSizeError,
    UnboundedError,
    UnsupportedError,
)
from discreet.parameters import Real
from discreet.query.check import check
from discreet.query.check.public_bounds import with_public_bounds, with_ranges
from discreet.query.parse import options_in, parse
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.bounded_rows import with_bounded_rows
from discreet.query.plan.group_limits import with_group_limits
from discreet.query.plan.months import check_meaning, with_months
from discreet.query.plan.noise_choice import NoiseRule
from discreet.query.plan.plan import EpsilonTarget, Target
from discreet.query.privacy_clause import StatedTerms, stated_terms
from discreet.query.questions import Question
from discreet.query.tree import ExactQuery
from discreet.question_shapes import QuestionShapes
from discreet.written import WrittenQuery

PUBLIC_ONLY = EpsilonTarget(1)
"""Stands for the target of a question that releases nothing, and so spends nothing of it.

`discreet.bounds` has another placeholder, for plans that are only tried.
"""


NO_TARGET = (
    "Write epsilon=0.1 for what the query may cost, or within=20 for the margin of error that you "
    "need; on the command line, --epsilon 0.1 or --within 20"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundPlan:
    """A plan, and the statements of the engine that carries it out."""

    plan: Plan
    statements: tuple[tuple[Statement, ...], ...]
    """For each release, what the engine runs: the text is written once."""
    by_rho: Plan | None = None
    """The same with smaller noise that costs as much rho, if there is one; it runs the same."""

    def sqls(self, dialect: str | None = None) -> list[str]:
        """Return the statements, in the words of another engine if one is named."""
        statements = [each for release in self.statements for each in release]
        if dialect is None:
            return [each.sql for each in statements]
        return [engines.generated.write_for(each.query, dialect) for each in statements]


class Planner:
    """Plans questions over the tables of one engine and public ones."""

    def __init__(self, *, engine: Engine, public: PublicStore) -> None:
        self._engine, self.public = engine, public
        self._before, self._shapes = CheckedQuestions(), QuestionShapes()

    def plan(self, query: str | WrittenQuery, target: Target | None, catalog: Catalog) -> BoundPlan:
        """Parse, check, plan and bind, or raise what shows where in the question it is wrong."""
        plan = self.draft(query, target, catalog)
        with located(query):
            return replace(self.bind(plan), by_rho=self.by_rho(plan, target, catalog))

    def checked(self, query: str | WrittenQuery, catalog: Catalog) -> Question:
        """Parse and check alone: what is asked, before any noise is chosen."""
        with located(query):
            return check(parse(query, catalog), catalog, self.public)

    def bind_query(self, query: ExactQuery) -> Statement:
        """Have the engine accept an exact query, or reject it."""
        return self._engine.bind(query)

    def draft(self, query: str | WrittenQuery, target: Target | None, catalog: Catalog) -> Plan:
        """Parse, check and plan; whether the engine can run it is not asked."""
        known = self._before.known(query, catalog) or self._shapes.known(query, catalog)
        if known is None:
            plan = self._drafted(query, target, catalog)
            self._before.keep(query, catalog, plan.question)
            return plan
        with located(query):
            terms = _required(target, known.question)
            return make_plan(known.question, terms, catalog.budget, strategies=known.strategies)

    def _drafted(self, query: str | WrittenQuery, target: Target | None, catalog: Catalog) -> Plan:
        with located(query):
            try:
                plan = self._checked(
                    check(parse(query, catalog), catalog, self.public), target, catalog
                )
            except UnboundedError:
                bounded = with_public_bounds(parse(query, catalog), catalog, self.public)
                if bounded is catalog:
                    raise
            else:
                self._shapes.keep(query, CheckedQuestion(catalog, plan.question))
                return plan
            question = check(parse(query, catalog), bounded, self.public)
            return self._checked(with_ranges(question, catalog, bounded), target, catalog)

    def _checked(self, question: Question, target: Target | None, catalog: Catalog) -> Plan:
        check_meaning(question)
        self._check_post_sql(question)
        return self.draft_question(question, _required(target, question), catalog)

    def terms(
        self,
        query: WrittenQuery,
        epsilon: Real | None,
        delta: Real | None,
        groups_per_unit: int | None,
    ) -> StatedTerms:
        """Return what the call states, or WITH DIFFERENTIAL_PRIVACY OPTIONS in the query."""
        with located(query):
            return stated_terms(options_in(query), epsilon, delta, groups_per_unit)

    def draft_question(self, question: Question, target: Target, catalog: Catalog) -> Plan:
        """Plan a question that is checked, or was not written in SQL."""
        bounded = with_group_limits(with_bounded_rows(with_months(question), catalog), catalog)
        return make_plan(bounded, target, catalog.budget)

    def by_rho(self, plan: Plan, target: Target | None, catalog: Catalog) -> Plan | None:
        """Return the plan with smaller noise at the same rho, if rho is counted and there is one.

        Releases and their exact queries are the same: only their noise differs.
        """
        if catalog.budget.accounting is not Accounting.CONCENTRATED:
            return None
        terms = _required(target, plan.question)
        other = make_plan(plan.question, terms, catalog.budget, NoiseRule.EQUAL_RHO)
        return None if other.events == plan.events else other

    def bind(self, plan: Plan) -> BoundPlan:
        """Have the engine accept every exact query of a plan, or reject it."""
        statements = (map(self._engine.bind, each.queries) for each in plan.releases)
        return BoundPlan(plan=plan, statements=tuple(map(tuple, statements)))

    def _check_post_sql(self, question: Question) -> None:
        """Reject SQL after the noise that does not run, or gives no number where one is needed."""
        schemas = released_schemas(question.aggregations)
        if question.shown is None:
            self.public.check(question.post_sql, schemas)
            self.public.rehearse(question.post_sql, synthetic_tables(question, schemas))
        for each in question.scalars:
            if not self.public.check(each.sql, schemas).begins_with_a_number:
                raise UnsupportedError(
                    "A subquery in a condition on rows must return a number",
                    "Select a number in it, such as COUNT(*) or an AVG",
                )
            self.public.rehearse(each.sql, synthetic_tables(question, schemas))
        for table in question.tables:
            self.public.rehearse(table.sql, synthetic_tables(question, schemas))


@contextmanager
def located(query: str | WrittenQuery) -> Iterator[None]:
    """Let rejections show the place in the question."""
    try:
        yield
    except QuestionError as rejection:
        rejection.text = query if isinstance(query, str) else query.text
        raise
    except RecursionError:
        raise QuestionSizeError(
            "The query is nested too deeply", "Write it with fewer levels"
        ) from None


def _required(target: Target | None, question: Question) -> Target:
    if target is None and question.aggregations:
        raise ParameterError("epsilon", HIDDEN, "or within must be given", NO_TARGET)
    return target or PUBLIC_ONLY
