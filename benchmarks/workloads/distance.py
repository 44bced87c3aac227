"""How far an answer is from the truth: what the same limits leave, on average, without noise."""

from dataclasses import dataclass
from statistics import median

from benchmarks.workloads.child import Rows
from benchmarks.workloads.questions import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """The median relative error of the numbers shown, and the share of groups that are."""

    error: float | None
    shown: float


def distance(workload: Workload, answer: Rows, truth: Rows) -> Distance:
    """Return how far an answer's numbers are from the truth, group by group.

    A row with a value that too few rows support, NULL, is not shown.
    """
    whole = [row for row in answer if None not in row[workload.keys :]]
    given, exact = _by_key(workload, whole), _by_key(workload, truth)
    common = given.keys() & exact.keys()
    errors = [
        abs(number - right) / abs(right)
        for key in common
        for number, right in zip(given[key], exact[key], strict=True)
        if right
    ]
    return Distance(error=median(errors) if errors else None, shown=len(common) / len(exact))


def distance_of_asks(workload: Workload, answers: list[Rows], truth: Rows) -> Distance:
    """Return the medians over several asks."""
    found = [distance(workload, each, truth) for each in answers]
    errors = [each.error for each in found if each.error is not None]
    return Distance(
        error=median(errors) if errors else None, shown=median(each.shown for each in found)
    )


def _by_key(workload: Workload, rows: Rows) -> dict[tuple[str, ...], list[float]]:
    keys = workload.keys
    return {tuple(map(str, row[:keys])): list(map(float, row[keys:])) for row in rows}
