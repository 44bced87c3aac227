"""Routes for what people put by: saved queries, boards of saved answers, the list of answers."""

import asyncio
import json
from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field

from discreet.errors import DiscreetError
from discreet.server.bodies import (
    MOST_NUMBER,
    Amount,
    AskBody,
    Body,
    JsonObject,
    QueryDialect,
    QueryParameters,
)
from discreet.server.callers import NOWHERE, Caller
from discreet.server.faults import CallError
from discreet.server.reading import OneReading
from discreet.server.records import ID, SavedReply
from discreet.server.shelf import Shelf, ShelfKind
from discreet.server.signing import caller_in, planned

router = APIRouter(prefix="/v1/catalogs/{catalog}", tags=["analysts"], route_class=OneReading)

Reader = Annotated[Caller, Depends(caller_in("reader"))]
Asker = Annotated[Caller, Depends(caller_in("analyst"))]

Title = Annotated[str, Field(min_length=1, max_length=200)]
Name = Annotated[
    str,
    Path(
        min_length=1,
        max_length=100,
        pattern=r"^[^\x00-\x1f\x7f-\x9f]+$",
        description="A name of your own, without control characters",
    ),
]
ColumnName = Annotated[str, Field(max_length=300)]
AnswerId = Annotated[str, Field(pattern=f"^{ID.pattern}$")]


class SavedTerms(Body):
    """What may be stated of a query besides its SQL. It comes back as it was given."""

    epsilon: Amount | None = None
    delta: Amount | None = None
    within: Amount | Annotated[Mapping[ColumnName, Amount], Field(max_length=100)] | None = None
    confidence: Amount = 0.95
    find_bounds_of: Annotated[tuple[ColumnName, ...], Field(max_length=100)] = ()
    row_choice: Literal["once", "per-query"] | None = None
    groups_per_unit: Annotated[int, Field(ge=1, le=MOST_NUMBER)] | None = None
    parameters: QueryParameters | None = None
    dialect: QueryDialect | None = None


class SavedQuery(Body):
    """A query to be saved under a name."""

    sql: Annotated[str, Field(max_length=20_000, examples=["SELECT COUNT(*) FROM visits"])]
    terms: SavedTerms = SavedTerms()


class BoardCard(Body):
    """A saved answer on a board."""

    answer: AnswerId
    title: Title
    view: Literal["both", "table", "chart"] = "both"


class Board(Body):
    """The cards of a board, in their order."""

    cards: Annotated[list[BoardCard], Field(max_length=60)]


@router.get("/saved")
async def saved(caller: Asker) -> JsonObject:
    """Return your saved queries, the newest first."""
    return {"saved": await _items(caller, ShelfKind.QUERY)}


@router.put("/saved/{name:path}")
async def save(caller: Asker, name: Name, body: SavedQuery) -> JsonObject:
    """Save a query under a name, in place of the one that has it. At most 200 are saved."""
    content = {"sql": body.sql, "terms": body.terms.model_dump(mode="json", exclude_unset=True)}
    return await asyncio.to_thread(_put, caller, ShelfKind.QUERY, name, content)


@router.delete("/saved/{name:path}", status_code=204)
async def forget(caller: Asker, name: Name) -> None:
    """Remove a saved query."""
    await asyncio.to_thread(_removed, caller, ShelfKind.QUERY, name)


@router.get("/boards")
async def boards(caller: Reader) -> JsonObject:
    """Return your boards, the newest first."""
    return {"boards": await _items(caller, ShelfKind.BOARD)}


@router.put("/boards/{name:path}")
async def put_board(caller: Reader, name: Name, body: Board) -> JsonObject:
    """Save a board, in place of the one that has its name. At most 50 are saved."""

    def put() -> JsonObject:
        ids = frozenset(each.answer for each in body.cards)
        if not Shelf(caller.site.records).are_there(ids, _own(caller)):
            raise NOWHERE
        return _put(caller, ShelfKind.BOARD, name, body.model_dump(mode="json"))

    return await asyncio.to_thread(put)


@router.delete("/boards/{name:path}", status_code=204)
async def remove_board(caller: Reader, name: Name) -> None:
    """Remove a board. The answers on it stay saved."""
    await asyncio.to_thread(_removed, caller, ShelfKind.BOARD, name)


@router.get("/answers")
async def answers(
    caller: Reader,
    before: Annotated[
        str | None, Query(pattern=f"^{ID.pattern}$", description="List answers before this one")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> JsonObject:
    """Return the saved answers that you may read, the newest first, without their numbers."""

    def listed() -> list[JsonObject]:
        known = None if before is None else readable(caller, before)
        found = Shelf(caller.site.records).replies(_own(caller), before=known, most=limit)
        return [_shown(caller, each) for each in found]

    return {"answers": await asyncio.to_thread(listed)}


@router.get("/answers/{id}/about")
async def about(
    request: Request,
    caller: Reader,
    id: str,  # noqa: A002 - as the route has it
) -> JsonObject:
    """Return which query a saved answer is to, and what repeating it would cost now.

    Spends nothing and reads no private data. `is_current` says that it would be free: the ledger
    has an answer for the data as they are now. It is null if the query is not accepted any more.
    """

    def found() -> JsonObject:
        reply = readable(caller, id)
        return {**_shown(caller, reply), **_state(caller, reply)}

    return await planned(request, caller, found)


def _state(caller: Caller, reply: SavedReply) -> JsonObject:
    """Return whether the ledger has the answer for the data as they are, and what is due if not."""
    body = AskBody(sql=reply.question, **json.loads(reply.terms))
    try:
        explained = caller.site.curator.explain(body.sql, **body.terms())
    except DiscreetError:
        return {"is_current": None, "due": None, "change": ""}
    due = explained.price if explained.due is None else explained.due
    return {"is_current": due.is_free, "due": due.to_json(), "change": explained.change}


def readable(caller: Caller, id_: str) -> SavedReply:
    """Return a saved answer that the caller may see."""
    found = caller.site.records.reply(id_)
    if found is None or found.account != (_own(caller) or found.account):
        raise NOWHERE
    return found


def _own(caller: Caller) -> str | None:
    """Return whose answers the caller may read; None for all."""
    return caller.account if caller.role == "analyst" else None


def _shown(caller: Caller, reply: SavedReply) -> JsonObject:
    told = {
        "id": reply.id,
        "written": reply.written,
        "question": reply.question,
        "terms": {k: v for k, v in json.loads(reply.terms).items() if v not in (None, [])},
    }
    return told if caller.role == "analyst" else told | {"account": reply.account}


async def _items(caller: Caller, kind: ShelfKind) -> list[JsonObject]:
    found = await asyncio.to_thread(Shelf(caller.site.records).items, caller.name, kind)
    return [each.to_json() for each in found]


def _put(caller: Caller, kind: ShelfKind, name: str, content: JsonObject) -> JsonObject:
    found = Shelf(caller.site.records).put(caller.name, kind, name, content)
    if found is None:
        raise CallError(
            status=422,
            code="shelf_full",
            what=f"An account saves at most {kind.most} of these",
            fix="Remove one first",
        )
    return found.to_json()


def _removed(caller: Caller, kind: ShelfKind, name: str) -> None:
    if not Shelf(caller.site.records).remove(caller.name, kind, name):
        raise NOWHERE
