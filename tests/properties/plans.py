"""Plans of questions about the tables of `databases`."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from discreet.catalog import Catalog
from discreet.errors import UnboundedError
from discreet.mechanisms.sensitivity import Neighbours
from discreet.query.check import check
from discreet.query.check.public_bounds import with_public_bounds
from discreet.query.parse import parse
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.bounded_rows import reading_bounded_rows
from discreet.query.plan.group_limits import with_group_limits
from discreet.query.plan.noise_choice import NoiseRule
from discreet.query.plan.plan import EpsilonTarget
from tests.properties.databases import catalog, public_store
from tests.properties.questions import Drawn, Written


def plan_of(
    question: Drawn | Written,
    neighbours: Neighbours,
    epsilon: Fraction,
    accounting: str = "basic",
    *,
    is_prepared: bool = False,
    groups: int | None = None,
) -> Plan:
    """Return the plan of a question; with 0 groups under the catalog's limits, None for none."""
    are_limited = groups is not None
    here = catalog(neighbours, accounting, is_prepared=is_prepared, are_limited=are_limited)
    rule = NoiseRule.EQUAL_RHO if accounting == "concentrated" else NoiseRule.EQUAL_EPSILON

    def planned(known: Catalog) -> Plan:
        checked = check(parse(question.sql), known, public_store())
        chosen = reading_bounded_rows(checked) if is_prepared else checked
        if groups is not None:
            chosen = with_group_limits(chosen, replace(here, groups_per_unit=groups or None))
        return make_plan(chosen, EpsilonTarget(epsilon), here.budget, rule)

    return with_bounds_where_needed(question.sql, here, planned)


def with_bounds_where_needed(sql: str, here: Catalog, planned: Callable[[Catalog], Plan]) -> Plan:
    """Return a plan; where it needs bounds of public columns, with those of their tables."""
    try:
        return planned(here)
    except UnboundedError:
        return planned(with_public_bounds(parse(sql), here, public_store()))
