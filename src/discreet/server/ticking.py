"""Ticks of series are released by the clock: when they are due, by this process or another.

Which ticks are due follows from the catalog and the clock. Data are opened again for them, because
those that are served are as they were when the server started. What is saved first counts: several
servers over one ledger, and a server that is killed, release no tick twice.
"""

import asyncio
import logging
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic

from discreet.amounts import Price
from discreet.answer.rendering import visible
from discreet.catalog.clocks import utc_now
from discreet.errors import DiscreetError
from discreet.executor import BEFORE_SAVING
from discreet.opening import open_for_ticks
from discreet.series import Series
from discreet.server.admission import STOPPING, wait_for_clock
from discreet.server.faults import CallError, error_of
from discreet.server.settings import Settings
from discreet.server.sites import Site

log = logging.getLogger("discreet.server")

LOOK_EVERY = 300.0
"""Seconds after which the clock is looked at again: it may have been set."""

LOOK_FOR_SITES = 10.0
"""Seconds after which it is checked whether data sets were added."""

MOST_OPEN = 8
"""Catalogs whose data are open for ticks at the same time: each needs memory and a thread."""

SHORTEST_PAUSE = 0.5
"""Seconds between two looks at the clock at least."""

FIRST_PAUSE, LONGEST_PAUSE = 60.0, 3600.0
"""Seconds before ticks that failed are tried again: at first, and at most. Each pause doubles."""

CLOCK = "(clock)"
"""Who releases ticks in the audit log when nobody asked for it."""

ALL = ""
"""In place of a series, where a failure is one of all series of a catalog."""

FAILED = "Ticks that are due could not be released. The log of the server has the reason"
CHECK_INCIDENTS = (
    "A failure after the charge suspends the owner's account, so no tick can be released. "
    "Check it with discreet ledger incidents, then run discreet analyst resume"
)
REMEDIES = dict.fromkeys(("engine", "suspended", "unanswered"), CHECK_INCIDENTS)
"""What an owner does about a failure, by its code; of others, the log has it."""
NO_CATALOG = CallError(
    status=409,
    code="no_catalog",
    what="This data set was opened without a catalog file, so its series have no ticks here",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticked:
    """What was released of one series."""

    name: str
    ticks: int
    charged: Price | None
    """What the series was charged, if these were its first ticks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TickFailure:
    """That ticks were due and not released; says nothing of the data."""

    code: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """How long the clock leaves a series alone that failed when it was the clock's turn."""

    times: int
    """How many times in a row it failed."""
    again_at: float
    """When it is tried again, in seconds of this process."""


@dataclass(slots=True)
class SiteTicks:
    """The ticks of one catalog.

    Both kinds of failures are by the name of the series, and by `ALL` if the data could not be
    opened. What owners do on their own changes no pause: they cannot stop the clock by mistake.
    """

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Whoever releases ticks waits for it, so that the data are opened once at a time."""
    failures: dict[str, TickFailure] = field(default_factory=dict)
    """For owners to see, whoever caused them."""
    pauses: dict[str, Pause] = field(default_factory=dict)

    def pause(self, name: str) -> float:
        """Return the seconds until the clock tries a series again; 0 if it did not fail."""
        found = [self.pauses[each] for each in (ALL, name) if each in self.pauses]
        return max((each.again_at - monotonic() for each in found), default=0.0)

    def note(self, name: str, code: str, who: str) -> None:
        """Remember a failure; each pause of the clock is twice as long as the last."""
        last = self.failures.get(name)
        since = utc_now() if last is None else last.since
        self.failures[name] = TickFailure(code=code, since=since)
        if who == CLOCK:
            times = self.pauses[name].times + 1 if name in self.pauses else 1
            pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(times - 1, 20))
            self.pauses[name] = Pause(times=times, again_at=monotonic() + pause)

    def forget(self, name: str, who: str, until: datetime | None) -> None:
        """Forget a failure: what was due is released, unless an earlier moment was asked for."""
        if until is not None:
            return
        self.failures.pop(name, None)
        if who == CLOCK:
            self.pauses.pop(name, None)


class ToldToStopError(Exception):
    """The server was told to stop. What is saved stays."""


class Ticker:
    """Releases the ticks of all catalogs of a server."""

    def __init__(self, sites: dict[str, Site], settings: Settings) -> None:
        self._sites, self._settings = sites, settings
        self._ticks: dict[str, SiteTicks] = {}
        self._stop, self._is_stopping = asyncio.Event(), threading.Event()
        self._tasks: set[asyncio.Task[list[Ticked]]] = set()
        self._clock: asyncio.Task[None] | None = None
        self._pool = ThreadPoolExecutor(MOST_OPEN, thread_name_prefix="ticks")

    def start(self) -> None:
        """Release ticks by the clock from now on, unless the settings turn it off."""
        if self._settings.series:
            self._clock = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Stop. Numbers that are being released are saved first."""
        self._is_stopping.set()
        self._stop.set()
        if self._clock is not None:
            await self._clock
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._pool.shutdown(wait=False)

    def state(self, site: Site) -> dict[str, object]:
        """Return whether ticks are released by the clock, and what failed; for owners."""
        failures = self._of(site).failures
        return {
            "by_clock": self._settings.series,
            "failures": [
                {
                    "series": name or None,
                    "code": each.code,
                    "message": FAILED,
                    "remedy": REMEDIES.get(each.code, ""),
                    "since": each.since.isoformat(timespec="seconds"),
                }
                for name, each in list(failures.items())
            ],
        }

    async def release(
        self, site: Site, names: Sequence[str], until: datetime | None, who: str
    ) -> list[Ticked]:
        """Release what is due of some series, or of all; it ends even if nobody waits for it."""
        if self._is_stopping.is_set():
            raise STOPPING
        work = self._alone(site, names, until, who)
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        try:
            return await asyncio.shield(task)
        except ToldToStopError:
            raise STOPPING from None

    def _ended(self, task: asyncio.Task[list[Ticked]]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits is told; nobody may wait any more

    def _of(self, site: Site) -> SiteTicks:
        return self._ticks.setdefault(site.name, SiteTicks())

    async def _alone(
        self, site: Site, names: Sequence[str], until: datetime | None, who: str
    ) -> list[Ticked]:
        async with self._of(site).turn:
            loop, context = asyncio.get_running_loop(), copy_context()
            return await loop.run_in_executor(
                self._pool, context.run, self._released, site, names, until, who
            )

    # ----------------------------------------------------------------------- by the clock

    async def _run(self) -> None:
        """Give each catalog a task of its own, so that a slow one holds up no other."""
        tasks: dict[str, asyncio.Task[None]] = {}
        while not self._stop.is_set():
            for name, site in list(self._sites.items()):
                if name not in tasks:
                    tasks[name] = asyncio.get_running_loop().create_task(self._run_site(site))
            await self._wait(LOOK_FOR_SITES)
        await asyncio.gather(*tasks.values())

    async def _run_site(self, site: Site) -> None:
        while not self._stop.is_set():
            await self._tick_if_due(site)
            await self._wait(await asyncio.to_thread(self._pause, site))

    async def _wait(self, seconds: float) -> None:
        """Wait for a time, or until the server is told to stop."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)

    async def _tick_if_due(self, site: Site) -> None:
        try:
            names = await asyncio.to_thread(self._due, site)
        except Exception as error:  # noqa: BLE001 - an edge: the clock goes on
            log.warning("ticks of %s were not released: %s", site.name, _reason(error))
            return
        if not names:
            return
        try:
            await self.release(site, names, None, CLOCK)
        except Exception as error:  # noqa: BLE001 - an edge, too
            own = self._of(site)
            if error is STOPPING or any(own.pause(each) > 0 for each in names):
                return  # failures of series are logged where they are noted
            log.warning("ticks of %s were not released: %s", site.name, _reason(error))
            own.note(ALL, error_of(error).code, CLOCK)

    def _due(self, site: Site) -> list[str]:
        """Return the series that have ticks to be released, and did not fail just now."""
        own = self._of(site)
        found = [(each.name, each.status) for each in _open_series(site)]
        return [
            name for name, status in found if status.due > status.released and own.pause(name) <= 0
        ]

    def _pause(self, site: Site) -> float:
        """Return the seconds until the next tick of a catalog, or a look at the clock."""
        now, times, own = utc_now(), [LOOK_EVERY], self._of(site)
        with suppress(Exception):  # it is logged when ticks are to be released
            following = {each.name: each.status.next_at for each in _open_series(site)}
            times += [
                max(own.pause(name), (moment - now).total_seconds())
                for name, moment in following.items()
                if moment is not None
            ]
        return max(SHORTEST_PAUSE, min(times))

    # ----------------------------------------------------------------------- in a thread

    def _released(
        self, site: Site, names: Sequence[str], until: datetime | None, who: str
    ) -> list[Ticked]:
        """Open the data as they are now, and release what is due; the first failure is raised."""
        if site.path is None or site.declared is None:
            raise NO_CATALOG
        self._check_running()  # it may have waited for its turn
        own = self._of(site)
        try:
            curator = open_for_ticks(site.path, declared=site.declared, ledger=site.ledger_place)
        except Exception as error:
            own.note(ALL, error_of(error).code, who)
            _log_failure(site, who, ALL, error)
            raise
        own.forget(ALL, who, until)
        done: list[Ticked] = []
        failures: list[Exception] = []
        with closing(curator):
            chosen = [curator.series(each) for each in names] or _declared(curator.all_series())
            for each in chosen:
                self._check_running()
                try:
                    done += self._tick(site, each, until, who)
                except ToldToStopError:
                    raise
                except Exception as error:  # noqa: BLE001 - others go on, and it is raised after
                    failures.append(error)
                    _note_failure(site, own, who, each, error)
                else:
                    own.forget(each.name, who, until)
        if failures:
            raise failures[0]
        return done

    def _check_running(self) -> None:
        if self._is_stopping.is_set():
            raise ToldToStopError

    def _tick(self, site: Site, series: Series, until: datetime | None, who: str) -> list[Ticked]:
        """Release what is due of a series, and log what is saved, even if it fails later."""
        before, begun = series.status, monotonic()

        def wait() -> None:
            wait_for_clock(self._settings, begun)

        def advance(_done: int, _due: int) -> None:
            nonlocal begun
            begun = monotonic()
            self._check_running()

        BEFORE_SAVING.set(wait)
        try:
            series.tick(until, progress=advance)
        finally:
            after = series.status
            is_charged = after.is_charged and not before.is_charged
            price = Price(epsilon=series.epsilon, delta=series.delta) if is_charged else None
            done = Ticked(name=series.name, ticks=after.released - before.released, charged=price)
            if done.ticks or is_charged:
                _log(site, who, done)
        return [done] if done.ticks else []


def _note_failure(site: Site, own: SiteTicks, who: str, series: Series, error: Exception) -> None:
    if series.policy is not None:  # of a series that is no longer declared, no tick is due
        own.note(series.name, error_of(error).code, who)
    _log_failure(site, who, series.name, error)


def _log_failure(site: Site, who: str, name: str, error: Exception) -> None:
    which = f"the series {visible(name)}" if name else "all series"
    log.warning("ticks of %s of %s were not released: %s", which, site.name, _reason(error))
    site.records.log(who, "tick", error_of(error).code, series=name)


def _reason(error: Exception) -> str:
    """Return our own sentence; the words of others may hold a value."""
    if isinstance(error, DiscreetError):
        return visible(error.what)
    return error.what if isinstance(error, CallError) else type(error).__name__


def _log(site: Site, who: str, done: Ticked) -> None:
    price = done.charged
    amounts = {} if price is None else {"epsilon": str(price.epsilon), "delta": str(price.delta)}
    outcome = "free" if price is None else "charged"
    site.records.log(who, "tick", outcome, series=done.name, ticks=done.ticks, **amounts)


def _declared(found: Sequence[Series]) -> list[Series]:
    """Return the series that the catalog declares: others have no further ticks."""
    return [each for each in found if each.policy is not None]


def _open_series(site: Site) -> list[Series]:
    if site.path is None:
        return []
    return _declared(site.curator.all_series())
