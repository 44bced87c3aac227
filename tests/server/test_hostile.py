"""Calls that are made to hurt: slow, long, malformed, forged."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from urllib.parse import urlsplit

import pytest

from tests.server.running import BASE, Served, serving, write_catalog

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("clinic")
    config = folder / "server.toml"
    config.write_text("[limits]\nheader_seconds = 2\nbody_seconds = 3\n")
    with serving(write_catalog(folder), "--config", str(config)) as found:
        yield found


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Run a server that sends callers away so soon that a slow machine sees it too."""
    folder = tmp_path_factory.mktemp("strict")
    config = folder / "server.toml"
    config.write_text("[limits]\nrequests_per_minute = 1\nburst = 4\nsign_ins_per_minute = 2\n")
    with serving(write_catalog(folder), "--config", str(config)) as found:
        yield found


def raw(served: Served, data: bytes, *, wait: float = 30) -> bytes:
    """Send bytes and return all that comes back until the server closes."""
    place = urlsplit(served.url)
    with closing(socket.create_connection((place.hostname, place.port or 0), timeout=wait)) as to:
        to.sendall(data)
        found = b""
        while part := to.recv(65536):
            found += part
        return found


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /health\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nA : b\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/session HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
        b"Content-Length: 5\r\n\r\nzz\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 20_000 + b"\r\n",
    ],
    ids=["tls", "version", "no version", "space", "length", "smuggled", "many headers"],
)
def test_what_is_no_call_is_rejected_and_closed(served: Served, data: bytes) -> None:
    reply = raw(served, data)
    assert reply == b"" or reply.startswith(b"HTTP/1.1 4")
    assert served.call("GET", "/health", None).status_code == 200


def test_headers_that_never_end_are_cut_off_and_others_are_served(served: Served) -> None:
    def trickle(_: int) -> float:
        begun = time.monotonic()
        raw(served, b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ", wait=60)
        return time.monotonic() - begun

    with ThreadPoolExecutor(30) as pool:
        slow = [pool.submit(trickle, number) for number in range(30)]
        assert served.call("GET", "/health", None).status_code == 200
        assert all(each.result() < 50 for each in slow)


def test_a_body_without_an_end_is_cut_off(served: Served) -> None:
    head = (
        f"POST {BASE}/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {served.tokens['ann']}\r\nContent-Length: 1000\r\n\r\n"
    )
    reply = raw(served, head.encode() + b'{"sql": ', wait=60)
    assert reply.startswith(b"HTTP/1.1 408")


def test_a_body_that_trickles_is_cut_off(served: Served) -> None:
    head = (
        f"POST {BASE}/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {served.tokens['ann']}\r\nContent-Length: 1000\r\n\r\n"
    )
    place = urlsplit(served.url)
    with closing(socket.create_connection((place.hostname, place.port or 0), timeout=60)) as to:
        to.sendall(head.encode())
        to.settimeout(0.5)  # a byte every half second: no single pause is long
        reply = b""
        for _ in range(100):
            to.sendall(b" ")
            with suppress(TimeoutError):
                reply = to.recv(65536)
                break
        assert reply.startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("name", ["Authorization", "Idempotency-Key", "Content-Type"])
def test_a_header_that_could_be_read_in_two_ways_is_rejected(served: Served, name: str) -> None:
    reply = raw(
        served,
        f"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{name}: one-value\r\n"
        f"{name}: two-values\r\n\r\n".encode(),
    )
    assert reply.startswith(b"HTTP/1.1 400")


def test_a_body_with_two_lengths_is_rejected_and_hides_no_second_call(served: Served) -> None:
    reply = raw(
        served,
        b"POST /v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    )
    assert reply.startswith(b"HTTP/1.1 400")
    assert reply.count(b"HTTP/1.1") == 1


def test_a_long_body_in_chunks_is_cut_off(served: Served) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(1000):
            yield b"x" * 10_000

    reply = served.call("POST", f"{BASE}/ask", content=chunks())
    assert reply.status_code == 413


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "HEAD", "FOO"])
def test_other_methods_do_nothing(served: Served, method: str) -> None:
    reply = served.call(method, f"{BASE}/ask")
    assert reply.status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/v1/catalogs/..%2f..%2fetc/schema",
        "/v1/catalogs/%00/schema",
        "/v1/catalogs/clinic%0d%0aX:y/schema",
        f"{BASE}/answers/..%2f",
        f"{BASE}/answers/{'x' * 3000}",
        f"{BASE}/answers/'%20OR%201=1",
    ],
)
def test_odd_paths_lead_nowhere(served: Served, path: str) -> None:
    reply = served.call("GET", path)
    assert reply.status_code == 404
    assert "x" not in {name for name in reply.headers if len(name) == 1}


@pytest.mark.parametrize(
    "epsilon", ["1e999999999", "1/0", "-1", "nan", "9" * 10_000, True, [1], "0x1", 1e308, 0]
)
def test_odd_amounts_are_rejected_at_once(served: Served, epsilon: object) -> None:
    reply = served.call("POST", f"{BASE}/ask", json={"sql": COUNT, "epsilon": epsilon})
    assert reply.status_code in {402, 422}
    assert len(reply.content) < 2000


def test_too_many_calls_are_told_when_to_come_back(strict: Served) -> None:
    replies = [strict.call("GET", f"{BASE}/budget", "bob") for _ in range(12)]
    away = [each for each in replies if each.status_code == 429]
    assert away
    assert int(away[0].headers["Retry-After"]) >= 1
    assert strict.call("GET", f"{BASE}/budget", "ann").status_code == 200


def test_strangers_are_slowed_down(strict: Served) -> None:
    bad = {"Authorization": "Bearer discreet_0123456789abcdef_" + "A" * 43}
    replies = [strict.call("GET", "/v1/me", None, headers=bad) for _ in range(8)]
    assert {each.status_code for each in replies} == {401, 429}
    assert strict.call("GET", "/v1/me").status_code == 200


def test_guesses_of_the_secret_part_of_a_token_are_slowed_down(strict: Served) -> None:
    """Each takes a slow hash, and whoever had a token knows its public part."""
    bad = {"Authorization": f"Bearer {strict.tokens['guest'][:-9]}{'A' * 9}"}
    replies = [strict.call("GET", "/v1/me", None, headers=bad) for _ in range(6)]
    assert [each.status_code for each in replies].count(401) < 4
    assert replies[-1].status_code == 429
    assert strict.call("GET", "/v1/me", "boss").status_code == 200


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/me"), ("POST", "/v1/session")])
def test_calls_that_name_no_catalog_are_counted_too(strict: Served, method: str, path: str) -> None:
    body = None if method == "GET" else {"token": strict.tokens["boss"]}
    replies = [strict.call(method, path, "boss", json=body) for _ in range(8)]
    assert replies[-1].status_code == 429


@pytest.mark.parametrize("route", ["ask", "explain", "requests"])
def test_half_of_a_character_pair_is_rejected(served: Served, route: str) -> None:
    query = b'{"sql": "SELECT COUNT(*) FROM visits", "within": {"\\ud800": 1}}'
    body = query if route != "requests" else b'{"reason": "why", "query": ' + query + b"}"
    headers = {"Content-Type": "application/json"}
    reply = served.call("POST", f"{BASE}/{route}", content=body, headers=headers)
    assert reply.status_code == 422
    assert "\ud800" in reply.json()["error"]["message"]


def test_nothing_that_a_caller_writes_makes_a_line_of_the_log(served: Served) -> None:
    sql = 'SELECT 1 -- \n{"who": "boss", "action": "resume"}\x1b[2J'
    served.ask(sql, epsilon=1)
    entries = served.call("GET", f"{BASE}/audit", "boss").json()["entries"]
    assert not [each for each in entries if each["action"] == "resume"]
    assert [each for each in entries if each.get("sql") == sql]
