"""More connections than a process can have: the oldest idle ones make room for new ones."""

import asyncio
import resource
from typing import Any

import pytest
import uvicorn

from discreet.server.connections import (
    BACKLOG,
    MOST,
    RESERVED,
    allowed_connections,
    connections_within,
    protocol_with,
)

CALL = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def app(_: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize("first", [b"", b"GET", CALL], ids=["silent", "slow", "idle"])
def test_connections_beyond_the_limit_close_the_oldest_idle_one(first: bytes) -> None:
    async def called() -> tuple[bytes, int]:
        protocol = protocol_with(10, most=5)
        config = uvicorn.Config(app, http=protocol, lifespan="off", log_level="error")
        config.load()
        state = uvicorn.server.ServerState()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: protocol(config=config, server_state=state, app_state={}), "127.0.0.1", 0
        )
        port = server.sockets[0].getsockname()[1]
        opened = []
        for _ in range(20):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(first)
            if first == CALL:
                await reader.readuntil(b"\r\n\r\n")
            opened.append(writer)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(CALL)
        reply = await asyncio.wait_for(reader.readline(), 10)
        count = len(protocol.opened)
        for each in (*opened, writer):
            each.close()
        server.close()
        return reply, count

    reply, count = asyncio.run(called())
    assert reply == b"HTTP/1.1 204 No Content\r\n"
    assert count == 5


def test_connections_leave_file_descriptors_for_everything_else() -> None:
    assert connections_within(1024) + BACKLOG + RESERVED == 1024
    assert connections_within(64) == 10
    assert connections_within(1 << 20) == connections_within(resource.RLIM_INFINITY) == MOST
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        assert 10 <= allowed_connections() <= MOST
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= before[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
