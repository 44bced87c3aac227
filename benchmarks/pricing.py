"""Epsilon and CPU time of one accountant on one workload, written by peers and read by us."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.compositions import Workload
from benchmarks.timing import YARDSTICK, fastest, yardstick

SECONDS = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """What an accountant found; `epsilon` is None where it refuses the workload."""

    workload: str
    accountant: str
    epsilon: float | None
    seconds: float
    yardstick_seconds: float


def make_pricing(workload: Workload, accountant: str, price: Callable[[], float | None]) -> Pricing:
    """Price a workload several times, in turns with the yardstick, and keep the fastest."""
    found = fastest({"price": price, YARDSTICK: yardstick}, SECONDS)
    return Pricing(
        workload=workload.name,
        accountant=accountant,
        epsilon=price(),
        seconds=found["price"],
        yardstick_seconds=found[YARDSTICK],
    )


def times_faster(ours: Pricing, theirs: Pricing) -> float:
    """Return how many times as fast ours is, each measured in yardsticks of its own process."""
    return (theirs.seconds / theirs.yardstick_seconds) / (ours.seconds / ours.yardstick_seconds)
