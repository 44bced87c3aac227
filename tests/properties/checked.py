"""All that is claimed of plans and two neighbouring databases."""

from hypothesis import Phase

from discreet.mechanisms.sensitivity import ADD_REMOVE
from discreet.query.plan import Plan
from tests.properties.databases import Neighbouring
from tests.properties.movement import (
    check_additivity,
    check_movement,
    exact_tables,
    same_tables,
)

UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)
"""The quick form shows what it finds as it is; the long one looks for the smallest like it."""


def check_all(pair: Neighbouring, plans: list[Plan]) -> None:
    """Assert all that is claimed of these plans and these two databases."""
    here, there = pair.here.held("here"), pair.there.held("there")
    third = (pair.own if pair.neighbours is ADD_REMOVE else pair.here.reversed()).held("third")
    for plan in plans:
        before, after, more = (exact_tables(plan, each) for each in (here, there, third))
        check_movement(plan, before, after)
        if pair.neighbours is ADD_REMOVE:
            check_additivity(plan, before, after, more)
        else:
            assert same_tables(before, more), "the order of rows shows"
