"""The workloads on a Spark cluster of two workers: plain SQL, discreet, and discreet prepared.

A child for each way keeps one driver for all workloads; it is asked line by line. Its memory and
time are those of all processes together: driver, executors, workers and master.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread, Timer
from typing import Any

import duckdb

import discreet
from benchmarks.environments import ROOT
from benchmarks.report import Figure, Report, Say, Table, Target, power, ratio
from benchmarks.workloads.child import cpu_seconds, forget_peak, peak_bytes
from benchmarks.workloads.data import CATALOG, Site, make_site
from benchmarks.workloads.ours import PER_QUERY, PREPARED, RAW, asked
from benchmarks.workloads.preparing import prepared
from benchmarks.workloads.questions import BY_NAME, WORKLOADS
from benchmarks.workloads.running import LARGE
from discreet.engines.spark.addresses import take
from discreet.engines.spark.sessions import SILENCE, pyspark_module

ROWS = 10**7
QUICK_ROWS = 10**6
WORKERS = 2
ASKS = 2
LIMIT = 1800.0
"""Seconds that one answer may take."""

MOST_BYTES = 16 * 10**9
MOST_TIMES = 4
"""Of all processes together; and of the time of plain SQL, where nothing is prepared."""

HERE = "127.0.0.1"

DEFAULTS = """
spark.driver.bindAddress 127.0.0.1
spark.driver.host 127.0.0.1
spark.driver.memory 1g
spark.executor.cores 1
spark.executor.memory 4g
spark.local.dir {folder}
spark.sql.catalogImplementation in-memory
spark.sql.shuffle.partitions 16
spark.sql.warehouse.dir {folder}/warehouse
spark.ui.enabled false
"""

DAYS_OF_FOLDER = 31


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one answer took: seconds, seconds of all cores, and the most bytes of all processes."""

    wall: float
    cpu: float
    peak: int


def run(say: Say, rows: int = ROWS) -> Report:
    """Ask every workload in every way, and say how many times as long ours take."""
    say(f"{power(rows)} rows: making the data")
    site = make_site(rows)
    divide(site)
    with TemporaryDirectory(dir=site.folder) as folder, cluster(Path(folder)) as address:
        catalogs = {row_choice: catalog(site, address, row_choice) for row_choice in CHOICES}
        costs = {way: _asked(say, way, address, site) for way in (RAW, PER_QUERY)}
        say("discreet prepare")
        with watched() as peaks:
            seconds, _ = prepared(catalogs[PREPARED])
        costs[PREPARED] = _asked(say, PREPARED, address, site)
    return _report(rows, costs, seconds, max(peaks))


@contextmanager
def watched() -> Iterator[list[int]]:
    """Yield what all processes held, looked at twice a second: some end before the work does."""
    forget_peak()
    found, is_over = [0], Event()

    def look() -> None:
        while not is_over.wait(0.5):
            found.append(peak_bytes() or 0)

    watcher = Thread(target=look)
    watcher.start()
    try:
        yield found
    finally:
        is_over.set()
        watcher.join()


# --------------------------------------------------------------------------- data and catalogs

CHOICES: Mapping[str, str] = {PER_QUERY: "per-query", PREPARED: "once"}


def divide(site: Site) -> None:
    """Write the visits once more, in a folder for each month."""
    folder, unfinished = visits_of(site), site.folder / "unfinished"
    if folder.exists():
        return
    rows = f"SELECT *, day // {DAYS_OF_FOLDER} AS month FROM '{site.visits}'"
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY ({rows}) TO '{unfinished}' (FORMAT parquet, PARTITION_BY (month), OVERWRITE)"
        )
    unfinished.rename(folder)


def visits_of(site: Site) -> Path:
    return site.folder / "visits"


def catalog_of(site: Site, way: str) -> Path:
    return site.folder / f"cluster-{way}.toml"


def catalog(site: Site, address: str, way: str) -> Path:
    """Write a catalog of the same tables on a cluster."""
    source = f'[source]\nengine = "{address}"\ntimeout = {LIMIT}\nrow_choice = "{CHOICES[way]}"\n'
    path = catalog_of(site, way)
    tables = CATALOG.replace('"visits.parquet"', '"visits/"')
    path.write_text(f"{tables}\n{source}", encoding="utf-8")
    return path


# --------------------------------------------------------------------------- the cluster


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Run a master and its workers until the end; all that is started later has its settings."""
    (folder / "spark-defaults.conf").write_text(DEFAULTS.format(folder=folder), encoding="ascii")
    (folder / "log4j2.properties").write_text(SILENCE, encoding="ascii")
    os.environ.update(SPARK_CONF_DIR=str(folder), SPARK_LOCAL_IP=HERE, SPARK_DAEMON_MEMORY="256m")
    port = _free_port()
    address = f"spark://{HERE}:{port}"
    with _part("master", "--port", str(port)):
        _wait_for(port)
        worker = ("-c", "1", "-m", "4g", "-d", str(folder), address)
        with _part("worker", *worker), _part("worker", *worker):
            yield address


@contextmanager
def _part(name: str, *arguments: str) -> Iterator[None]:
    home = Path(str(pyspark_module().__file__)).parent
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}.{name.title()}"]
    with subprocess.Popen(
        [*command, "--host", HERE, "--webui-port", "0", *arguments],
        env={**os.environ, "SPARK_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((HERE, 0))
        return int(found.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(600):
        with suppress(OSError), socket.create_connection((HERE, port), timeout=1):
            return
        time.sleep(0.1)
    raise TimeoutError("the master did not start")


# --------------------------------------------------------------------------- asking


def _asked(say: Say, way: str, address: str, site: Site) -> dict[str, Cost]:
    """Return what each workload took in one way, without those that took too long."""
    found: dict[str, Cost] = {}
    with _child(way, address, site) as child:
        for workload in WORKLOADS:
            costs = []
            is_first = workload is WORKLOADS[0]
            asks = ASKS if is_first or site.rows < LARGE else 1
            for number in range(asks):
                say(f"{way}: {workload.name}, {number + 1} of {asks}")
                cost = _cost(child, f"{workload.name} {number}")
                costs += [] if cost is None else [cost]
            if costs:
                found[workload.name] = min(costs, key=lambda each: each.wall)
    return found


@contextmanager
def _child(way: str, address: str, site: Site) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "benchmarks.cluster", way, address, str(site.folder)]
    with subprocess.Popen(
        [*command, str(site.rows)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as child:
        try:
            _line(child)
            yield child
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def _cost(child: subprocess.Popen[str], question: str) -> Cost | None:
    """Return what one answer took, or None if it never came."""
    forget_peak()
    wall, cpu = time.perf_counter(), cpu_seconds()
    timer = Timer(LIMIT, child.kill)
    timer.start()
    with suppress(BrokenPipeError):
        print(question, file=child.stdin, flush=True)
    is_there = bool(_line(child))
    timer.cancel()
    if not is_there:
        return None
    took = time.perf_counter() - wall, cpu_seconds() - cpu
    return Cost(wall=took[0], cpu=took[1], peak=peak_bytes() or 0)


def _line(child: subprocess.Popen[str]) -> str:
    return next((line for line in child.stdout or () if line.startswith("[")), "")


def answer() -> None:
    """Be the child: open the data in a way, then answer what is asked, line by line."""
    way, address, folder, rows = sys.argv[1:5]
    site = Site(folder=Path(folder), rows=int(rows))
    ask = _plain(address, site) if way == RAW else _ours(catalog_of(site, way))
    print("[]", flush=True)
    for line in sys.stdin:
        name, number = line.split()
        print(json.dumps(ask(name, int(number)), default=str), flush=True)


def _ours(path: Path) -> Callable[[str, int], Any]:
    curator = discreet.open(path, ledger=":memory:")
    return lambda name, number: asked(BY_NAME[name])(curator, number)


def _plain(address: str, site: Site) -> Callable[[str, int], Any]:
    session = take(address)
    session.read.parquet(str(visits_of(site))).createOrReplaceTempView("visits")
    session.read.parquet(str(site.patients)).createOrReplaceTempView("patients")
    return lambda name, _: session.sql(BY_NAME[name].sql).toArrow().to_pylist()


# --------------------------------------------------------------------------- the report

TITLES: Mapping[str, str] = {RAW: "plain SQL", PER_QUERY: "discreet", PREPARED: "prepared"}


def _report(
    rows: int, costs: Mapping[str, Mapping[str, Cost]], preparing: float, preparing_peak: int
) -> Report:
    lines = [
        (
            f"{each.name} {each.title}",
            *(cell for way in TITLES for cell in _cells(costs, way, each.name)),
        )
        for each in WORKLOADS
    ]
    peaks = {
        way: max((each.peak for each in found.values()), default=0) for way, found in costs.items()
    }
    peaks["discreet prepare"] = preparing_peak
    slower = [
        found.wall / costs[RAW][name].wall
        for name, found in costs[PER_QUERY].items()
        if name in costs[RAW]
    ]
    return Report(
        name="cluster",
        tables=[
            Table(
                title=f"{power(rows)} rows on a Spark cluster with {WORKERS} workers: seconds",
                columns=(
                    "workload",
                    *(f"{each}{of}" for each in TITLES.values() for of in ("", ", CPU")),
                ),
                rows=lines,
                notes=[
                    f"discreet prepare took {preparing:,.0f} s. Peaks of all processes: "
                    + ", ".join(
                        f"{TITLES.get(way, way)} {peak / 1e9:.1f} GB" for way, peak in peaks.items()
                    )
                    + "."
                ],
            )
        ],
        targets=[
            Target(
                sentence="most memory of driver, executors, workers and master together",
                measured=max(peaks.values()) / 1e9,
                unit="GB",
                most=MOST_BYTES / 1e9,
            ),
            Target(
                sentence="slowest workload where nothing is prepared, against plain SQL",
                measured=max(slower, default=None),
                unit="×",
                most=MOST_TIMES,
            ),
        ],
    )


def _cells(costs: Mapping[str, Mapping[str, Cost]], way: str, workload: str) -> tuple[str, str]:
    """Return seconds of the clock, with how many times as long as plain SQL, and of all cores."""
    cost, plain = costs[way].get(workload), costs[RAW].get(workload)
    if cost is None:
        return "no answer", "–"
    times = "" if plain is None or plain is cost else f" ({ratio(cost.wall / plain.wall)})"
    return f"{Figure(cost.wall)}{times}", str(Figure(cost.cpu))


if __name__ == "__main__":
    answer()
