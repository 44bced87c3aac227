"""Storage in one schema on a PostgreSQL server, with durable transactions.

All writers take turns by a lock of the server, and read what the others committed only when they
have it. Should the lock ever fail to hold, the primary key still does: of two rows with the same
number the server keeps one. So no two charges can rest on the same balance.

A transaction that is cut off is never sent again from here. If it was committed, the next one finds
what it wrote: a query that was charged is free.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from discreet.accounting import Budget
from discreet.errors import LedgerError, ParameterError
from discreet.extras import psycopg_module
from discreet.ledger.blocks import PerMonth
from discreet.ledger.charges import disjoint_from
from discreet.ledger.forks import SharedStorage
from discreet.ledger.policy import Policy
from discreet.ledger.postgres_rows import MAKE, Found, PostgresTransaction, in_schema
from discreet.ledger.state import ALTERED, LedgerState, NewEntry, StoredEntry
from discreet.ledger.storage import BUSY, CLOSED, LENGTH, Mode, Words
from discreet.ledger.stored import StoredLedger
from discreet.noise import SYSTEM

if TYPE_CHECKING:
    from psycopg import Connection


PATIENCE = 60.0
"""Seconds to wait while others write, and for a server that does not answer."""


FAILED = (
    "The ledger's server failed while it was read or written",
    "Check the server and run the query again. A charge is not made twice",
)


AWAY = ("The ledger's server cannot be reached", "Check the server and its address")


DENIED = ("The role lacks rights on the ledger's server", "Check the rights of the role")


MISSING = ("There is no ledger in this schema", "Check the address")


UNSAFE = (
    "The ledger's server runs with fsync = off and could lose charges",
    "Set fsync = on",
)


FOLLOWER = (
    "The ledger's server is a read-only replica",
    "Use the address of the primary server",
)


BEGIN: Mapping[Mode, str] = {
    "read": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    # Each statement sees what was committed before it: those after the lock see everything.
    "write": "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
}


LOCK = """SELECT pg_advisory_xact_lock(
    (1145656131::bigint << 32) + '{schema}.entries'::regclass::oid::bigint)"""


MAKING = "SELECT pg_advisory_xact_lock(1145656131::bigint << 32)"
"""Locks of ours are numbered from "DISC" on, and by the table."""


IS_MADE = """SELECT EXISTS (SELECT FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = %s AND c.relname = %s)"""


MAKE_SECRET = (
    "CREATE TABLE {schema}.secret (key bytea NOT NULL)",
    "REVOKE ALL ON {schema}.secret FROM PUBLIC",
)


KEEP_KEY = "INSERT INTO {schema}.secret VALUES (%s)"


KEY = "SELECT key FROM {schema}.secret"


MAY_MAKE = "SELECT pg_catalog.has_schema_privilege(%s, 'CREATE')"


MAY_READ = "SELECT pg_catalog.has_table_privilege('{schema}.secret', 'SELECT')"
"""What makes names of releases impossible to guess for who may read the entries only."""


HAS_SCHEMA = "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = %s)"


SERVER = "SELECT pg_catalog.current_setting('fsync'), pg_catalog.pg_is_in_recovery()"


class PostgresStorage(SharedStorage):
    """A ledger's schema on a server."""

    def __init__(self, address: str, schema: str) -> None:
        self._psycopg = psycopg_module()
        self._address, self._schema = address, check_schema_name(schema)
        self._connection: Connection[Found] | None = None
        super().__init__()

    def make(self, first: StoredEntry) -> None:
        """Make a ledger of one entry, whole or not at all; one that is there is left alone."""
        with self._guarded():
            connection = self._usable()
            self._run(connection, *self._settings("write"), MAKING)
            if not self._is_made(connection):
                if not self._has_schema(connection):
                    self._run(connection, "CREATE SCHEMA {schema}")
                self._run(connection, *MAKE)
                PostgresTransaction(connection, self._schema).append(first, None)
                self._make_secret(connection)
            self._commit(connection)

    def check_made(self) -> None:
        """Reject a schema without a ledger."""
        with self._guarded():
            if not self._is_made(self._usable()):
                raise LedgerError(*MISSING)

    @contextmanager
    def transaction(self, mode: Mode) -> Iterator[PostgresTransaction]:
        """Commit what is done inside, durably, or leave nothing of it, or leave it unknown.

        After a connection is lost the next transaction makes a new one. Rows that are not as they
        were written end the use of the ledger.
        """
        with self._guarded():
            connection = self._begun(mode)
            try:
                yield PostgresTransaction(connection, self._schema)
            except LedgerError as refusal:
                self._refusal = (refusal.problem, refusal.instead)
                raise
            self._commit(connection)

    def may_begin(self) -> bool:
        """Return False: a ledger is made together with its first entry."""
        return False

    def has_begun(self) -> None:
        """Note nothing: a ledger is made together with its first entry."""

    def key(self) -> bytes | None:
        """Return the secret in a table beside the entries, made if an older ledger has none."""
        if self._key is None:
            with self._guarded():
                connection = self._usable()
                self._run(connection, *self._settings("write"), MAKING)
                self._make_secret(connection)
                found = self._secret(connection)
                self._commit(connection)
            self._key = found
        return self._key

    def _make_secret(self, connection: "Connection[Found]") -> None:
        """Make the table of the secret if it is not there and the role may."""
        ((may_make,),) = connection.execute(MAY_MAKE, (self._schema,)).fetchall()
        if may_make and not self._is_made(connection, "secret"):
            self._run(connection, *MAKE_SECRET)
            keep = in_schema(KEEP_KEY, self._schema)
            connection.execute(keep, (SYSTEM.draw(LENGTH),))

    def _secret(self, connection: "Connection[Found]") -> bytes | None:
        """Return the secret, None if it is not there or the role may not read it."""
        is_there = self._is_made(connection, "secret")
        may_read = in_schema(MAY_READ, self._schema)
        if not is_there or connection.execute(may_read).fetchall() != [(True,)]:
            return None
        found = connection.execute(in_schema(KEY, self._schema)).fetchall()
        if len(found) != 1 or len(found[0][0]) != LENGTH:
            raise LedgerError(*ALTERED)
        return bytes(found[0][0])

    def rest(self) -> None:
        """Close the connection until it is needed again."""
        with self.alone():
            connection, self._connection = self._connection, None
            if connection is not None:
                with suppress(self._psycopg.Error):
                    connection.close()

    def close(self) -> None:
        """Reject everything from now on."""
        with self.alone():
            self._refusal = CLOSED
            self.rest()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Have nothing left open when something fails, and only fixed words told of it."""
        with self.alone():
            try:
                yield
            except self._psycopg.Error as cause:
                self.rest()
                raise LedgerError(*self._words(cause)) from cause
            except LedgerError:
                self.rest()
                raise
            except BaseException:
                self._roll_back()
                raise

    def _begun(self, mode: Mode) -> "Connection[Found]":
        """Begin, on a new connection if the old one was cut: nothing was sent on it yet."""
        statements = self._settings(mode) + ((LOCK,) if mode == "write" else ())
        if self._connection is not None:
            try:
                self._run(self._usable(), *statements)
            except self._psycopg.OperationalError as cause:
                if isinstance(cause, self._psycopg.errors.LockNotAvailable):
                    raise
                self.rest()
            else:
                return self._connection
        connection = self._usable()
        self._run(connection, *statements)
        return connection

    def _settings(self, mode: Mode) -> tuple[str, ...]:
        """Return how a transaction begins; nothing rests on the session, which may be pooled."""
        milliseconds = int(PATIENCE * 1000)
        return (
            BEGIN[mode],
            "SET LOCAL search_path = pg_catalog",
            "SET LOCAL synchronous_commit = on",
            f"SET LOCAL lock_timeout = {milliseconds}",
            f"SET LOCAL idle_in_transaction_session_timeout = {milliseconds // 2}",
        )

    def _commit(self, connection: "Connection[Found]") -> None:
        done = connection.execute("COMMIT").statusmessage
        if done != "COMMIT":  # what failed before is rolled back without an error
            raise self._psycopg.OperationalError

    def _run(self, connection: "Connection[Found]", *statements: str) -> None:
        connection.execute(in_schema("; ".join(statements), self._schema))

    def _is_made(self, connection: "Connection[Found]", table: str = "entries") -> bool:
        found = connection.execute(IS_MADE, (self._schema, table)).fetchall()
        return bool(found[0][0])

    def _has_schema(self, connection: "Connection[Found]") -> bool:
        found = connection.execute(HAS_SCHEMA, (self._schema,)).fetchall()
        return bool(found[0][0])

    def _usable(self) -> "Connection[Found]":
        self.check_open()
        if self._connection is None:
            self._connection = self._connected()
        return self._connection

    def _connected(self) -> "Connection[Found]":
        options: dict[str, Any] = {
            "autocommit": True,  # transactions begin and end where we say so
            "prepare_threshold": None,
            "client_encoding": "UTF8",
            "application_name": "discreet ledger",
            "connect_timeout": int(PATIENCE) or 1,
            "tcp_user_timeout": int(PATIENCE * 1000),
        }
        try:
            connection: Connection[Found] = self._psycopg.connect(self._address, **options)
        except self._psycopg.Error as cause:
            raise LedgerError(*AWAY) from cause
        try:
            _check_server(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _words(self, error: Exception) -> Words:
        if isinstance(error, self._psycopg.errors.LockNotAvailable):
            return BUSY
        if isinstance(error, self._psycopg.errors.InsufficientPrivilege):
            return DENIED
        return FAILED

    def _roll_back(self) -> None:
        if self._connection is not None:
            try:
                self._connection.execute("ROLLBACK")
            except self._psycopg.Error:
                self.rest()

    def __del__(self) -> None:
        connection = getattr(self, "_connection", None)
        if connection is not None and self._process == os.getpid():
            connection.close()


def _check_server(connection: "Connection[Found]") -> None:
    """Reject a server that could forget what it said was written, or that cannot write."""
    ((fsync, follows),) = connection.execute(SERVER).fetchall()
    if fsync != "on":
        raise LedgerError(*UNSAFE)
    if follows:
        raise LedgerError(*FOLLOWER)


def check_schema_name(schema: object) -> str:
    """Return a schema's name that needs no quotes, or reject it."""
    if not isinstance(schema, str) or re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema) is None:
        rule = (
            "must be 1 to 63 lower-case letters, digits or underscores, and not begin with a digit"
        )
        raise ParameterError("schema", schema, rule)
    return schema


SCHEMA = "discreet"
"""The schema of an address that names none."""


class PostgresLedger(StoredLedger):
    """The ledger of one data set's budget, in one schema of a PostgreSQL database.

    The address is libpq's, "postgresql://role@host/database", and may name the schema after a
    "#". It promises what SqliteLedger promises. A server that fails or cannot be reached means that
    nothing is answered meanwhile; afterwards the ledger goes on by itself. If a connection is lost
    while a charge is committed, nobody knows whether it was: the call raises LedgerError, and
    charging for the same question again finds out, and never charges twice.
    """

    def __init__(  # noqa: PLR0913 - the policy, field by field
        self,
        address: str,
        *,
        budget: Budget,
        neighbours: str = "add-remove",
        disjoint: Iterable[Collection[str]] = (),
        per_month: PerMonth | None = None,
        data: Collection[str] = (),
    ) -> None:
        policy = Policy(
            total=budget,
            neighbours=neighbours,
            disjoint=disjoint_from(disjoint),
            per_month=per_month,
            data=frozenset(data),
        )
        storage = PostgresStorage(*parted(address))
        storage.make(
            LedgerState().row(NewEntry(kind="policy", about=policy.record), datetime.now(UTC))
        )
        super().__init__(storage, policy)

    @classmethod
    def existing(cls, address: str) -> Self:
        """Open a ledger under the policy that it records; none is made where there is none."""
        storage = PostgresStorage(*parted(address))
        storage.check_made()
        ledger = cls.__new__(cls)
        StoredLedger.__init__(ledger, storage, None)
        return ledger


def parted(address: str) -> tuple[str, str]:
    """Return libpq's part of an address, and the schema."""
    server, _, schema = address.partition("#")
    return server, schema or SCHEMA
