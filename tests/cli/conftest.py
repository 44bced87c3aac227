"""A small private table with its catalog, and the command to ask it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.runs import Ended, call, write_visits

Discreet = Callable[..., Ended]


@pytest.fixture(autouse=True)
def _own_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no command hear of ledgers that other tests made of the same data."""
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "registry"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with visits.csv and discreet.toml; the user's own state is elsewhere."""
    monkeypatch.chdir(write_visits(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


@pytest.fixture
def discreet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Discreet:
    """Run the command in this process, which is quicker than in one of its own."""

    def run(*arguments: str) -> Ended:
        return call(capsys, monkeypatch, *arguments)

    return run
