"""Optimal mechanisms: the program that discreet and its peers are both timed on.

A count from 0 to n, ε = 1, all counts as likely, and every step away costs 1. Peers share this
module, so it needs NumPy and nothing else.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from json import dumps, loads
from math import inf
from time import process_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import yardstick

EPSILON = 1.0
SIZES = (20, 50, 100, 200)
TURNS = 3

Chances = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """CPU seconds of the fastest turn, the yardstick's, and what came out."""

    size: int
    seconds: float
    yardstick: float
    loss: float
    """The mean distance, as the chances have it."""
    epsilon: float
    """The largest log-odds under neighbours of the chances that came out."""


def solved(size: int, solve: Callable[[], Chances]) -> Solved:
    """Time a way to solve the program of one size, and judge what comes out."""
    seconds, ruler = inf, inf
    for _ in range(TURNS if size <= 50 else 1):
        start = process_time()
        chances = solve()
        seconds = min(seconds, process_time() - start)
        start = process_time()
        yardstick()
        ruler = min(ruler, process_time() - start)
    away = np.abs(np.subtract.outer(np.arange(size + 1), np.arange(size + 1)))
    return Solved(
        size=size,
        seconds=seconds,
        yardstick=ruler,
        loss=float((chances * away).sum() / (size + 1)),
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
