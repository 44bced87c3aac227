"""A client for asyncio."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import httpx

from discreet.account_limits import AccountLimits
from discreet.amounts import Balance
from discreet.answer import Answer
from discreet.answer.columns import Margins
from discreet.catalog import Catalog
from discreet.client import calls
from discreet.client.calls import HttpCall, HttpReply, Steps
from discreet.client.oidc import BearerToken
from discreet.client.remote import (
    PATIENCE,
    TELL_EVERY,
    OnWait,
    Tries,
    reply_from,
    request_of,
    run,
    tell,
    trusted,
    waiting_sentence,
)
from discreet.client.series import AsyncRemoteSeries
from discreet.explanation import Explanation
from discreet.explanation.coverage import Coverage
from discreet.parameters import Real
from discreet.terms import ExplainTerms, Terms

T = TypeVar("T")


async def connect_async(
    url: str,
    token: str | None = None,
    *,
    catalog: str | None = None,
    timeout: float = PATIENCE,
    verify: Any = True,
) -> "AsyncRemote":
    """Return a client of a server, as `connect` does."""
    settings = {
        "base_url": url.rstrip("/"),
        "auth": BearerToken(url, token),
        "timeout": timeout,
        "verify": trusted(verify),
    }
    http = httpx.AsyncClient(**settings)
    try:
        name = await _run(calls.only_catalog(catalog), http)
    except BaseException:
        await http.aclose()
        raise
    return AsyncRemote(http, name, lambda: httpx.Client(**settings))


class AsyncRemote:
    """A curator on a server, for asyncio."""

    def __init__(
        self, http: httpx.AsyncClient, name: str, waiting: Callable[[], httpx.Client]
    ) -> None:
        self._http, self._path, self._waiting = http, calls.path_of(name), waiting
        self.on_wait: OnWait = None
        """Called with a sentence while a call waits for its reply."""

    async def ask(self, sql: str, **terms: Unpack[Terms]) -> Answer:
        """Return the answer as `Curator.ask` does."""
        return await _run(
            calls.ask(self._path, sql, terms, self._margins), self._http, self.on_wait
        )

    async def explain(self, sql: str, **terms: Unpack[ExplainTerms]) -> Explanation:
        """Return what `ask` would do and cost; reads no data."""
        return await _run(calls.explain(self._path, sql, terms), self._http, self.on_wait)

    async def coverage(
        self, table: str, *, epsilon: Real | None = None, columns: Collection[str] | None = None
    ) -> Coverage:
        """Return a table's coverage as `Curator.coverage` does."""
        return await _run(
            calls.coverage(self._path, table, epsilon, columns), self._http, self.on_wait
        )

    async def series(self, name: str) -> AsyncRemoteSeries:
        """Return a series, to read its released ticks; that is free."""
        found = await self._call(calls.explain_series(self._path, name, 0.95))
        return AsyncRemoteSeries(found.name, self._path, self._call)

    async def all_series(self) -> tuple[AsyncRemoteSeries, ...]:
        """Return all series, to read their released ticks."""
        found = await self._call(calls.all_series(self._path, 0.95))
        return tuple(AsyncRemoteSeries(each.name, self._path, self._call) for each in found)

    async def _call(self, steps: Steps[T]) -> T:
        return await _run(steps, self._http, self.on_wait)

    async def remaining(self) -> Balance:
        """Return what is left of the account's cap, or of the total where that is less."""
        return await _run(calls.remaining(self._path), self._http, self.on_wait)

    async def remaining_by_month(self) -> dict[str, Balance]:
        """Return what is left for each month, if the budget is per month; else nothing."""
        return await self._call(calls.remaining_by_month(self._path))

    async def limits(self) -> AccountLimits:
        """Return what one query may cost, and what remains today."""
        return await _run(calls.limits(self._path), self._http, self.on_wait)

    async def catalog(self) -> Catalog:
        """Return what may be asked about."""
        return await _run(calls.catalog(self._path), self._http, self.on_wait)

    def _margins(self, steps: Steps[Margins]) -> Margins:
        """Return margins at another confidence. `Answer.margins_at` is no coroutine: it waits."""
        with self._waiting() as http:
            return run(steps, http)

    async def close(self) -> None:
        """Close the connection."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


async def _run(steps: Steps[T], http: httpx.AsyncClient, on_wait: OnWait = None) -> T:
    try:
        call = next(steps)
        while True:
            call = steps.send(await _replied(call, http, on_wait))
    except StopIteration as ended:
        return ended.value  # type: ignore[no-any-return]


async def _replied(call: HttpCall, http: httpx.AsyncClient, on_wait: OnWait) -> HttpReply:
    tries = Tries()
    while True:
        reply, failure = None, None
        try:
            reply = reply_from(await _told_while_waiting(http.request(**request_of(call)), on_wait))
        except httpx.RequestError as error:
            failure = error
        seconds = tries.pause_after(reply, failure)
        if reply is not None and seconds is None:
            return reply
        tell(on_wait, tries.sentence)
        await asyncio.sleep(seconds or 0)


async def _told_while_waiting(work: Coroutine[Any, Any, T], on_wait: OnWait) -> T:
    """Wait for a reply; tell now and then that it has not come yet."""
    task, waited = asyncio.ensure_future(work), 0.0
    try:
        while not (await asyncio.wait([task], timeout=TELL_EVERY))[0]:
            waited += TELL_EVERY
            tell(on_wait, waiting_sentence(waited))
        return task.result()
    finally:
        task.cancel()
