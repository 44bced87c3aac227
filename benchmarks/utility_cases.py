"""Optimal mechanisms: the programs that discreet and its peers are both timed on.

A count from 0 to n, ε = 1, all counts as likely, and every step away costs 1; or another loss.
Peers share this module, so it needs NumPy and nothing else.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from json import dumps, loads
from math import inf
from time import process_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import yardstick

EPSILON = 1.0
SIZES = (20, 50, 100, 200)
TURNS = 10

Chances = NDArray[np.float64]

Loss = Callable[[int, int], float]

DISTANCE = "distance"

LOSSES: Mapping[str, Loss] = {
    DISTANCE: lambda w, y: float(abs(w - y)),
    "parity": lambda w, y: float((w - y) % 2),
    "distance, and 20 if odd": lambda w, y: float(abs(w - y) + 20 * ((w - y) % 2)),
}
"""The geometric mechanism with the best remap is optimal for the first alone."""

OTHER_SIZE = 50


def cases() -> Iterator[tuple[str, int]]:
    """Yield every loss with a size."""
    for size in SIZES:
        yield DISTANCE, size
    for name in LOSSES:
        if name != DISTANCE:
            yield name, OTHER_SIZE


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """CPU seconds of the fastest turn, the yardstick's, and what came out."""

    name: str
    """Of the loss."""
    size: int
    seconds: float
    yardstick: float
    loss: float
    """The mean loss, as the chances have it."""
    epsilon: float
    """The largest log-odds under neighbours of the chances that came out."""


def solved(name: str, size: int, solve: Callable[[], Chances]) -> Solved:
    """Time a way to solve the program of one loss and size, and judge what comes out."""
    seconds, ruler = inf, inf
    for _ in range(TURNS if size <= 50 else 1):
        start = process_time()
        chances = solve()
        seconds = min(seconds, process_time() - start)
        start = process_time()
        yardstick()
        ruler = min(ruler, process_time() - start)
    answers = range(size + 1)
    losses = np.array([[LOSSES[name](w, y) for w in answers] for y in answers])
    return Solved(
        name=name,
        size=size,
        seconds=seconds,
        yardstick=ruler,
        loss=float((chances * losses).sum() / (size + 1)),
        epsilon=worst_epsilon(chances),
    )


def worst_epsilon(chances: Chances) -> float:
    """Return the largest log-odds under neighbours; infinite for a zero beside a positive."""
    here = np.concatenate([chances[:-1], chances[1:]])
    there = np.concatenate([chances[1:], chances[:-1]])
    is_open = here > 0
    if (there[is_open] <= 0).any():
        return inf
    return float(np.log(here[is_open] / there[is_open]).max())


def line_from(found: Solved) -> str:
    return dumps(asdict(found))


def solved_from(line: str) -> Solved:
    return Solved(**loads(line))
