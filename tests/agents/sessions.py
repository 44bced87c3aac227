"""Agents for tests: clients of the library, over every transport, and desks in this process."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from discreet.agents.agent_server import make_server
from discreet.agents.caller_desk import CallerDesk
from discreet.agents.ceiling import Ceiling
from discreet.opening import open_books
from discreet.server.admission import Turns, reading_turns
from discreet.server.asking import QueryRunner
from discreet.server.callers import Caller
from discreet.server.settings import Settings
from discreet.server.sites import Site, open_site

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_REGION = "SELECT region, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY region"


def declare(catalog: Path, name: str, **declared: Any) -> None:
    """Declare an account with limits, without a token."""
    with open_books(catalog) as ledger:
        ledger.declare_analyst(name, **declared)


def command(
    *options: str, environment: dict[str, str] | None = None, folder: Path | None = None
) -> StdioServerParameters:
    """Return how a client starts `discreet mcp`."""
    path = os.pathsep.join(each for each in sys.path if each)
    state = {k: v for k, v in os.environ.items() if k.startswith("DISCREET_STATE")}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "discreet", "mcp", *options],
        env={"PYTHONPATH": path, **state, **(environment or {})},
        cwd=folder,
    )


@asynccontextmanager
async def over_http(url: str, token: str | None, **more: Any) -> AsyncIterator[Client]:
    """Connect to a server."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, verify=False) as http,
        Client(streamable_http_client(url, http_client=http), **more) as client,
    ):
        yield client


@contextmanager
def opened(catalog: Path) -> Iterator[Site]:
    """Open a catalog in this process."""
    site = open_site("clinic", catalog)
    try:
        yield site
    finally:
        site.close()


def desk_at(site: Site, name: str, settings: Settings | None = None) -> CallerDesk:
    """Return a desk for an account, inside of a running loop."""
    (account,) = (each for each in site.ledger.analysts() if each.name == name)
    caller = Caller(name=name, role=account.role, site=site, token_hash=account.token_hash)
    chosen = settings or Settings()
    runner = QueryRunner(settings=chosen, turns=Turns(chosen.limits))
    return CallerDesk(
        caller=caller,
        runner=runner,
        planning=Turns(chosen.limits),
        reading=reading_turns(chosen.limits),
        is_gone=_waits,
    )


async def _waits() -> bool:
    return False


@asynccontextmanager
async def agent_at(
    site: Site,
    name: str = "ann",
    *,
    ceiling: Ceiling | None = None,
    desk: CallerDesk | None = None,
    **more: Any,
) -> AsyncIterator[Client]:
    """Connect to tools in this process."""
    chosen = desk or desk_at(site, name)
    async with Client(make_server(lambda _: chosen, ceiling=ceiling), **more) as client:
        yield client
    await chosen.runner.finish()


async def call(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool that is to succeed; return what it returned."""
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, text_of(found)
    content: dict[str, Any] | None = found.structured_content
    assert content is not None
    return content


async def rejected(client: Client, tool: str, /, **arguments: Any) -> str:
    """Call a tool that is to reject it; return its words."""
    found = await client.call_tool(tool, arguments)
    assert found.is_error, text_of(found)
    return text_of(found)


def text_of(result: Any) -> str:
    """Return the text of a result."""
    return str(result.content[0].text)


async def read(client: Client, uri: str) -> str:
    """Return the text of a resource."""
    (content,) = (await client.read_resource(uri)).contents
    return str(getattr(content, "text"))  # noqa: B009 - of one of two classes


async def remaining(client: Client) -> float:
    """Return the epsilon that remains for the account."""
    return float((await call(client, "budget"))["remaining"]["epsilon"])


class Person:
    """Somebody who is asked to confirm queries, and always answers the same."""

    def __init__(self, action: str, confirms: bool = True) -> None:
        self.action, self.confirms = action, confirms
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult:  # noqa: ARG002
        """Answer a question."""
        self.asked.append(params.message)
        content = {"confirm": self.confirms} if self.action == "accept" else None
        return ElicitResult(action=self.action, content=content)  # type: ignore[arg-type]


def run(act: Callable[[], Any]) -> Any:
    """Run what is asynchronous."""
    return asyncio.run(act())
