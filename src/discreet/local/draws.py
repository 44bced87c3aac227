"""Exact draws by whole words: every chance is a multiple of 2**-64, so comparisons decide.

All work is done in pieces that stay in the processor's cache.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.local.base import Rows
from discreet.local.odds import threshold
from discreet.noise import Entropy
from discreet.noise.uniform import BoolArray, IntArray, words

PIECE = 1 << 15
"""Words per pass: 256 KiB of them (benchmarks/local.py)."""

TAIL = (1 << 56) - 1


def coins(chance: Fraction, count: int, entropy: Entropy) -> BoolArray:
    """Flip coins that fall True with exactly this chance, a multiple of 2**-64.

    A byte decides unless it equals the first byte of the threshold; then 56 bits more do.
    """
    most = threshold(chance)
    if most == 1 << 64:
        return np.ones(count, np.bool_)
    first = np.uint8(most >> 56)
    u = words(count, np.uint8, entropy)
    fallen = u < first
    if tail := most & TAIL:
        ties = np.flatnonzero(u == first)
        fallen[ties] = (words(len(ties), np.uint64, entropy) >> np.uint64(8)) < np.uint64(tail)
    return fallen


def pick_or_keep(
    values: IntArray | Rows, categories: int, lie: Fraction, out: NDArray[Any], entropy: Entropy
) -> None:
    """Write each of `categories` values with exactly the chance `lie`, else the one held, to out.

    lie = m / 2**64. Word w stands for value ⌊w / m⌋ if that is one of them, and for the truth
    otherwise: one word, one division, no second try.
    """
    share, first_true = np.uint64(threshold(lie)), np.uint64(categories)
    named = np.empty(min(PIECE, len(values)), np.uint64)
    for start in range(0, len(values), PIECE):
        piece = values[start : start + PIECE]
        chosen = named[: len(piece)]
        np.floor_divide(words(len(piece), np.uint64, entropy), share, out=chosen)
        is_true = chosen >= first_true
        target = out[start : start + PIECE]
        target[...] = chosen
        np.copyto(target, piece, where=is_true, casting="unsafe")


def random_bits(
    count: int, bits: int, kind: np.dtype[np.unsignedinteger[Any]], entropy: Entropy
) -> Rows:
    """Draw uniform whole numbers of so many bits."""
    drawn: Rows = words(count, kind.type, entropy) & kind.type((1 << bits) - 1)
    return drawn
