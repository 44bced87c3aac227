"""`discreet login`: keeps the token of a server in a file that only this user may read.

Without a token, it signs in at the OpenID provider of the server, if that has one.
"""

from types import ModuleType
from typing import Any

import typer

from discreet.cli.console import remark, show
from discreet.extras import load


def login(*, url: str, token: str | None, is_out: bool) -> None:
    """Keep the token of a server once the server has accepted it, or forget it."""
    client, credentials, oidc = (
        load(f"discreet.client.{each}", what="The client of a server", extra="client")
        for each in ("remote", "credentials", "oidc")
    )
    if is_out:
        credentials.keep_credential(url, None)
        show(f"The token of {url} is forgotten here. Ask the data owner to end it everywhere.")
        return
    given = token or _signed_in(oidc, url) or typer.prompt("Token", hide_input=True, err=True)
    names = client.catalogs_at(url, getattr(given, "access_token", given))
    path = credentials.keep_credential(url, given)
    show(f"Signed in to {url}: {', '.join(names)}. The token is in {path}.")


def _signed_in(oidc: ModuleType, url: str) -> Any:
    """Sign in at the provider of a server; None if it has none."""
    device = oidc.device_of(url)
    if device is None:
        return None
    found = oidc.sign_in(
        device,
        tell=lambda prompt: remark(f"Open {prompt.url} and enter the code {prompt.code}"),
    )
    remark(f"{device.issuer} signed you in.")
    return found
