"""How many calls run, wait and are sent away, and when answers leave.

All of it follows from public numbers: who calls, how often, and the settings.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor
from time import monotonic, sleep
from typing import TypeAlias

from discreet.server.faults import CallError
from discreet.server.settings import ServerLimits, Settings

MOST_BUCKETS = 10_000
"""Accounts and addresses that are remembered; the ones that were not seen for longest are not."""


@dataclass(slots=True)
class Bucket:
    """Calls that may still be made; it fills up as time goes by."""

    left: float
    seen: float

    def take(self, *, per_minute: int, burst: int, now: float) -> float:
        """Take one call; return 0, or the seconds until there is one."""
        rate = per_minute / 60
        self.left = min(burst, self.left + (now - self.seen) * rate)
        self.seen = now
        if self.left < 1:
            return (1 - self.left) / rate
        self.left -= 1
        return 0.0

    def wait(self, *, per_minute: int, now: float) -> float:
        """Return 0, or the seconds until there is a call."""
        rate = per_minute / 60
        return max(0.0, (1 - self.left) / rate - (now - self.seen))


@dataclass(slots=True)
class Rates:
    """The calls of each account or address."""

    per_minute: int
    burst: int
    _buckets: dict[str, Bucket] = field(default_factory=dict)

    def check(self, who: str) -> None:
        """Count a call, or send it away."""
        now = monotonic()
        bucket = self._bucket(who, now)
        if wait := bucket.take(per_minute=self.per_minute, burst=self.burst, now=now):
            raise too_many(TOO_OFTEN, ceil(wait))

    def check_left(self, who: str) -> None:
        """Send a call away if no more are left, and count none."""
        now = monotonic()
        if wait := self._bucket(who, now).wait(per_minute=self.per_minute, now=now):
            raise too_many(TOO_OFTEN, ceil(wait))

    def _bucket(self, who: str, now: float) -> Bucket:
        bucket = self._buckets.pop(who, None) or Bucket(left=self.burst, seen=now)
        self._buckets[who] = bucket  # the newest is last
        while len(self._buckets) > MOST_BUCKETS:
            del self._buckets[next(iter(self._buckets))]
        return bucket


TOO_OFTEN = "Too many calls in a short time"


def too_many(what: str, seconds: int) -> CallError:
    """Return that a call is sent away, and when to come back."""
    return CallError(
        status=429,
        code="too_many",
        what=what,
        fix=f"Call again in {seconds} seconds",
        headers={"Retry-After": str(seconds)},
    )


STOPPING = CallError(
    status=503,
    code="stopping",
    what="The server is shutting down",
    fix="Call again in a few seconds; what was charged is not charged again",
    headers={"Retry-After": "5"},
)


GONE = CallError(status=499, code="gone", what="The caller has gone")

LOOK_EVERY = 0.25
"""Seconds between two looks whether the caller of a query that waits is still there."""

Check: TypeAlias = Callable[[], Awaitable[bool]]


async def _nobody() -> bool:
    return False


class Turns:
    """Lets so many queries run at once, of each account and in all; the rest waits in order.

    A query that waits is dropped when its caller goes or when the server is told to stop.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._all = asyncio.Semaphore(limits.running)
        self._own: dict[str, asyncio.Semaphore] = {}
        self._asking: dict[str, int] = {}
        self._waiting: Counter[str] = Counter()
        self._stopped = asyncio.Event()

    @property
    def waiting(self) -> int:
        """How many queries wait."""
        return self._waiting.total()

    @property
    def is_stopping(self) -> bool:
        """Whether the server was told to stop."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Send away all queries that wait, and all that come."""
        self._stopped.set()

    @asynccontextmanager
    async def turn(self, account: str, is_gone: Check = _nobody) -> AsyncIterator[None]:
        """Wait for a turn; send the query away if too many wait, or for too long."""
        if self.is_stopping:
            raise STOPPING
        if self.waiting >= self._limits.waiting:
            raise too_many("Too many queries are waiting", 2)
        if self._waiting[account] >= self._limits.waiting_per_account:
            raise too_many("Too many queries of this account are waiting", 2)
        own = self._own.setdefault(account, asyncio.Semaphore(self._limits.running_per_account))
        self._asking[account] = self._asking.get(account, 0) + 1
        try:
            await self._wait(account, own, is_gone)
            try:
                yield
            finally:
                self._all.release()
                own.release()
        finally:
            self._asking[account] -= 1
            if not self._asking[account]:
                del self._asking[account], self._own[account]

    async def _wait(self, account: str, own: asyncio.Semaphore, is_gone: Check) -> None:
        """Take a turn, or raise why there is none."""
        self._waiting[account] += 1
        reasons = [asyncio.ensure_future(each) for each in (self._stopped.wait(), _until(is_gone))]
        turn, is_wanted = asyncio.ensure_future(self._taken(own)), False
        try:
            await asyncio.wait(
                [turn, *reasons],
                timeout=self._limits.seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            is_wanted = turn.done() and not any(each.done() for each in reasons)
        finally:
            self._waiting[account] -= 1
            if not self._waiting[account]:
                del self._waiting[account]
            for each in (turn, *reasons):
                each.cancel()
            if turn.done() and not turn.cancelled() and not is_wanted:
                self._all.release()
                own.release()
        if not is_wanted:
            raise STOPPING if self.is_stopping else GONE if reasons[1].done() else WAITED

    async def _taken(self, own: asyncio.Semaphore) -> None:
        await own.acquire()
        try:
            await self._all.acquire()
        except BaseException:
            own.release()
            raise


READS_AT_ONCE = 2


def reading_turns(limits: ServerLimits) -> Turns:
    """Return the turns of those who read series: long ones are few at once, one of each account.

    They are not the turns of explanations, so that nobody who reads keeps others from these.
    """
    return Turns(replace(limits, running=READS_AT_ONCE, running_per_account=1))


WAITED = too_many("The query waited too long for its turn", 10)


async def _until(is_gone: Check) -> None:
    """Wait until the caller has gone."""
    while not await is_gone():
        await asyncio.sleep(LOOK_EVERY)


def wait_for_clock(settings: Settings, begun: float) -> None:
    """Wait until shortly before a query that began at a moment ends by the clock; in its thread.

    Others can be read off what it released once that is saved, so that saving follows the clock.
    """
    if settings.release_every is not None:
        lead = settings.release_every / 5  # to save it, so that the query ends at this multiple
        passed = monotonic() - begun
        sleep(until_tick(passed + float(lead), settings.release_every))


async def tick(settings: Settings) -> None:
    """Wait for the next tick of the clock at which answers leave, if there is such a clock."""
    if settings.release_every is not None:
        await asyncio.sleep(until_tick(monotonic(), settings.release_every))


async def rest(settings: Settings, begun: float) -> None:
    """Wait until a whole multiple of the time between ticks has passed since a moment.

    A query that ended at any moment would tell its time to a caller who chose when it began, or who
    looks at what it has changed: turns, records and lists.
    """
    if settings.release_every is not None:
        passed = monotonic() - begun
        await asyncio.sleep(until_tick(passed, settings.release_every))


def until_tick(now: float, every: Fraction) -> float:
    """Return the seconds to the next multiple of a time."""
    step = float(every)
    return (floor(now / step) + 1) * step - now
