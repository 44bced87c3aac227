"""Connections that send nothing, or too slowly, are closed: they would keep others out."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class TimedProtocol(H11Protocol):
    """uvicorn's protocol, with a time limit for the headers of each call."""

    header_seconds: float
    """From the connection, or the first byte of a later call, to the end of a call's headers."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first call."""
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """Read on; a call whose headers are complete has no limit here."""
        if self._is_between_calls():
            self._begin()
        super().data_received(data)
        if not self._is_between_calls():
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._end()
        super().connection_lost(exc)

    def _is_between_calls(self) -> bool:
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
        if self._is_between_calls() and not self.transport.is_closing():
            self.transport.close()


def protocol_with(header_seconds: float) -> type[TimedProtocol]:
    """Return the protocol with a time limit."""
    return type("LimitedProtocol", (TimedProtocol,), {"header_seconds": header_seconds})
