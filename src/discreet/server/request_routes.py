"""Routes for requests: analysts ask for budget or for leave to run a query, owners decide."""

import asyncio
import json
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Path
from pydantic import Field

from discreet.amounts import exact_and_float
from discreet.ledger.requests import Request
from discreet.server.asking import approval_of, due_for
from discreet.server.audit import logged, query_text
from discreet.server.bodies import MOST_NUMBER, Amount, Body, JsonObject, QueryBody, exact
from discreet.server.callers import Caller
from discreet.server.reading import OneReading
from discreet.server.signing import caller_in

router = APIRouter(
    prefix="/v1/catalogs/{catalog}/requests", tags=["requests"], route_class=OneReading
)

Asker = Annotated[Caller, Depends(caller_in("analyst"))]
Owner = Annotated[Caller, Depends(caller_in("owner"))]
Number = Annotated[int, Path(ge=0, le=MOST_NUMBER)]
Reason = Annotated[str, Field(min_length=1, max_length=1000)]


class RequestBody(Body):
    """A new total cap of your account, or a query that needs the owner's approval."""

    reason: Reason
    epsilon: Annotated[Amount | None, Field(description="The new cap, not an increase")] = None
    delta: Amount | None = None
    query: QueryBody | None = None


class DecisionBody(Body):
    """What an owner decides."""

    granted: bool
    reason: Annotated[str, Field(max_length=1000)] = ""
    epsilon: Annotated[Amount | None, Field(description="Another cap than was asked for")] = None
    delta: Amount | None = None


@router.get("")
async def requests(caller: Asker) -> JsonObject:
    """Return your own requests; all of them for owners."""
    account = None if caller.role == "owner" else caller.account
    found = await asyncio.to_thread(caller.site.ledger.requests, account)
    return {"requests": [_shown(each) for each in found]}


@router.post("", status_code=201)
async def make_request(caller: Asker, body: RequestBody) -> JsonObject:
    """Ask the data owner for budget, or for leave to run a query."""

    def made() -> JsonObject:
        ledger = caller.site.ledger
        if body.query is None:
            found = ledger.request_budget(
                caller.account,
                epsilon=cast("float", exact(body.epsilon)),
                delta=cast("float | None", exact(body.delta)),
                reason=body.reason,
            )
        else:
            found = ledger.request_budget(
                caller.account,
                reason=body.reason,
                question=approval_of(body.query),
                price=str(due_for(caller, body.query)),
            )
        return _shown(found)

    return await asyncio.to_thread(
        lambda: logged(
            caller,
            "request",
            made,
            lambda found: {"outcome": "made", "request": found["number"]},
            **({} if body.query is None else query_text(body.query.written)),
        )
    )


@router.post("/{number}/decision")
async def decide(caller: Owner, number: Number, body: DecisionBody) -> JsonObject:
    """Grant or decline a request. Each is decided once."""

    def decided() -> JsonObject:
        found = caller.site.ledger.decide(
            number,
            granted=body.granted,
            by=caller.name,
            reason=body.reason,
            epsilon=cast("float | None", exact(body.epsilon)),
            delta=cast("float | None", exact(body.delta)),
        )
        return _shown(found)

    return await asyncio.to_thread(
        lambda: logged(
            caller,
            "decide",
            decided,
            lambda _: {"outcome": "granted" if body.granted else "declined"},
            request=number,
        )
    )


def _shown(request: Request) -> JsonObject:
    told: JsonObject = {
        "number": request.number,
        "written": request.written.isoformat(),
        "account": request.account,
        "kind": request.kind,
        "reason": request.reason,
        "state": request.state,
        "decided": None if request.decided is None else request.decided.isoformat(),
        "by": request.by,
        "answer": request.answer,
    }
    if request.kind == "question":
        return told | {"query": json.loads(request.question), "price": request.price}
    amounts = {"epsilon": request.epsilon, "delta": request.delta}
    return told | exact_and_float(**{k: v for k, v in amounts.items() if v is not None})
