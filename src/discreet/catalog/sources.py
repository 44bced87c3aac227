"""The database that holds the tables, its limits and its address, as declared."""

import re
from fractions import Fraction
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from discreet.catalog.catalog import RowChoice, SourcePolicy
from discreet.catalog.entries import (
    Location,
    check_choice,
    check_integer,
    check_number_between,
    check_section,
    check_table,
    check_text,
    value_text,
)

EMBEDDED = "duckdb"
"""The engine inside this process. Tables are copied into it."""

SERVERS = ("postgresql://", "postgres://")
"""The beginnings of addresses of PostgreSQL, where tables stay on the server."""

SPARK = re.compile(r"(spark|k8s|sc)://.+|yarn|local(\[[0-9*]+(, ?[0-9]+)?\])?")
"""Addresses of Spark, as Spark writes them."""

CONNECT = "sc://"
"""The beginning of addresses of Spark Connect."""

SHOWN = {"use_ssl", "user_id", "session_id", "user_agent", "grpc_max_message_size"}
"""What may be shown of the parameters of such an address; others are tokens and headers."""

PARQUET = (".parquet", ".pq", ".parq")

FILES = (*PARQUET, ".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
"""Endings of names that Spark reads as files, not as tables of its own catalog."""

ENVIRONMENT = "env:"
"""Precedes the name of an environment variable that holds an address."""

SOURCE = ("engine", "memory_limit", "threads", "timeout", "version", "ledger", "row_choice")

OLD_ROW_CHOICE = "bounding"
"""The name of row_choice until 0.2. Catalogs that have it are read without complaint."""


def source_policy(
    location: Location, value: object, folder: Path | None
) -> tuple[SourcePolicy, str | None]:
    """Return the declared source of the data, and the location of the ledger."""
    entries = check_table(location, value)
    row_choice = _row_choice(location, entries)
    given = check_section(location, entries, SOURCE)
    engine = _engine(location.at("engine"), given.get("engine", EMBEDDED))
    policy = SourcePolicy(
        engine=engine,
        memory_limit=_memory(location.at("memory_limit"), given.get("memory_limit")),
        threads=_threads(location.at("threads"), given.get("threads")),
        timeout=_timeout(location.at("timeout"), given.get("timeout")),
        version=_version(location.at("version"), given.get("version")),
        row_choice=row_choice,
    )
    return policy, _ledger(location.at("ledger"), given.get("ledger"), folder)


ENGINE_FIX = (
    'Write "duckdb", "postgresql://user@host/database", "spark://host:7077", "sc://host:15002" or '
    '"env:NAME"'
)


def _engine(location: Location, value: object) -> str:
    """Return where the tables are. An environment variable is looked up when they are opened."""
    if isinstance(value, str) and value.startswith(ENVIRONMENT):
        return _variable(location, value, "engine")
    if value != EMBEDDED and not is_on_server(value):
        raise location.invalid(f"is not an engine: {value_text(value)}", ENGINE_FIX)
    address = str(value)
    if without_password(address) != address:
        fix = 'Put the address in an environment variable and write engine = "env:NAME"'
        raise location.invalid("contains a password, but the catalog is public", fix)
    return address


def _row_choice(location: Location, entries: dict[str, object]) -> RowChoice:
    """Return when rows are chosen, and take the entry out under its old name.

    On a server, "once" applies only after the owner has prepared the tables.
    """
    key = "row_choice" if OLD_ROW_CHOICE not in entries else OLD_ROW_CHOICE
    value = entries.pop(OLD_ROW_CHOICE, entries.get("row_choice", RowChoice.ONCE))
    if key == OLD_ROW_CHOICE and "row_choice" in entries:
        rule = "is the old name of row_choice, which is declared as well"
        raise location.at(key).invalid(rule, f"Remove {OLD_ROW_CHOICE}")
    return check_choice(location.at(key), value, RowChoice)


def _memory(location: Location, value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]+(\.[0-9]+)? ?[KMGT]i?B", value):
        rule = f"must be a number with a unit, not {value_text(value)}"
        raise location.invalid(rule, 'Write for example memory_limit = "4 GB"')
    return value


def _threads(location: Location, value: object) -> int | None:
    if value is None:
        return None
    return check_integer(location, value, 1, 4096, "Write for example threads = 4")


def _timeout(location: Location, value: object) -> Fraction | None:
    if value is None:
        return None
    fix = "Write it in seconds, for example timeout = 60"
    return check_number_between(location, value, Fraction(1, 1000), 10**9, fix)


def _version(location: Location, value: object) -> str | None:
    fix = 'Write a name for the current data, for example version = "2024-11"'
    return None if value is None else check_text(location, value, fix)


def _ledger(location: Location, value: object, folder: Path | None) -> str | None:
    """Return where the ledger is. An environment variable is looked up when it is opened."""
    if isinstance(value, str) and value.startswith(ENVIRONMENT):
        return _variable(location, value, "ledger")
    return file_path(location, value, folder)


def _variable(location: Location, value: str, key: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value.removeprefix(ENVIRONMENT)):
        rule = f"must have the name of an environment variable after {ENVIRONMENT}"
        raise location.invalid(rule, f'Write for example {key} = "env:DISCREET_{key.upper()}"')
    return value


def file_path(location: Location, value: object, folder: Path | None) -> str | None:
    """Return the path of a file, relative to the folder if there is one. Addresses stay as is."""
    if value is None:
        return None
    path = check_text(location, value, "Write the path of a file")
    return path if folder is None or "://" in path else str(folder / path)


# --------------------------------------------------------------------------- addresses


def is_on_server(address: object) -> bool:
    """Return whether this is the address of PostgreSQL or Spark, where tables stay."""
    return isinstance(address, str) and (address.startswith(SERVERS) or is_spark(address))


def is_spark(address: str) -> bool:
    """Return whether this is an address of Spark: a cluster, or local[*] for this machine."""
    return SPARK.fullmatch(address) is not None


def beside(source: str | None, folder: Path | None) -> str | None:
    """Return the source for Spark: a file in the folder, or a table or full path unchanged."""
    if source is None or folder is None or "://" in source:
        return source
    is_file = is_spark_path(source) or source.casefold().endswith(FILES)
    return str(folder / source) if is_file else source


def is_spark_path(source: str) -> bool:
    """Return whether Spark finds a table by this path; other names are of its catalog.

    A name with a slash is the path of a file or folder, unless it is quoted.
    """
    is_quoted = source.startswith("`")
    return not is_quoted and ("/" in source or source.casefold().endswith(PARQUET))


def without_password(address: str) -> str:
    """Return the address without its password, so that it can be shown."""
    if address.startswith(CONNECT):
        place, *given = address.split(";")
        host = place.removeprefix(CONNECT).rpartition("@")[2]
        shown = [each for each in given if each.partition("=")[0] in SHOWN]
        return ";".join([f"{CONNECT}{host}", *shown])
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    name, colon, secret = user.partition(":")
    options = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(key, value) for key, value in options if "pass" not in key.casefold()]
    if not (colon and secret) and len(kept) == len(options):
        return address
    return urlunsplit(parts._replace(netloc=f"{name}{at}{host}", query=urlencode(kept)))
