"""Failures inside the server: told in fixed words, on the clock, and forgotten."""

import logging
from fractions import Fraction

import pytest
from fastapi import FastAPI

import discreet.server.app
from discreet.server.app import TOO_LONG, make_app
from discreet.server.callers import STRANGER
from discreet.server.settings import Settings
from discreet.server.signing import network_of
from tests.server.calling import Client

SECRET = "the row of patient 6"  # noqa: S105 - a value to look for


@pytest.fixture
def app() -> FastAPI:
    """Return an application with a route that fails with words that nobody may read."""
    made = make_app({}, Settings(release_every=Fraction(1, 1000)))

    async def fail() -> None:
        raise RuntimeError(SECRET)

    async def stranger() -> None:
        raise STRANGER

    made.add_api_route("/v1/fail", fail)
    made.add_api_route("/v1/stranger", stranger)
    return made


@pytest.fixture
def client(app: FastAPI) -> Client:
    return Client(app)


def test_a_failure_is_told_in_fixed_words(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        reply = client.get("/v1/fail")
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal")
    assert reply.headers["Cache-Control"] == "no-store"
    assert SECRET not in reply.text
    assert "RuntimeError" in caplog.text
    assert SECRET not in caplog.text


def test_every_reply_leaves_at_a_tick(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = []

    async def tick(settings: Settings) -> None:
        ticks.append(settings.release_every)

    monkeypatch.setattr(discreet.server.app, "tick", tick)
    paths = ("/v1/openapi.json", "/v1/fail", "/v1/nothing", "/v1/me", "/v1/stranger")
    for number, path in enumerate(paths):
        client.get(path)
        assert len(ticks) == number + 1
    client.get("/health")
    assert len(ticks) == len(paths)


def frames_of(error: BaseException) -> int:
    found, at = 0, error.__traceback__
    while at is not None:
        found, at = found + 1, at.tb_next
    return found


def test_an_error_that_is_raised_again_and_again_keeps_no_frames(client: Client) -> None:
    """Frames have tokens and bodies, and each call would add some to an error that is constant."""
    for _ in range(5):
        assert client.get("/v1/stranger").status_code == 401
        assert client.post("/v1/session", b"x" * 300_000).status_code == 413
    assert frames_of(STRANGER) == frames_of(TOO_LONG) == 0


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("discreet.example.org", 404),
        ("DISCREET.example.org:8421", 404),
        ("[fd00::5]:8421", 404),
        ("[::1]", 404),
        ("[fd00::6]", 421),
        ("discreet.example.org.evil.example", 421),
        ("", 421),
    ],
)
def test_a_server_is_reached_under_its_names_however_they_are_written(
    host: str, status: int
) -> None:
    client = Client(make_app({}, Settings(), ["Discreet.Example.org", "fd00::5"]))
    assert client.get("/v1/nothing", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("fd00::1", "fd00::2", True),
        ("fd00::1", "fd00:0:0:1::1", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("", "", True),
    ],
)
def test_addresses_of_one_ipv6_network_are_one_caller(one: str, other: str, is_one: bool) -> None:
    assert (network_of(one) == network_of(other)) is is_one
