"""The statements of a connection: who answers each, its columns in advance, and its result.

Statements that are not for the hollow PostgreSQL are run here: queries, cursors over their answers,
and settings of the connection.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from discreet.server.pgwire.cursors import declared_in, is_held_in, move_in, span_of
from discreet.server.pgwire.desk import AccountDesk, Shape, result_of, shape_of
from discreet.server.pgwire.frames import ProtocolError, Stream
from discreet.server.pgwire.hollow_link import (
    BIND_TEXT,
    EXECUTE_ALL,
    HollowLink,
    describe_statement,
    described,
    error_of,
    parse_frame,
)
from discreet.server.pgwire.lexer import (
    SqlStatement,
    has_no_rows,
    is_empty_by_text,
    placeholders,
)
from discreet.server.pgwire.results import Result, copied_in, text_column
from discreet.server.pgwire.routing import (
    ENDS_TRANSACTION,
    ROLLS_BACK,
    KnownNames,
    Route,
    explained_in,
    name_of,
    route_of,
    setting_in,
)
from discreet.server.pgwire.sqlstates import WireError, notice
from discreet.server.pgwire.values import TEXT, example
from discreet.server.pgwire.variables import PREFIX, READERS

T = TypeVar("T")

MOST_PARAMETERS = 10_000
BYTES_OF_WORD = 200
EMPTY_THERE = frozenset([Route.ASK, Route.COPY, Route.DECLARE])
"""What the hollow PostgreSQL answers if no row matters."""

CANCELLED = (
    "57014",
    "The query was cancelled",
    "If it had begun, it runs to its end and is saved: what was charged is not charged again",
)
QUIET = frozenset(["client_encoding", "names", "standard_conforming_strings"])
"""Settings that clients set again to what they are."""


@dataclass(slots=True, kw_only=True)
class Prepared:
    """A statement that was sent, without the values of its placeholders."""

    statement: SqlStatement
    route: Route | None
    """None for an empty text."""
    query: SqlStatement | None = None
    """What is asked of Discreet, which may be a part of the statement."""
    types: tuple[int, ...] = ()
    """Of placeholders."""
    names: tuple[str, ...] | None = None
    """Of columns, as PostgreSQL calls them."""
    shape: Shape | None = None
    """The columns that a client was told."""
    is_empty: bool = False
    """Whether the hollow PostgreSQL may read the tables of the catalog: no row would matter."""

    @property
    def size(self) -> int:
        """About the memory that it takes, in bytes."""
        return len(self.statement.text) + BYTES_OF_WORD * len(self.statement.words)

    @property
    def is_hollow(self) -> bool:
        """Whether the hollow PostgreSQL answers it."""
        return self.route is Route.HOLLOW


@dataclass(slots=True, kw_only=True)
class Portal:
    """A statement with the values of its placeholders, and its result once there is one."""

    prepared: Prepared
    values: tuple[Any, ...] = ()
    formats: tuple[int, ...] = ()
    shape: Shape | None = None
    result: Result | None = None
    is_cursor: bool = False
    is_held: bool = False
    """Of a cursor: whether it stays when its transaction is committed."""
    place: int = 0
    """Of a cursor: the row it is on, from 1; 0 is before the first."""


@dataclass(slots=True, kw_only=True)
class Session:
    """The statements of one client that has signed in."""

    desk: AccountDesk
    stream: Stream
    link: HollowLink
    open_scratch: Callable[[], Awaitable[HollowLink]]
    """Opens a second connection to the hollow PostgreSQL, on which statements may fail."""
    prepared: dict[str, Prepared] = field(default_factory=dict)
    portals: dict[str, Portal] = field(default_factory=dict)
    has_failed: bool = False
    """Whether the open transaction has failed."""
    _scratch: HollowLink | None = None
    _work: "asyncio.Future[Any] | None" = None
    _is_cancelled: bool = False

    def close(self) -> None:
        """Close the connections to the hollow PostgreSQL."""
        for each in (self.link, self._scratch):
            if each is not None:
                each.close()

    # ----------------------------------------------------------------------- what a statement is

    async def prepare(self, statement: SqlStatement, types: Sequence[int]) -> Prepared:
        """Find out who answers a statement, and what it asks of Discreet."""
        known = KnownNames(
            tables=self.desk.tables,
            cursors=frozenset(k for k, v in self.portals.items() if v.is_cursor),
            statements=frozenset(k for k, v in self.prepared.items() if not v.is_hollow),
        )
        route = route_of(statement, known)
        query = _query_in(statement, route)
        if query is None:
            return Prepared(statement=statement, route=route, types=tuple(types))
        inferred, columns = await self._inferred(query, types)
        if route in EMPTY_THERE and columns is not None and is_empty_by_text(query):
            hollow = Route.HOLLOW
            return Prepared(statement=statement, route=hollow, types=tuple(types), is_empty=True)
        return Prepared(
            statement=statement,
            route=route,
            query=query,
            types=inferred,
            names=None if columns is None else tuple(name for name, _ in columns),
        )

    async def _inferred(
        self, query: SqlStatement, types: Sequence[int]
    ) -> tuple[tuple[int, ...], list[tuple[str, int]] | None]:
        """Return the types of placeholders, and PostgreSQL's columns if it understands the query.

        It looks at the tables' columns, and has no rows. What it does not know is text.
        """
        count = max(placeholders(query), len(types))
        if count > MOST_PARAMETERS:
            raise WireError("54000", "The query has too many parameters")
        given = (*types, *(0,) * (count - len(types)))
        scratch = await self._second_link()
        found, columns = given, None
        try:
            replies = await scratch.ask(
                parse_frame("", query.text, tuple(types)), describe_statement("")
            )
            found, columns = described(replies)
        except ProtocolError:  # Discreet may understand more than PostgreSQL
            found = given
        finally:
            await scratch.sync()
        return tuple(each or TEXT for each in found), columns

    def portal(self, name: str) -> Portal:
        """Return an open portal or cursor."""
        if name not in self.portals:
            raise WireError("34000", f'portal "{name}" does not exist')
        return self.portals[name]

    async def _second_link(self) -> HollowLink:
        if self._scratch is None:
            self._scratch = await self.open_scratch()
        return self._scratch

    def hollow_text(self, statement: SqlStatement) -> str:
        """Return what is sent on: a transaction that failed here is not committed there."""
        if self.has_failed and statement.verb in ("commit", "end"):
            return "ROLLBACK"
        return statement.text

    def after(self, statement: SqlStatement) -> None:
        """Let settings, cursors and prepared statements follow what the hollow PostgreSQL did."""
        verb, name, variables = statement.verb, statement.words[-1].text, self.desk.variables
        is_partial = any(each.text == "to" for each in statement.words[1:])
        if verb in ENDS_TRANSACTION and not is_partial:
            is_committed = verb not in ROLLS_BACK and not self.has_failed
            variables.end(is_committed=is_committed)
            variables.begin()
            self.portals = {
                known: each
                for known, each in self.portals.items()
                if not each.is_cursor or (each.is_held and is_committed)
            }
            self.has_failed = False
        elif verb in ROLLS_BACK:
            variables.go_back(name)
            self.has_failed = False
        elif verb == "savepoint":
            variables.save(name)
        elif verb == "release":
            variables.release(name)
        elif verb == "deallocate":
            self.prepared.pop(name, None)

    def forget_unnamed(self) -> None:
        """Forget the statement and the portal without a name, which others take the place of."""
        self.prepared.pop("", None)
        self.portals.pop("", None)

    async def shape(self, prepared: Prepared, values: Sequence[Any] | None) -> Shape | None:
        """Return the columns of a result before it is there. Nothing is charged."""
        match prepared.route:
            case Route.ASK if prepared.query is not None:
                return await self._asked_shape(prepared, prepared.query, values)
            case Route.EXPLAIN:
                return Shape(columns=text_column("QUERY PLAN"), has_ends=None)
            case Route.SHOW:
                name = name_of(prepared.statement.words[1:])
                return Shape(columns=text_column(name), has_ends=None)
            case Route.FETCH if move_in(prepared.statement).is_shown:
                cursor = self.portal(move_in(prepared.statement).cursor)
                shape = cursor.shape = cursor.shape or await self.shape(
                    cursor.prepared, cursor.values
                )
                return shape
        return None

    async def _asked_shape(
        self, prepared: Prepared, query: SqlStatement, values: Sequence[Any] | None
    ) -> Shape:
        is_on = self.desk.variables.is_on("intervals")
        given = values if values is not None else [example(each) for each in prepared.types]
        columns = await self._cancellable(self.desk.columns(query, given, self._is_gone))
        return shape_of(columns, prepared.names, is_on)

    # ----------------------------------------------------------------------- results

    async def result(self, portal: Portal) -> Result:
        """Run what is not for the hollow PostgreSQL."""
        prepared = portal.prepared
        if prepared.query is not None:
            return await self._of_query(portal, prepared.query)
        if prepared.route is Route.FETCH:
            return await self._fetched(prepared.statement)
        if prepared.statement.words[-1].text == "all":  # of its own as well
            text = prepared.statement.text
            self.forget_unnamed()
            replies = await self.link.ask(parse_frame("", text), BIND_TEXT, EXECUTE_ALL)
            if replies[-1].kind == b"E":
                raise error_of(replies[-1])
        return self._local(prepared)

    async def _of_query(self, portal: Portal, query: SqlStatement) -> Result:
        match portal.prepared.route:
            case Route.EXPLAIN:
                return await self._explained(portal, query)
            case Route.DECLARE:
                return self._declared(portal)
        result = await self._asked(portal, query)
        if portal.prepared.route is Route.COPY:
            result.copy = copied_in(portal.prepared.statement)[1]
        return result

    async def _asked(self, portal: Portal, query: SqlStatement) -> Result:
        if has_no_rows(query):  # and PostgreSQL does not understand it
            shape = portal.shape or await self._asked_shape(portal.prepared, query, portal.values)
            return Result(tag="SELECT", columns=shape.columns)
        answer, notices = await self._cancellable(
            self.desk.ask(query, portal.values, self._is_gone)
        )
        return result_of(
            answer,
            notices=notices,
            names=portal.prepared.names,
            has_intervals=self.desk.variables.is_on("intervals"),
            shape=portal.shape or portal.prepared.shape,
        )

    async def _explained(self, portal: Portal, query: SqlStatement) -> Result:
        if {"analyze", "analyse"} & explained_in(portal.prepared.statement)[1]:
            hint = "Leave ANALYZE out: EXPLAIN says what a query costs, and spends nothing"
            raise WireError("0A000", "EXPLAIN ANALYZE would run the query", hint)
        found = await self._cancellable(self.desk.explain(query, portal.values, self._is_gone))
        lines = [(each,) for each in str(found).splitlines()]
        return Result(tag="EXPLAIN", columns=text_column("QUERY PLAN"), rows=lines)

    def _declared(self, portal: Portal) -> Result:
        name, query = declared_in(portal.prepared.statement)
        if name in self.portals:
            raise WireError("42P03", f'cursor "{name}" already exists')
        asked = Prepared(
            statement=query,
            route=Route.ASK,
            query=query,
            types=portal.prepared.types,
            names=portal.prepared.names,
        )
        is_held = is_held_in(portal.prepared.statement)
        self.portals[name] = Portal(
            prepared=asked, values=portal.values, is_cursor=True, is_held=is_held
        )
        return Result(tag="DECLARE CURSOR")

    async def _fetched(self, statement: SqlStatement) -> Result:
        move = move_in(statement)
        cursor = self.portal(move.cursor)
        is_first = cursor.result is None
        if cursor.result is None:
            cursor.result = await self.result(cursor)
        rows, notices = cursor.result.rows, cursor.result.notices if is_first else ()
        first, last, cursor.place = span_of(move, cursor.place, len(rows))
        found = rows[first:last]
        if (move.count or 0) < 0 and not move.is_absolute and not move.is_relative:
            found = list(reversed(found))
        if not move.is_shown:
            return Result(tag=f"MOVE {len(found)}", notices=notices)
        return Result(tag="FETCH", columns=cursor.result.columns, rows=found, notices=notices)

    # ----------------------------------------------------------------------- settings

    def _local(self, prepared: Prepared) -> Result:
        """Run a statement about the connection itself."""
        act = {
            Route.SET: self._set,
            Route.RESET: self._reset,
            Route.SHOW: self._show,
            Route.CLOSE: self._close_cursors,
            Route.DEALLOCATE: self._deallocate,
            Route.DISCARD: self._discard,
        }[prepared.route or Route.SET]
        return act(prepared.statement)

    def _set(self, statement: SqlStatement) -> Result:
        found, variables = setting_in(statement), self.desk.variables
        if found.name.startswith(PREFIX):
            if found.value is None:
                variables.reset(found.name)
            else:
                variables.set(found.name, found.value, is_local=found.is_local)
            return Result(tag="SET")
        _check_fixed(found.name, found.value)
        said = notice(f"The setting {found.name} has no effect on this server")
        return Result(tag="SET", notices=() if found.name in QUIET else (said,))

    def _reset(self, statement: SqlStatement) -> Result:
        name = name_of(statement.words[1:])
        if name == "all" or name.startswith(PREFIX):
            self.desk.variables.reset(None if name == "all" else name)
        return Result(tag="RESET")

    def _show(self, statement: SqlStatement) -> Result:
        name = name_of(statement.words[1:])
        if name not in READERS:
            hint = f"Settings are {', '.join(READERS)}"
            raise WireError("42704", f"There is no setting {name}", hint)
        value = self.desk.variables.get(name)
        return Result(tag="SHOW", columns=text_column(name), rows=[(value or "",)])

    def _close_cursors(self, statement: SqlStatement) -> Result:
        name = statement.words[-1].text
        gone = [k for k, v in self.portals.items() if v.is_cursor and name in (k, "all")]
        for each in gone:
            del self.portals[each]
        return Result(tag="CLOSE CURSOR ALL" if name == "all" else "CLOSE CURSOR")

    def _deallocate(self, statement: SqlStatement) -> Result:
        name = statement.words[-1].text
        if name == "all":
            self.prepared.clear()
            return Result(tag="DEALLOCATE ALL")
        del self.prepared[name]
        return Result(tag="DEALLOCATE")

    def _discard(self, _: SqlStatement) -> Result:
        self.prepared.clear()
        self.portals.clear()
        self.desk.variables.reset()
        return Result(tag="DISCARD ALL")

    # ----------------------------------------------------------------------- cancelling

    async def cancel(self) -> None:
        """Give up the statement that runs. A query that has begun runs to its end."""
        if self._work is not None:
            self._is_cancelled = True
            self._work.cancel()
        else:
            await self.link.cancel()

    async def _cancellable(self, work: Awaitable[T]) -> T:
        task: asyncio.Future[T] = asyncio.ensure_future(work)
        self._work, self._is_cancelled = task, False
        try:
            return await task
        except asyncio.CancelledError:
            if self._is_cancelled:
                raise WireError(*CANCELLED) from None
            task.cancel()
            raise
        finally:
            self._work = None

    async def _is_gone(self) -> bool:
        return self.stream.is_gone


def _query_in(statement: SqlStatement, route: Route) -> SqlStatement | None:
    """Return the part of a statement that asks something of Discreet."""
    match route:
        case Route.ASK:
            return statement
        case Route.EXPLAIN:
            return explained_in(statement)[0]
        case Route.COPY:
            return copied_in(statement)[0]
        case Route.DECLARE:
            return declared_in(statement)[1]
    return None


def _check_fixed(name: str, value: str | None) -> None:
    """Reject settings that would change how texts are read."""
    text = (value or "").casefold().replace("-", "").replace("_", "")
    if name in ("client_encoding", "names") and text not in ("utf8", "unicode", ""):
        raise WireError("0A000", "This server speaks UTF-8 only", "SET client_encoding = 'UTF8'")
    if name == "standard_conforming_strings" and text not in ("on", "true", "1", ""):
        raise WireError("0A000", "Backslashes in texts always stand for themselves here")
