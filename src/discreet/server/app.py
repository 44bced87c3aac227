"""The application: routes, limits on bodies, headers, the one form of errors, OpenAPI."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from ipaddress import ip_address
from time import monotonic
from typing import Any, Protocol

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet import __version__
from discreet.errors import DiscreetError
from discreet.extras import load
from discreet.server import (
    analyst_routes,
    dataset_routes,
    oidc_routes,
    owner_routes,
    request_routes,
    running_routes,
    signing,
)
from discreet.server.admission import Turns, reading_turns, tick
from discreet.server.asking import QueryRunner
from discreet.server.bodies import ErrorReply
from discreet.server.data_sets import DataSets
from discreet.server.faults import CallError, error_of, forget_frames
from discreet.server.learn.routes import router as learn_routes
from discreet.server.metrics import Metrics
from discreet.server.metrics import router as metrics_routes
from discreet.server.page import router as page_routes
from discreet.server.sample_routes import SyntheticSites
from discreet.server.sample_routes import router as sample_routes
from discreet.server.series_routes import router as series_routes
from discreet.server.settings import Settings
from discreet.server.shelf_routes import router as shelf_routes
from discreet.server.signing import SignIns
from discreet.server.sites import Site
from discreet.server.spending_routes import router as spending_routes
from discreet.server.ticking import Ticker

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""What every reply has."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")

REPLIES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorReply, "description": what}
    for status, what in {
        400: "The call is not well formed",
        401: "Not signed in",
        402: "Not enough budget",
        403: "Not allowed",
        404: "Nothing here that you may see",
        409: "Cancelled, to be confirmed, or a key or a name that was used before",
        413: "The call is too long",
        422: "The query or an argument is rejected",
        429: "Too many calls: come back after Retry-After seconds",
        503: "The server is shutting down, or the database failed",
        504: "The query is still running: repeat the call with the same key",
    }.items()
}


class Wire(Protocol):
    """Another protocol that the same catalogs are served by."""

    async def start(self, runner: QueryRunner, planning: Turns, sign_ins: SignIns) -> None: ...

    async def close(self) -> None: ...


def make_app(
    sites: Mapping[str, Site],
    settings: Settings,
    hosts: Iterable[str] = (),
    wire: Wire | None = None,
) -> FastAPI:
    """Return the application that serves some catalogs under some host names."""
    sign_ins = SignIns(dict(sites), settings)
    data_sets = DataSets(settings, sign_ins.sites)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.turns = Turns(settings.limits)
        app.state.runner = QueryRunner(settings=settings, turns=app.state.turns)
        app.state.planning = Turns(settings.limits)  # what reads no private data
        app.state.reading = reading_turns(settings.limits)
        app.state.synthetic = SyntheticSites()
        app.state.sign_ins = sign_ins
        app.state.settings = settings
        app.state.data_sets = data_sets
        app.state.ticker = Ticker(sign_ins.sites, settings)
        if wire is not None:
            await wire.start(app.state.runner, app.state.planning, sign_ins)
        app.state.ticker.start()
        async with nullcontext() if agents is None else agents.running():
            yield
        app.state.turns.stop()
        app.state.planning.stop()
        app.state.reading.stop()
        if wire is not None:
            await wire.close()
        await app.state.runner.finish()
        await app.state.ticker.stop()
        app.state.synthetic.close()
        data_sets.close()

    app = FastAPI(
        title="Discreet",
        version=__version__,
        summary="Answers questions about sensitive data with differential privacy",
        lifespan=lifespan,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        responses=REPLIES,
        redirect_slashes=False,
    )
    for each in (
        signing.router,
        oidc_routes.router,
        analyst_routes.router,
        shelf_routes,
        sample_routes,
        request_routes.router,
        running_routes.router,
        owner_routes.router,
        series_routes,
        spending_routes,
        dataset_routes.router,
        metrics_routes,
        learn_routes,
        page_routes,
    ):
        app.include_router(each)
    agents = _agents(app) if settings.agents else None
    for kind in (CallError, DiscreetError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _told)
    metrics = app.state.metrics = Metrics()
    known = frozenset(each.casefold().strip("[]") for each in (*LOOPBACK, *hosts))
    app.add_middleware(Guard, settings=settings, hosts=known, metrics=metrics)
    return app


def _agents(app: FastAPI) -> Any:
    """Add the routes of agents; they need a library of their own."""
    module = load("discreet.agents.over_http", what="The interface for agents", extra="mcp")
    return module.add_routes(app)


async def _told(_: Request, error: Exception) -> Response:
    """Reply to a call that is rejected."""
    found = _call_error(error)
    for each in (error, found):
        forget_frames(each)
    return rejection(found)


def rejection(error: CallError) -> Response:
    """Return the reply to a call that is rejected.

    Half of a character pair, which a call may contain, has no bytes and is written as an escape.
    """
    text = json.dumps(error.to_json(), ensure_ascii=False)
    content, headers = text.encode("utf-8", "backslashreplace"), dict(error.headers)
    return Response(content, error.status, headers, "application/json")


def _call_error(error: Exception) -> CallError:
    match error:
        case HTTPException(__cause__=CallError() as cause):  # while a body was read
            return cause
        case RequestValidationError():
            return CallError(status=422, code="bad_call", what=_first(error), fix=SEE_API)
        case HTTPException(status_code=404):
            return CallError(status=404, code="not_found", what=NO_ROUTE, fix=SEE_API)
        case HTTPException(status_code=status):
            return CallError(status=status, code="bad_call", what=NOT_UNDERSTOOD, fix=SEE_API)
        case _:
            return error_of(error)


SEE_API = "GET /v1/openapi.json describes all calls"
NO_ROUTE = "There is nothing at this address that you may see"
NOT_UNDERSTOOD = "This call is not understood"


def _first(error: RequestValidationError) -> str:
    """Return what is wrong with the first wrong part of a call."""
    for each in error.errors():
        where = ".".join(str(part) for part in each["loc"][1:]) or str(each["loc"][0])
        return f"{where[:100]}: {each['msg']}"
    return NOT_UNDERSTOOD


class Guard:
    """Rejects calls under foreign names and bodies that are too long; sets headers."""

    def __init__(
        self, app: ASGIApp, *, settings: Settings, hosts: frozenset[str], metrics: Metrics
    ) -> None:
        self._app, self._hosts, self._settings, self._metrics = app, hosts, settings, metrics
        self._most = settings.limits.body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = monotonic(), 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if scope["path"].startswith(TIMED):
                    await tick(self._settings)
                known = {name for name, _ in message["headers"]}
                more = [
                    (name.lower().encode(), value.encode())
                    for name, value in HEADERS.items()
                    if name.lower().encode() not in known
                ]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        try:
            await self._served(scope, receive, sent)
        except Exception as error:  # noqa: BLE001 - told in fixed words
            found = error_of(error)
            if status:  # the reply has begun: a connection that is cut says that it has no end
                raise CutError from None
            await rejection(found)(scope, receive, sent)
        finally:
            self._metrics.count(scope, status, monotonic() - begun)

    async def _served(self, scope: Scope, receive: Receive, send: Send) -> None:
        rejected = self._rejected(scope["headers"])
        if rejected is not None:
            await rejection(rejected)(scope, receive, send)
            return
        read, until = 0, monotonic() + self._settings.limits.body_seconds
        is_whole = False

        async def received() -> Message:
            nonlocal read, is_whole
            try:
                async with asyncio.timeout(None if is_whole else max(0, until - monotonic())):
                    message = await receive()
            except TimeoutError:
                raise TOO_SLOW from None
            is_whole = is_whole or not message.get("more_body", False)
            read += len(message.get("body", b""))
            if read > self._most:
                raise TOO_LONG
            return message

        await self._app(scope, received, send)

    def _rejected(self, headers: Sequence[tuple[bytes, bytes]]) -> CallError | None:
        if sum(len(name) + len(value) for name, value in headers) > HEADER_BYTES:
            return TOO_MANY_HEADERS
        known = dict(headers)
        names = [name for name, _ in headers]
        if any(names.count(each) > 1 for each in SINGLE):
            return AMBIGUOUS
        if {b"content-length", b"transfer-encoding"} <= known.keys():
            return TWO_LENGTHS
        if _host_in(known.get(b"host", b"")) not in self._hosts:
            return FOREIGN
        length = known.get(b"content-length", b"0")
        return TOO_LONG if not length.isdigit() or int(length[:20]) > self._most else None


CLOSED = {"Connection": "close"}
"""Of replies to calls that are not read to their end, or come from a client that is not sound."""

TOO_LONG = CallError(
    status=413,
    code="too_long",
    what="The call is longer than this server reads",
    fix="Shorten it",
    headers=CLOSED,
)
HEADER_BYTES = 1 << 15

TOO_MANY_HEADERS = CallError(
    status=431,
    code="too_long",
    what="The headers are longer than this server reads",
    headers=CLOSED,
)

TIMED = ("/v1/", "/mcp")
"""Replies below these paths leave at ticks of the clock."""

SINGLE = (b"authorization", b"content-type", b"host", b"idempotency-key")
"""Headers of which a proxy and this server might read different ones if there were two."""

AMBIGUOUS = CallError(
    status=400,
    code="bad_call",
    what="A header was sent twice",
    fix="Send each header once",
    headers=CLOSED,
)


TWO_LENGTHS = CallError(
    status=400,
    code="bad_call",
    what="A body has a length and comes in chunks",
    fix="Send Content-Length or Transfer-Encoding, not both",
    headers=CLOSED,
)
"""A proxy that goes by the one would take for a second call what belongs to the first."""


class CutError(Exception):
    """A reply that failed after it had begun."""


TOO_SLOW = CallError(
    status=408,
    code="too_slow",
    what="The rest of the call did not come",
    fix="Call again",
    headers=CLOSED,
)
FOREIGN = CallError(
    status=421,
    code="foreign_host",
    what="This server is not reached under this name",
    fix="Start it with --host-name NAME",
    headers=CLOSED,
)


def _host_in(header: bytes) -> str:
    """Return the name in a Host header, without its port and without brackets."""
    text = header.decode("latin-1").casefold()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0]


def is_loopback(host: str) -> bool:
    """Return whether an address is of this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
