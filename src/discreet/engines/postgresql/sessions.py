"""Connections to a server. Each use is one read-only transaction on one snapshot."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from discreet.engines.base import LIMITS, ResourceLimits, deadlines
from discreet.errors import SourceError
from discreet.extras import psycopg_module

if TYPE_CHECKING:
    from psycopg import Connection

OLDEST = 170000
"""PostgreSQL 17: letter case of Unicode, whatever the server's locale."""

PATIENCE = 30
"""Seconds to wait for a server that does not answer, and for a lock of its owner's."""

GRACE = 5
"""Seconds after which a server that should have stopped by itself is told to."""

SETTINGS = {
    "default_transaction_read_only": "on",
    "search_path": "pg_catalog, pg_temp",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "3",
    "standard_conforming_strings": "on",
    "bytea_output": "hex",
    "xmloption": "content",
    "lock_timeout": f"{PATIENCE}s",
    "idle_in_transaction_session_timeout": f"{PATIENCE}s",
    "jit": "off",
}
"""So that results follow from tables and SQL alone. All are set for each transaction, because a
session may be handed on by a pooler; only names of the server's own catalog are found unqualified,
so that nobody can put a function in between."""

READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE"


class Sessions:
    """Connections to one database, as many as are in use at once."""

    def __init__(self, address: str, limits: ResourceLimits = LIMITS) -> None:
        self.psycopg = psycopg_module()
        self._address, self.limits = address, limits
        self._lock, self._process = Lock(), os.getpid()
        self._idle: list[Connection[Any]] = []
        self._parents: list[Connection[Any]] = []
        self._is_closed = False

    @contextmanager
    def transaction(self) -> Iterator["Connection[Any]"]:
        """Yield a connection inside a read-only transaction; what takes too long is cancelled."""
        connection = self._begun()
        time = deadlines().within(self.limits.timeout + GRACE, connection.cancel)
        with self._given_back(connection), time:
            yield connection
            connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator["Connection[Any]"]:
        """Yield a connection inside a transaction that may write and takes its time.

        All that was written is there when it ends; nothing of it, if that is by an error.
        """
        connection = self._begun(WRITING)
        with self._given_back(connection):
            connection.execute("SET LOCAL statement_timeout = 0")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _given_back(self, connection: "Connection[Any]") -> Iterator[None]:
        """Keep a connection for the next use; close it if something went wrong."""
        try:
            yield
        except BaseException:
            with suppress(self.psycopg.Error):
                connection.close()
            raise
        with self._lock:
            is_kept = not self._is_closed
            if is_kept:
                self._idle.append(connection)
        if not is_kept:
            connection.close()

    def close(self) -> None:
        """Close what is idle now, and the rest when it is given back."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for each in idle:
            with suppress(self.psycopg.Error):
                each.close()

    def _settings(self) -> Iterator[str]:
        for name, value in SETTINGS.items():
            yield f"SET LOCAL {name} = {_listed(value)}"
        yield f"SET LOCAL statement_timeout = {max(1, int(self.limits.timeout * 1000))}"
        if self.limits.memory is not None:
            yield f"SET LOCAL work_mem = '{_memory(self.limits.memory)}'"
        if self.limits.threads is not None:
            yield f"SET LOCAL max_parallel_workers_per_gather = {int(self.limits.threads) - 1}"

    def _begun(self, how: str = READING) -> "Connection[Any]":
        """Return a connection in a transaction; an idle one that was cut off is replaced."""
        beginning = "; ".join([how, *self._settings()])
        while (connection := self._taken()) is not None:
            with suppress(self.psycopg.OperationalError):
                connection.execute(beginning)
                return connection
            connection.close()
        connection = self._connected()
        connection.execute(beginning)
        return connection

    def _taken(self) -> "Connection[Any] | None":
        """Return an idle connection, if there is one; those of before a fork are the parent's."""
        with self._lock:
            if self._process != os.getpid():
                self._parents, self._idle, self._process = self._idle, [], os.getpid()
            return self._idle.pop() if self._idle else None

    def _connected(self) -> "Connection[Any]":
        try:
            connection: Connection[Any] = self.psycopg.connect(
                self._address,
                autocommit=True,  # transactions begin and end where we say so
                prepare_threshold=None,
                client_encoding="UTF8",
                application_name="discreet",
                connect_timeout=PATIENCE,
            )
        except self.psycopg.Error as cause:
            raise SourceError(
                "The server cannot be reached, or it rejects this role",
                "Check the address, the role and the server",
            ) from cause
        if connection.info.server_version < OLDEST:
            connection.close()
            raise SourceError("The server is older than PostgreSQL 17", "Use a newer one")
        if connection.info.parameter_status("server_encoding") != "UTF8":
            connection.close()
            raise SourceError(
                "The database is not encoded in UTF-8", "Copy the tables to a database that is"
            )
        return connection


def _listed(value: str) -> str:
    return ", ".join(f"'{each.strip()}'" for each in value.split(","))


def _memory(text: str) -> str:
    """Return an amount in PostgreSQL's words, whose kB, MB and GB are powers of two."""
    digits, unit = text.replace(" ", "").rstrip("iBKMGT"), text.rstrip("B").rstrip("i")[-1]
    kilobytes = float(digits) * {"K": 1, "M": 1024, "G": 1024**2, "T": 1024**3}[unit]
    return f"{int(max(64, min(kilobytes, 2**31 - 1)))}kB"
