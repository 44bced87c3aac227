"""One connection of a client, from its first message to its last.

The two protocols of PostgreSQL, simple and extended, differ only in how statements arrive. Messages
about statements of the hollow PostgreSQL are passed on to it as they are, and its replies back.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.server.faults import error_of
from discreet.server.pgwire.frames import (
    BOUND,
    CLOSED,
    EMPTY,
    INT16,
    INT32,
    NO_DATA,
    PARSED,
    FrameReader,
    ProtocolError,
    Stream,
    WireFrame,
    formats_of,
    parameter_description,
    row_description,
)
from discreet.server.pgwire.hollow_link import (
    BIND_TEXT,
    DESCRIBE_PORTAL,
    EXECUTE_ALL,
    parse_frame,
)
from discreet.server.pgwire.lexer import LexicalError, SqlStatement, statements_of
from discreet.server.pgwire.results import Result
from discreet.server.pgwire.routing import ENDS_TRANSACTION
from discreet.server.pgwire.sqlstates import WireError
from discreet.server.pgwire.statements import MOST_PARAMETERS, Portal, Prepared, Session
from discreet.server.pgwire.values import decoded

MOST_PREPARED, MOST_PORTALS = 1000, 100
"""Prepared statements and portals that a connection may keep."""

MOST_KEPT = 1 << 26
"""Bytes that all prepared statements of a connection may take."""

LONG_TEXT = 10_000
"""Characters of a text that is divided into words in a thread, while others are served."""

ROWS_AT_ONCE = 500
"""Rows that are written before it is waited for the client to read them."""

ABORTED = (
    "25P02",
    "The current transaction is aborted, and statements are ignored until it ends",
    "Send ROLLBACK",
)


@dataclass(slots=True, kw_only=True)
class ClientConnection:
    """A client that has signed in."""

    stream: Stream
    session: Session
    most_bytes: int
    is_stopping: Callable[[], bool]
    is_busy: bool = False
    _is_skipping: bool = False
    """Whether messages are ignored until the client says that a round of them ends."""
    _had_error: bool = False

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
            self.session.close()

    async def cancel(self) -> None:
        """Give up the statement that runs."""
        if self.is_busy:
            await self.session.cancel()

    async def _handle(self, frame: WireFrame) -> None:
        handle = self._handlers().get(frame.kind)
        if handle is None:
            raise ProtocolError("A message is not known")
        if self._is_skipping and frame.kind != b"S":
            return
        self.session.desk.variables.begin()
        try:
            await handle(FrameReader(frame.body), frame)
        except WireError as error:
            self._fail(error)
        except (ProtocolError, OSError, TimeoutError, asyncio.CancelledError):
            raise
        except Exception as error:  # noqa: BLE001 - the outer edge: fixed words, and a log
            told = error_of(error)
            self._fail(WireError("XX000", told.what, told.fix))
        if frame.kind == b"Q":
            await self._ready()

    def _handlers(self) -> "dict[bytes, Callable[[FrameReader, WireFrame], Awaitable[None]]]":
        """Return what is done with each message."""
        return {
            b"Q": self._query,
            b"P": self._parse,
            b"B": self._bind,
            b"D": self._describe,
            b"E": self._execute,
            b"C": self._close,
            b"S": self._sync,
            b"H": self._flush,
            b"F": self._function,
            **dict.fromkeys((b"d", b"c", b"f"), self._ignored),
        }

    def _fail(self, error: WireError) -> None:
        self.stream.write(error.frame())
        self._is_skipping = self._had_error = True
        if error.is_fatal:
            raise ConnectionResetError

    # ----------------------------------------------------------------------- rounds

    async def _sync(self, _: FrameReader, __: WireFrame) -> None:
        await self._ready()

    async def _ready(self) -> None:
        """End a round of messages, and say whether a transaction is open."""
        status = await self.session.link.sync()
        if status == b"I":
            self.session.has_failed = False
            self.session.desk.variables.end(is_committed=not self._had_error)
            self.session.portals = {k: v for k, v in self.session.portals.items() if v.is_cursor}
        elif self._had_error:
            self.session.has_failed = True
        self._is_skipping = self._had_error = False
        self.stream.write(WireFrame(b"Z", b"E" if self.session.has_failed else status))
        await self.stream.flush()

    async def _flush(self, _: FrameReader, __: WireFrame) -> None:
        await self.stream.flush()

    async def _ignored(self, _: FrameReader, __: WireFrame) -> None:
        """Ignore data of a COPY that was rejected."""

    async def _function(self, _: FrameReader, __: WireFrame) -> None:
        raise WireError("0A000", "Calls of functions by their numbers are not supported")

    # ----------------------------------------------------------------------- simple protocol

    async def _query(self, reader: FrameReader, _: WireFrame) -> None:
        statements = await _statements(reader.text())
        self.session.forget_unnamed()
        if not statements:
            self.stream.write(EMPTY)
        for each in statements:
            await asyncio.sleep(0)  # others have their turn
            prepared = await self._prepare(each, ())
            if prepared.is_hollow:
                is_done = await self._run_hollow(prepared)
                if not is_done:
                    return
                continue
            result = await self.session.result(Portal(prepared=prepared))
            count = len(result.columns or ())
            description = result.description((0,) * count)
            if description is not None:
                self.stream.write(description)
            await self._send(result, (0,) * count)

    async def _run_hollow(self, prepared: Prepared) -> bool:
        """Let the hollow PostgreSQL answer a statement; return whether it did."""
        text = self.session.hollow_text(prepared.statement)
        frames = (parse_frame("", text), BIND_TEXT, DESCRIBE_PORTAL, EXECUTE_ALL)
        offset = prepared.statement.offset
        last = await self.session.link.relay(
            *frames, to=self.stream, offset=offset, is_simple=True, is_empty=prepared.is_empty
        )
        if last.kind == b"E":
            self._had_error = True
            return False
        self.session.after(prepared.statement)
        return True

    # ----------------------------------------------------------------------- extended protocol

    async def _parse(self, reader: FrameReader, frame: WireFrame) -> None:
        name, sql, types = reader.text(), reader.text(), reader.numbers(INT32)
        if not name:
            self.session.prepared.pop("", None)
        statements = await _statements(sql)
        if len(statements) > 1:
            raise WireError("42601", "A prepared statement must be one statement")
        if name and name in self.session.prepared:
            raise WireError("42P05", f'prepared statement "{name}" already exists')
        if len(self.session.prepared) >= MOST_PREPARED or len(types) > MOST_PARAMETERS:
            raise WireError("53000", "Too many prepared statements or parameters")
        if not statements:
            empty = SqlStatement(text="", offset=0, words=())
            self.session.prepared[name] = Prepared(statement=empty, route=None)
            self.stream.write(PARSED)
            return
        prepared = await self._prepare(statements[0], types)
        others = sum(each.size for each in self.session.prepared.values())
        if others and others + prepared.size > MOST_KEPT:
            raise WireError("53000", "The prepared statements of this connection are too long")
        if prepared.is_hollow:
            text = self.session.hollow_text(prepared.statement)
            sent = frame if text == prepared.statement.text else parse_frame(name, text, types)
            if not await self._relayed(sent, prepared):
                return
        else:
            self.stream.write(PARSED)
        self.session.prepared[name] = prepared

    async def _bind(self, reader: FrameReader, frame: WireFrame) -> None:
        portal, name = reader.text(), reader.text()
        prepared = self._prepared(name)
        self._check_transaction(prepared.statement)
        if portal and portal in self.session.portals:
            raise WireError("42P03", f'cursor "{portal}" already exists')
        if len(self.session.portals) >= MOST_PORTALS:
            raise WireError("53000", "Too many portals are open")
        if prepared.is_hollow:
            if await self._relayed(frame, prepared):
                self.session.portals[portal] = Portal(prepared=prepared)
            return
        forms, given = reader.numbers(INT16), reader.values()
        formats = reader.numbers(INT16)
        if len(given) != len(prepared.types):
            what = f"{len(given)} parameters were sent, and the statement has {len(prepared.types)}"
            raise WireError("08P01", what)
        self.session.portals[portal] = Portal(
            prepared=prepared,
            values=_values(given, prepared.types, formats_of(forms, len(given))),
            formats=formats,
        )
        self.stream.write(BOUND)

    async def _describe(self, reader: FrameReader, frame: WireFrame) -> None:
        kind, name = reader.bytes_(1), reader.text()
        if kind == b"S":
            prepared = self._prepared(name)
            if prepared.is_hollow:
                await self._relayed(frame, prepared)
                return
            self.stream.write(parameter_description(prepared.types))
            shape = prepared.shape = await self.session.shape(prepared, None)
            formats: Sequence[int] = ()
        else:
            portal = self.session.portal(name)
            if portal.prepared.is_hollow:
                await self._relayed(frame, portal.prepared)
                return
            shape = portal.shape = portal.prepared.shape or await self.session.shape(
                portal.prepared, portal.values
            )
            formats = portal.formats
        if shape is None:
            self.stream.write(NO_DATA)
        else:
            codes = formats_of(formats, len(shape.columns))
            self.stream.write(row_description(shape.columns, codes))

    async def _execute(self, reader: FrameReader, frame: WireFrame) -> None:
        portal, most = self.session.portal(reader.text()), reader.number(INT32)
        statement = portal.prepared.statement
        self._check_transaction(statement)
        if portal.prepared.is_hollow:
            is_undone = self.session.hollow_text(statement) != statement.text
            if await (self._rolled_back() if is_undone else self._relayed(frame, portal.prepared)):
                self.session.after(statement)
            return
        if portal.prepared.route is None:
            self.stream.write(EMPTY)
            return
        if portal.result is None:
            portal.result = await self.session.result(portal)
        formats = formats_of(portal.formats, len(portal.result.columns or ()))
        await self._send(portal.result, formats, most)

    async def _close(self, reader: FrameReader, frame: WireFrame) -> None:
        kind, name = reader.bytes_(1), reader.text()
        known: dict[str, Any] = self.session.prepared if kind == b"S" else self.session.portals
        found = known.pop(name, None)
        is_hollow = (
            found.prepared.is_hollow
            if isinstance(found, Portal)
            else (found is None or found.is_hollow)
        )
        if is_hollow:
            await self._relayed(frame, None)
        else:
            self.stream.write(CLOSED)

    async def _relayed(self, frame: WireFrame, prepared: Prepared | None) -> bool:
        """Pass a message on to the hollow PostgreSQL; return whether it had no error."""
        is_empty = prepared is not None and prepared.is_empty
        return self._is_good(
            await self.session.link.relay(frame, to=self.stream, is_empty=is_empty)
        )

    async def _rolled_back(self) -> bool:
        """End a transaction that failed here, in place of a COMMIT that was prepared before."""
        self.session.forget_unnamed()
        frames = (parse_frame("", "ROLLBACK"), BIND_TEXT, EXECUTE_ALL)
        return self._is_good(await self.session.link.relay(*frames, to=self.stream, is_simple=True))

    def _is_good(self, last: WireFrame) -> bool:
        """Return whether the last reply of the hollow PostgreSQL is no error."""
        if last.kind == b"E":
            self._is_skipping = self._had_error = True
        return last.kind != b"E"

    def _prepared(self, name: str) -> Prepared:
        if name not in self.session.prepared:
            raise WireError("26000", f'prepared statement "{name}" does not exist')
        return self.session.prepared[name]

    async def _prepare(self, statement: SqlStatement, types: Sequence[int]) -> Prepared:
        self._check_transaction(statement)
        return await self.session.prepare(statement, types)

    def _check_transaction(self, statement: SqlStatement) -> None:
        """Reject what is not the end of a transaction that has failed."""
        if self.session.has_failed and statement.verb not in ENDS_TRANSACTION:
            raise WireError(*ABORTED)

    async def _send(self, result: Result, formats: Sequence[int], most: int = 0) -> None:
        for i, each in enumerate(result.frames(formats, most)):
            self.stream.write(each)
            if i % ROWS_AT_ONCE == ROWS_AT_ONCE - 1:
                await self.stream.flush()


async def _statements(text: str) -> list[SqlStatement]:
    try:
        if len(text) > LONG_TEXT:
            return await asyncio.to_thread(statements_of, text)
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
