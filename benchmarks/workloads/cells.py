"""What was measured: one system on one workload and size, and all of a size."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks.workloads.distance import Distance
from benchmarks.workloads.questions import Workload
from benchmarks.workloads.running import Measured, Missing, Outcome
from benchmarks.workloads.systems import System


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One system on one workload and size."""

    system: System
    workload: Workload
    rows: int
    outcome: Outcome
    distance: Distance | None = None

    @property
    def place(self) -> tuple[str, str, int]:
        return self.system.name, self.workload.name, self.rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """All that was measured at one size; `preparing` is in seconds, of `discreet prepare`."""

    rows: int
    cut: float
    preparing: float
    preparing_peak: int | None
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """How many times as much as plain SQL on the same storage takes."""

    wall: float
    cpu: float


class Cells:
    """Cells by system, workload and size."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._by_place = {each.place: each for each in cells}

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._by_place.values())

    def outcome(self, system: System, workload: Workload, rows: int) -> Outcome | None:
        cell = self._by_place.get((system.name, workload.name, rows))
        return None if cell is None else cell.outcome

    def measured(self, system: System, workload: Workload, rows: int) -> Measured | None:
        found = self.outcome(system, workload, rows)
        return None if isinstance(found, Missing) else found

    def distance(self, system: System, workload: Workload, rows: int) -> Distance | None:
        cell = self._by_place.get((system.name, workload.name, rows))
        return None if cell is None else cell.distance

    def cost(self, system: System, workload: Workload, rows: int) -> Cost | None:
        """Return what a system takes, in times of its baseline in the same run."""
        theirs = self.measured(system, workload, rows)
        cell = self._by_place.get((system.baseline, workload.name, rows))
        if theirs is None or cell is None or isinstance(cell.outcome, Missing):
            return None
        raw = cell.outcome.best
        return Cost(wall=theirs.best.wall / raw.wall, cpu=theirs.best.cpu / raw.cpu)
