"""Collections: counted once, whole or not at all, shared by processes, and no report inside."""

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
from discreet.local import Client, KaryResponse, Server, UnaryEncoding
from discreet.local.base import Mechanism, fingerprint
from discreet.local.collector import Collector
from discreet.local.heavy import HeavyHitters
from discreet.local.longitudinal import BitFlips
from discreet.local.numeric import Duchi, Hybrid, Piecewise, SquareWave
from discreet.local.oracles.hadamard import HadamardResponse
from discreet.local.oracles.hashing import LocalHashing
from discreet.local.oracles.subset import SubsetSelection
from discreet.local.rappor import Discovery, Rappor
from discreet.local.records import KINDS, mechanism_from_json, mechanism_to_json
from discreet.local.sketches import CountMeanSketch, HadamardSketch

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


def test_what_comes_out_is_what_a_server_counts(collector: Collector, tmp_path: Path) -> None:
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
    with pytest.raises(CollectionError, match="2 reports were counted, and counts are given out"):
        collector.tally()


def test_one_bad_report_refuses_them_all(collector: Collector) -> None:
    good, other = CLIENT.report(1), Client(KaryResponse(epsilon=2, categories=4)).report(1)
    for bad in (other, good[:-1], good[:8] + b"\x04", b""):
        with pytest.raises((ReportError, CollectionError)):
            collector.add_many([("a", good), ("b", bad)])
    with pytest.raises(CollectionError, match="exactly one report"):
        collector.add(bytes(CLIENT.report_many([1, 2])), report_id="c")
    for name in ("", b"", "x" * 300):
        with pytest.raises(CollectionError, match="id is 1 to"):
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
    with pytest.raises(CollectionError, match="no such folder"):
        Collector.create(tmp_path / "nowhere" / "new.db", MECHANISM)
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(CollectionError, match="no collection in this file"):
        Collector(tmp_path / "other.db")
    with pytest.raises(CollectionError, match="something in this file already"):
        Collector.create(tmp_path / "other.db", MECHANISM)
    Collector.create(tmp_path / "new.db", MECHANISM).close()
    with pytest.raises(CollectionError, match="something in this file already"):
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
from discreet.local import Client
from discreet.local.collector import Collector
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


EVERY: list[Mechanism] = [
    MECHANISM,
    UnaryEncoding(epsilon=0.1, categories=5, form="symmetric"),
    SubsetSelection(epsilon=1, categories=9),
    LocalHashing(epsilon=1, categories=9),
    HadamardResponse(epsilon=1, categories=9),
    Duchi(epsilon=1, bounds=(0, 0.1)),
    Piecewise(epsilon=1),
    Hybrid(epsilon=1),
    SquareWave(epsilon=1),
    CountMeanSketch(epsilon=1),
    HadamardSketch(epsilon=1),
    HeavyHitters(epsilon=1),
    Rappor(f=0.3),
    Discovery(Rappor(f=0.3), length=4),
    BitFlips(epsilon=1, buckets=4),
]


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda each: each.tag)
def test_every_mechanism_is_written_and_read_exactly(mechanism: Mechanism) -> None:
    again = mechanism_from_json(mechanism_to_json(mechanism))
    assert again == mechanism
    assert fingerprint(again) == fingerprint(mechanism)
    assert "Fraction" not in repr(mechanism)


def test_no_kind_of_mechanism_is_forgotten() -> None:
    assert {each.tag for each in EVERY} == set(KINDS)

    class Unknown(KaryResponse):
        tag = "unknown/1"

    with pytest.raises(ReportError, match="no written form"):
        mechanism_to_json(Unknown(epsilon=1, categories=2))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"mechanism": "spell/1"}',
        '{"mechanism": "kary-response/1", "epsilon": 1}',
        '{"mechanism": "kary-response/1", "epsilon": {"exact": "1/0"}, "categories": 2}',
        '{"mechanism": "kary-response/1", "epsilon": -1, "categories": 2}',
        '{"mechanism": "kary-response/1", "epsilon": 1, "categories": 2, "x": 1}',
        '{"mechanism": "kary-response/1", "epsilon": {"exact": "1e99999999"}, "categories": 2}',
        '{"mechanism": "kary-response/1", "epsilon": {"exact": 1}, "categories": 2}',
        '{"mechanism": ["kary-response/1"], "epsilon": 1, "categories": 2}',
        '{"mechanism": "rappor-discovery/1", "rappor": 1}',
        "[" * 100_000,
    ],
    ids=lambda text: text[:60],
)
def test_what_describes_no_mechanism_is_refused(text: str) -> None:
    with pytest.raises(ReportError, match="no description of a mechanism"):
        mechanism_from_json(text)


def test_devices_need_numpy_and_noise_only() -> None:
    """What runs on a device loads no SciPy, no accountant, no database."""
    code = """
import sys
import discreet.local.heavy, discreet.local.longitudinal, discreet.local.numeric
import discreet.local.rappor, discreet.local.sketches
heavy = [each for each in sys.modules if each.split(".")[0] in ("scipy", "duckdb", "sqlite3")]
ours = {each.split(".")[1] for each in sys.modules if each.startswith("discreet.")}
print(heavy, sorted(ours))
"""
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[] ['errors', 'local', 'noise', 'parameters']"


def test_a_tally_of_counts_keeps_whole_numbers(collector: Collector) -> None:
    collector.add_many(enumerate_ids([CLIENT.report(3) for _ in range(9)]))
    cells = collector.tally().cells
    assert cells.dtype == np.int64
    assert cells.sum() == 9
