"""How long it takes from the start of a process to the first answer, and where it goes."""

import os
import re
import resource
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter

import duckdb

from benchmarks.environments import ROOT
from benchmarks.report import RESULTS, Figure, Say, Table, Target

TURNS = 5
VISITS = 1_000
HEAVIEST = 10

TARGET_SECONDS = 0.7

DATA = """
SELECT hash(i, 'unit') % 2000 AS patient_id, hash(i, 'age') % 101 AS age,
    ['north', 'south', 'east', 'west'][1 + (hash(i, 'region') % 4)::INTEGER] AS region
FROM range({rows}) AS rows(i)
"""

EXAMPLE = (
    "import discreet; discreet.open",
    """visits = discreet.open({file!r}, unit="patient_id", bounds={{"age": (0, 120)}},
    values={{"region": ["north", "south", "east", "west"]}}, epsilon=3, delta=1e-6)""",
    """answer = visits.ask(
    "SELECT region, COUNT(*) AS visits, AVG(age) AS age FROM visits GROUP BY region",
    epsilon=0.5)""",
    "print(answer)",
)
"""The first five minutes, as the README shows them."""

STEPS = ("import discreet", "open a CSV file of 10^3 rows", "run a first query", "print it")

CLOCK = "from time import perf_counter; times = [perf_counter()]"
LAP = "times.append(perf_counter())"
TELL = "import sys; print(*times, file=sys.stderr)"

WHOLE = "the README's example, whole"
FLOOR = "import duckdb, numpy, pyarrow, sqlglot"

IMPORTED = re.compile(r"^import time:\s+(\d+) \|\s+\d+ \|\s+(\w+)", re.MULTILINE)
"""Microseconds of a module without what it imports, and its package."""


def measure(say: Say) -> tuple[list[Table], list[Target]]:
    """Start processes: bare, with the libraries that we stand on, and with the example."""
    file = str(_file())
    example = [each.format(file=file) for each in EXAMPLE]
    laps = [line for each in example for line in (each, LAP)]
    whole = {"a bare interpreter": "pass", FLOOR: FLOOR, WHOLE: "\n".join(example)}
    found: dict[str, list[float]] = {}
    taken: dict[str, list[float]] = {}
    _python("-c", whole[WHOLE])  # from then on there is bytecode, as where a package is installed
    for turn in range(TURNS):
        say(f"first answer, {turn + 1} of {TURNS}")
        for name, code in whole.items():
            wall, cpu = _seconds(code)
            found.setdefault(name, []).append(wall)
            taken.setdefault(name, []).append(cpu)
        told = _python("-c", "\n".join([CLOCK, *laps, TELL])).stderr.splitlines()[-1]
        for name, (start, end) in zip(STEPS, pairwise(map(float, told.split())), strict=True):
            found.setdefault(f"… {name}", []).append(end - start)
    times = Table(
        title="From the start of a process to the first answer: seconds",
        columns=("what", "wall", "CPU"),
        rows=[
            (name, Figure(median(each)), Figure(median(taken[name])) if name in taken else "")
            for name, each in found.items()
        ],
        notes=[
            "Medians of fresh processes; lines with … are steps of the example. CPU: of the "
            "program and the system, on all cores."
        ],
    )
    target = Target(
        sentence="from process start to the first answer, printed",
        measured=median(found[WHOLE]),
        unit="s",
        most=TARGET_SECONDS,
    )
    return [times, _imports()], [target]


def _imports() -> Table:
    """Return the packages whose modules take longest to import, each without what it imports."""
    told = _python("-X", "importtime", "-c", "import discreet; discreet.open").stderr
    spent: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    for own, name in IMPORTED.findall(told):
        spent[name] += int(own)
        modules[name] += 1
    total = sum(spent.values())
    return Table(
        title="What importing discreet loads: ms by package, measured with -X importtime",
        columns=("package", "modules", "ms"),
        rows=[
            *(
                (name, str(modules[name]), Figure(own / 1e3))
                for name, own in spent.most_common(HEAVIEST)
            ),
            ("all", str(modules.total()), Figure(total / 1e3)),
        ],
    )


def _seconds(code: str) -> tuple[float, float]:
    """Return the wall and the CPU seconds of a process."""
    start, before = perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    _python("-c", code)
    wall, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python, with bytecode in a folder of the results, whatever the environment says."""
    command = [sys.executable, *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(RESULTS / "bytecode")
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )


def _file() -> Path:
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / "visits.csv"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({DATA.format(rows=VISITS)}) TO '{file}' (HEADER)")
    return file
