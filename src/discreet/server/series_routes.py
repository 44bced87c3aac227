"""Routes of series: released ticks for everyone who may read, releasing them for owners."""

import asyncio
from datetime import datetime
from fractions import Fraction
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field

from discreet.answer.series_table import SeriesTable
from discreet.catalog.clocks import in_utc, utc_now
from discreet.errors import ParameterError
from discreet.parameters import confidence_level
from discreet.series import explain_all
from discreet.server.asking import TOO_LONG
from discreet.server.audit import logged
from discreet.server.bodies import NUMBER, Body, JsonObject, exact
from discreet.server.callers import Caller
from discreet.server.faults import CallError
from discreet.server.reading import OneReading
from discreet.server.running_queries import STILL_RUNNING
from discreet.server.signing import caller_in, planned
from discreet.server.ticking import Ticked, Ticker

router = APIRouter(prefix="/v1/catalogs/{catalog}/series", route_class=OneReading)

Reader = Annotated[Caller, Depends(caller_in("reader"))]
Owner = Annotated[Caller, Depends(caller_in("owner"))]
Confidence = Annotated[str, Query(pattern=NUMBER)]
Name = Annotated[str, Path(min_length=1, max_length=64, description="The name of a series")]
Ticks = Annotated[int, Query(ge=1, le=1_000_000)]
MOST_NAMES, MOST_NAME = 1000, 64
DEFAULT = Fraction(95, 100)
"""The confidence of margins."""

CSV = "text/csv; charset=utf-8"
TICKS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/json": {}, "text/csv": {}}}
}


class TickBody(Body):
    """Series whose ticks are to be released."""

    names: Annotated[
        list[Annotated[str, Field(max_length=64)]],
        Field(default_factory=list, max_length=MOST_NAMES, description="All series if it is empty"),
    ]
    until: Annotated[
        datetime | None,
        Field(description="Stands for the present: an earlier moment releases fewer ticks"),
    ] = None


def _ticker(request: Request) -> Ticker:
    found: Ticker = request.app.state.ticker
    return found


@router.get("", tags=["analysts"])
async def all_series(
    request: Request, caller: Reader, confidence: Confidence = "0.95"
) -> JsonObject:
    """Return all series: what they count and cost, how far they are, and their margins of error.

    `ticking` is for owners: whether the server releases ticks by itself, and what failed.
    """
    level = confidence_level(exact(confidence))

    told = await planned(request, caller, lambda: series_list(caller, level))
    if caller.role == "owner":
        told["ticking"] = _ticker(request).state(caller.site)
    return told


@router.get("/{name}", tags=["analysts"], responses=TICKS)
async def series(  # noqa: PLR0913 - each is a part of the address
    request: Request,
    caller: Reader,
    name: Name,
    *,
    kind: Literal["running", "tick", "window"] = "running",
    window: Ticks | None = None,
    last: Annotated[
        Ticks | None, Query(description="How many ticks to return, the last ones. Default: all")
    ] = None,
    confidence: Confidence = "0.95",
    format: Literal["json", "csv"] = "json",  # noqa: A002 - as the route has it
) -> Response:
    """Return the released ticks of a series with their margins of error. Spends nothing."""
    level = confidence_level(exact(confidence))

    most = request.app.state.settings.limits.answer_bytes

    def read() -> Response:
        found = series_ticks(caller, name, kind, window=window, last=last, confidence=level)
        return _reply(within(found, most), format, most)

    async with request.app.state.reading.turn(caller.place, request.is_disconnected):
        return await asyncio.to_thread(read)


def _reply(found: SeriesTable, form: str, most: int) -> Response:
    if form == "csv":
        reply = Response(str(found.to_csv()), media_type=CSV)
    else:
        reply = JSONResponse(found.to_json())
    if len(reply.body) > most:
        raise _too_long(found, len(reply.body), most)
    return reply


CELL_BYTES = 16
"""About the length of a number or a time as text. Texts may be longer: replies are measured."""


def within(found: SeriesTable, most: int) -> SeriesTable:
    """Return ticks again, or reject them before they become a text longer than is sent."""
    length = found.table.num_rows * found.table.num_columns * CELL_BYTES
    if length > most:
        raise _too_long(found, length, most)
    return found


def _too_long(found: SeriesTable, length: int, most: int) -> CallError:
    ticks = max(1, len(found.table.column(0).unique()) * most // length)
    return CallError(
        status=422,
        code=TOO_LONG.code,
        what="These ticks are longer than this server sends",
        fix=f"Read fewer of them, the last ones: last={ticks}",
    )


def series_list(caller: Caller, confidence: Fraction = DEFAULT) -> JsonObject:
    """Return what all series of a caller's catalog are like."""
    found = explain_all(caller.site.curator.all_series(), confidence=confidence)
    return {"series": [each.to_record() for each in found]}


def series_ticks(  # noqa: PLR0913 - what a reader may choose
    caller: Caller,
    name: str,
    kind: str = "running",
    *,
    window: int | None = None,
    last: int | None = None,
    confidence: Fraction = DEFAULT,
) -> SeriesTable:
    """Return released ticks for a caller, and log that they are read."""

    def read() -> SeriesTable:
        series = caller.site.curator.series(name)
        found = series.read(kind, window=window, confidence=confidence)
        return found if last is None else found.last(last)

    return logged(caller, "read", read, lambda _: {"outcome": "free"}, series=name[:MOST_NAME])


@router.get("/{name}/explain", tags=["analysts"])
async def explain(
    request: Request, caller: Reader, name: Name, confidence: Confidence = "0.95"
) -> JsonObject:
    """Return what a series costs, how far it is, and its margins of error. Spends nothing."""
    level = confidence_level(exact(confidence))
    return await planned(
        request,
        caller,
        lambda: caller.site.curator.series(name).explain(confidence=level).to_record(),
    )


@router.post("/tick", tags=["owners"])
async def tick(request: Request, caller: Owner, body: TickBody) -> JsonObject:
    """Release all ticks that are due. A series is charged once, with its first tick.

    If this takes long, the reply has status 504: it goes on, and GET series says how far it is.
    """
    _check_past(body.until)
    ticker, seconds = _ticker(request), request.app.state.settings.limits.reply_seconds
    names = await asyncio.to_thread(
        lambda: [caller.site.curator.series(each).name for each in body.names]
    )
    try:
        async with asyncio.timeout(seconds):
            found = await ticker.release(caller.site, names, body.until, caller.name)
    except TimeoutError:
        raise STILL_TICKING from None
    return {"released": [_told(each) for each in found]}


def _check_past(until: datetime | None) -> None:
    """Reject a moment in the future before anything is done or noted."""
    if until is None:
        return
    try:
        is_past = in_utc(until) <= utc_now()
    except OverflowError:
        rule = "must be in the years 1 to 9999 by UTC"
        raise ParameterError("until", until.isoformat(), rule) from None
    if not is_past:
        raise ParameterError("until", until.isoformat(), "must not be in the future")


STILL_TICKING = CallError(
    status=504,
    code=STILL_RUNNING.code,
    what="Ticks are still being released",
    fix="They are saved one after the other. Call again: nothing is released or charged twice",
    headers={"Retry-After": "1"},
)


def _told(ticked: Ticked) -> JsonObject:
    return {
        "series": ticked.name,
        "ticks": ticked.ticks,
        "charged": None if ticked.charged is None else ticked.charged.to_json(),
    }
