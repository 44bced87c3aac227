"""One system in one process, so that its memory is its own; tells by lines of JSON.

This is all that peers share with us but the questions; it needs the standard library only.
"""

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, TypeAlias, TypeVar

State = TypeVar("State")

Opening: TypeAlias = Callable[[Path, int], State]
"""Takes the folder of the data and the number of rows; what it does is done once."""

Found: TypeAlias = Any
"""Rows as a system returns them, keys first; the libraries of peers have no types."""

Asking: TypeAlias = Callable[[State, int], Found]
"""Takes what was opened and the number of this ask."""

OPENED, ASKED, ENDED, REFUSED = "opened", "asked", "ended", "refused"

Rows: TypeAlias = list[list[str | float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One line of a child: what happened, in seconds and bytes."""

    kind: str
    workload: str = ""
    wall: float = 0
    cpu: float = 0
    peak: int | None = None
    rows: Rows | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """How CPU seconds and the most bytes of memory are read, and looked for anew."""

    cpu: Callable[[], float]
    peak: Callable[[], int | None]
    forget: Callable[[], None]


def serve(
    opening: Opening[State],
    asking: Mapping[str, Asking[State]],
    refused: Mapping[str, str] | None = None,
    meter: Meter | None = None,
) -> None:
    """Open the data and ask, as the command line says: workloads, folder, rows, asks, seconds.

    Workloads are separated by commas. Each may take so many seconds, the last ask besides.
    """
    names, folder, rows, asks, seconds = sys.argv[1:6]
    meter = meter or OWN
    known = [name for name in names.split(",") if name in asking]
    for name in names.split(","):
        if name not in known:
            reason = (refused or {}).get(name, "it cannot express this")
            _tell(Told(kind=REFUSED, workload=name, reason=reason))
    if not known:
        return
    start = perf_counter()
    state = opening(Path(folder), int(rows))
    _tell(Told(kind=OPENED, wall=perf_counter() - start, peak=meter.peak()))
    last: Counter[str] = Counter()
    for name in known:
        meter.forget()
        # A number that was used before would bring back a saved answer.
        numbers = range(last[name], last[name] + int(asks))
        for told in _asks(asking[name], state, meter, numbers, float(seconds)):
            _tell(replace(told, workload=name))
        last[name] += int(asks)
        _tell(Told(kind=ENDED, workload=name, peak=meter.peak()))
    _end()


def _asks(
    ask: Asking[State], state: State, meter: Meter, numbers: Iterable[int], seconds: float
) -> Iterator[Told]:
    begin = perf_counter()
    for number in numbers:
        cpu, wall = meter.cpu(), perf_counter()
        found = list(ask(state, number))
        wall, cpu = perf_counter() - wall, meter.cpu() - cpu
        yield Told(kind=ASKED, wall=wall, cpu=cpu, rows=[list(map(_plain, row)) for row in found])
        if perf_counter() - begin > seconds:
            break


def _tell(told: Told) -> None:
    print(json.dumps(asdict(told)), flush=True)


def _plain(value: object) -> str | float:
    """Return a key or a number without the types of libraries."""
    return value if isinstance(value, str | int) else float(str(value))


def _end() -> None:
    """End with all processes that were started: freeing gigabytes takes longer than it is worth."""
    for each in descendants(os.getpid()):
        with suppress(OSError):
            os.kill(each, signal.SIGKILL)
    os._exit(0)


# --------------------------------------------------------------------------- what it takes


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it started."""
    ticks = sum(ticks_of(each) for each in descendants(os.getpid()))
    ended = os.times()
    each_tick = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
    return process_time() + ended.children_user + ended.children_system + ticks / each_tick


def peak_bytes() -> int | None:
    """Return the most memory that this process held, and those that it started; None if untold."""
    peaks = [_peak(each) for each in (os.getpid(), *descendants(os.getpid()))]
    known = [each for each in peaks if each is not None]
    return sum(known) if known else None


def forget_peak() -> None:
    """Begin to look for peaks anew, where the system lets one."""
    for each in (os.getpid(), *descendants(os.getpid())):
        with suppress(OSError):
            Path(f"/proc/{each}/clear_refs").write_text("5")


OWN = Meter(cpu=cpu_seconds, peak=peak_bytes, forget=forget_peak)
"""Of this process and of those that it started."""


def _peak(process: int) -> int | None:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return None


def ticks_of(process: int) -> int:
    """Return the clock ticks of a process and of its children that ended."""
    fields = _stat(process)
    return sum(map(int, fields[11:15])) if fields else 0


def ended_ticks_of(process: int) -> int:
    """Return the clock ticks of the children of a process that ended."""
    fields = _stat(process)
    return sum(map(int, fields[13:15])) if fields else 0


def descendants(process: int) -> Iterator[int]:
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                yield child
                yield from descendants(child)


def _stat(process: int) -> list[str]:
    """Return the fields after the name, which may hold blanks."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return []
