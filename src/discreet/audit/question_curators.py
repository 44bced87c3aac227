"""Curators made of parts, so that one part can be replaced."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, cast

from discreet.answer import Answer
from discreet.audit.question_experiments import (
    Experiment,
    Open,
    Tables,
    declared_by,
    opened,
    sources_of,
)
from discreet.catalog import Catalog, Column
from discreet.catalog.arguments import declare
from discreet.catalog.catalog import budget_from
from discreet.catalog.resolve import resolve
from discreet.curator import Curator
from discreet.engines.base import Engine, Scalars, Statement
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.public_store import PublicStore
from discreet.ledger import Ledger, SqliteLedger
from discreet.opening.open import MEMORY, prepared_in
from discreet.planner import Planner
from discreet.query.plan import Plan
from discreet.query.plan.plan import PlannedRelease, Target
from discreet.query.tree import ExactQuery
from discreet.tables import ExactTable
from discreet.written import WrittenQuery

AlterPlan = Callable[[Plan], Plan]


AlterEngine = Callable[[Engine], Engine]


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratorParts:
    """The parts of a curator."""

    catalog: Catalog
    engine: Engine
    public: PublicStore

    def curator(self, bend: AlterPlan | None = None, *, ledger: Ledger | None = None) -> Curator:
        """Return a curator whose plans are changed by `bend`, by default with a new ledger."""
        engine, public = self.engine, self.public
        return Curator(
            catalog=self.catalog,
            engine=engine,
            public=public,
            ledger=ledger or new_ledger(self.catalog),
            planner=None if bend is None else AlteredPlanner(bend, engine=engine, public=public),
        )


def new_ledger(catalog: Catalog) -> Ledger:
    """Return an empty ledger."""
    policy = catalog.budget
    return SqliteLedger(MEMORY, budget=budget_from(policy), neighbours=policy.neighbours.value)


def parts_of(
    experiment: Experiment, tables: Tables, copies: int, **declared: object
) -> CuratorParts:
    """Return the parts that `discreet.open` would combine, with changes in `declared`."""
    sources = sources_of(experiment, tables, copies)
    told = declare(dict.fromkeys(sources), **declared_by(experiment, copies) | declared)
    engine = DuckDbEngine.load(sources)
    catalog = prepared_in(resolve(told, engine.columns), engine)
    public = PublicStore({name: engine.table(name) for name in experiment.public})
    return CuratorParts(catalog=catalog, engine=engine, public=public)


class AlteredPlanner(Planner):
    """Plans a query, and changes the plan."""

    def __init__(self, bend: AlterPlan, *, engine: Engine, public: PublicStore) -> None:
        super().__init__(engine=engine, public=public)
        self._bend = bend

    def draft(self, query: str | WrittenQuery, target: Target | None, catalog: Catalog) -> Plan:
        """Plan a question, and change the plan."""
        return self._bend(super().draft(query, target, catalog))


# --------------------------------------------------------------------------- ways of opening


def with_plan(bend: Callable[[PlannedRelease], PlannedRelease]) -> Open:
    """Open curators that change releases after planning, and charge as planned."""

    def bent(plan: Plan) -> Plan:
        return replace(plan, releases=tuple(map(bend, plan.releases)))

    return lambda experiment, tables, copies: parts_of(experiment, tables, copies).curator(bent)


def with_data(bend: Callable[[PlannedRelease, Tables], PlannedRelease]) -> Open:
    """Open curators whose plans depend on the data."""

    def opened(experiment: Experiment, tables: Tables, copies: int) -> Curator:
        return with_plan(lambda planned: bend(planned, tables))(experiment, tables, copies)

    return opened


def with_engine(bend: AlterEngine) -> Open:
    """Open curators whose engine runs a different query."""

    def opened(experiment: Experiment, tables: Tables, copies: int) -> Curator:
        parts = parts_of(experiment, tables, copies)
        return replace(parts, engine=bend(parts.engine)).curator()

    return opened


def prepared_for(rows: int) -> Open:
    """Open curators over prepared tables with `rows` rows per unit, against the catalog."""

    def opened(experiment: Experiment, tables: Tables, copies: int) -> Curator:
        paid = parts_of(experiment, tables, copies)
        paid.engine.close()
        parts = parts_of(experiment, tables, copies, rows_per_unit=rows)
        return ForgetfulCurator(replace(parts, catalog=paid.catalog))

    return opened


def undeclared(experiment: Experiment, tables: Tables, copies: int) -> Curator:
    """Open a curator without the further declarations of the experiment."""
    return opened(replace(experiment, declared={}), tables, copies)


def with_bounds_of_the_data(experiment: Experiment, tables: Tables, copies: int) -> Curator:
    """Open a curator whose bounds are the minimum and maximum of the data."""
    values = [each["x"] for rows in tables.values() for each in rows]
    found = cast("list[float]", values)
    bounds = declared_by(experiment, copies)["bounds"] | {"visits.x": (min(found), max(found))}
    return parts_of(experiment, tables, copies, bounds=bounds).curator()


def forgetting(experiment: Experiment, tables: Tables, copies: int) -> Curator:
    """Open a curator that answers every query as if it were the first one."""
    return ForgetfulCurator(parts_of(experiment, tables, copies))


class ForgetfulCurator(Curator):
    """Starts a new ledger for every query."""

    def __init__(self, parts: CuratorParts) -> None:
        super().__init__(
            catalog=parts.catalog,
            engine=parts.engine,
            public=parts.public,
            ledger=new_ledger(parts.catalog),
        )
        self._parts = parts

    def ask(self, sql: str, **target: Any) -> Answer:
        """Return the answer of a new curator."""
        with closing(new_ledger(self.catalog)) as ledger:
            return self._parts.curator(ledger=ledger).ask(sql, **target)


# --------------------------------------------------------------------------- engines


@dataclass(frozen=True, slots=True)
class AlteredEngine:
    """Runs a different query from the one it is given."""

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
    """Remove the contribution limit."""
    return cast(
        "Engine", AlteredEngine(engine, lambda query: replace(query, contribution_limit=10**6))
    )
