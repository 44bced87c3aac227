"""Run the workloads on all engines and sizes; a run of a part leaves all other figures."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.engines import kept, postgresql, spark, ticks
from benchmarks.engines.kept import Kept, Preparing
from benchmarks.engines.picture import draw
from benchmarks.engines.systems import DUCKDB, ENGINES, POSTGRESQL, SPARK, STORAGES, WAYS, Storage
from benchmarks.engines.tables import report_of
from benchmarks.report import RESULTS, Report, Say, power
from benchmarks.workloads.cells import Cell, Cells
from benchmarks.workloads.data import Site, make_raw, make_site, truths
from benchmarks.workloads.distance import distance_of_asks
from benchmarks.workloads.preparing import prepared
from benchmarks.workloads.questions import BY_NAME, WORKLOADS, Workload
from benchmarks.workloads.run import tell
from benchmarks.workloads.running import (
    FAILED,
    LARGE,
    Measured,
    Missing,
    Outcome,
    measure,
    measure_all,
)
from benchmarks.workloads.systems import System

SIZES = (10**5, 10**6, 10**7)
QUICK_SIZES = (10**5, 10**6)
LIMIT = 300.0
QUICK_LIMIT = 60.0

MOST_FOR_TICKS = 10**7
"""The table is in memory twice."""

TICKS = "tick"
"""Named as if it was a workload, where parts are chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How much is measured; what is not, is as an earlier run found it if this is a part."""

    sizes: tuple[int, ...] = SIZES
    limit: float = LIMIT
    engines: tuple[str, ...] = ENGINES
    workloads: tuple[str, ...] = (*BY_NAME, TICKS)
    ways: tuple[str, ...] = WAYS
    """Beside plain SQL."""
    is_part: bool = False

    @property
    def asked(self) -> tuple[Workload, ...]:
        return tuple(each for each in WORKLOADS if each.name in self.workloads)

    def storages(self, rows: int) -> Iterator[Storage]:
        """Yield what can be asked about so many rows, in the ways that are wanted, if any is."""
        for each in STORAGES:
            wanted = each.in_ways(self.ways)
            is_asked = bool(self.asked) and len(wanted.systems) > 1
            if is_asked and each.engine in self.engines and rows <= each.most_rows:
                yield wanted

    def has_ticks(self, rows: int) -> bool:
        return DUCKDB in self.engines and TICKS in self.workloads and rows <= MOST_FOR_TICKS


ALL = Options()
QUICK = Options(sizes=QUICK_SIZES, limit=QUICK_LIMIT)
NOTHING = Options(sizes=(), engines=(), is_part=True)
"""What shows the figures of earlier runs."""


def run(say: Say, options: Options = ALL, folder: Path = RESULTS) -> Report:
    """Measure every size and engine, and draw the picture."""
    found = kept.read(folder) if options.is_part else Kept()
    now: list[Cell] = []
    with ExitStack() as stack:
        if POSTGRESQL in options.engines:
            say("starting PostgreSQL")
            address = stack.enter_context(postgresql.running(folder / "postgresql"))
            found = replace(found, server=postgresql.description(address))
        if SPARK in options.engines:
            spark.configure(folder / "spark")
        for rows in sorted(options.sizes):
            say(f"{power(rows)} rows: making the data")
            site = make_site(rows, folder)
            for storage in options.storages(rows):
                say(f"{power(rows)} rows: {storage.name}, loading and preparing")
                found = _prepared(found, storage, site, options)
                now.extend(_cells(storage, site, options, Cells(now), say))
                found = found.with_cells(now)
                kept.write(found, folder)
            if options.has_ticks(rows):
                say(f"{power(rows)} rows: ticks of series")
                found = found.with_ticks(ticks.measured(site))
                kept.write(found, folder)
    draw(Cells(found.cells), folder / "engines.svg")
    return report_of(found)


def _cells(
    storage: Storage, site: Site, options: Options, before: Cells, say: Say
) -> Iterator[Cell]:
    """Yield what was measured of one engine; tell at once what is missing, and why."""
    truth = truths(site)
    for system, workload, outcome in _outcomes(storage, site, options, before, say):
        tell(system, workload, site.rows, outcome)
        distance = None
        if isinstance(outcome, Measured):
            answers = [each.rows for each in outcome.asks]
            distance = distance_of_asks(workload, answers, truth[workload.name])
        yield Cell(
            system=system, workload=workload, rows=site.rows, outcome=outcome, distance=distance
        )


def _outcomes(
    storage: Storage, site: Site, options: Options, before: Cells, say: Say
) -> Iterator[tuple[System, Workload, Outcome]]:
    """Yield what was measured; what took too long with fewer rows is not tried again."""
    late = {
        (system, each): found
        for system in storage.systems
        for each in options.asked
        if (found := _late(system, each, site.rows, before)) is not None
    }
    if storage.is_shared or site.rows >= LARGE:
        for system in storage.systems:
            say(f"{power(site.rows)} rows: {system.name}")
            left = [each for each in options.asked if (system, each) not in late]
            answered = measure_all(system, left, site, options.limit)
            for each in options.asked:
                yield system, each, answered.get(each.name) or late[system, each]
        return
    for each in options.asked:
        for system in storage.systems:
            say(f"{power(site.rows)} rows: {each.name} by {system.name}")
            missing = late.get((system, each))
            yield system, each, missing or measure(system, each, site, options.limit)


def _late(system: System, workload: Workload, rows: int, before: Cells) -> Missing | None:
    """Return why there is no answer, if there was none with fewer rows because of their time."""
    smaller = sorted({each.rows for each in before if each.rows < rows})
    found = before.outcome(system, workload, smaller[-1]) if smaller else None
    return found if isinstance(found, Missing) and found.words != FAILED else None


def _prepared(found: Kept, storage: Storage, site: Site, options: Options) -> Kept:
    """Load the tables, make their prepared form, and note what the latter took.

    A run of a part keeps a form that was made before, if it fits the data and the code.
    """
    catalog: Path | None = None
    if storage.name == "DuckDB file":
        make_raw(site)
        catalog = site.catalog
    elif storage.engine == POSTGRESQL:
        postgresql.load(site, os.environ[postgresql.ADDRESS])
        catalog, _ = postgresql.catalogs(site)
    elif storage.engine == SPARK:
        catalog, _ = spark.catalogs(site)
    if catalog is None or not storage.is_prepared:
        return found
    is_known = any(
        (each.storage, each.rows) == (storage.name, site.rows) for each in found.preparing
    )
    is_anew = not (options.is_part and is_known)
    seconds, peak = prepared(catalog, is_anew=is_anew)
    made = Preparing(storage=storage.name, rows=site.rows, seconds=seconds, peak=peak)
    return found.with_preparing(made) if is_anew else found
