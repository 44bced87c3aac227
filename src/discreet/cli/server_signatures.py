"""The options of commands that run a server or reach one; see `signatures`."""
# ruff: noqa: PLR0913, PLR0917 - each argument is an option

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.app import runs
from discreet.cli.options import DEFAULT_CATALOG, Catalog, Server, exact


@runs("serve")
def serve(
    catalogs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=]CATALOG...",
            help="Catalogs to serve. Default: discreet.toml.",
            show_default=False,
        ),
    ] = None,
    is_demo: Annotated[
        bool, typer.Option("--demo", help="Serve synthetic clinics, and print a sign-in link.")
    ] = False,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="The address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", help="The port to listen on.")] = 8421,
    pg_port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="Also a port for PostgreSQL clients, such as 5433."),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The certificate of the server.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The key of the certificate.")
    ] = None,
    behind_proxy: Annotated[
        bool,
        typer.Option("--behind-proxy", help="A proxy in front of the server encrypts."),
    ] = False,
    host_names: Annotated[
        list[str] | None,
        typer.Option(
            "--host-name", metavar="NAME", help="A name under which the server is reached."
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings: limits, clock tick, approvals.")
    ] = None,
    has_agents: Annotated[
        bool, typer.Option("--mcp", help="Let AI agents ask, at /mcp, with tokens of accounts.")
    ] = False,
) -> None:
    """Serve catalogs over HTTP."""


@runs("mcp")
def mcp(
    catalog: Catalog = DEFAULT_CATALOG,
    account: Annotated[
        str | None,
        typer.Option(
            "--as", "--account", metavar="NAME", help="The agent's account (owners only)."
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="DISCREET_TOKEN", metavar="TOKEN", help="Access token of the agent's account."
        ),
    ] = None,
    server: Server = None,
    max_epsilon: Annotated[
        Fraction | None,
        typer.Option(
            parser=exact,
            metavar="E",
            help="The most ε that this process may spend in total. Default: what the account has.",
        ),
    ] = None,
    is_read_only: Annotated[
        bool, typer.Option("--read-only", help="Leave out the tool that spends budget.")
    ] = False,
) -> None:
    """Answer an agent over standard input and output."""


@runs("login")
def login(
    url: Annotated[str, typer.Argument(metavar="URL", help="The address of a server.")],
    token: Annotated[
        str | None,
        typer.Option(
            envvar="DISCREET_TOKEN",
            metavar="TOKEN",
            help="The token; without it, sign in at the server's OpenID provider, or type it.",
        ),
    ] = None,
    is_out: Annotated[bool, typer.Option("--out", help="Forget the token of the server.")] = False,
) -> None:
    """Keep the token of a server, for this user alone."""
