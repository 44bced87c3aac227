"""Connections that send nothing, or too slowly, or are too many, are closed.

They would keep others out. A process that has no file descriptor left can neither accept a
connection nor load what a query needs.
"""

import asyncio
import resource
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class TimedProtocol(H11Protocol):
    """uvicorn's protocol, with a time limit for the headers of each call."""

    header_seconds: float
    """From the connection, or the first byte of a later call, to the end of a call's headers."""

    most: int
    """Connections that may be open."""
    opened: "dict[TimedProtocol, None]"
    """Those that are, the oldest first."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first call."""
        super().connection_made(transport)
        self._begin()
        self.opened[self] = None
        if len(self.opened) > self.most:
            oldest = next(each for each in self.opened if each.is_between_calls())
            del self.opened[oldest]
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read on; a call whose headers are complete has no limit here."""
        if self.is_between_calls():
            self._begin()
        super().data_received(data)
        if not self.is_between_calls():
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._end()
        self.opened.pop(self, None)
        super().connection_lost(exc)

    def is_between_calls(self) -> bool:
        """Return whether nobody waits for a reply."""
        return self.cycle is None or self.cycle.response_complete

    def _begin(self) -> None:
        if self._limit is None:
            loop = asyncio.get_running_loop()
            self._limit = loop.call_later(self.header_seconds, self._close)

    def _end(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _close(self) -> None:
        self._limit = None
        if self.is_between_calls() and not self.transport.is_closing():
            self.transport.close()


def protocol_with(header_seconds: float, most: int) -> type[TimedProtocol]:
    """Return the protocol with a time limit and a limit on open connections."""
    given = {"header_seconds": header_seconds, "most": most, "opened": {}}
    return type("LimitedProtocol", (TimedProtocol,), given)


MOST = 1900
"""Connections that may be open if the system allows as many."""

BACKLOG = 256
"""Connections that are accepted at a time, before the first of them can be closed."""

RESERVED = 200
"""File descriptors for the ledger, the records and the data."""


def allowed_connections() -> int:
    """Raise the limit on file descriptors as far as it goes; return how many connections fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, ENOUGH)), hard))
    return connections_within(resource.getrlimit(resource.RLIMIT_NOFILE)[0])


ENOUGH = 1 << 16


def connections_within(descriptors: int) -> int:
    """Return how many connections may be open with so many file descriptors."""
    if descriptors == resource.RLIM_INFINITY:
        return MOST
    return max(10, min(MOST, descriptors - BACKLOG - RESERVED))
