"""Routes for those who ask: queries, explanations, answers, the schema and the budget."""

import asyncio
import json
from collections.abc import Callable
from fractions import Fraction
from math import isfinite, isnan
from typing import Annotated, Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import JSONResponse

from discreet.amounts import Balance, exact_and_float
from discreet.answer import Answer
from discreet.coverage.measurements import DEFAULT_PART
from discreet.errors import CatalogError, QuestionError
from discreet.explanation import Explanation
from discreet.explanation.coverage import Coverage
from discreet.parameters import confidence_level
from discreet.server.asking import AnswerReply, QueryRunner, answer_in, margins_of
from discreet.server.audit import logged, query_text
from discreet.server.bodies import (
    MOST_NUMBER,
    NUMBER,
    AskBody,
    CoverageBody,
    ExplainBody,
    JsonObject,
    exact,
)
from discreet.server.callers import NOWHERE, Caller
from discreet.server.faults import CallError
from discreet.server.reading import OneReading
from discreet.server.records import SavedReply
from discreet.server.remedies import rejection_of
from discreet.server.schema import schema_of
from discreet.server.signing import caller_in, planned
from discreet.wire import shown_catalog, to_wire

router = APIRouter(prefix="/v1/catalogs/{catalog}", tags=["analysts"], route_class=OneReading)

Asker = Annotated[Caller, Depends(caller_in("analyst"))]
Reader = Annotated[Caller, Depends(caller_in("reader"))]
Format = Literal["json", "csv", "parquet", "arrow"]

ARROW = "application/vnd.apache.arrow.stream"
TYPES: dict[Format, str] = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "arrow": ARROW,
}

ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {each.split(";")[0]: {} for each in TYPES.values()},
        "headers": {"Discreet-Answer": {"schema": {"type": "string"}}},
    }
}

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=8,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="A text of your own for each query: a call that is repeated with it is the "
        "same call, and is charged once",
    ),
]


@router.post("/ask", responses=ANSWER)
async def ask(request: Request, caller: Asker, body: AskBody, key: Key = None) -> Response:
    """Run a query. It is charged to your account, once; repeating it is free."""
    runner: QueryRunner = request.app.state.runner
    reply = await runner.ask(caller, body, key, request.is_disconnected)
    return await asyncio.to_thread(replied, reply, _wanted(request))


@router.post("/explain")
async def explain(request: Request, caller: Asker, body: ExplainBody) -> Response:
    """Return what a query would do and cost. Spends nothing and reads no private data.

    The error of a rejected query may have `fixes`: up to three queries that would be accepted.
    """
    fixes = not _is_for_client(request)
    found = await planned(request, caller, lambda: explained(caller, body, with_fixes=fixes))
    return _content(request, found)


def explained(caller: Caller, body: ExplainBody, *, with_fixes: bool) -> Explanation:
    """Explain a query for a caller, and log it. With fixes, an error has queries to try instead."""

    def found() -> Explanation:
        curator = caller.site.curator
        try:
            return curator.explain(body.sql, **body.terms(), account=caller.account)
        except QuestionError as error:
            if not with_fixes:
                raise
            raise rejection_of(caller, body, error) from None

    return logged(caller, "explain", found, _free_at, **query_text(body.written))


def _free_at(found: Explanation) -> dict[str, object]:
    """Return what the log says of an explanation: what the query would be charged."""
    due = found.price if found.due is None else found.due
    return {"outcome": "free", "epsilon": str(due.epsilon), "delta": str(due.delta)}


@router.post("/coverage")
async def coverage(request: Request, caller: Asker, body: CoverageBody) -> Response:
    """Measure the share of a table's rows and values that answers count. It is charged once."""
    runner: QueryRunner = request.app.state.runner
    return _content(request, await runner.measure(caller, body, request.is_disconnected))


@router.get("/coverage")
async def known_coverage(
    request: Request, caller: Reader, table: Annotated[str, Query(max_length=1000)]
) -> JsonObject:
    """Return the coverage of a table as it was measured before, and what a measurement costs.

    Spends nothing and reads no private data. `measured` is null if it was not measured yet,
    and both are null if there is nothing to measure.
    """

    def known() -> JsonObject:
        curator = caller.site.curator
        try:
            found = curator.known_coverage(table)
        except CatalogError:  # it has nothing to measure
            return {"measured": None, "cost": None}
        told = None if found is None else json.loads(found.to_json())
        if told is not None:
            del told["remaining"]  # of an account that the caller may not have
        return {
            "measured": told,
            "cost": exact_and_float(epsilon=curator.catalog.budget.epsilon * DEFAULT_PART),
        }

    return await planned(request, caller, known)


@router.get("/schema")
async def schema(request: Request, caller: Reader) -> Response:
    """Return tables and columns, as they are declared."""
    catalog = shown_catalog(caller.site.curator.catalog)
    if _is_for_client(request):
        return Response(to_wire(catalog), media_type=WIRE)
    return JSONResponse(schema_of(catalog))


@router.get("/budget")
async def budget(request: Request, caller: Asker) -> Response:
    """Return what remains for you, in total and today, and for how many queries that is enough.

    `enough_for` holds for any queries of this ε; more may fit if Discreet adds costs up better.
    With a budget per month, `months` has what remains for each, and the rest is the least of them.
    """
    if _is_for_client(request):
        left = await asyncio.to_thread(caller.site.curator.remaining_of, caller.account)
        return Response(to_wire(left), media_type=WIRE)
    return JSONResponse(await asyncio.to_thread(budget_of, caller))


def budget_of(caller: Caller) -> JsonObject:
    """Return what remains for a caller and in total."""
    curator = caller.site.curator
    left = curator.remaining_of(caller.account)
    return {
        "account": caller.account,
        "remaining": left.to_json(),
        "total": curator.remaining.to_json(),
        **_months_of(caller),
        "limits": curator.limits_of(caller.account).to_json(),
        "enough_for": [
            {"epsilon": float(each), "queries": enough_for(left, each)} for each in USUAL
        ],
    }


def _months_of(caller: Caller) -> JsonObject:
    """Return what remains for each month, if the budget is per month."""
    months = caller.site.curator.remaining_by_month(caller.account)
    if not months:
        return {}
    return {"months": [{"months": name, **each.to_json()} for name, each in months.items()]}


@router.get("/limits")
async def limits(request: Request, caller: Asker) -> Response:
    """Return what one query of yours may cost, and what remains today. Null is no limit."""
    found = await asyncio.to_thread(caller.site.curator.limits_of, caller.account)
    if _is_for_client(request):
        return Response(to_wire(found), media_type=WIRE)
    return JSONResponse(found.to_json())


USUAL = (Fraction("0.1"), Fraction("0.3"), Fraction(1))
"""What queries usually cost."""


def enough_for(left: Balance, epsilon: Fraction) -> int:
    """Return how many queries of an epsilon fit at least, by sums of epsilon or of rho.

    What is epsilon-DP has a rho of at most epsilon squared, halved (docs/proofs/composition.md).
    """
    return int(max(left.epsilon // epsilon, 2 * left.rho // epsilon**2))


CHARGED = ("ask", "coverage")
"""What may be charged, as the log names it."""


@router.get("/history")
async def history(
    caller: Asker,
    before: Annotated[int | None, Query(ge=1, le=MOST_NUMBER)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> JsonObject:
    """Return your own queries, the newest first."""
    return await asyncio.to_thread(history_of, caller, before, limit)


def history_of(caller: Caller, before: int | None, limit: int) -> JsonObject:
    """Return the queries of a caller, the newest first."""
    records = caller.site.records
    found = records.entries(who=caller.name, actions=CHARGED, before=before, most=limit)
    return {"entries": [each.to_json() for each in found]}


@router.get("/answers/{id}", responses=ANSWER)
async def answer(
    request: Request,
    caller: Reader,
    id: str,  # noqa: A002 - as the route has it
    format: Format | None = None,  # noqa: A002 - as the route has it
) -> Response:
    """Return a saved answer: your own, or any for readers and owners."""
    found = await asyncio.to_thread(saved_reply, caller, id, "read")
    reply = AnswerReply(id=found.id, body=found.body)
    return await asyncio.to_thread(replied, reply, format or _wanted(request))


@router.get("/answers/{id}/margins")
async def margins(
    request: Request,
    caller: Reader,
    id: str,  # noqa: A002 - as the route has it
    confidence: Annotated[str, Query(pattern=NUMBER)] = "0.95",
    simultaneous: bool = False,
) -> JsonObject:
    """Return margins of error of a saved answer at another confidence. Spends nothing.

    Each column has a list, or null if it has no margins. "Infinity" stands for no limit.
    """
    level = confidence_level(exact(confidence))
    found = await asyncio.to_thread(saved_reply, caller, id, "margins")

    def calculated() -> list[list[float | str | None] | None]:
        widths = margins_of(found, caller.site.curator, level, simultaneous)
        return [None if each is None else [_in_json(width) for width in each] for each in widths]

    return {"margins": await planned(request, caller, calculated)}


def _in_json(width: float) -> float | str | None:
    return float(width) if isfinite(width) else None if isnan(width) else "Infinity"


def saved_reply(caller: Caller, id_: str, action: str) -> SavedReply:
    """Return a saved answer that the caller may see, and log that it is read."""

    def found() -> SavedReply:
        saved = caller.site.records.reply(id_)
        if saved is None or (caller.role == "analyst" and saved.account != caller.account):
            raise NOWHERE
        return saved

    return logged(caller, action, found, lambda _: {"outcome": "free"}, answer=id_[:MOST_ID])


MOST_ID = 100
"""The most characters that are logged of what a caller sends as an id."""


def replied(reply: AnswerReply, wanted: Format) -> Response:
    """Return an answer in a format."""
    headers = {"Discreet-Answer": reply.id, "Vary": "Accept"}
    content = reply.body if wanted == "arrow" else FORMATS[wanted](answer_in(reply.body))
    return Response(content, media_type=TYPES[wanted], headers=headers)


def _parquet(answer: Answer) -> bytes:
    sink = pa.BufferOutputStream()
    try:
        pq.write_table(answer.to_arrow(errors=True), sink)
    except pa.ArrowNotImplementedError:  # of intervals
        raise NO_PARQUET from None
    return sink.getvalue().to_pybytes()


NO_PARQUET = CallError(
    status=422,
    code="no_parquet",
    what="This answer has a column of a type that Parquet files cannot hold",
    fix="Get it in another format: json, csv or arrow",
)


FORMATS: dict[Format, Callable[[Answer], bytes]] = {
    "json": lambda answer: answer.to_json().encode(),
    "csv": lambda answer: str(answer.to_csv()).encode(),
    "parquet": _parquet,
}


def _wanted(request: Request) -> Format:
    accepted = request.headers.get("accept", "")
    return next((name for name, kind in TYPES.items() if kind.split(";")[0] in accepted), "json")


WIRE = "application/vnd.discreet+json"
"""The form that our own client reads."""


def _is_for_client(request: Request) -> bool:
    return WIRE in request.headers.get("accept", "")


def _content(request: Request, found: Explanation | Coverage) -> Response:
    """Return JSON for anybody, or in the form that our own client reads."""
    if _is_for_client(request):
        return Response(to_wire(found), media_type=WIRE)
    return Response(found.to_json(), media_type="application/json")
