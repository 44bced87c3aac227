"""The report: one table of times for each size, then memory, errors, opening and targets."""

from collections.abc import Callable, Iterable, Sequence

from benchmarks.report import Report, Table, Target, power, ratio, short
from benchmarks.workloads.cells import Cells, Sized
from benchmarks.workloads.questions import DELTA, EPSILON, ROWS_PER_UNIT, WORKLOADS, Workload
from benchmarks.workloads.running import Measured, Missing
from benchmarks.workloads.systems import OURS, OURS_COPY, RAW_IN_FILE, RAW_IN_MEMORY, System

NAME = "workloads"

COST_WANTED = 2.0
"""The most that COUNT, SUM and AVG by public keys shall take, in times of plain SQL."""

Showing = Callable[[System, Workload], str]


def report_of(sized: Sequence[Sized], *, busy: float | None) -> Report:
    """Return all tables, and how far the targets were met."""
    tables = [table for each in sized for table in _tables(each)]
    return Report(
        name=NAME,
        tables=[*tables, _opening(sized, busy)],
        targets=[target for each in sized for target in _targets(each)],
    )


def _tables(sized: Sized) -> Iterable[Table]:
    cells, rows = Cells(sized.cells), sized.rows
    names = {each.system.name: each.system for each in sized.cells}
    systems = list(names.values())

    def table(title: str, showing: Showing, *notes: str) -> Table:
        return Table(
            title=f"{power(rows)} rows: {title}",
            columns=("workload", *names),
            rows=[
                (f"{each.name} {each.title}", *(showing(system, each) for system in systems))
                for each in WORKLOADS
            ],
            notes=notes,
        )

    def wall(system: System, workload: Workload) -> str:
        found, cost = cells.outcome(system, workload, rows), cells.cost(system, workload, rows)
        if not isinstance(found, Measured):
            return _words(found)
        seconds = short(found.best.wall * 1e3)
        return seconds if cost is None or _is_raw(system) else f"{seconds} ({ratio(cost.wall)})"

    def cpu(system: System, workload: Workload) -> str:
        found, cost = cells.measured(system, workload, rows), cells.cost(system, workload, rows)
        if found is None or cost is None:
            return "–"
        return short(found.best.cpu * 1e3) if _is_raw(system) else ratio(cost.cpu)

    def memory(system: System, workload: Workload) -> str:
        found = cells.measured(system, workload, rows)
        peak = None if found is None else found.asking_peak
        return "–" if peak is None else short(peak / 1e6)

    def error(system: System, workload: Workload) -> str:
        found = cells.distance(system, workload, rows)
        if found is None:
            return "–"
        shown = "" if found.shown == 1 else f" ({short(100 * found.shown, 2)} % shown)"
        return ("–" if found.error is None else f"{_percent(found.error)} %") + shown

    yield table(
        "wall ms of the best of three runs (times of the same SQL without privacy)",
        wall,
        *_reasons(sized),
    )
    yield table("CPU, in times of the same SQL without privacy (that in ms)", cpu)
    yield table("peak memory during queries, the data included: MB", memory)
    yield table(
        f"median relative error at ε = {EPSILON}, δ = {DELTA:g}",
        error,
        f"Compared with the average result of a limit of {ROWS_PER_UNIT} rows per unit. "
        f"Of all rows, {sized.cut:.2%} are beyond that limit, for every system.",
    )


def _percent(share: float) -> str:
    """Return two digits; nothing where floats differ in their last digits only."""
    return "0" if share < 1e-9 else short(100 * share, 2)


def _is_raw(system: System) -> bool:
    return system in {RAW_IN_MEMORY, RAW_IN_FILE}


def _words(found: Missing | None) -> str:
    return "–" if found is None else found.words


def _reasons(sized: Sized) -> list[str]:
    """Return one line for each reason why figures are missing."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in sized.cells:
        if isinstance(each.outcome, Missing):
            key = each.system.name, each.outcome.reason
            found.setdefault(key, []).append(each.workload.name)
    return [
        f"{name}, {', '.join(workloads)}: {reason}." for (name, reason), workloads in found.items()
    ]


def _opening(sized: Sequence[Sized], busy: float | None) -> Table:
    """Return what is done once: the median over the children of a system."""
    names = list(dict.fromkeys(each.system.name for one in sized for each in one.cells))
    rows = []
    for one in sized:
        found: dict[str, list[float]] = {}
        for each in one.cells:
            if isinstance(each.outcome, Measured):
                found.setdefault(each.system.name, []).append(each.outcome.opening)
        least = [short(min(found[name])) if name in found else "–" for name in names]
        peak = "–" if one.preparing_peak is None else short(one.preparing_peak / 1e6)
        rows.append((power(one.rows), *least, short(one.preparing), peak))
    load = "" if busy is None else f" The machine's load was {busy:.1f} before this run."
    return Table(
        title="Opening the data, once: seconds",
        columns=("rows", *names, "discreet prepare", "its peak MB"),
        rows=rows,
        notes=[
            f"The fastest of all processes. discreet, copy opens what discreet prepare made.{load}"
        ],
    )


def _targets(sized: Sized) -> Iterable[Target]:
    cells, rows = Cells(sized.cells), sized.rows
    by_keys = WORKLOADS[1]
    for system in (OURS, OURS_COPY):
        cost = cells.cost(system, by_keys, rows)
        yield Target(
            sentence=f"W2 at {power(rows)} rows, {system.name}, times plain SQL",
            measured=None if cost is None else cost.wall,
            unit="×",
            most=COST_WANTED,
        )
    lead = _least_lead(cells, rows)
    if lead is not None:
        yield Target(
            sentence=f"ahead of the next peer at {power(rows)} rows, in the closest workload",
            measured=lead,
            unit="×",
            least=1.0,
        )


def _least_lead(cells: Cells, rows: int) -> float | None:
    """Return how many times as fast as the fastest peer we are where that is least."""
    leads = []
    for each in cells:
        ours = cells.measured(OURS, each.workload, rows)
        if each.system.peer is not None and isinstance(each.outcome, Measured) and ours is not None:
            leads.append(each.outcome.best.wall / ours.best.wall)
    return min(leads, default=None)
