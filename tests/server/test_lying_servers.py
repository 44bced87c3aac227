"""Replies that no server of ours sends: the client says so in one sentence, and soon."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from discreet.client import ServerError, calls, connect, connect_async
from discreet.client.oidc import device_of
from discreet.client.remote import catalogs_at, run
from discreet.errors import DiscreetError

DEEP = b"[" * 100_000
LONG = "1e999999999"
"""A number that would take all memory."""


def error(**content: Any) -> bytes:
    return json.dumps({"error": content}).encode()


def wire(kind: str, content: object) -> bytes:
    return json.dumps({"is": kind, "of": content}).encode()


ERRORS = {
    "zero": error(code="budget", requested={"epsilon": "1/0"}),
    "long": error(code="budget", requested={"epsilon": LONG}),
    "list of amounts": error(code="budget", requested=[1]),
    "place": b'{"error": {"code": "sql_syntax", "place": {"start": 1e999, "end": 2}}}',
    "list": b'{"error": [1]}',
    "deep": DEEP,
    "bytes": b"\xff\xfe\x00",
}
VALUES = {
    "zero": wire("Fraction", "1/0"),
    "long": wire("Fraction", LONG),
    "note": wire("Note", []),
    "unknown": wire("Path", "/"),
    "fields": wire("Balance", {}),
    "deep": DEEP,
    "nothing": b"",
}
CALLS: dict[str, Callable[[], calls.Steps[Any]]] = {
    "ask": lambda: calls.ask("/c", "SELECT 1", {}, lambda _: ()),
    "explain": lambda: calls.explain("/c", "SELECT 1", {}),
    "remaining": lambda: calls.remaining("/c"),
    "months": lambda: calls.remaining_by_month("/c"),
    "catalogs": calls.catalogs,
}


def lying(status: int, body: bytes, **headers: str) -> httpx.Client:
    """Return a client of a server that has one reply."""
    named = {name.replace("_", "-"): value.encode("latin-1") for name, value in headers.items()}

    def reply(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, content=body, headers=named)  # type: ignore[arg-type]

    return httpx.Client(transport=httpx.MockTransport(reply), base_url="https://liar.example")


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("call", CALLS)
def test_an_error_that_cannot_be_read_is_one_sentence(name: str, call: str) -> None:
    with pytest.raises(ServerError), lying(422, ERRORS[name]) as http:
        run(CALLS[call](), http)


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("call", CALLS)
def test_a_value_that_cannot_be_read_is_one_sentence(name: str, call: str) -> None:
    with pytest.raises(ServerError), lying(200, VALUES[name]) as http:
        run(CALLS[call](), http)


def test_bytes_in_a_foreign_encoding_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.client.remote.TRIES", 1)
    with pytest.raises(ServerError), lying(200, b"junk", Content_Encoding="gzip") as http:
        run(calls.catalogs(), http)


def test_a_pause_that_is_no_number_is_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("discreet.client.remote.time.sleep", slept.append)
    with pytest.raises(DiscreetError), lying(503, b"{}", Retry_After="\N{SUPERSCRIPT TWO}") as http:
        run(calls.catalogs(), http)
    assert slept == [0.5, 1, 2, 4, 8]


@pytest.mark.parametrize(
    "url",
    ["http://server.example", "http://10.0.0.1:8421", "ftp://127.0.0.1", "server", "http://["],
)
def test_no_token_is_sent_without_encryption_to_another_machine(url: str) -> None:
    sending: tuple[Callable[[], object], ...] = (
        lambda: connect(url, "a token"),
        lambda: asyncio.run(connect_async(url, "a token")),
        lambda: catalogs_at(url, "a token"),
        lambda: device_of(url),
    )
    for send in sending:
        with pytest.raises(ServerError, match="without encryption"):
            send()


@pytest.mark.parametrize(
    ("status", "body", "headers", "is_repeatable"),
    [
        (503, error(code="stopping"), {"retry-after": "5"}, True),
        (503, error(code="engine"), {}, False),
        (503, error(code="ledger"), {}, False),
        (503, b"the words of a proxy", {}, True),
        (503, DEEP, {}, True),
        (429, error(code="too_many"), {}, True),
        (502, b"", {}, True),
        (422, error(code="row_level"), {}, False),
        (500, error(code="internal"), {}, False),
    ],
)
def test_a_call_is_repeated_where_a_server_is_busy_or_away_and_not_where_it_failed(
    status: int, body: bytes, headers: dict[str, str], is_repeatable: bool
) -> None:
    reply = calls.HttpReply(status=status, body=body, headers=headers)
    assert reply.is_repeatable is is_repeatable
