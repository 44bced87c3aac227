"""Addresses of servers that hold tables, as a catalog may name them: without a password."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

EMBEDDED = "duckdb"
"""The engine of this process, into which tables are copied."""

SERVERS = ("postgresql://", "postgres://")
"""How addresses of engines begin that hold the tables themselves."""

ENVIRONMENT = "env:"
"""Before the name of a variable that holds an address, so that no file has it."""


def is_on_server(address: object) -> bool:
    """Return whether this is the address of a server that holds tables."""
    return isinstance(address, str) and address.startswith(SERVERS)


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
