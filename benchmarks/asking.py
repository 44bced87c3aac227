"""Ask questions in a fresh process: their times next to plain SQL's, or the memory of one."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import wraps
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import ParamSpec, TypeVar

from benchmarks.report import RESULTS
from benchmarks.visits import BY_NAME, QUESTIONS, Question, open_raw, open_visits, sources
from discreet.answer.present import present
from discreet.curator import Curator
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb.store import Store, bound
from discreet.engines.public_store import PublicStore
from discreet.ledger import SqliteLedger
from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.plan import make_plan
from discreet.release import release
from discreet.reuse import Reuse

P = ParamSpec("P")
T = TypeVar("T")

BIND, RUN = "bind private", "run"
ENGINE = (BIND, RUN)
"""What the engine does with the SQL that is written for it, each once; all else is our own."""

REST = "rest"

STAGES = (
    "parse",
    "check",
    "bind afterwards",
    "plan",
    BIND,
    "charge",
    RUN,
    "release",
    "present",
)

FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "parse": parse,
    "check": check,
    "plan": make_plan,
    BIND: bound,
    "release": release,
    "present": present,
}
METHODS: tuple[tuple[str, type, tuple[str, ...]], ...] = (
    ("bind afterwards", PublicStore, ("check",)),
    ("charge", Reuse, ("find",)),
    ("charge", SqliteLedger, ("find", "charge_all", "keep", "remaining", "check")),
    (RUN, DuckDbEngine, ("run",)),
)
"""What each stage of a question is done by."""

RAW, OURS, FILED = "raw", "ours", "ours, ledger in a file"

LEAST_TURNS = 3
MOST_TURNS = 40


class Stopwatch:
    """Adds up the seconds of each stage; what one stage calls counts as its own."""

    def __init__(self) -> None:
        self.reset()
        self._is_running = False

    def reset(self) -> None:
        self.wall = dict.fromkeys(STAGES, 0.0)
        self.cpu = dict.fromkeys(STAGES, 0.0)

    def timed(self, stage: str, function: Callable[P, T]) -> Callable[P, T]:
        """Return the function, timed."""

        @wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> T:
            if self._is_running:
                return function(*args, **kwargs)
            self._is_running = True
            wall, cpu = perf_counter(), process_time()
            try:
                return function(*args, **kwargs)
            finally:
                self._is_running = False
                self.wall[stage] += perf_counter() - wall
                self.cpu[stage] += process_time() - cpu

        return run

    def attach(self) -> None:
        """Time all parts of a question from now on, for the rest of this process."""
        for stage, function in FUNCTIONS.items():
            _replace(function, self.timed(stage, function))
        for stage, owner, names in METHODS:
            for name in names:
                setattr(owner, name, self.timed(stage, getattr(owner, name)))


def _replace(function: Callable[..., object], by: Callable[..., object]) -> None:
    """Put another function in the place of one, in every module that imported it."""
    for name, module in list(sys.modules.items()):
        if name.startswith("discreet."):
            for key, value in list(vars(module).items()):
                if value is function:
                    setattr(module, key, by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The same table, open for plain SQL and for curators."""

    rows: int
    store: Store
    curators: dict[str, Curator]
    stopwatch: Stopwatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One run: its wall and CPU seconds, and those of its stages if it has any."""

    wall: float
    cpu: float
    stages: dict[str, float]
    stages_cpu: dict[str, float]

    @property
    def own(self) -> float:
        """Wall seconds of all but the engine's part."""
        return self.wall - sum(self.stages[each] for each in ENGINE)

    @property
    def own_cpu(self) -> float:
        return self.cpu - sum(self.stages_cpu[each] for each in ENGINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A way to answer a question: medians of its turns. Own is all but the engine's part."""

    question: str
    way: str
    rows: int
    turns: int
    wall: float
    cpu: float
    own: float
    own_cpu: float
    stages: dict[str, float]
    stages_cpu: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """How long loading took, for us and for plain SQL, and how much memory the table holds."""

    rows: int
    raw: float
    ours: float
    bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The most memory that a first question took above the loaded table, if the system tells."""

    question: str
    rows: int
    bytes: int | None


# --------------------------------------------------------------------------- times


def tell_times(rows: int, seconds: float, *, filed: bool) -> None:
    """Write how long loading takes, then one line for each question and way."""
    curator, store = _opened(rows)
    stopwatch = Stopwatch()
    stopwatch.attach()
    with TemporaryDirectory(dir=RESULTS) as folder:
        curators = {OURS: curator}
        if filed:
            curators[FILED] = open_visits(rows, Path(folder) / "bench.ledger")
        desk = Desk(rows=rows, store=store, curators=curators, stopwatch=stopwatch)
        for question in QUESTIONS:
            for timed in time_question(question, desk, seconds):
                tell(timed)
        for each in curators.values():
            each.close()


def _opened(rows: int) -> tuple[Curator, Store]:
    """Open the table for plain SQL and for us, once the file has been read before, and tell."""
    sources(rows)
    before = _resident("VmRSS")
    first = open_visits(rows)
    after = _resident("VmRSS")
    first.close()
    held = None if before is None or after is None else after - before
    raw, store = _lapped(lambda: open_raw(rows))
    ours, curator = _lapped(lambda: open_visits(rows))
    tell(Opened(rows=rows, raw=raw, ours=ours, bytes=held))
    return curator, store


def _lapped(make: Callable[[], T]) -> tuple[float, T]:
    start = perf_counter()
    made = make()
    return perf_counter() - start, made


def time_question(question: Question, desk: Desk, seconds: float) -> list[Timed]:
    """Answer a question in all ways in turns, each time anew, for about `seconds`."""
    fresh = count(1)

    def raw() -> object:
        with desk.store.cursor() as cursor:
            return cursor.sql(question.sql).to_arrow_table()

    def ours(curator: Curator) -> Callable[[], object]:
        return lambda: ask(curator, question, next(fresh))

    ways: dict[str, Callable[[], object]] = {RAW: raw}
    ways.update({name: ours(each) for name, each in desk.curators.items()})
    for run in ways.values():
        run()  # what is loaded or compiled once is not part of a question
    found: dict[str, list[Turn]] = {way: [] for way in ways}
    end = perf_counter() + seconds
    for turn in range(MOST_TURNS):
        if turn >= LEAST_TURNS and perf_counter() > end:
            break
        for way, run in ways.items():
            found[way].append(one_turn(run, desk.stopwatch))
    return [medians(question.name, way, desk.rows, turns) for way, turns in found.items()]


def ask(curator: Curator, question: Question, number: int) -> object:
    """Ask for a price that was not asked before, so that no kept answer is returned."""
    epsilon = question.epsilon * (1 + number / 2**20)
    return curator.ask(question.sql, epsilon=epsilon, delta=question.delta)


def one_turn(run: Callable[[], object], stopwatch: Stopwatch) -> Turn:
    stopwatch.reset()
    cpu, wall = process_time(), perf_counter()
    run()
    return Turn(
        wall=perf_counter() - wall,
        cpu=process_time() - cpu,
        stages=dict(stopwatch.wall),
        stages_cpu=dict(stopwatch.cpu),
    )


def medians(question: str, way: str, rows: int, turns: list[Turn]) -> Timed:
    stages = {stage: median(each.stages[stage] for each in turns) for stage in STAGES}
    stages[REST] = median(each.wall - sum(each.stages.values()) for each in turns)
    cpu = {stage: median(each.stages_cpu[stage] for each in turns) for stage in STAGES}
    cpu[REST] = median(each.cpu - sum(each.stages_cpu.values()) for each in turns)
    return Timed(
        question=question,
        way=way,
        rows=rows,
        turns=len(turns),
        wall=median(each.wall for each in turns),
        cpu=median(each.cpu for each in turns),
        own=median(each.own for each in turns),
        own_cpu=median(each.own_cpu for each in turns),
        stages=stages,
        stages_cpu=cpu,
    )


# --------------------------------------------------------------------------- memory


def tell_memory(rows: int, name: str) -> None:
    """Write the peak of the first question of a process, which nothing before it has raised."""
    with open_visits(rows) as curator:
        before = _resident("VmRSS")
        is_reset = _forget_peak()
        ask(curator, BY_NAME[name], 0)
        peak = _resident("VmHWM") if is_reset else None
    above = None if before is None or peak is None else peak - before
    tell(Remembered(question=name, rows=rows, bytes=above))


def _forget_peak() -> bool:
    """Reset the high-water mark of this process; say whether that can be done here."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
        return True
    return False


def _resident(field: str) -> int | None:
    """Return bytes of this process in memory, now (VmRSS) or at most (VmHWM)."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    return None


def tell(what: Opened | Timed | Remembered) -> None:
    line = {"kind": type(what).__name__, **asdict(what)}
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    task, rows_text, *more = sys.argv[1:]
    if task == "memory":
        tell_memory(int(rows_text), more[0])
    else:
        tell_times(int(rows_text), float(more[0]), filed="filed" in more)
    os._exit(0)  # freeing gigabytes takes longer than it is worth
