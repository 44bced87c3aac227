"""What a server adds to a query, whether it keeps a tight budget under load, calls per second.

Clients and server share the cores of one machine, so that the rates are lower than a server alone
would reach.
"""

import asyncio
import os
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any

import httpx
import psycopg

import discreet
from benchmarks.environments import ROOT
from benchmarks.report import Figure, Report, Say, Table, Target
from discreet.ledger import make_token
from discreet.opening import open_books

ROWS, PATIENTS = 10_000, 2_000
QUERIES = 200
"""So many are asked locally and over HTTP, in turns."""

CLIENTS, LOAD_SECONDS = 200, 60
PRICE, ALLOWED = "1/100", 200
"""The budget of the account under load is that of so many queries at this price."""

READERS, RATE_SECONDS = 8, 15

CATALOG = """
[budget]
epsilon = 1000000

[tables.visits]
from = "visits.csv"
unit = "patient_id"
rows_per_unit = 5

[tables.visits.columns]
patient_id = { type = "integer" }
region = { type = "text", values = ["north", "south"] }
age = { type = "integer", bounds = [0, 100] }
"""

SETTINGS = """
[limits]
burst = 1000000
requests_per_minute = 1000000
waiting = 1000
waiting_per_account = 1000
"""

SQL = "SELECT region, COUNT(*) AS n, AVG(age) AS a FROM visits WHERE age <> {} GROUP BY region"
BASE = "/v1/catalogs/bench"


def run(say: Say) -> Report:
    """Start a server and measure it."""
    with TemporaryDirectory(prefix="discreet-server-", dir=ROOT) as folder:
        catalog = catalog_in(Path(folder) / "served")
        with serving(catalog) as served:
            say("local and over HTTP, in turns")
            overhead = _overhead(served, catalog_in(Path(folder) / "local", shift=1))
            say(f"{CLIENTS} clients for {LOAD_SECONDS} seconds")
            load = asyncio.run(_load(served))
            say("calls per second")
            rates = _rates(served)
            say("statements of PostgreSQL clients per second")
            wire_rates = _wire_rates(served)
    answers = load[200]
    return Report(
        name="server",
        tables=[
            overhead,
            Table(
                title=f"{CLIENTS} clients for {LOAD_SECONDS} s on a budget for {ALLOWED} queries",
                columns=("status", "calls"),
                rows=[(MEANS.get(each, str(each)), f"{n:,}") for each, n in sorted(load.items())],
            ),
            rates,
            wire_rates,
        ],
        targets=[
            Target(
                sentence=f"answers of {CLIENTS} clients, at least those the budget allows",
                measured=answers,
                unit="answers",
                least=ALLOWED,
            ),
            Target(
                sentence=f"answers of {CLIENTS} clients, no more than the budget allows",
                measured=answers,
                unit="answers",
                most=ALLOWED + 1,
            ),
        ],
    )


MEANS = {200: "200, answered", 402: "402, the budget does not allow it", 429: "429, come back"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server, and tokens of an account without and of one with a tight budget."""

    url: str
    rich: str
    poor: str
    pg_port: int

    def wire(self) -> Any:
        """Return a connection of a PostgreSQL client, whose queries cost as much as others."""
        return psycopg.connect(
            host="127.0.0.1",
            port=self.pg_port,
            user="rich",
            password=self.rich,
            dbname="bench",
            options="-c discreet.epsilon=0.1",
            autocommit=True,
        )

    def body(self, number: int, epsilon: str = "1/10") -> dict[str, Any]:
        """Return a query that was not asked before."""
        return {"sql": SQL.format(number), "epsilon": epsilon}

    def client(self, token: str) -> httpx.AsyncClient:
        """Return a client with as many connections as it needs."""
        return httpx.AsyncClient(
            base_url=self.url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=120,
            limits=httpx.Limits(max_connections=None),
        )


# --------------------------------------------------------------------------- measuring


def _overhead(served: Served, catalog: Path) -> Table:
    headers = {"Authorization": f"Bearer {served.rich}"}
    found: dict[str, list[float]] = {}
    with (
        discreet.open(catalog) as curator,
        httpx.Client(headers=headers, timeout=60) as client,
        served.wire() as wire,
    ):
        ways: dict[str, Callable[[int], object]] = {
            LOCAL: lambda number: curator.ask(SQL.format(number), epsilon=0.1),
            "over HTTP": lambda number: client.post(
                f"{served.url}{BASE}/ask", json=served.body(number)
            ).raise_for_status(),
            "PostgreSQL protocol": lambda number: wire.execute(
                SQL.format(number + 10**4)
            ).fetchall(),
            "PostgreSQL protocol, parameter": lambda number: wire.execute(
                SQL.format("%s"), (number + 10**5,)
            ).fetchall(),
        }
        for number in range(QUERIES):
            for name, act in ways.items():
                begun = perf_counter()
                act(number)
                found.setdefault(name, []).append(perf_counter() - begun)
    cut = {name: quantiles(each, n=100) for name, each in found.items()}
    rows: list[tuple[str | Figure, ...]] = []
    for name, each in cut.items():
        shown = (each[49], each[98], each[49] - cut[LOCAL][49])
        rows.append((name, *(Figure(1e3 * value) for value in shown)))
    return Table(
        title=f"A new query of {ROWS:,} rows: ms",
        columns=("how", "p50", "p99", "added to local at p50"),
        rows=rows,
        notes=[
            "The ledger and the records of the server are SQLite files on the disk.",
            "Drivers describe a query with parameters before they run it, so it is planned twice.",
        ],
    )


LOCAL = "local"


def _wire_rates(served: Served) -> Table:
    """Return how many statements per second one connection gets."""
    statements = {
        "SELECT 1": "SELECT 1",
        "columns of all tables": "SELECT * FROM information_schema.columns",
        "a saved answer": SQL.format(10**4),
    }
    rows = []
    with served.wire() as wire:
        for name, sql in statements.items():
            made, begun = 0, perf_counter()
            while perf_counter() < begun + WIRE_SECONDS:
                wire.execute(sql).fetchall()
                made += 1
            rows.append((name, Figure(made / (perf_counter() - begun))))
        begun = perf_counter()
        for _ in range(CONNECTIONS):
            served.wire().close()
        rows.append(("a new connection", Figure(CONNECTIONS / (perf_counter() - begun))))
    return Table(
        title="PostgreSQL protocol, one connection: statements per second",
        columns=("what", "per second"),
        rows=rows,
        notes=["The driver is psycopg."],
    )


WIRE_SECONDS, CONNECTIONS = 5, 50


async def _load(served: Served) -> Counter[int]:
    """Let clients ask new queries, each as soon as it has the last reply; count statuses."""
    counts: Counter[int] = Counter()
    until = perf_counter() + LOAD_SECONDS
    numbers = iter(range(10**6, 10**9))

    async def ask(client: httpx.AsyncClient) -> None:
        while perf_counter() < until:
            body = served.body(next(numbers), PRICE)
            reply = await client.post(f"{BASE}/ask", json=body)
            counts[reply.status_code] += 1

    async with served.client(served.poor) as client:
        await asyncio.gather(*(ask(client) for _ in range(CLIENTS)))
    return counts


def _rates(served: Served) -> Table:
    reply = httpx.post(
        f"{served.url}{BASE}/ask",
        json=served.body(0),
        headers={"Authorization": f"Bearer {served.rich}"},
        timeout=60,
    )
    saved = f"{BASE}/answers/{reply.headers['Discreet-Answer']}"
    calls: dict[str, Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]] = {
        "a saved answer by its id": lambda client: client.get(saved),
        "explain": lambda client: client.post(f"{BASE}/explain", json=served.body(0)),
        "health": lambda client: client.get("/health"),
    }
    rows = [(name, Figure(asyncio.run(_rate(served, call)))) for name, call in calls.items()]
    return Table(
        title=f"{READERS} clients for {RATE_SECONDS} s: calls per second",
        columns=("what", "calls per second"),
        rows=rows,
        notes=["Clients and server share the cores of this machine."],
    )


async def _rate(
    served: Served, call: Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]
) -> float:
    made, begun = 0, perf_counter()

    async def repeat(client: httpx.AsyncClient) -> None:
        nonlocal made
        while perf_counter() < begun + RATE_SECONDS:
            (await call(client)).raise_for_status()
            made += 1

    async with served.client(served.rich) as client:
        await asyncio.gather(*(repeat(client) for _ in range(READERS)))
    return made / (perf_counter() - begun)


# --------------------------------------------------------------------------- the server


def catalog_in(folder: Path, shift: int = 0) -> Path:
    """Write a table and its catalog; shifted ages are other data with a ledger of their own."""
    folder.mkdir()
    rows = (
        f"{number % PATIENTS},{('north', 'south')[number % 2]},{(number * 7 + shift) % 100}"
        for number in range(ROWS)
    )
    (folder / "visits.csv").write_text("\n".join(["patient_id,region,age", *rows]) + "\n")
    (folder / "discreet.toml").write_text(CATALOG)
    (folder / "server.toml").write_text(SETTINGS)
    return folder / "discreet.toml"


@contextmanager
def serving(catalog: Path) -> Iterator[Served]:
    rich, poor = make_token(), make_token()
    with open_books(catalog) as ledger:
        ledger.declare_analyst("rich", epsilon=10**5, token_hash=rich.hash, scram=rich.scram)
        ledger.declare_analyst("poor", epsilon=ALLOWED / 100, token_hash=poor.hash)
    port, pg_port = _free_port(), _free_port()
    options = ["--port", str(port), "--pg-port", str(pg_port)]
    options += ["--config", str(catalog.parent / "server.toml")]
    process = subprocess.Popen(
        [sys.executable, "-m", "discreet", "serve", f"bench={catalog}", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ),
    )
    try:
        _wait(process, port)
        yield Served(
            url=f"http://127.0.0.1:{port}", rich=rich.text, poor=poor.text, pg_port=pg_port
        )
    finally:
        process.terminate()
        process.wait(60)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait(process: "subprocess.Popen[bytes]", port: int) -> None:
    while process.poll() is None:
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.1", port)) == 0:
                return
        sleep(0.05)
    raise RuntimeError("the server did not start")
