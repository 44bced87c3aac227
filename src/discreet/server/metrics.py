"""Counts and durations of calls, for owners: by route and outcome, never by person or query."""

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.types import Scope

from discreet.errors import MissingExtraError
from discreet.extras import load
from discreet.server.faults import CallError
from discreet.server.signing import any_owner

router = APIRouter(tags=["owners"])

TEXT = "text/plain; version=0.0.4; charset=utf-8"
METHODS = frozenset(["GET", "POST", "PATCH", "DELETE"])
"""All others are counted together: a caller may make up methods."""

ABSENT = CallError(
    status=404,
    code="not_found",
    what="This server counts no calls",
    fix="Install discreet[metrics] where the server runs",
)


class Metrics:
    """Counters of one process; without the extra, none."""

    def __init__(self) -> None:
        try:
            self._client: Any = load("prometheus_client", what="Metrics", extra="metrics")
        except MissingExtraError:
            self._client = None
            return
        self._registry = self._client.CollectorRegistry()
        self._calls = self._client.Counter(
            "discreet_calls", "Calls", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = self._client.Histogram(
            "discreet_call_seconds",
            "Seconds from a call to the end of its reply",
            ("method", "route"),
            registry=self._registry,
        )
        self._waiting = self._client.Gauge(
            "discreet_waiting_queries", "Queries that wait for their turn", registry=self._registry
        )

    def count(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a call by its route as it is declared, which names nobody and no catalog."""
        if self._client is None:
            return
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._calls.labels(method, route, str(status or "cut")).inc()
        self._seconds.labels(method, route).observe(seconds)

    def text(self, waiting: int) -> bytes:
        """Return all of it in the text format of Prometheus."""
        if self._client is None:
            raise ABSENT
        self._waiting.set(waiting)
        written: bytes = self._client.generate_latest(self._registry)
        return written


@router.get("/metrics", response_class=Response, responses={200: {"content": {TEXT: {}}}})
async def metrics(request: Request) -> Response:
    """Return counts and durations of calls, for the owner of a catalog."""
    await any_owner(request)
    counted: Metrics = request.app.state.metrics
    return Response(counted.text(request.app.state.turns.waiting), media_type=TEXT)
