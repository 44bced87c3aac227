"""Quantiles, minima and maxima with an interval and a noisy number of rows, for one epsilon.

A point alone does not say how far it may be off, and a group without rows has a point too. So
epsilon is divided among a point, the ends of an interval that holds the exact value, and a noisy
count that decides whether enough rows support the value: docs/proofs/quantiles.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.events import (
    MOST_COUNTED,
    ComposedEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
)
from discreet.errors import ParameterError
from discreet.mechanisms.accuracy import laplace_accuracy
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.quantile import (
    ROWS_MOST,
    STRAY,
    End,
    Extreme,
    GroupedRows,
    Quantile,
    Runs,
    check_groups,
    checked_size,
    rank_utilities,
)
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.noise import SYSTEM, Entropy, exponential_run_choice
from discreet.noise.selection import CANDIDATES_MOST
from discreet.noise.uniform import IntArray
from discreet.parameters import Real, freeze_fields, given_text

COUNT_SHARE = Fraction(1, 10)
"""The part of epsilon for the noisy count."""

END_SHARE = Fraction(1, 10)
"""The part of epsilon for each end of a quantile's interval."""

QUANTILE_LEVEL = Fraction(999, 1000)
"""The confidence of a quantile's interval. It is fixed, so that every lower one is free to ask."""

EXTREME_LEVEL = 1 - STRAY
"""The confidence at which a minimum or maximum does not lie beyond all data."""

EMPTY_SHOWN = Fraction(1, 100)
"""The highest probability that a group without rows passes for one with enough rows."""

SUPPORT_LEVEL = Fraction(95, 100)
"""With enough rows, the point lies among the data with this probability."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenValues:
    """For each group a point of the grid, the ends of its interval, and whether rows support it."""

    points: IntArray
    lows: IntArray
    highs: IntArray
    is_supported: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankChoice:
    """One point of a group that is chosen by the distance of its ranks to a target."""

    by: Quantile | Extreme
    """Its epsilon and sensitivity."""
    slope: int
    offset: int
    """The target is slope · rows + offset, in parts of a row: maybe below 0 or above all rows."""
    parts: int
    rate: Fraction
    """The factor of a utility, which is in parts of a row, in the exponent."""
    has_open_ends: bool
    """Whether the first point of the grid has all ranks below its own too, the last all above."""

    def target(self, rows: int) -> int:
        """Return the target rank in a group of so many rows, in parts of a row."""
        return self.slope * rows + self.offset

    def drawn(self, runs: Runs, entropy: Entropy) -> int:
        """Return the point that is chosen."""
        target = self.target(runs.rows)
        utilities = rank_utilities(runs, target, self.parts, has_open_ends=self.has_open_ends)
        run, place = exponential_run_choice(utilities, runs.lengths, self.rate, entropy=entropy)
        return int(runs.starts[run] + place)


class RankedInterval:
    """The common part of quantiles and extremes with an interval.

    `point` chooses the point and `count` counts the rows. Both depend on the same rows, and so do
    the ends of the interval. So their epsilons add up.
    """

    __slots__ = ()

    epsilon: Fraction
    rows_per_unit: int
    neighbours: Neighbours
    groups: int | None

    @property
    def level(self) -> Fraction:
        """The confidence at which the interval holds the exact value, whatever the data."""
        raise NotImplementedError

    @property
    def point(self) -> Quantile | Extreme:
        """What chooses the point."""
        raise NotImplementedError

    @property
    def count(self) -> Geometric:
        """What counts rows; one unit changes the counts of all groups by so much in total."""
        most = self.rows_per_unit * (1 if self.neighbours is ADD_REMOVE else 2)
        return Geometric(epsilon=self.epsilon * COUNT_SHARE, sensitivity=most)

    def events(self, groups: int | None = 1) -> tuple[Event, ...]:
        """Return what a release is charged as, for so many groups; None if nobody knows."""
        counted = DiscreteLaplaceEvent(
            sensitivity=self.count.sensitivity,
            scale=self.count.scale,
            answers=MOST_COUNTED if groups is None else max(1, groups),
        )
        chosen = (each.by.epsilon for each in self.choices(1))
        return (counted, *(ExponentialEvent(epsilon=each) for each in chosen))

    @property
    def event(self) -> ComposedEvent:
        """The event that a release of one group is charged as."""
        return ComposedEvent(events=self.events())

    def support(self, grid_size: int) -> int:
        """Return the noisy number of rows from which on a value is shown.

        A group without rows reaches it with probability at most `EMPTY_SHOWN`.
        """
        least = laplace_accuracy(self.count.scale, 2 * EMPTY_SHOWN) + 1
        return max(least, self._rows_needed(checked_size(grid_size)))

    def rank_error(self, confidence: Real, grid_size: int) -> float:
        """Return the most rows between the point and the target rank, with this confidence."""
        return self.point.rank_error(confidence, grid_size)

    def release_many(
        self,
        cells: object,
        counts: object,
        offsets: object,
        grid_size: int,
        *,
        entropy: Entropy = SYSTEM,
    ) -> ChosenValues:
        """Return a point, an interval and whether rows support them, for each group.

        Groups are given as in `Quantile.release_many`.
        """
        size = checked_size(grid_size)
        groups = GroupedRows.checked(cells, counts, offsets, size)
        check_groups(self.groups, len(groups))
        noisy = self.count.release(groups.totals(), entropy=entropy)
        points, lows, highs = (np.empty(len(groups), np.int64) for _ in range(3))
        choices = self.choices(size)
        for i in range(len(groups)):
            runs = groups.runs(i, size).with_own_ends()
            drawn = [each.drawn(runs, entropy) for each in choices]
            points[i], lows[i], highs[i] = self._interval(drawn, size)
        return ChosenValues(
            points=points, lows=lows, highs=highs, is_supported=noisy >= self.support(size)
        )

    def choices(self, grid_size: int) -> tuple[RankChoice, ...]:
        """Return all that is chosen in a group, the point first."""
        raise NotImplementedError

    def _rows_needed(self, size: int) -> int:
        raise NotImplementedError

    def _interval(self, drawn: list[int], size: int) -> tuple[int, int, int]:
        """Return the point and both ends of its interval."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, init=False)
class QuantileInterval(RankedInterval):
    """Choose a quantile, and an interval that holds the exact one: epsilon-DP.

    The ends are chosen as the point is, by ranks that are `margin` below and above the target.
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
        whole = Quantile(
            epsilon=epsilon,
            fraction=fraction,
            rows_per_unit=rows_per_unit,
            neighbours=neighbours,
            groups=groups,
        )
        freeze_fields(
            self,
            epsilon=whole.epsilon,
            fraction=whole.fraction,
            rows_per_unit=whole.rows_per_unit,
            neighbours=whole.neighbours,
            groups=whole.groups,
        )
        if self.margin(CANDIDATES_MOST) > ROWS_MOST:
            raise ParameterError("epsilon", epsilon, "must be larger for these rows_per_unit")

    @property
    def level(self) -> Fraction:
        return QUANTILE_LEVEL

    @property
    def point(self) -> Quantile:
        return self._quantile(1 - COUNT_SHARE - 2 * END_SHARE)

    @property
    def end(self) -> Quantile:
        """What chooses each end of the interval, but for the target."""
        return self._quantile(END_SHARE)

    def margin(self, grid_size: int) -> int:
        """Return by how many rows the target of each end differs from that of the point.

        All points on the wrong side of the exact quantile are so far from that target, less one
        row, that they are chosen with probability (1 - level) / 2 at most.
        """
        miss = (1 - QUANTILE_LEVEL) / 2
        return 1 + ceil(log(checked_size(grid_size) / miss) / float(self.end.rate))

    def _quantile(self, share: Fraction) -> Quantile:
        return Quantile(
            epsilon=self.epsilon * share,
            fraction=self.fraction,
            rows_per_unit=self.rows_per_unit,
            neighbours=self.neighbours,
            groups=self.groups,
        )

    def choices(self, grid_size: int) -> tuple[RankChoice, ...]:
        parts = self.fraction.denominator
        away = parts * self.margin(grid_size)
        return tuple(
            RankChoice(
                by=by,
                slope=self.fraction.numerator,
                offset=offset,
                parts=parts,
                rate=by.rate / parts,
                has_open_ends=offset != 0,
            )
            for by, offset in ((self.point, 0), (self.end, -away), (self.end, away))
        )

    def _rows_needed(self, size: int) -> int:
        far = float(max(self.fraction, 1 - self.fraction))
        return ceil(self.rank_error(SUPPORT_LEVEL, size) / far)

    def _interval(self, drawn: list[int], _: int) -> tuple[int, int, int]:
        return drawn[0], min(drawn), max(drawn)


@dataclass(frozen=True, slots=True, init=False)
class ExtremeInterval(RankedInterval):
    """Choose a point close to the smallest or largest row, and rarely beyond it: epsilon-DP.

    The target is always `rank` - 1/2 rows from the end. So whatever the data, the point of a
    maximum is above the largest row with probability at most `STRAY`: the interval reaches from the
    point to the end of the grid.
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
        whole = Extreme(
            epsilon=epsilon,
            end=end,
            rows_per_unit=rows_per_unit,
            neighbours=neighbours,
            groups=groups,
        )
        freeze_fields(
            self,
            epsilon=whole.epsilon,
            end=whole.end,
            rows_per_unit=whole.rows_per_unit,
            neighbours=whole.neighbours,
            groups=whole.groups,
        )
        if self.point.rank(CANDIDATES_MOST) > ROWS_MOST:
            raise ParameterError("epsilon", epsilon, "must be larger for these rows_per_unit")

    @property
    def level(self) -> Fraction:
        return EXTREME_LEVEL

    @property
    def point(self) -> Extreme:
        return Extreme(
            epsilon=self.epsilon * (1 - COUNT_SHARE),
            end=self.end,
            rows_per_unit=self.rows_per_unit,
            neighbours=self.neighbours,
            groups=self.groups,
        )

    def choices(self, grid_size: int) -> tuple[RankChoice, ...]:
        inside, is_min = 2 * self.point.rank(grid_size) - 1, self.end is End.MIN
        chosen = RankChoice(
            by=self.point,
            slope=0 if is_min else 2,
            offset=inside if is_min else -inside,
            parts=2,
            rate=self.point.rate / 2,
            has_open_ends=True,
        )
        return (chosen,)

    def _rows_needed(self, size: int) -> int:
        return 2 * self.point.rank(size)

    def _interval(self, drawn: list[int], size: int) -> tuple[int, int, int]:
        (point,) = drawn
        return (point, 0, point) if self.end is End.MIN else (point, point, size - 1)
