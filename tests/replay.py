"""A replayable source for tests: the same seed, the same bytes. Nothing in the product knows it."""

from hashlib import shake_128


class ReplayableEntropy:
    """Bytes that follow from a seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._block = 0

    def draw(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        self._block += 1
        return shake_128(f"{self._seed}/{self._block}".encode()).digest(count)
