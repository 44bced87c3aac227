"""Local privacy as a few lines of NumPy: insecure random numbers, floats that decide."""

from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.local_cases import EPSILON, Count, Report, Values, chances
from benchmarks.timing import INSECURE

Array = NDArray[Any]
PIECE = 1 << 16


def way(protocol: str, categories: int) -> tuple[Report, Count]:
    """Return the two halves of a protocol."""
    p, q = chances(protocol, categories)

    def estimate(spoken_for: Array, people: int) -> NDArray[np.float64]:
        return np.asarray((spoken_for - people * q) / (p - q))

    match protocol:
        case "k-ary":
            return (
                lambda values: _responses(values, categories, p),
                lambda reports, n: estimate(np.bincount(reports, minlength=categories), n),
            )
        case "SUE" | "OUE":
            return (
                lambda values: _in_pieces(values, categories, lambda v: _bits(v, categories, p, q)),
                lambda reports, n: estimate(_column_sums(reports, categories), n),
            )
        case "subset":
            return (
                lambda values: _in_pieces(values, categories, lambda v: _sets(v, categories, p)),
                lambda reports, n: estimate(_column_sums(reports, categories), n),
            )
        case "OLH":
            return (
                _hashed,
                lambda reports, n: estimate(_supports(reports[0], reports[1], categories), n),
            )
        case _:
            return (
                lambda values: _columns(values, categories, p),
                lambda reports, n: estimate(_signs(reports, categories, n), n),
            )


def _responses(values: Values, categories: int, p: float) -> Array:
    kept = INSECURE.random(len(values)) < p
    other = INSECURE.integers(0, categories - 1, len(values))
    other += other >= values
    return np.where(kept, values, other)


def _in_pieces(values: Values, categories: int, draw: Any) -> list[Array]:
    step = max(1, 100 * PIECE // categories)
    return [draw(values[start : start + step]) for start in range(0, len(values), step)]


def _bits(values: Values, categories: int, p: float, q: float) -> Array:
    bits = INSECURE.random((len(values), categories), dtype=np.float32) < q
    bits[np.arange(len(values)), values] = INSECURE.random(len(values)) < p
    return np.packbits(bits, axis=1)


def _sets(values: Values, categories: int, p: float) -> Array:
    size = round(categories / (exp(EPSILON) + 1))
    keys = INSECURE.random((len(values), categories), dtype=np.float32)
    keys[np.arange(len(values)), values] = np.where(INSECURE.random(len(values)) < p, -1, 2)
    chosen = np.argpartition(keys, size, axis=1)[:, :size]
    bits = np.zeros((len(values), categories), np.bool_)
    np.put_along_axis(bits, chosen, values=True, axis=1)
    return np.packbits(bits, axis=1)


def _column_sums(reports: list[Array], categories: int) -> Array:
    sums = np.zeros(categories, np.int64)
    for each in reports:
        sums += np.unpackbits(each, axis=1, count=categories).sum(axis=0, dtype=np.int64)
    return sums


def _hash(values: Array, seeds: Array) -> Array:
    """Splitmix64, cut to four hashes."""
    z = (values + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) ^ seeds
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    return np.asarray(z >> np.uint64(62))


def _hashed(values: Values) -> tuple[Array, Array]:
    seeds = INSECURE.integers(0, 2**63, len(values), dtype=np.uint64)
    hashes = _hash(values.astype(np.uint64), seeds).astype(np.int64)
    e = exp(EPSILON)
    return seeds, _responses(hashes, 4, e / (e + 3)).astype(np.uint64)


def _supports(seeds: Array, answers: Array, categories: int) -> Array:
    return np.array(
        [
            np.count_nonzero(_hash(np.array([value], np.uint64), seeds) == answers)
            for value in range(categories)
        ]
    )


def _columns(values: Values, categories: int, p: float) -> Array:
    lines = values + 1
    columns = INSECURE.integers(0, 1 << categories.bit_length(), len(values))
    is_minus = INSECURE.random(len(values)) >= p
    is_wrong = (np.bitwise_count(columns & lines) & 1) != is_minus
    return np.where(is_wrong, columns ^ (lines & -lines), columns)


def _signs(reports: Array, categories: int, people: int) -> Array:
    size = 1 << categories.bit_length()
    out = np.bincount(reports, minlength=size).astype(float)
    half = 1
    while half < size:
        out = out.reshape(-1, 2, half)
        out = np.stack([out[:, 0] + out[:, 1], out[:, 0] - out[:, 1]], 1).reshape(-1)
        half *= 2
    return np.asarray((people + out[1 : categories + 1]) / 2)
