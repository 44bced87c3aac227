"""Streams: counts and sums that are released tick by tick and charged once."""

from typing import Any

from discreet.streams.mechanism import StreamMechanism
from discreet.streams.square_root import SquareRoot


class Tree(SquareRoot):
    """To come."""

    arity = 2

    @classmethod
    def best(cls, **terms: Any) -> SquareRoot:
        """To come."""
        return SquareRoot(**terms)


class BufferedToeplitz(SquareRoot):
    """To come."""

    decays = weights = ()


def best_mechanism(**terms: Any) -> SquareRoot:
    """To come."""
    return SquareRoot(**terms)


__all__ = [
    "BufferedToeplitz",
    "SquareRoot",
    "StreamMechanism",
    "Tree",
    "best_mechanism",
]
