"""Addresses of servers that hold tables, as a catalog may name them: without a password."""

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

EMBEDDED = "duckdb"
"""The engine of this process, into which tables are copied."""

SERVERS = ("postgresql://", "postgres://")
"""How addresses of engines begin that hold the tables themselves."""

SPARK = re.compile(r"(spark|k8s)://.+|yarn|local(\[[0-9*]+(, ?[0-9]+)?\])?")
"""Addresses of Spark, as Spark itself has them."""

FILES = (".parquet", ".pq", ".parq", ".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
"""How names end that are files for Spark, and no tables of its catalog."""

ENVIRONMENT = "env:"
"""Before the name of a variable that holds an address, so that no file has it."""


def is_on_server(address: object) -> bool:
    """Return whether this is the address of a server that holds tables."""
    return isinstance(address, str) and (address.startswith(SERVERS) or is_spark(address))


def is_spark(address: str) -> bool:
    """Return whether this is an address of Spark: of a cluster, or local[*] for this machine."""
    return SPARK.fullmatch(address) is not None


def beside(source: str | None, folder: Path | None) -> str | None:
    """Return what Spark reads: a file of that folder, or as it stands a table or a whole path."""
    if source is None or folder is None or "://" in source:
        return source
    return str(folder / source) if source.casefold().endswith(FILES) else source


def without_password(address: str) -> str:
    """Return an address that may be shown; the same one if it has no password."""
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    name, colon, secret = user.partition(":")
    options = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(key, value) for key, value in options if "pass" not in key.casefold()]
    if not (colon and secret) and len(kept) == len(options):
        return address
    return urlunsplit(parts._replace(netloc=f"{name}{at}{host}", query=urlencode(kept)))
