"""A connection to a hollow PostgreSQL: passes messages of a client on, and the replies back."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

from discreet.server.pgwire.frames import (
    CANCEL_REQUEST,
    INT32,
    VERSION_3,
    FrameReader,
    ProtocolError,
    Stream,
    WireFrame,
    text,
)
from discreet.server.pgwire.hollow import ROLE
from discreet.server.pgwire.sqlstates import WireError

SECONDS = 10
"""That a statement may take; the database itself ends statements sooner."""

MOST = 1 << 24
"""Bytes of a message: longer ones would fill the memory of the server."""

FLUSH, SYNC = WireFrame(b"H", b""), WireFrame(b"S", b"")

ANY_TIME = frozenset([b"S", b"N", b"A"])
"""Replies that may come between others: settings, notices, notifications."""

ENDS: Mapping[bytes, frozenset[bytes]] = {
    b"P": frozenset([b"1"]),
    b"B": frozenset([b"2"]),
    b"D": frozenset([b"T", b"n"]),
    b"E": frozenset([b"C", b"I", b"s"]),
    b"C": frozenset([b"3"]),
}
"""The last reply to each message, if it does not fail."""


class HollowRefusedError(ConnectionRefusedError):
    """The hollow PostgreSQL rejects a connection: most likely, because of a setting."""

    def __init__(self, frame: WireFrame) -> None:
        super().__init__()
        self.frame = frame
        """What it says."""


class HollowLink:
    """A connection to a hollow PostgreSQL, for one client."""

    def __init__(self, path: Path, stream: Stream) -> None:
        self._path, self._stream = path, stream
        self._key = b""
        self.status = b"I"
        """Whether a transaction is open, or has failed."""
        self.settings: list[WireFrame] = []
        """What it said of its settings when the connection began."""
        self._is_dirty = False

    @classmethod
    async def open(cls, path: Path, database: str, settings: Mapping[str, str]) -> "HollowLink":
        """Connect with some settings; raise ConnectionError if it is not there."""
        reader, writer = await asyncio.open_unix_connection(str(path))
        link = cls(path, Stream(reader, writer))
        try:
            await link._sign_in({**settings, "user": ROLE, "database": database})
        except BaseException:
            link.close()
            raise
        return link

    async def _sign_in(self, given: Mapping[str, str]) -> None:
        pairs = b"".join(text(name) + text(value) for name, value in given.items())
        body = INT32.pack(VERSION_3) + pairs + b"\0"
        self._stream.write_letter(INT32.pack(len(body) + 4) + body)
        await self._stream.flush()
        async with asyncio.timeout(SECONDS):
            while True:
                frame = await self._stream.read(MOST)
                match frame.kind:
                    case b"Z":
                        return
                    case b"S":
                        self.settings.append(frame)
                    case b"K":
                        self._key = frame.body
                    case b"E":
                        raise HollowRefusedError(frame)

    async def ask(self, *sent: WireFrame) -> list[WireFrame]:
        """Send messages; return the replies up to that of the last message, or up to an error."""
        found: list[WireFrame] = []
        await self._exchange(sent, found)
        return found

    async def relay(
        self,
        *sent: WireFrame,
        to: Stream,
        offset: int = 0,
        is_simple: bool = False,
        is_empty: bool = False,
    ) -> WireFrame:
        """Send messages and pass the replies on; return the last one.

        A client of the simple protocol knows fewer replies. Places in errors count from an offset.
        Tables of the catalog may only be read by a statement that is empty by its text.
        """
        passed = _Passed(to=to, hidden=HIDDEN if is_simple else frozenset[bytes](), offset=offset)
        if not is_empty:
            return await self._exchange(sent, passed)
        last = await self._exchange(ALLOW, [])
        if last.kind == b"E":  # the transaction has failed
            passed.add(last)
            return last
        last = await self._exchange(sent, passed)
        if last.kind != b"E":  # an error undoes what was set
            await self._exchange(FORBID, [])
        return last

    async def _exchange(
        self, sent: Sequence[WireFrame], to: "list[WireFrame] | _Passed"
    ) -> WireFrame:
        self._is_dirty = True
        self._stream.write(*sent, FLUSH)
        await self._stream.flush()
        last = WireFrame(b"", b"")
        async with asyncio.timeout(SECONDS):
            for each in sent:
                last = await self._replies(ENDS[each.kind], to)
                if last.kind == b"E":
                    break
        return last

    async def _replies(self, ends: frozenset[bytes], to: "list[WireFrame] | _Passed") -> WireFrame:
        while True:
            frame = await self._stream.read(MOST)
            if isinstance(to, _Passed):
                to.add(frame)
                if not self._stream.has_read_ahead:
                    await to.to.flush()
            elif frame.kind not in ANY_TIME:
                to.append(frame)
            if frame.kind in ends or frame.kind == b"E":
                return frame

    async def sync(self) -> bytes:
        """End a round of messages; return whether a transaction is open."""
        if self._is_dirty:
            self._stream.write(SYNC)
            await self._stream.flush()
            async with asyncio.timeout(SECONDS):
                while (frame := await self._stream.read(MOST)).kind != b"Z":
                    pass
            self.status, self._is_dirty = frame.body, False
        return self.status

    async def cancel(self) -> None:
        """End the statement that runs."""
        with suppress(OSError):
            _, writer = await asyncio.open_unix_connection(str(self._path))
            writer.write(Struct("!ii").pack(16, CANCEL_REQUEST) + self._key)
            await writer.drain()
            writer.close()

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()


HIDDEN = frozenset([b"1", b"2", b"n"])
"""Replies that a client of the simple protocol does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passed:
    """A client that replies are passed on to."""

    to: Stream
    hidden: frozenset[bytes]
    offset: int

    def add(self, frame: WireFrame) -> None:
        if frame.kind not in self.hidden and frame.kind != b"A":
            self.to.write(told(frame, self.offset) if frame.kind == b"E" else frame)


NOT_SEEN = WireError(
    "0A000",
    "The statement reads a table of the catalog in a way that is not supported",
    "Write SELECT … FROM the name of the table",
)
BY_ROW_SECURITY = b"Rcheck_enable_rls"
"""Who has found out that a statement reads a table of the catalog."""


def told(error: WireFrame, offset: int) -> WireFrame:
    """Return an error of the hollow PostgreSQL as clients get it."""
    if BY_ROW_SECURITY in error.body.split(b"\0"):
        return NOT_SEEN.frame()
    return moved(error, offset)


def moved(error: WireFrame, offset: int) -> WireFrame:
    """Return an error whose place counts from the beginning of the text that was sent."""
    parts = error.body.rstrip(b"\0").split(b"\0")
    found = [
        b"P%d" % (int(each[1:]) + offset) if each[:1] == b"P" and each[1:].isdigit() else each
        for each in parts
    ]
    return WireFrame(b"E", b"\0".join(found) + b"\0\0")


def error_of(frame: WireFrame) -> WireError:
    """Return an error of the hollow PostgreSQL as one of ours."""
    parts = {each[:1]: each[1:].decode("utf-8", "replace") for each in frame.body.split(b"\0")}
    return WireError(parts.get(b"C", "XX000"), parts.get(b"M", ""), parts.get(b"H", ""))


def parse_frame(name: str, sql: str, types: tuple[int, ...] = ()) -> WireFrame:
    """Return the message that prepares a statement."""
    numbers = Struct(f"!H{len(types)}i").pack(len(types), *types)
    return WireFrame(b"P", text(name) + text(sql) + numbers)


BIND_TEXT = WireFrame(b"B", text("") + text("") + Struct("!HHH").pack(0, 0, 0))
DESCRIBE_PORTAL = WireFrame(b"D", b"P" + text(""))
EXECUTE_ALL = WireFrame(b"E", text("") + INT32.pack(0))


def _set_frames(value: str) -> tuple[WireFrame, ...]:
    """Return the messages that set whether tables of the catalog may be read, and leave nothing."""
    own = "discreet.reads"
    return (
        parse_frame(own, f"SET row_security = {value}"),
        WireFrame(b"B", text(own) + text(own) + Struct("!HHH").pack(0, 0, 0)),
        WireFrame(b"E", text(own) + INT32.pack(0)),
        WireFrame(b"C", b"P" + text(own)),
        WireFrame(b"C", b"S" + text(own)),
    )


ALLOW, FORBID = _set_frames("on"), _set_frames("off")


def describe_statement(name: str) -> WireFrame:
    """Return the message that asks for the types of a statement."""
    return WireFrame(b"D", b"S" + text(name))


def described(frames: Sequence[WireFrame]) -> tuple[tuple[int, ...], list[tuple[str, int]] | None]:
    """Return types of parameters, and names and types of columns, from replies."""
    types: tuple[int, ...] = ()
    columns: list[tuple[str, int]] | None = None
    for each in frames:
        reader = FrameReader(each.body)
        if each.kind == b"t":
            types = reader.numbers(INT32)
        elif each.kind == b"T":
            columns = []
            for _ in range(reader.number(Struct("!H"))):
                name = reader.text()
                _, _, type_, _, _, _ = Struct("!ihihih").unpack(reader.bytes_(18))
                columns.append((name, type_))
        elif each.kind == b"E":
            raise ProtocolError("The statement is not understood")
    return types, columns
