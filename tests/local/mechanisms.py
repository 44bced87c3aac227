"""The mechanisms that the tests of this folder go through."""

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
from discreet.local.draws import WORD
from discreet.local.mechanism import freeze_fields

Make = Callable[..., FrequencyOracle]

MAKERS: dict[str, Make] = {
    "k-ary": KaryResponse,
    "symmetric": UnaryEncoding.symmetric,
    "optimized": UnaryEncoding.optimized,
    "subset": SubsetSelection,
    "hashing": LocalHashing,
    "hadamard": HadamardResponse,
}

ROUNDED = {
    "k-ary": ("q", -1),
    "symmetric": ("q", -1),
    "optimized": ("q", -1),
    "subset": ("p", 1),
    "hashing": ("lie", -1),
    "hadamard": ("p", 1),
}
"""The field that was rounded to 64 bits, and the direction of less privacy."""


def rounded_wrongly(name: str, *, epsilon: Fraction, categories: int) -> FrequencyOracle:
    """Return a mechanism that reports the truth too often, by one word in 2**64."""
    mechanism = MAKERS[name](epsilon=epsilon, categories=categories)
    field, step = ROUNDED[name]
    freeze_fields(mechanism, **{field: getattr(mechanism, field) + Fraction(step, WORD)})
    return mechanism
