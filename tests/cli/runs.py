"""The command as users run it: in a process of its own, or, for speed, in this one."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from discreet.cli import main

VISITS = "visits.csv"

CATALOG = """\
[budget]
epsilon = 2.0
delta = 1e-6

[tables.visits]
from = "visits.csv"
unit = "patient_id"
rows_per_unit = 3

[tables.visits.columns]
patient_id = { type = "integer" }
age = { type = "integer", bounds = [0, 110] }
region = { type = "text", values = ["north", "south"] }
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended, and what it said where."""

    code: int
    out: str
    err: str


def write_visits(folder: Path) -> Path:
    """Write a small table and its catalog, and return the folder."""
    rows = [f"{i // 2},{20 + i % 60},{('north', 'south')[i % 2]}" for i in range(600)]
    (folder / VISITS).write_text("\n".join(["patient_id,age,region", *rows]) + "\n")
    (folder / "discreet.toml").write_text(CATALOG)
    return folder


def run(*arguments: str, folder: Path | None = None, given: str = "") -> Ended:
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "discreet", *arguments]
    plain = os.environ | {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(  # noqa: S603 - our own command
        command, cwd=folder, input=given, capture_output=True, text=True, env=plain, check=False
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> Ended:
    """Run the command in this process."""
    monkeypatch.setattr(sys, "argv", ["discreet", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr()
    return Ended(int(left.value.code or 0), said.out, said.err)
