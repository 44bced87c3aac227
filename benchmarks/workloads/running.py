"""Start a child for each system and workload, with a limit of time for every step."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from threading import Timer

from benchmarks.environments import ROOT, PeerError, reason_in
from benchmarks.workloads.child import ASKED, ENDED, OPENED, REFUSED, Rows, Told
from benchmarks.workloads.data import Site
from benchmarks.workloads.questions import Workload
from benchmarks.workloads.systems import System

ASKS = 3
WARMING_ASKS = 1
"""More, where several workloads share a child, because the first of each compiles and fetches."""

LARGE = 10**8
"""From so many rows on, one child asks all workloads, each once."""

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


def measure_all(
    system: System, workloads: Sequence[Workload], site: Site, limit: float
) -> dict[str, Outcome]:
    """Return what one system took for several workloads, by their names, in one child.

    Where there are so many rows that each is asked once, the first is asked twice: what is counted
    once for all is counted then.
    """
    is_large = site.rows >= LARGE
    asks = 1 if is_large else ASKS + WARMING_ASKS

    def command_for(names: Sequence[str]) -> list[str]:
        told = [*names[:1], *names] if is_large else names
        arguments = [",".join(told), str(site.folder), str(site.rows), str(asks)]
        return [*system.command(), *arguments, str(limit / ASKS)]

    return outcomes_of(command_for, [each.name for each in workloads], limit)


def outcome_of(command: list[str], limit: float) -> Outcome:
    """Run a child to its end, or until one of its steps takes longer than the limit."""
    return _outcome(_followed(command, limit), limit)


def outcomes_of(
    command_for: Callable[[Sequence[str]], list[str]], names: Sequence[str], limit: float
) -> dict[str, Outcome]:
    """Have one child ask several workloads.

    Where one of them fails or takes longer than the limit, another child asks what is left.
    """
    found: dict[str, Outcome] = {}
    left = list(names)
    while left:
        followed = _followed(command_for(left), limit)
        ended = followed.about(ENDED, REFUSED)
        is_open = any(each.kind == OPENED for each in followed.told)
        stopped = next((each for each in left if each not in ended), None)
        tried = [each for each in left if each in ended or each == stopped or not is_open]
        found |= {each: _outcome(followed.of(each), limit) for each in tried}
        left = [each for each in left if each not in found]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What a child told, whether it was ended because a step took too long, and its last words."""

    told: tuple[Told, ...]
    is_late: bool
    words: str

    def about(self, *kinds: str) -> set[str]:
        """Return the workloads of which such a line was told."""
        return {each.workload for each in self.told if each.kind in kinds}

    def of(self, workload: str) -> "Followed":
        """Return what was told of one workload, and of the opening before it."""
        own = [each for each in self.told if each.workload == workload]
        opening = [each for each in self.told if each.kind == OPENED]
        is_refused = any(each.kind == REFUSED for each in own)
        return replace(self, told=tuple(own if is_refused else [*opening, *own]))


def _outcome(followed: Followed, limit: float) -> Outcome:
    told = followed.told
    if told and told[0].kind == REFUSED:
        return Missing(words="cannot", reason=told[0].reason)
    asks = [each for each in told if each.kind == ASKED]
    if asks:
        return _measured(told, asks)
    if followed.is_late:
        step, seconds = ("a query", limit) if told else ("opening", limit * OPENINGS)
        return Missing(words=f"> {seconds:g} s", reason=f"{step} took longer than {seconds:g} s")
    return Missing(words=FAILED, reason=reason_in(followed.words))


def _followed(command: list[str], limit: float) -> Followed:
    """Follow a child to its end, or until one of its steps takes longer than the limit."""
    told: list[Told] = []
    with (
        TemporaryFile("w+") as complaints,
        subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            start_new_session=True,
        ) as child,
    ):
        deadline = Deadline(child, limit * OPENINGS)
        for line in child.stdout or ():
            if line.startswith('{"kind"'):
                told.append(Told(**json.loads(line)))
                deadline.move(limit)
        deadline.cancel()
        _end(child)
        complaints.seek(0)
        words = complaints.read()
    return Followed(told=tuple(told), is_late=deadline.has_passed, words=words)


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


def _measured(told: Sequence[Told], asks: Sequence[Told]) -> Measured:
    by_kind = {each.kind: each for each in told}
    ended = by_kind.get(ENDED)
    return Measured(
        opening=by_kind[OPENED].wall,
        opening_peak=by_kind[OPENED].peak,
        asking_peak=None if ended is None else ended.peak,
        asks=tuple(Ask(wall=each.wall, cpu=each.cpu, rows=each.rows or []) for each in asks),
    )
