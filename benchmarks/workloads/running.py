"""Start a child for each system and workload, with a limit of time for every step."""

import json
import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from tempfile import TemporaryFile
from threading import Timer
from typing import IO

from benchmarks.environments import ROOT, PeerError, reason_in
from benchmarks.workloads.child import ASKED, ENDED, OPENED, REFUSED, Rows, Told
from benchmarks.workloads.data import Site
from benchmarks.workloads.questions import Workload
from benchmarks.workloads.systems import System

ASKS = 3
FAILED = "failed"

OPENINGS = 10
"""Opening may take so many times as long as an ask: it is done once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One answer, and what it took in seconds."""

    wall: float
    cpu: float
    rows: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a child told; memory is in bytes, while opening and while asking."""

    opening: float
    opening_peak: int | None
    asking_peak: int | None
    asks: tuple[Ask, ...]

    @property
    def best(self) -> Ask:
        return min(self.asks, key=lambda each: each.wall)


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Why there is no figure: in a few words for a table, and in full."""

    words: str
    reason: str


Outcome = Measured | Missing


def measure(system: System, workload: Workload, site: Site, limit: float) -> Outcome:
    """Return what one system took for one workload, or why it has no answer."""
    arguments = [workload.name, str(site.folder), str(site.rows), str(ASKS), str(limit / ASKS)]
    try:
        command = [*system.command(), *arguments]
    except PeerError as error:
        return Missing(words="not installed", reason=str(error))
    return outcome_of(command, limit)


def outcome_of(command: list[str], limit: float) -> Outcome:
    """Run a child to its end, or until one of its steps takes longer than the limit."""
    with TemporaryFile("w+") as complaints:
        told, is_late = _followed(command, complaints, limit)
        complaints.seek(0)
        words = complaints.read()
    if told and told[0].kind == REFUSED:
        return Missing(words="cannot", reason=told[0].reason)
    asks = [each for each in told if each.kind == ASKED]
    if asks:
        return _measured(told, asks)
    if is_late:
        step, seconds = ("a query", limit) if told else ("opening", limit * OPENINGS)
        return Missing(words=f"> {seconds:g} s", reason=f"{step} took longer than {seconds:g} s")
    return Missing(words=FAILED, reason=reason_in(words))


def _followed(command: list[str], complaints: IO[str], limit: float) -> tuple[list[Told], bool]:
    """Return what a child told, and whether it was ended because a step took too long."""
    told: list[Told] = []
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=complaints,
        text=True,
        start_new_session=True,
    ) as child:
        deadline = Deadline(child, limit * OPENINGS)
        for line in child.stdout or ():
            if line.startswith('{"kind"'):
                told.append(Told(**json.loads(line)))
                deadline.move(limit)
        deadline.cancel()
        _end(child)
    return told, deadline.has_passed


class Deadline:
    """Ends a child, and all that it started, when a step takes too long."""

    def __init__(self, child: subprocess.Popen[str], seconds: float) -> None:
        self.has_passed = False
        self._child = child
        self._timer = self._started(seconds)

    def move(self, seconds: float) -> None:
        """Allow so many seconds from now on."""
        self._timer.cancel()
        self._timer = self._started(seconds)

    def cancel(self) -> None:
        self._timer.cancel()

    def _started(self, seconds: float) -> Timer:
        timer = Timer(seconds, self._pass)
        timer.daemon = True
        timer.start()
        return timer

    def _pass(self) -> None:
        self.has_passed = True
        _end(self._child)


def _end(child: subprocess.Popen[str]) -> None:
    """End the child's whole group of processes: what a peer started may outlive it."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _measured(told: list[Told], asks: list[Told]) -> Measured:
    by_kind = {each.kind: each for each in told}
    ended = by_kind.get(ENDED)
    return Measured(
        opening=by_kind[OPENED].wall,
        opening_peak=by_kind[OPENED].peak,
        asking_peak=None if ended is None else ended.peak,
        asks=tuple(Ask(wall=each.wall, cpu=each.cpu, rows=each.rows or []) for each in asks),
    )
