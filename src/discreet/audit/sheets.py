"""Outputs of any form as columns, with a number or a label at each place of each output."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
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
class Sheet:
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


def sheet(outputs: Outputs, places: Collection[Path] | None = None) -> Sheet:
    """Return outputs as columns, with these places if they are given.

    Given the places, each entry depends only on its own output.
    """
    if isinstance(outputs, np.ndarray) and outputs.dtype != np.object_:
        return _array_sheet(outputs)
    return _list_sheet(list(outputs), places)


def _array_sheet(outputs: Array) -> Sheet:
    if outputs.ndim == 1:
        return Sheet(len(outputs), {OUTPUT: outputs}, None)
    if not outputs.size:  # outputs without numbers are all equal
        return Sheet(len(outputs), {OUTPUT: np.zeros(len(outputs))}, None)
    flat = np.ascontiguousarray(outputs.reshape(len(outputs), -1))
    columns: dict[Path, Array | list[Leaf]]
    columns = {(str(j),): flat[:, j] for j in range(min(flat.shape[1], PLACES_MOST))}
    width = flat.dtype.itemsize * flat.shape[1]
    return Sheet(len(flat), columns, flat.view(np.dtype((np.void, width))).reshape(-1))


def _list_sheet(outputs: list[Any], places: Collection[Path] | None) -> Sheet:
    if set(map(type, outputs)) <= {int, bool, float} and set(places or {OUTPUT}) == {OUTPUT}:
        return Sheet(len(outputs), {OUTPUT: _numbers(outputs)}, None)
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
    return Sheet(len(outputs), {path: _numbers(each) for path, each in columns.items()}, wholes)


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
