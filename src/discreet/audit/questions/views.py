"""The content of answers, copy by copy, as numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.answer import Answer
from discreet.audit.questions.scenes import COPY
from discreet.errors import ParameterError

Cells = NDArray[np.float64]

NOTHING = np.nan
"""Represents what is not shown: a NULL, a missing row, a rejected query."""

TEXT_MOST = 6
"""The most bytes of a text, so that it is an integer that a float can hold."""


def views(seen: Sequence[Answer | None], copies: int, rows: int) -> Cells:
    """Return the output for each copy: its first rows, in order, with margins of error.

    Each copy is a row of the array. Nothing is lost: integers in these tables are small, and
    different short texts are different numbers.
    """
    return np.hstack([_view(each, copies, rows) for each in seen])


def stacked(parts: Sequence[Cells]) -> Cells:
    """Return all rows of some arrays. Narrower ones are filled up as not shown."""
    width = max(each.shape[1] for each in parts)
    padded = [
        np.pad(each, ((0, 0), (0, width - each.shape[1])), constant_values=NOTHING)
        for each in parts
    ]
    return np.concatenate(padded)


def _view(answer: Answer | None, copies: int, rows: int) -> Cells:
    if answer is None:
        return np.full((copies, 1), NOTHING)
    columns = [name for name in answer.table.column_names if name != COPY]
    widths = [each for each in answer.column_margins if each is not None]
    cells = np.stack([*(_numbers(answer.table.column(each)) for each in columns), *widths], axis=1)
    whose = _copies(answer.table)
    order = np.argsort(whose, kind="stable")
    place = _places(whose[order])
    shown = np.full((copies, rows, cells.shape[1]), NOTHING)
    shown[whose[order], place] = cells[order]
    return shown.reshape(copies, -1)


def _copies(table: pa.Table) -> NDArray[np.int64]:
    """Return the copy of each row. A query without a copy column is about the only one."""
    if COPY not in table.column_names:
        return np.zeros(table.num_rows, np.int64)
    return np.asarray(table.column(COPY).to_numpy(), np.int64)


def _places(whose: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index of each row within its copy. Rows of a copy are contiguous."""
    first = np.searchsorted(whose, whose)
    return np.arange(len(whose)) - first


def _numbers(column: "pa.ChunkedArray[Any]") -> Cells:
    if pa.types.is_string(column.type):
        return np.array([_code(each) for each in column.to_pylist()], np.float64)
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), np.float64)


def _code(text: str | None) -> float:
    """Return a number that no other short text has."""
    if text is None:
        return NOTHING
    encoded = text.encode()
    if len(encoded) > TEXT_MOST:
        raise ParameterError("text", text, f"must be of {TEXT_MOST} bytes or fewer")
    return float(int.from_bytes(b"\1" + encoded))
