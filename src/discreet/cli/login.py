"""`discreet login`: keeps the token of a server in a file that only this user may read."""

import typer

from discreet.cli.console import show
from discreet.extras import load


def login(*, url: str, token: str | None, is_out: bool) -> None:
    """Keep the token of a server once the server has accepted it, or forget it."""
    client, credentials = (
        load(each, what="The client of a server", extra="client")
        for each in ("discreet.client.remote", "discreet.client.credentials")
    )
    if is_out:
        credentials.keep_token(url, None)
        show(f"The token of {url} is forgotten here. Ask the data owner to end it everywhere.")
        return
    given = token or typer.prompt("Token", hide_input=True, err=True)
    names = client.catalogs_at(url, given)
    path = credentials.keep_token(url, given)
    show(f"Signed in to {url}: {', '.join(names)}. The token is in {path}.")
