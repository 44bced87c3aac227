"""Our own part of a query: all but what the engine does with its SQL, stage by stage."""

import json
import os
import sys
from fractions import Fraction
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.asking import (
    FILED,
    LEAST_TURNS,
    OURS,
    REST,
    STAGES,
    Stopwatch,
    Timed,
    Turn,
    medians,
    one_turn,
    tell,
)
from benchmarks.environments import lines_from_module
from benchmarks.report import RESULTS, Figure, Report, Say, Table, Target
from benchmarks.visits import Question, open_visits
from discreet.curator import Curator

ROWS = 10**6

SECONDS = 3.0
"""For each question and ledger."""

OWN_MS = 15.0

COUNT_MS = 4.0
"""Of queries that count rows in groups that are known, or in all."""

COUNTS = (
    "total",
    "by known groups",
    "total again",
    "by known groups again",
)

QUESTIONS = (
    Question(name="total", sql="SELECT COUNT(*) AS n{0} FROM visits WHERE age <> {1}"),
    Question(
        name="by known groups",
        sql="SELECT region, COUNT(*) AS n{0} FROM visits WHERE age <> {1} GROUP BY region",
    ),
    Question(
        name="by known groups, new shape",
        sql="SELECT region, COUNT(*) AS n{2} FROM visits WHERE age <> {1} GROUP BY region",
    ),
    Question(name="total again", sql="SELECT COUNT(*) AS n FROM visits WHERE age <> 7"),
    Question(
        name="by known groups again",
        sql="SELECT region, COUNT(*) AS n FROM visits GROUP BY region",
    ),
    Question(
        name="by region",
        sql="SELECT region, COUNT(*) AS n{0}, SUM(cost) AS cost, AVG(age) AS age FROM visits "
        "WHERE age <> {1} GROUP BY region",
    ),
    Question(
        name="by undeclared groups",
        sql="SELECT city, COUNT(*) AS n{0} FROM visits WHERE age <> {1} GROUP BY city",
        delta=Fraction(1, 10**6),
    ),
    Question(
        name="ordered",
        sql="SELECT region, AVG(age) AS age{0} FROM visits WHERE age <> {1} GROUP BY region "
        "HAVING COUNT(*) > 10 ORDER BY 2 DESC LIMIT 5",
    ),
)
"""Each has a place for a name and for a number, so that no text is ever asked twice; those that are
asked again have none, and another epsilon each time. Names in letters have a shape of their own."""

FRESH = count(1000)
"""Numbers that no question had before: kept answers of others are about other rows."""


def run(say: Say) -> Report:
    """Ask each question with texts that were never asked before, in a process of its own."""
    timed, busy = [], os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    for line in lines_from_module("benchmarks.overhead", str(ROWS), str(SECONDS)):
        timed.append(Timed(**{k: v for k, v in json.loads(line).items() if k != "kind"}))
        say(f"{timed[-1].question}, {timed[-1].way}")
    return Report(name="overhead", tables=[_table(timed, busy)], targets=_targets(timed))


def _table(timed: list[Timed], busy: float | None) -> Table:
    lines: list[tuple[str | Figure, ...]] = [
        (stage, *(Figure(each.stages_cpu[stage] * 1e3) for each in timed))
        for stage in (*STAGES, REST)
    ]
    lines.append(("our own", *(Figure(each.own_cpu * 1e3) for each in timed)))
    lines.append(("our own, wall", *(Figure(each.own * 1e3) for each in timed)))
    return Table(
        title="Our own part of a query: CPU ms by stage",
        columns=("stage", *(_heading(each) for each in timed)),
        rows=lines,
        notes=[
            "Medians of CPU ms; the last row is wall ms. (f): the ledger is a file.",
            "Our own is all but bind private and run: any SQL is bound and run once.",
            "total: COUNT(*). by known groups: COUNT(*) by 20 declared groups. "
            "again: the same text at another ε; the texts of all others are new, and differ from "
            "earlier ones in digits alone. new shape: in letters, so all of it is checked. "
            "by region: COUNT, SUM and AVG by 20 declared groups. "
            "by undeclared groups: COUNT by 20 undeclared groups above the threshold. "
            "ordered: AVG by 20 declared groups, with HAVING, ORDER BY and LIMIT.",
            *([] if busy is None else [f"The machine's load was {busy:.1f} before this run."]),
        ],
    )


def _heading(timed: Timed) -> str:
    return f"{timed.question} (f)" if timed.way == FILED else timed.question


def _targets(timed: list[Timed]) -> list[Target]:
    return [
        Target(
            sentence=f"our own CPU time of {_heading(each)}",
            measured=each.own_cpu * 1e3,
            unit="ms",
            most=COUNT_MS if each.question in COUNTS else OWN_MS,
        )
        for each in timed
    ]


def tell_times(rows: int, seconds: float) -> None:
    """Write a line for each question, with the ledger in memory and in a file."""
    stopwatch = Stopwatch()
    stopwatch.attach()
    RESULTS.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=RESULTS) as folder:
        ways = {OURS: open_visits(rows), FILED: open_visits(rows, Path(folder) / "bench.ledger")}
        for question in QUESTIONS:
            for way, curator in ways.items():
                turns = _turns(curator, question, stopwatch, seconds)
                tell(medians(question.name, way, rows, turns))
        for curator in ways.values():
            curator.close()


def _turns(
    curator: Curator, question: Question, stopwatch: Stopwatch, seconds: float
) -> list[Turn]:
    turns: list[Turn] = []
    end = perf_counter() + seconds
    while len(turns) <= LEAST_TURNS or perf_counter() < end:
        number = next(FRESH)
        letters = "".join("abcdefghij"[int(each)] for each in str(number))
        sql = question.sql.format(len(turns), number, letters)
        epsilon = question.epsilon
        if sql == question.sql:
            epsilon *= 1 + Fraction(number, 2**20)
        asked = partial(curator.ask, sql, epsilon=epsilon, delta=question.delta)
        turns.append(one_turn(asked, stopwatch))
    return turns[1:]  # what is loaded or compiled once is not part of a question


if __name__ == "__main__":
    tell_times(int(sys.argv[1]), float(sys.argv[2]))
