"""A query from its call to its saved answer: charged once, whatever becomes of the connection.

A query that has begun to run is run to its end and its answer is saved, even if nobody waits for it
any more: it may have been charged. A query that still waits for its turn is dropped with its
caller.
"""

import asyncio
import json
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from hashlib import sha256
from typing import TypeVar, cast

from discreet.amounts import Price
from discreet.answer import Answer
from discreet.answer.columns import Margins
from discreet.answer.wire import packed, unpacked
from discreet.coverage.measurements import DEFAULT_PART
from discreet.curator import Curator
from discreet.executor import BEFORE_SAVING, NOT_SAVED, SAVED_ONLY, NotSavedError
from discreet.explanation.coverage import Coverage
from discreet.explanation.thresholds import REFUSES_UNLIKELY
from discreet.parameters import rational
from discreet.server.admission import Check, Turns, wait_for_clock
from discreet.server.bodies import AskBody, CoverageBody, QueryBody, exact
from discreet.server.callers import Caller
from discreet.server.faults import CallError, error_of
from discreet.server.records import SavedReply, now
from discreet.server.settings import Settings

T = TypeVar("T")

OTHER_CALL = CallError(
    status=409,
    code="key_reused",
    what="This Idempotency-Key was used for another query",
    fix="Use a new key for every query, and the same key only to repeat a call",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReply:
    """An answer and the id under which it is saved."""

    id: str
    body: bytes
    is_repeated: bool = False
    """Whether it is the reply to an earlier call with the same key."""


@dataclass(slots=True)
class QueryRunner:
    """Runs queries for callers."""

    settings: Settings
    turns: Turns
    under_way: set["asyncio.Task[AnswerReply]"] = field(default_factory=set)
    """Queries that run; a shutdown waits for them."""
    with_keys: dict[tuple[str, str, str], "asyncio.Task[AnswerReply]"] = field(default_factory=dict)

    async def ask(
        self, caller: Caller, body: AskBody, key: str | None, is_gone: Check
    ) -> AnswerReply:
        """Return the answer to a query, from an earlier call with the same key if there was one."""
        call = call_of(body)
        if key is None:
            return await self._begun(caller, body, call, None, is_gone)
        noted = await asyncio.to_thread(caller.site.records.begin, caller.account, key, call)
        if noted.call != call:
            raise OTHER_CALL
        if noted.answer is not None:
            return await asyncio.to_thread(_repeated, caller, noted.answer, noted.body)
        same = self.with_keys.get((caller.site.name, caller.account, key))
        if same is not None:
            return await asyncio.shield(same)
        return await self._begun(caller, body, call, key, is_gone)

    async def _begun(
        self,
        caller: Caller,
        body: AskBody,
        call: str,
        key: str | None,
        is_gone: Check,
    ) -> AnswerReply:
        async with self.turns.turn(caller.place, is_gone):
            work = asyncio.to_thread(_asked, caller, body, call, key, self.settings)
            task = asyncio.get_running_loop().create_task(work)
            self.under_way.add(task)
            place = (caller.site.name, caller.account, key or "")
            if key is not None:
                self.with_keys[place] = task
            try:
                return await _to_its_end(task)
            finally:
                self.under_way.discard(task)
                if key is not None:
                    self.with_keys.pop(place, None)

    async def finish(self) -> None:
        """Wait for all queries that run."""
        while self.under_way:
            await asyncio.wait(set(self.under_way))


async def _to_its_end(task: "asyncio.Task[T]") -> T:
    """Wait for a task; if nobody waits for this any more, still keep its turn until it ends."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def call_of(body: AskBody) -> str:
    """Return what stands for a query with its terms."""
    text = json.dumps(body.model_dump(mode="json", exclude={"accept_unlikely"}), sort_keys=True)
    return sha256(text.encode()).hexdigest()


def _asked(
    caller: Caller, body: AskBody, call: str, key: str | None, settings: Settings
) -> AnswerReply:
    """Run a query, save its answer and log it; in a thread of its own."""
    records = caller.site.records
    if key is not None:  # another call with this key, or another process, may have been faster
        noted = records.begin(caller.account, key, call)
        if noted.answer is not None:
            return _repeated(caller, noted.answer, noted.body)
    REFUSES_UNLIKELY.set(not body.accept_unlikely)
    BEFORE_SAVING.set(partial(wait_for_clock, settings))
    try:
        caller.check_still()  # it may have waited
        check_approved(caller, body, settings)
        answer = caller.site.curator.ask(body.sql, **body.terms(), account=caller.account)
    except Exception as error:
        wait_for_clock(settings)
        records.log(caller.name, "ask", error_of(error).code, question=logged(body.sql))
        raise
    content = packed(answer)
    if len(content) > settings.limits.answer_bytes:
        records.log(caller.name, "ask", "too_long", question=logged(body.sql))
        raise TOO_LONG
    id_ = id_of(caller.account, call, answer)
    terms = json.dumps(body.model_dump(mode="json", exclude={"sql", "accept_unlikely"}))
    records.save(
        SavedReply(
            id=id_,
            account=caller.account,
            written=now(),
            question=body.sql,
            terms=terms,
            body=content,
        )
    )
    if key is not None:
        content = records.finish(caller.account, key, id_, content).body
    records.log(
        caller.name,
        "ask",
        "free" if answer.is_free else "charged",
        question=logged(body.sql),
        epsilon=str(answer.charged.epsilon),
        delta=str(answer.charged.delta),
        answer=id_,
    )
    return AnswerReply(id=id_, body=content)


MOST_LOGGED = 2000
"""Characters of a query that a line of the audit log has: many lines are read at once."""


def logged(text: str) -> str:
    """Return a text as a line of the audit log has it."""
    return text if len(text) <= MOST_LOGGED else f"{text[:MOST_LOGGED]}…"


def measured(caller: Caller, body: CoverageBody, settings: Settings) -> Coverage:
    """Measure the coverage of a table and log it; in a thread of its own."""
    records, table = caller.site.records, logged(body.table)
    BEFORE_SAVING.set(partial(wait_for_clock, settings))
    try:
        caller.check_still()  # it may have waited
        found = _coverage(caller, body, settings)
    except Exception as error:
        wait_for_clock(settings)
        records.log(caller.name, "coverage", error_of(error).code, table=table)
        raise
    paid = Fraction(0) if found.from_ledger else found.price.epsilon
    records.log(caller.name, "coverage", "done", table=table, epsilon=str(paid))
    return found


def _coverage(caller: Caller, body: CoverageBody, settings: Settings) -> Coverage:
    """Return the coverage of a table; above the limit for approval, only what was measured."""
    curator, epsilon = caller.site.curator, cast("float | None", exact(body.epsilon))
    SAVED_ONLY.set(_is_above(curator, epsilon, caller, settings))
    try:
        return curator.coverage(
            body.table, epsilon=epsilon, columns=body.columns, account=caller.account
        )
    except NotSavedError:
        raise UNAPPROVED from None


def _is_above(curator: Curator, epsilon: float | None, caller: Caller, settings: Settings) -> bool:
    """Return whether a measurement would cost more than runs without the owner's approval."""
    most = settings.approval_above
    if most is None or caller.role == "owner":
        return False
    usual = curator.catalog.budget.epsilon * DEFAULT_PART
    return (usual if epsilon is None else rational("epsilon", epsilon)) > most


UNAPPROVED = CallError(
    status=403,
    code="approval_needed",
    what="This measurement costs more than the data owner lets a single query cost",
    fix="Use a smaller epsilon, or ask the data owner to measure it, which makes it free",
)

TOO_LONG = CallError(
    status=422,
    code="answer_too_long",
    what="The answer is longer than this server sends",
    fix="Ask for fewer groups or columns; what was charged is not charged again",
)


def id_of(account: str, call: str, answer: Answer) -> str:
    """Return the id of an answer: the same for the same numbers to the same query."""
    content = f"{account}\0{call}\0{answer.to_csv()}\0{answer.price}".encode()
    return urlsafe_b64encode(sha256(content).digest()[:18]).decode("ascii")


def margins_of(saved: SavedReply, curator: Curator, level: Fraction, at_once: bool) -> Margins:
    """Return the margins of a saved answer at another confidence. Nothing is charged or run.

    They follow from the noisy numbers, which the ledger has. Where it has others by now, because
    the data changed or a sharper answer was charged since, the query is to be run again.
    """
    body = AskBody(sql=saved.question, **json.loads(saved.terms))
    SAVED_ONLY.set(True)
    answer = curator.ask(body.sql, **body.terms())
    if not answer.table.equals(unpacked(saved.body, answer.column_margins_at).table):
        raise NotSavedError(*NOT_SAVED)
    return answer.column_margins_at(level, at_once)


def _repeated(caller: Caller, id_: str, body: bytes) -> AnswerReply:
    """Return the reply to an earlier call with the same key, and log it."""
    caller.site.records.log(caller.name, "ask", "repeated", answer=id_)
    return AnswerReply(id=id_, body=body, is_repeated=True)


def approval_of(query: QueryBody) -> str:
    """Return what stands for a query in a request: the query with its terms, as JSON."""
    names = set(QueryBody.model_fields)
    return json.dumps(query.model_dump(mode="json", include=names), sort_keys=True)


def due_for(caller: Caller, query: QueryBody) -> Price:
    """Return what a query would be charged now."""
    explained = caller.site.curator.explain(query.sql, **query.terms(), account=caller.account)
    return explained.price if explained.due is None else explained.due


def check_approved(caller: Caller, body: AskBody, settings: Settings) -> None:
    """Reject a query that costs more than runs without the owner's approval."""
    most = settings.approval_above
    if most is None or caller.role == "owner":
        return
    due = due_for(caller, body)
    if due.epsilon > most and not caller.site.ledger.is_approved(caller.account, approval_of(body)):
        raise CallError(
            status=403,
            code="approval_needed",
            what=f"This query costs {due}, and the data owner approves queries above "
            f"ε = {float(most):g} before they run",
            fix="Request it with a reason: POST requests, with this query",
        )
