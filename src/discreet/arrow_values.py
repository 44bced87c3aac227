"""Arrow arrays from values and back, for the types that released tables have.

Arrow's own conversions look for pandas first and load it if it is installed, and its functions for
arrays, which together take longer than a query. What is not handled here is left to Arrow.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Values: TypeAlias = "pa.Array[pa.Scalar[pa.DataType]]"
Chunks: TypeAlias = "pa.ChunkedArray[pa.Scalar[pa.DataType]]"

INTEGERS, REALS, TEXTS = pa.int64(), pa.float64(), pa.string()

STORED_AS: dict[pa.DataType, type[np.generic]] = {INTEGERS: np.int64, REALS: np.float64}
"""Types whose values NumPy stores as Arrow does."""

LONGEST = 2**31 - 1
"""The most bytes of texts that one array can hold."""


def array_from(
    values: NDArray[Any], kind: pa.DataType | None = None, *, mask: NDArray[np.bool_] | None = None
) -> Values:
    """Return NumPy's values as an array, with NULL where the mask is true."""
    kind = kind or next((each for each, of in STORED_AS.items() if values.dtype == of), None)
    if kind not in STORED_AS or values.dtype != STORED_AS[kind]:
        return pa.array(values, kind, mask=mask)
    valid = None
    if mask is not None and mask.any():
        valid = pa.py_buffer(np.packbits(~mask, bitorder="little").tobytes())
    stored: Any = np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(stored)])


def array_of(values: Sequence[Any], kind: pa.DataType) -> Values:
    """Return Python's values as an array."""
    if kind in STORED_AS and all(type(each) in (int, float) for each in values):
        if kind == REALS or all(type(each) is int for each in values):
            return array_from(np.array(values, STORED_AS[kind]))
    elif kind == TEXTS and all(isinstance(each, str) for each in values):
        texts = [each.encode() for each in values]
        ends = [0, *accumulate(map(len, texts))]
        if ends[-1] <= LONGEST:
            buffers = [
                None,
                pa.py_buffer(np.array(ends, np.int32).tobytes()),
                pa.py_buffer(b"".join(texts)),
            ]
            return pa.Array.from_buffers(kind, len(texts), buffers)
    return pa.array(values, kind)


def one_array(column: Chunks) -> Values:
    """Return a column as one array."""
    kind: Any = column.type
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, kind)


def numbers_in(column: "Chunks | Values") -> NDArray[Any]:
    """Return the numbers of a column, with NaN for NULL."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if column.type not in STORED_AS or (column.null_count and column.type != REALS):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    found = [_numbers(each) for each in chunks]
    return found[0] if len(found) == 1 else np.concatenate([_none(column.type), *found])


def _numbers(array: Values) -> NDArray[Any]:
    stored = array.buffers()[1]
    if stored is None or not len(array):
        return _none(array.type)
    kind = STORED_AS[array.type]
    size = np.dtype(kind).itemsize
    offset = array.offset * size
    found: NDArray[Any] = np.frombuffer(memoryview(stored), kind, len(array), offset)
    if array.null_count:
        found = np.where(_is_valid(array), found, np.nan)
    return found


def _is_valid(array: Values) -> NDArray[np.bool_]:
    valid = array.buffers()[0]
    if valid is None:
        return np.ones(len(array), np.bool_)
    bits = np.unpackbits(np.frombuffer(memoryview(valid), np.uint8), bitorder="little")
    return np.asarray(bits[array.offset : array.offset + len(array)], np.bool_)


def _none(kind: pa.DataType) -> NDArray[Any]:
    return np.empty(0, STORED_AS[kind])


def wholes_in(column: Chunks) -> NDArray[np.int64] | None:
    """Return whole numbers, if all are there and none needs more than 64 bits; None otherwise.

    Engines return sums as decimals of 128 bits without places.
    """
    if column.null_count:
        return None
    if column.type == INTEGERS:
        return numbers_in(column)
    if not pa.types.is_decimal128(column.type) or column.type.scale != 0:
        return None
    found = [_none(INTEGERS)]
    for each in column.chunks:
        stored = each.buffers()[1]
        if stored is not None and len(each):
            halves = np.frombuffer(memoryview(stored), np.int64, 2 * len(each), 16 * each.offset)
            low, high = halves[0::2], halves[1::2]
            if (high != low >> 63).any():
                return None
            found.append(low)
    return np.concatenate(found)
