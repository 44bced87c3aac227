"""The curator: holds private tables, answers questions about them, and records every charge."""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from discreet import series
from discreet.account import Account
from discreet.account_limits import AccountLimits
from discreet.amounts import balance_from
from discreet.answer import Answer, Balance, ResultColumn
from discreet.answer.present import present
from discreet.bounds import FoundBounds, bounds_search, histogram_plan
from discreet.bounds.histogram import column_named
from discreet.bounds_finder import BoundsFinder
from discreet.catalog.catalog import Catalog, RowChoice
from discreet.catalog.schema import Bounds, PublicTable
from discreet.catalog.shown import tables_html
from discreet.coverage.lookup import CoverageLookup, KnownCoverage
from discreet.description import described
from discreet.engines.base import Engine
from discreet.engines.public_store import PublicStore
from discreet.executor import Breaker, Executor, price_of
from discreet.explanation import Explanation
from discreet.explanation.coverage import Coverage
from discreet.explanation.from_plan import (
    explain_found,
    explain_plan,
    explain_unfound,
)
from discreet.explanation.notes import (
    data_notes,
    limits_of_answer,
    unlikely_groups_of,
    with_known,
)
from discreet.explanation.thresholds import warn_or_refuse
from discreet.known_releases import DataVersion, KnownReleases
from discreet.ledger import OWNER, Incident, Ledger
from discreet.measured_coverage import CoverageMeasurer
from discreet.noise import SYSTEM, Entropy
from discreet.outcome import cost_and_origin, notes_beside
from discreet.parameters import Real, confidence_level, rational
from discreet.planner import BoundPlan, Planner
from discreet.query.parse import noted
from discreet.query.plan import Plan
from discreet.query.plan.bounded_rows import with_row_choice
from discreet.query.plan.group_limits import with_groups_per_unit
from discreet.query.plan.plan import PlannedRelease, make_target
from discreet.reuse import Reuse
from discreet.terms import accepting_old_names
from discreet.written import Parameters, written

if TYPE_CHECKING:
    from discreet.series import Series, SeriesKeeper


class Curator:
    """Answers SQL about private tables with noise, until the budget is gone."""

    def __init__(  # noqa: PLR0913 - the parts it is made of
        self,
        *,
        catalog: Catalog,
        engine: Engine,
        public: PublicStore,
        ledger: Ledger,
        data_version: DataVersion = DataVersion(),  # noqa: B008 - frozen
        entropy: Entropy = SYSTEM,
        planner: Planner | None = None,
        owns_public: bool = False,
    ) -> None:
        self.catalog, self._version, self._owns_public = catalog, data_version, owns_public
        self._engine, self._public, self._ledger = engine, public, ledger
        self._entropy = entropy
        self._planner = planner or Planner(engine=engine, public=public)
        self._reuse = Reuse(
            planner=self._planner,
            ledger=ledger,
            catalog=catalog,
            data_version=data_version,
        )
        self._coverage = CoverageLookup(planner=self._planner, reuse=self._reuse, catalog=catalog)
        self._executor = Executor(
            ledger=ledger,
            engine=engine,
            public=public,
            reuse=self._reuse,
            breaker=Breaker(ledger, catalog.budget.incident_suspends),
            entropy=entropy,
            least=catalog.budget.least_per_question,
        )
        self._bounds = BoundsFinder(
            planner=self._planner,
            reuse=self._reuse,
            executor=self._executor,
            warn=lambda plan: self._warn_of_thresholds(plan, plan.releases, stacklevel=7),
        )
        self._measurer = CoverageMeasurer(
            planner=self._planner,
            reuse=self._reuse,
            executor=self._executor,
            lookup=self._coverage,
        )

    @accepting_old_names
    def ask(  # noqa: PLR0913 - each is a thing that an analyst may state
        self,
        sql: str,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        within: Real | Mapping[str, Real] | None = None,
        confidence: Real = 0.95,
        find_bounds_of: Collection[str] = (),
        row_choice: RowChoice | str | None = None,
        groups_per_unit: int | None = None,
        parameters: Parameters = None,
        dialect: str | None = None,
        account: str = OWNER,
    ) -> Answer:
        """Return the answer, at the price of exactly epsilon, or at the least price for an error.

        The charge is durable before any data is read, the answer before anyone sees it. Asked
        again, the same question is free. It is charged to an account, within its cap and the total.

        Where there is no answer without the bounds of columns that the catalog calls AUTO, or that
        `find_bounds_of` names ("visits.cost"), a fifth of epsilon finds these first.

        `row_choice` says when it is settled which rows of a unit count: "once", before any
        question, or "per-query"; as the catalog has it if nothing is said.

        `groups_per_unit` is the most groups of GROUP BY that a unit is counted in, where that
        lowers the noise; as the catalog has it if nothing is said.

        `parameters` are the values of placeholders: a list for ? and $1, a mapping for :name.
        `dialect` is that of the SQL: "duckdb", "postgres" or "bigquery".
        """
        # An account that this process knows to be disabled is rejected first, then bad terms, then
        # the query. `reuse.find` checks the account again, as the ledger has it by then.
        self._ledger.check_early(account)
        level, query = confidence_level(confidence), written(sql, parameters, dialect)
        terms = self._planner.terms(query, epsilon, delta, groups_per_unit)
        target = make_target(terms.epsilon, terms.delta, within, confidence)
        chosen = with_row_choice(self.catalog, row_choice)
        catalog = with_groups_per_unit(chosen, terms.groups_per_unit)
        search = bounds_search(self._planner, query, target, find_bounds_of, catalog)
        found, change = FoundBounds(catalog=catalog, target=target), None
        if search is not None:  # a question of its own, for each column
            found, change = self._bounds.find(search, query, account)
        bound = self._planner.plan(query, found.target, found.catalog)  # parse, check, plan, bind
        bound, known, covered = self._look_up(bound, account)  # what was released before
        if search is None:  # else it was said before bounds were found
            self._warn_of_thresholds(bound.plan, known.unpaid)
        released = self._executor.execute(bound, known, note=noted(query), account=account)
        cost, from_ledger = cost_and_origin(released, found)
        change = change or (None if released.charged.is_free else known.change)
        return present(
            released.plan,
            released.noisy,
            self._public.run,
            text=noted(query),
            confidence=level,
            price=cost,
            balance=balance_from(released.balance.remaining, released.balance.limit),
            from_ledger=from_ledger,
            notes=(
                *data_notes(released.plan, self._version, change, has_older=known.has_older),
                *notes_beside(released, found, level, covered, known.months_in_all),
            ),
            limits=limits_of_answer(released.plan, covered),
        )

    @accepting_old_names
    def explain(  # noqa: PLR0913 - the same as for ask
        self,
        sql: str,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        within: Real | Mapping[str, Real] | None = None,
        confidence: Real = 0.95,
        find_bounds_of: Collection[str] = (),
        row_choice: RowChoice | str | None = None,
        groups_per_unit: int | None = None,
        parameters: Parameters = None,
        dialect: str | None = None,
        sql_for: str | None = None,
        account: str = OWNER,
    ) -> Explanation:
        """Return what `ask` would do and cost, and how good the answer would be; reads no data.

        `sql_for` has the statements in the words of another engine, "bigquery", "databricks",
        "snowflake" or "trino", over tables that are not prepared; nothing is run there. Rows are
        then chosen per query, whatever `row_choice` says.
        """
        self._ledger.check_early(account)
        query = written(sql, parameters, dialect)
        choice = row_choice if sql_for is None else RowChoice.PER_QUERY
        terms = self._planner.terms(query, epsilon, delta, groups_per_unit)
        target = make_target(terms.epsilon, terms.delta, within, confidence)
        chosen = with_row_choice(self.catalog, choice)
        catalog = with_groups_per_unit(chosen, terms.groups_per_unit)

        def explained(bound: BoundPlan, besides: Fraction = Fraction(0)) -> Explanation:
            bound, known, covered = self._look_up(bound, account)
            explanation = explain_plan(
                bound.plan,
                bound.sqls(sql_for),
                confidence,
                question=noted(query),
                remaining=balance_from(known.balance.remaining, known.balance.limit),
                due=price_of(known.unpaid),
                shows_sql=sql_for is not None,
                is_suspended=known.would_be_rejected,
                over_limit=known.over_limit(account, besides),
                coverage=covered,
                unlikely=self._unlikely(bound.plan, known.unpaid),
                months_in_all=known.months_in_all,
            )
            return with_known(explanation, self._version, known)

        search = bounds_search(self._planner, query, target, find_bounds_of, catalog)
        if search is None:
            return explained(self._planner.plan(query, target, catalog))
        finding = {ref: self._planner.bind(each) for ref, each in search.plans.items()}
        bounds = self._bounds.known(finding, account)
        if bounds is not None:
            bound = self._planner.plan(query, search.target, search.with_bounds(bounds))
            return explain_found(explained(bound), search, bounds)
        wide, narrow = (
            explained(
                self._planner.plan(query, search.target, search.with_placeholders(part)),
                search.epsilon,
            )
            for part in (Fraction(1), Fraction(1, 2))
        )
        return explain_unfound((wide, narrow), search, [*map(explained, finding.values())])

    def columns(
        self,
        sql: str,
        *,
        parameters: Parameters = None,
        dialect: str | None = None,
        account: str = OWNER,
    ) -> tuple[ResultColumn, ...]:
        """Return names, types and roles of the columns that `ask` will give; reads no data."""
        self._ledger.check_early(account)
        return described(self._planner, written(sql, parameters, dialect), self.catalog)

    def find_bounds(self, column: str, *, epsilon: Real, account: str = OWNER) -> Bounds:
        """Return bounds of a column, found privately at the price of exactly epsilon.

        They are read off noisy numbers of values by magnitude, charged and kept as any answer is:
        anyone may see them, and the same epsilon finds them again for free. With probability 0.999
        both ends are those of magnitudes that do occur.
        """
        self._ledger.check_early(account)
        price = rational("epsilon", epsilon, above=0)
        ref = column_named(self.catalog, column)
        plan = histogram_plan(self._planner, ref, price, self.catalog)
        known = self._reuse.find(plan, account)
        return self._bounds.found(ref, self._planner.bind(plan), known, account)[0]

    def coverage(
        self,
        table: str,
        *,
        epsilon: Real | None = None,
        columns: Collection[str] | None = None,
        account: str = OWNER,
    ) -> Coverage:
        """Return the share of a table's rows that are counted, and of its values that are clamped.

        It is measured privately, at the price of exactly epsilon, by default a twentieth of the
        total, and kept: every answer then says it, and asking again is free. Two thirds are for
        rows; columns with bounds, or those of `columns`, share the rest.
        """
        self._ledger.check_early(account)
        return self._measurer.coverage(table, epsilon, columns, account)

    def known_coverage(self, table: str) -> Coverage | None:
        """Return the coverage of a table as it was measured before, for free, or None."""
        return self._measurer.known(table)

    @cached_property
    def _series(self) -> "SeriesKeeper":
        return series.SeriesKeeper(
            catalog=self.catalog,
            planner=self._planner,
            executor=self._executor,
            ledger=self._ledger,
            entropy=self._entropy,
        )

    def series(self, name: str) -> "Series":
        """Return a series of the catalog: it releases its ticks, and reads released ones."""
        return series.Series(self._series.known(name), self._series)

    def all_series(self) -> "tuple[Series, ...]":
        """Return all series that the catalog declares, and others that were charged before."""
        return tuple(series.Series(each, self._series) for each in self._series.names())

    def on_account(self, name: str) -> Account:
        """Return what an analyst may do, for whoever holds the data, or raise AccountError."""
        self._ledger.check(account=name)
        return Account(self, lambda: name)

    def as_analyst(self, token: str) -> Account:
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
    def ledger(self) -> Ledger:
        """The ledger of the charges, for whoever holds the data."""
        return self._ledger

    @property
    def remaining(self) -> Balance:
        """What is left of the budget."""
        return self.remaining_of(OWNER)

    def remaining_of(self, account: str) -> Balance:
        """Return what is left for an account: of its cap, or of the total where that is less.

        Where tables are declared disjoint, it is the least that is left for units of any of them.
        With a budget per month, it is the least that is left for any month.
        """
        with self._ledger.view() as view:
            balance = view.balance(account)
        return balance_from(balance.remaining, balance.limit)

    def remaining_by_month(self, account: str = OWNER) -> dict[str, Balance]:
        """Return what is left for each month, if the budget is per month; else nothing.

        Months with the same charges are together. What is listed follows from charges alone.
        """
        with self._ledger.view() as view:
            months = view.by_month(account)
        return {name: balance_from(each.remaining, each.limit) for name, each in months.items()}

    def limits_of(self, account: str) -> AccountLimits:
        """Return what one query of an account may cost, and what remains of its limit per day."""
        return self._ledger.limits_of(account)

    def public_tables(self) -> dict[str, pa.Table]:
        """Return the public tables by name, as they were when the data were opened."""
        names = [each.name for each in self.catalog.tables if isinstance(each, PublicTable)]
        return {name: self._public.table(name) for name in names}

    def close(self) -> None:
        """Give back the engine and the ledger."""
        self._engine.close()
        self._ledger.close()
        if self._owns_public:
            self._public.close()

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

    def _repr_html_(self) -> str:
        return tables_html(self.catalog.tables, below=f"Remaining: {self.remaining}")

    def _look_up(
        self, bound: BoundPlan, account: str
    ) -> tuple[BoundPlan, KnownReleases, KnownCoverage]:
        """Return the plan to carry out, what the ledger has of it, and of its tables' coverage."""
        wanted = self._coverage.wanted(self._coverage.limits(bound.plan))
        beside = [self._coverage.measurements.identity(each) for each in wanted]
        best, known = self._reuse.find_best(bound, account, beside)
        return best, known, self._coverage.known(wanted, known.beside)

    # ----------------------------------------------------------------------- groups not shown

    def _warn_of_thresholds(
        self, plan: Plan, due: Sequence[PlannedRelease], stacklevel: int = 5
    ) -> None:
        """Warn before a charge for groups of which none is likely to be shown."""
        if why := self._unlikely(plan, due):
            warn_or_refuse(why, stacklevel=stacklevel)

    def _unlikely(self, plan: Plan, due: Sequence[PlannedRelease]) -> str:
        """Return why no group is likely to be shown, by the catalog and released numbers alone."""
        if all(each.key_selection is None for each in due):
            return ""
        return unlikely_groups_of(plan, self.catalog.budget, self._reuse.counts_of)
