"""Routes for queries that wait or run: owners see and cancel all, analysts their own."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel

from discreet.query.parse import canonical_text
from discreet.server.bodies import MOST_NUMBER
from discreet.server.callers import NOWHERE, Caller
from discreet.server.reading import OneReading
from discreet.server.running_queries import Ending, RunningQueries, RunningQuery, State
from discreet.server.signing import caller_in
from discreet.written import WrittenQuery

router = APIRouter(
    prefix="/v1/catalogs/{catalog}/running", tags=["analysts"], route_class=OneReading
)

Asker = Annotated[Caller, Depends(caller_in("analyst"))]
Number = Annotated[int, Path(ge=1, le=MOST_NUMBER)]


class RunningContent(BaseModel):
    """A query that waits or runs."""

    number: int
    account: str
    who: str
    since: str
    question: str
    state: State


class RunningList(BaseModel):
    """The queries that wait or run, the oldest first."""

    running: list[RunningContent]


class Cancelled(BaseModel):
    """What became of a query that was cancelled."""

    number: int
    outcome: Ending


@router.get("")
async def running(request: Request, caller: Asker) -> RunningList:
    """Return your own queries that wait or run in this server process; all of them for owners."""
    queries: RunningQueries = request.app.state.runner.queries
    found = queries.seen_by(caller)
    return RunningList(running=await asyncio.to_thread(lambda: [_shown(each) for each in found]))


@router.delete("/{number}")
async def cancel(request: Request, caller: Asker, number: Number) -> Cancelled:
    """Cancel a query. One that waits is dropped without a charge; one that runs is run to its end.

    Whoever waits for the reply gets status 409. The answer of a query that ran is saved.
    """
    queries: RunningQueries = request.app.state.runner.queries
    query = next((each for each in queries.seen_by(caller) if each.number == number), None)
    if query is None:
        raise NOWHERE
    outcome = query.cancel()
    await asyncio.to_thread(
        caller.site.records.log,
        caller.name,
        "cancel",
        outcome,
        number=number,
        account=query.caller.account,
    )
    return Cancelled(number=number, outcome=outcome)


def _text(asked: str | WrittenQuery) -> str:
    if isinstance(asked, str):
        return asked
    return canonical_text(asked) or asked.text


def _shown(query: RunningQuery) -> RunningContent:
    return RunningContent(
        number=query.number,
        account=query.caller.account,
        who=query.caller.name,
        since=query.since,
        question=_text(query.text),
        state=query.state,
    )
