"""Processes that ask a real curator, and die where they are told to.

They are forked by a server that has opened nothing, so that no thread and no lock is copied.
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import discreet
import discreet.curator
import discreet.executor
from discreet.curator import Curator
from discreet.engines.duckdb import DuckDbEngine
from discreet.errors import BudgetError
from discreet.ledger.stored import StoredLedger
from discreet.planner import Planner
from tests.ledger.stores import connection_of, die

COUNT = "SELECT COUNT(*) AS n FROM people"
NESTED = "SELECT COUNT(*) AS n FROM people WHERE age > (SELECT AVG(age) FROM people)"
"""Two releases: a number, and one that depends on it."""

TENTH = Fraction(1, 10)

CATALOG = """
[budget]
epsilon = {epsilon}

[source]
ledger = "{ledger}"

[tables.people]
from = "people.csv"
unit = "who"
rows_per_unit = 1

[tables.people.columns]
who = {{ type = "integer" }}
age = {{ type = "integer", bounds = [0, 120] }}
"""

STEPS: tuple[tuple[Any, str], ...] = (
    (Planner, "plan"),
    (StoredLedger, "charge_all"),
    (DuckDbEngine, "run"),
    (discreet.executor, "release"),
    (discreet.executor, "bytes_from_noisy"),
    (StoredLedger, "keep"),
    (discreet.curator, "present"),
)
"""From the question to the answer: each has a beginning and an end at which to die."""

PROCESSES = get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.crashing"])


def write_people(folder: Path, ledger: str, epsilon: Fraction | int) -> Path:
    """Write a small table and its catalog, whose ledger is elsewhere, and return the catalog."""
    rows = "".join(f"{i},{20 + i % 50}\n" for i in range(300))
    (folder / "people.csv").write_text(f"who,age\n{rows}", encoding="utf-8")
    catalog = folder / "discreet.toml"
    given = CATALOG.format(epsilon=float(epsilon), ledger=ledger)
    catalog.write_text(given, encoding="utf-8")
    return catalog


def answer_in(catalog: Path, sql: str) -> str:
    """Return what a curator answers, as text."""
    with discreet.open(catalog) as people:
        return json.dumps(people.ask(sql, epsilon=1).rows)


class Countdown:
    """Dies at one of the steps that it is told of."""

    def __init__(self, last: int) -> None:
        self._left = last

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            die()

    def around(self, act: Callable[..., object]) -> Callable[..., object]:
        def watched(*given: object, **named: object) -> object:
            self.step()
            result = act(*given, **named)
            self.step()
            return result

        return watched


def ask_dying_at(
    catalog: Path, sql: str, last: int, seen: Path, *, within_the_ledger: bool = False
) -> None:
    """Ask, die at a step, and before that leave in a file what was seen of the answer."""
    countdown = Countdown(last)
    with discreet.open(catalog) as people:
        for owner, name in STEPS:
            setattr(owner, name, countdown.around(getattr(owner, name)))
        if within_the_ledger:
            _trace(people._ledger, countdown.step)
        answer = json.dumps(people.ask(sql, epsilon=1).rows)
        countdown.step()
        seen.write_text(answer, encoding="utf-8")
        countdown.step()


def _trace(ledger: Any, step: Callable[[], None]) -> None:
    """Count every statement that a ledger runs from now on as a step."""
    connection = connection_of(ledger)
    if hasattr(connection, "set_trace_callback"):
        connection.set_trace_callback(lambda _: step())
        return
    execute = connection.execute

    def traced(*given: object) -> object:
        step()
        return execute(*given)

    connection.execute = traced


def ask_the_same(catalog: Path, barrier: Any, seen: Path) -> None:
    """Ask at the same time as others, and leave the answer in a file."""
    with discreet.open(catalog) as people:
        barrier.wait()
        seen.write_text(json.dumps(people.ask(NESTED, epsilon=1).rows), encoding="utf-8")


def ask_others(catalog: Path, barrier: Any, threads: int, number: int, seen: Path) -> None:
    """Ask different questions in so many threads, and leave in a file how each ended."""
    with discreet.open(catalog) as people, ThreadPoolExecutor(threads) as pool:
        barrier.wait()
        ends = list(pool.map(lambda i: _end_of(people, number * threads + i), range(threads)))
    seen.write_text("\n".join(ends), encoding="utf-8")


def _end_of(people: Curator, number: int) -> str:
    sql = f"SELECT COUNT(*) AS n FROM people WHERE who <> {number}"  # noqa: S608 - our own number
    try:
        people.ask(sql, epsilon=TENTH)
    except BudgetError as refusal:
        asked, left = refusal.requested["epsilon"], refusal.remaining["epsilon"]
        lacking = "would cost ε = 0.1, and ε = 0 remains" in str(refusal)
        return "refused" if asked == TENTH and left == 0 and lacking else f"wrongly {refusal}"
    return "answered"


def run(act: Callable[..., None], *given: object, **named: object) -> int:
    """Run something in a process of its own and return how that ended."""
    return ends_of([start(act, *given, **named)])[0]


def start(act: Callable[..., None], *given: object, **named: object) -> Any:
    """Start something in a process of its own."""
    process = PROCESSES.Process(target=act, args=given, kwargs=named)
    process.start()
    return process


def ends_of(processes: list[Any]) -> list[int]:
    """Return how processes ended: their exit codes, or minus the signals that killed them."""
    for each in processes:
        each.join()
    ends = [int(each.exitcode) for each in processes]
    for each in processes:
        each.close()
    return ends
