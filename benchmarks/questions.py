"""Whole questions next to the same SQL without privacy: time, memory, and our own part of it."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from statistics import median

import duckdb

from benchmarks import first_answer
from benchmarks.asking import FILED, OURS, RAW, REST, RUN, STAGES, Opened, Remembered, Timed
from benchmarks.environments import PeerError, lines_from_module
from benchmarks.report import Figure, Report, Say, Table, Target, power, ratio
from benchmarks.visits import QUESTIONS

SIZES: Mapping[int, float] = {10**6: 3.0, 10**7: 8.0}
"""Rows, and about how many seconds each question is asked for; three turns are always made."""

STAGES_SIZE = 10**6

OWN_MS = 15.0

KINDS: Mapping[str, type[Opened | Timed | Remembered]] = {
    each.__name__: each for each in (Opened, Timed, Remembered)
}


def run(say: Say) -> Report:
    """Measure each size in a process of its own, and each question's memory in one more."""
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    opened: list[Opened] = []
    timed: list[Timed] = []
    remembered: list[Remembered] = []
    for rows, seconds in SIZES.items():
        say(f"{power(rows)} rows: loading")
        arguments = ["times", str(rows), str(seconds), *(["filed"] if rows == STAGES_SIZE else [])]
        for each in _told(*arguments):
            if isinstance(each, Opened):
                opened.append(each)
            elif isinstance(each, Timed):
                timed.append(each)
                say(f"{power(rows)} rows: {each.question}")
        for question in QUESTIONS:
            say(f"{power(rows)} rows: memory of {question.name}")
            remembered += _remembered(rows, question.name)
    tables = [_times(rows, timed, remembered) for rows in SIZES]
    tables += [_stages(timed), _opening(opened, busy)]
    more_tables, more_targets = first_answer.measure(say)
    return Report(
        name="questions", tables=tables + more_tables, targets=_targets(timed) + more_targets
    )


def _told(*arguments: str) -> Iterator[Opened | Timed | Remembered]:
    for line in lines_from_module("benchmarks.asking", *arguments):
        fields = json.loads(line)
        yield KINDS[fields.pop("kind")](**fields)


def _remembered(rows: int, question: str) -> list[Remembered]:
    """Return the memory of one question; nothing where the process did not survive it."""
    with suppress(PeerError):
        found = _told("memory", str(rows), question)
        return [each for each in found if isinstance(each, Remembered)]
    return []


def _times(rows: int, timed: list[Timed], remembered: list[Remembered]) -> Table:
    by_way = {(each.question, each.way): each for each in timed if each.rows == rows}
    peaks = {each.question: each.bytes for each in remembered if each.rows == rows}
    lines = []
    for question in QUESTIONS:
        raw, ours = by_way[question.name, RAW], by_way[question.name, OURS]
        lines.append(
            (
                question.name,
                Figure(raw.wall * 1e3),
                Figure(ours.wall * 1e3),
                ratio(ours.wall / raw.wall),
                ratio(ours.cpu / raw.cpu),
                Figure(ours.own * 1e3),
                _megabytes(peaks.get(question.name)),
            )
        )
    return Table(
        title=f"Queries over {power(rows)} rows: wall ms, next to the same SQL without privacy",
        columns=("query", "plain SQL", "ours", "wall", "CPU", "our own ms", "peak MB"),
        rows=lines,
        notes=[
            "plain SQL, ours: medians, in turns. wall, CPU: ours ÷ plain SQL.",
            "our own ms: all but the engine's run. "
            "peak MB: the most memory of a first query above the loaded table.",
        ],
    )


def _stages(timed: list[Timed]) -> Table:
    """Return where our own time goes, with the ledger in memory; and all of it with a file."""
    by_way = {(each.question, each.way): each for each in timed if each.rows == STAGES_SIZE}
    stages = [*(each for each in STAGES if each != RUN), REST]
    lines: list[tuple[str | Figure, ...]] = []
    for question in QUESTIONS:
        ours, filed = by_way[question.name, OURS], by_way[question.name, FILED]
        parts = [Figure(ours.stages[each] * 1e3) for each in stages]
        lines.append(
            (
                question.name,
                *parts,
                Figure(ours.own * 1e3),
                Figure(ours.own_cpu * 1e3),
                Figure(filed.stages["charge"] * 1e3),
                Figure(filed.own * 1e3),
            )
        )
    return Table(
        title=f"Our own part of a query over {power(STAGES_SIZE)} rows: ms by stage",
        columns=("query", *stages, "total", "CPU", "charge, file", "total, file"),
        rows=lines,
        notes=[
            "Wall ms, and CPU ms of it all. "
            "The ledger is in memory except in the last two columns, where it is a file."
        ],
    )


def _opening(opened: list[Opened], busy: float | None) -> Table:
    load = "" if busy is None else f" The machine's load was {busy:.1f} before this run."
    return Table(
        title="Opening a Parquet file, once: seconds",
        columns=("rows", "loaded by DuckDB", "opened by us", "ratio", "resident MB"),
        rows=[
            (
                power(each.rows),
                Figure(each.raw),
                Figure(each.ours),
                ratio(each.ours / each.raw),
                _megabytes(each.bytes),
            )
            for each in opened
        ],
        notes=[f"DuckDB {duckdb.__version__} with a thread for each core.{load}"],
    )


def _targets(timed: list[Timed]) -> list[Target]:
    targets = []
    for way, words in ((OURS, "ledger in memory"), (FILED, "ledger in a file")):
        found = [each for each in timed if each.way == way and each.rows == STAGES_SIZE]
        targets.append(
            Target(
                sentence=f"our own part of a query, median of {len(found)}, {words}",
                measured=median(each.own for each in found) * 1e3,
                unit="ms",
                most=OWN_MS,
            )
        )
        slowest = max(found, key=lambda each: each.own)
        targets.append(
            Target(
                sentence=f"… the slowest of them: {slowest.question}",
                measured=slowest.own * 1e3,
                unit="ms",
                most=OWN_MS,
            )
        )
    return targets


def _megabytes(size: int | None) -> Figure | str:
    return "–" if size is None else Figure(size / 1e6)
