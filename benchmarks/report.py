"""Tables and targets: on the screen, as JSON for programs and as Markdown for the docs."""

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from json import dumps
from math import floor, log10
from pathlib import Path
from typing import TypeAlias

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from benchmarks.environments import ROOT

Say: TypeAlias = Callable[[str], None]
"""Tells the person waiting what is being measured."""

RESULTS = ROOT / "build" / "bench"

MARKDOWN_WIDTH = 1000
"""No heading of a column is broken into two lines: a row of Markdown is one line."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number, and how many times as fast as it we are where that is known."""

    value: float
    times_faster: float | None = None
    digits: int = 3

    def __str__(self) -> str:
        value = short(self.value, self.digits)
        return value if self.times_faster is None else f"{value} ({ratio(self.times_faster)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of words and figures under one title."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | Figure]]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A wish with its measured value; `least` or `most` is the wish, neither is a mere report."""

    sentence: str
    measured: float | None
    unit: str
    least: float | None = None
    most: float | None = None

    @property
    def verdict(self) -> str:
        if self.measured is None:
            return "not measured"
        if self.least is not None:
            return "met" if self.measured >= self.least else "not met"
        if self.most is not None:
            return "met" if self.measured < self.most else "not met"
        return "reported"

    @property
    def figure(self) -> str:
        return "–" if self.measured is None else f"{short(self.measured)} {self.unit}"

    @property
    def wish(self) -> str:
        if self.least is not None:
            return f"≥ {short(self.least)} {self.unit}"
        return f"< {short(self.most)} {self.unit}" if self.most is not None else "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that one benchmark found."""

    name: str
    tables: list[Table]
    targets: list[Target] = field(default_factory=list)


def short(number: float, digits: int = 3) -> str:
    """Return so many digits, and no exponent up to ten million: 0.0123, 1.23, 1,230, 1.23e+08."""
    if number == 0 or not 1e-4 <= abs(number) < 1e7:
        return f"{number:.{digits}g}"
    return f"{number:,.{max(0, digits - 1 - floor(log10(abs(number))))}f}"


def ratio(number: float) -> str:
    """Return two digits, or all before the point: 0.042×, 1.7×, 1,234×."""
    return f"{number:,.0f}×" if number >= 100 else f"{number:.2g}×"


def power(number: int) -> str:
    """Return 100 as 100 and 10000 as 10^4."""
    digits = str(number)
    is_long_power = len(digits) > 4 and digits.strip("0") == "1"
    return f"10^{len(digits) - 1}" if is_long_power else digits


def show(report: Report, console: Console) -> None:
    """Print a report for people."""
    for table in _tables(report):
        console.print()
        console.print(f"[bold]{table.title}[/bold]", highlight=False)
        console.print(_rich(table, box.SIMPLE_HEAD))
        for note in table.notes:
            console.print(note, style="dim", highlight=False, markup=False)


def write(report: Report) -> Path:
    """Write a report as JSON and as Markdown; return where the JSON is."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{report.name}.json"
    content = {"machine": machine(), **asdict(report)}
    path.write_text(dumps(content, indent=1, ensure_ascii=False) + "\n")
    with path.with_suffix(".md").open("w") as file:
        markdown = Console(file=file, width=MARKDOWN_WIDTH)
        for table in _tables(report):
            markdown.print(f"\n### {table.title}\n", highlight=False, markup=False)
            markdown.print(_rich(table, box.MARKDOWN))
            for note in table.notes:
                markdown.print(f"\n{note}", highlight=False, markup=False)
    return path


def machine() -> dict[str, str | int | None]:
    """Return what the figures depend on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _tables(report: Report) -> list[Table]:
    return [*report.tables, _target_table(report.targets)] if report.targets else report.tables


def _target_table(targets: list[Target]) -> Table:
    return Table(
        title="Targets",
        columns=("target", "wanted", "measured", "verdict"),
        rows=[(each.sentence, each.wish, each.figure, each.verdict) for each in targets],
    )


def _rich(table: Table, borders: box.Box) -> RichTable:
    shown = RichTable(box=borders)
    for position, column in enumerate(table.columns):
        is_number = any(isinstance(row[position], Figure) for row in table.rows)
        shown.add_column(column, justify="right" if is_number else "left", no_wrap=is_number)
    for row in table.rows:
        shown.add_row(*map(str, row))
    return shown
