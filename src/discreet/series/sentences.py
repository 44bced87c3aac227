"""What a series says beside its numbers: what of a unit counts, and what is left out."""

from collections.abc import Iterator

from discreet.explanation.notes import unit_of
from discreet.explanation.sentences import left_out_sentence, left_out_text
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.query.plan.ticks import SeriesPlan
from discreet.query.questions import Clamped


def series_notes(plan: SeriesPlan, neighbours: Neighbours = ADD_REMOVE) -> tuple[str, ...]:
    """Return what is limited and left out, in sentences that hold for every tick."""
    return tuple(_notes(plan, neighbours))


def _notes(plan: SeriesPlan, neighbours: Neighbours) -> Iterator[str]:
    unit, policy = unit_of(plan.aggregation.rows), plan.policy
    clock = policy.clock.value
    if not unit.is_row:
        yield from _limits(plan, unit.name)
    yield (
        f"Rows count in the {clock} in which they arrive ({plan.table.name}.{plan.table.arrival}), "
        f"from {policy.first.date().isoformat()} on."
    )
    if policy.wait:
        yield f"A {clock} is released {policy.wait} after its end; later rows count in part."
    for each in plan.aggregation.left_out:
        if not isinstance(each, Clamped):
            yield f"Left out: {left_out_text(each, with_table=False)}."
    for each in plan.clamped:
        yield left_out_sentence(each)
    yield f"Protects all data of one {unit.name} over the whole series ({neighbours.value})."


def _limits(plan: SeriesPlan, unit: str) -> Iterator[str]:
    policy, most = plan.policy, plan.policy.rows_per_unit or 1
    if any(not each.is_first for each in plan.measures):
        rows = "row" if most == 1 else f"{most:,} rows"
        in_tick = policy.rows_per_tick
        besides = "" if in_tick is None else f", at most {in_tick:,} of one {policy.clock.value}"
        yield f"Counts the first {rows} of each {unit} by arrival{besides}: totals can be too low."
    if any(each.is_first for each in plan.measures):
        if plan.aggregation.keys:
            groups = "group" if most == 1 else f"{most:,} groups"
            yield f"Counts each {unit} where it first appears, in its first {groups}."
        else:
            yield f"Counts each {unit} once, where it first appears."
