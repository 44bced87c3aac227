"""Every workload is answered on the servers too, as plain SQL and by us, in the same shape."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace

import psycopg
import pyarrow.parquet as pq
import pytest

from benchmarks.engines import postgresql, spark, ticks
from benchmarks.engines.ours import (
    CATALOGS,
    asked_postgresql,
    asked_spark,
    open_postgresql,
    open_spark,
    opening,
)
from benchmarks.engines.run import NOTHING, TICKS, Options, run
from benchmarks.engines.systems import DUCKDB, POSTGRESQL, SPARK
from benchmarks.workloads.child import Rows
from benchmarks.workloads.data import Site, make_site, truths
from benchmarks.workloads.distance import distance
from benchmarks.workloads.ours import PER_QUERY, PREPARED, asked
from benchmarks.workloads.questions import BY_NAME, DAYS, ROWS_PER_UNIT, WORKLOADS, Workload
from discreet.opening import prepare_catalog
from tests.postgresql import shared_server
from tests.spark import AT, shared_session

ROWS = 1000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(ROWS, tmp_path_factory.mktemp("engines"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the address of a database of its own, known as the benchmark's."""
    for name in (postgresql.ADDRESS, postgresql.POSTMASTER):
        monkeypatch.setenv(name, "")  # so that it is as before in the end
    name = f"benchmark_{os.getpid()}"
    with psycopg.connect(shared_server(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        address = shared_server().replace("/postgres?", f"/{name}?")
        postgresql.announce(address)
        yield address
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def near_the_truth(site: Site, workload: Workload, found: Rows) -> None:
    told = distance(workload, found, truths(site)[workload.name])
    assert told.shown == 1
    assert told.error is not None
    assert told.error < 0.05


SHOWN = {"W3": {0}, "W4": {0, 1}}
"""In so few rows no undeclared group is shown, and maybe no median."""


def answered(site: Site, engine: str, way: str, workloads: Sequence[Workload] = WORKLOADS) -> None:
    with opening(CATALOGS[engine], way)(site.folder, site.rows) as curator:
        for workload in workloads:
            found = asked(workload)(curator, 0)
            told = distance(workload, found, truths(site)[workload.name])
            assert told.shown in SHOWN.get(workload.name, {1})


def test_postgresql_answers_plain_sql_and_ours(site: Site, server: str) -> None:
    postgresql.load(site, server)
    with closing(open_postgresql(site.folder, ROWS)) as connection:
        for workload in WORKLOADS:
            rows = [list(map(plain, row)) for row in asked_postgresql(workload)(connection, 0)]
            near_the_truth(site, workload, rows)
    once, _ = postgresql.catalogs(site)
    answered(site, POSTGRESQL, PER_QUERY)
    with pytest.raises(RuntimeError, match=r"the tables of postgresql\.toml are not prepared"):
        opening(CATALOGS[POSTGRESQL], PREPARED)(site.folder, ROWS)
    assert prepare_catalog(once)
    answered(site, POSTGRESQL, PREPARED)


def plain(value: object) -> str | float:
    return value if isinstance(value, str | int) else float(str(value))


@pytest.mark.spark
def test_spark_answers_plain_sql_and_ours(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(spark.ADDRESS, AT)
    shared_session()
    session = open_spark(site.folder, ROWS)
    for workload in WORKLOADS:
        near_the_truth(site, workload, [list(row) for row in asked_spark(workload)(session, 0)])
    answered(site, SPARK, PER_QUERY, [BY_NAME[each] for each in ("W2", "W4", "W7")])


def test_tables_are_copied_to_the_server_once(site: Site, server: str) -> None:
    def numbers() -> list[int]:
        with psycopg.connect(server) as connection:
            connection.execute(f"SET search_path TO {postgresql.schema_of(site)}")
            found = connection.execute("SELECT 'visits'::regclass::oid::int, count(*) FROM visits")
            return list(found.fetchall()[0])

    postgresql.load(site, server)
    first = numbers()
    postgresql.load(site, server)
    assert numbers() == first
    assert first[1] == ROWS


def test_what_the_server_does_counts_as_ours(server: str) -> None:
    meter = postgresql.ServerMeter(int(os.environ[postgresql.POSTMASTER])).meter
    with psycopg.connect(server) as connection:
        connection.execute("SET max_parallel_workers_per_gather = 0")
        before = meter.cpu()
        connection.execute("SELECT sum(n * n::bigint) FROM generate_series(1, 1000000) AS rows(n)")
        taken = meter.cpu() - before
        meter.forget()
        held = meter.peak()
        connection.execute("SET work_mem = '1GB'")
        connection.execute(
            "SELECT count(*) FROM (SELECT DISTINCT n FROM generate_series(1, 1000000) AS rows(n)) d"
        )
        most = meter.peak()
    assert taken > 0.02  # a million rows, none of them in this process
    assert held is not None
    assert most is not None
    assert most > held + 30 * 10**6


def test_ticks_count_what_plain_sql_counts(site: Site) -> None:
    counted, first_seen = ticks.CASES
    totals: dict[str, list[int]] = {}
    with ticks.opened(ticks.arrivals(site)) as curator:
        names = [each.name for each in curator.all_series()]
        assert len(names) == len(ticks.CASES)
        for each, name in zip((counted, first_seen), names, strict=True):
            plan = curator._series.plan(name)
            assert plan.policy.question == each.question
            assert plan.policy.ticks == DAYS
            (exact,) = ticks.exact_ticks(curator, name)()
            rows = exact.unseal()
            names = [each for each in rows.column_names if each.startswith("s")]
            totals[each.name] = [
                sum(int(str(value)) for value in rows[each].to_pylist()) for each in names
            ]
    seen = Counter(pq.read_table(site.visits)["patient_id"].to_pylist())
    kept = sum(min(count, ROWS_PER_UNIT) for count in seen.values())
    assert kept in totals[counted.name]
    assert totals[first_seen.name] == [len(seen)]


@contextmanager
def shared(address: str) -> Iterator[str]:
    yield address


@pytest.mark.postgresql
def test_the_command_measures_a_part_and_keeps_it(
    site: Site, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = site.folder.parent
    said: list[str] = []
    monkeypatch.setattr(postgresql, "running", lambda _: shared(server))
    part = Options(sizes=(ROWS,), is_part=True)
    run(said.append, replace(part, engines=(DUCKDB,), workloads=(TICKS,)), folder)
    part = replace(part, engines=(POSTGRESQL,), workloads=("W2",))
    report = run(said.append, part, folder)
    table = report.tables[0]
    row = dict(zip(table.columns, map(str, table.rows[0]), strict=True))
    assert row["workload"] == "W2"
    for name in table.columns[1:]:
        assert "×" in row[name] or name == "PostgreSQL, plain SQL"
    assert len(table.columns) == 4
    assert {"1000 rows: PostgreSQL, per-query", "1000 rows: ticks of series"} <= set(said)
    assert {row[0] for row in report.tables[-1].rows} == {each.name for each in ticks.CASES}
    assert (folder / "engines.svg").exists()
    assert run(said.append, NOTHING, folder) == report
