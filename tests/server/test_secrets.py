"""What nobody may see: catalogs and accounts of others, rows in words of failures, secrets."""

import gzip
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.server.held import process_of, spent_by
from tests.server.running import BASE, Served, add_accounts, write_catalog
from tests.server.telling import CRASHES, FAILS, ROW

COUNT = "SELECT COUNT(*) AS n FROM visits"
OTHER = BASE.replace("clinic", "other")


@dataclass(kw_only=True)
class Place:
    """A server of two catalogs, tokens of the second, and all that the process writes."""

    served: Served
    others: dict[str, str]
    output: Path
    audit: Path

    def call(self, path: str, token: str) -> httpx.Response:
        return self.served.call("GET", path, None, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("secrets")
    config, audit, output = (folder / name for name in ("server.toml", "audit.jsonl", "output"))
    config.write_text(
        f'audit_file = "{audit}"\n[limits]\nburst = 100000\nrequests_per_minute = 100000\n'
    )
    second = write_catalog(folder / "second")
    others = add_accounts(second, of="other")
    with process_of(
        write_catalog(folder / "first"),
        *(f"other={second}", "--config", str(config)),
        module=("tests.server.telling",),
        output=output,
    ) as served:
        yield Place(served=served, others=others, output=output, audit=audit)


def seen(reply: httpx.Response) -> tuple[int, str, list[str]]:
    """Return all of a reply but its time."""
    headers = sorted(f"{k}: {v}" for k, v in reply.headers.items() if k != "date")
    return reply.status_code, reply.text, headers


@pytest.mark.parametrize("path", ["schema", "budget", "audit", "answers/AAAAAAAAAAAAAAAAAAAAAAAA"])
@pytest.mark.parametrize("who", ["ann", "boss"])
def test_a_catalog_of_others_is_as_if_it_were_not_there(place: Place, who: str, path: str) -> None:
    for catalog, token in ((OTHER, place.served.tokens[who]), (BASE, place.others[who])):
        there = place.call(f"{catalog}/{path}", token)
        nowhere = place.call(f"{BASE.replace('clinic', 'nowhere')}/{path}", token)
        assert seen(there) == seen(nowhere)
        assert there.status_code == 404
    assert place.call(f"{OTHER}/schema", place.others[who]).status_code == 200


@pytest.mark.parametrize("name", ["account", "who", "user", "analyst", "role"])
def test_the_token_alone_says_who_asks(place: Place, name: str) -> None:
    before = [spent_by(place.served, each, cap) for each, cap in (("ann", 50), ("bob", 2))]
    body = {"sql": COUNT, "epsilon": 1, name: "bob"}
    assert place.served.call("POST", f"{BASE}/ask", json=body).status_code == 422
    headers = {f"X-{name.title()}": "boss", "X-Forwarded-User": "boss", "X-Remote-User": "boss"}
    assert place.served.call("GET", f"{BASE}/audit", headers=headers).status_code == 403
    assert place.served.call("GET", "/v1/me", None, headers=headers).status_code == 401
    after = [spent_by(place.served, each, cap) for each, cap in (("ann", 50), ("bob", 2))]
    assert before == after


def test_no_other_site_may_read_a_reply_or_send_a_query(place: Place) -> None:
    origin = {"Origin": "https://evil.example"}
    preflight = origin | {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    replies = [
        place.served.call("GET", "/v1/me", headers=origin),
        place.served.call("GET", "/health", None, headers=origin),
        place.served.call("OPTIONS", f"{BASE}/ask", headers=preflight),
    ]
    for reply in replies:
        assert not [name for name in reply.headers if name.startswith("access-control")]
        assert reply.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert reply.headers["X-Frame-Options"] == "DENY"
    assert replies[-1].status_code == 405


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
)
def test_what_a_form_can_send_is_no_call(place: Place, kind: str) -> None:
    """A browser sends these to other sites without asking them first."""
    body = json.dumps({"sql": COUNT, "epsilon": 1})
    reply = place.served.call("POST", f"{BASE}/ask", content=body, headers={"Content-Type": kind})
    assert reply.status_code == 422


def test_a_compressed_body_is_not_unpacked(place: Place) -> None:
    bomb = gzip.compress(json.dumps({"sql": COUNT + " " * 10**7, "epsilon": 1}).encode())
    assert len(bomb) < 20_000
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    reply = place.served.call("POST", f"{BASE}/ask", content=bomb, headers=headers)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "bad_call")


def test_hundreds_of_open_connections_keep_nobody_out(place: Place) -> None:
    to = urlsplit(place.served.url)
    with ExitStack() as stack:
        for number in range(400):
            each = socket.create_connection((to.hostname, to.port or 0), timeout=30)
            stack.enter_context(each)
            if number % 2:
                each.sendall(b"POST /v1/session HTTP/1.1\r\nHost: localhost\r\nX: ")
        assert place.served.call("GET", "/v1/me").status_code == 200
        assert place.served.call("GET", "/health", None).json() == {"status": "ok"}


@pytest.mark.parametrize(("who", "number"), [("ann", CRASHES), ("bob", FAILS)])
def test_the_words_of_a_failure_reach_nobody(place: Place, who: str, number: int) -> None:
    served = place.served
    failed = served.ask(f"{COUNT} WHERE age <> {number}", who, epsilon=0.5)
    assert (failed.status_code, failed.json()["error"]["code"]) == (503, "engine")
    again = served.ask(f"{COUNT} WHERE age <> 1", who, epsilon=0.5)
    assert (again.status_code, again.json()["error"]["code"]) == (403, "suspended")
    assert served.call("GET", f"{BASE}/incidents", "boss").json()["incidents"]
    found = [failed.text, again.text, place.output.read_text(), place.audit.read_text()]
    for path in ("history", "budget", "requests", "incidents", "audit", "analysts"):
        found += [served.call("GET", f"{BASE}/{path}", each).text for each in (who, "boss")]
    found.append(served.call("GET", "/metrics", "boss").text)
    for text in found:
        assert not [word for word in (ROW, "Rowville", "lives in") if word in text]


def test_the_process_writes_neither_queries_nor_secrets(place: Place) -> None:
    sql = f"{COUNT} WHERE age <> 4711"
    answer = place.served.ask(sql, "boss", epsilon=0.5)
    signed_in = place.served.call("POST", "/v1/session", None, json={"token": "wrong-4712"})
    place.served.call("GET", f"{BASE}/history?limit=4713", "boss")
    place.served.call("GET", f"{BASE}/answers/{answer.headers['Discreet-Answer']}", "boss")
    assert (answer.status_code, signed_in.status_code) == (200, 401)
    written = place.output.read_text()
    assert "Serving clinic, other" in written
    secrets = [*place.served.tokens.values(), *place.others.values()]
    about_calls = ["4711", "4712", "4713", answer.headers["Discreet-Answer"], "GET", "POST"]
    assert not [each for each in [*secrets, *about_calls] if each in written]
    logged = place.audit.read_text()
    assert sql in logged
    assert not [each for each in [*secrets, "4712"] if each in logged]
