"""`discreet mcp`: an AI agent asks over the Model Context Protocol."""

from fractions import Fraction
from pathlib import Path

import typer

from discreet.cli.options import account_options
from discreet.cli.remote import connected
from discreet.errors import CatalogError, ParameterError
from discreet.extras import load


def mcp(  # noqa: PLR0913 - each is an option
    *,
    catalog: Path,
    account: str | None,
    token: str | None,
    server: str | None,
    max_epsilon: Fraction | None,
    is_read_only: bool,
) -> None:
    """Answer an agent over standard input and output, until it ends."""
    charged = account_options(account, token, server)
    if max_epsilon is not None and max_epsilon <= 0:
        raise ParameterError("--max-epsilon", max_epsilon, "must be more than 0")
    module = load("discreet.agents.over_stdio", what="The interface for agents", extra="mcp")
    limits = {"most": max_epsilon, "is_read_only": is_read_only}
    if charged.server is not None:
        with connected(catalog, charged) as remote:
            module.serve_remote(remote, **limits)
        return
    if charged.name is None and charged.token is None:
        raise typer.BadParameter(
            "An agent needs an account of its own: make one with discreet analyst add NAME, and "
            "name it with --as NAME or DISCREET_TOKEN."
        )
    if not catalog.exists():
        raise CatalogError(f"Catalog {catalog} not found", "Name its file with --catalog")
    found = (
        module.account_named(charged.name)
        if charged.name is not None
        else module.account_with(charged.token)
    )
    module.serve_catalog(catalog, found, **limits)
