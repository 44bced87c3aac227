"""The golden questions, and the whole numbers that the embedded engine finds for them."""

from functools import cache

from discreet.catalog.catalog import budget_from
from discreet.curator import Curator
from discreet.engines.public_store import PublicStore
from discreet.ledger import SqliteLedger
from discreet.query.plan import Plan
from discreet.query.plan.plan import EpsilonTarget
from tests.attacks.clinic import golden, opened
from tests.engines.contract import Holder, Row, exact_rows

QUESTIONS = [each["sql"] for name in ("corpus", "shapes") for each in golden(name)["answer"]]


RELEASED = (3.5,) * 20
"""Stand for noisy numbers of earlier releases of a question."""


@cache
def reference() -> Curator:
    """Return a curator of the embedded engine, which plans for all: rows are chosen per query."""
    return opened(row_choice="per-query")


def curator_of(engine: Holder) -> Curator:
    """Return a curator of the same catalog over another engine."""
    catalog = reference().catalog
    return Curator(
        catalog=catalog,
        engine=engine,
        public=PublicStore({"clinics": engine.table("clinics")}),
        ledger=SqliteLedger(":memory:", budget=budget_from(catalog.budget)),
    )


def plan_of(sql: str) -> Plan:
    curator = reference()
    return curator._planner.draft(sql, EpsilonTarget(1), curator.catalog)


@cache
def expected(sql: str) -> list[list[Row]]:
    return exact(reference()._engine, plan_of(sql))


def exact(engine: object, plan: Plan) -> list[list[Row]]:
    queries = [query for planned in plan.releases for query in planned.queries]
    return [exact_rows(engine, query, *RELEASED) for query in queries]  # type: ignore[arg-type]
