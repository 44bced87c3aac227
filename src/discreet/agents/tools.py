"""Tools, resources and the prompt: one definition for every transport.

Tools return typed values. What is rejected is an error that a model can act on. Anything
unexpected is told in fixed words, and its own words go nowhere but the owner's log.
"""
# ruff: noqa: PLR0913, PLR0917 - arguments of tools are what an analyst may state

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import wraps
from typing import Annotated, Any, Literal, ParamSpec, TypeAlias, TypeVar

from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.server.mcpserver.tools import Tool
from mcp.server.request_state import RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field, ValidationError

from discreet import __version__
from discreet.agents.ceiling import Ceiling
from discreet.agents.contents import (
    Answered,
    Budget,
    Explained,
    History,
    Tables,
    answered_from,
    budget_from,
    explained_from,
    history_from,
    tables_from,
)
from discreet.agents.desk import Desk, Rejection, rejection
from discreet.agents.words import INSTRUCTIONS, PROMPT, guide
from discreet.amounts import amount_up, equation
from discreet.errors import without_commands
from discreet.noise import SYSTEM
from discreet.server.bodies import (
    MOST_NUMBER,
    OF_PARAMETERS,
    Amount,
    AskBody,
    ExplainBody,
    JsonObject,
    QueryDialect,
    QueryParameters,
)
from discreet.server.faults import error_of

log = logging.getLogger("discreet.agents")

P = ParamSpec("P")
T = TypeVar("T")

AnyContext: TypeAlias = ServerRequestContext[Any, Any]
DeskOf: TypeAlias = Callable[[AnyContext], Desk]
"""From a call to whoever answers it."""

DESK: ContextVar[Desk] = ContextVar("desk")
CEILING: ContextVar[Ceiling | None] = ContextVar("ceiling", default=None)

MOST_ROWS = 200
"""Rows of an answer that a tool returns, if nothing else is asked for."""

MOST_SQL_SHOWN = 2000
"""Characters of a query that a person is shown to confirm it."""

# --------------------------------------------------------------------------- arguments

Sql = Annotated[
    str, Field(max_length=100_000, description="One SELECT statement over the tables of `tables`")
]
Epsilon = Annotated[
    Amount | None, Field(description="ε to spend, such as 0.1. Less means more noise")
]
Within = Annotated[
    Amount | dict[str, Amount] | None,
    Field(description="Margin of error you need, for all columns or by name; needs max_epsilon"),
]
MostEpsilon = Annotated[
    Amount | None, Field(description="With within: the most ε to spend. Rejected if it costs more")
]
Delta = Annotated[Amount | None, Field(description="δ to spend, if other than 1% of the total")]
Confidence = Annotated[Amount, Field(description="Confidence of margins of error")]
FindBoundsOf = Annotated[
    list[str],
    Field(max_length=100, description="Columns, as visits.cost, whose bounds are found privately"),
]
GroupsPerUnit = Annotated[
    int | None, Field(ge=1, description="The most groups that each privacy unit is counted in")
]
Parameters = Annotated[QueryParameters | None, Field(description=OF_PARAMETERS)]
Dialect = Annotated[QueryDialect | None, Field(description="Of the SQL. Default: duckdb")]
AcceptUnlikely = Annotated[
    bool, Field(description="Run it even if probably no group would be shown")
]
Rows = Annotated[int, Field(ge=1, le=100_000, description="The most rows to return")]
Before = Annotated[
    int | None, Field(ge=1, le=MOST_NUMBER, description="Only entries with a smaller number")
]
Limit = Annotated[int, Field(ge=1, le=1000, description="The most entries to return")]


class Confirmation(BaseModel):
    """What a person answers."""

    confirm: Annotated[bool, Field(description="Spend this on the query")]


# --------------------------------------------------------------------------- errors

FAILED = rejection(
    "internal", "This call failed", "Try again; a query that was charged is not charged again"
)


def rejected(error: Exception) -> Rejection:
    """Return what a model is told of an error. The words of an unexpected one stay here."""
    if isinstance(error, Rejection):
        return error
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return rejection("bad_call", f"{where[:100]}: {first['msg']}", "Change this argument")
    found = error_of(error)
    return FAILED if found.code == "internal" else Rejection(_content(found.to_json()))


def _content(told: dict[str, object]) -> JsonObject:
    content = told["error"]
    return content if isinstance(content, dict) else {}


def told(act: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Make errors of a tool ones that a model can act on."""

    @wraps(act)
    async def acted(*given: P.args, **stated: P.kwargs) -> T:
        try:
            return await act(*given, **stated)
        except (ToolError, MCPError):
            raise
        except Exception as error:  # noqa: BLE001 - the outer edge: fixed words
            raise ToolError(rejected(error).text) from None

    return acted


@contextmanager
def _told_of_resource() -> Iterator[None]:
    """Make errors of a resource ones that a model can act on."""
    try:
        yield
    except (ResourceError, MCPError):
        raise
    except Exception as error:  # noqa: BLE001 - the outer edge: fixed words
        found = rejected(error)
        kind = ResourceNotFoundError if found.code == "not_found" else ResourceError
        raise kind(found.text) from None


# --------------------------------------------------------------------------- tools


@told
async def tables() -> Tables:
    """List tables, columns, bounds, declared values and limits, as the data owner declares them.

    Free. Call it first.
    """
    return tables_from(await DESK.get().tables())


@told
async def explain(
    sql: Sql,
    epsilon: Epsilon = None,
    within: Within = None,
    max_epsilon: MostEpsilon = None,
    confidence: Confidence = 0.95,
    delta: Delta = None,
    groups_per_unit: GroupsPerUnit = None,
    find_bounds_of: FindBoundsOf = [],  # noqa: B006 - never changed
    parameters: Parameters = None,
    dialect: Dialect = None,
) -> Explained:
    """Return a query's cost and margins of error, or why it is rejected and how to fix it.

    Free: spends nothing and reads no private data. State epsilon, or within with max_epsilon.
    """
    body = ExplainBody(
        sql=sql,
        epsilon=_epsilon(epsilon, within, max_epsilon),
        within=within,
        confidence=confidence,
        delta=delta,
        groups_per_unit=groups_per_unit,
        find_bounds_of=find_bounds_of,
        parameters=parameters,
        dialect=dialect,
    )
    desk = DESK.get()
    found = explained_from(await desk.explain(body))
    least = await desk.confirm_above()
    found.needs_confirmation = least is not None and found.due.epsilon > least
    return found


@told
async def asked(
    sql: Sql,
    epsilon: Epsilon,
    within: Within,
    max_epsilon: MostEpsilon,
    confidence: Confidence,
    delta: Delta,
    groups_per_unit: GroupsPerUnit,
    find_bounds_of: FindBoundsOf,
    parameters: Parameters,
    dialect: Dialect,
    accept_unlikely: AcceptUnlikely,
) -> AskBody:
    """Return the query of a call, checked."""
    return AskBody(
        sql=sql,
        epsilon=_epsilon(epsilon, within, max_epsilon),
        within=within,
        confidence=confidence,
        delta=delta,
        groups_per_unit=groups_per_unit,
        find_bounds_of=find_bounds_of,
        parameters=parameters,
        dialect=dialect,
        accept_unlikely=accept_unlikely,
    )


def _epsilon(epsilon: Amount | None, within: object, most: Amount | None) -> Amount | None:
    """Return the epsilon of a query: what it costs, or with `within` the most that it may cost."""
    if within is None:
        if most is not None:
            raise rejection("bad_call", "max_epsilon needs within", "State epsilon in its place")
        return epsilon
    if (epsilon is None) == (most is None):
        what = "within needs max_epsilon, the most ε that the query may cost"
        raise rejection("bad_call", what, "State within and max_epsilon, without epsilon")
    return epsilon if most is None else most


@told
async def due_of(query: Annotated[AskBody, Resolve(asked)]) -> Fraction | None:
    """Return what a query would spend now; None if nothing here depends on it."""
    desk = DESK.get()
    if CEILING.get() is None and await desk.confirm_above() is None:
        return None
    body = ExplainBody(**query.model_dump(exclude={"accept_unlikely"}))
    found = await desk.explain(body)
    return Fraction((found["due"] or found["price"])["epsilon_exact"])


@told
async def confirmed(
    query: Annotated[AskBody, Resolve(asked)],
    due: Annotated[Fraction | None, Resolve(due_of)],
    context: Context,
) -> Confirmation | Elicit[Confirmation]:
    """Ask a person to confirm a query that costs more than the account may spend without."""
    least = await DESK.get().confirm_above()
    if due is None or least is None or due <= least:
        return Confirmation(confirm=True)
    cost, limit = (equation("ε", amount_up(each)) for each in (due, least))
    if not _can_ask_person(context):
        raise rejection(
            "confirmation_needed",
            f"This query costs {cost}. A person must confirm queries of this account above "
            f"{limit}, and this client cannot ask a person",
            "Use a smaller epsilon, or ask the data owner to raise the limit",
        )
    sql = query.sql if len(query.sql) <= MOST_SQL_SHOWN else f"{query.sql[:MOST_SQL_SHOWN]}…"
    shown = without_commands(f"An agent wants to spend {cost} on this query:\n\n{sql}")
    return Elicit(f"{shown}\n\nWhat is spent cannot be returned.", Confirmation)


def _can_ask_person(context: Context) -> bool:
    """Return whether the client can show a form, and whether its reply can come back."""
    able = context.client_capabilities
    forms = able.elicitation if able is not None else None
    has_forms = forms is not None and (forms.form is not None or forms.url is None)
    is_modern = (context.protocol_version or "") >= REPLIES_BY_CALL
    return has_forms and (is_modern or context.session.can_send_request)


REPLIES_BY_CALL = "2026-07-28"
"""From this protocol on, a client replies with a second call, so that no session is needed."""


@told
async def ask(
    sql: Sql,
    query: Annotated[AskBody, Resolve(asked)],
    due: Annotated[Fraction | None, Resolve(due_of)],
    person: Annotated[ElicitationResult[Confirmation], Resolve(confirmed)],
    epsilon: Epsilon = None,
    within: Within = None,
    max_epsilon: MostEpsilon = None,
    confidence: Confidence = 0.95,
    delta: Delta = None,
    groups_per_unit: GroupsPerUnit = None,
    find_bounds_of: FindBoundsOf = [],  # noqa: B006 - never changed
    parameters: Parameters = None,
    dialect: Dialect = None,
    accept_unlikely: AcceptUnlikely = False,
    max_rows: Rows = MOST_ROWS,
) -> Answered:
    """Run a query and spend budget on it, for ever. Repeating a query is free.

    Call explain first. State epsilon, or within (the margin of error you need) with max_epsilon.
    """
    del sql, epsilon, within, max_epsilon, confidence, delta  # `query` has them
    del groups_per_unit, find_bounds_of, parameters, dialect, accept_unlikely
    if not (isinstance(person, AcceptedElicitation) and person.data.confirm):
        raise DECLINED
    ceiling = CEILING.get()
    if ceiling is None:
        id_, found = await DESK.get().ask(query)
        return await asyncio.to_thread(answered_from, id_, found, max_rows)
    with ceiling.reserved(due or Fraction(0)) as spending:
        id_, found = await _rejecting(DESK.get().ask(query))
        spending.charged = Fraction(found["charged"]["epsilon_exact"])
    return await asyncio.to_thread(answered_from, id_, found, max_rows)


async def _rejecting(act: Awaitable[T]) -> T:
    """Return what is awaited, or raise why it was rejected."""
    try:
        return await act
    except Exception as error:  # noqa: BLE001 - told in fixed words
        raise rejected(error) from None


DECLINED = rejection(
    "declined",
    "The person did not confirm this query, and nothing was spent",
    "Use a smaller epsilon, or ask the person what to do",
)


@told
async def budget() -> Budget:
    """Return what remains of the budget, and for how many queries that is enough. Free."""
    desk, ceiling = DESK.get(), CEILING.get()
    found = budget_from(await desk.budget())
    least = await desk.confirm_above()
    found.confirm_above = None if least is None else float(least)
    found.session_remaining = None if ceiling is None else float(ceiling.remaining)
    return found


@told
async def history(before: Before = None, limit: Limit = 20) -> History:
    """Return past queries of this account with the ids of their answers, newest first. Free."""
    return history_from(await DESK.get().history(before, limit))


# --------------------------------------------------------------------------- resources


async def catalog_resource() -> str:
    """Return tables, columns and what is declared of them, as JSON."""
    with _told_of_resource():
        return tables_from(await DESK.get().tables()).model_dump_json(indent=2)


async def guide_resource() -> str:
    """Return what can be asked and how a budget works."""
    return guide()


async def answer_resource(id: str) -> str:  # noqa: A002 - as the address has it
    """Return a saved answer of this account with all of its rows, as JSON. Free."""
    with _told_of_resource():
        found = await DESK.get().answer(id)
        whole = await asyncio.to_thread(answered_from, id, found)
        return whole.model_dump_json(indent=2)


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
Transport: TypeAlias = Literal["stdio", "http"]


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
    server.prompt(title="Analyse within a budget")(analyse_within_budget)
    return server


def _tool(act: Callable[..., Awaitable[Any]]) -> Tool:
    """Return a tool that rejects arguments it does not know: one may be a misspelt limit."""
    name = act.__name__
    found = Tool.from_function(
        act, title=TITLES[name], annotations=SPENDS if act is ask else FREE
    )
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


def names_of(tools: Sequence[Any]) -> list[str]:
    """Return the names of tools."""
    return [each.name for each in tools]
