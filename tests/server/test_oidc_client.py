"""Signing in from the command line: how often the provider is asked, and what is never trusted."""

# ruff: noqa: S106 - made-up secrets

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest

from discreet.client import ServerError
from discreet.client.credentials import (
    SignedIn,
    credential_for,
    credentials_file,
    keep_credential,
)
from discreet.client.oidc import BearerToken, Device, Prompt, device_of, renewed, sign_in

ISSUER = "https://login.example"
DEVICE = Device(issuer=ISSUER, client_id="command", scopes=("openid", "offline_access"))
TOKENS = {"access_token": "one", "refresh_token": "two", "expires_in": 60}


class Stub:
    """A provider in memory: replies to polls in turn."""

    def __init__(self, *polls: Any, **begun: Any) -> None:
        self._polls: Iterator[Any] = iter(polls)
        self._begun = {
            "device_code": "d",
            "user_code": "ABCD-EFGH",
            "verification_uri": f"{ISSUER}/device",
            "expires_in": 600,
            **begun,
        }
        self.forms: list[dict[str, str]] = []
        self.slept: list[float] = []
        self.told: list[Prompt] = []
        self.about: dict[str, Any] = {
            "issuer": ISSUER,
            "device_authorization_endpoint": f"{ISSUER}/device/auth",
            "token_endpoint": f"{ISSUER}/token",
        }

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json=self.about)
        self.forms.append(dict(parse_qsl(request.content.decode())))
        if request.url.path == "/device/auth":
            return httpx.Response(200, json=self._begun)
        reply = next(self._polls)
        if isinstance(reply, Exception):
            raise reply
        error = {"error": reply} if isinstance(reply, str) else reply
        return httpx.Response(400 if isinstance(reply, str) else 200, json=error)

    def http(self) -> httpx.Client:
        return httpx.Client(transport=httpx.MockTransport(self))

    def sign_in(self) -> SignedIn:
        return sign_in(DEVICE, tell=self.told.append, sleep=self.slept.append, http=self.http())


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("DISCREET_TOKEN", raising=False)


def test_the_provider_is_asked_as_often_as_it_says() -> None:
    stub = Stub("authorization_pending", "slow_down", "authorization_pending", TOKENS, interval=2)
    found = stub.sign_in()
    assert stub.slept == [2, 2, 7, 7]
    assert stub.told == [Prompt(url=f"{ISSUER}/device", code="ABCD-EFGH")]
    assert (found.access_token, found.refresh_token) == ("one", "two")
    assert stub.forms[0] == {"client_id": "command", "scope": "openid offline_access"}
    assert stub.forms[1]["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code"
    assert "one" not in repr(found)


def test_it_is_asked_every_5_seconds_by_default_and_less_often_when_it_is_away() -> None:
    stub = Stub(httpx.ConnectError("away"), "authorization_pending", TOKENS)
    stub.sign_in()
    assert stub.slept == [5, 10, 10]


@pytest.mark.parametrize("polls", [["access_denied"], ["expired_token"], ["invalid_grant"]])
def test_a_sign_in_that_is_declined_ends(polls: list[str]) -> None:
    with pytest.raises(ServerError, match="declined"):
        Stub(*polls).sign_in()


def test_a_code_that_ends_is_asked_for_no_longer() -> None:
    stub = Stub(*["authorization_pending"] * 100, expires_in=20)
    with pytest.raises(ServerError, match="took too long"):
        stub.sign_in()
    assert sum(stub.slept) == 20


@pytest.mark.parametrize(
    "begun",
    [
        {"verification_uri": "http://login.example/device"},
        {"verification_uri": "javascript:alert(1)"},
        {"verification_uri": f"{ISSUER}/\x1b[2J"},
        {"user_code": "AB\nCD"},
        {"user_code": None},
        {"user_code": "x" * 1000},
    ],
)
def test_nothing_odd_is_shown(begun: dict[str, Any]) -> None:
    stub = Stub(TOKENS, **begun)
    with pytest.raises(ServerError):
        stub.sign_in()
    assert not stub.told


@pytest.mark.parametrize(
    "about",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://login.example/token"},
        {"device_authorization_endpoint": None},
    ],
)
def test_no_token_is_sent_in_clear_or_elsewhere(about: dict[str, Any]) -> None:
    stub = Stub(TOKENS)
    stub.about |= about
    with pytest.raises(ServerError):
        stub.sign_in()
    assert len(stub.forms) <= 1


def test_tokens_are_renewed() -> None:
    old = SignedIn(
        access_token="a", expires=0, refresh_token="r", issuer=ISSUER, client_id="command"
    )
    stub = Stub({"access_token": "b", "expires_in": 60})
    new = renewed(old, stub.http())
    assert (new.access_token, new.refresh_token) == ("b", "r")
    assert new.expires > time.time()
    assert stub.forms == [
        {"grant_type": "refresh_token", "refresh_token": "r", "client_id": "command"}
    ]
    with pytest.raises(ServerError, match="has ended"):
        renewed(old, Stub("invalid_grant").http())


def test_a_credential_is_kept_for_this_user_alone() -> None:
    kept = SignedIn(access_token="a", expires=time.time() + 600, issuer=ISSUER, client_id="c")
    keep_credential("https://one.example/", kept)
    path = keep_credential("https://two.example", "discreet_x")
    assert path == credentials_file()
    assert path.stat().st_mode & 0o777 == 0o600
    assert credential_for("https://one.example") == kept
    assert credential_for("https://two.example/") == "discreet_x"
    assert BearerToken("https://one.example", None).current() == "a"
    keep_credential("https://one.example", None)
    with pytest.raises(ServerError, match="no token"):
        credential_for("https://one.example")
    path.chmod(0o644)
    with pytest.raises(ServerError, match="Others may read"):
        credential_for("https://two.example")


def test_a_token_that_ends_while_a_client_runs_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://one.example"
    old = SignedIn(
        access_token="a", expires=time.time() + 600, refresh_token="r", issuer=ISSUER, client_id="c"
    )
    keep_credential(url, old)
    auth = BearerToken(url, None)
    assert auth.current() == "a"
    made = []

    def again(given: SignedIn) -> SignedIn:
        made.append(given)
        return SignedIn(access_token="b", expires=later + 600, issuer=ISSUER, client_id="c")

    later = time.time() + 3600
    monkeypatch.setattr("discreet.client.oidc.renewed", again)
    monkeypatch.setattr("discreet.client.oidc.time.time", lambda: later)
    assert [auth.current(), auth.current()] == ["b", "b"]
    assert made == [old]
    assert credential_for(url) != old


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (404, {"error": {}}),
        (200, {"login": None, "device": None}),
        (200, {"device": {"issuer": ISSUER}}),
        (200, []),
    ],
)
def test_a_server_without_a_provider_asks_for_a_token(status: int, content: object) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(status, json=content))
    assert device_of("https://one.example", httpx.Client(transport=transport)) is None


def test_a_server_that_names_a_provider_in_clear_is_rejected() -> None:
    content = {"device": {"issuer": "http://login.example", "client_id": "c", "scopes": []}}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=content))
    with pytest.raises(ServerError, match="without encryption"):
        device_of("https://one.example", httpx.Client(transport=transport))
