"""Run all workloads on all systems and sizes; tell at once who is missing, and why."""

import os
import sys
from dataclasses import dataclass

from benchmarks.report import Report, Say, power
from benchmarks.workloads.cells import Cell, Cells, Sized
from benchmarks.workloads.child import Rows
from benchmarks.workloads.data import Site, make_raw, make_site, share_cut, truths
from benchmarks.workloads.distance import Distance, distance_of_asks
from benchmarks.workloads.picture import draw
from benchmarks.workloads.preparing import prepared
from benchmarks.workloads.questions import WORKLOADS, Workload
from benchmarks.workloads.running import FAILED, Missing, Outcome, measure
from benchmarks.workloads.systems import FILES, MEMORY, PEERS, System
from benchmarks.workloads.tables import report_of

SIZES = (10**5, 10**6, 10**7)
QUICK_SIZES = (10**5, 10**6)
LIMIT = 120.0
QUICK_LIMIT = 20.0

MOST_IN_MEMORY = 10**7
"""Of larger tables only files are asked, by us and by plain SQL, and each may take its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How much is measured: sizes, seconds that each ask may take, and against whom."""

    sizes: tuple[int, ...] = SIZES
    limit: float = LIMIT
    peers: tuple[System, ...] = PEERS


ALL = Options()
QUICK = Options(sizes=QUICK_SIZES, limit=QUICK_LIMIT)


def run(say: Say, options: Options = ALL) -> Report:
    """Measure every size, from small to large, and draw the picture."""
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    sized: list[Sized] = []
    for rows in sorted(options.sizes):
        sized.append(_sized(say, rows, options, sized[-1] if sized else None))
    draw(Cells(cell for each in sized for cell in each.cells))
    return report_of(sized, busy=busy)


def _sized(say: Say, rows: int, options: Options, smaller: Sized | None) -> Sized:
    say(f"{power(rows)} rows: making the data")
    site = make_site(rows)
    make_raw(site)
    truth = truths(site)
    say(f"{power(rows)} rows: discreet prepare")
    seconds, peak = prepared(site.catalog)
    is_small = rows <= MOST_IN_MEMORY
    systems = (*MEMORY, *FILES, *options.peers) if is_small else FILES
    limit = options.limit if is_small else max(options.limit, LIMIT)
    cells = []
    for workload in WORKLOADS:
        for system in systems:
            say(f"{power(rows)} rows: {workload.name} by {system.name}")
            outcome = _outcome(system, workload, site, limit, smaller)
            tell(system, workload, rows, outcome)
            distance = _distance(workload, outcome, truth[workload.name])
            cells.append(
                Cell(
                    system=system,
                    workload=workload,
                    rows=rows,
                    outcome=outcome,
                    distance=distance,
                )
            )
    return Sized(
        rows=rows,
        cut=share_cut(site),
        preparing=seconds,
        preparing_peak=peak,
        cells=tuple(cells),
    )


def _outcome(
    system: System, workload: Workload, site: Site, limit: float, smaller: Sized | None
) -> Outcome:
    """Measure, unless that took too long on a smaller table or cannot be done at all."""
    if smaller is not None:
        before = Cells(smaller.cells).outcome(system, workload, smaller.rows)
        if isinstance(before, Missing) and before.words != FAILED:
            return before
    return measure(system, workload, site, limit)


def tell(system: System, workload: Workload, rows: int, outcome: Outcome) -> None:
    """Say at once what is missing, and why."""
    if isinstance(outcome, Missing):
        place = f"{system.name} is missing in {workload.name} at {power(rows)} rows"
        print(f"{place}: {outcome.reason}", file=sys.stderr)


def _distance(workload: Workload, outcome: Outcome, truth: Rows) -> Distance | None:
    if isinstance(outcome, Missing):
        return None
    return distance_of_asks(workload, [each.rows for each in outcome.asks], truth)
