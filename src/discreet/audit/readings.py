"""Readings: numbers that are computed from an output, if it has any."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor, isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.sheets import KEYS, LENGTH, OUTPUT, Absent, Array, Leaf, Path, Sheet

Kinds = NDArray[np.uint8]

NUMBER, NONE, OTHER, ABSENT, NAN, HIGHEST, LOWEST = range(7)
KIND_NAMES = ("a number", "None", "something else", "absent", "NaN", "+inf", "-inf")

WHOLE_MOST = (1 << 63) - 1
"""The largest 64-bit integer. Larger ones are replaced by it."""

VECTOR_MOST = 64
"""The most numbers that are combined in one reading."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """A number for each output, integer or real, and the kind of each entry."""

    values: Array
    kinds: Kinds

    @property
    def found(self) -> NDArray[np.bool_]:
        return np.asarray(self.kinds == NUMBER, np.bool_)


@dataclass(frozen=True, slots=True)
class Reading:
    """A number that can be computed from any output."""

    name: str
    read: Callable[[Sheet], Numbers]


def name_of(path: Path) -> str:
    """Return a readable name for a place in an output."""
    if path == OUTPUT:
        return "an output"
    words = [f"number {int(each) + 1}" if each.isdecimal() else each for each in path]
    return ", ".join(words)


def numbers_at(path: Path, *, is_whole: bool) -> Reading:
    """Read the number at one place, as an integer or as a real."""
    return Reading(name_of(path), lambda sheet: as_numbers(sheet.column(path), is_whole=is_whole))


def are_whole(column: Array | list[Leaf]) -> bool:
    """Return whether all numbers of a column are integers that fit into 64 bits."""
    if isinstance(column, np.ndarray):
        return column.dtype.kind in "iub"
    numbers = [leaf for leaf in column if _kind(leaf) == NUMBER]
    return all(isinstance(each, int) and abs(each) <= WHOLE_MOST for each in numbers)


def as_numbers(column: Array | list[Leaf], *, is_whole: bool) -> Numbers:
    """Return a column's numbers, integers or reals. Each depends only on its own output."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "iubf":
        return _array_numbers(column, is_whole=is_whole)
    kinds = np.array([_kind(leaf) for leaf in column], np.uint8)
    plain = [leaf if kind == NUMBER else 0 for leaf, kind in zip(column, kinds, strict=True)]
    if is_whole:
        return Numbers(np.array([_floor(each) for each in plain], np.int64), kinds)
    return Numbers(np.array([_real(each) for each in plain], np.float64), kinds)


def vector_readings(numeric: Sequence[Path]) -> list[Reading]:
    """Read the sum of several numbers, their minimum and maximum, and the places of these."""
    paths = [path for path in numeric if path[-1:] not in ((LENGTH,), (KEYS,))][:VECTOR_MOST]
    if len(paths) < 2:
        return []
    ways: dict[str, Callable[[NDArray[np.float64]], Array]] = {
        "the sum": lambda m: _added(m, np.ones(m.shape[1])),
        "the largest number": lambda m: m.max(axis=1),
        "the least number": lambda m: m.min(axis=1),
        "the place of the largest number": lambda m: m.argmax(axis=1),
        "the place of the least number": lambda m: m.argmin(axis=1),
    }
    return [_vector_reading(name, paths, way) for name, way in ways.items()]


def direction_reading(paths: Sequence[Path], here: Sheet, there: Sheet) -> Reading | None:
    """Read the weighted sum of all numbers with the largest difference per standard deviation."""
    if len(paths) < 2:
        return None
    a, b = matrix(here, paths), matrix(there, paths)
    spread = np.maximum(a.var(axis=0) + b.var(axis=0), 1e-12)
    weights = (a.mean(axis=0) - b.mean(axis=0)) / spread
    if not weights.any() or not np.isfinite(weights).all():
        return None
    weights /= np.abs(weights).max()
    return _vector_reading("a weighted sum of all numbers", paths, lambda m: _added(m, weights))


def matrix(sheet: Sheet, paths: Sequence[Path]) -> NDArray[np.float64]:
    """Return several numbers of each output, with 0 for missing ones."""
    columns = [as_numbers(sheet.column(path), is_whole=False).values for path in paths]
    return np.asarray(np.clip(np.stack(columns, axis=1), -1e150, 1e150), np.float64)


def _added(m: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weighted sums of rows. The rounding does not depend on the number of rows."""
    total = np.zeros(len(m))
    for column, weight in zip(m.T, weights, strict=True):
        total += weight * column
    return total


def _vector_reading(
    name: str, paths: Sequence[Path], way: Callable[[NDArray[np.float64]], Array]
) -> Reading:
    return Reading(name, lambda sheet: _array_numbers(way(matrix(sheet, paths)), is_whole=False))


def _array_numbers(column: NDArray[Any], *, is_whole: bool) -> Numbers:
    if column.dtype.kind != "f":
        values = column.astype(np.int64 if is_whole else np.float64)
        return Numbers(values, np.zeros(len(column), np.uint8))
    kinds = np.select(
        [np.isfinite(column), np.isnan(column), column > 0], [NUMBER, NAN, HIGHEST], LOWEST
    ).astype(np.uint8)
    values = np.where(kinds == NUMBER, column, 0).astype(np.float64)
    if is_whole:
        return Numbers(np.array([_floor(each) for each in values.tolist()], np.int64), kinds)
    return Numbers(values, kinds)


def _kind(leaf: Leaf) -> int:
    match leaf:
        case None:
            return NONE
        case Absent():
            return ABSENT
        case int() | Fraction():
            return NUMBER
        case Decimal() if leaf.is_nan():  # a signalling one cannot be made a float
            return NAN
        case float() | Decimal():
            return _kind_of_real(float(leaf))
        case _:
            return OTHER


def _kind_of_real(number: float) -> int:
    if isfinite(number):
        return NUMBER
    return NAN if isnan(number) else HIGHEST if number > 0 else LOWEST


def _floor(number: Any) -> int:
    return int(max(-WHOLE_MOST, min(WHOLE_MOST, floor(number))))


def _real(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return 1e300 if number > 0 else -1e300
