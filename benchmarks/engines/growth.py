"""How cost grows with rows: the slope of a line through both logarithms."""

from collections.abc import Sequence
from math import log
from typing import TypeAlias

from benchmarks.workloads.cells import Cells
from benchmarks.workloads.questions import Workload
from benchmarks.workloads.systems import System

Point: TypeAlias = tuple[int, float]
"""Rows, and seconds of the best ask."""


def points(system: System, workload: Workload, cells: Cells) -> list[Point]:
    """Return what was measured, from few rows to many."""
    sizes = sorted({each.rows for each in cells})
    found = ((rows, cells.measured(system, workload, rows)) for rows in sizes)
    return [(rows, each.best.wall) for rows, each in found if each is not None]


def exponent(points: Sequence[Point]) -> float | None:
    """Return the slope that fits best; None if there are fewer than two sizes.

    1 is a straight line through nothing; less says that some of the cost does not grow.
    """
    if len(points) < 2:
        return None
    pairs = [(log(rows), log(seconds)) for rows, seconds in points]
    across = sum(x for x, _ in pairs) / len(pairs)
    up = sum(y for _, y in pairs) / len(pairs)
    spread = sum((x - across) ** 2 for x, _ in pairs)
    return sum((x - across) * (y - up) for x, y in pairs) / spread


def last_exponent(points: Sequence[Point]) -> float | None:
    """Return the slope between the two largest sizes."""
    return exponent(points[-2:])
