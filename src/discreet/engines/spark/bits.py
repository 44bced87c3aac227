"""Sets of units as a row of bits: what leaves Spark is as long for any data, and names no unit.

A unit whose hash falls on a bit that is set may be one of the set; any other one is not.
"""

# ruff: noqa: S608 - this file writes SQL of our own names and of numbers

from collections.abc import Sequence

WORD = 64
"""Bits of an integer."""


def words_text(units: str, most: int, sums: Sequence[str]) -> str:
    """Return a statement of one row: `words` of so many bits, and sums.

    `units` are rows with the hash `h` of a unit, whether it `is_in` the set, and what is summed.
    """
    each = (
        f"SELECT {_word_of('h', most)} AS w, "
        f"CASE WHEN is_in THEN shiftleft(1L, {_bit_of('h')}) ELSE 0L END AS m, {', '.join(sums)} "
        f"FROM ({units}) AS hashed "
        # A word without units is there too: how many there are does not tell of the units.
        f"UNION ALL SELECT CAST(id AS INT), 0L{', 0L' * len(sums)} FROM range({most // WORD})"
    )
    added = ", ".join(f"sum({each}) AS {each}" for each in sums)
    words = f"SELECT w, bit_or(m) AS m, {added} FROM ({each}) AS spread GROUP BY w"
    # The sums of a word, where there may be one unit alone, are added up before they leave.
    return (
        "SELECT transform(sort_array(collect_list(struct(w, m))), x -> x.m) AS words, "
        f"{added} FROM ({words}) AS every"
    )


def is_set(words: str, hashed: str, most: int) -> str:
    """Return the condition that a hash's bit of an array of words is set."""
    return f"((shiftright({words}[{_word_of(hashed, most)}], {_bit_of(hashed)}) & 1L) = 1L)"


def _word_of(hashed: str, most: int) -> str:
    """Return the number of the word that has a hash's bit."""
    return f"CAST(shiftright({hashed} & {most - 1}, 6) AS INT)"


def _bit_of(hashed: str) -> str:
    """Return the number of a hash's bit in its word."""
    return f"CAST({hashed} & {WORD - 1} AS INT)"
