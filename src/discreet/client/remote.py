"""A client that waits for replies."""

import ssl  # noqa: TID251 - certificates, not random numbers
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar, Unpack

import httpx

from discreet.account_limits import AccountLimits
from discreet.amounts import Balance
from discreet.answer import Answer
from discreet.catalog import Catalog
from discreet.catalog.shown import tables_html
from discreet.client import calls
from discreet.client.calls import HttpCall, HttpReply, ServerError, Steps
from discreet.client.oidc import BearerToken, check_encrypted
from discreet.client.series import RemoteSeries
from discreet.errors import HIDDEN, ParameterError
from discreet.explanation import Explanation
from discreet.explanation.coverage import Coverage
from discreet.explanation.series import SeriesExplanation
from discreet.parameters import Real
from discreet.terms import ExplainTerms, Terms

T = TypeVar("T")

PATIENCE = 600.0
"""Seconds to wait for a reply."""

TRIES, LONGEST_PAUSE = 6, 20.0
"""A call is repeated so often, after pauses of so many seconds at most."""

TELL_EVERY = 10.0
"""Seconds between two sentences to whoever waits for a reply."""

OnWait: TypeAlias = Callable[[str], object] | None
"""Called with a sentence while a reply is waited for."""

AWAY = "The server cannot be reached"
CLOSED = ("This client is closed", "Connect again, with discreet.connect")


def connect(
    url: str,
    token: str | None = None,
    *,
    catalog: str | None = None,
    timeout: float = PATIENCE,
    verify: Any = True,
) -> "Remote":
    """Return a client of a server, for a catalog: the only one, if none is named.

    Without a token it is that of the environment variable DISCREET_TOKEN, or of `discreet login`.
    `verify` is a file of certificates that the server's is checked against, in place of the usual.
    """
    auth = BearerToken(url, token)
    http = httpx.Client(
        base_url=url.rstrip("/"), auth=auth, timeout=timeout, verify=trusted(verify)
    )
    try:
        name = run(calls.only_catalog(catalog), http)
    except BaseException:
        http.close()
        raise
    return Remote(http, name)


def trusted(verify: Any) -> Any:
    """Return what httpx checks certificates with: for a path, the certificates in that file."""
    if isinstance(verify, str | PathLike):
        try:
            return ssl.create_default_context(cafile=verify)
        except OSError:
            rule = f"must be a file of certificates in PEM, and {verify} is not"
            raise ParameterError("verify", HIDDEN, rule) from None
    return verify


def catalogs_at(url: str, token: str) -> list[str]:
    """Return the catalogs of a server that the holder of a token may use."""
    check_encrypted(url)
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=PATIENCE) as http:
        return run(calls.catalogs(), http)


class Remote:
    """A curator on a server: what is asked is charged to the account of the token."""

    def __init__(self, http: httpx.Client, name: str) -> None:
        self._http, self._path = http, calls.path_of(name)
        self.on_wait: OnWait = None
        """Called with a sentence, maybe from another thread, while a call waits for its reply."""

    def ask(self, sql: str, **terms: Unpack[Terms]) -> Answer:
        """Return the answer as `Curator.ask` does. After a lost connection it is charged once."""
        return self._run(calls.ask(self._path, sql, terms, self._run))

    def explain(self, sql: str, **terms: Unpack[ExplainTerms]) -> Explanation:
        """Return what `ask` would do and cost; reads no data."""
        return self._run(calls.explain(self._path, sql, terms))

    def coverage(
        self, table: str, *, epsilon: Real | None = None, columns: Collection[str] | None = None
    ) -> Coverage:
        """Return a table's coverage as `Curator.coverage` does."""
        return self._run(calls.coverage(self._path, table, epsilon, columns))

    def series(self, name: str) -> RemoteSeries:
        """Return a series, to read its released ticks; that is free."""
        found = self._run(calls.explain_series(self._path, name, 0.95))
        return RemoteSeries(found.name, self._path, self._run)

    def all_series(self) -> tuple[RemoteSeries, ...]:
        """Return all series, to read their released ticks."""
        return tuple(
            RemoteSeries(each.name, self._path, self._run) for each in self.explain_all_series()
        )

    def explain_all_series(self, *, confidence: Real = 0.95) -> tuple[SeriesExplanation, ...]:
        """Return cost, state and margins of all series, in one call."""
        return self._run(calls.all_series(self._path, confidence))

    @property
    def remaining(self) -> Balance:
        """What is left of the account's cap, or of the total where that is less."""
        return self._run(calls.remaining(self._path))

    def remaining_by_month(self) -> dict[str, Balance]:
        """Return what is left for each month, if the budget is per month; else nothing."""
        return self._run(calls.remaining_by_month(self._path))

    @property
    def limits(self) -> AccountLimits:
        """What one query may cost, and what remains today; the cap and the total hold besides."""
        return self._run(calls.limits(self._path))

    @property
    def catalog(self) -> Catalog:
        """What may be asked about."""
        return self._run(calls.catalog(self._path))

    def call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, key: str | None = None
    ) -> HttpReply:
        """Call a route of the catalog, such as /budget, and return its reply, even an error."""
        headers = {} if key is None else {"Idempotency-Key": key}
        made = HttpCall(method=method, path=self._path + path, body=body, headers=headers)
        return self._run(calls.replied(made))

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Remote({self._http.base_url}{self._path} · left {self.remaining})"

    def _repr_html_(self) -> str:
        return tables_html(self.catalog.tables, below=f"Remaining: {self.remaining}")

    def _run(self, steps: Steps[T]) -> T:
        if self._http.is_closed:
            raise ServerError(*CLOSED)
        return run(steps, self._http, self.on_wait)


def run(steps: Steps[T], http: httpx.Client, on_wait: OnWait = None) -> T:
    """Make the calls of some steps, and return their result."""
    try:
        call = next(steps)
        while True:
            call = steps.send(_replied(call, http, on_wait))
    except StopIteration as ended:
        return ended.value  # type: ignore[no-any-return]


def _replied(call: HttpCall, http: httpx.Client, on_wait: OnWait) -> HttpReply:
    tries = Tries()
    while True:
        reply, failure = None, None
        try:
            with _told_while_waiting(on_wait):
                reply = reply_from(http.request(**request_of(call)))
        except httpx.RequestError as error:
            failure = error
        seconds = tries.pause_after(reply, failure)
        if reply is not None and seconds is None:
            return reply
        tell(on_wait, tries.sentence)
        time.sleep(seconds or 0)


@contextmanager
def _told_while_waiting(on_wait: OnWait) -> Iterator[None]:
    """Tell now and then that a reply has not come yet."""
    if on_wait is None:
        yield
        return
    ended = Event()

    def keep_telling() -> None:
        waited = 0.0
        while not ended.wait(TELL_EVERY):
            waited += TELL_EVERY
            tell(on_wait, waiting_sentence(waited))

    teller = Thread(target=keep_telling, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def tell(on_wait: OnWait, sentence: str) -> None:
    """Tell whoever waits."""
    if on_wait is not None:
        on_wait(sentence)


def waiting_sentence(seconds: float) -> str:
    """Return how long a reply was waited for."""
    return f"Waiting for the answer for {seconds:.0f} seconds"


@dataclass(slots=True)
class Tries:
    """Decides whether and when a call is repeated, and says why.

    A query that still runs is waited for as long as the server runs it.
    """

    number: int = 0
    sentence: str = ""

    def pause_after(
        self, reply: HttpReply | None, failure: httpx.RequestError | None
    ) -> float | None:
        """Return the seconds to wait before the next try; None if the reply is the last."""
        if reply is not None and reply.is_still_running:
            self.number = 0
            self.sentence = "The query is still running"
            return pause(1, reply)
        self.number += 1
        if reply is not None and not reply.is_repeatable:
            return None
        if self.number >= TRIES:
            if failure is not None:
                raise away(failure) from None
            return None
        seconds = pause(self.number, reply)
        self.sentence = f"The server is busy or away; the next try is in {seconds:.0f} seconds"
        return seconds


def request_of(call: HttpCall) -> dict[str, Any]:
    """Return a call as arguments of httpx."""
    headers = {"Accept": call.accept, **call.headers}
    return {"method": call.method, "url": call.path, "json": call.body, "headers": headers}


def reply_from(response: httpx.Response) -> HttpReply:
    """Return what httpx received."""
    return HttpReply(
        status=response.status_code,
        body=response.content,
        headers={name.lower(): value for name, value in response.headers.items()},
    )


def pause(number: int, reply: HttpReply | None) -> float:
    """Return the seconds before a call is repeated: as the server says, or twice the last."""
    asked = "" if reply is None else reply.headers.get("retry-after", "")
    return min(
        float(asked) if asked.isascii() and asked.isdigit() else 0.25 * 2**number, LONGEST_PAUSE
    )


def away(error: httpx.RequestError) -> ServerError:
    """Return that a server cannot be reached."""
    return ServerError(f"{AWAY} ({type(error).__name__})", "Check its address and the network")
