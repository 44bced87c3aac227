"""Noise is added to exact results here. No other module opens an exact table.

The output depends only on public group keys and on what mechanisms released. Groups are in the
order of the public list, or sorted by key, never in the order of the database.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet import on_use
from discreet.arrow_values import (
    INTEGERS,
    REALS,
    TEXTS,
    Chunks,
    Values,
    array_from,
    array_of,
    one_array,
    wholes_in,
)
from discreet.catalog.schema import Kind, Value, time_from_number
from discreet.estimators import (
    Estimator,
    IntArray,
    KeyCount,
    LinearEstimator,
    MeanEstimator,
    SelectedValue,
    VarianceEstimator,
    combined,
    values_of,
)
from discreet.mechanisms.exponential import PermuteAndFlip
from discreet.mechanisms.row_threshold import RowThreshold
from discreet.noise import SYSTEM, Entropy
from discreet.pair_moments import PairEstimator
from discreet.query.expressions.facts import number_of
from discreet.query.plan.measurements import ValueSelection
from discreet.query.plan.plan import (
    PlannedComponents,
    PlannedKeySelection,
    PlannedRelease,
    PlannedValueSelection,
)
from discreet.query.plan.quantization import ValueGrid
from discreet.query.questions import DeclaredGroups
from discreet.query.walk import Remembered
from discreet.tables import ARROW_TYPES, ExactTable, NoisyTable

if TYPE_CHECKING:
    from discreet.query.plan.ticks import SeriesPlan


FEW = 1_000
"""So many rows are matched one by one; of more, the codes of their keys are."""

PLAIN = (pa.bool_(), INTEGERS, TEXTS)
"""Types whose values are equal in Python if and only if they are equal as keys."""


@dataclass(frozen=True)
class Groups:
    """The released groups, in their order, with an array for each key column."""

    keys: tuple[Values, ...]
    size: int

    def places(self, table: pa.Table) -> IntArray:
        """Return the group of each row of an exact table, -1 for none."""
        if not self.keys:
            return np.zeros(table.num_rows, np.int64)
        if self.size + table.num_rows <= FEW and all(each.type in PLAIN for each in self.keys):
            return self._few_places(table)
        codes = np.zeros(self.size + table.num_rows, np.int64)
        for number, key in enumerate(self.keys):
            both = pa.concat_arrays([key, _column(table, f"k{number}", key.type)])
            encoded = both.dictionary_encode(null_encoding="encode").indices.to_numpy()
            mixed = codes * (len(both) + 1) + encoded
            codes = np.unique(mixed, return_inverse=True)[1].reshape(-1)
        place = np.full(codes.max(initial=0) + 1, -1, np.int64)
        place[codes[: self.size]] = np.arange(self.size)
        return place[codes[self.size :]]

    @cached_property
    def _numbered(self) -> dict[tuple[Value, ...], int]:
        own = zip(*map(_listed, self.keys), strict=True)
        return {row: number for number, row in enumerate(own)}

    def _few_places(self, table: pa.Table) -> IntArray:
        place = self._numbered
        theirs = (_column(table, f"k{n}", each.type) for n, each in enumerate(self.keys))
        found = [place.get(row, -1) for row in zip(*map(_listed, theirs), strict=True)]
        return np.array(found, np.int64)


@dataclass(frozen=True, slots=True)
class Picked:
    """A selected value of each group, and the ends of its interval if it has one."""

    values: Values
    ends: tuple[Values, Values] | None = None


def release(
    planned: PlannedRelease, exact: tuple[ExactTable, ...], *, entropy: Entropy = SYSTEM
) -> NoisyTable:
    """Return the noisy table of a planned release, from one exact table for each of its queries.

    Its columns are the keys, a0, a1, … for the aggregates, and m0, m1, … for the noisy cells from
    which these were computed and from which `with_margins` computes their margins of error. Behind
    the cells are both ends of the interval of each value that has one.
    """
    tables = tuple(each.unseal() for each in exact)
    groups, shown, drawn = _groups(planned, tables, entropy)
    cells = tuple(
        _noisy_cells(each, groups, tables, entropy) if number not in drawn else drawn[number]
        for number, each in enumerate(planned.components)
    )
    picks = tuple(_picked(each, groups, tables, entropy) for each in planned.value_selections)
    columns = [_values(each, cells, picks, shown) for each in planned.estimators]
    hidden = [array_from(column) for each in cells for column in each.T]
    hidden += [end for each in picks if each.ends is not None for end in each.ends]
    names = [
        *(each.name for each in planned.aggregation.keys),
        *(f"a{number}" for number in range(len(columns))),
        *(f"m{number}" for number in range(len(hidden))),
    ]
    return NoisyTable(pa.Table.from_arrays([*groups.keys, *columns, *hidden], names=names))


def release_ticks(
    plan: "SeriesPlan",
    exact: tuple[ExactTable, ...],
    ticks: tuple[int, int],
    *,
    entropy: Entropy = SYSTEM,
) -> tuple[IntArray, ...]:
    """Return the new numbers of each measure of a series: those of the ticks (since, last].

    The exact tables have the sums of all ticks up to the last one, by tick and group.
    """
    since, last = ticks
    tables = tuple(each.unseal() for each in exact)
    rows, kinds = plan.tick_keys(last), plan.key_kinds
    keys = tuple(_array([row[i] for row in rows], kind) for i, kind in enumerate(kinds))
    groups = Groups(keys, len(rows))
    found = []
    for each in plan.measures:
        table = tables[plan.query_of(each)]
        sums = _sums(table, each.columns, groups.places(table), groups.size)
        cells = combined(sums, each.measure.cells).reshape(last, len(plan.groups))
        # Python's own integers are handed in as lists, which mechanisms take at any size.
        exact_cells: Any = cells.tolist() if cells.dtype == object else cells.astype(np.int64)
        found.append(each.mechanism.release(exact_cells, since, entropy=entropy))
    return tuple(found)


# --------------------------------------------------------------------------- groups


Drawn = dict[int, IntArray]
"""Noisy cells that selected the groups, by the number of their component."""


def _groups(
    planned: PlannedRelease, tables: tuple[pa.Table, ...], entropy: Entropy
) -> tuple[Groups, IntArray | None, Drawn]:
    """Return the released groups, and the noisy counts or cells that selected them, if any."""
    selection = planned.key_selection
    if selection is not None and isinstance(selection.mechanism, RowThreshold):
        return _selected_by_cells(planned, selection, selection.mechanism, tables, entropy)
    if selection is not None:
        return *_selected(planned, selection, tables, entropy), {}
    keys, known = planned.aggregation.keys, planned.aggregation.groups
    if not keys or not isinstance(known, DeclaredGroups):
        return Groups((), 1), None, {}
    kinds = tuple(key.expression.facts.kind for key in keys)
    made = _made_before(known)
    if kinds not in made:
        columns = tuple(
            _array([row[number] for row in known.rows], kind) for number, kind in enumerate(kinds)
        )
        made[kinds] = Groups(columns, len(known.rows))
    return made[kinds], None, {}


def _nothing_yet(_: DeclaredGroups) -> dict[tuple[Kind, ...], Groups]:
    return {}


_made_before = Remembered(_nothing_yet)
"""Declared groups as arrays, by the kinds of their keys: questions that are asked again have the
same ones. They are public, and never change."""


def _selected(
    planned: PlannedRelease,
    selection: PlannedKeySelection,
    tables: tuple[pa.Table, ...],
    entropy: Entropy,
) -> tuple[Groups, IntArray]:
    """Return the groups above the threshold, sorted by key."""
    selecting = selection.key_selection
    assert not isinstance(selection.mechanism, RowThreshold)  # noqa: S101 - it has noisy cells
    table = tables[selecting.query]
    keys, order = _sorted_keys(planned, table)
    numbers = _wholes(table.column(selecting.column))[order.to_numpy()]
    chosen = selection.mechanism.release(numbers.astype(np.int64), entropy=entropy)
    kept = order.filter(pa.array(chosen.kept))
    columns = tuple(each.take(kept) for each in keys)
    return Groups(columns, len(kept)), chosen.numbers[chosen.kept]


def _selected_by_cells(
    planned: PlannedRelease,
    selection: PlannedKeySelection,
    mechanism: RowThreshold,
    tables: tuple[pa.Table, ...],
    entropy: Entropy,
) -> tuple[Groups, None, Drawn]:
    """Return the groups whose noisy cells are above the threshold, and these cells."""
    number = selection.key_selection.measure
    assert number is not None  # noqa: S101 - its cells are what is compared
    keys, order = _sorted_keys(planned, tables[selection.key_selection.query])
    every = Groups(tuple(each.take(order) for each in keys), len(order))
    cells = _noisy_cells(planned.components[number], every, tables, entropy)
    kept = mechanism.kept(cells)
    shown = pa.array(kept)
    columns = tuple(each.filter(shown) for each in every.keys)
    return Groups(columns, int(kept.sum())), None, {number: cells[kept]}


def _sorted_keys(planned: PlannedRelease, table: pa.Table) -> tuple[list[Values], "pa.Array[Any]"]:
    """Return the keys of all groups of an exact table, and their order by key."""
    keys = [
        _column(table, f"k{number}", ARROW_TYPES[key.expression.facts.kind])
        for number, key in enumerate(planned.aggregation.keys)
    ]
    names = [f"k{number}" for number in range(len(keys))]
    ordered = pa.Table.from_arrays(keys, names=names)
    by: Any = [(name, "ascending") for name in names]
    return keys, on_use.compute.sort_indices(ordered, sort_keys=by)


def _column(table: pa.Table, name: str, kind: pa.DataType) -> Values:
    """Return a column of an exact table as one array of a known type. No value makes it fail."""
    column = table.column(name)
    same = column if column.type == kind else on_use.compute.cast(column, kind, safe=False)
    return one_array(same)


def _listed(column: Any) -> list[Value]:
    """Return the values of a column, which are of a plain type."""
    return list(column.to_pylist())


def _array(values: Sequence[Value], kind: Kind) -> Values:
    """Return public values as an array, with fractions as the nearest floats."""
    if kind is not Kind.REAL:
        return array_of(values, ARROW_TYPES[kind])
    reals = [None if (number := number_of(each)) is None else float(number) for each in values]
    return array_of(reals, REALS)


# --------------------------------------------------------------------------- noise


def _noisy_cells(
    planned: PlannedComponents, groups: Groups, tables: tuple[pa.Table, ...], entropy: Entropy
) -> IntArray:
    """Return the noisy cells of each group, one row for each; a group without rows has zeros."""
    table = tables[planned.measured.query]
    places = groups.places(table)
    sums = _sums(table, planned.measured.columns, places, groups.size)
    cells = combined(sums, planned.measure.cells)
    # Python's own integers are handed in as lists, which mechanisms take at any size.
    exact: IntArray = cells.tolist() if cells.dtype == object else cells.astype(np.int64)
    return planned.noise.release(exact, entropy=entropy)


def _sums(
    table: pa.Table, columns: tuple[str, ...], places: IntArray, size: int
) -> NDArray[np.generic]:
    """Return the exact sums of each group. Rows with other keys are left out."""
    values = [_wholes(table.column(each)) for each in columns]
    kind = object if any(each.dtype == object for each in values) else np.int64
    sums = np.zeros((size, len(columns)), kind)
    ours = places >= 0
    for number, each in enumerate(values):
        np.add.at(sums[:, number], places[ours], each[ours])
    return sums


def _wholes(column: Chunks) -> NDArray[np.generic]:
    """Return integers of any size, as Python integers if 64 bits might not hold them."""
    narrow: Any = wholes_in(column)
    if narrow is not None:
        return _as_narrow(narrow)
    try:
        narrow = column.cast(pa.int64()).fill_null(pa.scalar(0)).to_numpy()
    except pa.ArrowInvalid:  # decimals, as engines return wide sums, beyond 64 bits
        return np.array([int(each.as_py() or 0) for each in column], object)
    return _as_narrow(narrow)


def _as_narrow(narrow: NDArray[np.int64]) -> NDArray[np.generic]:
    is_safe = np.all(np.abs(narrow >> 1) < 1 << 61)
    return np.asarray(narrow, np.int64) if is_safe else narrow.astype(object)


def _picked(
    planned: PlannedValueSelection, groups: Groups, tables: tuple[pa.Table, ...], entropy: Entropy
) -> Picked:
    table, pick = tables[planned.value_selection.query], planned.value_selection
    if isinstance(planned.mechanism, PermuteAndFlip):
        values = _array(pick.domain, pick.kind)
        chosen = _modes(planned.mechanism, values, groups, table, entropy)
        return Picked(values.take(chosen))
    places = groups.places(table)
    ours = np.flatnonzero(places >= 0)
    cells, counts = (_wholes(table.column(name)).astype(np.int64) for name in ("cell", "n"))
    order = ours[np.lexsort((cells[ours], places[ours]))]
    offsets = np.searchsorted(places[order], np.arange(groups.size + 1))
    assert pick.grid is not None  # noqa: S101 - every pick but a mode has one
    found = planned.mechanism.release_many(
        cells[order], counts[order], offsets, pick.grid.steps + 1, entropy=entropy
    )
    is_missing = pa.array(~found.is_supported)
    points, lows, highs = (
        on_use.compute.if_else(is_missing, pa.scalar(None, each.type), each)
        for each in (
            _points(pick.grid, found.points, pick.kind),
            _lows(pick, pick.grid, found.lows),
            _highs(pick, pick.grid, found.highs),
        )
    )
    return Picked(points, (lows, highs))


def _modes(
    mechanism: PermuteAndFlip, values: Values, groups: Groups, table: pa.Table, entropy: Entropy
) -> IntArray:
    """Return the index of the selected value in each group."""
    places = groups.places(table)
    which = Groups((values,), len(values)).places(
        table.select([f"k{len(groups.keys)}"]).rename_columns(["k0"])
    )
    ours = (places >= 0) & (which >= 0)
    scores = np.zeros((groups.size, len(values)), np.int64)
    counts = _wholes(table.column("s0")).astype(np.int64)
    np.add.at(scores, (places[ours], which[ours]), counts[ours])
    return np.array([mechanism.release(row, entropy=entropy) for row in scores], np.int64)


# --------------------------------------------------------------------------- values


def _points(ruler: ValueGrid, chosen: IntArray, kind: Kind) -> Values:
    """Return points of a ruler as values of this kind."""
    numbers = [ruler.low + int(each) * ruler.step for each in chosen]
    whole = numbers if kind is Kind.REAL else [_nearest(each) for each in numbers]
    return _values_of_kind(whole, kind)


def _lows(pick: ValueSelection, ruler: ValueGrid, chosen: IntArray) -> Values:
    """Return low ends of intervals: no value that was moved to the point or above lies below."""
    slack = ruler.step / 2 if pick.is_rounded else 0
    numbers = [max(ruler.low, ruler.low + int(each) * ruler.step - slack) for each in chosen]
    whole = numbers if pick.kind is Kind.REAL else [Fraction(floor(each)) for each in numbers]
    return _values_of_kind(whole, pick.kind)


def _highs(pick: ValueSelection, ruler: ValueGrid, chosen: IntArray) -> Values:
    """Return high ends of intervals: no value that was moved to the point or below lies above."""
    slack = ruler.step / 2 if pick.is_rounded else 0
    numbers = [min(ruler.high, ruler.low + int(each) * ruler.step + slack) for each in chosen]
    whole = numbers if pick.kind is Kind.REAL else [Fraction(ceil(each)) for each in numbers]
    return _values_of_kind(whole, pick.kind)


def _values_of_kind(numbers: Sequence[Fraction], kind: Kind) -> Values:
    """Return numbers, which are whole for all kinds but reals, as values of a kind."""
    match kind:
        case Kind.REAL:
            return pa.array([float(each) for each in numbers], pa.float64())
        case Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMP_TZ:
            return pa.array([time_from_number(each, kind) for each in numbers], ARROW_TYPES[kind])
        case Kind.BOOLEAN:
            return pa.array([bool(each) for each in numbers], pa.bool_())
        case _:
            return pa.array([_within_64_bits(int(each)) for each in numbers], pa.int64())


def _within_64_bits(number: int) -> int:
    return max(-(1 << 63), min((1 << 63) - 1, number))


def _nearest(number: Fraction) -> Fraction:
    return Fraction((number + Fraction(1, 2)).__floor__())


def _values(
    estimator: Estimator,
    cells: tuple[IntArray, ...],
    picks: tuple[Picked, ...],
    shown: IntArray | None,
) -> Values:
    match estimator:
        case SelectedValue(selection=number):
            return picks[number].values
        case KeyCount():
            return array_of([], INTEGERS) if shown is None else array_from(shown, INTEGERS)
        case LinearEstimator() | MeanEstimator() | VarianceEstimator() | PairEstimator():
            return array_from(values_of(estimator, cells[estimator.measure]))
