"""The process: address, TLS, sign-in links, shutdown."""

import asyncio
import socket
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from shlex import quote

import uvicorn
from starlette.datastructures import State

from discreet.errors import ParameterError
from discreet.explanation.thresholds import GroupThresholdWarning
from discreet.ledger import make_token
from discreet.server.app import is_loopback, make_app
from discreet.server.callers import Caller
from discreet.server.connections import protocol_with
from discreet.server.settings import Settings
from discreet.server.signing import SignIns
from discreet.server.sites import Site, open_site

PORT = 8421

LINK_LASTS = timedelta(minutes=10)
"""How long a sign-in link is valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a server listens, and how it is reached."""

    host: str = "127.0.0.1"
    port: int = PORT
    tls_cert: Path | None = None
    tls_key: Path | None = None
    is_behind_proxy: bool = False
    host_names: tuple[str, ...] = ()
    """Names under which it is reached, besides the address itself."""

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ParameterError("--tls-cert", self.tls_cert, "must come with --tls-key")
        for name, path in (("--tls-cert", self.tls_cert), ("--tls-key", self.tls_key)):
            if path is not None and not path.is_file():
                raise ParameterError(name, str(path), "must be a file")
        if not (is_loopback(self.host) or self.has_tls or self.is_behind_proxy):
            raise ParameterError(
                "--host",
                self.host,
                "must be an address of this machine alone, because tokens would be sent in clear",
                "Add --tls-cert and --tls-key, or --behind-proxy if a proxy encrypts",
            )

    @property
    def has_tls(self) -> bool:
        """Whether the server itself encrypts."""
        return self.tls_cert is not None

    @property
    def url(self) -> str:
        """The address as people open it."""
        host = self.host_names[0] if self.host_names else self.host
        shown = f"[{host}]" if ":" in host else host
        return f"{'https' if self.has_tls else 'http'}://{shown}:{self.port}"


class GracefulServer(uvicorn.Server):
    """Runs queries that have begun to their end, and tells all others to come back."""

    def __init__(self, config: uvicorn.Config, state: State) -> None:
        super().__init__(config)
        self._state = state

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen until the last query has ended: a closed port would say less than a 503."""
        self._state.turns.stop()
        while self._state.runner.under_way and not self.force_exit:
            await asyncio.sleep(0.05)
        await super().shutdown(sockets)


@dataclass(slots=True)
class Running:
    """Catalogs that are open, and the server over them."""

    sites: dict[str, Site]
    address: Address
    settings: Settings

    def link(self, callers: Mapping[str, Caller]) -> str:
        """Return a link that signs in once. The code is in the fragment, which is never sent."""
        code = SignIns(self.sites, self.settings).open_code(dict(callers), LINK_LASTS)
        return f"{self.address.url}/#code={code}"

    def run(self) -> None:
        """Serve until the process is told to stop; queries that run are run to their end."""
        warnings.simplefilter("ignore", GroupThresholdWarning)  # callers confirm instead
        hosts = {self.address.host, *self.address.host_names, *self.settings.hosts}
        app = make_app(self.sites, self.settings, hosts)
        config = uvicorn.Config(
            app,
            host=self.address.host,
            port=self.address.port,
            ssl_certfile=self.address.tls_cert,
            ssl_keyfile=self.address.tls_key,
            proxy_headers=self.address.is_behind_proxy,
            access_log=False,  # the audit log has who did what, and no token
            log_level="warning",
            server_header=False,
            timeout_keep_alive=30,
            limit_concurrency=2000,
            http=protocol_with(self.settings.limits.header_seconds),
            h11_max_incomplete_event_size=1 << 15,
        )
        GracefulServer(config, app.state).run()


def open_sites(
    catalogs: Mapping[str, Path], stack: ExitStack, audit_file: Path | None = None
) -> dict[str, Site]:
    """Open all catalogs; they are closed with the stack."""
    found: dict[str, Site] = {}
    for name, path in catalogs.items():
        found[name] = site = open_site(name, path, audit_file)
        stack.callback(site.close)
    return found


def owners_of(sites: Mapping[str, Site]) -> Sequence[str]:
    """Return the names of the catalogs that have an owner who can sign in."""
    return [
        name
        for name, site in sites.items()
        if any(each.role == "owner" and each.enabled for each in site.ledger.analysts())
    ]


DEMO_OWNER = "demo"


def serve(
    catalogs: Mapping[str, Path],
    *,
    address: Address,
    settings: Settings,
    is_demo: bool,
    tell: Callable[[str], None],
) -> None:
    """Serve catalogs until the process is told to stop; `tell` says where, and how to sign in."""
    with ExitStack() as stack:
        sites = open_sites(catalogs, stack, settings.audit_file)
        running = Running(sites=sites, address=address, settings=settings)
        tell(f"Serving {', '.join(sites)} at {address.url}. Stop with Ctrl-C.")
        if is_demo:
            _welcome(running, tell)
        for name in sites.keys() - set(owners_of(sites)):
            tell(
                f"Nobody can sign in to {name} as its owner. Run: "
                f"discreet analyst add NAME --role owner --catalog {quote(str(catalogs[name]))}"
            )
        running.run()


def _welcome(running: Running, tell: Callable[[str], None]) -> None:
    """Add an owner to the synthetic clinics, and say how to sign in."""
    (site,) = running.sites.values()
    token = make_token()
    site.ledger.declare_analyst(DEMO_OWNER, epsilon=None, token_hash=token.hash, role="owner")
    caller = Caller(name=DEMO_OWNER, role="owner", site=site)
    tell(f"Sign in: {running.link({site.name: caller})}")
    tell(f"For programs: Authorization: Bearer {token.text}")
