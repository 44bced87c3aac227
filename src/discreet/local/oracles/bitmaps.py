"""Reports that are a bit for each value: value v is bit v % 8 of byte v // 8, the rest is zero."""

from itertools import combinations

import numpy as np

from discreet.local.base import Row, Rows
from discreet.noise.uniform import BoolArray, IntArray

PIECE_BITS = 1 << 18
"""Bits drawn per pass, a byte each: what the processor's cache holds."""

WIDE_BYTES = 40
"""Reports that are longer are counted by adding bits (measured: both are as fast near here)."""

PIECE_ROWS = 1 << 13
"""Reports counted per pass: enough of them to make the loop over bytes cheap."""

BITS_OF_BYTE = np.unpackbits(
    np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little"
)


def bitmap_row(categories: int) -> Row:
    """Return the form of a report with a bit for each value."""
    return Row(np.uint8, -(-categories // 8))


def rows_per_piece(categories: int) -> int:
    """Return how many reports are drawn in one pass."""
    return max(1, PIECE_BITS // categories)


def packed(bits: BoolArray) -> Rows:
    """Return rows of bits, a multiple of eight in each, as rows of bytes."""
    return np.packbits(bits.reshape(-1), bitorder="little").reshape(len(bits), -1)


def unpacked(rows: Rows, categories: int) -> BoolArray:
    """Return the bits of each report."""
    bits = np.unpackbits(rows.astype(np.uint8), axis=1, count=categories, bitorder="little")
    return bits.view(np.bool_)


def ends_in_zeros(rows: Rows, categories: int) -> bool:
    """Say whether the bits after the last value are zero in all reports."""
    used = categories % 8
    return not used or not len(rows) or int(rows[:, -1].max()) < 1 << used


def tally_bits(rows: Rows, categories: int) -> IntArray:
    """Count the set bits of each value, by the way that is faster for so many values."""
    if rows.shape[1] > WIDE_BYTES:
        return _added_bits(rows, categories)
    return _bits_of_counted_bytes(rows, categories)


def _added_bits(rows: Rows, categories: int) -> IntArray:
    """Add bits as bytes, no more than a byte can hold at a time."""
    counts = np.zeros(categories, np.int64)
    for start in range(0, len(rows), 255):
        bits = unpacked(rows[start : start + 255], categories)
        counts += np.add.reduce(bits, axis=0, dtype=np.uint8)
    return counts


def _bits_of_counted_bytes(rows: Rows, categories: int) -> IntArray:
    """Count how often each byte occurs at each place, then the bits of bytes."""
    counts = np.zeros((rows.shape[1], 256), np.int64)
    for start in range(0, len(rows), PIECE_ROWS):
        columns = rows[start : start + PIECE_ROWS].T.astype(np.int64, order="C")
        for place, column in enumerate(columns):
            counts[place] += np.bincount(column, minlength=256)
    found: IntArray = (counts @ BITS_OF_BYTE.astype(np.int64)).reshape(-1)[:categories]
    return found


def every_bitmap(categories: int, size: int | None = None) -> Rows:
    """Return every report, or every one with so many bits set."""
    sizes = range(categories + 1) if size is None else (size,)
    chosen = [each for count in sizes for each in combinations(range(categories), count)]
    bits = np.zeros((len(chosen), 8 * -(-categories // 8)), np.bool_)
    for row, each in zip(bits, chosen, strict=True):
        row[list(each)] = True
    return packed(bits)
