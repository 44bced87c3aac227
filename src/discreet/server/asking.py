"""A query from its call to its saved answer: charged once, whatever becomes of the connection.

A query that has begun to run is run to its end and its answer is saved, even if nobody waits for it
any more: it may have been charged. A query that still waits for its turn is dropped with its
caller.
"""

import asyncio
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from hashlib import sha256
from time import monotonic
from typing import Any, Generic, Literal, TypeVar, cast

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
from discreet.query.parse import canonical_text, options_in
from discreet.server.admission import Check, Turns, rest, wait_for_clock
from discreet.server.audit import cut, query_text
from discreet.server.bodies import AMOUNTS, AskBody, CoverageBody, QueryBody, exact
from discreet.server.callers import Caller
from discreet.server.faults import CallError, error_of
from discreet.server.records import SavedCall, SavedReply, now
from discreet.server.running_queries import CANCELLED, RunningQueries, RunningQuery
from discreet.server.settings import Settings
from discreet.written import WrittenQuery

R = TypeVar("R")
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
class Work(Generic[R, T]):
    """Something that may be charged."""

    action: Literal["ask", "coverage"]
    text: str | WrittenQuery
    """The query as it was sent, or the table whose coverage is measured."""
    act: Callable[[], R]
    """Does it. How long it takes may depend on data."""
    finish: Callable[[R], T]
    """Saves and logs what was found, and returns the reply."""


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
        self,
        caller: Caller,
        body: AskBody,
        key: str | None,
        is_gone: Check,
        *,
        waits: bool = False,
    ) -> AnswerReply:
        """Return the answer to a query, from an earlier call with the same key if there was one.

        A caller who waits is not sent away while the query runs.
        """
        call = call_of(body)
        if key is not None:
            noted = await asyncio.to_thread(caller.site.records.begin, caller.account, key, call)
            if noted.call != call:
                await asyncio.to_thread(_log_rejection, caller, "ask", OTHER_CALL, body.written)
                raise OTHER_CALL
            if noted.answer is not None:
                return await asyncio.to_thread(_repeated, caller, noted.answer, noted.body)
            same = self.with_keys.get((caller.site.name, caller.account, key))
            if same is not None:
                return await self._reply_of(same)  # type: ignore[no-any-return]
        asked = Asked(caller=caller, body=body, call=call, key=key, settings=self.settings)
        work = Work(action="ask", text=body.written, act=asked.act, finish=asked.finish)
        return await self.run(caller, work, is_gone, key, waits=waits)

    async def measure(self, caller: Caller, body: CoverageBody, is_gone: Check) -> Coverage:
        """Return the coverage of a table."""
        measured = AskedCoverage(caller=caller, body=body, settings=self.settings)
        work = Work(action="coverage", text=body.table, act=measured.act, finish=measured.finish)
        return await self.run(caller, work, is_gone)

    async def run(
        self,
        caller: Caller,
        work: "Work[R, T]",
        is_gone: Check,
        key: str | None = None,
        *,
        waits: bool = False,
    ) -> T:
        """Run something that may be charged, in a thread of its own, once it has its turn.

        What has begun ends, and keeps its turn until then, even if nobody waits for it any more.
        """
        async with AsyncExitStack() as stack:
            query = stack.enter_context(self.queries.listed(caller, work.text))
            turn = self.turns.turn(caller.place, query.unless_cancelled(is_gone))
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
            ends = self._to_its_end(caller, work, held)
            query.task = asyncio.get_running_loop().create_task(ends)
            query.task.add_done_callback(_seen)
        if waits:
            return await query.reply(None)  # type: ignore[no-any-return]
        return await self._reply_of(query)  # type: ignore[no-any-return]

    async def _to_its_end(self, caller: Caller, work: "Work[R, T]", held: AsyncExitStack) -> T:
        """Do something in a thread. With a clock, nothing shows for how long it ran but ticks."""
        async with held:
            begun = monotonic()
            BEFORE_SAVING.set(partial(wait_for_clock, self.settings, begun))
            try:
                found = await asyncio.to_thread(work.act)
            except Exception as error:
                await rest(self.settings, begun)
                logged = (caller, work.action, error_of(error), work.text)
                await asyncio.to_thread(_log_rejection, *logged)
                raise
            await rest(self.settings, begun)
            return await asyncio.to_thread(work.finish, found)

    async def _reply_of(self, query: RunningQuery) -> Any:
        return await query.reply(self.settings.limits.reply_seconds)

    def _forget_key(self, place: tuple[str, str, str], query: RunningQuery) -> None:
        if self.with_keys.get(place) is query:
            del self.with_keys[place]

    async def finish(self) -> None:
        """Wait for all queries that run."""
        while self.under_way:
            await asyncio.wait(self.under_way)


def _seen(task: "asyncio.Task[Any]") -> None:
    """Take note of a failure that nobody waits for: its words would be written to the output."""
    if not task.cancelled():
        task.exception()


def _log_rejection(caller: Caller, action: str, error: CallError, text: str | WrittenQuery) -> None:
    """Log a call that was rejected."""
    about = {"table": cut(text)} if isinstance(text, str) else query_text(text)
    caller.site.records.log(caller.name, action, error.code, **about)


def call_of(body: AskBody) -> str:
    """Return what stands for a query with its terms."""
    told = body.model_dump(mode="json", exclude={"accept_unlikely"} | _unstated(body))
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _unstated(body: QueryBody) -> set[str]:
    """Return the fields that older versions do not have, if nothing is stated there.

    What stands for a query is stored: it stays what it was.
    """
    return {name for name in ("parameters", "dialect") if getattr(body, name) is None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A query of a caller; each step runs in a thread."""

    caller: Caller
    body: AskBody
    call: str
    key: str | None
    settings: Settings

    def act(self) -> tuple[Answer, bytes] | SavedCall:
        """Run the query, unless another call with this key, or another process, was faster."""
        caller, body = self.caller, self.body
        if self.key is not None:
            noted = caller.site.records.begin(caller.account, self.key, self.call)
            if noted.answer is not None:
                return noted
        REFUSES_UNLIKELY.set(not body.accept_unlikely)
        caller.check_still()  # it may have waited
        check_approved(caller, body, self.settings)
        answer = caller.site.curator.ask(body.sql, **body.terms(), account=caller.account)
        return answer, _packed(answer, self.settings.limits.answer_bytes)

    def finish(self, found: tuple[Answer, bytes] | SavedCall) -> AnswerReply:
        """Save the answer, and log it."""
        if isinstance(found, SavedCall):
            return _repeated(self.caller, str(found.answer), found.body)
        (answer, content), records = found, self.caller.site.records
        id_ = id_of(self.caller.account, self.call, answer)
        terms = self.body.model_dump(mode="json", exclude={"sql", "accept_unlikely"})
        records.save(
            SavedReply(
                id=id_,
                account=self.caller.account,
                written=now(),
                question=self.body.sql,
                terms=json.dumps(terms),
                body=content,
            )
        )
        if self.key is not None:
            content = records.finish(self.caller.account, self.key, id_, content).body
        records.log(
            self.caller.name,
            "ask",
            "free" if answer.is_free else "charged",
            **query_text(self.body.written),
            epsilon=str(answer.charged.epsilon),
            delta=str(answer.charged.delta),
            answer=id_,
        )
        return AnswerReply(id=id_, body=content)


def answer_in(body: bytes) -> Answer:
    """Return the answer that a reply holds; margins at other confidences are not part of it."""
    return unpacked(body, _no_margins)


def _no_margins(*_: object) -> Any:
    raise NotImplementedError


def _packed(answer: Answer, most: int) -> bytes:
    content = packed(answer)
    if len(content) > most:
        raise TOO_LONG
    return content


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCoverage:
    """A measurement of coverage for a caller; each step runs in a thread."""

    caller: Caller
    body: CoverageBody
    settings: Settings

    def act(self) -> Coverage:
        """Measure it."""
        self.caller.check_still()  # it may have waited
        return _coverage(self.caller, self.body, self.settings)

    def finish(self, found: Coverage) -> Coverage:
        """Log it."""
        paid = Price(epsilon=Fraction(0)) if found.from_ledger else found.price
        self.caller.site.records.log(
            self.caller.name,
            "coverage",
            "free" if paid.is_free else "charged",
            table=cut(self.body.table),
            epsilon=str(paid.epsilon),
            delta=str(paid.delta),
        )
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
    """Return what stands for a query in a request: the query with its terms, as JSON.

    It is the same for 0.5, "0.5" and "1/2", for any spaces and comments in the SQL, and for values
    as parameters or written out.
    """
    told = query.model_dump(mode="json", include=set(QueryBody.model_fields) - _unstated(query))
    canonical = canonical_text(query.written)
    if canonical is not None:  # which has the values of placeholders
        told.pop("parameters", None)
        told |= _in_clause(query.written)
        told["sql"] = canonical
    return json.dumps({name: _written(name, each) for name, each in told.items()}, sort_keys=True)


def _in_clause(query: WrittenQuery) -> dict[str, object]:
    """Return what WITH DIFFERENTIAL_PRIVACY OPTIONS states: the canonical text is without it."""
    found = options_in(query)
    if found is None:
        return {}
    amounts = {"epsilon": found.epsilon, "delta": found.delta}
    stated: dict[str, object] = {k: str(v) for k, v in amounts.items() if v is not None}
    groups = found.groups_per_unit
    return stated if groups is None else {**stated, "groups_per_unit": groups}


def _written(name: str, value: object) -> object:
    """Return an amount as an exact text, and anything else as it is."""
    if isinstance(value, Mapping):
        return {each: _written(name, inner) for each, inner in value.items()}
    return str(rational(name, exact(value))) if name in AMOUNTS and value is not None else value


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
