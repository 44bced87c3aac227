"""Choices that follow from a seed, so that what was found can be made again."""

from collections.abc import Sequence
from typing import TypeVar

from tests.replay import ReplayableEntropy

T = TypeVar("T")


class Choices:
    """Draws from a seed: the same seed makes the same question, on every machine."""

    def __init__(self, seed: str) -> None:
        self._entropy = ReplayableEntropy(seed)

    def below(self, number: int) -> int:
        """Return a whole number from 0 on and below another; the bias is below 2^-40."""
        return int.from_bytes(self._entropy.draw(8)) % number

    def one(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[self.below(len(options))]

    def is_one_of(self, number: int) -> bool:
        """Return True once in so many times."""
        return self.below(number) == 0
