"""One connection of a client, from its first statement to its last.

Each statement is answered by Discreet, by the settings of the connection, or by the hollow
PostgreSQL, to which its messages are passed on as they are. The two protocols of PostgreSQL, simple
and extended, differ only in how statements arrive here. Statements of others are never seen.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from discreet.server.faults import error_of
from discreet.server.pgwire.desk import Desk, Shape, result_of, shape_of
from discreet.server.pgwire.frames import (
    BOUND,
    CLOSED,
    EMPTY,
    INT16,
    INT32,
    NO_DATA,
    PARSED,
    Frame,
    ProtocolError,
    Reader,
    Stream,
    formats_of,
    parameter_description,
    row_description,
)
from discreet.server.pgwire.hollow_link import (
    BIND_TEXT,
    DESCRIBE_PORTAL,
    EXECUTE_ALL,
    HollowLink,
    described,
    describe_statement,
    parse_frame,
)
from discreet.server.pgwire.lexer import (
    LexicalError,
    Statement,
    is_empty_by_text,
    placeholders,
    statements_of,
)
from discreet.server.pgwire.results import Result, column, copied_in, text_column
from discreet.server.pgwire.routing import (
    ROLLS_BACK,
    TRANSACTIONS,
    Known,
    Route,
    declared_in,
    explained_in,
    move_in,
    name_of,
    route_of,
    setting_in,
)
from discreet.server.pgwire.sqlstates import WireError, notice
from discreet.server.pgwire.values import TEXT, decoded, example
from discreet.server.pgwire.variables import PREFIX, READERS

T = TypeVar("T")

MOST_PREPARED = 1000
"""Prepared statements and portals that a connection may keep."""

MOST_PARAMETERS = 10_000

ROWS_AT_ONCE = 500
"""Rows that are written before it is waited for the client to read them."""

ABORTED = (
    "25P02",
    "The current transaction is aborted, and statements are ignored until it ends",
    "Send ROLLBACK",
)
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

    statement: Statement
    route: Route | None
    """None for an empty text."""
    query: Statement | None = None
    """What is asked of Discreet, which may be a part of the statement."""
    types: tuple[int, ...] = ()
    """Of placeholders."""
    names: tuple[str, ...] | None = None
    """Of columns, as PostgreSQL calls them."""
    shape: Shape | None = None
    """The columns that a client was told."""

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
    place: int = 0
    """Of a cursor: the row it is on, from 1; 0 is before the first."""


@dataclass(slots=True, kw_only=True)
class Connection:
    """A client that has signed in."""

    stream: Stream
    desk: Desk
    link: HollowLink
    open_scratch: Callable[[], Awaitable[HollowLink]]
    """Opens a second connection to the hollow PostgreSQL, on which statements may fail."""
    most_bytes: int
    is_stopping: Callable[[], bool]
    prepared: dict[str, Prepared] = field(default_factory=dict)
    portals: dict[str, Portal] = field(default_factory=dict)
    is_busy: bool = False
    _scratch: HollowLink | None = None
    _has_failed: bool = False
    """Whether the open transaction has failed."""
    _is_skipping: bool = False
    """Whether messages are ignored until the client says that a round of them ends."""
    _had_error: bool = False
    _work: "asyncio.Future[Any] | None" = None
    _is_cancelled: bool = False

    async def run(self) -> None:
        """Answer until the client goes."""
        try:
            while True:
                await self.stream.flush()
                self.is_busy = False
                if self.is_stopping():
                    return
                frame = await self.stream.read(self.most_bytes)
                self.is_busy = True
                if frame.kind == b"X":
                    return
                await self._handle(frame)
        finally:
            for each in (self.link, self._scratch):
                if each is not None:
                    each.close()

    async def _handle(self, frame: Frame) -> None:
        handle = HANDLERS.get(frame.kind)
        if handle is None:
            raise ProtocolError("A message is not known")
        if self._is_skipping and frame.kind != b"S":
            return
        try:
            await handle(self, Reader(frame.body), frame)
        except WireError as error:
            self._fail(error)
        except (ProtocolError, OSError, TimeoutError, asyncio.CancelledError):
            raise
        except Exception as error:  # noqa: BLE001 - the outer edge: fixed words, and a log
            told = error_of(error)
            self._fail(WireError("XX000", told.what, told.fix))
        if frame.kind == b"Q":
            await self._ready()

    def _fail(self, error: WireError) -> None:
        self.stream.write(error.frame())
        self._is_skipping = self._had_error = True
        if error.is_fatal:
            raise ConnectionResetError

    # ----------------------------------------------------------------------- rounds

    async def _sync(self, _: Reader, __: Frame) -> None:
        await self._ready()

    async def _ready(self) -> None:
        """End a round of messages, and say whether a transaction is open."""
        status = await self.link.sync()
        if status == b"I":
            self._has_failed = False
            self.portals = {k: v for k, v in self.portals.items() if v.is_cursor}
        elif self._had_error:
            self._has_failed = True
        self._is_skipping = self._had_error = False
        self.stream.write(Frame(b"Z", b"E" if self._has_failed else status))
        await self.stream.flush()

    async def _flush(self, _: Reader, __: Frame) -> None:
        await self.stream.flush()

    async def _ignored(self, _: Reader, __: Frame) -> None:
        """Ignore data of a COPY that was rejected."""

    async def _function(self, _: Reader, __: Frame) -> None:
        raise WireError("0A000", "Calls of functions by their numbers are not supported")

    # ----------------------------------------------------------------------- simple protocol

    async def _query(self, reader: Reader, _: Frame) -> None:
        statements = _statements(reader.text())
        if not statements:
            self.stream.write(EMPTY)
        for each in statements:
            prepared = await self._prepare(each, ())
            if prepared.is_hollow:
                is_done = await self._run_hollow(prepared)
                if not is_done:
                    return
                continue
            result = await self._result(Portal(prepared=prepared))
            count = len(result.columns or ())
            description = result.description((0,) * count)
            if description is not None:
                self.stream.write(description)
            await self._send(result, (0,) * count)

    async def _run_hollow(self, prepared: Prepared) -> bool:
        """Let the hollow PostgreSQL answer a statement; return whether it did."""
        text = self._hollow_text(prepared.statement)
        frames = (parse_frame("", text), BIND_TEXT, DESCRIBE_PORTAL, EXECUTE_ALL)
        offset = prepared.statement.offset
        last = await self.link.relay(*frames, to=self.stream, offset=offset, is_simple=True)
        if last.kind == b"E":
            self._had_error = True
            return False
        self._after(prepared.statement)
        return True

    # ----------------------------------------------------------------------- extended protocol

    async def _parse(self, reader: Reader, frame: Frame) -> None:
        name, sql, types = reader.text(), reader.text(), reader.numbers(INT32)
        statements = _statements(sql)
        if len(statements) > 1:
            raise WireError("42601", "A prepared statement must be one statement")
        if name and name in self.prepared:
            raise WireError("42P05", f'prepared statement "{name}" already exists')
        if len(self.prepared) >= MOST_PREPARED or len(types) > MOST_PARAMETERS:
            raise WireError("53000", "Too many prepared statements or parameters")
        if not statements:
            empty = Statement(text="", offset=0, words=())
            self.prepared[name] = Prepared(statement=empty, route=None)
            self.stream.write(PARSED)
            return
        prepared = await self._prepare(statements[0], types)
        if prepared.is_hollow:
            text = self._hollow_text(prepared.statement)
            sent = frame if text == prepared.statement.text else parse_frame(name, text, types)
            last = await self.link.relay(sent, to=self.stream)
            if last.kind == b"E":
                self._is_skipping = self._had_error = True
                return
        else:
            self.stream.write(PARSED)
        self.prepared[name] = prepared

    async def _bind(self, reader: Reader, frame: Frame) -> None:
        portal, name = reader.text(), reader.text()
        prepared = self._prepared(name)
        if len(self.portals) >= MOST_PREPARED:
            raise WireError("53000", "Too many portals are open")
        if prepared.is_hollow:
            await self._relayed(frame)
            self.portals[portal] = Portal(prepared=prepared)
            return
        forms, given = reader.numbers(INT16), reader.values()
        formats = reader.numbers(INT16)
        if len(given) != len(prepared.types):
            what = f"{len(given)} parameters were sent, and the statement has {len(prepared.types)}"
            raise WireError("08P01", what)
        self.portals[portal] = Portal(
            prepared=prepared,
            values=_values(given, prepared.types, formats_of(forms, len(given))),
            formats=formats,
        )
        self.stream.write(BOUND)

    async def _describe(self, reader: Reader, frame: Frame) -> None:
        kind, name = reader.bytes_(1), reader.text()
        if kind == b"S":
            prepared = self._prepared(name)
            if prepared.is_hollow:
                await self._relayed(frame)
                return
            self.stream.write(parameter_description(prepared.types))
            shape = prepared.shape = await self._shape(prepared, None)
            formats: Sequence[int] = ()
        else:
            portal = self._portal(name)
            if portal.prepared.is_hollow:
                await self._relayed(frame)
                return
            shape = portal.shape = portal.prepared.shape or await self._shape(
                portal.prepared, portal.values
            )
            formats = portal.formats
        if shape is None:
            self.stream.write(NO_DATA)
        else:
            codes = formats_of(formats, len(shape.columns))
            self.stream.write(row_description(shape.columns, codes))

    async def _execute(self, reader: Reader, frame: Frame) -> None:
        portal, most = self._portal(reader.text()), reader.number(INT32)
        if portal.prepared.is_hollow:
            if await self._relayed(frame):
                self._after(portal.prepared.statement)
            return
        if portal.prepared.route is None:
            self.stream.write(EMPTY)
            return
        if portal.result is None:
            portal.result = await self._result(portal)
        formats = formats_of(portal.formats, len(portal.result.columns or ()))
        await self._send(portal.result, formats, most)

    async def _close(self, reader: Reader, frame: Frame) -> None:
        kind, name = reader.bytes_(1), reader.text()
        known: dict[str, Any] = self.prepared if kind == b"S" else self.portals
        found = known.pop(name, None)
        is_hollow = (
            found.prepared.is_hollow
            if isinstance(found, Portal)
            else (found is None or found.is_hollow)
        )
        if is_hollow:
            await self._relayed(frame)
        else:
            self.stream.write(CLOSED)

    async def _relayed(self, frame: Frame) -> bool:
        """Pass a message on to the hollow PostgreSQL; return whether it had no error."""
        last = await self.link.relay(frame, to=self.stream)
        if last.kind == b"E":
            self._is_skipping = self._had_error = True
        return last.kind != b"E"

    def _prepared(self, name: str) -> Prepared:
        if name not in self.prepared:
            raise WireError("26000", f'prepared statement "{name}" does not exist')
        return self.prepared[name]

    def _portal(self, name: str) -> Portal:
        if name not in self.portals:
            raise WireError("34000", f'portal "{name}" does not exist')
        return self.portals[name]

    # ----------------------------------------------------------------------- what a statement is

    async def _prepare(self, statement: Statement, types: Sequence[int]) -> Prepared:
        """Find out who answers a statement, and what it asks of Discreet."""
        if self._has_failed and statement.verb not in TRANSACTIONS:
            raise WireError(*ABORTED)
        known = Known(
            tables=self.desk.tables,
            cursors=frozenset(k for k, v in self.portals.items() if v.is_cursor),
            statements=frozenset(k for k, v in self.prepared.items() if not v.is_hollow),
        )
        route = route_of(statement, known)
        match route:
            case Route.ASK:
                query: Statement | None = statement
            case Route.EXPLAIN:
                query = explained_in(statement)[0]
            case Route.COPY:
                query = copied_in(statement)[0]
            case Route.DECLARE:
                query = declared_in(statement)[1]
            case _:
                return Prepared(statement=statement, route=route, types=tuple(types))
        inferred, columns = await self._inferred(query, types)
        if route is Route.ASK and is_empty_by_text(statement) and columns is not None:
            return Prepared(statement=statement, route=Route.HOLLOW, types=tuple(types))
        return Prepared(
            statement=statement,
            route=route,
            query=query,
            types=inferred,
            names=None if columns is None else tuple(name for name, _ in columns),
        )

    async def _inferred(
        self, query: Statement, types: Sequence[int]
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

    async def _second_link(self) -> HollowLink:
        if self._scratch is None:
            self._scratch = await self.open_scratch()
        return self._scratch

    def _hollow_text(self, statement: Statement) -> str:
        """Return what is sent on: a transaction that failed here is not committed there."""
        if self._has_failed and statement.verb in ("commit", "end"):
            return "ROLLBACK"
        return statement.text

    def _after(self, statement: Statement) -> None:
        """Let settings and cursors follow a transaction that began or ended."""
        verb = statement.verb
        is_partial = any(each.text == "to" for each in statement.words[1:])
        if verb in ("begin", "start"):
            self.desk.variables.begin()
        elif verb in ("commit", "end") or (verb in ROLLS_BACK and not is_partial):
            is_committed = verb not in ROLLS_BACK and not self._has_failed
            self.desk.variables.end(is_committed=is_committed)
            self.portals = {k: v for k, v in self.portals.items() if not v.is_cursor}
            self._has_failed = self._had_error = False
        elif verb in ROLLS_BACK:
            self._has_failed = self._had_error = False

    async def _shape(self, prepared: Prepared, values: Sequence[Any] | None) -> Shape | None:
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
                cursor = self._portal(move_in(prepared.statement).cursor)
                shape = cursor.shape = cursor.shape or await self._shape(
                    cursor.prepared, cursor.values
                )
                return shape
        return None

    async def _asked_shape(
        self, prepared: Prepared, query: Statement, values: Sequence[Any] | None
    ) -> Shape:
        is_on = self.desk.variables.is_on("intervals")
        given = values if values is not None else [example(each) for each in prepared.types]
        columns = await self._cancellable(self.desk.columns(query, given, self._is_gone))
        return shape_of(columns, prepared.names, is_on)

    # ----------------------------------------------------------------------- results

    async def _result(self, portal: Portal) -> Result:
        """Run what is not for the hollow PostgreSQL."""
        prepared = portal.prepared
        match prepared.route:
            case Route.ASK if prepared.query is not None:
                return await self._asked(portal, prepared.query)
            case Route.COPY if prepared.query is not None:
                result = await self._asked(portal, prepared.query)
                result.copy = copied_in(prepared.statement)[1]
                return result
            case Route.EXPLAIN if prepared.query is not None:
                return await self._explained(portal, prepared.query)
            case Route.DECLARE if prepared.query is not None:
                return self._declared(portal)
            case Route.FETCH:
                return await self._fetched(prepared.statement)
        if prepared.statement.words[-1].text == "all":  # of its own as well
            text = prepared.statement.text
            await self.link.ask(parse_frame("", text), BIND_TEXT, EXECUTE_ALL)
        return LOCAL[prepared.route](self, prepared.statement)

    async def _asked(self, portal: Portal, query: Statement) -> Result:
        if is_empty_by_text(query):  # and PostgreSQL does not understand it
            shape = portal.shape or await self._asked_shape(portal.prepared, query, portal.values)
            return Result(tag="SELECT", columns=shape.columns)
        answer, notices = await self._cancellable(
            self.desk.ask(query, portal.values, self._is_gone)
        )
        return result_of(
            answer,
            notices,
            names=portal.prepared.names,
            has_intervals=self.desk.variables.is_on("intervals"),
            shape=portal.shape or portal.prepared.shape,
        )

    async def _explained(self, portal: Portal, query: Statement) -> Result:
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
        self.portals[name] = Portal(prepared=asked, values=portal.values, is_cursor=True)
        return Result(tag="DECLARE CURSOR")

    async def _fetched(self, statement: Statement) -> Result:
        move = move_in(statement)
        cursor = self._portal(move.cursor)
        is_first = cursor.result is None
        if cursor.result is None:
            cursor.result = await self._result(cursor)
        rows, notices = cursor.result.rows, cursor.result.notices if is_first else ()
        first, last, cursor.place = _span(move.count, cursor.place, len(rows), move)
        found = rows[first:last]
        if (move.count or 0) < 0 and not move.is_absolute and not move.is_relative:
            found = list(reversed(found))
        if not move.is_shown:
            return Result(tag=f"MOVE {len(found)}", notices=notices)
        return Result(tag="FETCH", columns=cursor.result.columns, rows=found, notices=notices)

    async def _send(self, result: Result, formats: Sequence[int], most: int = 0) -> None:
        for i, each in enumerate(result.frames(formats, most)):
            self.stream.write(each)
            if i % ROWS_AT_ONCE == ROWS_AT_ONCE - 1:
                await self.stream.flush()

    # ----------------------------------------------------------------------- settings

    def _set(self, statement: Statement) -> Result:
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

    def _reset(self, statement: Statement) -> Result:
        name = name_of(statement.words[1:])
        if name == "all" or name.startswith(PREFIX):
            self.desk.variables.reset(None if name == "all" else name)
        return Result(tag="RESET")

    def _show(self, statement: Statement) -> Result:
        name = name_of(statement.words[1:])
        if name not in READERS:
            hint = f"Settings are {', '.join(READERS)}"
            raise WireError("42704", f"There is no setting {name}", hint)
        value = self.desk.variables.get(name)
        columns = (column(name, TEXT),)
        return Result(tag="SHOW", columns=columns, rows=[(value or "",)])

    def _close_cursors(self, statement: Statement) -> Result:
        name = statement.words[-1].text
        gone = [k for k, v in self.portals.items() if v.is_cursor and name in (k, "all")]
        for each in gone:
            del self.portals[each]
        return Result(tag="CLOSE CURSOR ALL" if name == "all" else "CLOSE CURSOR")

    def _deallocate(self, statement: Statement) -> Result:
        name = statement.words[-1].text
        if name == "all":
            self.prepared.clear()
            return Result(tag="DEALLOCATE ALL")
        del self.prepared[name]
        return Result(tag="DEALLOCATE")

    def _discard(self, _: Statement) -> Result:
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
        elif self.is_busy:
            await self.link.cancel()

    async def _cancellable(self, work: Awaitable[T]) -> T:
        self._work, self._is_cancelled = asyncio.ensure_future(work), False
        try:
            return await self._work
        except asyncio.CancelledError:
            if self._is_cancelled:
                raise WireError(*CANCELLED) from None
            self._work.cancel()
            raise
        finally:
            self._work = None

    async def _is_gone(self) -> bool:
        return self.stream.is_gone


def _statements(text: str) -> list[Statement]:
    try:
        return statements_of(text)
    except LexicalError as error:
        raise WireError("42601", str(error)) from None


def _values(
    given: Sequence[bytes | None], types: Sequence[int], forms: Sequence[int]
) -> tuple[Any, ...]:
    found = []
    for i, each in enumerate(zip(given, types, forms, strict=True), 1):
        try:
            found.append(decoded(*each))
        except (ValueError, ProtocolError):
            what = f"Parameter ${i} is not a value of its type"
            raise WireError("22P02", what, "NaN and infinity are not accepted either") from None
    return tuple(found)


def _check_fixed(name: str, value: str | None) -> None:
    """Reject settings that would change how texts are read."""
    text = (value or "").casefold().replace("-", "").replace("_", "")
    if name in ("client_encoding", "names") and text not in ("utf8", "unicode", ""):
        raise WireError("0A000", "This server speaks UTF-8 only", "SET client_encoding = 'UTF8'")
    if name == "standard_conforming_strings" and text not in ("on", "true", "1", ""):
        raise WireError("0A000", "Backslashes in texts always stand for themselves here")


def _span(count: int | None, place: int, total: int, move: Any) -> tuple[int, int, int]:
    """Return the first and last row to fetch, and where a cursor is then."""
    if move.is_absolute or move.is_relative:
        wanted = (count or 0) + place if move.is_relative else (count or 0)
        if wanted < 0 and move.is_absolute:
            wanted += total + 1
        wanted = max(0, min(total + 1, wanted))
        inside = 1 <= wanted <= total
        return (wanted - 1, wanted, wanted) if inside else (0, 0, wanted)
    if count is None:
        return min(place, total), total, total + 1
    if count >= 0:
        last = min(total, place + count)
        return min(place, total), last, last if place + count <= total else total + 1
    first = max(0, place - 1 + count)
    return first, max(0, place - 1), max(0, place + count)


HANDLERS: dict[bytes, Callable[[Connection, Reader, Frame], Awaitable[None]]] = {
    b"Q": Connection._query,
    b"P": Connection._parse,
    b"B": Connection._bind,
    b"D": Connection._describe,
    b"E": Connection._execute,
    b"C": Connection._close,
    b"S": Connection._sync,
    b"H": Connection._flush,
    b"F": Connection._function,
    b"d": Connection._ignored,
    b"c": Connection._ignored,
    b"f": Connection._ignored,
}
"""What is done with each message."""

LOCAL: dict[Route | None, Callable[[Connection, Statement], Result]] = {
    Route.SET: Connection._set,
    Route.RESET: Connection._reset,
    Route.SHOW: Connection._show,
    Route.CLOSE: Connection._close_cursors,
    Route.DEALLOCATE: Connection._deallocate,
    Route.DISCARD: Connection._discard,
}
"""Statements about the connection itself."""
