"""Connections do not survive a fork: storages close theirs before it and reconnect after it.

A child that shared its parent's connection would hold none of its locks, or would speak to the
server with its parent's voice.
"""

import os
from collections.abc import Callable
from threading import Lock
from typing import Protocol
from weakref import WeakSet


class Forked(Protocol):
    """Something with a connection that a fork must not copy."""

    def before_fork(self) -> None:
        """Wait for other threads and close the connection, before anything is copied."""

    def after_fork_in_parent(self) -> None:
        """Go on; the next transaction connects again."""

    def after_fork_in_child(self) -> None:
        """Go on with a connection of one's own."""


def follow(storage: Forked) -> None:
    """Tell a storage of every fork for as long as it is in use."""
    with _listing:
        _followed.add(storage)


_listing = Lock()
_followed: WeakSet[Forked] = WeakSet()
_forking: list[Forked] = []


def _before_fork() -> None:
    with _listing:
        _forking.extend(_followed)
    for storage in _forking:
        storage.before_fork()


def _after_fork(resume: Callable[[Forked], None]) -> None:
    for storage in _forking:
        resume(storage)
    _forking.clear()


os.register_at_fork(
    before=_before_fork,
    after_in_parent=lambda: _after_fork(lambda each: each.after_fork_in_parent()),
    after_in_child=lambda: _after_fork(lambda each: each.after_fork_in_child()),
)
