"""A real server with a port for PostgreSQL clients, and a client that speaks the bare protocol."""

import socket
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import pbkdf2_hmac, sha256
from hmac import digest
from pathlib import Path
from struct import Struct
from typing import Any

import psycopg

from discreet.ledger import Token, make_token
from discreet.opening import open_books
from tests.server.running import Served, free_port, serving

CAPS = {"ana": 900.0, "ann": 50.0, "bob": 2.0}
"""The caps of accounts."""

SETTINGS = (
    "[limits]\nburst = 1000000\nrequests_per_minute = 1000000\nsign_ins_per_minute = 100000\n"
)
"""No limit on how often tests call."""

CATALOG = """
[budget]
epsilon = 1000
delta = 1e-6

[tables.visits]
from = "visits.csv"
unit = "patient_id"
rows_per_unit = 3

[tables.visits.columns]
patient_id = { type = "integer" }
region = { type = "text", values = ["north", "south"] }
city = { type = "text" }
age = { type = "integer", bounds = [0, 100] }
cost = { type = "real", bounds = [0, 500] }
day = { type = "date", bounds = [2024-01-01, 2024-12-31] }
at = { type = "timestamp", bounds = [2024-01-01T00:00:00, 2024-12-31T23:59:59], step = "1 hour" }
noted = { type = "timestamp" }
smokes = { type = "boolean" }

[tables.cities]
from = "cities.csv"
public = true
key = "city"

[tables.cities.columns]
city = { type = "text" }
people = { type = "integer" }
"""


def write_clinic(folder: Path, *, without: int | None = None, patients: int = 400) -> Path:
    """Write visits of patients, a public table of cities, and their catalog."""
    folder.mkdir(parents=True, exist_ok=True)
    days = [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(patients)]
    rows = [
        f"{i},{('north', 'south')[i % 2]},city {i % 40},{i * 7 % 100},{i % 90}.5,"
        f"{days[i]},{days[i]} 10:{i % 60:02d}:00,{days[i]} 11:00:00,{('true', 'false')[i % 2]}"
        for i in range(patients)
        if i != without
    ]
    head = "patient_id,region,city,age,cost,day,at,noted,smokes"
    (folder / "visits.csv").write_text("\n".join([head, *rows]) + "\n")
    cities = [f"city {i},{1000 * i}" for i in range(40)]
    (folder / "cities.csv").write_text("\n".join(["city,people", *cities]) + "\n")
    (folder / "discreet.toml").write_text(CATALOG)
    return folder / "discreet.toml"


@dataclass(kw_only=True)
class Wired:
    """A server that PostgreSQL clients connect to."""

    served: Served
    port: int

    def parts(self, who: str = "ana") -> dict[str, Any]:
        """Return what clients in Python need to connect."""
        token = self.served.tokens[who]
        return {"host": "127.0.0.1", "port": self.port, "user": who, "password": token}

    def connect(self, who: str = "ana", epsilon: float | None = 0.5, **more: Any) -> Any:
        """Return a connection of psycopg; each query may cost epsilon."""
        options = {} if epsilon is None else {"options": f"-c discreet.epsilon={epsilon}"}
        given = {"dbname": "clinic", "autocommit": True, **options, **self.parts(who), **more}
        return psycopg.connect(**given)

    def url(self, scheme: str, who: str = "ana", query: str = "") -> str:
        """Return the address of the database."""
        token = self.served.tokens[who]
        return f"{scheme}://{who}:{token}@127.0.0.1:{self.port}/clinic{query}"

    def spent(self, who: str = "ana") -> float:
        """Return what an account has spent."""
        found = self.served.call("GET", "/v1/catalogs/clinic/budget", who).json()["remaining"]
        return round(CAPS[who] - float(found["epsilon"]), 9)


@contextmanager
def wired(catalog: Path, *options: str, settings: str = SETTINGS, **more: Any) -> Iterator[Wired]:
    """Run a server of a catalog that is called clinic."""
    port, config = free_port(), catalog.parent / "server.toml"
    config.write_text(settings)
    given = ("--pg-port", str(port), "--config", str(config), *options)
    with open_books(catalog) as ledger:
        token = _token()
        ledger.declare_analyst("ana", epsilon=900, token_hash=token.hash, scram=token.scram)
    with serving(catalog, *given, **more) as served:
        served.tokens["ana"] = token.text
        yield Wired(served=served, port=port)


@cache
def _token() -> Token:
    """Return the token of an account with a large cap: hashing one is slow on purpose."""
    return make_token()


# --------------------------------------------------------------------------- the bare protocol


def message(kind: bytes, body: bytes = b"") -> bytes:
    """Return a message."""
    return kind + Struct("!i").pack(len(body) + 4) + body


def startup(code: int, **given: str) -> bytes:
    """Return the first message of a connection."""
    pairs = b"".join(f"{k}\0{v}\0".encode() for k, v in given.items())
    body = Struct("!i").pack(code) + (pairs + b"\0" if given else b"")
    return Struct("!i").pack(len(body) + 4) + body


VERSION_3 = 3 << 16


@dataclass(kw_only=True)
class Bare:
    """A client that sends what it is told."""

    port: int
    connection: socket.socket = field(init=False)
    key: bytes = b""

    def __post_init__(self) -> None:
        self.connection = socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def send(self, *messages: bytes) -> "Bare":
        """Send bytes."""
        self.connection.sendall(b"".join(messages))
        return self

    def exactly(self, count: int) -> bytes:
        """Return so many bytes, or fewer at the end."""
        found = b""
        while len(found) < count and (more := self.connection.recv(count - len(found))):
            found += more
        return found

    def read(self) -> tuple[bytes, bytes]:
        """Return the next message; an empty one at the end."""
        with suppress(ConnectionResetError):
            head = self.exactly(5)
            if len(head) == 5:
                (length,) = Struct("!i").unpack(head[1:])
                return head[:1], self.exactly(length - 4)
        return b"", b""

    def until(self, *kinds: bytes) -> list[tuple[bytes, bytes]]:
        """Return messages up to one of some kinds, or up to the end."""
        found = [self.read()]
        while found[-1][0] not in (*kinds, b""):
            found.append(self.read())
        return found

    def sign_in(self, user: str, token: str, database: str = "clinic", **more: str) -> "Bare":
        """Sign in by SCRAM, as a client does."""
        self.send(startup(VERSION_3, user=user, database=database, **more))
        kind, body = self.read()
        assert (kind, body[:4]) == (b"R", Struct("!i").pack(10)), body
        first = "n=,r=abcdefghijklmnop"
        sent = f"n,,{first}".encode()
        head = b"SCRAM-SHA-256\0" + Struct("!i").pack(len(sent))
        self.send(message(b"p", head + sent))
        _, body = self.read()
        server_first = body[4:].decode()
        parts = dict(each.split("=", 1) for each in server_first.split(","))
        salted = pbkdf2_hmac("sha256", token.encode(), b64decode(parts["s"]), int(parts["i"]))
        client_key = digest(salted, b"Client Key", "sha256")
        bare = f"c=biws,r={parts['r']}"
        signed = digest(
            sha256(client_key).digest(), f"{first},{server_first},{bare}".encode(), "sha256"
        )
        proof = bytes(a ^ b for a, b in zip(client_key, signed, strict=True))
        self.send(message(b"p", f"{bare},p={b64encode(proof).decode()}".encode()))
        for each in self.until(b"Z", b"E"):
            if each[0] == b"K":
                self.key = each[1]
        return self

    def query(self, sql: str) -> list[tuple[bytes, bytes]]:
        """Send a query by the simple protocol; return all messages of the reply."""
        self.send(message(b"Q", sql.encode() + b"\0"))
        return self.until(b"Z")

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def error_in(messages: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the parts of the first error."""
    for kind, body in messages:
        if kind == b"E":
            parts = [each.decode() for each in body.split(b"\0") if each]
            return {each[0]: each[1:] for each in parts}
    return {}
