"""What was measured, kept between runs of parts: a run of one engine leaves the others' figures.

Answers are not kept, only their distance from the truth.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.engines.systems import SYSTEMS
from benchmarks.engines.ticks import Tick
from benchmarks.workloads.cells import Cell
from benchmarks.workloads.distance import Distance
from benchmarks.workloads.questions import BY_NAME
from benchmarks.workloads.running import Ask, Measured, Missing, Outcome

FILE = "engines-cells.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparing:
    """What `discreet prepare` took: seconds, and bytes of its own process."""

    storage: str
    rows: int
    seconds: float
    peak: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """All that is known, of this run and of earlier ones."""

    cells: tuple[Cell, ...] = ()
    preparing: tuple[Preparing, ...] = ()
    ticks: tuple[Tick, ...] = ()
    server: str = ""
    """What is said of PostgreSQL below the tables: its version and settings."""

    def with_cells(self, cells: Iterable[Cell]) -> "Kept":
        """Return the same with newer cells; older ones stay where plain SQL is not newer.

        So all that is compared with plain SQL was measured in the same run.
        """
        newer = tuple(map(_without_answers, cells))
        renewed = set(map(_run_of, newer))
        older = (each for each in self.cells if _run_of(each) not in renewed)
        return replace(self, cells=(*older, *newer))

    def with_preparing(self, found: Preparing) -> "Kept":
        others = {(each.storage, each.rows): each for each in (*self.preparing, found)}
        return replace(self, preparing=tuple(others.values()))

    def with_ticks(self, ticks: Iterable[Tick]) -> "Kept":
        others = {(each.name, each.rows): each for each in (*self.ticks, *ticks)}
        return replace(self, ticks=tuple(others.values()))


def _run_of(cell: Cell) -> tuple[str, str, int]:
    """Return what is measured together: plain SQL and all that is compared with it."""
    return cell.system.baseline, cell.workload.name, cell.rows


def _without_answers(cell: Cell) -> Cell:
    if isinstance(cell.outcome, Missing):
        return cell
    asks = tuple(replace(each, rows=[]) for each in cell.outcome.asks)
    return replace(cell, outcome=replace(cell.outcome, asks=asks))


def read(folder: Path) -> Kept:
    """Return what earlier runs found; nothing if there are none."""
    file = folder / FILE
    if not file.exists():
        return Kept()
    stored = json.loads(file.read_text(encoding="utf-8"))
    return Kept(
        cells=tuple(map(_cell, stored["cells"])),
        preparing=tuple(Preparing(**each) for each in stored["preparing"]),
        ticks=tuple(Tick(**each) for each in stored["ticks"]),
        server=stored["server"],
    )


def write(kept: Kept, folder: Path) -> None:
    """Keep it for later runs."""
    folder.mkdir(parents=True, exist_ok=True)
    stored = {
        "cells": [
            {
                "system": each.system.name,
                "workload": each.workload.name,
                "rows": each.rows,
                "outcome": asdict(each.outcome),
                "distance": None if each.distance is None else asdict(each.distance),
            }
            for each in kept.cells
        ],
        "preparing": [asdict(each) for each in kept.preparing],
        "ticks": [asdict(each) for each in kept.ticks],
        "server": kept.server,
    }
    (folder / FILE).write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def _cell(stored: dict[str, Any]) -> Cell:
    distance = stored["distance"]
    return Cell(
        system=SYSTEMS[stored["system"]],
        workload=BY_NAME[stored["workload"]],
        rows=stored["rows"],
        outcome=_outcome(stored["outcome"]),
        distance=None if distance is None else Distance(**distance),
    )


def _outcome(stored: dict[str, Any]) -> Outcome:
    if "words" in stored:
        return Missing(**stored)
    asks = tuple(Ask(**each) for each in stored["asks"])
    return Measured(**{**stored, "asks": asks})
