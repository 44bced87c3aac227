"""`/mcp` of a server: streamable HTTP, one call at a time, without sessions.

Every call has the token of an account, as for other routes. A person's confirmation travels with
the next call, encrypted and tied to the account and the arguments, so that nothing is remembered.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast
from urllib.parse import urlsplit

from fastapi import FastAPI, Request, Response
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from discreet.agents.agent_server import AnyContext, make_server
from discreet.agents.caller_desk import CallerDesk
from discreet.agents.desk import Desk
from discreet.server.callers import NOWHERE, STRANGER, Caller
from discreet.server.faults import CallError
from discreet.server.reading import only_fields
from discreet.server.signing import SignIns

PATH = "/mcp"
ROUTE = SimpleNamespace(path=PATH)

CALLER, GONE = "discreet.caller", "discreet.is_gone"
"""Where the scope of a call has who calls, and whether they wait no longer."""

FOREIGN = CallError(
    status=403,
    code="foreign_origin",
    what="Pages of other sites cannot use this server",
    fix="Call it from a program",
)


HOSTS_ARE_CHECKED = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""The server checks its names and `_check_origin` pages; the library would allow localhost only."""


@dataclass(slots=True)
class AgentRoute:
    """The route of agents."""

    app: FastAPI
    _manager: StreamableHTTPSessionManager | None = field(default=None, init=False)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer calls until the block ends."""
        server = make_server(self._desk, holder=_holder)
        server.streamable_http_app(
            json_response=True, stateless_http=True, transport_security=HOSTS_ARE_CHECKED
        )
        self._manager = server.session_manager
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call."""
        scope["route"] = ROUTE  # as the metrics name it
        request = Request(scope, receive)
        if request.method != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        _check_origin(request)
        caller = await self._caller(request)
        body = await request.body()
        with suppress(ValueError, RecursionError):  # the library rejects what is not JSON
            only_fields(body)
        known = {**scope, CALLER: caller, GONE: request.is_disconnected}
        if self._manager is None:
            raise RuntimeError("not running")
        await self._manager.handle_request(known, _again(body, receive), send)

    async def _caller(self, request: Request) -> Caller:
        """Return who calls, in the catalog of the path or in the only one."""
        sign_ins: SignIns = request.app.state.sign_ins
        if not request.headers.get("authorization"):
            raise STRANGER  # a session of the page is not enough
        found = await sign_ins.callers(request)
        name = request.path_params.get("catalog")
        if name is None and len(found) > 1:
            sign_ins.count(found)
            raise _several(found)
        caller = next(iter(found.values())) if name is None else found.get(name)
        sign_ins.count(found if caller is None else {caller.site.name: caller})
        if caller is None:
            raise NOWHERE
        return caller

    def _desk(self, context: AnyContext) -> Desk:
        state, scope = self.app.state, _scope(context)
        return CallerDesk(
            caller=scope[CALLER],
            runner=state.runner,
            planning=state.planning,
            reading=state.reading,
            is_gone=scope[GONE],
        )


def add_routes(app: FastAPI) -> AgentRoute:
    """Add the routes of agents to a server."""
    route = AgentRoute(app)
    app.router.routes += [Route(PATH, route), Route(f"{PATH}/{{catalog}}", route)]
    return route


def _scope(context: AnyContext) -> Scope:
    """Return the scope of the HTTP call that a message came with."""
    request: Request = cast("Request", context.request)
    return request.scope


def _holder(context: AnyContext) -> str:
    caller: Caller = _scope(context)[CALLER]
    return json.dumps([caller.place, caller.name, caller.token_hash])


def _several(found: dict[str, Caller]) -> CallError:
    return CallError(
        status=400,
        code="several_catalogs",
        what="This token is for several catalogs",
        fix=f"Use one of these addresses: {', '.join(f'/mcp/{name}' for name in found)}",
    )


def _check_origin(request: Request) -> None:
    """Reject what a page of another site sends: its name may lead to this server by now."""
    origin = request.headers.get("origin")
    if origin is None:
        return
    try:
        is_own = urlsplit(origin).netloc == request.headers.get("host")
    except ValueError:  # it is no address
        is_own = False
    if not is_own:
        raise FOREIGN


def _again(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read, and then what comes after it."""
    given = [body]

    async def received() -> Message:
        if given:
            return {"type": "http.request", "body": given.pop(), "more_body": False}
        return await receive()

    return received
