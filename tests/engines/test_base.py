"""The watch: what takes too long is stopped, what ends in time is left alone."""

import threading

import pytest

from discreet.engines import base as module
from discreet.engines.base import Deadlines, deadlines

LONG = 3600.0


def test_what_takes_too_long_is_stopped() -> None:
    stopped = threading.Event()
    with Deadlines().within(0.0, stopped.set):
        assert stopped.wait(LONG)


def test_one_that_missed_the_call_is_called_again() -> None:
    calls, thrice = [0], threading.Event()

    def miss() -> None:
        calls[0] += 1
        if calls[0] == 3:
            thrice.set()

    with Deadlines().within(0.0, miss):
        assert thrice.wait(LONG)


def test_what_has_ended_is_left_alone() -> None:
    made, first, last = Deadlines(), threading.Event(), threading.Event()
    with made.within(0.05, first.set):
        pass
    with made.within(0.1, last.set):
        assert last.wait(LONG)
    assert not first.is_set()


def test_a_shorter_time_is_not_kept_waiting_by_a_longer_one() -> None:
    made, stopped = Deadlines(), threading.Event()
    with made.within(LONG, stopped.clear), made.within(0.01, stopped.set):
        assert stopped.wait(LONG)


def test_one_thread_watches_all() -> None:
    made = Deadlines()
    before = threading.active_count()
    for _ in range(5):
        with made.within(LONG, print), made.within(LONG, print):
            assert threading.active_count() == before + 1


def test_one_that_fails_to_stop_does_not_end_the_watch() -> None:
    made, stopped = Deadlines(), threading.Event()

    def fail() -> None:
        raise RuntimeError

    with made.within(0.0, fail), made.within(0.01, stopped.set):
        assert stopped.wait(LONG)


def test_a_forked_child_has_a_watch_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_watch", deadlines())
    before = deadlines()
    module._begin_anew()
    assert deadlines() is not before
