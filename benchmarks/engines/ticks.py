"""A tick of a series: its exact queries over all rows, beside the plain GROUP BY of the same."""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from time import perf_counter

import duckdb

import discreet
from benchmarks.environments import lines_from_module
from benchmarks.workloads.child import cpu_seconds
from benchmarks.workloads.data import Site
from benchmarks.workloads.questions import DAYS, MINUTES, REGIONS, ROWS_PER_UNIT
from discreet.curator import Curator
from discreet.engines.duckdb.loading import load
from discreet.engines.duckdb.store import Store
from discreet.tables import ExactTable

ASKS = 4
"""The first of them warms up."""

FIRST = date(2024, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesCase:
    """A series, and the plain SQL that counts the same without privacy."""

    name: str
    question: str
    plain: str
    rows_per_unit: int | None = None


CASES = (
    SeriesCase(
        name="COUNT, SUM by day and region",
        question="SELECT region, COUNT(*) AS n, SUM(minutes) AS minutes FROM visits "
        "GROUP BY region",
        plain="SELECT date_trunc('day', day) AS tick, region, COUNT(*), SUM(minutes) "
        "FROM visits GROUP BY tick, region",
        rows_per_unit=ROWS_PER_UNIT,
    ),
    SeriesCase(
        name="COUNT(DISTINCT unit) by day",
        question="SELECT COUNT(DISTINCT patient_id) AS n FROM visits",
        plain="SELECT date_trunc('day', day) AS tick, COUNT(DISTINCT patient_id) "
        "FROM visits GROUP BY tick",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """What a tick took, in seconds: the best of several, and that of plain SQL."""

    name: str
    rows: int
    wall: float
    cpu: float
    plain_wall: float
    plain_cpu: float

    @property
    def cost(self) -> float:
        return self.wall / self.plain_wall

    @property
    def cpu_cost(self) -> float:
        return self.cpu / self.plain_cpu


def measured(site: Site) -> list[Tick]:
    """Return what ticks of all series take, measured in a process of their own."""
    lines = lines_from_module("benchmarks.engines.ticks", str(site.folder), str(site.rows))
    return [Tick(**json.loads(line)) for line in lines]


def arrivals(site: Site) -> Path:
    """Return a file of the visits with dates, written now if it is not there yet."""
    file = site.folder / "arrivals.parquet"
    if not file.exists():
        unfinished = file.with_suffix(".part")
        with duckdb.connect() as connection:
            connection.execute(
                f"COPY (SELECT patient_id, DATE '{FIRST}' + day AS day, region, minutes "
                f"FROM '{site.visits}') TO '{unfinished}' (FORMAT parquet)"
            )
        unfinished.rename(file)
    return file


def opened(file: Path) -> Curator:
    """Return a curator of the visits with all series."""
    series = [
        {
            "name": each.name.replace(",", "").replace("(", " ").replace(")", ""),
            "question": each.question,
            "clock": "day",
            "first": FIRST,
            "ticks": DAYS,
            "epsilon": 1,
            **({} if each.rows_per_unit is None else {"rows_per_unit": each.rows_per_unit}),
        }
        for each in CASES
    ]
    return discreet.open(
        {"visits": file},
        unit="patient_id",
        rows_per_unit=ROWS_PER_UNIT,
        bounds={"minutes": MINUTES},
        values={"region": REGIONS},
        arrival="day",
        series=series,
        epsilon=10,
        row_choice="per-query",
    )


def plain_ticks(store: Store, sql: str) -> Callable[[], object]:
    """Return what runs plain SQL."""

    def run() -> object:
        with store.cursor() as cursor:
            return cursor.sql(sql).fetchall()

    return run


def exact_ticks(curator: Curator, name: str) -> Callable[[], list[ExactTable]]:
    """Return what computes the sums of all ticks of a series, as releasing them does."""
    keeper = curator._series  # noqa: SLF001 - what is measured is a step inside it
    planner, engine = keeper._planner, curator._engine  # noqa: SLF001
    statements = [planner.bind_query(each) for each in keeper.plan(name).queries(DAYS)]
    return lambda: [engine.run(each, ()) for each in statements]


def tell(site: Site) -> None:
    """Write a line for each series."""
    file = arrivals(site)
    store = Store()
    load(store.connection, "visits", file)
    store.seal()
    with opened(file) as curator:
        for case, series in zip(CASES, curator.all_series(), strict=True):
            plain = _timed(plain_ticks(store, case.plain))
            ours = _timed(exact_ticks(curator, series.name))
            found = Tick(
                name=case.name,
                rows=site.rows,
                wall=ours[0],
                cpu=ours[1],
                plain_wall=plain[0],
                plain_cpu=plain[1],
            )
            print(json.dumps(asdict(found)), flush=True)
    store.close()


def _timed(run: Callable[[], object]) -> tuple[float, float]:
    """Return the wall and CPU seconds of the fastest of several runs."""
    found = []
    for _ in range(ASKS):
        cpu, wall = cpu_seconds(), perf_counter()
        run()
        found.append((perf_counter() - wall, cpu_seconds() - cpu))
    return min(found)


if __name__ == "__main__":
    folder, rows = sys.argv[1:3]
    tell(Site(folder=Path(folder), rows=int(rows)))
