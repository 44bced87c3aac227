"""Where Spark is: started here for an address, or reached over Spark Connect, or said to be away.

Nothing waits long for a Spark that nobody runs: masters and servers are looked for first, and a
cluster has to run one empty job before it is used.
"""

import os
import shutil
import socket
import tempfile
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from discreet.catalog.sources import CONNECT, without_password
from discreet.engines.base import log
from discreet.engines.spark.sessions import (
    SILENCE,
    STARTED,
    collected,
    failures,
    is_remote,
    pyspark_module,
    silent,
)
from discreet.errors import SourceError
from discreet.extras import connect_module

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ANSWERS_WITHIN = 10.0
"""Seconds that a master or a server has to answer at all."""

WORKS_WITHIN = 60.0
"""Seconds that a cluster has to run an empty job: its executors may have to be started."""

ALIVE_EVERY = 600.0
"""Seconds after which a server hears of a session again."""

MANAGED = ("yarn", "k8s")
"""Clusters that may have to find machines first: they have as long as a query may take."""

ONE_ROW = "SELECT count(*) AS n FROM range(1)"

PORTS = {"spark": 7077, "k8s": 443, "https": 443, "http": 80}

_lock = threading.Lock()
_holders = 0
"""How many engines use the Spark that was started here; the last one stops it."""


def take(address: str) -> "SparkSession":
    """Return a session at an address, as local[*] or spark://host:7077; `give_back` it in the end.

    There is one Spark in a process: one that runs already is taken if it is at that address. Of
    Spark Connect there can be any number.
    """
    if address.startswith(CONNECT):
        return _connected(address)
    global _holders  # noqa: PLW0603 - one Spark for each process
    pyspark = pyspark_module()
    with _lock:
        running = pyspark.SparkContext._active_spark_context  # noqa: SLF001 - asks, starts nothing
        if running is not None and running.master != address:
            raise SourceError(
                f"This process already uses Spark at {running.master}, so {address} cannot be used",
                "Stop that Spark first, or pass its session",
            )
        if running is None:
            session = _start(pyspark, address)
            _holders = 1
        else:
            session = pyspark.sql.SparkSession.builder.getOrCreate()
            _holders += 1 if _holders else 0
    return session


def give_back(session: "SparkSession") -> None:
    """End the use of a session that was taken; the last one stops a Spark that was started."""
    if is_remote(session):
        session.stop()
        return
    global _holders  # noqa: PLW0603 - one Spark for each process
    with _lock:
        if _holders == 1:
            session.sparkContext.stop()
        _holders = max(0, _holders - 1)


def _start(pyspark: ModuleType, address: str) -> "SparkSession":
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise SourceError(
            "Spark needs Java 17 or newer, which was not found",
            "Install it, on Debian with apt-get install openjdk-17-jre-headless, or set JAVA_HOME",
        )
    _look_for(address)
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
        quiet = Path(folder) / "log4j2.properties"
        quiet.write_text(SILENCE, encoding="ascii")
        builder = pyspark.sql.SparkSession.builder.master(address)
        options = f"-Dlog4j2.configurationFile={quiet}"
        for name, value in {**STARTED, "spark.driver.extraJavaOptions": options}.items():
            builder = builder.config(name, value)
        try:
            session: SparkSession = builder.getOrCreate()
        except failures() as cause:
            log.exception("Spark did not start", exc_info=cause)
            _stop_what_failed(pyspark)
            raise SourceError(
                f"Spark could not be started at {address}", "The log discreet.engine has the cause"
            ) from None
    return session


def _stop_what_failed(pyspark: ModuleType) -> None:
    """Stop a context that never reached its cluster: it would be taken for one that runs."""
    failed = pyspark.SparkContext._active_spark_context  # noqa: SLF001 - asks, starts nothing
    if failed is not None:
        with suppress(*failures()):
            failed.stop()


# --------------------------------------------------------------------------- who is there


def _look_for(address: str) -> None:
    """Reject the address of a master that nobody can be reached at; Spark itself tries on."""
    masters = _masters(address)
    if masters and not any(_is_reachable(*each) for each in masters):
        raise SourceError(
            f"No Spark master can be reached at {address}",
            "Check host and port, and that the master runs and this machine may connect to it",
        )


def _masters(address: str) -> list[tuple[str, int]]:
    """Return host and port of each master that an address names; none if it names no hosts."""
    scheme, _, place = address.partition("://")
    if scheme not in PORTS:
        return []
    inner, _, rest = place.rpartition("://")
    parts = [urlsplit(f"//{each}") for each in rest.split(",")]
    try:
        port = PORTS.get(inner or scheme, PORTS[scheme])
        found = [(each.hostname or "", each.port or port) for each in parts]
    except ValueError:
        found = [("", 0)]
    return found


def _is_reachable(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=ANSWERS_WITHIN).close()
    except (OSError, ValueError):
        return False
    return True


def _connected(address: str) -> "SparkSession":
    """Return a session of a Spark Connect server, after it has answered."""
    place, connect = without_password(address), connect_module()
    try:
        session: SparkSession = connect.SparkSession(connection=address)
    except failures() as cause:
        log.error("%s is no address of Spark Connect: %s", place, type(cause).__name__)
        raise SourceError(
            f"{place} is not an address of Spark Connect", "Write it as sc://host:15002"
        ) from None
    answered = _tried(lambda: session.version, session)
    if not answered:
        raise SourceError(
            f"No Spark Connect server answers at {place}",
            "Check host and port, that the server runs, and, if it wants them, use_ssl and token",
        )
    return session


def _tried(ask: Callable[[], object], session: "SparkSession") -> bool:
    """Return whether a server answers in time; pyspark would try for ten minutes."""
    answers: list[object] = []

    def run() -> None:
        try:
            with silent():
                answers.append(ask())
        except Exception as cause:  # noqa: BLE001 - the edge of a thread: whatever it is, no answer
            log.warning("a Spark Connect server did not answer", exc_info=cause)

    asking = threading.Thread(target=run, name="ask", daemon=True)
    asking.start()
    asking.join(ANSWERS_WITHIN)
    if not answers:
        with suppress(Exception):
            session.client.close()  # ends what still tries
    return bool(answers)


def keep_alive(session: "SparkSession") -> Callable[[], None]:
    """Have a server keep a session, by asking for something now and then; return what ends that.

    A server forgets the views of a session that nobody has used for an hour.
    """
    is_over, known = threading.Event(), weakref.ref(session)

    def run() -> None:
        while not is_over.wait(ALIVE_EVERY):
            own = known()
            if own is None:
                return
            with silent(), suppress(*failures(), ValueError):
                own.conf.get("spark.sql.session.timeZone")

    threading.Thread(target=run, name="alive", daemon=True).start()
    return is_over.set


def refuse_idle(session: "SparkSession", place: str, *, timeout: float) -> None:
    """Reject a cluster that runs nothing, before a query would wait for it."""
    if place.startswith("local"):
        return
    seconds = timeout if place.startswith(MANAGED) else min(timeout, WORKS_WITHIN)
    try:
        collected(session, ONE_ROW, timeout=seconds)
    except failures() as cause:
        log.warning("Spark ran no job", exc_info=cause)
        raise SourceError(
            f"Spark at {place} ran nothing within {seconds:g} seconds",
            "Check that it has workers with free cores and memory for this application",
        ) from None
