"""A real server process over a small catalog, for tests."""

import signal
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from discreet.client import Remote, connect
from discreet.ledger import Token, make_token
from discreet.opening import open_books
from tests.server.forked import ServerProcess

CATALOG = """
[budget]
epsilon = {epsilon}
delta = 1e-6

[tables.visits]
from = "visits.csv"
unit = "patient_id"
rows_per_unit = 3

[tables.visits.columns]
patient_id = {{ type = "integer" }}
region = {{ type = "text", values = ["north", "south"] }}
city = {{ type = "text" }}
age = {{ type = "integer", bounds = [0, 100] }}
"""


def write_catalog(folder: Path, *, epsilon: float = 100, without: int | None = None) -> Path:
    """Write visits of 400 patients and their catalog; one patient may be absent."""
    rows = [
        f"{i},{('north', 'south')[i % 2]},city {i % 40},{i * 7 % 100}"
        for i in range(400)
        if i != without
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "visits.csv").write_text("\n".join(["patient_id,region,city,age", *rows]) + "\n")
    (folder / "discreet.toml").write_text(CATALOG.format(epsilon=epsilon))
    return folder / "discreet.toml"


MONTHLY = """
[budget]
epsilon = 10
per = "month"
{months_per_unit}

[tables.visits]
from = "visits.csv"
unit = "patient_id"
rows_per_unit = 3
arrival = "arrived"

[tables.visits.columns]
patient_id = {{ type = "integer" }}
arrived = {{ type = "date" }}
region = {{ type = "text", values = ["north", "south"] }}
age = {{ type = "integer", bounds = [0, 100] }}
"""


def write_monthly(folder: Path, *, months_per_unit: int | None = None) -> Path:
    """Write visits of 300 patients from January to June 2024, with a budget per month."""
    rows = [
        f"{i},2024-{month:02}-{1 + i % 28:02},{('north', 'south')[i % 2]},{i * 7 % 100}"
        for i in range(300)
        for month in range(1, 7)
    ]
    limit = "" if months_per_unit is None else f"months_per_unit = {months_per_unit}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "visits.csv").write_text("\n".join(["patient_id,arrived,region,age", *rows]) + "\n")
    (folder / "discreet.toml").write_text(MONTHLY.format(months_per_unit=limit))
    return folder / "discreet.toml"


def in_month(month: int, what: str = "COUNT(*) AS n") -> str:
    """Return a query about one month of `write_monthly`."""
    first, next_ = (f"DATE '2024-{each:02}-01'" for each in (month, month + 1))
    return f"SELECT {what} FROM visits WHERE arrived >= {first} AND arrived < {next_}"  # noqa: S608


@dataclass(kw_only=True)
class Served:
    """A server process, and tokens of its accounts by their names."""

    url: str
    process: ServerProcess
    tokens: dict[str, str] = field(default_factory=dict)
    verify: Any = True

    def call(self, method: str, path: str, who: str | None = "ann", **more: Any) -> httpx.Response:
        """Make a call as an account, or as nobody."""
        headers = dict(more.pop("headers", {}))
        if who is not None:
            headers["Authorization"] = f"Bearer {self.tokens[who]}"
        verify = self.verify if self.url.startswith("https") else False  # saves reading authorities
        return httpx.request(
            method, self.url + path, headers=headers, timeout=60, verify=verify, **more
        )

    def ask(self, sql: str, who: str = "ann", key: str | None = None, **terms: Any) -> Any:
        """Make a call for the answer to a query."""
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.call("POST", f"{BASE}/ask", who, json={"sql": sql, **terms}, headers=headers)

    def connect(self, who: str = "ann") -> Remote:
        """Return a client."""
        return connect(self.url, self.tokens[who], verify=self.verify)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Tell the process to stop; return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(30)


BASE = "/v1/catalogs/clinic"

ACCOUNTS: Mapping[str, dict[str, Any]] = {
    "ann": {"epsilon": 50},
    "bob": {"epsilon": 2},
    "boss": {"epsilon": None, "role": "owner"},
    "guest": {"epsilon": None, "role": "reader"},
}


@cache
def _token(name: str, of: str) -> Token:  # noqa: ARG001 - the key of the cache
    """Return the token of an account: hashing one is slow on purpose, so it is made once."""
    return make_token()


def add_accounts(catalog: Path, of: str = "clinic") -> dict[str, str]:
    """Declare some accounts; return their tokens, which are the same for catalogs of one name."""
    tokens = {}
    with open_books(catalog) as ledger:
        for name, declared in ACCOUNTS.items():
            token = _token(name, of)
            ledger.declare_analyst(name, token_hash=token.hash, scram=token.scram, **declared)
            tokens[name] = token.text
    return tokens


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def serving(
    catalog: Path,
    *options: str,
    scheme: str = "http",
    verify: Any = True,
    port: int | None = None,
) -> Iterator[Served]:
    """Run a server of a catalog that is called clinic, until the block ends."""
    tokens, port = add_accounts(catalog), port or free_port()
    command = ("serve", f"clinic={catalog}", "--port", str(port))
    process = ServerProcess("discreet", *command, *options)
    served = Served(
        url=f"{scheme}://127.0.0.1:{port}", process=process, tokens=tokens, verify=verify
    )
    try:
        _wait(served)
        yield served
    finally:
        process.close()


def _wait(served: Served) -> None:
    for _ in range(300):
        try:
            if served.call("GET", "/health", None).status_code == 200:
                return
        except httpx.TransportError:
            if served.process.poll() is not None:
                break
            time.sleep(0.1)
    raise AssertionError(f"the server did not start: {served.process.written()}")


def running(served: Served, who: str = "boss") -> list[dict[str, Any]]:
    """Return the queries that wait or run, as an account sees them."""
    found: list[dict[str, Any]] = served.call("GET", f"{BASE}/running", who).json()["running"]
    return found
