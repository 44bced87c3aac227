"""Ticks of series are released by the clock: when they are due, by this process or another.

Which ticks are due follows from the catalog and the clock. Data are opened again for them, because
those that are served are as they were when the server started. What is saved first counts: several
servers over one ledger, and a server that is killed, release no tick twice.
"""

import asyncio
import logging
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic

from discreet.amounts import Price
from discreet.catalog.clocks import utc_now
from discreet.executor import BEFORE_SAVING
from discreet.opening import open_for_ticks
from discreet.series import Series
from discreet.server.admission import STOPPING, wait_for_clock
from discreet.server.faults import CallError, error_of
from discreet.server.settings import Settings
from discreet.server.sites import Site

log = logging.getLogger("discreet.server")

LOOK_EVERY = 300.0
"""Seconds after which the clock is looked at again: it may have been set, or data were added."""

SHORTEST_PAUSE = 0.5
"""Seconds between two looks at the clock at least."""

FIRST_PAUSE, LONGEST_PAUSE = 60.0, 3600.0
"""Seconds before ticks that failed are tried again: at first, and at most. Each pause doubles."""

CLOCK = "(clock)"
"""Who releases ticks in the audit log when nobody asked for it."""

ALL = ""
"""In place of a series, where a failure is one of all series of a catalog."""

FAILED = "Ticks that are due could not be released. The log of the server has the reason"
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
    times: int
    """How many times in a row."""
    again_at: float
    """When it is tried again, in seconds of this process."""


@dataclass(slots=True)
class SiteTicks:
    """The ticks of one catalog."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Whoever releases ticks waits for it, so that the data are opened once at a time."""
    failures: dict[str, TickFailure] = field(default_factory=dict)
    """By the name of the series; by `ALL` if the data could not be opened."""

    def pause(self, name: str) -> float:
        """Return the seconds until a series that failed is tried again; 0 if none did."""
        found = [self.failures[each] for each in (ALL, name) if each in self.failures]
        return max((each.again_at - monotonic() for each in found), default=0.0)

    def note(self, name: str, code: str) -> None:
        """Remember a failure; each pause is twice as long as the last."""
        last = self.failures.get(name)
        times = 1 if last is None else last.times + 1
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(times - 1, 20))
        self.failures[name] = TickFailure(
            code=code,
            since=utc_now() if last is None else last.since,
            times=times,
            again_at=monotonic() + pause,
        )


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
                    "since": each.since.isoformat(timespec="seconds"),
                }
                for name, each in failures.items()
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
            return await asyncio.to_thread(self._released, site, names, until, who)

    # ----------------------------------------------------------------------- by the clock

    async def _run(self) -> None:
        while not self._stop.is_set():
            for site in list(self._sites.values()):
                await self._tick_if_due(site)
            seconds = await asyncio.to_thread(self._pause)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), seconds)

    async def _tick_if_due(self, site: Site) -> None:
        if self._stop.is_set():
            return
        try:
            names = await asyncio.to_thread(self._due, site)
            if names:
                await self.release(site, names, None, CLOCK)
        except Exception as error:  # an edge: the clock goes on
            if error is not STOPPING:
                log.warning("ticks of %s were not released: %s", site.name, error_of(error).code)
                log.info("why ticks were not released", exc_info=error)

    def _due(self, site: Site) -> list[str]:
        """Return the series that have ticks to be released, and did not fail just now."""
        own = self._of(site)
        found = [(each.name, each.status) for each in _open_series(site)]
        return [
            name for name, status in found if status.due > status.released and own.pause(name) <= 0
        ]

    def _pause(self) -> float:
        """Return the seconds until the next tick of any series, or until the clock is looked at."""
        now, times = utc_now(), [LOOK_EVERY]
        for site in list(self._sites.values()):
            own = self._of(site)
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
        own = self._of(site)
        try:
            curator = open_for_ticks(site.path, declared=site.declared, ledger=site.ledger_place)
        except Exception as error:
            _log_failure(site, own, who, ALL, error)
            raise
        own.failures.pop(ALL, None)
        done: list[Ticked] = []
        failures: list[Exception] = []
        with closing(curator):
            chosen = [curator.series(each) for each in names] or _declared(curator.all_series())
            for each in chosen:
                try:
                    done += self._tick(site, each, until, who)
                except ToldToStopError:
                    raise
                except Exception as error:  # noqa: BLE001 - others go on, and it is raised after
                    _log_failure(site, own, who, each.name, error)
                    failures.append(error)
                else:
                    own.failures.pop(each.name, None)
        if failures:
            raise failures[0]
        return done

    def _tick(self, site: Site, series: Series, until: datetime | None, who: str) -> list[Ticked]:
        """Release what is due of a series, and log what is saved, even if it fails later."""
        before, begun = series.status, monotonic()

        def wait() -> None:
            wait_for_clock(self._settings, begun)

        def advance(_done: int, _due: int) -> None:
            nonlocal begun
            begun = monotonic()
            if self._is_stopping.is_set():
                raise ToldToStopError

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


def _log_failure(site: Site, own: SiteTicks, who: str, name: str, error: Exception) -> None:
    code = error_of(error).code
    own.note(name, code)
    site.records.log(who, "tick", code, series=name)


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
