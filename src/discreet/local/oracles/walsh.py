"""The fast Walsh-Hadamard transform, and parities of bits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.local.base import Rows
from discreet.noise.uniform import IntArray


def transformed(counts: IntArray) -> IntArray:
    """Return Σ_y counts[y] (-1)^(number of bits that x and y share), for each x.

    For 2**n counts it takes n · 2**n additions of whole numbers.
    """
    out = counts.copy()
    half = 1
    while half < len(out):
        pairs = out.reshape(-1, 2, half)
        low, high = pairs[:, 0].copy(), pairs[:, 1]
        pairs[:, 0] += high
        np.subtract(low, high, out=pairs[:, 1])
        half *= 2
    return out


def parities(words: NDArray[np.unsignedinteger[Any]]) -> Rows:
    """Return for each word whether the number of its set bits is odd."""
    found: Rows = np.bitwise_count(words) & np.uint8(1)
    return found
