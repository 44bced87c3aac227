"""The frequency oracles that the tests of this folder go through."""

from collections.abc import Callable
from fractions import Fraction

from discreet.local import (
    FrequencyOracle,
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    SubsetSelection,
    UnaryEncoding,
)
from discreet.local.base import settle
from discreet.local.odds import WORD

Make = Callable[..., FrequencyOracle]

MAKERS: dict[str, Make] = {
    "k-ary": KaryResponse,
    "symmetric": UnaryEncoding.symmetric,
    "optimised": UnaryEncoding.optimised,
    "subset": SubsetSelection,
    "hashing": LocalHashing,
    "hadamard": HadamardResponse,
}

ROUNDED = {
    "k-ary": ("other", -1),
    "symmetric": ("other", -1),
    "optimised": ("other", -1),
    "subset": ("own", 1),
    "hashing": ("lie", -1),
    "hadamard": ("own", 1),
}
"""The field that was rounded to 64 bits, and the direction of less privacy."""


def rounded_wrongly(name: str, *, epsilon: Fraction, categories: int) -> FrequencyOracle:
    """Return a mechanism that tells the truth too often, by one word in 2**64."""
    mechanism = MAKERS[name](epsilon=epsilon, categories=categories)
    field, step = ROUNDED[name]
    settle(mechanism, **{field: getattr(mechanism, field) + Fraction(step, WORD)})
    return mechanism
