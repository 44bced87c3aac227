"""All that an agent can use, for any transport: tools, resources and the prompt."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeAlias

from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver.tools import Tool
from mcp.server.request_state import RequestStateSecurity
from mcp_types import ToolAnnotations
from pydantic import Field

from discreet import __version__
from discreet.agents.ceiling import Ceiling
from discreet.agents.contents import answered_from, tables_from
from discreet.agents.desk import Desk
from discreet.agents.failures import told_of_resource
from discreet.agents.tools import CEILING, DESK, ask, budget, explain, history, tables
from discreet.agents.words import INSTRUCTIONS, PROMPT, guide
from discreet.noise import SYSTEM

AnyContext: TypeAlias = ServerRequestContext[Any, Any]
DeskOf: TypeAlias = Callable[[AnyContext], Desk]
"""From a call to whoever answers it."""

# --------------------------------------------------------------------------- resources


async def catalog_resource() -> str:
    """Return tables, columns and what is declared of them, as JSON."""
    with told_of_resource():
        return tables_from(await DESK.get().tables()).model_dump_json(indent=2)


async def guide_resource() -> str:
    """Return what can be asked and how a budget works."""
    return guide()


async def answer_resource(id: str) -> str:  # noqa: A002 - as the address has it
    """Return a saved answer of this account with all of its rows, as JSON. Free."""
    with told_of_resource():
        found = await DESK.get().answer(id)
        whole = await asyncio.to_thread(answered_from, id, found)
        return whole.model_dump_json(indent=2)


async def all_series_resource() -> str:
    """Return the series: what they count and cost, and how far they are, as JSON. Free."""
    with told_of_resource():
        found = await DESK.get().all_series()
        return json.dumps({"series": found["series"]}, ensure_ascii=False, indent=2)


async def series_resource(name: str) -> str:
    """Return the last 1,000 ticks of a series as running totals with margins, as JSON. Free."""
    with told_of_resource():
        return json.dumps(await DESK.get().series(name), ensure_ascii=False)


async def analyse_within_budget(
    question: Annotated[str, Field(max_length=10_000, description="What you want to know")],
    epsilon: Annotated[str, Field(max_length=30, description="The most ε to spend in total")],
) -> str:
    """Answer a question with as few queries as needed, inside a budget."""
    return PROMPT.format(question=question, epsilon=epsilon)


# --------------------------------------------------------------------------- the server

FREE = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
SPENDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
TITLES: dict[str, str] = {
    "tables": "List tables",
    "explain": "Preview a query (free)",
    "ask": "Run a query (spends budget)",
    "budget": "Show the budget",
    "history": "List past queries",
}


def make_server(
    desk_of: DeskOf,
    *,
    ceiling: Ceiling | None = None,
    is_read_only: bool = False,
    holder: Callable[[AnyContext], str] | None = None,
) -> "MCPServer[Any]":
    """Return the server of all tools. `holder` names whose call it is, to tie confirmations to it.

    If it is read-only, it has no tool that spends.
    """
    spending = () if is_read_only else (ask,)
    with _own_logging():
        server: MCPServer[Any] = MCPServer(
            "discreet",
            title="Discreet",
            instructions=INSTRUCTIONS,
            version=__version__,
            tools=[_tool(each) for each in (tables, explain, *spending, budget, history)],
            subscriptions=False,
            middleware=[_serving(desk_of, ceiling)],
            request_state_security=RequestStateSecurity(
                keys=[SYSTEM.draw(32)], bind_principal=holder
            ),
        )
    server.resource(
        "discreet://catalog", name="catalog", title="Tables", mime_type="application/json"
    )(catalog_resource)
    server.resource("discreet://guide", name="guide", title="Guide", mime_type="text/markdown")(
        guide_resource
    )
    server.resource(
        "discreet://answers/{id}",
        name="answer",
        title="A saved answer",
        mime_type="application/json",
    )(answer_resource)
    server.resource(
        "discreet://series", name="all_series", title="Series", mime_type="application/json"
    )(all_series_resource)
    server.resource(
        "discreet://series/{name}",
        name="series",
        title="Released ticks of a series",
        mime_type="application/json",
    )(series_resource)
    server.prompt(title="Analyse within a budget")(analyse_within_budget)
    return server


def _tool(act: Callable[..., Awaitable[Any]]) -> Tool:
    """Return a tool that rejects arguments it does not know: one may be a misspelt limit."""
    name = act.__name__
    found = Tool.from_function(act, title=TITLES[name], annotations=SPENDS if act is ask else FREE)
    model = found.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    found.parameters = model.model_json_schema(by_alias=True)
    return found


def _serving(desk_of: DeskOf, ceiling: Ceiling | None) -> Any:
    """Return what finds out, for every call, who answers it."""

    async def served(context: AnyContext, call_next: CallNext) -> HandlerResult:
        DESK.set(desk_of(context))
        CEILING.set(ceiling)
        return await call_next(context)

    return served


@contextmanager
def _own_logging() -> Iterator[None]:
    """Keep the library from setting up the log of this process, which is the owner's."""
    root, quiet = logging.getLogger(), logging.NullHandler()
    root.addHandler(quiet)
    try:
        yield
    finally:
        root.removeHandler(quiet)
