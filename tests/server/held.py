"""Server processes that stop at a place of a query until they are told to go on, or are killed.

`python -m tests.server.held FOLDER PLACE serve …` runs the command. While FOLDER/armed exists, the
process writes FOLDER/reached when it comes to the place, and waits there for FOLDER/go.
"""

import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from discreet.cli import main
from discreet.engines.duckdb import DuckDbEngine
from discreet.ledger.stored import StoredLedger
from discreet.server.records import Records
from tests.server.forked import ServerProcess
from tests.server.running import Served, add_accounts, free_port, write_catalog

PLACES: dict[str, tuple[Any, str]] = {
    "charge": (StoredLedger, "charge_all"),
    "run": (DuckDbEngine, "run"),
    "keep": (StoredLedger, "keep"),
    "keep_tick": (StoredLedger, "keep_tick"),
    "save": (Records, "save"),
    "finish": (Records, "finish"),
}
"""From the query to its reply: the server is held before each."""


class Hold:
    """A place at which processes are held."""

    def __init__(self, folder: Path) -> None:
        self._armed, self._reached, self._go = (folder / n for n in ("armed", "reached", "go"))

    def arm(self) -> None:
        """Hold whoever comes by from now on."""
        for each in (self._reached, self._go):
            each.unlink(missing_ok=True)
        self._armed.touch()

    def release(self) -> None:
        """Let all go on, and hold nobody any more."""
        self._armed.unlink(missing_ok=True)
        self._go.touch()

    def wait_until_reached(self) -> None:
        """Wait until a process is held."""
        wait_for(self._reached.exists)

    def around(self, act: Callable[..., object]) -> Callable[..., object]:
        """Return what is held before it acts."""

        def held(*given: object, **named: object) -> object:
            if self._armed.exists():
                self._reached.touch()
                wait_for(self._go.exists)
            return act(*given, **named)

        return held


def wait_for(is_so: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something is so; fail if it never is."""
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, "it never came to this"
        time.sleep(0.01)


def write_shared_catalog(folder: Path, ledger: str, **more: Any) -> Path:
    """Write a catalog whose ledger is on a server."""
    catalog = write_catalog(folder, **more)
    text = catalog.read_text(encoding="utf-8")
    catalog.write_text(f'{text}\n[source]\nledger = "{ledger}"\n', encoding="utf-8")
    return catalog


@contextmanager
def process_of(
    catalog: Path,
    *options: str,
    tokens: dict[str, str] | None = None,
    module: tuple[str, ...] = ("discreet",),
    port: int | None = None,
    output: Path | None = None,
) -> Iterator[Served]:
    """Run a server with tokens that were made before; it ends with the block."""
    tokens = add_accounts(catalog) if tokens is None else tokens
    port = free_port() if port is None else port
    command = (*module, "serve", f"clinic={catalog}", "--port", str(port))
    process = ServerProcess(*command, *options, output=output)
    served = Served(url=f"http://127.0.0.1:{port}", process=process, tokens=tokens)
    try:
        wait_for(lambda: is_up(served))
        yield served
    finally:
        process.close()


@contextmanager
def held_process(catalog: Path, place: str, *options: str, **more: Any) -> Iterator[Served]:
    """Run a server that is held at a place once it is armed."""
    module = ("tests.server.held", str(catalog.parent), place)
    with process_of(catalog, *options, module=module, **more) as served:
        yield served


def is_up(served: Served) -> bool:
    """Return whether a server answers; fail if its process has ended."""
    assert served.process.poll() is None, served.process.written()
    place = urlsplit(served.url)
    with socket.socket() as connection:
        return connection.connect_ex((place.hostname, place.port)) == 0


def spent_by(served: Served, who: str = "ann", cap: float = 50) -> float:
    """Return what an account has spent."""
    left = served.call("GET", "/v1/catalogs/clinic/budget", who).json()["remaining"]["epsilon"]
    return cap - float(left)


def limits_of(folder: Path, limits: str) -> tuple[str, str]:
    """Return options of a server with some limits, and without one on calls."""
    file = folder / "server.toml"
    file.write_text(f"[limits]\nburst = 100000\nrequests_per_minute = 100000\n{limits}\n")
    return "--config", str(file)


if __name__ == "__main__":
    folder, place, *command = sys.argv[1:]
    owner, name = PLACES[place]
    setattr(owner, name, Hold(Path(folder)).around(getattr(owner, name)))
    sys.argv = ["discreet", *command]
    main()
