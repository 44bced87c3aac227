"""Collections: counted once, complete or not at all, shared by processes, no report inside."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import CollectionError, ReportError
from discreet.local import Client, Collector, KaryResponse, Server, UnaryEncoding

MECHANISM = KaryResponse(epsilon=1, categories=4)
CLIENT = Client(MECHANISM)


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    with Collector.create(tmp_path / "counts.db", MECHANISM, least_people=3) as made:
        yield made


def test_a_report_is_counted_once_however_often_it_is_sent(collector: Collector) -> None:
    report = CLIENT.report(2)
    assert collector.add(report, report_id=b"first")
    assert not collector.add(report, report_id=b"first")
    assert not collector.add(CLIENT.report(1), report_id="first")
    assert collector.people == 1
    added = collector.add_many([(str(i), CLIENT.report(0)) for i in (1, 2, 2, 3)])
    assert (added.counted, added.repeated) == (3, 1)
    assert collector.people == 4


def test_the_tally_is_what_a_server_counts(collector: Collector, tmp_path: Path) -> None:
    server = Server(MECHANISM)
    reports = [CLIENT.report(i % 4) for i in range(40)]
    for report in reports:
        server.add(report)
    collector.add_many(enumerate_ids(reports))
    assert bytes(collector.tally()) == bytes(server)
    again = Server.from_bytes(MECHANISM, bytes(collector.tally()))
    assert again.estimate().counts.tolist() == server.estimate().counts.tolist()
    with Collector(tmp_path / "counts.db") as reopened:
        assert reopened.mechanism == MECHANISM
        assert bytes(reopened.tally()) == bytes(server)


def enumerate_ids(reports: list[bytes]) -> list[tuple[bytes | str, bytes]]:
    return [(f"id{i}", report) for i, report in enumerate(reports)]


def test_few_people_are_not_given_out(collector: Collector) -> None:
    collector.add_many(enumerate_ids([CLIENT.report(1), CLIENT.report(1)]))
    with pytest.raises(
        CollectionError, match="Only 2 reports were counted, and results need at least 3"
    ):
        collector.tally()


def test_one_bad_report_refuses_them_all(collector: Collector) -> None:
    good, other = CLIENT.report(1), Client(KaryResponse(epsilon=2, categories=4)).report(1)
    for bad in (other, good[:-1], good[:8] + b"\x04", b""):
        with pytest.raises((ReportError, CollectionError)):
            collector.add_many([("a", good), ("b", bad)])
    with pytest.raises(CollectionError, match="exactly one report"):
        collector.add(bytes(CLIENT.report_many([1, 2])), report_id="c")
    for name in ("", b"", "x" * 300):
        with pytest.raises(CollectionError, match="id must have 1 to"):
            collector.add(good, report_id=name)
    assert collector.people == 0
    assert collector.add(good, report_id="a")


def test_the_file_holds_no_report_and_no_id(tmp_path: Path) -> None:
    wide = UnaryEncoding(epsilon=1, categories=256)
    with Collector.create(tmp_path / "counts.db", wide) as collector:
        for i in range(30):
            collector.add(Client(wide).report(7), report_id=f"device-{i}-of-somebody")
    content = (tmp_path / "counts.db").read_bytes()
    assert b"of-somebody" not in content
    tables = sqlite3.connect(tmp_path / "counts.db").execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%'"
    )
    assert {name for (name,) in tables} == {"collection", "counted"}
    assert (tmp_path / "counts.db").stat().st_mode & 0o077 == 0


def test_what_was_counted_survives_power_and_what_was_deleted_does_not(
    collector: Collector,
) -> None:
    """A commit is not over before its journal is gone, and no counts stay on freed pages."""
    settings = [
        collector._connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("synchronous", "secure_delete")
    ]
    assert settings == [3, 1]


def test_files_that_are_no_collections_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="no collection in this file"):
        Collector(tmp_path / "missing.db")
    (tmp_path / "text.db").write_text("a letter to somebody, long enough to be no database at all")
    for place in (tmp_path / "text.db", tmp_path):
        with pytest.raises(CollectionError, match="no collection in this file"):
            Collector(place)
    with pytest.raises(CollectionError, match="folder of the collection does not exist"):
        Collector.create(tmp_path / "nowhere" / "new.db", MECHANISM)
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(CollectionError, match="no collection in this file"):
        Collector(tmp_path / "other.db")
    with pytest.raises(CollectionError, match="exists already"):
        Collector.create(tmp_path / "other.db", MECHANISM)
    Collector.create(tmp_path / "new.db", MECHANISM).close()
    with pytest.raises(CollectionError, match="exists already"):
        Collector.create(tmp_path / "new.db", MECHANISM)
    newer = sqlite3.connect(tmp_path / "new.db")
    newer.execute("PRAGMA user_version = 9").connection.close()
    with pytest.raises(CollectionError, match="newer version"):
        Collector(tmp_path / "new.db")


def test_a_lost_file_is_noticed(collector: Collector, tmp_path: Path) -> None:
    (tmp_path / "counts.db").rename(tmp_path / "elsewhere.db")
    with pytest.raises(CollectionError, match="moved or replaced"):
        collector.add(CLIENT.report(1), report_id="a")


WORKER = """
import sys
from discreet.local import Client, Collector
with Collector(sys.argv[1]) as collector:
    client = Client(collector.mechanism)
    for i in range(int(sys.argv[3])):
        collector.add_many([(f"{sys.argv[2]}-{i}-{j}", client.report(1)) for j in range(5)])
        print(i, flush=True)
"""


def worker(path: Path, name: str, rounds: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WORKER, str(path), name, str(rounds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own


def test_processes_share_a_collection(collector: Collector, tmp_path: Path) -> None:
    workers = [worker(tmp_path / "counts.db", name, 8) for name in ("a", "b")]
    assert [each.wait() for each in workers] == [0, 0]
    for each in workers:
        each.communicate()
    assert collector.people == 80


def test_a_killed_process_leaves_batches_whole(collector: Collector, tmp_path: Path) -> None:
    """What was said to be counted is counted, ids and counts agree, and resending completes it."""
    running = worker(tmp_path / "counts.db", "a", 10_000)
    assert running.stdout is not None
    for _ in range(7):
        last = int(running.stdout.readline())
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    people = collector.people
    assert people % 5 == 0
    assert people >= 5 * (last + 1)
    again = [(f"a-{i}-{j}", CLIENT.report(1)) for i in range(people // 5 + 2) for j in range(5)]
    assert collector.add_many(again).repeated == people
    assert collector.people == people + 10


def test_a_tally_of_counts_keeps_whole_numbers(collector: Collector) -> None:
    collector.add_many(enumerate_ids([CLIENT.report(3) for _ in range(9)]))
    cells = collector.tally().counters
    assert cells.dtype == np.int64
    assert cells.sum() == 9
