"""The mechanisms that the tests of this folder go through."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.local import (
    BitFlips,
    CountMeanSketch,
    Discovery,
    Duchi,
    FrequencyOracle,
    HadamardResponse,
    HadamardSketch,
    HeavyHitters,
    Hybrid,
    KaryResponse,
    LocalHashing,
    Piecewise,
    Rappor,
    SquareWave,
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


RAPPOR = Rappor(bits=32, hashes=2, cohorts=16, f=0.25, p=0.25, q=0.75)

EVERY: list[tuple[Any, list[Any], dict[str, Any]]] = [
    *((make(epsilon=1, categories=4), [0, 3, 3], {}) for make in MAKERS.values()),
    *((make(epsilon=1), [-1.0, 0, 0.25], {}) for make in (Duchi, Piecewise, Hybrid)),
    (SquareWave(epsilon=1), [0.0, 0.5, 1], {"resamples": 2}),
    (CountMeanSketch(epsilon=1), ["ab", b"ab", 5], {"words": ["ab", "cd"]}),
    (HadamardSketch(epsilon=1), ["ab", b"ab", 5], {"words": ["ab", "cd"]}),
    (HeavyHitters(epsilon=1, length=3), ["ab", "abc", ""], {"most": 3}),
    (RAPPOR, ["ab", "", "abc"], {"texts": ["ab", "cd"]}),
    (Discovery(RAPPOR, alphabet="abc", length=3), ["ab", "", "abc"], {"candidates": 5}),
    (BitFlips(epsilon=1, buckets=8, asked=3), [0, 7, 7], {}),
]
"""Every mechanism, values that three people hold, and what its estimates take besides."""
