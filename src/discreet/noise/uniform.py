"""Uniform words, uniform reals with endless bits, uniform integers and permutations."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.noise.enclosures import Enclosure
from discreet.noise.source import SYSTEM, Entropy
from discreet.parameters import integer

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)

CHUNK = 1 << 13
"""Draws per pass: 64 KiB temporaries stay in cache and on the heap (benchmarks/chunks.py)."""


def words(count: int, kind: type[Scalar], entropy: Entropy) -> NDArray[Scalar]:
    """Return `count` uniform machine words."""
    return np.frombuffer(entropy.draw(count * np.dtype(kind).itemsize), kind)


def fill(size: int, kind: type[Scalar], draw: Callable[[int], NDArray[Any]]) -> NDArray[Scalar]:
    """Return `size` draws made in cache-sized pieces; draw(m) gives at most m of them."""
    out = np.empty(size, kind)
    have = 0
    while have < size:
        piece = draw(min(CHUNK, size - have))
        out[have : have + len(piece)] = piece
        have += len(piece)
    return out


class LazyUniform:
    """A uniform real U in [0, 1): its first bits are drawn, and more when a comparison needs them.

    U lies in [drawn, drawn + 1) / 2**bits.
    """

    __slots__ = ("bits", "drawn", "entropy")

    def __init__(self, entropy: Entropy, drawn: int = 0, bits: int = 0) -> None:
        self.entropy = entropy
        self.drawn = drawn
        self.bits = bits

    def is_below(self, p: Enclosure) -> bool:
        """Decide U < p exactly; ends with probability 1."""
        while True:
            low, high = p(self.bits)
            if self.drawn < low:
                return True
            if self.drawn >= high:
                return False
            self.refine()

    def refine(self) -> None:
        """Draw 64 more bits of U."""
        self.drawn = self.drawn << 64 | int.from_bytes(self.entropy.draw(8), "big")
        self.bits += 64


@overload
def uniform_integers(below: int, size: None = None, *, entropy: Entropy = SYSTEM) -> int: ...
@overload
def uniform_integers(below: int, size: int, *, entropy: Entropy = SYSTEM) -> IntArray: ...
def uniform_integers(
    below: int, size: int | None = None, *, entropy: Entropy = SYSTEM
) -> int | IntArray:
    """Draw integers uniform on {0, …, below - 1}, below ≤ 2**63.

    A word of b bits divided by ⌊2**b / below⌋ hits each value equally often; what lies beyond
    is drawn again (von Neumann 1951).
    """
    below = integer("below", below, least=1, most=1 << 63)
    bits = 32 if below <= 1 << 16 else 64
    share = (1 << bits) // below

    def draw(count: int) -> NDArray[Any]:
        if below == 1:
            return np.zeros(count, np.int64)
        found: NDArray[Any] = words(count, np.uint32 if bits == 32 else np.uint64, entropy)
        found = found // found.dtype.type(share)
        return found if found.max() < below else found[found < below]

    if size is not None:
        return fill(checked_size(size), np.int64, draw)
    while True:
        one = int.from_bytes(entropy.draw(8), "big") >> 64 - bits
        if one // share < below:
            return one // share


def permutation(size: int, *, entropy: Entropy = SYSTEM) -> IntArray:
    """Draw a uniform order of 0, …, size - 1: sort random keys, drawn again if two are equal."""
    size = checked_size(size)
    while True:
        keys = words(size, np.uint64, entropy)
        order = np.argsort(keys)
        ranked = keys[order]
        if not np.any(ranked[1:] == ranked[:-1]):
            return order


def checked_size(size: object) -> int:
    """Return how many draws are asked for."""
    return integer("size", size, least=0)


def checked_integers(name: str, values: object) -> IntArray:
    """Return values as a flat array of 64-bit integers, or raise `ParameterError`."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or array.ndim != 1 or array.dtype == np.uint64:
        raise ParameterError(name, array.dtype, "must be a flat array of 64-bit integers")
    return array.astype(np.int64, copy=False)
