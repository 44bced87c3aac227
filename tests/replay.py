"""A replayable source for tests: the same seed, the same bytes. Nothing in the product knows it."""

from hashlib import shake_128
from itertools import count as counting


class ReplayableEntropy:
    """Bytes that follow from a seed; threads that share one never get the same bytes."""

    def __init__(self, seed: int | str) -> None:
        self._seed = seed
        self._blocks = counting(1)

    def draw(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        return shake_128(f"{self._seed}/{next(self._blocks)}".encode()).digest(count)
