"""Files that people ask for are written where they say, and nowhere else."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.demo import write_clinic
from discreet.errors import CollectionError, DiscreetError, ParameterError
from discreet.local import KaryResponse
from discreet.local.collector import Collector
from discreet.mechanisms import Geometric
from discreet.writing import write_file
from tests.answer.made import make_regions
from tests.cli.conftest import Discreet
from tests.cli.conftest import discreet as discreet  # noqa: PLC0414 - a fixture
from tests.cli.conftest import folder as folder  # noqa: PLC0414 - a fixture

COUNT = "SELECT COUNT(*) AS n FROM visits"

WAYS: dict[str, Callable[[Path], object]] = {
    "write_file": lambda path: write_file("path", path, b"new"),
    "plot": lambda path: Geometric(epsilon=1, sensitivity=1).plot().save(path),
    "to_csv": lambda path: make_regions().to_csv(path),
    "collect": lambda path: Collector.create(path, KaryResponse(epsilon=1, categories=3)).close(),
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_written_through_a_link(tmp_path: Path, way: str) -> None:
    kept, absent = tmp_path / "kept", tmp_path / "absent"
    kept.write_text("old")
    for target in (kept, absent):
        link = tmp_path / f"to-{target.name}.png"
        link.symlink_to(target)
        with pytest.raises(DiscreetError, match="symbolic link"):
            WAYS[way](link)
        assert link.is_symlink()
    assert kept.read_text() == "old"
    assert not absent.exists()


@pytest.mark.parametrize("way", WAYS)
def test_no_folder_is_made(tmp_path: Path, way: str) -> None:
    with pytest.raises(DiscreetError, match="folder"):
        WAYS[way](tmp_path / "new" / "file.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("way", [each for each in WAYS if each != "collect"])
def test_only_plain_files_are_written_over(tmp_path: Path, way: str) -> None:
    (tmp_path / "folder.png").mkdir()
    os.mkfifo(tmp_path / "pipe.png")
    for name in ("folder.png", "pipe.png"):
        with pytest.raises(ParameterError, match="not a folder or a device"):
            WAYS[way](tmp_path / name)
    plain = tmp_path / "plain.png"
    plain.write_bytes(b"x" * 100_000)
    plain.chmod(0o600)
    WAYS[way](plain)
    assert 0 < len(plain.read_bytes()) < 100_000
    assert plain.stat().st_mode & 0o777 == 0o600


def test_a_collection_takes_nothing_elses_place(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(CollectionError):
        WAYS["collect"](tmp_path / "folder")


def test_the_tour_writes_over_no_link(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("old")
    (tmp_path / "visits.csv").symlink_to(tmp_path / "kept")
    with pytest.raises(ParameterError, match="symbolic link"):
        write_clinic(tmp_path)
    assert (tmp_path / "kept").read_text() == "old"


COMMANDS = {
    "ask": ("ask", COUNT, "-e", "0.1", "--plot"),
    "design": ("design", "--range", "0", "4", "-e", "1", "--plot"),
    "attack": ("attack", "averaging", "--plot"),
    "audit": ("audit", "--quick", "--only", "Laplace", "--plot"),
    "init": ("init", "visits.csv", "--force", "--output"),
    "simulate": ("local", "simulate", "-e", "1", "--people", "10", "--output"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_refuses_a_place_before_it_does_anything(
    folder: Path, discreet: Discreet, command: str
) -> None:
    (folder / "kept").write_text("old")
    (folder / "link.png").symlink_to(folder / "kept")
    os.mkfifo(folder / "pipe.png")
    (folder / "a.png").mkdir()
    for place in ("link.png", "pipe.png", "a.png", "no/where.png"):
        ended = discreet(*COMMANDS[command], place)
        assert ended.code == 1, ended
        assert not ended.out
        assert ended.err.count("\n") == 1
    assert (folder / "kept").read_text() == "old"
    assert not (folder / "no").exists()
    assert not (folder / "discreet.ledger").exists(), "nothing was charged"
