"""Apache Superset, installed into an environment of its own, and its REST interface."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.environments import Peer, python_of
from tests.server.running import free_port

SUPERSET = Peer(
    name="Superset",
    requirement="apache-superset==6.1.0",
    module="superset",
    besides=("psycopg2-binary==2.9.13", "flask-caching<2.4", "cachetools==8.0.0", "rich==15.0.0"),
)
"""It imports two packages that it does not name, and does not start with a newer flask-caching."""

CONFIG = """
SECRET_KEY = "for this test alone, on this machine alone"
SQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.db"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
RATELIMIT_ENABLED = False
"""

NAME = "tester"

PERSON = f"--username {NAME} --password {NAME} --firstname T --lastname T --email t@example.org"

SETUP = (("db", "upgrade"), ("fab", "create-admin", *PERSON.split()), ("init",))
"""The commands that make it ready, with a database of its own."""


@dataclass(kw_only=True)
class Superset:
    """A running Superset, with somebody signed in."""

    client: httpx.Client

    def post(self, path: str, **body: Any) -> httpx.Response:
        """Make a call."""
        return self.client.post(path, json=body)

    def get(self, path: str, **query: str) -> Any:
        """Return what a call gives."""
        reply = self.client.get(path, params=query)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def made_by(self, path: str, **body: Any) -> int:
        """Make something; return its number."""
        reply = self.post(path, **body)
        assert reply.status_code == 201, reply.text
        return int(reply.json()["id"])


@contextmanager
def superset(folder: Path) -> Iterator[Superset]:
    """Run Superset in a folder, until the block ends."""
    python, port = python_of(SUPERSET), free_port()
    (folder / "superset_config.py").write_text(CONFIG.format(folder=folder))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "FLASK_APP": "superset",
        "SUPERSET_HOME": str(folder / "home"),
        "SUPERSET_CONFIG_PATH": str(folder / "superset_config.py"),
    }
    program = str(python.parent / "superset")
    with (folder / "superset.log").open("w") as log:

        def started(*arguments: str) -> "subprocess.Popen[bytes]":
            return subprocess.Popen(  # noqa: S603 - the program that was installed
                [program, *arguments], env=environment, cwd=folder, stdout=log, stderr=log
            )

        for each in SETUP:
            assert started(*each).wait(120) == 0, (folder / "superset.log").read_text()[-2000:]
        process = started("run", "-h", "127.0.0.1", "-p", str(port), "--with-threads")
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=60) as client:
                _sign_in(client, process)
                yield Superset(client=client)
        finally:
            process.terminate()
            process.wait(30)


def _sign_in(client: httpx.Client, process: "subprocess.Popen[bytes]") -> None:
    who = {"username": NAME, "password": NAME, "provider": "db", "refresh": True}
    for _ in range(300):
        assert process.poll() is None
        try:
            token = client.post("/security/login", json=who).json()["access_token"]
        except httpx.TransportError:
            time.sleep(0.2)
        else:
            client.headers["Authorization"] = f"Bearer {token}"
            return
    raise AssertionError("Superset did not start")
