"""Accepts connections of PostgreSQL's clients: encryption, limits, cancelling."""

import asyncio
import socket
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hmac import compare_digest
from itertools import count
from struct import Struct
from typing import Any

from discreet.noise import SYSTEM
from discreet.server.admission import Turns
from discreet.server.asking import QueryRunner
from discreet.server.callers import Caller
from discreet.server.faults import CallError
from discreet.server.pgwire.connection import ClientConnection
from discreet.server.pgwire.desk import AccountDesk
from discreet.server.pgwire.frames import (
    CANCEL_REQUEST,
    GSS_REQUEST,
    INT32,
    SSL_REQUEST,
    VERSION_3,
    FrameReader,
    ProtocolError,
    Stream,
    WireFrame,
    parameter_status,
    text,
)
from discreet.server.pgwire.hollow import Hollow, HollowError
from discreet.server.pgwire.hollow_link import HollowLink, HollowRefusedError
from discreet.server.pgwire.sign_in import ClientGreeting, asked_in, caller_of
from discreet.server.pgwire.sqlstates import WireError
from discreet.server.pgwire.statements import Session
from discreet.server.pgwire.variables import Variables
from discreet.server.settings import Settings
from discreet.server.signing import SignIns
from discreet.server.sites import Site

OK = WireFrame(b"R", INT32.pack(0))

CLOSING = ("57P01", "The server is shutting down", "Connect again in a few seconds")
CROWDED = ("53300", "Too many connections are open", "Close some, or connect again later")
UNENCRYPTED = (
    "28000",
    "This server accepts encrypted connections only",
    "Connect with sslmode=require, or better sslmode=verify-full",
)
FORBIDDEN = {"row_security": "off"}
"""Makes the hollow PostgreSQL reject statements that read tables of the catalog."""

NOT_DESCRIBED = (
    "58000",
    "The tables cannot be described to SQL clients at the moment",
    "Tell the data owner",
)


@dataclass(slots=True, kw_only=True)
class Listener:
    """Accepts connections, and knows those that are open."""

    settings: Settings
    heard: socket.socket
    """Where it listens."""
    hollows: dict[str, tuple[Site, Hollow]] = field(default_factory=dict)
    """The databases that describe tables, by the names of catalogs."""
    tls: Any = None
    """The context of encrypted connections, if there is one."""
    _server: asyncio.Server | None = None
    _tasks: "set[asyncio.Task[None]]" = field(default_factory=set)
    _open: dict[int, tuple[bytes, ClientConnection]] = field(default_factory=dict)
    """Connections that have signed in, by their numbers, with the keys for cancelling."""
    _per_account: Counter[str] = field(default_factory=Counter)
    _numbers: "count[int]" = field(default_factory=lambda: count(1))
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _is_stopping: bool = False
    _sign_ins: SignIns | None = None

    @property
    def sign_ins(self) -> SignIns:
        """Who may sign in, once it has started."""
        if self._sign_ins is None:
            raise TypeError("the listener has not started")
        return self._sign_ins

    def describe(self, sites: Iterable[Site]) -> None:
        """Make the databases that describe the tables of catalogs, before anybody connects."""
        for site in sites:
            self._make(site)

    def _make(self, site: Site) -> Hollow:
        most = 2 * self.settings.limits.pg_connections + 5
        made = Hollow(site.name, site.curator.catalog, most)
        self.hollows[site.name] = (site, made)
        return made

    async def start(self, runner: QueryRunner, planning: Turns, sign_ins: SignIns) -> None:
        """Begin to accept connections."""
        self._sign_ins = sign_ins

        async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            if task is not None:
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            guest = Guest(listener=self, runner=runner, planning=planning)
            try:
                await guest.serve(reader, writer)
            finally:
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()

        self._server = await asyncio.start_server(accepted, sock=self.heard, limit=1 << 16)

    async def close(self) -> None:
        """Accept nobody more, let statements that run end, and close all connections."""
        self._is_stopping = True
        if self._server is not None:
            self._server.close()
        for _, connection in list(self._open.values()):
            if not connection.is_busy:
                connection.stream.write(WireError(*CLOSING, is_fatal=True).frame())
                connection.stream.close()
        if self._tasks:
            _, left = await asyncio.wait(self._tasks, timeout=LAST_SECONDS)
            for each in left:
                each.cancel()
        await asyncio.to_thread(self.forget)

    def forget(self) -> None:
        """End the databases that describe tables."""
        for _, hollow in self.hollows.values():
            hollow.close()
        self.hollows.clear()

    @property
    def is_stopping(self) -> bool:
        """Whether the server was told to stop."""
        return self._is_stopping

    @property
    def is_crowded(self) -> bool:
        """Whether as many connections are open as may be, signed in or not."""
        return len(self._tasks) > self.settings.limits.pg_connections

    async def hollow(self, site: Site) -> Hollow:
        """Return the database that describes the tables of a catalog, which may be a new one."""
        async with self._turn:
            known = self.hollows.get(site.name)
            if known is not None and known[0] is site and known[1].is_running:
                return known[1]
            if known is not None:
                await asyncio.to_thread(known[1].close)
            return await asyncio.to_thread(self._make, site)

    @contextmanager
    def place_for(self, account: str) -> Iterator[None]:
        """Count a connection of an account, or send it away."""
        if self._per_account[account] >= self.settings.limits.pg_connections_per_account:
            raise WireError(*CROWDED, is_fatal=True)
        self._per_account[account] += 1
        try:
            yield
        finally:
            self._per_account[account] -= 1
            if not self._per_account[account]:
                del self._per_account[account]

    async def admit(self, connection: ClientConnection, key: bytes, number: int) -> None:
        """Serve a client that has signed in; it can be cancelled by its key."""
        self._open[number] = (key, connection)
        try:
            await connection.run()
        finally:
            del self._open[number]

    def next_number(self) -> int:
        """Return a number for a connection."""
        return next(self._numbers)

    async def cancel(self, number: int, key: bytes, host: str) -> None:
        """Cancel what a connection runs, if the key is its key."""
        known_key, connection = self._open.get(number, (b"", None))
        if connection is None or not compare_digest(known_key, key):
            with suppress(CallError):
                self.sign_ins.count_address(host)
            return
        await connection.cancel()


LAST_SECONDS = 60
"""That statements which run have when the server stops."""


@dataclass(slots=True, kw_only=True)
class Guest:
    """A connection before its client has signed in."""

    listener: Listener
    runner: QueryRunner
    planning: Turns
    is_encrypted: bool = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection to its end. Whatever is wrong with it, others are not affected."""
        stream = Stream(reader, writer)
        host = _host(writer)
        try:
            await self._signed_in(stream, writer, host)
        except WireError as error:
            stream.write(error.frame())
        except ProtocolError as error:
            stream.write(WireError("08P01", str(error), is_fatal=True).frame())
        except (OSError, TimeoutError, asyncio.CancelledError):
            pass  # the client, or the hollow database, has gone
        with suppress(OSError):
            await stream.flush()

    async def _signed_in(
        self,
        stream: Stream,
        writer: asyncio.StreamWriter,
        host: str,
    ) -> None:
        async with asyncio.timeout(self.listener.settings.limits.header_seconds):
            asked = await self._asked(stream, writer, host)
            if asked is None:
                return
            if self.listener.is_crowded:
                raise WireError(*CROWDED, is_fatal=True)
            if self.listener.tls is not None and not self.is_encrypted and not _is_local(host):
                raise WireError(*UNENCRYPTED, is_fatal=True)
            caller = await caller_of(stream, asked, host, self.listener.sign_ins)
        variables = _variables(asked)
        with self.listener.place_for(caller.place):
            await self._served(stream, asked, caller, variables)

    async def _served(
        self, stream: Stream, asked: ClientGreeting, caller: Caller, variables: Variables
    ) -> None:
        try:
            hollow = await self.listener.hollow(caller.site)
        except HollowError:
            raise WireError(*NOT_DESCRIBED, is_fatal=True) from None

        async def opened(settings: Mapping[str, str]) -> HollowLink:
            return await HollowLink.open(hollow.address, caller.site.name, settings)

        async def scratch() -> HollowLink:
            return await opened({})

        try:
            link = await opened({**asked.settings, **FORBIDDEN})
        except HollowRefusedError as refused:
            stream.write(refused.frame)
            return
        except OSError:
            raise WireError(*NOT_DESCRIBED, is_fatal=True) from None
        number, key = self.listener.next_number(), SYSTEM.draw(4)
        _greet(stream, link, asked, number, key)
        desk = AccountDesk(
            caller=caller,
            runner=self.runner,
            planning=self.planning,
            settings=self.listener.settings,
            sign_ins=self.listener.sign_ins,
            variables=variables,
        )
        session = Session(desk=desk, stream=stream, link=link, open_scratch=scratch)
        connection = ClientConnection(
            stream=stream,
            session=session,
            most_bytes=self.listener.settings.limits.body_bytes,
            is_stopping=lambda: self.listener.is_stopping,
        )
        await self.listener.admit(connection, key, number)

    async def _asked(
        self,
        stream: Stream,
        writer: asyncio.StreamWriter,
        host: str,
    ) -> ClientGreeting | None:
        """Return what a client says of itself; None if it only wanted to cancel something."""
        for _ in range(3):  # encryption may be asked for in two ways, and then not again
            code, body = await stream.first()
            if code == CANCEL_REQUEST:
                number, key = FrameReader(body).number(INT32), body[4:]
                await self.listener.cancel(number, key, host)
                return None
            if code == SSL_REQUEST and self.listener.tls is not None and not self.is_encrypted:
                if stream.has_unread:  # sent before it was encrypted, perhaps by somebody else
                    raise ProtocolError("Bytes came before the connection was encrypted")
                stream.write_letter(b"S")
                await writer.start_tls(self.listener.tls)
                self.is_encrypted = True
            elif code in (SSL_REQUEST, GSS_REQUEST):
                stream.write_letter(b"N")
                await stream.flush()
            elif code >> 16 == VERSION_3 >> 16:
                asked = asked_in(FrameReader(body))
                if code & 0xFFFF or asked.unknown:
                    stream.write(_older(asked.unknown))
                return asked
            else:
                raise WireError("0A000", "Only version 3 of the protocol is known", is_fatal=True)
        raise ProtocolError("The connection does not begin")


def _host(writer: asyncio.StreamWriter) -> str:
    name = writer.get_extra_info("peername")
    return str(name[0]) if isinstance(name, tuple) else ""


def _is_local(host: str) -> bool:
    return host in ("127.0.0.1", "::1")


def _variables(asked: ClientGreeting) -> Variables:
    try:
        return Variables(given=dict(asked.variables))
    except WireError as error:
        raise WireError(error.code, error.what, error.hint, is_fatal=True) from None


def _older(unknown: tuple[str, ...]) -> WireFrame:
    """Return that only version 3.0 is known, and which extensions are not."""
    names = b"".join(map(text, unknown))
    return WireFrame(b"v", Struct("!ii").pack(VERSION_3, len(unknown)) + names)


def _greet(
    stream: Stream, link: HollowLink, asked: ClientGreeting, number: int, key: bytes
) -> None:
    """Tell a client who has signed in what it talks to."""
    stream.write(OK)
    for each in link.settings:
        name = FrameReader(each.body).text()
        is_user = name == "session_authorization"
        stream.write(parameter_status(name, asked.user) if is_user else each)
    stream.write(WireFrame(b"K", INT32.pack(number) + key), WireFrame(b"Z", b"I"))
