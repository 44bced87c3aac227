"""Forks at bad moments: nobody waits for ever, and no connection has two processes."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from threading import Event, Thread

import pytest

from discreet.accounting import Budget
from discreet.errors import LedgerError
from discreet.ledger import Ledger, SavedAnswer, SqliteLedger
from discreet.ledger.forks import Forks
from tests.ledger.stores import TENTH, FileStore, Store, child, end_of

LONG = 60.0
"""Seconds after which a thread is taken to wait for ever."""


def done_in_time(act: Callable[[], None]) -> bool:
    """Return whether something ends, in a thread of its own."""
    thread = Thread(target=act, daemon=True)
    thread.start()
    thread.join(LONG)
    return not thread.is_alive()


def charged(ledger: Ledger, question: str) -> None:
    ledger.charge(question, [TENTH])


class Told:
    """Waits before a fork, and notes what it is told."""

    def __init__(self, wait: Callable[[], None] = lambda: None) -> None:
        self.told: list[str] = []
        self._wait = wait

    def before_fork(self) -> None:
        self.told.append("before")
        self._wait()

    def after_fork_in_parent(self) -> None:
        self.told.append("parent")

    def after_fork_in_child(self) -> None:
        self.told.append("child")


def test_threads_that_fork_at_once_do_so_one_after_the_other() -> None:
    forks, waiting, go_on = Forks(), Event(), Event()

    def wait() -> None:
        waiting.set()
        assert go_on.wait(LONG)

    each = Told(wait)
    forks.follow(each)
    ends: list[int] = []
    threads = [Thread(target=lambda: ends.append(end_of(child(lambda: None)))) for _ in range(2)]
    threads[0].start()
    assert waiting.wait(LONG)
    threads[1].start()
    threads[1].join(0.2)
    assert each.told == ["before"]  # the second waits for the first
    go_on.set()
    for thread in threads:
        thread.join()
    assert ends == [0, 0]
    assert each.told == ["before", "parent"] * 2


def test_what_is_followed_while_another_waits_is_told_too() -> None:
    forks, late = Forks(), Told()
    early = Told(lambda: forks.follow(late))
    forks.follow(early)

    def work() -> None:
        assert (early.told, late.told) == (["before", "child"], ["before", "child"])
        forks.follow(Told())

    assert end_of(child(work)) == 0
    assert (early.told, late.told) == (["before", "parent"], ["before", "parent"])


def test_what_was_not_told_before_a_fork_is_not_told_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C while a fork waits: it takes place all the same, and nothing is held afterwards."""
    monkeypatch.setattr("sys.unraisablehook", lambda _: None)
    forks = Forks()
    interrupted = Told(lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    forks.follow(interrupted)

    def work() -> None:
        assert interrupted.told == ["before"]

    for _ in range(2):
        assert end_of(child(work)) == 0
        assert interrupted.told == ["before"]
        interrupted.told.clear()
    assert done_in_time(lambda: forks.follow(Told()))


def test_threads_that_fork_and_threads_that_charge_never_wait_for_ever(durable: Store) -> None:
    """Three threads fork at once, again and again, while another charges."""
    with durable.open(Budget(epsilon=100)) as ledger:

        def fork(number: int) -> list[int]:
            return [end_of(child(partial(charged, ledger, f"{number}-{i}"))) for i in range(5)]

        def charge() -> None:
            for i in range(15):
                ledger.keep(ledger.charge(f"thread-{i}", [TENTH]), b"x")

        def work() -> None:
            with ThreadPoolExecutor(4) as pool:
                done = pool.submit(charge)
                assert list(pool.map(fork, range(3))) == [[0] * 5] * 3
                done.result()

        assert done_in_time(work)
        assert ledger.charged().epsilon == 3
        ledger.verify()


def test_a_fork_in_a_view_ends_the_view_and_not_the_ledger(durable: Store) -> None:
    with durable.open() as ledger:
        ledger.keep(ledger.charge("q", [TENTH]), b"42")

        def work() -> None:
            with pytest.raises(Exception, match="closed"):
                view.find("q")

        ends = []
        with pytest.raises(LedgerError, match="un the query again"), ledger.view() as view:
            ends.append(end_of(child(work)))
        assert ends == [0]
        found = ledger.find("q")
        assert isinstance(found, SavedAnswer)
        assert found.answer == b"42"
        ledger.charge("next", [TENTH])
        assert ledger.remaining().epsilon == Fraction(8, 10)


def test_a_storage_that_was_not_at_rest_is_refused_in_the_child(file: FileStore) -> None:
    """The hooks were interrupted: the child has its parent's connection, and must not use it."""
    with file.open() as ledger:
        storage = ledger._storage
        storage.before_fork = lambda: (_ for _ in ()).throw(KeyboardInterrupt)  # type: ignore[attr-defined]

        def work() -> None:
            with pytest.raises(LedgerError, match="opened by another process"):
                ledger.charge("q", [TENTH])

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.unraisablehook", lambda _: None)
            assert end_of(child(work)) == 0
        del storage.before_fork  # type: ignore[attr-defined]
        ledger.charge("q", [TENTH])
        assert end_of(child(partial(charged, ledger, "r"))) == 0


def test_a_ledger_can_be_opened_in_a_child_of_a_thread_that_was_opening_one(
    file: FileStore,
) -> None:
    with file.open():

        def work() -> None:
            SqliteLedger.existing(file.path).close()

        with ThreadPoolExecutor(2) as pool:
            opening = [pool.submit(work) for _ in range(20)]
            ends = [end_of(child(work)) for _ in range(5)]
            for each in opening:
                each.result()
    assert ends == [0] * 5
