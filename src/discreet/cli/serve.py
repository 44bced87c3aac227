"""`discreet serve`: analysts ask over HTTP and never touch the data."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.console import show, waiting
from discreet.cli.tour import make_anew
from discreet.errors import ParameterError
from discreet.extras import load
from discreet.ledger import make_token
from discreet.server.settings import read_settings

if TYPE_CHECKING:
    from discreet.server.run import Running

DEMO = Path("discreet-demo")
BOSS = "demo"


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
    for name in ("fastapi", "uvicorn"):
        load(name, what="The server", extra="server")
    from discreet.server.run import Address, Running, open_sites, owners_of  # noqa: PLC0415
    from discreet.server.sites import named_paths  # noqa: PLC0415

    if is_demo and catalogs:
        raise ParameterError("--demo", catalogs[0], "must be alone: it makes up its own catalog")
    address = Address(
        host=host,
        port=port,
        tls_cert=tls_cert,
        tls_key=tls_key,
        is_behind_proxy=behind_proxy,
        host_names=tuple(host_names or ()),
    )
    settings = read_settings(config)
    with ExitStack() as stack:
        with waiting("opening the data"):
            paths = (
                {"demo": make_anew(DEMO)} if is_demo else named_paths(catalogs or ["discreet.toml"])
            )
            sites = open_sites(paths, stack)
        running = Running(sites=sites, address=address, settings=settings)
        show(f"Serving {', '.join(sites)} at {address.url}. Stop with Ctrl-C.")
        if is_demo:
            _welcome(running)
        for name in sites.keys() - set(owners_of(sites)):
            show(
                f"Nobody can sign in to {name} as its owner. "
                f"Run: discreet analyst add NAME --role owner --catalog {paths[name]}"
            )
        running.run()


def _welcome(running: "Running") -> None:
    """Add an owner to the synthetic clinics, and print how to sign in."""
    from discreet.server.callers import Caller  # noqa: PLC0415

    (site,) = running.sites.values()
    token = make_token()
    site.ledger.declare_analyst(BOSS, epsilon=0, token_hash=token.hash, role="owner")
    caller = Caller(name=BOSS, role="owner", site=site)
    show(f"Sign in: {running.link({site.name: caller})}")
    show(f"For programs: Authorization: Bearer {token.text}")
