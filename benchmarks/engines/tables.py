"""The report: times, CPU, memory and errors for each size, then growth, opening, ticks, targets."""

from collections.abc import Callable, Iterable

from benchmarks.engines.growth import exponent, last_exponent, points
from benchmarks.engines.kept import Kept
from benchmarks.engines.systems import STORAGES
from benchmarks.report import Figure, Report, Table, Target, power, ratio, short
from benchmarks.workloads.cells import Cells
from benchmarks.workloads.questions import DELTA, EPSILON, WORKLOADS, Workload
from benchmarks.workloads.running import Measured, Missing
from benchmarks.workloads.systems import System

NAME = "engines"

LARGEST_WANTED = 10**7
"""The size at which targets are judged, or the largest below it."""

TICK_WANTED = 2.0
"""The most that a tick shall take, in times of the plain GROUP BY."""

Showing = Callable[[System, Workload], str]


def report_of(kept: Kept) -> Report:
    """Return all tables, and how far the targets were met."""
    cells = Cells(kept.cells)
    sizes = sorted({each.rows for each in cells})
    tables = [table for rows in sizes for table in _tables(cells, rows, kept)]
    return Report(
        name=NAME,
        tables=[
            *tables,
            _growth(cells),
            _opening(cells),
            _first(cells),
            _preparing(kept),
            *_ticks(kept),
        ],
        targets=[*_targets(cells), *_tick_targets(kept)],
    )


def _asked(cells: Cells, rows: int | None = None) -> list[System]:
    """Return the systems of which something is known, in their order."""
    known = {each.system.name for each in cells if rows in (None, each.rows)}
    return [each for storage in STORAGES for each in storage.systems if each.name in known]


def _tables(cells: Cells, rows: int, kept: Kept) -> Iterable[Table]:
    systems = _asked(cells, rows)
    names = {each.workload.name for each in cells if each.rows == rows}
    workloads = [each for each in WORKLOADS if each.name in names]

    def table(title: str, showing: Showing, *notes: str) -> Table:
        return Table(
            title=f"Engines, {power(rows)} rows: {title}",
            columns=("workload", *(each.name for each in systems)),
            rows=[
                (each.name, *(showing(system, each) for system in systems)) for each in workloads
            ],
            notes=notes,
        )

    def wall(system: System, workload: Workload) -> str:
        found, cost = cells.outcome(system, workload, rows), cells.cost(system, workload, rows)
        if not isinstance(found, Measured):
            return "–" if found is None else found.words
        return _beside(found.best.wall, None if cost is None else cost.wall, system)

    def cpu(system: System, workload: Workload) -> str:
        found, cost = cells.measured(system, workload, rows), cells.cost(system, workload, rows)
        if found is None:
            return "–"
        return _beside(found.best.cpu, None if cost is None else cost.cpu, system)

    def memory(system: System, workload: Workload) -> str:
        found = cells.measured(system, workload, rows)
        peak = None if found is None else found.asking_peak
        return "–" if peak is None else short(peak / 1e6)

    def error(system: System, workload: Workload) -> str:
        found = cells.distance(system, workload, rows)
        if found is None or found.error is None:
            return "–"
        return f"{short(100 * found.error, 2)} %"

    yield table(
        "wall ms of the best run (times of the same SQL without privacy on the same engine)",
        wall,
        *_reasons(cells, rows),
        *([kept.server] if any(each.name.startswith("PostgreSQL") for each in systems) else ()),
    )
    yield table("CPU ms of that run (times of plain SQL), the server's processes included", cpu)
    yield table(
        "peak memory MB during queries",
        memory,
        "DuckDB and Spark: the most that the process and those that it started held; Java keeps "
        "memory that it once had. PostgreSQL: the server's own memory in all its processes and "
        "once what they share, looked at fifty times a second, and the process that asks.",
    )
    yield table(f"median relative error at ε = {EPSILON}, δ = {DELTA:g}", error)


def _beside(seconds: float, times: float | None, system: System) -> str:
    """Return milliseconds, and how many times as long that is as plain SQL."""
    shown = short(seconds * 1e3)
    is_plain = system.name == system.baseline
    return shown if times is None or is_plain else f"{shown} ({ratio(times)})"


def _reasons(cells: Cells, rows: int) -> list[str]:
    """Return one line for each reason why figures are missing."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in cells:
        if each.rows == rows and isinstance(each.outcome, Missing):
            key = each.system.name, each.outcome.reason
            found.setdefault(key, []).append(each.workload.name)
    return [f"{name}, {', '.join(names)}: {reason}." for (name, reason), names in found.items()]


# --------------------------------------------------------------------------- growth


def _growth(cells: Cells) -> Table:
    systems = _asked(cells)

    def slope(system: System, workload: Workload) -> str:
        found = points(system, workload, cells)
        fitted, last = exponent(found), last_exponent(found)
        if fitted is None or last is None:
            return "–"
        return f"{fitted:.2f}" if len(found) == 2 else f"{fitted:.2f} ({last:.2f})"

    return Table(
        title="Engines: exponent of growth, wall time against rows (between the two largest sizes)",
        columns=("workload", *(each.name for each in systems)),
        rows=[(each.name, *(slope(system, each) for system in systems)) for each in WORKLOADS],
        notes=(
            "1 is a straight line: ten times the rows, ten times the time. Below 1, a part of the "
            "cost does not grow, or the engine reads statistics instead of rows.",
        ),
    )


# --------------------------------------------------------------------------- opening


def _opening(cells: Cells) -> Table:
    return Table(
        title="Engines: opening the data, once: seconds",
        columns=("rows", *(each.name for each in _asked(cells))),
        rows=_least(cells, lambda each: each.opening),
        notes=["DuckDB loads files into memory when they are opened, and prepares them then."],
    )


def _first(cells: Cells) -> Table:
    """Return what the first query takes that finds the units above the limit."""
    first = Cells(each for each in cells if each.workload is WORKLOADS[0])
    return Table(
        title="Engines: the first W1 of a process: seconds",
        columns=("rows", *(each.name for each in _asked(first))),
        rows=_least(first, lambda each: each.asks[0].wall),
        notes=[
            "Per query, it counts the rows of each unit once; later queries reuse that. On Spark, "
            "the first query of a process also loads classes and compiles."
        ],
    )


def _least(cells: Cells, seconds: Callable[[Measured], float]) -> list[tuple[str, ...]]:
    """Return a line for each size: the least seconds of each system."""
    systems, lines = _asked(cells), []
    for size in sorted({each.rows for each in cells}):
        least: dict[str, float] = {}
        for each in cells:
            if each.rows == size and isinstance(each.outcome, Measured):
                found = seconds(each.outcome)
                least[each.system.name] = min(least.get(each.system.name, found), found)
        shown = (short(least[each.name]) if each.name in least else "–" for each in systems)
        lines.append((power(size), *shown))
    return lines


def _preparing(kept: Kept) -> Table:
    names = [each.name for each in STORAGES]
    places = [(each.rows, names.index(each.storage), each) for each in kept.preparing]
    return Table(
        title="Engines: discreet prepare, once",
        columns=("rows", "storage", "seconds"),
        rows=[
            (power(each.rows), each.storage, Figure(each.seconds))
            for _, _, each in sorted(places, key=lambda place: place[:2])
        ],
        notes=["The start of the process, and of Spark, included."],
    )


# --------------------------------------------------------------------------- ticks and targets


def _ticks(kept: Kept) -> Iterable[Table]:
    if kept.ticks:
        yield Table(
            title="Engines: a tick of a series, DuckDB (times of the plain GROUP BY)",
            columns=("series", "rows", "plain ms", "tick ms", "plain CPU ms", "tick CPU ms"),
            rows=[
                (
                    each.name,
                    power(each.rows),
                    Figure(each.plain_wall * 1e3),
                    f"{short(each.wall * 1e3)} ({ratio(each.cost)})",
                    Figure(each.plain_cpu * 1e3),
                    f"{short(each.cpu * 1e3)} ({ratio(each.cpu_cost)})",
                )
                for each in sorted(kept.ticks, key=lambda each: each.rows)
            ],
        )


def _targets(cells: Cells) -> Iterable[Target]:
    for storage in STORAGES:
        system = storage.per_query
        if system is None or storage.target is None:
            continue
        own = {each.rows for each in cells if each.system.name == system.name}
        sizes = [rows for rows in own if rows <= LARGEST_WANTED]
        for workload in WORKLOADS if sizes else ():
            cost = cells.cost(system, workload, max(sizes))
            yield Target(
                sentence=f"{workload.name} at {power(max(sizes))} rows, {system.name}, "
                f"times plain SQL{_of_metadata(cells, system, workload, max(sizes))}",
                measured=None if cost is None else cost.wall,
                unit="×",
                most=storage.target,
            )


def _of_metadata(cells: Cells, system: System, workload: Workload, rows: int) -> str:
    """Return what a plain count takes, which most engines read off their metadata."""
    found = cells.measured(system, workload, rows)
    if workload is not WORKLOADS[0] or found is None:
        return ""
    return f", which may read no rows (ours: {short(found.best.wall * 1e3)} ms)"


def _tick_targets(kept: Kept) -> Iterable[Target]:
    sizes = [each.rows for each in kept.ticks if each.rows <= LARGEST_WANTED]
    for each in kept.ticks:
        if each.rows != max(sizes, default=0):
            continue
        yield Target(
            sentence=f"a tick of {each.name} at {power(each.rows)} rows, times plain SQL",
            measured=each.cost,
            unit="×",
            most=TICK_WANTED,
        )
