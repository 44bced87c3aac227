"""Quantiles, minima and maxima: the exponential mechanism over a public grid of points.

Rows lie on the points 0, …, grid_size - 1. Of n rows, L(z) lie below point z, and U(z) at or below
it. So z has the ranks from L(z) to U(z), and is better the closer they are to a target rank T(n).
One point is released, chosen by the utility u(z) = -distance(T(n), [L(z), U(z)]). If one more row
raises the target by s, 0 ≤ s ≤ 1, no u(z) changes by more than max(s, 1 - s):
docs/proofs/quantiles.md.
"""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import ceil, log

import numpy as np

from discreet.accounting.events import ExponentialEvent
from discreet.deprecated import Renamed
from discreet.errors import HIDDEN, ParameterError
from discreet.mechanisms.accuracy import checked_epsilon
from discreet.mechanisms.distributions import ChoiceDistribution
from discreet.mechanisms.exact import Integers, exact_integers
from discreet.mechanisms.exponential import exponential_distribution
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.noise import SYSTEM, Entropy, exponential_run_choice
from discreet.noise.selection import CANDIDATES_MOST
from discreet.noise.uniform import IntArray
from discreet.parameters import (
    Real,
    choice,
    confidence_level,
    freeze_fields,
    given_text,
    integer,
    rational,
)

PARTS_MOST = 10**6
"""The largest denominator of a fraction. Ranks are counted in these parts of a row."""

ROWS_MOST = 1 << 40
"""The most rows that are counted. In parts, they fit into 64 bits."""

LAW_MOST = 10**5
"""The most points of a grid for which a distribution is computed."""

STRAY = Fraction(1, 100)
"""The highest probability that a minimum or maximum lies beyond all data."""


class End(Enum):
    """Which end of the data is estimated."""

    MIN = "min"
    MAX = "max"


class Ranked:
    """The common part of quantiles and extremes, which differ in their target rank.

    `rows_per_unit` is the most rows that one unit has in all groups of a release together. Under
    add-remove neighbours each of them changes the utilities of its own group by at most `moved`. If
    a unit is replaced, its rows may leave one group while others enter another, which doubles the
    change. A row that stays in its group and changes its value changes utilities there by at most
    1, which is not larger. So in a release of one group (`groups` = 1) a replaced unit changes
    utilities by at most its number of rows.
    """

    __slots__ = ()

    epsilon: Fraction
    rows_per_unit: int
    neighbours: Neighbours
    groups: int | None
    """The most groups of a release; None for any number."""

    @property
    def sensitivity(self) -> Fraction:
        """The most by which one unit changes utilities, in rows, summed over all groups."""
        if self.neighbours is ADD_REMOVE:
            return self.rows_per_unit * self._moved
        return Fraction(self.rows_per_unit) * (1 if self.groups == 1 else 2 * self._moved)

    @property
    def rate(self) -> Fraction:
        """The factor of a utility in the exponent."""
        return self.epsilon / (2 * self.sensitivity)

    @property
    def event(self) -> ExponentialEvent:
        """The event that a release is charged as, for one group or many."""
        return ExponentialEvent(epsilon=self.epsilon)

    def release(
        self, cells: Integers, counts: Integers, grid_size: int, *, entropy: Entropy = SYSTEM
    ) -> int:
        """Return a point of the grid for one group.

        Its rows are given by the points that have any, in ascending order, and the number of rows
        at each.
        """
        only = np.array([0, len(_flat(cells))])
        return int(self.release_many(cells, counts, only, grid_size, entropy=entropy)[0])

    def release_many(
        self,
        cells: Integers,
        counts: Integers,
        offsets: Integers,
        grid_size: int,
        *,
        entropy: Entropy = SYSTEM,
    ) -> IntArray:
        """Return a point of the grid for each group.

        Group i is given as in `release`, by cells[offsets[i]:offsets[i + 1]] and as many counts.
        """
        size = checked_size(grid_size)
        groups = GroupedRows.checked(cells, counts, offsets, size)
        check_groups(self.groups, len(groups))
        rate, inside = self.rate / self._parts, self._inside(size)
        chosen = np.empty(len(groups), np.int64)
        for i in range(len(groups)):
            runs = groups.runs(i, size)
            utilities = self._utilities(runs, inside)
            run, place = exponential_run_choice(utilities, runs.lengths, rate, entropy=entropy)
            chosen[i] = runs.starts[run] + place
        return chosen

    def distribution(self, cells: Integers, counts: Integers, grid_size: int) -> ChoiceDistribution:
        """Return the distribution of release(cells, counts, grid_size)."""
        size = integer("grid_size", grid_size, least=1, most=LAW_MOST)
        runs = GroupedRows.checked(cells, counts, [0, len(_flat(cells))], size).runs(0, size)
        each = np.repeat(self._utilities(runs, self._inside(size)), runs.lengths)
        return exponential_distribution(each, self.rate / self._parts)

    def rank_error(self, confidence: Real, grid_size: int) -> float:
        """Return the most rows between the point and the target rank, with this confidence.

        ln(grid_size / (1 - confidence)) / rate: some point has the target among its ranks, and
        at most grid_size points are farther away (McSherry, Talwar 2007).
        """
        level = confidence_level(confidence)
        return log(checked_size(grid_size) / (1 - level)) / float(self.rate)

    def _utilities(self, runs: "Runs", inside: int) -> IntArray:
        return rank_utilities(runs, self._target(runs.rows, inside), self._parts)

    @property
    def _parts(self) -> int:
        """The denominator of ranks and utilities, which are multiples of 1 / parts of a row."""
        raise NotImplementedError

    @property
    def _moved(self) -> Fraction:
        """The most by which adding or removing a row changes a utility, in rows."""
        raise NotImplementedError

    def _inside(self, grid_size: int) -> int:
        """Return the public number that determines the target, in parts of a row."""
        raise NotImplementedError

    def _target(self, rows: int, inside: int) -> int:
        """Return the target rank in a group of `rows` rows, in parts of a row."""
        raise NotImplementedError

    law = Renamed("distribution")


@dataclass(frozen=True, slots=True, init=False)
class Quantile(Ranked):
    """Choose a point that a given fraction of the rows lies below: epsilon-DP.

    The exponential mechanism by distance of ranks (McSherry, Talwar 2007; Smith 2011). The target
    is fraction · n, so a row changes a utility by at most max(fraction, 1 - fraction): half a row
    for the median. In a group without rows, all points are equally likely.
    """

    epsilon: Fraction
    fraction: Fraction
    rows_per_unit: int
    neighbours: Neighbours
    groups: int | None

    __repr__ = given_text

    def __init__(
        self,
        *,
        epsilon: Real,
        fraction: Real,
        rows_per_unit: int = 1,
        neighbours: Neighbours | str = ADD_REMOVE,
        groups: int | None = None,
    ) -> None:
        share = rational("fraction", fraction, above=0, below=1)
        if share.denominator > PARTS_MOST:
            rule = f"must be a fraction with a denominator of {PARTS_MOST} or less"
            raise ParameterError("fraction", fraction, rule)
        price = _checked_price(epsilon, rows_per_unit, neighbours, groups)
        freeze_fields(self, fraction=share, **price)

    @property
    def _parts(self) -> int:
        return self.fraction.denominator

    @property
    def _moved(self) -> Fraction:
        return max(self.fraction, 1 - self.fraction)

    def _inside(self, _: int) -> int:
        return self.fraction.numerator

    def _target(self, rows: int, inside: int) -> int:
        return inside * rows


@dataclass(frozen=True, slots=True, init=False)
class Extreme(Ranked):
    """Choose a point close to the smallest or largest row, and rarely beyond it: epsilon-DP.

    Points beyond all data have rank 0 from that end, and there may be many. So the target is
    inside: at rank - 1/2 from the end, or in the middle of a group with fewer than 2 · rank rows.
    `rank` depends only on public numbers, and is 1 if epsilon is large. Then the target is the
    extreme value itself, and no other point has it among its ranks.
    """

    epsilon: Fraction
    end: End
    rows_per_unit: int
    neighbours: Neighbours
    groups: int | None

    __repr__ = given_text

    def __init__(
        self,
        *,
        epsilon: Real,
        end: End | str,
        rows_per_unit: int = 1,
        neighbours: Neighbours | str = ADD_REMOVE,
        groups: int | None = None,
    ) -> None:
        which = choice("end", end, End)
        price = _checked_price(epsilon, rows_per_unit, neighbours, groups)
        freeze_fields(self, end=which, **price)

    def rank(self, grid_size: int) -> int:
        """Return the target row, counted from the end. The extreme row is 1.

        The points beyond the data are at least rank - 1/2 rows from the target. So in a group of
        2 · rank rows or more, one of them is chosen with probability at most
        grid_size · exp(-rate (rank - 1/2)) ≤ STRAY.
        """
        crowd = checked_size(grid_size) / STRAY
        return max(1, ceil(log(crowd) / float(self.rate) + 0.5))

    @property
    def _parts(self) -> int:
        return 2

    @property
    def _moved(self) -> Fraction:
        return Fraction(1)

    def _inside(self, grid_size: int) -> int:
        return 2 * self.rank(grid_size) - 1

    def _target(self, rows: int, inside: int) -> int:
        near = min(inside, rows)
        return near if self.end is End.MIN else 2 * rows - near


@dataclass(frozen=True, slots=True)
class Runs:
    """A group's points in runs of equal rank: the points with rows, and the gaps between them."""

    starts: IntArray
    lengths: IntArray
    least: IntArray
    """L(z), the same for all points of the run."""
    most: IntArray
    """U(z)."""
    rows: int

    def with_own_ends(self) -> "Runs":
        """Return the same runs, with the first and the last point of the grid in runs of one."""
        first = [1] if self.lengths[0] > 1 else []
        last = [int(self.starts[-1] + self.lengths[-1] - 1)] if self.lengths[-1] > 1 else []
        end = int(self.starts[-1] + self.lengths[-1])
        starts = np.unique(np.concatenate([self.starts, np.array([*first, *last], np.int64)]))
        of = np.searchsorted(self.starts, starts, side="right") - 1
        lengths = np.diff(np.append(starts, end))
        return Runs(starts, lengths, self.least[of], self.most[of], self.rows)


def rank_utilities(runs: Runs, target: int, parts: int, *, has_open_ends: bool = False) -> IntArray:
    """Return minus the distance of each run's ranks to the target, in parts of a row.

    With open ends, the first point has all ranks below its own too, and the last one all above.
    """
    below, above = parts * runs.least - target, target - parts * runs.most
    if has_open_ends:
        below[0] = above[-1] = 0
    return -np.maximum(np.maximum(below, above), 0)


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """The rows of some groups on one grid, checked. An error does not show them."""

    cells: IntArray
    counts: IntArray
    offsets: IntArray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def checked(cls, cells: object, counts: object, offsets: object, size: int) -> "GroupedRows":
        points, rows, ends = (_flat(each) for each in (cells, counts, offsets))
        if len(points) != len(rows) or not _are_ends(ends, len(points)):
            rule = "must increase from 0 to the number of cells, with one count for each cell"
            raise ParameterError("offsets", HIDDEN, rule)
        rises = np.diff(points) > 0
        rises[(inner := ends[1:-1])[(inner > 0) & (inner < len(points))] - 1] = True
        if len(points) and not (rises.all() and points.min() >= 0 and points.max() < size):
            raise ParameterError("cells", HIDDEN, f"must be points from 0 to {size - 1}, ascending")
        # Rounding in a float sum of this many counts is far too small to matter at the limit.
        if len(rows) and (rows.min() < 0 or rows.sum(dtype=np.float64) > ROWS_MOST):
            rule = f"must be 0 or more and {ROWS_MOST} or less in total"
            raise ParameterError("counts", HIDDEN, rule)
        return cls(points, rows, ends)

    def totals(self) -> IntArray:
        """Return how many rows each group has."""
        return np.diff(np.concatenate([[0], np.cumsum(self.counts)])[self.offsets])

    def runs(self, group: int, size: int) -> Runs:
        """Return one group's runs: gap, point, gap, …, point, gap, without empty gaps."""
        here = slice(int(self.offsets[group]), int(self.offsets[group + 1]))
        cells, counts = self.cells[here], self.counts[here]
        count = 2 * len(cells) + 1
        starts, lengths = np.zeros(count, np.int64), np.ones(count, np.int64)
        least, most = np.zeros(count, np.int64), np.zeros(count, np.int64)
        starts[1::2], starts[2::2] = cells, cells + 1
        lengths[:-1:2] = cells - starts[:-1:2]
        lengths[-1] = size - starts[-1]
        np.cumsum(counts, out=most[1::2])
        most[2::2] = least[2::2] = most[1::2]
        least[1::2] = most[1::2] - counts
        held = lengths > 0
        return Runs(starts[held], lengths[held], least[held], most[held], int(most[-1]))


def _checked_price(
    epsilon: object, rows_per_unit: object, neighbours: object, groups: object
) -> dict[str, object]:
    return {
        "epsilon": checked_epsilon(epsilon),
        "rows_per_unit": integer("rows_per_unit", rows_per_unit, least=1, most=ROWS_MOST),
        "neighbours": choice("neighbours", neighbours, Neighbours),
        "groups": None if groups is None else integer("groups", groups, least=1),
    }


def check_groups(most: int | None, groups: int) -> None:
    """Reject a release of more groups than its sensitivity is for."""
    if most is not None and groups > most:
        raise ParameterError("groups", most, f"must be {groups} or more for {groups} groups")


def checked_size(grid_size: object) -> int:
    """Return the number of points of a grid, or raise `ParameterError`."""
    return integer("grid_size", grid_size, least=1, most=CANDIDATES_MOST)


def _flat(values: object) -> IntArray:
    array = exact_integers(values)
    if array.ndim != 1:
        raise ParameterError("cells", HIDDEN, "must be flat lists, as must counts and offsets")
    return array


def _are_ends(offsets: IntArray, cells: int) -> bool:
    is_whole = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == cells
    return is_whole and bool((np.diff(offsets) >= 0).all())
