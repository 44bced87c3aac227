"""`discreet serve`: analysts ask over HTTP and never touch the data."""

from pathlib import Path

from discreet.cli.console import show
from discreet.cli.tour import make_anew
from discreet.errors import ParameterError
from discreet.extras import load

DEMO = Path("discreet-demo")


def serve(  # noqa: PLR0913 - each is an option
    *,
    catalogs: list[str] | None,
    is_demo: bool,
    host: str,
    port: int,
    tls_cert: Path | None,
    tls_key: Path | None,
    behind_proxy: bool,
    host_names: list[str] | None,
    config: Path | None,
) -> None:
    """Serve catalogs over HTTP until the process is told to stop."""
    if is_demo and catalogs:
        raise ParameterError("--demo", catalogs[0], "must be alone: it makes up its own catalog")
    run, sites, settings = (
        load(f"discreet.server.{each}", what="The server", extra="server")
        for each in ("run", "sites", "settings")
    )
    address = run.Address(
        host=host,
        port=port,
        tls_cert=tls_cert,
        tls_key=tls_key,
        is_behind_proxy=behind_proxy,
        host_names=tuple(host_names or ()),
    )
    run.serve(
        {"demo": make_anew(DEMO)} if is_demo else sites.named_paths(catalogs or ["discreet.toml"]),
        address=address,
        settings=settings.read_settings(config),
        is_demo=is_demo,
        tell=show,
    )
