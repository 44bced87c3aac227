"""Queries that wait or run: who sees them, who cancels them, and replies before they have ended."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace
from typing import Any

import pytest

import discreet.client.awaited
import discreet.client.remote
from discreet.client import connect_async
from discreet.errors import SuspendedError
from discreet.server.admission import Turns
from discreet.server.asking import QueryRunner, Work
from discreet.server.callers import Caller
from discreet.server.settings import Settings
from tests.server.held import Hold, held_process, limits_of, spent_by, wait_for
from tests.server.running import BASE, Served, running, write_catalog

COUNT = "SELECT COUNT(*) AS n FROM visits"
LIMITS = "running = 4\nreply_seconds = 1"


def cancel(served: Served, number: int, who: str = "boss") -> Any:
    return served.call("DELETE", f"{BASE}/running/{number}", who)


def test_a_query_that_waits_is_dropped_and_one_that_runs_is_run_to_its_end(tmp_path: Path) -> None:
    catalog, hold = write_catalog(tmp_path), Hold(tmp_path)
    with (
        held_process(catalog, "run", *limits_of(tmp_path, "running = 1")) as served,
        ThreadPoolExecutor() as pool,
    ):
        hold.arm()
        runs = pool.submit(served.ask, f"{COUNT} -- all", key="key-of-ann", epsilon=1)
        hold.wait_until_reached()
        waits = pool.submit(served.ask, COUNT, who="bob", epsilon=1)
        wait_for(lambda: len(running(served)) == 2)

        first, second = running(served)
        assert set(first) == {"number", "account", "who", "since", "question", "state"}
        assert [each["question"] for each in (first, second)] == [COUNT, COUNT]
        assert [each["account"] for each in (first, second)] == ["ann", "bob"]
        assert [each["state"] for each in (first, second)] == ["running", "waiting"]
        assert running(served, "ann") == [first]
        assert running(served, "bob") == [second]
        assert served.call("GET", f"{BASE}/running", "guest").status_code == 403
        assert cancel(served, first["number"], "bob").status_code == 404
        assert cancel(served, 1000).status_code == 404

        assert cancel(served, second["number"], "bob").json()["outcome"] == "dropped"
        reply = waits.result()
        assert (reply.status_code, reply.json()["error"]["code"]) == (409, "cancelled")
        assert spent_by(served, "bob", 2) == 0

        assert cancel(served, first["number"]).json()["outcome"] == "runs_on"
        reply = runs.result()
        assert (reply.status_code, reply.json()["error"]["code"]) == (409, "cancelled")
        assert [each["state"] for each in running(served)] == ["cancelled"]
        again = pool.submit(served.ask, f"{COUNT} -- all", key="key-of-ann", epsilon=1)
        hold.release()
        assert again.result().json()["charged"]["epsilon"] == 1
        assert running(served) == []

        assert spent_by(served) == 1
        assert served.call("GET", f"{BASE}/incidents", "boss").json() == {"incidents": []}
        assert served.ask(f"{COUNT} WHERE age > 1", epsilon=1).status_code == 200
        lines = served.call("GET", f"{BASE}/audit", "boss").json()["entries"]
        told = [(each["who"], each["action"], each["outcome"]) for each in lines]
        for line in (
            ("bob", "cancel", "dropped"),
            ("bob", "ask", "cancelled"),
            ("boss", "cancel", "runs_on"),
            ("ann", "ask", "charged"),
            ("guest", "call", "not_allowed"),
        ):
            assert line in told


def test_a_query_that_takes_long_is_waited_for_and_charged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog, hold, told = write_catalog(tmp_path), Hold(tmp_path), list[str]()
    for module in (discreet.client.remote, discreet.client.awaited):
        monkeypatch.setattr(module, "TELL_EVERY", 0.4)
    with (
        held_process(catalog, "run", *limits_of(tmp_path, LIMITS)) as served,
        served.connect() as remote,
        ThreadPoolExecutor() as pool,
    ):
        hold.arm()
        remote.on_wait = told.append
        asked = [
            pool.submit(remote.ask, f"{COUNT} WHERE age > 1", epsilon=1),
            pool.submit(asyncio.run, _asked(served, f"{COUNT} WHERE age > 2", told)),
        ]
        hold.wait_until_reached()
        reply = served.ask(COUNT, key="key-of-ann", epsilon=1)
        assert (reply.status_code, reply.json()["error"]["code"]) == (504, "still_running")
        assert reply.headers["Retry-After"] == "1"
        wait_for(lambda: told.count("The query is still running") == 2)
        assert "Waiting for the answer for 0 seconds" in told
        hold.release()
        assert [each.result().charged.epsilon for each in asked] == [1, 1]
        again = served.ask(COUNT, key="key-of-ann", epsilon=1)
        assert again.json()["charged"]["epsilon"] == 1
        assert spent_by(served) == 3


@pytest.mark.parametrize("seconds", [0, 0.05, 0.15])
@pytest.mark.parametrize("is_rejected", [False, True], ids=["answered", "rejected"])
def test_with_a_clock_a_query_ends_after_a_multiple_of_its_time(
    seconds: float, *, is_rejected: bool
) -> None:
    """Turns, records and lists change then: they would tell how long a query took."""
    changes: list[float] = []
    site = SimpleNamespace(
        name="clinic", records=SimpleNamespace(log=lambda *_, **__: changes.append(monotonic()))
    )
    caller = Caller(name="ann", role="analyst", site=site)  # type: ignore[arg-type]

    def act() -> None:
        sleep(seconds)
        if is_rejected:
            raise SuspendedError("ann")

    async def run() -> float:
        settings = Settings(release_every=TICK)
        runner = QueryRunner(settings=settings, turns=Turns(settings.limits))
        work = Work(
            action="coverage", text="visits", act=act, finish=lambda _: site.records.log("done")
        )
        begun = monotonic()
        with nullcontext() if not is_rejected else pytest.raises(SuspendedError):
            await runner.run(caller, work, _never)
        changes.append(monotonic())
        assert not runner.queries.seen_by(caller)
        return begun

    begun = asyncio.run(run())
    assert len(changes) == 2
    least = float(TICK) * (1 + int(seconds / TICK))
    assert all(each - begun >= least for each in changes)


TICK = Fraction(1, 10)


async def _never() -> bool:
    return False


async def _asked(served: Served, sql: str, told: list[str]) -> Any:
    async with await connect_async(served.url, served.tokens["ann"]) as remote:
        remote.on_wait = told.append
        return await remote.ask(sql, epsilon=1)
