"""Mechanisms without noise: what is left shows whether a question kept its meaning."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.mechanisms.exponential import PermuteAndFlip
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.gaussian_selection import GaussianPartitionSelection
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.partition_selection import PartitionSelection, Selected
from discreet.mechanisms.quantile import End, Extreme, Quantile
from discreet.mechanisms.quantile_interval import ChosenValues, RankedInterval
from discreet.mechanisms.row_threshold import RowThreshold

Whole = NDArray[np.int64]


@contextmanager
def silence() -> Iterator[None]:
    """Let every mechanism of a plan release what is exact, every group and the best choice."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Geometric, "release", _same)
        patch.setattr(Gaussian, "release", _same)
        patch.setattr(PartitionSelection, "release", _all)
        patch.setattr(GaussianPartitionSelection, "release", _all)
        patch.setattr(RowThreshold, "kept", _every)
        patch.setattr(PermuteAndFlip, "release", _best)
        patch.setattr(Quantile, "release_many", _quantiles)
        patch.setattr(Extreme, "release_many", _ends)
        patch.setattr(RankedInterval, "release_many", _with_intervals)
        yield


def _same(_: Any, exact: Any, *, entropy: object) -> Whole:
    del entropy
    return np.array(exact, np.int64)


def _all(_: Any, units: Whole, *, entropy: object) -> Selected:
    del entropy
    return Selected(np.ones(len(units), np.bool_), np.array(units, np.int64))


def _every(_: Any, cells: Whole) -> NDArray[np.bool_]:
    return np.ones(len(cells), np.bool_)


def _best(_: Any, scores: Whole, *, entropy: object) -> int:
    del entropy
    return int(np.argmax(scores))


def _quantiles(
    mechanism: Quantile, cells: Whole, counts: Whole, offsets: Whole, size: int, *, entropy: object
) -> Whole:
    """Return the least point with the target among its ranks, by group; 0 without rows."""
    del size, entropy
    chosen = []
    for first, last in pairwise(offsets):
        most = np.cumsum(counts[first:last])
        target = mechanism.fraction * int(most[-1] if len(most) else 0)
        reached = [Fraction(int(each)) >= target for each in most]
        chosen.append(cells[first + reached.index(True)] if any(reached) else 0)
    return np.array(chosen, np.int64)


def _ends(
    mechanism: Extreme, cells: Whole, counts: Whole, offsets: Whole, size: int, *, entropy: object
) -> Whole:
    """Return the first or last point that holds rows, by group; 0 without rows."""
    del counts, size, entropy
    chosen = []
    for first, last in pairwise(offsets):
        place = first if mechanism.end is End.MIN else last - 1
        chosen.append(cells[place] if first < last else 0)
    return np.array(chosen, np.int64)


def _with_intervals(
    mechanism: RankedInterval, cells: Whole, counts: Whole, offsets: Whole, size: int, **how: Any
) -> ChosenValues:
    """Return exact values, and that rows support them where there are any."""
    points = mechanism.point.release_many(cells, counts, offsets, size, **how)
    return ChosenValues(
        points=points, lows=points, highs=points, is_supported=np.diff(np.array(offsets)) > 0
    )
