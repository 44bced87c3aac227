"""Streams: counts and sums that are released tick by tick and charged once."""

from typing import TYPE_CHECKING

from discreet.on_use import names_of

if TYPE_CHECKING:
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

_MODULES = {
    "buffered": "BufferedStream BufferedToeplitz",
    "choice": "best_mechanism",
    "mechanism": "StreamMechanism",
    "square_root": "SquareRoot",
    "subtraction_tree": "NodeNoise SubtractionTree",
    "tree": "Tree",
}
"""The modules, and the public names that each gives."""

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, _MODULES)
