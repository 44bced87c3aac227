"""Released tables after the noise: with margins, as SQL finds them, and as a later release does.

Nothing here has seen an exact number: it is all post-processing, and free.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256, shake_256
from math import log
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet import on_use
from discreet.arrow_values import REALS, array_from, numbers_in, one_array
from discreet.catalog.schema import Kind, Value
from discreet.estimators import (
    ComponentEstimator,
    IntArray,
    KeyCount,
    LinearEstimator,
    MeanEstimator,
    Noise,
    SelectedValue,
    VarianceEstimator,
    margins_of,
    values_of,
)
from discreet.mechanisms.accuracy import gaussian_accuracy, miss_probability
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.gaussian_selection import GaussianPartitionSelection
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.mechanisms.quantile_interval import RankedInterval
from discreet.mechanisms.row_threshold import RowThreshold
from discreet.pair_moments import PairEstimator
from discreet.query.check.intervals import WITH_INTERVAL, ends_of
from discreet.query.plan import Plan
from discreet.query.plan.plan import PlannedKeySelection, PlannedRelease
from discreet.query.tree import MOST_CONSTANT_ROWS
from discreet.tables import ARROW_TYPES, NoisyTable

Values: TypeAlias = "pa.Array[pa.Scalar[pa.DataType]]"

Number = int | float | None
"""A noisy number that a later release of the same question reads."""

RunNumber = Callable[[str, Mapping[str, pa.Table]], Number]
"""Runs SQL over noisy and public tables, and returns the first value."""

RunRows = Callable[[str, Sequence[Kind], int, Mapping[str, pa.Table]], Sequence[tuple[Value, ...]]]
"""Runs SQL over noisy and public tables, and returns the first rows as values of these kinds."""

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


def tables_of(
    plan: Plan, noisy: Sequence[NoisyTable], run: RunRows
) -> dict[int, Sequence[tuple[Value, ...]]]:
    """Return the rows that the tables released so far give to the next release, by their number."""
    if not plan.question.tables:
        return {}
    tables = released_tables(plan, noisy, confidence=LEVEL)
    return {
        each.number: run(each.sql, each.kinds, MOST_CONSTANT_ROWS + 1, tables)
        for each in plan.question.tables
        if all(need < len(noisy) for need in each.needs)
    }


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
    cells = _cells(planned, table)
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


def _cells(planned: PlannedRelease, table: pa.Table) -> list[IntArray]:
    """Return the noisy cells of each measure, a row for each group."""
    cells, first = [], len(planned.aggregation.keys) + len(planned.estimators)
    for each in planned.components:
        last = first + len(each.measure.cells)
        columns = [numbers_in(table.column(i)) for i in range(first, last)]
        one = columns[0][:, None] if len(columns) == 1 else np.stack(columns, axis=1)
        cells.append(one)
        first = last
    return cells


def _interval(
    planned: PlannedRelease, number: int, table: pa.Table, confidence: Fraction
) -> tuple[Values, Values]:
    """Return both ends of the interval of a selected value.

    They are NULL above the confidence that they hold at, and in tables of older versions.
    """
    kind: Any = ARROW_TYPES[planned.aggregation.aggregates[number].kind]
    nothing: Values = pa.nulls(table.num_rows, kind)
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
            shown = numbers_in(table.column(f"a{number}"))
            selector = planned.key_selection.mechanism
            assert not isinstance(selector, RowThreshold)  # noqa: S101 - it shows no numbers
            wide = _shown_margins(selector, shown, confidence)
        case LinearEstimator() | MeanEstimator() | VarianceEstimator() | PairEstimator():
            noise = planned.components[estimator.measure].noise
            wide = margins_of(estimator, cells[estimator.measure], noise, confidence)
            return _near_threshold(planned, estimator, wide, cells, confidence)
        case _:
            return pa.nulls(table.num_rows, REALS)
    return array_from(wide, REALS)


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
        return array_from(wide, REALS, mask=np.isnan(wide))
    mechanism = selection.mechanism
    assert isinstance(mechanism, RowThreshold)  # noqa: S101 - what has noisy cells of a measure
    is_near = _is_near(selection, cells[estimator.measure], confidence)
    counts = (Fraction(1, mechanism.total),) * mechanism.cells
    if isinstance(estimator, LinearEstimator) and estimator.weights == counts:
        return array_from(np.where(is_near, float(mechanism.widest(confidence)), wide), REALS)
    return array_from(wide, REALS, mask=is_near | np.isnan(wide))


def _is_near(
    selection: PlannedKeySelection, cells: IntArray, confidence: Fraction
) -> NDArray[np.bool_]:
    """Return which groups may be shown for their noise alone, of those that a measure selected."""
    mechanism = selection.mechanism
    assert isinstance(mechanism, RowThreshold)  # noqa: S101 - what has noisy cells of a measure
    rows = cells.sum(axis=1, dtype=np.float64) / mechanism.total
    return np.asarray(rows <= mechanism.clear(confidence))


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


# --------------------------------------------------------------------------- resampled


REPLICATE = "__replicate"
"""The column that says which replicate a row belongs to."""

DRAWN, MOST_DRAWN = 200_000, 4_000_000
"""So many cells are drawn for the margins of one answer, and never more than the second."""

MOST_PAIRS, LEAST_PAIRS = 1000, 100
"""Pairs of replicates: more for small tables, at least the second for large ones, or none."""

BEYOND = 5
"""So many pairs at least lie beyond a margin. Rarer events are reached by wider noise."""


OTHER = 7919
"""In the last replicate, in place of NULL."""

FARTHEST = 2.0**59
"""No replicate is moved farther, so that 64 bits hold its cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicates:
    """How released tables are drawn again, to see how far noise moves what SQL makes of them.

    Replicate 0 is what was released. The others are that plus fresh noise of the same distribution,
    in pairs of opposite sign. The last one has NULL for values that a mechanism selected, and a
    value where too few rows supported one: what changes in it has no margin.

    This noise protects nobody, and nothing is drawn from the source of randomness: it follows from
    the noisy numbers, so the same answer has the same margins each time. It is public, as they are.
    """

    pairs: int
    miss: Fraction
    """How often a margin may be too small."""
    times: int = 1
    """Of the fresh noise, how many times as much is added."""

    @property
    def number(self) -> int:
        """How many replicates have fresh noise."""
        return 2 * self.pairs

    @property
    def blank(self) -> int:
        """The replicate without selected values."""
        return self.number + 1

    @property
    def resolved(self) -> Fraction:
        """The share of replicates that lie beyond a margin: `miss`, if there are enough of them."""
        return max(self.miss, Fraction(BEYOND, self.pairs))

    def tables(self, plan: Plan, noisy: Sequence[NoisyTable]) -> dict[str, pa.Table]:
        """Return the released tables as SQL calls them, with all replicates, one after another."""
        return {
            f"released_{i}": _Redrawn(
                planned=planned, released=each.rows, about=identity.base, replicates=self
            ).table()
            for i, (planned, identity, each) in enumerate(
                zip(plan.releases, plan.identities, noisy, strict=True)
            )
        }

    def stretch(self, noise: Noise | PartitionSelection) -> float:
        """Return how much wider noise is drawn, if `miss` is rarer than replicates can show."""
        if self.resolved == self.miss:
            return 1.0
        if isinstance(noise, Gaussian):
            return float(gaussian_accuracy(1.0, self.miss) / gaussian_accuracy(1.0, self.resolved))
        return _log(self.miss) / _log(self.resolved)


def replicates_for(
    noisy: Sequence[NoisyTable], *, rows: int, miss: Fraction, most: int
) -> Replicates | None:
    """Return the replicates for an answer of so many rows, None if they would be too many."""
    size = max(rows, *(each.rows.num_rows * each.rows.num_columns for each in noisy), 1)
    if 2 * LEAST_PAIRS * size > MOST_DRAWN:
        return None
    pairs = min(most, max(LEAST_PAIRS, DRAWN // (2 * size)))
    return Replicates(pairs=pairs, miss=miss)


@dataclass(frozen=True, kw_only=True)
class _Redrawn:
    """One released table, drawn again."""

    planned: PlannedRelease
    released: pa.Table
    about: str
    """The rows and groups that it is about."""
    replicates: Replicates

    def table(self) -> pa.Table:
        """Return all replicates, with the columns that SQL finds in a released table."""
        planned, size = self.planned, self.released.num_rows
        copies = self.replicates.blank + 1
        rows = np.tile(np.arange(size), copies)
        made: dict[str, Values] = {REPLICATE: array_from(np.repeat(np.arange(copies), size))}
        for key in planned.aggregation.keys:
            made[key.name] = one_array(self.released.column(key.name).take(rows))
        for number in range(len(planned.estimators)):
            made[f"a{number}"] = self._values(number, rows)
        for number in range(len(planned.estimators)):
            made[f"a{number}_spread"] = pa.nulls(len(rows), pa.float64())
        for name, ends in ends_of(planned.aggregation.aggregates).items():
            kind = self.released.column(name).type
            made.update((each, pa.nulls(len(rows), kind)) for each in ends)
        return pa.table(made)

    def _values(self, number: int, rows: IntArray) -> Values:
        estimator, column = self.planned.estimators[number], self.released.column(f"a{number}")
        match estimator:
            case SelectedValue():
                shown = rows[: len(rows) - self.released.num_rows]
                nothing: Any = pa.scalar(None, column.type)
                gone = on_use.compute.if_else(column.is_valid(), nothing, _other(column))
                made: Values = pa.concat_arrays([one_array(column.take(shown)), one_array(gone)])
            case KeyCount():
                made = array_from(self._counts(numbers_in(column)).reshape(-1), column.type)
            case LinearEstimator() | MeanEstimator() | VarianceEstimator() | PairEstimator():
                cells = self._cells[estimator.measure]
                values = values_of(estimator, cells.reshape(-1, cells.shape[-1]))
                made = array_from(values, column.type, mask=self._blanks(estimator.measure, rows))
        return made

    def _blanks(self, measure: int, rows: IntArray) -> NDArray[np.bool_]:
        """Return which values are NULL in the last replicate: of groups that noise may have shown.

        Their number of rows is known to be near the threshold, so their noise is not as usual.
        """
        selection, size = self.planned.key_selection, self.released.num_rows
        blanks = np.zeros(len(rows), np.bool_)
        if selection is not None and selection.key_selection.measure == measure:
            cells = _cells(self.planned, self.released)[measure]
            blanks[len(rows) - size :] = _is_near(selection, cells, 1 - self.replicates.miss)
        return blanks

    @cached_property
    def _cells(self) -> list[IntArray]:
        """The cells of each measure in each replicate."""
        drawn = []
        for number, cells in enumerate(_cells(self.planned, self.released)):
            noise = self.planned.components[number].noise
            moved = self._drawn(noise, cells, f"{number}|{noise}") * self.replicates.stretch(noise)
            drawn.append(cells + self._both(moved))
        return drawn

    def _counts(self, counts: IntArray) -> IntArray:
        """Return counts that selected their groups.

        Of those near the threshold only the farthest that noise can have moved them is known, and
        that it moved them upwards. They move that far: all together, or each by itself.
        """
        assert self.planned.key_selection is not None  # noqa: S101 - it is what shows counts
        selection, level = self.planned.key_selection.mechanism, 1 - self.replicates.miss
        assert not isinstance(selection, RowThreshold)  # noqa: S101 - it shows no counts
        noise = selection if isinstance(selection, PartitionSelection) else selection.noise
        usual, widest = self._drawn(noise, counts, f"keys|{selection}"), selection.widest(level)
        wide = np.clip(usual * self.replicates.stretch(noise), -widest, widest)
        signs = np.where(usual >= 0, 1, -1)
        signs[::2] = signs[::2, :1] if signs.shape[1] else signs[::2]
        is_near = counts <= selection.clear(level)
        return counts + self._both(np.where(is_near, signs * widest, wide))

    def _both(self, moved: NDArray[np.float64]) -> IntArray:
        """Return what is added in each replicate: nothing, noise, its opposite, nothing."""
        whole = np.rint(np.clip(moved, -FARTHEST, FARTHEST)).astype(np.int64)
        whole *= self.replicates.times
        nothing = np.zeros((1, *whole.shape[1:]), np.int64)
        return np.concatenate([nothing, whole, -whole, nothing])

    def _drawn(
        self, noise: Noise | PartitionSelection, cells: IntArray, what: str
    ) -> NDArray[np.float64]:
        """Return noise for each pair and cell. Tables that are the same get the same."""
        shape = (self.replicates.pairs, *cells.shape)
        count = int(np.prod(shape))
        known = sha256(f"{self.about}|{what}|".encode() + cells.astype(np.int64).tobytes())
        words = np.frombuffer(shake_256(known.digest()).digest(16 * count), np.uint64)
        first, second = ((words >> np.uint64(11)) + 0.5).reshape(2, *shape) * 2.0**-53
        if isinstance(noise, Gaussian):
            normal = np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second)
            return np.asarray(float(noise.variance) ** 0.5 * normal)
        # A difference of geometric numbers: exactly discrete Laplace noise, up to float rounding.
        scale = float(noise.scale)
        return np.asarray(np.floor(-scale * np.log(first)) - np.floor(-scale * np.log(second)))


def _log(share: Fraction) -> float:
    return log(share.numerator) - log(share.denominator)


def _other(column: "pa.ChunkedArray[pa.Scalar[pa.DataType]]") -> "pa.Scalar[pa.DataType]":
    number = pa.scalar(OTHER, pa.int64() if pa.types.is_timestamp(column.type) else pa.int32())
    return number.cast(column.type)
