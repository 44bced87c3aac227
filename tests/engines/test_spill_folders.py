"""Folders that tables spill to: private, and gone after the process, however it ended."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from discreet.engines.base import ResourceLimits
from discreet.engines.duckdb.store import PREFIX, Store, make_spill, remove_abandoned
from discreet.locked_folders import LOCK

SPILLING = """
import sys
from discreet.engines.base import ResourceLimits
from discreet.engines.duckdb.store import Store
store = Store(ResourceLimits(memory="40MB", threads=1))
if sys.argv[1] == "spill":
    store.connection.execute(
        "CREATE TABLE t AS SELECT i, i * 7919 % 1000003 AS j, repeat('secret', 9) || i AS s "
        "FROM range(1500000) t(i)"
    )
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def started(what: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-c", SPILLING, what],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def ended(process: "subprocess.Popen[str]", how: int) -> None:
    process.send_signal(how)
    process.communicate()


def folders(temporary: Path) -> list[Path]:
    return sorted(temporary.glob(f"{PREFIX}*"))


def test_a_folder_is_private_and_goes_with_its_store(temporary: Path) -> None:
    store = Store(ResourceLimits(threads=1))
    (folder,) = folders(temporary)
    assert folder.stat().st_mode & 0o777 == 0o700
    store.close()
    assert folders(temporary) == []


def test_what_a_killed_process_spilt_is_removed_at_the_next_start(temporary: Path) -> None:
    killed, living = started("spill"), started("wait")
    assert any(path.stat().st_size > 10**6 for path in temporary.rglob("*.tmp"))
    ended(killed, signal.SIGKILL)
    assert len(folders(temporary)) == 2
    after = started("wait")
    try:
        assert len(folders(temporary)) == 2, "those of the two that live"
    finally:
        ended(living, signal.SIGKILL)
        ended(after, signal.SIGKILL)
    remove_abandoned()
    assert folders(temporary) == []


def test_the_folder_of_a_living_process_stays(temporary: Path) -> None:
    spill = make_spill()
    remove_abandoned()
    assert folders(temporary) == [spill.folder]
    spill.remove()
    assert folders(temporary) == []


def test_a_fork_keeps_the_folder_of_its_parent(temporary: Path) -> None:
    spill = make_spill()
    child = os.fork()
    if child == 0:
        try:
            remove_abandoned()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert folders(temporary) == [spill.folder]
    spill.remove()


def test_no_link_is_followed_and_nothing_else_is_removed(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = temporary / "kept"
    kept.mkdir()
    (kept / LOCK).touch()
    (kept / "precious").touch()
    (temporary / f"{PREFIX}link").symlink_to(kept)
    (temporary / f"{PREFIX}file").touch()
    (temporary / f"{PREFIX}begun").mkdir()  # has no lock yet
    (temporary / f"{PREFIX}linked").mkdir()
    (temporary / f"{PREFIX}linked" / LOCK).symlink_to(kept / LOCK)
    dead = temporary / f"{PREFIX}dead"
    dead.mkdir()
    (dead / LOCK).touch()
    (dead / "out").symlink_to(kept)
    before = {each.name for each in folders(temporary)}
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    remove_abandoned()
    assert {each.name for each in folders(temporary)} == before, "all are another user's"
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    remove_abandoned()
    assert {each.name for each in folders(temporary)} == before - {dead.name}
    assert (kept / "precious").exists()
