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
    ComponentEstimator,
    IntArray,
    KeyCount,
    LinearEstimator,
    MeanEstimator,
    VarianceEstimator,
    margins_of,
)
from discreet.mechanisms.accuracy import miss_probability
from discreet.mechanisms.gaussian_selection import GaussianPartitionSelection
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.mechanisms.row_threshold import RowThreshold
from discreet.pair_moments import PairEstimator
from discreet.query.plan import Plan
from discreet.query.plan.plan import PlannedRelease
from discreet.query.questions import Aggregation, Question
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
    NULL for values that were selected.
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
    return shown


def schemas_of(question: Question) -> dict[str, pa.Schema]:
    """Return the columns that SQL afterwards finds in each released table, before there is one."""
    return {f"released_{i}": _schema(each) for i, each in enumerate(question.aggregations)}


def _schema(release: Aggregation) -> pa.Schema:
    keys = [(each.name, ARROW_TYPES[each.expression.facts.kind]) for each in release.keys]
    aggregates = [(f"a{i}", ARROW_TYPES[each.kind]) for i, each in enumerate(release.aggregates)]
    margins = [(f"{name}_spread", pa.float64()) for name, _ in aggregates]
    return pa.schema([*keys, *aggregates, *margins])


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
            selector = planned.key_selection.mechanism
            assert not isinstance(selector, RowThreshold)  # noqa: S101 - it shows no numbers
            wide = _shown_margins(selector, shown, confidence)
        case LinearEstimator() | MeanEstimator() | VarianceEstimator() | PairEstimator():
            noise = planned.components[estimator.measure].noise
            wide = margins_of(estimator, cells[estimator.measure], noise, confidence)
            return _near_threshold(planned, estimator, wide, cells, confidence)
        case _:
            return pa.array([None] * table.num_rows, pa.float64())
    return pa.array(wide, pa.float64())


def _near_threshold(
    planned: PlannedRelease,
    estimator: ComponentEstimator,
    wide: NDArray[np.float64],
    cells: list[IntArray],
    confidence: Fraction,
) -> Values:
    """Return margins of error, corrected for groups that may be shown for their noise alone.

    Of these the number of rows has a wider margin, and other results have none.
    """
    selection = planned.key_selection
    if selection is None or selection.key_selection.measure != estimator.measure:
        return pa.array(wide, pa.float64(), mask=np.isnan(wide))
    mechanism = selection.mechanism
    assert isinstance(mechanism, RowThreshold)  # noqa: S101 - what has noisy cells of a measure
    rows = cells[estimator.measure].sum(axis=1, dtype=np.float64) / mechanism.total
    is_near = rows <= mechanism.clear(confidence)
    counts = (Fraction(1, mechanism.total),) * mechanism.cells
    if isinstance(estimator, LinearEstimator) and estimator.weights == counts:
        return pa.array(np.where(is_near, float(mechanism.widest(confidence)), wide), pa.float64())
    return pa.array(wide, pa.float64(), mask=is_near | np.isnan(wide))


def _shown_margins(
    selection: PartitionSelection | GaussianPartitionSelection,
    numbers: IntArray,
    confidence: Fraction,
) -> NDArray[np.float64]:
    """Return the margins of error of counts that selected groups.

    Near the threshold, a group is shown only if its noise was large, so counts near it have a
    wider margin of error. Larger counts have the usual margin.
    """
    usual = np.full(len(numbers), float(selection.margin(confidence)))
    return np.where(
        numbers <= selection.clear(confidence), float(selection.widest(confidence)), usual
    )
