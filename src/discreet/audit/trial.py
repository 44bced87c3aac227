"""Our own trial: everything that we claim, and everything that is broken on purpose."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import lru_cache
from multiprocessing import get_context
from os import cpu_count

from discreet.audit import local, mechanisms, questions, timing, twins
from discreet.audit.auditor import audit
from discreet.audit.findings import Finding
from discreet.audit.subjects import Subject

LONGER = 10
"""A long trial has so many times the runs of a quick one."""

SHARED_LEAST = 8
"""Fewer subjects are audited in this process: another one would take longer to start."""

Tell = Callable[[str, int, int], None]
"""Is told which subject is done, how many are, and of how many."""


def trial(*, quick: bool) -> list[Subject]:
    """Return all subjects, those that are broken on purpose last.

    A long trial also times single draws: of the clock a quick one would see too little.
    """
    ours = [*mechanisms.subjects(), *local.subjects(), *questions.subjects()]
    broken = [*twins.twins(), *questions.twins()]
    if quick:
        return [*ours, *broken]
    ours += timing.subjects()
    broken += timing.twins()
    return [replace(each, runs=LONGER * each.runs) for each in [*ours, *broken]]


def findings(
    subjects: Sequence[Subject], *, quick: bool, tell: Tell = lambda *_: None
) -> list[Finding]:
    """Audit some subjects of the trial, on all processors, and return what was found, in order.

    Processes are started afresh, so that no two share the state of a generator.
    """
    found: dict[str, Finding] = {}
    for done, each in enumerate(_audited(subjects, quick=quick), 1):
        found[each.name] = each
        tell(each.name, done, len(subjects))
    return [found[each.name] for each in subjects]


def _audited(subjects: Sequence[Subject], *, quick: bool) -> Iterator[Finding]:
    workers = min(cpu_count() or 1, len(subjects) // SHARED_LEAST)
    if workers < 2:
        yield from map(audit, subjects)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        # Those that are last in the trial take longest: they begin.
        tasks = [pool.submit(_audit, each.name, quick=quick) for each in reversed(subjects)]
        for task in as_completed(tasks):
            yield task.result()


def _audit(name: str, *, quick: bool) -> Finding:
    return audit(_by_name(quick=quick)[name])


@lru_cache(maxsize=2)
def _by_name(*, quick: bool) -> dict[str, Subject]:
    return {each.name: each for each in trial(quick=quick)}
