"""Our own part of a query in two checkouts, in turns: what a change costs, on a busy machine too.

`python -m benchmarks.checkouts OLD`, where OLD is a worktree of an earlier commit.
"""

import json
import os
import sys
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from subprocess import run

from rich.console import Console

from benchmarks.environments import ROOT
from benchmarks.overhead import ROWS
from benchmarks.report import Figure, Report, Table, show

STAGES = ("parse", "check", "plan")
"""What is done before any data is read."""

Case = tuple[str, str]
"""A question, and the way it is asked."""

Times = Mapping[Case, Mapping[str, list[float]]]
"""CPU ms of each round, by stage."""

OWN = "our own"


def compared(old: Path, rounds: int, seconds: float) -> Report:
    """Ask the questions of `benchmarks.overhead` in both checkouts, round by round."""
    found: dict[Path, dict[Case, dict[str, list[float]]]] = {
        each: defaultdict(lambda: defaultdict(list)) for each in (old, ROOT)
    }
    for turn in range(rounds):
        for checkout in (old, ROOT) if turn % 2 else (ROOT, old):
            for case, stage, milliseconds in _round(checkout, seconds):
                found[checkout][case][stage].append(milliseconds)
    return Report(name="checkouts", tables=[_table(found[old], found[ROOT], rounds)], targets=[])


def _round(checkout: Path, seconds: float) -> Iterator[tuple[Case, str, float]]:
    paths = os.pathsep.join([str(checkout / "src"), str(checkout)])
    done = run(
        [sys.executable, "-m", "benchmarks.overhead", str(ROWS), str(seconds)],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    for line in map(json.loads, done.stdout.splitlines()):
        case = line["question"], line["way"]
        yield case, OWN, line["own_cpu"] * 1e3
        for stage in STAGES:
            yield case, stage, line["stages_cpu"][stage] * 1e3


def _table(old: Times, new: Times, rounds: int) -> Table:
    lines: list[tuple[str | Figure, ...]] = []
    for case, stages in new.items():
        for stage, times in stages.items():
            before = old[case][stage]
            ratios = [b / a for a, b in zip(before, times, strict=True)]
            lines.append(
                (
                    f"{case[0]}, {case[1]}",
                    stage,
                    Figure(median(before)),
                    Figure(median(times)),
                    Figure(median(ratios)),
                    Figure(min(times) / min(before)),
                )
            )
    return Table(
        title="Our own part of a query in two checkouts: CPU ms",
        columns=("question", "stage", "old", "new", "median of ratios", "ratio of least"),
        rows=lines,
        notes=[f"{rounds} rounds, in which the checkouts take turns. Each is a median of asks."],
    )


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m benchmarks.checkouts", description=__doc__)
    parser.add_argument("old", type=Path, help="folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each question and ledger")
    arguments = parser.parse_args()
    report = compared(arguments.old.resolve(), arguments.rounds, arguments.seconds)
    show(report, Console(width=120))
