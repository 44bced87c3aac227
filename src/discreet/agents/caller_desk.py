"""Answers for an account of a catalog that is open in this process: here, or in a server.

Queries go the way of all calls of a server: turns, approvals, the clock, saved answers, the log.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from discreet.agents.desk import MOST_TICKS
from discreet.errors import QuestionError
from discreet.server.admission import Check, Turns
from discreet.server.analyst_routes import budget_of, explained, history_of, saved_reply
from discreet.server.asking import QueryRunner, answer_in
from discreet.server.bodies import AskBody, ExplainBody, JsonObject
from discreet.server.callers import Caller, Role
from discreet.server.faults import CallError
from discreet.server.remedies import rejection_of
from discreet.server.schema import schema_of
from discreet.server.series_routes import series_list, series_ticks, within
from discreet.wire import shown_catalog

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerDesk:
    """Answers for somebody who has signed in."""

    caller: Caller
    runner: QueryRunner
    planning: Turns
    """For what reads no private data."""
    reading: Turns
    """For released ticks, which may be many."""
    is_gone: Check

    async def tables(self) -> JsonObject:
        """Return tables and columns, as they are declared."""
        caller = await self._as("reader")
        return schema_of(shown_catalog(caller.site.curator.catalog))

    async def explain(self, query: ExplainBody) -> JsonObject:
        """Return what a query would do and cost."""
        caller = await self._as("analyst")
        found = await self._planned(lambda: explained(caller, query, with_fixes=True))
        return _object(found.to_json())

    async def ask(self, query: AskBody) -> tuple[str, JsonObject]:
        """Return the answer to a query and its id."""
        caller = await self._as("analyst")
        try:
            reply = await self.runner.ask(caller, query, None, self.is_gone)
        except QuestionError as error:
            body, why = ExplainBody(**query.model_dump(exclude={"accept_unlikely"})), error
            raise await self._planned(lambda: rejection_of(caller, body, why)) from None
        return reply.id, await asyncio.to_thread(_answer, reply.body)

    async def answer(self, id_: str) -> JsonObject:
        """Return a saved answer: one's own, or any for readers and owners."""
        caller = await self._as("reader")
        saved = await asyncio.to_thread(saved_reply, caller, id_, "read")
        return await asyncio.to_thread(_answer, saved.body)

    async def budget(self) -> JsonObject:
        """Return what remains."""
        return await asyncio.to_thread(budget_of, await self._as("analyst"))

    async def history(self, before: int | None, limit: int) -> JsonObject:
        """Return past queries."""
        return await asyncio.to_thread(history_of, await self._as("analyst"), before, limit)

    async def all_series(self) -> JsonObject:
        """Return what series cost, and how far they are."""
        caller = await self._as("reader")
        return await self._planned(lambda: series_list(caller))

    async def series(self, name: str) -> JsonObject:
        """Return the released ticks of a series."""
        caller = await self._as("reader")
        most = self.runner.settings.limits.answer_bytes
        async with self.reading.turn(self.caller.place, self.is_gone):
            return await asyncio.to_thread(
                lambda: within(series_ticks(caller, name, last=MOST_TICKS), most).to_json()
            )

    async def confirm_above(self) -> Fraction | None:
        """Return the epsilon above which a person confirms a query."""
        curator, account = self.caller.site.curator, self.caller.account
        return (await asyncio.to_thread(curator.limits_of, account)).confirm_above

    async def _as(self, least: Role) -> Caller:
        """Return the caller, who must have at least a role and still have the account."""

        def checked() -> Caller:
            self.caller.check_still()
            try:
                return self.caller.check(least)
            except CallError as error:
                self.caller.site.records.log(self.caller.name, "call", error.code, route="mcp")
                raise

        return await asyncio.to_thread(checked)

    async def _planned(self, act: Callable[[], T]) -> T:
        async with self.planning.turn(self.caller.place, self.is_gone):
            return await asyncio.to_thread(act)


def _answer(body: bytes) -> JsonObject:
    return _object(answer_in(body).to_json())


def _object(text: str) -> JsonObject:
    found: JsonObject = json.loads(text)
    return found
