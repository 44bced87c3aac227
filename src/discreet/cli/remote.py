"""A server in place of the data: what `--server` means."""

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.console import remark
from discreet.cli.options import DEFAULT_CATALOG, AccountOptions
from discreet.extras import load

if TYPE_CHECKING:
    from discreet.client import Remote


def connected(catalog: Path, account: AccountOptions) -> "Remote":
    """Return a client of the server of an account."""
    client = load("discreet.client", what="The client of a server", extra="client")
    name = None if catalog == DEFAULT_CATALOG else str(catalog)
    remote: Remote = client.connect(account.server, account.token, catalog=name)
    remote.on_wait = remark
    return remote
