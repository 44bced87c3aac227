"""Forks: what several threads share must be at rest when a process is copied.

Connections do not survive a fork: storages close theirs before it and reconnect after it. A child
that shared its parent's connection would hold none of its locks, or would speak to the server with
its parent's voice.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, RLock, get_ident
from typing import Protocol
from weakref import WeakSet

from discreet.errors import LedgerError
from discreet.ledger.storage import FORKED, Words


class Forked(Protocol):
    """Something that a fork must not copy while it is in use."""

    def before_fork(self) -> None:
        """Wait for other threads, before anything is copied."""

    def after_fork_in_parent(self) -> None:
        """Go on."""

    def after_fork_in_child(self) -> None:
        """Go on with locks and connections of one's own."""


class Forks:
    """Tells things of every fork for as long as they are in use; threads fork one after the other.

    What was not told before a fork, because it was interrupted, is not told after it either. Of two
    of these, the one that was made last is told first.
    """

    def __init__(self) -> None:
        self._followed: WeakSet[Forked] = WeakSet()
        self._at_rest: list[Forked] = []
        self._begin_anew()
        os.register_at_fork(
            before=self._before,
            after_in_parent=self._after_in_parent,
            after_in_child=self._after_in_child,
        )

    def follow(self, each: Forked) -> None:
        """Tell something of every fork from now on."""
        with self._listing:
            self._followed.add(each)

    def _begin_anew(self) -> None:
        self._forking, self._listing = Lock(), Lock()
        self._forker, self._is_listing = 0, False

    def _before(self) -> None:
        self._forking.acquire()
        self._forker = get_ident()
        while True:
            self._listing.acquire()  # held until after the fork: nothing is added meanwhile
            known = set(map(id, self._at_rest))
            new = [each for each in self._followed if id(each) not in known]
            if not new:
                self._is_listing = True
                return
            self._listing.release()
            for each in new:
                each.before_fork()
                self._at_rest.append(each)

    def _after_in_parent(self) -> None:
        if self._forker != get_ident():  # Ctrl-C while it waited for another thread that forks
            return
        self._resume(lambda each: each.after_fork_in_parent())
        self._forker = 0
        if self._is_listing:
            self._is_listing = False
            self._listing.release()
        self._forking.release()

    def _after_in_child(self) -> None:
        if self._forker == get_ident():
            self._resume(lambda each: each.after_fork_in_child())
        self._at_rest.clear()
        self._begin_anew()

    def _resume(self, go_on: Callable[[Forked], None]) -> None:
        while self._at_rest:
            go_on(self._at_rest.pop())


_storages = Forks()


class SharedStorage:
    """What every storage has: one connection that threads take in turn, in one process."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._process = os.getpid()
        self._refusal: Words | None = None
        self._key: bytes | None = None
        _storages.follow(self)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep the other threads of this process out."""
        with self._lock:
            yield

    def check_open(self) -> None:
        """Reject a storage that was closed, has failed, or was opened by another process."""
        if self._refusal is not None:
            raise LedgerError(*self._refusal)
        if self._process != os.getpid():
            raise LedgerError(*FORKED)

    def rest(self) -> None:
        """Close the connection until it is needed again."""
        raise NotImplementedError

    def is_of_one_process(self) -> bool:
        """Return whether what is stored is in the memory of the process that opened it."""
        return False

    def before_fork(self) -> None:
        """Wait for other threads and close the connection, before anything is copied."""
        self._lock.acquire()
        self.rest()

    def after_fork_in_parent(self) -> None:
        """Go on; the next transaction connects again."""
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """Go on with a connection of one's own; the parent's memory stays the parent's."""
        self._lock = RLock()
        if not self.is_of_one_process():
            self._process = os.getpid()
