"""The cases that discreet and its peers are both measured on."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from itertools import product
from json import dumps, loads

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Case, Run, Timing, time_slow_case

LAWS = ("laplace", "gaussian")
SCALES = (1, 10, 1000, 10**6)
SIZES = (1, 100, 10**4, 10**6)

NOISE = tuple(Case(*case) for case in product(LAWS, SCALES, SIZES))
ONE_DRAW = tuple(Case(f"one {law}", scale, 1) for law, scale in product(LAWS, SCALES))

SELECTORS = ("exponential", "permute-and-flip")
CANDIDATES = (10, 10**3, 10**5, 10**6)
CHOICES = tuple(Case(selector, 20, size) for selector, size in product(SELECTORS, CANDIDATES))

PEER_SECONDS = 0.5


def scores(size: int) -> NDArray[np.int64]:
    """Return the candidates' scores, the same in every process."""
    return np.random.default_rng(1).normal(0, 100, size).astype(np.int64)


def tell(cases: Iterable[Case], make: Callable[[Case, int], Run]) -> None:
    """Time a peer on each case and write each timing as a line of JSON."""
    for case in cases:
        print(dumps(asdict(time_slow_case(case, make, PEER_SECONDS))), flush=True)


def timing_from_line(line: str) -> Timing:
    """Return the timing that `tell` wrote."""
    record = loads(line)
    return Timing(**{**record, "case": Case(**record["case"])})
