"""What an answer cost, and what it says beside its numbers, from what was released for it."""

from fractions import Fraction

from discreet.amounts import Price
from discreet.answer.answer import REUSED
from discreet.bounds import FoundBounds
from discreet.coverage.lookup import KnownCoverage
from discreet.executor import ReleasedTables
from discreet.explanation.from_plan import note_of_bounds
from discreet.explanation.notes import cut_table_note, notes_of


def cost_and_origin(released: ReleasedTables, found: FoundBounds) -> tuple[Price, bool]:
    """Return what was charged now, or before; and whether it is from the ledger, so free now."""
    plan, charged = released.plan, released.charged
    now = Price(epsilon=charged.epsilon + found.charged, delta=charged.delta)
    if not now.is_free or not plan.releases:
        return now, False
    return Price(epsilon=plan.epsilon + found.epsilon, delta=plan.delta), True


def notes_beside(
    released: ReleasedTables,
    found: FoundBounds,
    confidence: Fraction,
    covered: KnownCoverage,
    months_in_all: int | None,
) -> tuple[str, ...]:
    """Return what an answer says of bounds, of other tables, and of what was left out."""
    bounds = [note_of_bounds(*each, found.epsilon_each) for each in found.bounds.items()]
    reused = [REUSED] if released.is_reused else []
    shown = [each.rows.num_rows for each in released.noisy]
    cut = [cut_table_note(each) for each in released.cut]
    said = notes_of(released.plan, confidence, covered, shown, months_in_all)
    return (*bounds, *reused, *cut, *said)
