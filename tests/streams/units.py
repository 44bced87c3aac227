"""Made-up streams and units for tests, from a seed."""

from collections.abc import Iterator

import numpy as np

from discreet.noise import permutation, uniform_integers
from discreet.noise.uniform import IntArray
from tests.replay import ReplayableEntropy


def numbers(seed: int, low: int, high: int, *shape: int) -> IntArray:
    """Return integers from low to high - 1."""
    drawn = uniform_integers(high - low, int(np.prod(shape)), entropy=ReplayableEntropy(seed))
    return drawn.reshape(shape) + low


def units(
    seed: int,
    *,
    trials: int,
    ticks: int,
    cells: int,
    rows: int,
    per_tick: int,
    magnitude: int,
) -> Iterator[IntArray]:
    """Yield what units add to a stream: rows in random ticks and cells, some with random signs."""
    entropy = ReplayableEntropy(seed)
    room = np.repeat(np.arange(ticks), min(per_tick, rows))
    for trial in range(trials):
        # Most units are early ones, because those move the record most.
        early = room[: max(rows, len(room) // (1 + trial % 5))]
        places = early[permutation(len(early), entropy=entropy)][:rows]
        added = np.zeros((ticks, cells), np.int64)
        for tick in places:
            sign = 2 * uniform_integers(2, entropy=entropy) - 1 if trial % 2 else 1
            cell = uniform_integers(1 + trial % cells, entropy=entropy)
            added[tick, cell] += sign * magnitude
        yield added


def worst_unit(ticks: int, cells: int, rows: int, per_tick: int, magnitude: int) -> IntArray:
    """Return the unit that has as many rows as it may in each of the first ticks."""
    added = np.zeros((ticks, cells), np.int64)
    for row in range(min(rows, per_tick * ticks)):
        added[row // per_tick, 0] += magnitude
    return added


def squared_length(moved: IntArray) -> int:
    """Return the exact sum of squares."""
    return sum(int(each) ** 2 for each in moved.flat)
