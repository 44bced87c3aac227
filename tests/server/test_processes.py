"""Several server processes over one PostgreSQL ledger: together they keep one budget."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from threading import Event

import httpx
import pytest

from discreet.server.records import PostgresDatabase
from tests.ledger.stores import PostgresStore
from tests.server.held import process_of, spent_by, write_shared_catalog
from tests.server.running import BASE, Served, add_accounts

pytestmark = pytest.mark.postgresql

COUNT = "SELECT COUNT(*) AS n FROM visits"
ALLOWED = 40
"""Queries at epsilon 0.05 that the budget of 2 of one account allows."""


class Cluster:
    """Servers of one catalog, one of which may be down; calls go to those that are up."""

    def __init__(self, catalog: Path, options: tuple[str, ...]) -> None:
        self._catalog, self._options, self._stack = catalog, options, ExitStack()
        self._tokens = add_accounts(catalog)
        self.servers: list[Served] = []

    def __enter__(self) -> "Cluster":
        for _ in range(2):
            self.servers.append(self._started())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _started(self) -> Served:
        process = process_of(self._catalog, *self._options, tokens=self._tokens)
        return self._stack.enter_context(process)

    def restart(self, number: int) -> None:
        """Start a new process, then tell an old one to stop, and wait until it has."""
        old, self.servers[number] = self.servers[number], self._started()
        assert old.stop() in {0, -15}

    def ask(self, number: int, sql: str) -> httpx.Response:
        """Ask with one key until there is a reply, from whichever server is up."""
        for turn in count(number):
            assert turn < number + 1000, "no server ever replied"
            served = self.servers[turn % 2]
            try:
                reply: httpx.Response = served.ask(sql, "bob", f"call-{number:04}", epsilon=0.05)
            except httpx.TransportError:
                time.sleep(0.05)
                continue
            if reply.status_code not in {429, 503}:
                return reply
            time.sleep(0.05)
        raise AssertionError


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    settings = tmp_path / "server.toml"
    settings.write_text("[limits]\nburst = 100000\nrequests_per_minute = 100000\n")
    catalog = write_shared_catalog(tmp_path / "clinic", PostgresStore(tmp_path).address)
    with Cluster(catalog, ("--config", str(settings))) as found:
        yield found


def test_a_rolling_restart_under_load_spends_the_budget_exactly_and_loses_no_answer(
    cluster: Cluster,
) -> None:
    ended = Event()

    def restarted() -> None:
        for number in (0, 1):
            cluster.restart(number)
        ended.set()

    def asked(number: int) -> httpx.Response:
        return cluster.ask(number, f"{COUNT} WHERE age > {number}")

    with ThreadPoolExecutor(9) as pool:
        restarting = pool.submit(restarted)
        replies = list(pool.map(asked, range(ALLOWED + 20)))
        restarting.result()
    assert ended.is_set()
    assert Counter(each.status_code for each in replies) == {200: ALLOWED, 402: 20}
    served = cluster.servers[0]
    assert spent_by(served, "bob", cap=2) == pytest.approx(2, abs=1e-12)
    for number, reply in enumerate(replies):
        if reply.status_code == 200:
            assert asked(number).content == reply.content
            path = f"{BASE}/answers/{reply.headers['Discreet-Answer']}"
            assert served.call("GET", path, "bob").json()["rows"] == reply.json()["rows"]


def test_the_same_key_at_two_servers_at_once_is_charged_once_and_has_one_reply(
    cluster: Cluster,
) -> None:
    for number in range(5):
        sql, key = f"{COUNT} WHERE age > {number}", f"call-to-both-{number}"
        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(each.ask, sql, key=key, epsilon=1) for each in cluster.servers * 2]
            replies = [each.result() for each in asked]
        assert [each.status_code for each in replies] == [200] * 4
        assert len({each.content for each in replies}) == 1
        assert len({each.headers["Discreet-Answer"] for each in replies}) == 1
        assert spent_by(cluster.servers[0]) == number + 1
    other = cluster.servers[1].ask(COUNT, key="call-to-both-0", epsilon=1)
    assert other.status_code == 409


def test_servers_that_start_at_the_same_time_make_their_tables_once(tmp_path: Path) -> None:
    store = PostgresStore(tmp_path)
    for number in range(5):
        schema = f"{store.schema}_{number}"
        with ThreadPoolExecutor(8) as pool:
            made = list(
                pool.map(lambda _, name=schema: PostgresDatabase(store.server, name), range(8))
            )
        for each in made:
            each.close()
