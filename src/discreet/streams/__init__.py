"""Streams: counts and sums that are released tick by tick and charged once."""

from discreet.streams.mechanism import StreamMechanism
from discreet.streams.square_root import SquareRoot

__all__ = [
    "SquareRoot",
    "StreamMechanism",
]
