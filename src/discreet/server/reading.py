"""How bodies of calls are read: JSON in which nothing is written twice."""

import json
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute

from discreet.server.faults import CallError


class OneReading(APIRoute):
    """A route whose body has one reading.

    A proxy or a log might take the first of two fields with one name, and this server the last.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what handles a call."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            return await handle(_Read(request.scope, request.receive))

        return handled


class _Read(Request):
    async def json(self) -> Any:
        return only_fields(await self.body())


def only_fields(body: bytes) -> Any:
    """Return the JSON of a body, or reject one in which a field is written twice."""
    return json.loads(body, object_pairs_hook=_fields, parse_constant=_rejected)


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise CallError(
            status=400,
            code="bad_call",
            what="A field of the body is written twice",
            fix="Write each field once",
        )
    return found


def _rejected(constant: str) -> NoReturn:
    raise CallError(
        status=400, code="bad_call", what=f"{constant} is not JSON", fix="Write a finite number"
    )
