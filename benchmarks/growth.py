"""Tables that grow: what `discreet prepare` costs for one percent more rows, beside all rows."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

import duckdb

from benchmarks.environments import lines_from_module
from benchmarks.report import Figure, Report, Say, Table, Target, power
from discreet.engines.growth import MadeAnew
from discreet.opening import contents, prepare_catalog, sources
from tests.postgresql import server_in
from tests.spark import configure

SIZES = {
    "duckdb": (10**6, 10**7, 10**8),
    "postgresql": (10**6, 10**7),
    "spark": (10**6, 10**7),
}

PER_UNIT = 20
"""Rows of a unit on average; some units have more than their limit."""

LIMIT = 30

MOST = 5.0
"""Percent."""

DAYS = 3
"""How often one percent is added; the median counts."""

ENDING = 0.5
"""Seconds in which processes of the database end that are not needed any more."""

ROWS = (
    "SELECT CAST(hash(i) % {units} AS BIGINT) AS who, CAST(hash(i + 1) % 120 AS INTEGER) AS age, "
    "(hash(i + 2) % 1000000) / 1000.0 AS cost, 'region ' || hash(i + 3) % 20 AS region, "
    "CAST(hash(i + 4) % 365 AS INTEGER) AS day, 'code ' || hash(i + 5) % 5000 AS code "
    "FROM range({first}, {last}) AS rows(i)"
)

ON_SERVER = (
    "INSERT INTO visits SELECT (hashint8extended(i, 0) & 2147483647) % {units}, "
    "hashint8extended(i, 1) & 127, "
    "(hashint8extended(i, 2) & 1048575) / 1000.0, 'region ' || (hashint8extended(i, 3) & 15), "
    "hashint8extended(i, 4) & 255, 'code ' || (hashint8extended(i, 5) & 4095) "
    "FROM generate_series({first}::bigint, {last} - 1) AS rows(i)"
)

CATALOG = """
[budget]
epsilon = 1

[source]
engine = "{engine}"

[tables.visits]
from = "{place}"
unit = "who"
rows_per_unit = {limit}

[tables.visits.columns]
age = {{ bounds = [0, 120] }}
cost = {{ bounds = [0, 1000] }}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds of the clock and of processors."""

    wall: float
    cpu: float


def run(say: Say) -> Report:
    """Prepare all rows once, then one percent more some times, each engine in its own process."""
    rows: list[tuple[str | Figure, ...]] = []
    targets: list[Target] = []
    for engine, sizes in SIZES.items():
        for size in sizes:
            say(f"{engine}, {power(size)} rows")
            costs = [
                Cost(**json.loads(line))
                for line in lines_from_module("benchmarks.growth", engine, str(size))
            ]
            whole, *grown = costs
            added = sorted(grown, key=lambda each: each.cpu)[len(grown) // 2]
            percent = 100 * added.cpu / whole.cpu
            figures = (whole.cpu, added.cpu, percent, whole.wall, added.wall)
            rows.append((engine, power(size), *map(Figure, figures)))
            sentence = f"one percent more rows on {engine}, of preparing {power(size)} rows"
            targets.append(Target(sentence=sentence, measured=percent, unit="%", most=MOST))
    return Report(name="growth", tables=[_table(rows)], targets=targets)


def _table(rows: list[tuple[str | Figure, ...]]) -> Table:
    return Table(
        title="Preparing all rows, and one percent more",
        columns=("engine", "rows", "all: CPU s", "1 %: CPU s", "%", "all: wall s", "1 %: wall s"),
        rows=rows,
        notes=[
            f"Rows of six columns; about {PER_UNIT} rows of each unit, of which {LIMIT} are kept. "
            f"The median of {DAYS} additions. Processors of the database's processes are counted.",
            "Old files are taken to be older than a minute, as they are from day to day.",
        ],
    )


def tell_costs(engine: str, size: int) -> None:
    """Write a line for the preparation of all rows, and one for each addition."""
    for each in (contents, sources):
        vars(each)["SETTLED"] = 0.0
    with TemporaryDirectory(prefix="discreet-growth-") as name, ENGINES[engine](Path(name)) as at:
        step = size // 100
        at.catalog.write_text(
            CATALOG.format(engine=at.address, place=at.place, limit=LIMIT), encoding="utf-8"
        )
        last = 0
        for upto in (size, *(size + step * (day + 1) for day in range(DAYS))):
            at.add(last, upto, size // PER_UNIT)
            used, began = _settled(at.cpu), perf_counter()
            prepare_catalog(at.catalog, told=_refuse)
            wall = perf_counter() - began
            print(json.dumps({"wall": wall, "cpu": _settled(at.cpu) - used}), flush=True)
            last = upto


def _settled(cpu: Callable[[], float]) -> float:
    """Return the seconds of processors once those of processes that ended are counted."""
    sleep(ENDING)
    return cpu()


def _refuse(step: object) -> None:
    if isinstance(step, MadeAnew):
        raise TypeError(step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a table is, and how it grows."""

    catalog: Path
    address: str
    place: str
    add: Callable[[int, int, int], None]
    """Adds rows from one number to another, of so many units."""
    cpu: Callable[[], float]


@contextmanager
def _in_files(folder: Path, address: str = "duckdb") -> Iterator[Place]:
    def add(first: int, last: int, units: int) -> None:
        parts = 10 if first == 0 else 1
        for part in range(parts):
            ends = [first + (last - first) * each // parts for each in (part, part + 1)]
            rows = ROWS.format(units=units, first=ends[0], last=ends[1])
            file = folder / f"visits-{last}-{part:02}.parquet"
            duckdb.sql(f"COPY ({rows}) TO '{file}' (FORMAT parquet)")

    yield Place(
        catalog=folder / "discreet.toml",
        address=address,
        place=str(folder / "visits-*.parquet"),
        add=add,
        cpu=lambda: _cpu_of(os.getpid()),
    )


@contextmanager
def _in_spark(folder: Path) -> Iterator[Place]:
    os.environ.update(configure("spark.driver.memory 4g\nspark.ui.enabled false\n"))
    with _in_files(folder, "local[2]") as place:
        yield place


@contextmanager
def _on_server(folder: Path) -> Iterator[Place]:
    import psycopg  # noqa: PLC0415 - an extra

    data = folder / "server"
    data.mkdir()
    os.environ["GROWTH"] = address = server_in(data)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE visits "
            "(who bigint, age int, cost float8, region text, day int, code text)"
        )

    def add(first: int, last: int, units: int) -> None:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(ON_SERVER.format(units=units, first=first, last=last))
            connection.execute("VACUUM ANALYZE visits")
            connection.execute("SELECT pg_stat_force_next_flush()")

    server = int((data / "postmaster.pid").read_text(encoding="ascii").split()[0])
    yield Place(
        catalog=folder / "discreet.toml",
        address="env:GROWTH",
        place="public.visits",
        add=add,
        cpu=lambda: _cpu_of(os.getpid()) + _cpu_of(server),
    )


def _cpu_of(process: int) -> float:
    """Return the seconds that a process and all that it started have used."""
    used: dict[int, tuple[int, float]] = {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text(encoding="utf-8").rpartition(") ")[2].split()
        except OSError:
            continue
        used[int(each.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    family = {process}
    while more := {each for each, (parent, _) in used.items() if parent in family} - family:
        family |= more
    return sum(used[each][1] for each in family if each in used) / os.sysconf("SC_CLK_TCK")


ENGINES = {"duckdb": _in_files, "postgresql": _on_server, "spark": _in_spark}

if __name__ == "__main__":
    tell_costs(sys.argv[1], int(sys.argv[2]))
