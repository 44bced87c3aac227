"""Messages of the PostgreSQL protocol: reading them within limits, and writing them.

Section 55 of PostgreSQL's documentation describes them. A message is a letter, the length of the
rest, and the rest; the first one of a connection has no letter. Nothing is read that is longer than
its limit, and a message that is not well formed ends the connection.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct, error

INT16, INT32, UINT16 = Struct("!h"), Struct("!i"), Struct("!H")

SSL_REQUEST, GSS_REQUEST, CANCEL_REQUEST = 80877103, 80877104, 80877102
"""What stands in the place of a version in the first message."""

VERSION_3 = 3 << 16

MOST_STARTUP = 10_000
"""Bytes of the first message; PostgreSQL has the same limit."""

AT_ONCE = 1 << 16
"""Bytes that are read at once."""

MOST_PASSWORD = 4_096
"""Bytes of a message while somebody signs in."""


class ProtocolError(Exception):
    """A message that no client sends: the connection is closed."""


@dataclass(frozen=True, slots=True)
class WireFrame:
    """A message: its letter and its content."""

    kind: bytes
    body: bytes

    def to_bytes(self) -> bytes:
        """Return it as it is sent."""
        return self.kind + INT32.pack(len(self.body) + 4) + self.body


class FrameReader:
    """Reads the parts of a message; anything that is missing is a ProtocolError."""

    def __init__(self, body: bytes) -> None:
        self._body, self._place = body, 0

    def text(self) -> str:
        """Return a text that ends with a zero byte."""
        end = self._body.find(b"\0", self._place)
        if end < 0:
            raise ProtocolError("A text has no end")
        found, self._place = self._body[self._place : end], end + 1
        try:
            return found.decode()
        except UnicodeDecodeError:
            raise ProtocolError("A text is not UTF-8") from None

    def bytes_(self, count: int) -> bytes:
        """Return so many bytes."""
        if count < 0 or self._place + count > len(self._body):
            raise ProtocolError("A message is too short")
        self._place += count
        return self._body[self._place - count : self._place]

    def number(self, form: Struct) -> int:
        """Return a number."""
        try:
            (found,) = form.unpack(self.bytes_(form.size))
        except error:
            raise ProtocolError("A message is too short") from None
        return int(found)

    def numbers(self, form: Struct) -> tuple[int, ...]:
        """Return a list of numbers, which begins with their number."""
        return tuple(self.number(form) for _ in range(self.number(UINT16)))

    def values(self) -> tuple[bytes | None, ...]:
        """Return a list of values, each with its length; None is NULL."""
        return tuple(self._value() for _ in range(self.number(UINT16)))

    def _value(self) -> bytes | None:
        length = self.number(INT32)
        return None if length == -1 else self.bytes_(length)

    def rest(self) -> bytes:
        """Return all that was not read."""
        return self.bytes_(len(self._body) - self._place)

    @property
    def is_at_end(self) -> bool:
        """Whether all was read."""
        return self._place >= len(self._body)


class Stream:
    """The messages of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._read = bytearray()
        """What came and belongs to messages that were not asked for yet."""

    async def first(self) -> tuple[int, bytes]:
        """Return the code and the content of a message without a letter."""
        length, code = Struct("!ii").unpack(await self._exactly(8))
        if not 8 <= length <= MOST_STARTUP:
            raise ProtocolError("The first message has a wrong length")
        return code, await self._exactly(length - 8)

    async def read(self, most: int) -> WireFrame:
        """Return the next message; of one that is too long, only its letter is read."""
        head = await self._exactly(5)
        (length,) = INT32.unpack(head[1:])
        if not 4 <= length <= most + 4:
            raise ProtocolError("A message is too long")
        return WireFrame(head[:1], await self._exactly(length - 4))

    async def _exactly(self, count: int) -> bytes:
        while len(self._read) < count:
            more = await self._reader.read(AT_ONCE)
            if not more:
                raise ConnectionResetError
            self._read += more
        found = bytes(self._read[:count])
        del self._read[:count]
        return found

    def write(self, *frames: WireFrame) -> None:
        """Send messages, at the latest with the next `flush`."""
        for each in frames:
            self._writer.write(each.to_bytes())

    async def flush(self) -> None:
        """Wait until most of what was sent is on its way."""
        await self._writer.drain()

    def write_letter(self, letter: bytes) -> None:
        """Send the reply to a request for encryption."""
        self._writer.write(letter)

    @property
    def is_gone(self) -> bool:
        """Whether the other side has closed the connection."""
        return self._reader.at_eof() or self._writer.is_closing()

    @property
    def has_read_ahead(self) -> bool:
        """Whether bytes of the next message are here already."""
        return bool(self._read)

    @property
    def has_unread(self) -> bool:
        """Whether bytes came that were not read."""
        return bool(self._read or self._reader._buffer)  # type: ignore[attr-defined]  # noqa: SLF001 - no other way

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()


def text(value: str) -> bytes:
    """Return a text with a zero byte at its end; it has none inside."""
    return value.replace("\0", "").encode("utf-8", "backslashreplace") + b"\0"


def fields(kind: bytes, content: Mapping[str, str]) -> WireFrame:
    """Return an error or a notice."""
    parts = [name.encode() + text(value) for name, value in content.items() if value]
    return WireFrame(kind, b"".join(parts) + b"\0")


@dataclass(frozen=True, slots=True, kw_only=True)
class WireColumn:
    """A column of a result, as clients see it."""

    name: str
    type: int
    size: int = -1


def row_description(columns: Sequence[WireColumn], formats: Sequence[int]) -> WireFrame:
    """Return names and types of columns, and whether each is text or binary."""
    body = [UINT16.pack(len(columns))]
    for column, form in zip(columns, formats, strict=True):
        numbers = Struct("!ihihih").pack(0, 0, column.type, column.size, -1, form)
        body.append(text(column.name) + numbers)
    return WireFrame(b"T", b"".join(body))


def data_row(values: Iterable[bytes | None]) -> WireFrame:
    """Return a row."""
    found = list(values)
    parts = [INT32.pack(-1) if each is None else INT32.pack(len(each)) + each for each in found]
    return WireFrame(b"D", UINT16.pack(len(found)) + b"".join(parts))


def complete(tag: str) -> WireFrame:
    """Return that a statement is done."""
    return WireFrame(b"C", text(tag))


def parameter_status(name: str, value: str) -> WireFrame:
    """Return what a setting of the connection is."""
    return WireFrame(b"S", text(name) + text(value))


def parameter_description(types: Sequence[int]) -> WireFrame:
    """Return the types of parameters."""
    return WireFrame(b"t", UINT16.pack(len(types)) + b"".join(map(INT32.pack, types)))


PARSED, BOUND, CLOSED, NO_DATA = (WireFrame(each, b"") for each in (b"1", b"2", b"3", b"n"))
SUSPENDED, EMPTY, COPY_DONE = (WireFrame(each, b"") for each in (b"s", b"I", b"c"))


def formats_of(given: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the format of each of so many values: none stands for text, one stands for all."""
    if len(given) not in (0, 1, count) or not set(given) <= {0, 1}:
        raise ProtocolError("Formats and columns differ in number")
    return tuple(given) * (count if len(given) == 1 else 1) if given else (0,) * count
