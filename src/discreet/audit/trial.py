"""The trial of Discreet: all its mechanisms, and all deliberately broken variants."""

import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import lru_cache
from multiprocessing import active_children, get_context
from os import cpu_count
from threading import current_thread, main_thread

from discreet.audit import local, mechanisms, questions, timing, twins
from discreet.audit.auditor import audit
from discreet.audit.findings import Finding
from discreet.audit.subjects import Subject

LONGER = 10
"""The number of runs in a long trial, as a multiple of those in a quick one."""

SHARED_LEAST = 8
"""Fewer subjects per worker are audited in this process, which is faster than starting others."""

Tell = Callable[[str, int, int], None]
"""Called with the name of a finished subject, the number finished, and the total."""


def trial(*, quick: bool) -> list[Subject]:
    """Return all subjects, with the deliberately broken ones last.

    A long trial also times single draws. A quick one has too few runs for that.
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
    """Audit some subjects of the trial on all processors, and return the findings in order.

    Worker processes are spawned, not forked, so no two share the state of a random generator.
    """
    found: dict[str, Finding] = {}
    with closing(_audited(subjects, quick=quick)) as audited:
        for done, each in enumerate(audited, 1):
            found[each.name] = each
            tell(each.name, done, len(subjects))
    return [found[each.name] for each in subjects]


def _audited(subjects: Sequence[Subject], *, quick: bool) -> Generator[Finding, None, None]:
    workers = min(cpu_count() or 1, len(subjects) // SHARED_LEAST)
    if workers < 2:
        yield from map(audit, subjects)
        return
    pool = ProcessPoolExecutor(workers, get_context("spawn"))
    others = active_children()
    try:
        yield from (task.result() for task in as_completed(_begun(pool, subjects, quick=quick)))
    except BaseException:
        for each in set(active_children()).difference(others):
            each.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begun(
    pool: ProcessPoolExecutor, subjects: Sequence[Subject], *, quick: bool
) -> list[Future[Finding]]:
    """Submit the audits, last ones first, because those take longest."""
    with _deaf_to_interrupts():
        return [pool.submit(_audit, each.name, quick=quick) for each in reversed(subjects)]


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Make processes that are started here ignore Ctrl-C. The parent handles it and ends them."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _audit(name: str, *, quick: bool) -> Finding:
    return audit(_by_name(quick=quick)[name])


@lru_cache(maxsize=2)
def _by_name(*, quick: bool) -> dict[str, Subject]:
    return {each.name: each for each in trial(quick=quick)}
