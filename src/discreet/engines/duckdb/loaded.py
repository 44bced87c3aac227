"""Tables as they are loaded: in a file of their own, beside the one that becomes a copy.

They are dropped when they are prepared. What is dropped from a file stays in it, as room for more:
it would be nearly half of a copy, which would be copied with it whenever it grows.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from discreet.engines.dialect import text_literal
from discreet.engines.duckdb.dialect import DUCKDB

STORED, LOADED = "stored", "loaded"
"""What the two databases are called while a copy is made."""


def loaded_file(part: Path) -> Path:
    """Return the file of loaded tables beside the one that becomes a copy."""
    return part.with_name(LOADED)


@contextmanager
def both_files(part: Path, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let a connection write into the file that becomes a copy, and read what was loaded."""
    connection.execute(f"ATTACH {text_literal(str(part))} AS {STORED}")
    connection.execute(f"USE {STORED}")
    if loaded_file(part).exists():
        _attach(connection, part)
    yield
    connection.execute("USE memory")
    connection.execute(f"DETACH {STORED}")
    connection.execute(f"DETACH DATABASE IF EXISTS {LOADED}")


def _attach(connection: duckdb.DuckDBPyConnection, part: Path) -> None:
    file = loaded_file(part)
    connection.execute(f"ATTACH IF NOT EXISTS {text_literal(str(file))} AS {LOADED}")
    file.chmod(0o600)
    connection.execute(f"SET search_path = '{STORED},{LOADED}'")


@contextmanager
def loading(connection: duckdb.DuckDBPyConnection, part: Path, name: str) -> Iterator[None]:
    """Let a table be loaded into the file of loaded tables; what was begun of it is dropped."""
    _attach(connection, part)
    for each in (STORED, LOADED):
        connection.execute(f"DROP TABLE IF EXISTS {each}.main.{DUCKDB.quoted(name)}")
    connection.execute(f"USE {LOADED}")
    yield
    connection.execute(f"SET search_path = '{STORED},{LOADED}'")


def keep_loaded(connection: duckdb.DuckDBPyConnection, besides: Collection[str]) -> None:
    """Store the tables that were loaded there, besides those that are prepared."""
    listed = connection.execute(
        "SELECT database_name, table_name FROM duckdb_tables() WHERE schema_name = 'main'"
    ).fetchall()
    here = {name for database, name in listed if database == STORED}
    for database, name in listed:
        if database == LOADED and name not in {*here, *besides}:
            table = f"main.{DUCKDB.quoted(name)}"
            connection.execute(f"CREATE TABLE {STORED}.{table} AS FROM {LOADED}.{table}")
