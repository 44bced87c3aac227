"""Plans of questions, made as a curator makes them, before anything is charged or read."""

from typing import Any

from discreet.curator import Curator
from discreet.parameters import Real
from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.plan import EpsilonTarget
from discreet.release import release
from discreet.tables import NoisyTable
from tests.statements import unbound


def plan_of(curator: Curator, sql: str, *, epsilon: Real = 1, delta: Real | None = None) -> Plan:
    """Return the plan of a question."""
    question = check(parse(sql), curator.catalog, curator._public)
    return make_plan(question, EpsilonTarget(epsilon, delta=delta), curator.catalog.budget)


def only(curator: Curator, sql: str, *, epsilon: Real = 1) -> dict[str, Any]:
    """Return the only row of an answer."""
    (row,) = curator.ask(sql, epsilon=epsilon).rows
    return dict(row)


def released(curator: Curator, plan: Plan) -> NoisyTable:
    """Return the noisy table of a plan with one release, noisy cells included, uncharged."""
    (planned,) = plan.releases
    return release(
        planned, tuple(curator._engine.run(unbound(each), ()) for each in planned.queries)
    )
