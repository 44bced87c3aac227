"""`discreet serve`: analysts ask over HTTP and never touch the data."""

import shutil
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.cli.console import show
from discreet.cli.tour import make_anew
from discreet.demo import write_rides
from discreet.errors import CatalogError, ParameterError
from discreet.extras import load

DEMO = Path("discreet-demo")
ELSEWHERE = "Run discreet serve --demo in another folder"


def serve(  # noqa: PLR0913 - each is an option
    *,
    catalogs: list[str] | None,
    is_demo: bool,
    host: str,
    port: int,
    pg_port: int | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    behind_proxy: bool,
    host_names: list[str] | None,
    config: Path | None,
    has_agents: bool,
) -> None:
    """Serve catalogs over HTTP until the process is told to stop."""
    if is_demo and catalogs:
        raise ParameterError("--demo", catalogs[0], "must be alone: it has its own synthetic data")
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
    chosen = settings.read_settings(config)
    if has_agents:
        chosen = replace(chosen, agents=True)
    paths = {} if is_demo else sites.named_paths(catalogs or ["discreet.toml"])
    for each in paths.values():
        _check(each)
    with ExitStack() as stack:  # before a demo that runs loses its ledger
        place = stack.enter_context(run.listening(address))
        pg_place = None
        if pg_port is not None:
            pg_address = run.pg_address(address, pg_port)
            pg_place = stack.enter_context(run.listening(pg_address, "--pg-port"))
        run.serve(
            {"demo": make_anew(DEMO, ELSEWHERE)} if is_demo else paths,
            place=place,
            settings=_with_data_to_add(chosen) if is_demo else chosen,
            is_demo=is_demo,
            tell=_tell,
            pg_place=pg_place,
        )


def _with_data_to_add(settings: Any) -> Any:
    """Return the settings of the demo: its owner can add synthetic rides on the page."""
    write_rides(DEMO)
    added = DEMO / "added"
    shutil.rmtree(added, ignore_errors=True)  # their owner has another token in each demo
    return replace(settings, add_data_from=(str(DEMO),), catalog_folder=added)


def _check(catalog: Path) -> None:
    if not catalog.exists():
        fix = "Name its file, create one with discreet init DATA, or try discreet serve --demo"
        raise CatalogError(f"Catalog {catalog} not found", fix)


def _tell(text: str) -> None:
    """Print at once, even if the output is a file or a journal."""
    show(text)
    sys.stdout.flush()
