"""Servers that are killed, told to stop or left by their callers while they run a query."""

import socket
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.server.held import (
    PLACES,
    Hold,
    held_process,
    limits_of,
    process_of,
    spent_by,
    wait_for,
)
from tests.server.running import BASE, Served, add_accounts, write_catalog

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.mark.parametrize(
    "places",
    [("run", "save"), pytest.param(tuple(PLACES), marks=pytest.mark.slow)],
    ids=["some", "all"],
)
def test_a_killed_server_has_charged_once_and_its_answers_are_not_lost(
    tmp_path: Path, places: tuple[str, ...]
) -> None:
    catalog = write_catalog(tmp_path)
    hold, tokens = Hold(tmp_path), add_accounts(catalog)
    for number, place in enumerate(places):
        with held_process(catalog, place, tokens=tokens) as served:
            _check_repeated(served, number - 1)
            _kill_while_asked(served, hold, number, with_keys_only=place == "finish")
        hold.release()
    with process_of(catalog, tokens=tokens) as served:
        _check_repeated(served, len(places) - 1)


def _kill_while_asked(served: Served, hold: Hold, number: int, *, with_keys_only: bool) -> None:
    hold.arm()
    with ThreadPoolExecutor(2) as pool:
        calls = [
            pool.submit(served.ask, _sql(number, key), key=key, epsilon=1)
            for key in _keys(number)
            if key or not with_keys_only
        ]
        hold.wait_until_reached()
        time.sleep(0.3)  # the other call comes to the place too
        served.process.kill()
        for each in calls:
            assert isinstance(each.exception(), httpx.TransportError)


def _check_repeated(served: Served, number: int) -> None:
    """Repeat the calls that were cut off: no more than one charge is there for each."""
    for key in _keys(number) if number >= 0 else ():
        replies = [served.ask(_sql(number, key), key=key, epsilon=1) for _ in range(2)]
        assert [each.status_code for each in replies] == [200, 200]
        assert replies[0].json()["rows"] == replies[1].json()["rows"]
        assert key is None or replies[0].content == replies[1].content
    assert spent_by(served) == 2 * (number + 1)


def _keys(number: int) -> tuple[None, str]:
    return None, f"key-of-call-{number}"


def _sql(number: int, key: str | None) -> str:
    return f"{COUNT} WHERE age > {number + (50 if key else 0)}"


def test_a_server_that_is_told_to_stop_ends_what_runs_and_sends_the_rest_away(
    tmp_path: Path,
) -> None:
    catalog, hold = write_catalog(tmp_path), Hold(tmp_path)
    tokens = add_accounts(catalog)
    config = limits_of(tmp_path, "running = 1")
    with (
        held_process(catalog, "run", *config, tokens=tokens) as served,
        ThreadPoolExecutor() as pool,
    ):
        hold.arm()
        runs = pool.submit(served.ask, COUNT, epsilon=1)
        hold.wait_until_reached()
        waits = pool.submit(served.ask, f"{COUNT} WHERE age > 1", epsilon=1)
        wait_for(lambda: _waiting(served) == 1)
        served.process.terminate()
        assert _told(waits) == (503, "stopping", "5")
        assert _told(pool.submit(served.ask, f"{COUNT} WHERE age > 2", epsilon=1))[0] == 503
        assert served.call("GET", "/health", None).json() == {"status": "stopping"}
        hold.release()
        reply = runs.result()
        assert reply.status_code == 200
        assert reply.json()["charged"]["epsilon"] == 1
        served.process.wait(30)
    with process_of(catalog, tokens=tokens) as served:
        assert spent_by(served) == 1
        kept = served.call("GET", f"{BASE}/answers/{reply.headers['Discreet-Answer']}")
        assert kept.json() == reply.json()


def test_a_caller_who_goes_while_waiting_is_dropped_and_while_running_is_served(
    tmp_path: Path,
) -> None:
    catalog, hold = write_catalog(tmp_path), Hold(tmp_path)
    config = limits_of(tmp_path, "running = 1")
    with held_process(catalog, "run", *config) as served:
        hold.arm()
        runs = _sent(served, COUNT)
        hold.wait_until_reached()
        waits = _sent(served, f"{COUNT} WHERE age > 1")
        wait_for(lambda: _waiting(served) == 1)
        waits.close()
        wait_for(lambda: _waiting(served) == 0)
        runs.close()
        time.sleep(0.2)
        hold.release()
        wait_for(lambda: len(_history(served)) == 2)
        entry, dropped = _history(served)
        assert (entry["question"], entry["outcome"]) == (COUNT, "charged")
        assert (dropped["question"], dropped["outcome"]) == (f"{COUNT} WHERE age > 1", "gone")
        assert served.call("GET", f"{BASE}/answers/{entry['answer']}").status_code == 200
        assert spent_by(served) == 1
        assert served.ask(COUNT, epsilon=1).json()["is_free"]


def test_one_account_does_not_fill_the_queue(tmp_path: Path) -> None:
    catalog, hold = write_catalog(tmp_path), Hold(tmp_path)
    config = limits_of(tmp_path, "running = 1\nwaiting = 3\nwaiting_per_account = 2")
    with held_process(catalog, "run", *config) as served, ThreadPoolExecutor() as pool:
        hold.arm()
        asked = [pool.submit(served.ask, COUNT, epsilon=1)]
        hold.wait_until_reached()
        for number in range(2):
            asked.append(pool.submit(served.ask, f"{COUNT} WHERE age > {number}", epsilon=1))
            wait_for(lambda number=number: _waiting(served) == number + 1)  # type: ignore[misc]
        away = served.ask(f"{COUNT} WHERE age > 3", epsilon=1)
        assert (away.status_code, away.headers["Retry-After"]) == (429, "2")
        asked.append(pool.submit(served.ask, COUNT, who="bob", epsilon=1))
        wait_for(lambda: _waiting(served) == 3)
        assert served.ask(COUNT, who="boss", epsilon=1).status_code == 429
        hold.release()
        assert [each.result().status_code for each in asked] == [200] * 4


def _told(call: "Future[Any]") -> tuple[int, str, str]:
    reply = call.result()
    return reply.status_code, reply.json()["error"]["code"], reply.headers["Retry-After"]


def _history(served: Served) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = served.call("GET", f"{BASE}/history").json()["entries"]
    return found


def _waiting(served: Served) -> int:
    lines = served.call("GET", "/metrics", "boss").text.splitlines()
    (line,) = (each for each in lines if each.startswith("discreet_waiting_queries "))
    return int(float(line.split()[1]))


def _sent(served: Served, sql: str) -> socket.socket:
    """Send a call and return its connection without reading a reply."""
    body = httpx.Request("POST", served.url, json={"sql": sql, "epsilon": 1}).content.decode()
    place = urlsplit(served.url)
    connection = socket.create_connection((place.hostname, place.port or 0))
    head = (
        f"POST {BASE}/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {served.tokens['ann']}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection.sendall(f"{head}{body}".encode())
    return connection
