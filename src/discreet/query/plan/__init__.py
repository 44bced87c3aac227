"""From a checked question and a target to all that will happen, decided before data is read."""

from discreet.query.plan.planned import (
    PlannedMeasure,
    PlannedPick,
    PlannedRelease,
    PlannedSelection,
)
from discreet.query.plan.plans import Plan, make_plan

__all__ = [
    "Plan",
    "PlannedMeasure",
    "PlannedPick",
    "PlannedRelease",
    "PlannedSelection",
    "make_plan",
]
