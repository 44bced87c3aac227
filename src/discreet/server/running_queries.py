"""Queries that wait or run: what owners and their callers may see of them, and cancelling them.

A query that waits is dropped and costs nothing. A query that runs may have been charged, and an
engine that is stopped halfway looks like one that failed by the data. So it runs to its end and its
answer is saved; only the reply to its caller is given up.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal, TypeAlias

from discreet.server.admission import Check
from discreet.server.callers import Caller
from discreet.server.faults import CallError
from discreet.server.records import now
from discreet.written import WrittenQuery

State: TypeAlias = Literal["waiting", "running", "cancelled"]
Ending: TypeAlias = Literal["dropped", "runs_on"]

CANCELLED = CallError(
    status=409,
    code="cancelled",
    what="This query was cancelled",
    fix="Run it again if it is still wanted; what was charged is not charged again",
)

STILL_RUNNING = CallError(
    status=504,
    code="still_running",
    what="The query is still running, and its answer will be saved",
    fix="Repeat the call with the same Idempotency-Key; what was charged is not charged again",
    headers={"Retry-After": "1"},
)


@dataclass(slots=True, kw_only=True, eq=False)
class RunningQuery:
    """A query from its call to its end."""

    number: int
    caller: Caller
    text: str | WrittenQuery
    """The query as it was sent, or the name of a table whose coverage is measured."""
    since: str
    task: "asyncio.Task[Any] | None" = None
    """What runs it, once it has its turn."""
    is_cancelled: bool = False
    _cut: "asyncio.Future[None]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    """Done when those who wait now are to wait no longer."""

    @property
    def state(self) -> State:
        """How far it is."""
        if self.is_cancelled:
            return "cancelled"
        return "waiting" if self.task is None else "running"

    def cancel(self) -> Ending:
        """Drop a query that waits. Of one that runs, send away those who wait for the reply."""
        self.is_cancelled = True
        self._cut.set_result(None)
        self._cut = asyncio.get_running_loop().create_future()
        return "dropped" if self.task is None else "runs_on"

    def unless_cancelled(self, is_gone: Check) -> Check:
        """Return whether nobody wants the query any more."""

        async def is_unwanted() -> bool:
            return self.is_cancelled or await is_gone()

        return is_unwanted

    async def reply(self, seconds: float | None) -> Any:
        """Wait for the reply, for some seconds. The query runs on, whatever becomes of this."""
        awaited = [each for each in (self.task, self._cut) if each is not None]
        await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if self.task is not None and self.task.done():
            return self.task.result()
        raise CANCELLED if self.is_cancelled else STILL_RUNNING


@dataclass(slots=True)
class RunningQueries:
    """The queries of one server process that wait or run."""

    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _known: dict[int, RunningQuery] = field(default_factory=dict)

    def seen_by(self, caller: Caller) -> list[RunningQuery]:
        """Return the queries of a caller's account; all of the catalog for owners."""
        return [each for each in self._known.values() if _may_see(caller, each)]

    @contextmanager
    def listed(self, caller: Caller, text: str | WrittenQuery) -> Iterator[RunningQuery]:
        """List a query until the block ends."""
        query = RunningQuery(number=next(self._numbers), caller=caller, text=text, since=now())
        self._known[query.number] = query
        try:
            yield query
        finally:
            del self._known[query.number]

    @property
    def tasks(self) -> "set[asyncio.Task[Any]]":
        """What runs; a shutdown waits for it."""
        return {each.task for each in self._known.values() if each.task is not None}


def _may_see(caller: Caller, query: RunningQuery) -> bool:
    own = query.caller
    if own.site.name != caller.site.name:
        return False
    return caller.role == "owner" or own.account == caller.account
