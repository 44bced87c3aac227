"""The tools: one definition for every transport. They return typed values."""
# ruff: noqa: PLR0913, PLR0917 - arguments of tools are what an analyst may state

import asyncio
from collections.abc import Awaitable
from contextvars import ContextVar
from fractions import Fraction
from typing import Annotated, NamedTuple, TypeVar

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve

from discreet.agents.arguments import (
    AcceptUnlikely,
    Before,
    Confidence,
    Confirmation,
    Delta,
    Dialect,
    Epsilon,
    FindBoundsOf,
    GroupsPerUnit,
    Limit,
    MostEpsilon,
    Parameters,
    Rows,
    Sql,
    Within,
)
from discreet.agents.ceiling import Ceiling
from discreet.agents.contents import (
    AccountBudget,
    Answered,
    Explained,
    History,
    Tables,
    answered_from,
    budget_from,
    explained_from,
    history_from,
    tables_from,
)
from discreet.agents.desk import Desk, rejection
from discreet.agents.failures import rejected, told
from discreet.amounts import amount_up, equation
from discreet.errors import without_commands
from discreet.server.bodies import Amount, AskBody, ExplainBody

T = TypeVar("T")

DESK: ContextVar[Desk] = ContextVar("desk")
"""Who answers this call."""

CEILING: ContextVar[Ceiling | None] = ContextVar("ceiling", default=None)
"""The most that this process may spend, if that is limited."""

MOST_ROWS = 200
"""Rows of an answer that a tool returns, if nothing else is asked for."""

MOST_SQL_SHOWN = 2000
"""Characters of a query that a person is shown to confirm it."""


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


class Due(NamedTuple):
    """What a query would spend now."""

    epsilon: Fraction
    in_parts: bool
    """Whether bounds are found first, and charged before the rest."""
    confirm_above: Fraction | None
    """A person confirms what costs more."""


@told
async def due_of(query: Annotated[AskBody, Resolve(asked)]) -> Due | None:
    """Return what a query would spend now; None if nothing here depends on it."""
    desk = DESK.get()
    confirm_above = await desk.confirm_above()
    if CEILING.get() is None and confirm_above is None:
        return None
    body = ExplainBody(**query.model_dump(exclude={"accept_unlikely"}))
    found = await desk.explain(body)
    epsilon = Fraction((found["due"] or found["price"])["epsilon_exact"])
    return Due(epsilon, in_parts=bool(found["first"]), confirm_above=confirm_above)


@told
async def confirmed(
    query: Annotated[AskBody, Resolve(asked)],
    due: Annotated[Due | None, Resolve(due_of)],
    context: Context,
) -> Confirmation | Elicit[Confirmation]:
    """Ask a person to confirm a query that costs more than the account may spend without."""
    if due is None or due.confirm_above is None or due.epsilon <= due.confirm_above:
        return Confirmation(confirm=True)
    cost, limit = (equation("ε", amount_up(each)) for each in (due.epsilon, due.confirm_above))
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
    due: Annotated[Due | None, Resolve(due_of)],
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
    if ceiling is None or due is None:
        id_, found = await DESK.get().ask(query)
        return await asyncio.to_thread(answered_from, id_, found, max_rows)
    with ceiling.reserved(due.epsilon, in_parts=due.in_parts) as spending:
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
async def budget() -> AccountBudget:
    """Return what remains of the budget, and for how many queries that is enough. Free."""
    ceiling = CEILING.get()
    found = budget_from(await DESK.get().budget())
    found.session_remaining = None if ceiling is None else float(ceiling.remaining)
    return found


@told
async def history(before: Before = None, limit: Limit = 20) -> History:
    """Return past queries of this account with the ids of their answers, newest first. Free."""
    return history_from(await DESK.get().history(before, limit))
