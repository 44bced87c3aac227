"""From a checked question and a target to all that will happen, decided before data is read."""

from discreet.query.plan.plan import (
    PlannedComponents,
    PlannedKeySelection,
    PlannedRelease,
    PlannedValueSelection,
)
from discreet.query.plan.pricing import Plan, make_plan

__all__ = [
    "Plan",
    "PlannedComponents",
    "PlannedKeySelection",
    "PlannedRelease",
    "PlannedValueSelection",
    "make_plan",
]
