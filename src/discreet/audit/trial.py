"""The whole audit: every claim of Discreet, and what the running time of single draws reveals.

The processor time of one call of `release` is measured by the clock of the thread, which excludes
other processes. The time that a network or a server adds is not measured. If larger noise took
longer, the time and the noisy answer together would reveal the exact answer. So the pair
(output, time) is checked against the same epsilon as the output.
"""

import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from multiprocessing import active_children, get_context
from os import cpu_count
from threading import current_thread, main_thread
from time import thread_time_ns
from typing import Any, TypeVar

from discreet.audit import (
    broken_mechanisms,
    broken_questions,
    claims,
    coverage_claims,
    local_claims,
    stream_claims,
)
from discreet.audit.auditor import OWN_CONFIDENCE, Finding, audit, audit_outputs
from discreet.audit.subjects import Outputs, Subject, SubjectKind
from discreet.mechanisms import Gaussian, Geometric, Laplace
from discreet.noise import uniform_integers
from discreet.parameters import Real

Input = TypeVar("Input")


Timed = tuple[object, int]
"""An output and its running time in nanoseconds."""


RUNS = 4_000


DELTA = Fraction(1, 50)


STEPS = 10_000
"""The number of empty steps per unit of noise, which takes some hundred microseconds."""


def timed_outputs(
    mechanism: Callable[[Input], object], here: Input, there: Input, runs: int
) -> tuple[list[Timed], list[Timed]]:
    """Time calls of a function on both inputs in turn. A coin decides which input is first.

    So any change over time, such as the speed of the processor, is the same for both sides. Runs
    are exchangeable within each pair, even if they are not independent of each other.
    """
    found: tuple[list[Timed], list[Timed]] = ([], [])
    for coin in uniform_integers(2, runs).tolist():
        for is_there in (coin, 1 - coin):
            exact = there if is_there else here
            begun = thread_time_ns()
            output = mechanism(exact)
            found[is_there].append((output, thread_time_ns() - begun))
    return found


def lower_bound_with_time(  # noqa: PLR0913 - a function, a pair and a claim
    mechanism: Callable[[Input], object],
    here: Input,
    there: Input,
    *,
    epsilon: Real | None = None,
    delta: Real = 0,
    runs: int = RUNS,
    confidence: Real = OWN_CONFIDENCE,
) -> Finding:
    """Compute a lower bound on epsilon from outputs together with their processor time."""
    outputs = timed_outputs(mechanism, here, there, runs)
    name = f"{getattr(mechanism, '__qualname__', type(mechanism).__name__)} with its time"
    return audit_outputs(*outputs, name=name, epsilon=epsilon, delta=delta, confidence=confidence)


def subjects() -> tuple[Subject, ...]:
    """Return single draws with their times, for a long trial only."""
    geometric, laplace = (each(epsilon=1, sensitivity=1) for each in (Geometric, Laplace))
    gaussian = Gaussian(epsilon=1, delta=DELTA, sensitivity=1)
    return (
        _subject(geometric, 0, 1),
        _subject(laplace, 0.0, 1.0),
        _subject(gaussian, 0.0, 1.0, delta=DELTA),
    )


def broken_by_time() -> tuple[Subject, ...]:
    """Return the variant that must be caught: larger noise takes longer."""
    return (_subject(_Slow(epsilon=Fraction(1)), 0, 1, is_broken=True),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slow:
    """Geometric noise whose running time is that of a loop that counts up to it."""

    epsilon: Fraction

    def release(self, exact: int) -> int:
        noise = Geometric(epsilon=self.epsilon, sensitivity=1).release(0)
        for _ in range(STEPS * abs(noise)):
            pass
        return exact + noise


def _subject(
    mechanism: Any,
    here: Any,
    there: Any,
    *,
    delta: Fraction = Fraction(0),
    is_broken: bool = False,
) -> Subject:
    turns = _Turns(mechanism.release, here, there)
    name = "a loop up to the noise" if is_broken else type(mechanism).__name__
    return Subject(
        name=f"{name} with its time, ε = {float(mechanism.epsilon):.3g}",
        kind=SubjectKind.MECHANISM,
        epsilon=mechanism.epsilon,
        delta=delta,
        here=turns.here,
        there=turns.there,
        is_broken=is_broken,
        runs=RUNS,
    )


class _Turns:
    """Runs both sides when the first is requested, so that they can take turns."""

    def __init__(self, mechanism: Callable[[Any], object], here: Any, there: Any) -> None:
        self._mechanism, self._inputs = mechanism, (here, there)
        self._there: list[Timed] = []

    def here(self, runs: int) -> Outputs:
        found, self._there = timed_outputs(self._mechanism, *self._inputs, runs)
        return found

    def there(self, runs: int) -> Outputs:
        if len(self._there) != runs:
            self.here(runs)
        return self._there


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
    ours = [
        *claims.subjects(),
        *local_claims.subjects(),
        *stream_claims.subjects(),
        *broken_questions.subjects(),
        *coverage_claims.subjects(),
    ]
    broken = [
        *broken_mechanisms.broken_mechanisms(),
        *stream_claims.broken_subjects(),
        *broken_questions.broken_questions(),
        *coverage_claims.broken_subjects(),
    ]
    if quick:
        return [*ours, *broken]
    ours += subjects()
    broken += broken_by_time()
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
