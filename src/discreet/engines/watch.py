"""One thread that stops queries of this process that take too long."""

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from math import inf
from time import monotonic

log = logging.getLogger("discreet.engine")

Stop = Callable[[], object]


class Watch:
    """Calls what was handed in when its time is over, and again until it has ended.

    Beginning and ending take microseconds. The thread is woken early only for a deadline that is
    earlier than the one it waits for, so that queries with the same time to run never wake it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._numbers = count()
        self._open: dict[int, tuple[float, Stop]] = {}
        self._wakes_at = inf
        self._thread: threading.Thread | None = None

    @contextmanager
    def within(self, seconds: float, stop: Stop) -> Iterator[None]:
        """Call `stop`, from another thread, if what is inside lasts longer."""
        number = self._begin(monotonic() + seconds, stop)
        try:
            yield
        finally:
            # Under the lock: once this has returned, `stop` is not called any more.
            with self._changed:
                self._open.pop(number, None)

    def _begin(self, deadline: float, stop: Stop) -> int:
        with self._changed:
            number = next(self._numbers)
            self._open[number] = (deadline, stop)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
                self._thread.start()
            elif deadline < self._wakes_at:
                self._changed.notify()
        return number

    def _run(self) -> None:
        with self._changed:
            while True:
                self._stop_late_ones()
                self._wakes_at = min((each for each, _ in self._open.values()), default=inf)
                left = self._wakes_at - monotonic()
                self._changed.wait(None if left == inf else max(0.0, min(left, LONGEST_WAIT)))

    def _stop_late_ones(self) -> None:
        now = monotonic()
        late = [number for number, (deadline, _) in self._open.items() if deadline <= now]
        for number in late:
            _, stop = self._open[number]
            self._open[number] = (now + AGAIN_AFTER, stop)
            try:
                stop()
            except Exception:
                log.exception("a query that takes too long could not be stopped")


AGAIN_AFTER = 0.1
"""Seconds; an engine may miss a call that comes before it has begun to run."""

LONGEST_WAIT = min(threading.TIMEOUT_MAX, 86_400.0)
"""Seconds; the system cannot wait for any longer time."""

_watch = Watch()


def watch() -> Watch:
    """Return the watch of this process."""
    return _watch


def _begin_anew() -> None:
    """Threads and locks of the parent do not live on in a child that was forked."""
    global _watch  # noqa: PLW0603 - one for each process
    _watch = Watch()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
