"""Rows at random, the same for the same seed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.replay import ReplayableEntropy

Whole = NDArray[np.int64]


class Draw:
    """Numbers that look random, one by one or many at once."""

    def __init__(self, seed: str) -> None:
        self._entropy = ReplayableEntropy(seed)

    def shares(self, size: int) -> NDArray[np.float64]:
        """Return numbers from 0 to below 1."""
        drawn = np.frombuffer(self._entropy.draw(8 * size), np.uint64)
        return (drawn >> np.uint64(11)) / 2.0**53

    def many(self, end: int, size: int) -> Whole:
        """Return whole numbers below an end, all as frequent."""
        return (self.shares(size) * end).astype(np.int64)

    def few(self, end: int, size: int) -> Whole:
        """Return whole numbers below an end, of which the first are much more frequent."""
        return (self.shares(size) ** 4 * end).astype(np.int64)

    def flags(self, probability: float, size: int) -> NDArray[np.bool_]:
        return self.shares(size) < probability

    def below(self, end: int) -> int:
        return int(self.many(end, 1)[0])

    def is_so(self, probability: float) -> bool:
        return bool(self.flags(probability, 1)[0])

    def one(self, values: Sequence[Any]) -> Any:
        return values[self.below(len(values))]
