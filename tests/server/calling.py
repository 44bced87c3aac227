"""Calls of an application in this process."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
from fastapi import FastAPI


@dataclass
class Client:
    """Calls an application in this process."""

    app: FastAPI

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self._call("GET", path, **more)

    def post(self, path: str, body: bytes) -> httpx.Response:
        """Send a body without saying how long it is."""

        async def parts() -> AsyncIterator[bytes]:
            yield body

        return self._call("POST", path, content=parts())

    def send(self, path: str, content: object) -> httpx.Response:
        """Send JSON."""
        return self._call("POST", path, json=content)

    def _call(self, method: str, path: str, **more: Any) -> httpx.Response:
        async def called() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with (
                self.app.router.lifespan_context(self.app),
                httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
            ):
                return await client.request(method, path, **more)

        return asyncio.run(called())
