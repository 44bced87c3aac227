"""A query from its call to its saved answer: charged once, whatever becomes of the connection.

A query that has begun to run is run to its end and its answer is saved, even if nobody waits for it
any more: it may have been charged. A query that still waits for its turn is dropped with its
caller.
"""

import asyncio
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from typing import Any, Generic, Literal, TypeVar

from discreet.amounts import Price
from discreet.answer import Answer
from discreet.answer.columns import Margins
from discreet.answer.wire import packed, unpacked
from discreet.curator import Curator
from discreet.executor import NOT_SAVED, SAVED_ONLY, NotSavedError
from discreet.explanation.thresholds import REFUSES_UNLIKELY
from discreet.server.admission import Check, Turns
from discreet.server.audit import query_text
from discreet.server.bodies import AskBody, QueryBody
from discreet.server.callers import Caller
from discreet.server.faults import CallError, error_of
from discreet.server.records import SavedReply, now
from discreet.server.running_queries import CANCELLED, RunningQueries, RunningQuery
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Work(Generic[T]):
    """Something that may be charged."""

    action: Literal["ask", "coverage"]
    text: str
    """The query as it was sent, or the table whose coverage is measured."""
    act: Callable[[], T]
    """Does it, and logs how it ended."""


@dataclass(slots=True)
class QueryRunner:
    """Runs queries for callers."""

    settings: Settings
    turns: Turns
    queries: RunningQueries = field(default_factory=RunningQueries)
    with_keys: dict[tuple[str, str, str], RunningQuery] = field(default_factory=dict)
    """Queries that run, by catalog, account and key of the client."""

    @property
    def under_way(self) -> "set[asyncio.Task[Any]]":
        """What runs now."""
        return self.queries.tasks

    async def ask(
        self, caller: Caller, body: AskBody, key: str | None, is_gone: Check
    ) -> AnswerReply:
        """Return the answer to a query, from an earlier call with the same key if there was one."""
        call = call_of(body)
        if key is not None:
            noted = await asyncio.to_thread(caller.site.records.begin, caller.account, key, call)
            if noted.call != call:
                await asyncio.to_thread(_log_rejection, caller, "ask", OTHER_CALL, body.sql)
                raise OTHER_CALL
            if noted.answer is not None:
                return await asyncio.to_thread(_repeated, caller, noted.answer, noted.body)
            same = self.with_keys.get((caller.site.name, caller.account, key))
            if same is not None:
                return await self._reply_of(same)  # type: ignore[no-any-return]
        work = Work(
            action="ask",
            text=body.sql,
            act=lambda: _asked(caller, body, call, key, self.settings),
        )
        return await self.run(caller, work, is_gone, key)

    async def run(
        self, caller: Caller, work: "Work[T]", is_gone: Check, key: str | None = None
    ) -> T:
        """Run something that may be charged, in a thread of its own, once it has its turn.

        What has begun ends, and keeps its turn until then, even if nobody waits for it any more.
        """
        async with AsyncExitStack() as stack:
            query = stack.enter_context(self.queries.listed(caller, work.text))
            turn = self.turns.turn(caller.account, query.unless_cancelled(is_gone))
            try:
                await stack.enter_async_context(turn)
                if query.is_cancelled:
                    raise CANCELLED
            except CallError as error:
                rejection = CANCELLED if query.is_cancelled else error
                logged = (caller, work.action, rejection, work.text)
                await asyncio.to_thread(_log_rejection, *logged)
                raise rejection from None
            if key is not None:
                place = (caller.site.name, caller.account, key)
                self.with_keys[place] = query
                stack.callback(self._forget_key, place, query)
            held = stack.pop_all()
            query.task = asyncio.get_running_loop().create_task(_to_its_end(work.act, held))
            query.task.add_done_callback(_seen)
        return await self._reply_of(query)  # type: ignore[no-any-return]

    async def _reply_of(self, query: RunningQuery) -> Any:
        return await query.reply(self.settings.limits.reply_seconds)

    def _forget_key(self, place: tuple[str, str, str], query: RunningQuery) -> None:
        if self.with_keys.get(place) is query:
            del self.with_keys[place]

    async def finish(self) -> None:
        """Wait for all queries that run."""
        while self.under_way:
            await asyncio.wait(self.under_way)


async def _to_its_end(act: Callable[[], T], held: AsyncExitStack) -> T:
    """Do something in a thread, and give back its turn when it has ended."""
    async with held:
        return await asyncio.to_thread(act)


def _seen(task: "asyncio.Task[Any]") -> None:
    """Take note of a failure that nobody waits for: its words would be written to the output."""
    if not task.cancelled():
        task.exception()


def _log_rejection(caller: Caller, action: str, error: CallError, text: str) -> None:
    """Log a call that was rejected before anything of it ran."""
    about = query_text(text) if action == "ask" else {"table": text}
    caller.site.records.log(caller.name, action, error.code, **about)


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
    try:
        check_approved(caller, body, settings)
        answer = caller.site.curator.ask(body.sql, **body.terms(), account=caller.account)
        content = _packed(answer, settings.limits.answer_bytes)
    except Exception as error:
        records.log(caller.name, "ask", error_of(error).code, **query_text(body.sql))
        raise
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
        **query_text(body.sql),
        epsilon=str(answer.charged.epsilon),
        delta=str(answer.charged.delta),
        answer=id_,
    )
    return AnswerReply(id=id_, body=content)


def _packed(answer: Answer, most: int) -> bytes:
    content = packed(answer)
    if len(content) > most:
        raise TOO_LONG
    return content


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
