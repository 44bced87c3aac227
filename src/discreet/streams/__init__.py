"""Streams: counts and sums that are released tick by tick and charged once."""

from discreet.streams.buffered import BufferedStream, BufferedToeplitz
from discreet.streams.choice import best_mechanism
from discreet.streams.mechanism import StreamMechanism
from discreet.streams.square_root import SquareRoot
from discreet.streams.subtraction_tree import NodeNoise, SubtractionTree
from discreet.streams.tree import Tree

__all__ = [
    "BufferedStream",
    "BufferedToeplitz",
    "NodeNoise",
    "SquareRoot",
    "StreamMechanism",
    "SubtractionTree",
    "Tree",
    "best_mechanism",
]
