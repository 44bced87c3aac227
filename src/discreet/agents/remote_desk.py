"""Answers that a server gives over HTTP, for the account of a token."""

import asyncio
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import quote

from discreet.agents.desk import MOST_TICKS, RejectionError, rejection
from discreet.client import Remote
from discreet.client.calls import UNREADABLE, UNSOUND, HttpReply, ServerError
from discreet.noise import SYSTEM
from discreet.server.bodies import AskBody, ExplainBody, JsonObject, QueryBody


@dataclass(frozen=True, slots=True)
class RemoteDesk:
    """Answers through a client of a server, in the JSON that its routes send."""

    remote: Remote

    async def tables(self) -> JsonObject:
        """Return tables and columns, as they are declared."""
        return await self._json("GET", "/schema")

    async def explain(self, query: ExplainBody) -> JsonObject:
        """Return what a query would do and cost."""
        return await self._json("POST", "/explain", _sent(query))

    async def ask(self, query: AskBody) -> tuple[str, JsonObject]:
        """Return the answer to a query and its id. After a lost connection it is charged once."""
        key = SYSTEM.draw(16).hex()
        reply = await self._reply("POST", "/ask", _sent(query), key)
        try:
            return reply.headers.get("discreet-answer", ""), _read(reply)
        except RejectionError as error:
            if error.place is not None:  # it is about the query: its preview has queries to try
                await self.explain(ExplainBody(**query.model_dump(exclude={"accept_unlikely"})))
            raise

    async def answer(self, id_: str) -> JsonObject:
        """Return a saved answer."""
        if id_ in {"", ".", ".."}:  # not a name in a path, but another path
            raise rejection("not_found", "There is no answer with this id")
        return await self._json("GET", f"/answers/{quote(id_, safe='')}?format=json")

    async def budget(self) -> JsonObject:
        """Return what remains."""
        return await self._json("GET", "/budget")

    async def history(self, before: int | None, limit: int) -> JsonObject:
        """Return past queries."""
        since = "" if before is None else f"&before={before}"
        return await self._json("GET", f"/history?limit={limit}{since}")

    async def all_series(self) -> JsonObject:
        """Return what series cost, and how far they are."""
        return await self._json("GET", "/series")

    async def series(self, name: str) -> JsonObject:
        """Return the released ticks of a series."""
        if name in {"", ".", ".."}:  # not a name in a path, but another path
            raise rejection("not_found", "There is no series with this name")
        return await self._json("GET", f"/series/{quote(name, safe='')}?last={MOST_TICKS}")

    async def confirm_above(self) -> Fraction | None:
        """Return the epsilon above which a person confirms a query."""
        limits = (await self.budget()).get("limits") or {}
        found = limits.get("confirm_above_exact")
        return None if found is None else Fraction(found)

    async def _json(self, method: str, path: str, body: JsonObject | None = None) -> JsonObject:
        return _read(await self._reply(method, path, body))

    async def _reply(
        self, method: str, path: str, body: JsonObject | None = None, key: str | None = None
    ) -> HttpReply:
        return await asyncio.to_thread(self.remote.call, method, path, body, key)


def _sent(query: QueryBody) -> JsonObject:
    return query.model_dump(mode="json", exclude_none=True, exclude_defaults=True)


def _read(reply: HttpReply) -> JsonObject:
    """Return what a server replied, or raise why it rejects the call."""
    try:
        content: Any = json.loads(reply.body)
        if reply.status < 400:
            return dict(content)
        error = RejectionError(content["error"])
    except UNSOUND:
        raise ServerError(*UNREADABLE) from None
    raise error
