"""CPU time of single runs, taken in turns so that all runs share the machine's moods.

This module is all that peers share with us, so it needs NumPy and nothing else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from statistics import median
from time import perf_counter, process_time
from typing import TypeAlias

import numpy as np

Run: TypeAlias = Callable[[], object]

BATCH_SECONDS = 5e-4
"""A run shorter than this is repeated in one measurement, to stand above the clock's own cost."""

TURN_SECONDS = 0.02
"""A turn lasts at least this long, so that caches left cold by the run before do not count."""

TURNS_LEAST = 3

YARDSTICK = "yardstick"
YARDSTICK_SIZE = 10**6

SLOW_RUN_SECONDS = 1.0
"""A peer's run that would take longer is timed at a smaller size."""

PROBE_SIZE = 1000

INSECURE = np.random.default_rng()


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to measure: a law or a choice, its scale, how many draws or candidates."""

    what: str
    scale: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The fastest run of a case, and of the yardstick in the same process and the same minute."""

    case: Case
    timed_size: int
    seconds: float
    yardstick_seconds: float

    @property
    def each(self) -> float:
        """Seconds per draw or candidate."""
        return self.seconds / self.timed_size

    @property
    def in_yardsticks(self) -> float:
        return self.each / self.yardstick_seconds


def times_faster(ours: Timing, theirs: Timing) -> float:
    """Return how many times as fast ours is, whichever processes the two ran in."""
    return theirs.in_yardsticks / ours.in_yardsticks


def time_case(case: Case, runs: Mapping[str, Run], seconds: float) -> dict[str, Timing]:
    """Time several ways to do the same thing, and the yardstick, in turns."""
    found = fastest({**runs, YARDSTICK: yardstick}, seconds)
    return {
        name: Timing(
            case=case,
            timed_size=case.size,
            seconds=found[name],
            yardstick_seconds=found[YARDSTICK],
        )
        for name in runs
    }


def time_slow_case(case: Case, make: Callable[[Case, int], Run], seconds: float) -> Timing:
    """Time a peer, at the largest power of ten up to the case's size that takes bearable time."""
    size = case.size
    probe = min(size, PROBE_SIZE)
    expected = fastest({"probe": make(case, probe)}, 0)["probe"] / probe
    while size > probe and size * expected > SLOW_RUN_SECONDS:
        size //= 10
    found = fastest({"run": make(case, size), YARDSTICK: yardstick}, seconds)
    return Timing(
        case=case,
        timed_size=size,
        seconds=found["run"],
        yardstick_seconds=found[YARDSTICK],
    )


def fastest(runs: Mapping[str, Run], seconds: float) -> dict[str, float]:
    """Return the least CPU seconds of each run, repeating all in turns for about `seconds`."""
    best = dict.fromkeys(runs, inf)
    end = perf_counter() + seconds
    turns = 0
    while turns < TURNS_LEAST or perf_counter() < end:
        turns += 1
        for name, run in runs.items():
            best[name] = min(best[name], _fastest_of_turn(run))
    return best


def usual(run: Run, seconds: float) -> float:
    """Return the median CPU seconds of a run: unlike the least, it counts what happens often."""
    found: list[float] = []
    end = perf_counter() + seconds
    while len(found) < TURNS_LEAST or perf_counter() < end:
        found.append(_timed(run, 1))
    return median(found)


def yardstick() -> object:
    """Do the work that every process times, to compare processes by."""
    return INSECURE.laplace(0.0, 1.0, YARDSTICK_SIZE)


def _fastest_of_turn(run: Run) -> float:
    best = _timed(run, 1)
    end = perf_counter() + TURN_SECONDS - best
    while perf_counter() < end:
        best = min(best, _timed(run, 1 + int(BATCH_SECONDS / best)))
    return best


def _timed(run: Run, loops: int) -> float:
    start = process_time()
    for _ in range(loops):
        run()
    return (process_time() - start) / loops
