"""Run the workloads on all engines and sizes; a run of a part leaves all other figures."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.engines import kept, postgresql, spark, ticks
from benchmarks.engines.kept import Kept, Preparing
from benchmarks.engines.picture import draw
from benchmarks.engines.systems import DUCKDB, ENGINES, POSTGRESQL, SPARK, STORAGES, Storage
from benchmarks.engines.tables import report_of
from benchmarks.report import RESULTS, Report, Say, power
from benchmarks.workloads.cells import Cell, Cells
from benchmarks.workloads.data import Site, make_raw, make_site, truths
from benchmarks.workloads.distance import distance_of_asks
from benchmarks.workloads.preparing import prepared
from benchmarks.workloads.questions import BY_NAME, WORKLOADS
from benchmarks.workloads.running import FAILED, Missing, Outcome, measure, measure_all
from benchmarks.workloads.systems import System

SIZES = (10**5, 10**6, 10**7)
QUICK_SIZES = (10**5, 10**6)
LIMIT = 300.0
QUICK_LIMIT = 60.0

TICKS = "tick"
"""Named as if it was a workload, where parts are chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How much is measured; what is not, is as an earlier run found it if this is a part."""

    sizes: tuple[int, ...] = SIZES
    limit: float = LIMIT
    engines: tuple[str, ...] = ENGINES
    workloads: tuple[str, ...] = (*BY_NAME, TICKS)
    is_part: bool = False


ALL = Options()
QUICK = Options(sizes=QUICK_SIZES, limit=QUICK_LIMIT)
NOTHING = Options(sizes=(), engines=(), is_part=True)
"""What shows the figures of earlier runs."""


def run(say: Say, options: Options = ALL, folder: Path = RESULTS) -> Report:
    """Measure every size and engine, and draw the picture."""
    found = kept.read(folder) if options.is_part else Kept()
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
            for storage in STORAGES:
                if storage.engine in options.engines and rows <= storage.most_rows:
                    found = _with_storage(found, storage, site, options, say)
                    kept.write(found, folder)
            if DUCKDB in options.engines and TICKS in options.workloads and _holds_ticks(rows):
                say(f"{power(rows)} rows: ticks of series")
                found = found.with_ticks(ticks.measured(site))
                kept.write(found, folder)
    draw(Cells(found.cells), folder / "engines.svg")
    return report_of(found)


def _holds_ticks(rows: int) -> bool:
    return rows <= STORAGES[0].most_rows


def _with_storage(found: Kept, storage: Storage, site: Site, options: Options, say: Say) -> Kept:
    """Return what is known, with all forms of one engine at one size measured."""
    wanted = [each for each in WORKLOADS if each.name in options.workloads]
    if not wanted:
        return found
    place = f"{power(site.rows)} rows: {storage.name}"
    say(f"{place}: loading and preparing")
    found = _prepared(found, storage, site, options)
    truth = truths(site)
    before = Cells(found.cells)
    cells = []
    for system, name, outcome in _outcomes(storage, site, options, before, say):
        if isinstance(outcome, Missing):
            say(f"{place}: {system.name} is missing in {name}")
            distance = None
        else:
            rows = [each.rows for each in outcome.asks]
            distance = distance_of_asks(BY_NAME[name], rows, truth[name])
        cells.append(
            Cell(
                system=system,
                workload=BY_NAME[name],
                rows=site.rows,
                outcome=outcome,
                distance=distance,
            )
        )
    return found.with_cells(cells)


def _outcomes(
    storage: Storage, site: Site, options: Options, before: Cells, say: Say
) -> Iterator[tuple[System, str, Outcome]]:
    """Yield what was measured; what took too long with fewer rows is not tried again."""
    wanted = [each for each in WORKLOADS if each.name in options.workloads]
    skipped = {
        (system.name, each.name): late
        for system in storage.systems
        for each in wanted
        if (late := _late(system, each.name, site.rows, before)) is not None
    }
    if storage.is_shared:
        for system in storage.systems:
            left = [each for each in wanted if (system.name, each.name) not in skipped]
            say(f"{power(site.rows)} rows: {system.name}")
            found = measure_all(system, left, site, options.limit) if left else {}
            for each in wanted:
                yield system, each.name, found.get(each.name) or skipped[system.name, each.name]
        return
    for each in wanted:
        for system in storage.systems:
            say(f"{power(site.rows)} rows: {each.name} by {system.name}")
            late = skipped.get((system.name, each.name))
            yield system, each.name, late or measure(system, each, site, options.limit)


def _late(system: System, name: str, rows: int, before: Cells) -> Missing | None:
    """Return why a workload has no answer, if it had none with fewer rows because of its time."""
    smaller = [each.rows for each in before if each.rows < rows]
    for size in sorted(smaller, reverse=True):
        found = before.outcome(system, BY_NAME[name], size)
        if found is not None:
            return found if isinstance(found, Missing) and found.words != FAILED else None
    return None


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
    if catalog is None:
        return found
    is_known = any(
        (each.storage, each.rows) == (storage.name, site.rows) for each in found.preparing
    )
    is_anew = not (options.is_part and is_known)
    seconds, peak = prepared(catalog, is_anew=is_anew)
    made = Preparing(storage=storage.name, rows=site.rows, seconds=seconds, peak=peak)
    return found.with_preparing(made) if is_anew else found
