"""Released tables after the noise: with margins, as SQL finds them, and as a later release does.

Nothing here has seen an exact number: it is all post-processing, and free.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.estimators import (
    IntArray,
    KeyCount,
    LinearEstimator,
    MeanEstimator,
    SelectedValue,
    VarianceEstimator,
    margins_of,
)
from discreet.mechanisms.accuracy import miss_probability
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.mechanisms.quantile_interval import RankedInterval
from discreet.query.plan import Plan
from discreet.query.plan.plan import PlannedRelease
from discreet.query.questions import WITH_INTERVAL, Aggregation, Question
from discreet.tables import ARROW_TYPES, NoisyTable

Values: TypeAlias = "pa.Array[pa.Scalar[pa.DataType]]"

Number = int | float | None
"""A noisy number that a later release of the same question reads."""

RunNumber = Callable[[str, Mapping[str, pa.Table]], Number]
"""Runs SQL over noisy and public tables, and returns the first value."""

LEVEL = Fraction(95, 100)
"""SQL over released tables may read margins; numbers fed into a question use these."""


def released_tables(
    plan: Plan,
    noisy: Sequence[NoisyTable],
    *,
    confidence: float | Fraction,
    simultaneous: bool = False,
) -> dict[str, pa.Table]:
    """Return the tables released so far, with margins, as SQL after the noise calls them."""
    return {
        f"released_{i}": with_margins(
            planned, each, confidence=confidence, simultaneous=simultaneous
        )
        for i, (planned, each) in enumerate(zip(plan.releases, noisy, strict=False))
    }


def scalars_of(plan: Plan, noisy: Sequence[NoisyTable], run: RunNumber) -> tuple[Number, ...]:
    """Return the numbers that the tables released so far give to the next release.

    None stands for those that are computed from later ones.
    """
    if not plan.question.scalars:
        return ()
    tables = released_tables(plan, noisy, confidence=LEVEL)
    return tuple(
        run(each.sql, tables) if all(need < len(noisy) for need in each.needs) else None
        for each in plan.question.scalars
    )


def with_margins(
    planned: PlannedRelease,
    noisy: NoisyTable,
    *,
    confidence: float | Fraction,
    simultaneous: bool = False,
) -> pa.Table:
    """Return a released table without its noisy components, and a0_spread, … with margins of error.

    Each margin holds with this confidence, or, if `simultaneous`, for all groups of a column at
    once. It covers the noise, but not clamping or rows left out by the contribution limit. It is
    NULL for values that were selected. Quantiles, minima and maxima have the ends of an interval
    instead, in a0_low and a0_high.
    """
    table = noisy.rows
    answers = max(1, table.num_rows) if simultaneous else 1
    level = 1 - miss_probability(confidence, answers)
    cells, first = [], len(planned.aggregation.keys) + len(planned.estimators)
    for each in planned.components:
        last = first + len(each.measure.cells)
        cells.append(np.stack([table.column(i).to_numpy() for i in range(first, last)], axis=1))
        first = last
    shown = table.select(range(len(planned.aggregation.keys) + len(planned.estimators)))
    for number in range(len(planned.estimators)):
        margin = _margin(planned, number, cells, table, level)
        shown = shown.append_column(f"a{number}_spread", margin)
    for number, aggregate in enumerate(planned.aggregation.aggregates):
        if aggregate.statistic in WITH_INTERVAL:
            low, high = _interval(planned, number, table, level)
            shown = shown.append_column(f"a{number}_low", low)
            shown = shown.append_column(f"a{number}_high", high)
    return shown


def _interval(
    planned: PlannedRelease, number: int, table: pa.Table, confidence: Fraction
) -> tuple[Values, Values]:
    """Return both ends of the interval of a selected value.

    They are NULL above the confidence that they hold at, and in tables of older versions.
    """
    kind = ARROW_TYPES[planned.aggregation.aggregates[number].kind]
    nothing: Values = pa.array([None] * table.num_rows, kind)
    estimator = planned.estimators[number]
    if not isinstance(estimator, SelectedValue):
        return nothing, nothing
    mechanism = planned.value_selections[estimator.selection].mechanism
    before = [
        each.mechanism
        for each in planned.value_selections[: estimator.selection]
        if isinstance(each.mechanism, RankedInterval)
    ]
    place = (
        len(planned.aggregation.keys)
        + len(planned.estimators)
        + sum(len(each.measure.cells) for each in planned.components)
        + 2 * len(before)
    )
    if not isinstance(mechanism, RankedInterval) or place + 1 >= table.num_columns:
        return nothing, nothing
    if confidence > mechanism.level:
        return nothing, nothing
    low, high = (table.column(each).combine_chunks() for each in (place, place + 1))
    return low, high


def schemas_of(question: Question) -> dict[str, pa.Schema]:
    """Return the columns that SQL afterwards finds in each released table, before there is one."""
    return {f"released_{i}": _schema(each) for i, each in enumerate(question.aggregations)}


def _schema(release: Aggregation) -> pa.Schema:
    keys = [(each.name, ARROW_TYPES[each.expression.facts.kind]) for each in release.keys]
    aggregates = [(f"a{i}", ARROW_TYPES[each.kind]) for i, each in enumerate(release.aggregates)]
    margins = [(f"{name}_spread", pa.float64()) for name, _ in aggregates]
    ends = [
        (f"a{i}_{end}", ARROW_TYPES[each.kind])
        for i, each in enumerate(release.aggregates)
        if each.statistic in WITH_INTERVAL
        for end in ("low", "high")
    ]
    return pa.schema([*keys, *aggregates, *margins, *ends])


def _margin(
    planned: PlannedRelease,
    number: int,
    cells: list[IntArray],
    table: pa.Table,
    confidence: Fraction,
) -> Values:
    estimator = planned.estimators[number]
    match estimator:
        case KeyCount() if planned.key_selection is not None:
            shown = table.column(f"a{number}").to_numpy()
            wide = _shown_margins(planned.key_selection.mechanism, shown, confidence)
        case LinearEstimator() | MeanEstimator() | VarianceEstimator():
            noise = planned.components[estimator.measure].noise
            wide = margins_of(estimator, cells[estimator.measure], noise, confidence)
        case _:
            return pa.array([None] * table.num_rows, pa.float64())
    return pa.array(wide, pa.float64())


def _shown_margins(
    selection: PartitionSelection, numbers: IntArray, confidence: Fraction
) -> NDArray[np.float64]:
    """Return the margins of error of counts that selected groups.

    Near the threshold, a group is shown only if its noise was large. No noise exceeds the
    threshold, so the threshold is the margin of error for counts near it. Larger counts have the
    usual margin.
    """
    usual = np.full(len(numbers), float(selection.margin(confidence)))
    return np.where(numbers <= selection.clear(confidence), float(selection.threshold), usual)
