"""Outputs as columns, and numbers read off them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from math import floor, isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.subjects import Outputs

Array = NDArray[Any]


Path = tuple[str, ...]


PLACES_MOST = 256
"""The most places of an output that are examined, in the order in which they first occur."""


OUTPUT: Path = ()


LENGTH, KEYS = "how many", "which keys"


class Absent(Enum):
    """The entry in a column for an output without this place."""

    ABSENT = "absent"


Leaf = object
"""A number, a text, None, or any other value, which is compared by its text."""


@dataclass(frozen=True, slots=True)
class OutputTable:
    """Some outputs as columns. Every column has an entry for each output."""

    size: int
    columns: Mapping[Path, Array | list[Leaf]]
    wholes: Array | None
    """Each output as one label, to compare whole outputs. None if there is only one column."""

    def column(self, path: Path) -> Array | list[Leaf]:
        """Return a column, with every entry absent if no output has this place."""
        found = self.columns.get(path)
        return [Absent.ABSENT] * self.size if found is None else found


def alike(here: Outputs, there: Outputs) -> tuple[Outputs, Outputs]:
    """Return both sides, with arrays converted to a common element type.

    An array's type depends on all its elements: texts are as wide as the longest one, and a real
    turns all integers into reals. Otherwise two samples of one distribution could differ in every
    output.
    """
    if not (isinstance(here, np.ndarray) and isinstance(there, np.ndarray)):
        return here, there
    if here.dtype == there.dtype:
        return here, there
    try:
        common = np.result_type(here.dtype, there.dtype)
    except TypeError:  # numbers here and times there have nothing in common
        common = np.dtype(object)
    return here.astype(common), there.astype(common)


def output_table(outputs: Outputs, places: Collection[Path] | None = None) -> OutputTable:
    """Return outputs as columns, with these places if they are given.

    Given the places, each entry depends only on its own output.
    """
    if isinstance(outputs, np.ndarray) and outputs.dtype != np.object_:
        return _array_sheet(outputs)
    return _list_sheet(list(outputs), places)


def _array_sheet(outputs: Array) -> OutputTable:
    if outputs.ndim == 1:
        return OutputTable(len(outputs), {OUTPUT: outputs}, None)
    if not outputs.size:  # outputs without numbers are all equal
        return OutputTable(len(outputs), {OUTPUT: np.zeros(len(outputs))}, None)
    flat = np.ascontiguousarray(outputs.reshape(len(outputs), -1))
    columns: dict[Path, Array | list[Leaf]]
    columns = {(str(j),): flat[:, j] for j in range(min(flat.shape[1], PLACES_MOST))}
    width = flat.dtype.itemsize * flat.shape[1]
    return OutputTable(len(flat), columns, flat.view(np.dtype((np.void, width))).reshape(-1))


def _list_sheet(outputs: list[Any], places: Collection[Path] | None) -> OutputTable:
    if set(map(type, outputs)) <= {int, bool, float} and set(places or {OUTPUT}) == {OUTPUT}:
        return OutputTable(len(outputs), {OUTPUT: _numbers(outputs)}, None)
    columns: dict[Path, list[Leaf]] = {each: [] for each in places or ()}
    for i, output in enumerate(outputs):
        for path, leaf in _leaves(output, OUTPUT):
            if path not in columns and places is None and len(columns) < PLACES_MOST:
                columns[path] = []
            if path in columns:
                _fill(columns[path], i).append(leaf)
    for column in columns.values():
        _fill(column, len(outputs))
    is_plain = columns.keys() == {OUTPUT}
    wholes = None if is_plain else np.array([repr(output) for output in outputs])
    return OutputTable(
        len(outputs), {path: _numbers(each) for path, each in columns.items()}, wholes
    )


def _fill(column: list[Leaf], length: int) -> list[Leaf]:
    """Mark this place as absent in all outputs before this one that lack it."""
    column += [Absent.ABSENT] * (length - len(column))
    return column


def _numbers(column: list[Any]) -> Array | list[Leaf]:
    """Return plain numbers as an array. Other columns, and numbers that do not fit, stay lists."""
    kinds = set(map(type, column))
    if kinds == {float}:
        return np.array(column, np.float64)
    if kinds and kinds <= {int, bool}:
        with suppress(OverflowError):
            return np.array(column, np.int64)
    return column


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Leaf]]:
    match value:
        case Mapping():
            yield (*path, KEYS), repr(sorted(map(str, value)))
            for key, each in value.items():
                yield from _leaves(each, (*path, str(key)))
        case tuple() | list():
            yield (*path, LENGTH), len(value)
            yield from _items(value, path)
        case np.ndarray():
            yield from _leaves(value.tolist(), path)
        case np.generic():
            yield path, value.item()
        case _ if is_dataclass(value) and not isinstance(value, type):
            for each in fields(value):
                yield from _leaves(getattr(value, each.name), (*path, each.name))
        case _:
            yield path, value


def _items(value: Sequence[Any], path: Path) -> Iterator[tuple[Path, Leaf]]:
    keys = _row_keys(value)
    if keys is None:
        for j, each in enumerate(value):
            yield from _leaves(each, (*path, str(j)))
        return
    yield (*path, KEYS), repr(keys)
    for key, row in zip(keys, value, strict=True):
        for j, each in enumerate(row[1:], 1):
            yield from _leaves(each, (*path, key, str(j)))


def _row_keys(value: Sequence[Any]) -> list[str] | None:
    """Return the first cells of a table's rows, if they identify the rows."""
    if not value or not all(isinstance(row, tuple | list) and len(row) > 1 for row in value):
        return None
    keys = [str(row[0]) for row in value if not isinstance(row[0], float)]
    return keys if len(set(keys)) == len(value) else None


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
class Feature:
    """A number that can be computed from any output."""

    name: str
    read: Callable[[OutputTable], Numbers]


def name_of(path: Path) -> str:
    """Return a readable name for a place in an output."""
    if path == OUTPUT:
        return "an output"
    words = [f"number {int(each) + 1}" if each.isdecimal() else each for each in path]
    return ", ".join(words)


def numbers_at(path: Path, *, is_whole: bool) -> Feature:
    """Read the number at one place, as an integer or as a real."""
    return Feature(name_of(path), lambda sheet: as_numbers(sheet.column(path), is_whole=is_whole))


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


def vector_features(numeric: Sequence[Path]) -> list[Feature]:
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


def direction_feature(
    paths: Sequence[Path], here: OutputTable, there: OutputTable
) -> Feature | None:
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


def matrix(sheet: OutputTable, paths: Sequence[Path]) -> NDArray[np.float64]:
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
) -> Feature:
    return Feature(name, lambda sheet: _array_numbers(way(matrix(sheet, paths)), is_whole=False))


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
