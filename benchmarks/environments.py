"""One virtual environment per peer, made once under .venvs/, so that no peer meets another."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryFile

import numpy as np

ROOT = Path(__file__).parents[1]
VENVS = ROOT / ".venvs"
STAMP = "installed.txt"

NUMPY = f"numpy=={np.__version__}"
"""Our own: the yardstick must be the same work on both sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A library to compare with, and the script of ours that drives it."""

    name: str
    requirement: str
    module: str
    besides: tuple[str, ...] = (NUMPY,)

    @property
    def requirements(self) -> tuple[str, ...]:
        return self.requirement, *self.besides


OPENDP = Peer(name="OpenDP", requirement="opendp==0.16.0", module="benchmarks.peers.opendp")
OPENDP_TREE = Peer(
    name="OpenDP", requirement="opendp==0.16.0", module="benchmarks.peers.opendp_tree"
)
PYTHON_DP = Peer(
    name="python-dp", requirement="python-dp==1.1.5", module="benchmarks.peers.python_dp"
)
DP_ACCOUNTING = Peer(
    name="dp-accounting",
    requirement="dp-accounting==0.6.0",
    module="benchmarks.peers.dp_accounting",
)


class PeerError(Exception):
    """A peer could not be installed or run; the sentence says why."""


def lines_from_peer(peer: Peer) -> Iterator[str]:
    """Run the peer's script in its own environment and yield the lines it writes."""
    yield from lines_from_module(peer.module, python=python_of(peer), name=peer.name)


def lines_from_module(
    module: str, *arguments: str, python: Path = Path(sys.executable), name: str = "discreet"
) -> Iterator[str]:
    """Run a module of this suite in a fresh process and yield the lines it writes."""
    command = [str(python), "-m", module, *arguments]
    with (
        TemporaryFile("w+") as complaints,
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=complaints, text=True
        ) as process,
    ):
        yield from process.stdout or ()
        if process.wait():
            complaints.seek(0)
            raise PeerError(f"{name} failed: {reason_in(complaints.read())}")


def python_of(peer: Peer) -> Path:
    """Return the interpreter of the peer's environment, made now if it is not there yet."""
    home = VENVS / peer.requirement.partition("==")[0]
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    stamp = home / STAMP
    wanted = "\n".join(peer.requirements)
    if not stamp.exists() or stamp.read_text() != wanted:
        rmtree(home, ignore_errors=True)
        _checked(peer, [sys.executable, "-m", "venv", str(home)])
        _checked(peer, [str(python), "-m", "pip", "install", "--quiet", *peer.requirements])
        stamp.write_text(wanted)
    return python


def _checked(peer: Peer, command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PeerError(f"{peer.name} is not installed: {reason_in(done.stderr)}")


def reason_in(complaints: str) -> str:
    """Return the last line of complaints that speaks of an error, or the last line."""
    lines = complaints.strip().splitlines() or ["no reason given"]
    return next((line for line in reversed(lines) if "error" in line.lower()), lines[-1])
