"""A table that is much larger than the engine's memory: prepared, opened and asked all the same."""

from pathlib import Path

from benchmarks.report import Figure, Report, Say, Table, Target, power
from benchmarks.workloads.data import Site, make_site
from benchmarks.workloads.ours import LIMITED
from benchmarks.workloads.preparing import prepared
from benchmarks.workloads.questions import WORKLOADS
from benchmarks.workloads.running import Measured, measure
from benchmarks.workloads.systems import System

ROWS = 10**7
QUICK_ROWS = 10**6

BYTES_PER_ROW = 40
"""The limit: 4 GB for 10^8 rows, as much less for fewer, and never less than the engine needs."""

LEAST_BYTES = 200 * 10**6
BESIDES_BYTES = 400 * 10**6
"""What Python, its libraries and the engine's own tables may hold besides what is limited."""

LIMIT = 1200.0

SYSTEM = System(name="discreet, copy", way=LIMITED)


def run(say: Say, rows: int = ROWS) -> Report:
    """Prepare under a limit of memory, then ask every workload in a process of its own."""
    say(f"{power(rows)} rows: making the data")
    site = make_site(rows)
    limit = max(LEAST_BYTES, BYTES_PER_ROW * rows)
    catalog = limited_catalog(site, limit)
    say(f"{power(rows)} rows: discreet prepare within {limit / 1e6:,.0f} MB")
    seconds, peak = prepared(catalog)
    lines: list[tuple[str, str | Figure, str | Figure]] = [
        ("discreet prepare", Figure(seconds), Figure(peak / 1e6))
    ]
    peaks = []
    for workload in WORKLOADS:
        say(f"{power(rows)} rows: {workload.name}")
        found = measure(SYSTEM, workload, site, LIMIT)
        if isinstance(found, Measured):
            peaks.append(found.asking_peak or 0)
            told = Figure(found.best.wall), Figure(peaks[-1] / 1e6)
            lines.append((f"{workload.name} {workload.title}", *told))
        else:
            lines.append((f"{workload.name} {workload.title}", found.words, found.reason))
    return Report(
        name="memory",
        tables=[
            Table(
                title=f"{power(rows)} rows within {limit / 1e6:,.0f} MB for the engine",
                columns=("what", "seconds", "peak MB of the process"),
                rows=lines,
                notes=[f"On disk the copy has {_size(catalog) / 1e6:,.0f} MB."],
            )
        ],
        targets=[
            Target(
                sentence="all workloads answered under the limit",
                measured=len(peaks),
                unit=f"of {len(WORKLOADS)}",
                least=len(WORKLOADS),
            ),
            Target(
                sentence="peak of the process during queries, above the engine's limit",
                measured=(max(peaks, default=0) - limit) / 1e6,
                unit="MB",
                most=BESIDES_BYTES / 1e6,
            ),
        ],
    )


def limited_catalog(site: Site, limit: int) -> Path:
    """Write a catalog of the same tables with a limit of memory; its copy is its own."""
    text = site.catalog.read_text(encoding="utf-8")
    source = f'[source]\nmemory_limit = "{limit // 10**6} MB"\n'
    site.limited.write_text(f"{text}\n{source}", encoding="utf-8")
    return site.limited


def _size(catalog: Path) -> int:
    return catalog.with_suffix(".prepared").stat().st_size
