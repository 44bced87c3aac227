"""Curators made of parts, so that one of these can be another."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, cast

from discreet.answer import Answer
from discreet.audit.questions.experiments import (
    Experiment,
    Open,
    declared_by,
    opened,
    sources_of,
)
from discreet.audit.questions.scenes import Tables
from discreet.catalog import Catalog, Column
from discreet.catalog.arguments import declare
from discreet.catalog.policy import budget_from
from discreet.catalog.resolve import resolve
from discreet.curator import Curator
from discreet.engines.base import Engine, ExactQuery, Scalars, Statement
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.public import PublicStore
from discreet.ledger import Ledger, SqliteLedger
from discreet.opening.open import MEMORY, prepared_in
from discreet.planner import Planner
from discreet.query.plan import Plan
from discreet.query.plan.planned import PlannedRelease
from discreet.query.plan.targets import Target
from discreet.tables import ExactTable

BendPlan = Callable[[Plan], Plan]
BendEngine = Callable[[Engine], Engine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a curator is made of."""

    catalog: Catalog
    engine: Engine
    public: PublicStore

    def curator(self, bend: BendPlan | None = None, *, ledger: Ledger | None = None) -> Curator:
        """Return a curator, with new books if none are given, of plans as `bend` has them."""
        engine, public = self.engine, self.public
        return Curator(
            catalog=self.catalog,
            engine=engine,
            public=public,
            ledger=ledger or new_ledger(self.catalog),
            planner=None if bend is None else BentPlanner(bend, engine=engine, public=public),
        )


def new_ledger(catalog: Catalog) -> Ledger:
    """Return empty books."""
    policy = catalog.budget
    return SqliteLedger(MEMORY, budget=budget_from(policy), neighbours=policy.neighbours.value)


def parts_of(experiment: Experiment, tables: Tables, copies: int, **declared: object) -> Parts:
    """Return the parts that `discreet.open` would put together; `declared` says otherwise."""
    sources = sources_of(experiment, tables, copies)
    told = declare(dict.fromkeys(sources), **declared_by(experiment, copies) | declared)
    engine = DuckDbEngine.load(sources)
    catalog = prepared_in(resolve(told, engine.columns), engine)
    public = PublicStore({name: engine.table(name) for name in experiment.public})
    return Parts(catalog=catalog, engine=engine, public=public)


class BentPlanner(Planner):
    """Hands on another plan than the one that was made."""

    def __init__(self, bend: BendPlan, *, engine: Engine, public: PublicStore) -> None:
        super().__init__(engine=engine, public=public)
        self._bend = bend

    def draft(self, sql: str, target: Target | None, catalog: Catalog) -> Plan:
        """Plan a question, and change the plan."""
        return self._bend(super().draft(sql, target, catalog))


# --------------------------------------------------------------------------- ways of opening


def with_plan(bend: Callable[[PlannedRelease], PlannedRelease]) -> Open:
    """Open curators that carry out releases otherwise than planned, and charge as planned."""

    def bent(plan: Plan) -> Plan:
        return replace(plan, releases=tuple(map(bend, plan.releases)))

    return lambda experiment, tables, copies: parts_of(experiment, tables, copies).curator(bent)


def with_data(bend: Callable[[PlannedRelease, Tables], PlannedRelease]) -> Open:
    """Open curators whose plans depend on the data."""

    def opened(experiment: Experiment, tables: Tables, copies: int) -> Curator:
        return with_plan(lambda planned: bend(planned, tables))(experiment, tables, copies)

    return opened


def with_engine(bend: BendEngine) -> Open:
    """Open curators whose engine answers something else."""

    def opened(experiment: Experiment, tables: Tables, copies: int) -> Curator:
        parts = parts_of(experiment, tables, copies)
        return replace(parts, engine=bend(parts.engine)).curator()

    return opened


def prepared_for(rows: int) -> Open:
    """Open curators over tables that keep so many rows of a unit, whatever the catalog says."""

    def opened(experiment: Experiment, tables: Tables, copies: int) -> Curator:
        paid = parts_of(experiment, tables, copies)
        paid.engine.close()
        parts = parts_of(experiment, tables, copies, rows_per_unit=rows)
        return ForgetfulCurator(replace(parts, catalog=paid.catalog))

    return opened


def undeclared(experiment: Experiment, tables: Tables, copies: int) -> Curator:
    """Open a curator whose owner left out what is declared of the experiment besides."""
    return opened(replace(experiment, declared={}), tables, copies)


def with_bounds_of_the_data(experiment: Experiment, tables: Tables, copies: int) -> Curator:
    """Open a curator whose bounds are the least and the largest value in the table."""
    values = [each["x"] for rows in tables.values() for each in rows]
    found = cast("list[float]", values)
    bounds = declared_by(experiment, copies)["bounds"] | {"visits.x": (min(found), max(found))}
    return parts_of(experiment, tables, copies, bounds=bounds).curator()


def forgetting(experiment: Experiment, tables: Tables, copies: int) -> Curator:
    """Open a curator that answers every question as if it were the first one."""
    return ForgetfulCurator(parts_of(experiment, tables, copies))


class ForgetfulCurator(Curator):
    """Begins new books with every question."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(
            catalog=parts.catalog,
            engine=parts.engine,
            public=parts.public,
            ledger=new_ledger(parts.catalog),
        )
        self._parts = parts

    def ask(self, sql: str, **target: Any) -> Answer:
        """Return what a curator answers who was asked nothing before."""
        with closing(new_ledger(self.catalog)) as ledger:
            return self._parts.curator(ledger=ledger).ask(sql, **target)


# --------------------------------------------------------------------------- engines


@dataclass(frozen=True, slots=True)
class BentEngine:
    """Runs another query than the one that it is told."""

    inner: Engine
    bend: Callable[[ExactQuery], ExactQuery]

    @property
    def dialect(self) -> str:
        return self.inner.dialect

    def columns(self, table: str) -> tuple[Column, ...]:
        return self.inner.columns(table)

    def bind(self, query: ExactQuery) -> Statement:
        return self.inner.bind(self.bend(query))

    def run(self, statement: Statement, scalars: Scalars) -> ExactTable:
        return self.inner.run(statement, scalars)

    def close(self) -> None:
        self.inner.close()


def unlimited(engine: Engine) -> Engine:
    """Let all rows of a unit count."""
    return cast("Engine", BentEngine(engine, lambda query: replace(query, limit=10**6)))
