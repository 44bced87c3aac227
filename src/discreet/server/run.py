"""The process: address, TLS, sign-in links, shutdown."""

import asyncio
import errno
import signal
import socket
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from shlex import quote

import uvicorn
from starlette.datastructures import State

from discreet.errors import HIDDEN, DiscreetError, ParameterError
from discreet.explanation.thresholds import GroupThresholdWarning
from discreet.ledger import make_token
from discreet.server.app import is_loopback, make_app
from discreet.server.callers import Caller
from discreet.server.connections import BACKLOG, allowed_connections, protocol_with
from discreet.server.data_sets import made_folder
from discreet.server.pgwire.listener import Listener
from discreet.server.settings import Settings
from discreet.server.signing import SignIns
from discreet.server.sites import Site, added_catalogs, open_site

PORT = 8421
MOST_PORTS = 65535

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
        if not 0 <= self.port <= MOST_PORTS:
            raise ParameterError("--port", self.port, f"must be between 0 and {MOST_PORTS}")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ParameterError("--tls-cert", HIDDEN, "must come with --tls-key")
        for name, path in (("--tls-cert", self.tls_cert), ("--tls-key", self.tls_key)):
            if path is not None and not path.is_file():
                raise ParameterError(name, str(path), "must be a file")
        if not (is_loopback(self.host) or self.has_tls or self.is_behind_proxy):
            raise ParameterError(
                "--host",
                self.host,
                "must be a loopback address such as 127.0.0.1 unless the connection is encrypted",
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
        if self.is_behind_proxy and self.host_names:
            return f"https://{shown}"
        return f"{'https' if self.has_tls else 'http'}://{shown}:{self.port}"


def pg_address(address: Address, port: int) -> Address:
    """Return where PostgreSQL's clients connect. No proxy for HTTP encrypts what they send."""
    if not (is_loopback(address.host) or address.has_tls):
        raise ParameterError(
            "--pg-port",
            port,
            "must be on a loopback address unless the connection is encrypted",
            "Add --tls-cert and --tls-key: a proxy does not encrypt for PostgreSQL clients",
        )
    if not 0 <= port <= MOST_PORTS:
        raise ParameterError("--pg-port", port, f"must be between 0 and {MOST_PORTS}")
    return replace(address, port=port)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """An address at which calls are accepted, and its socket."""

    address: Address
    heard: socket.socket


@contextmanager
def listening(address: Address, option: str = "--port") -> Iterator[Listening]:
    """Listen at an address before anything else is done; calls wait until the server runs.

    With port 0 the system chooses one, which the address that is yielded has. `option` is the one
    that errors name.
    """
    try:
        (family, kind, protocol, _, place), *_ = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM
        )
    except (OSError, UnicodeError):
        raise ParameterError("--host", address.host, "must be an address or a name") from None
    # Only sockets that name their protocol send small replies at once: others wait for 40 ms.
    with socket.socket(family, kind, protocol) as heard:
        heard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            heard.bind(place)
            heard.listen(BACKLOG)
        except OSError as error:
            raise _not_listening(address, error, option) from None
        yield Listening(address=replace(address, port=heard.getsockname()[1]), heard=heard)


def _not_listening(address: Address, error: OSError, option: str) -> ParameterError:
    """Return why a server cannot listen at an address."""
    match error.errno:
        case errno.EADDRINUSE:
            rule = "must be a port that no other program uses"
            return ParameterError(option, address.port, rule, "Name another, or stop the other")
        case errno.EACCES:
            rule = "must be 1024 or more unless the system allows lower ports to this user"
            return ParameterError(option, address.port, rule, f"Use {option} {PORT}")
        case _:
            rule = "must be an address of this machine"
            return ParameterError("--host", address.host, rule, "Use 127.0.0.1 for this machine")


class OrderlyServer(uvicorn.Server):
    """Runs queries that have begun to their end, and tells all others to come back.

    It returns after SIGINT or SIGTERM; uvicorn's own would raise the signal once more.
    """

    def __init__(self, config: uvicorn.Config, state: State) -> None:
        super().__init__(config)
        self._state = state

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen until the last query has ended: a closed port would say less than a 503."""
        self._state.turns.stop()
        self._state.planning.stop()
        self._state.reading.stop()
        while self._state.runner.under_way and not self.force_exit:
            await asyncio.sleep(0.05)
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal, at once if it comes twice."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {each: signal.signal(each, self.handle_exit) for each in numbers}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


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

    def run(self, heard: socket.socket, wire: Listener | None = None) -> None:
        """Serve until the process is told to stop; queries that run are run to their end."""
        warnings.simplefilter("ignore", GroupThresholdWarning)  # callers confirm instead
        hosts = {self.address.host, *self.address.host_names, *self.settings.hosts}
        app = make_app(self.sites, self.settings, hosts, wire)
        config = uvicorn.Config(
            app,
            ssl_certfile=self.address.tls_cert,
            ssl_keyfile=self.address.tls_key,
            proxy_headers=self.address.is_behind_proxy,
            forwarded_allow_ips=list(self.settings.proxies),
            access_log=False,  # the audit log has who did what, and no token
            log_level="warning",
            server_header=False,
            timeout_keep_alive=30,
            limit_concurrency=2000,
            backlog=BACKLOG,
            http=protocol_with(self.settings.limits.header_seconds, allowed_connections()),
            h11_max_incomplete_event_size=1 << 15,
        )
        try:
            config.load()
        except OSError:
            rule = "must be a certificate in PEM that belongs to --tls-key"
            raise ParameterError("--tls-cert", HIDDEN, rule) from None
        if wire is not None:
            wire.tls = config.ssl
        OrderlyServer(config, app.state).run(sockets=[heard])


def open_sites(
    catalogs: Mapping[str, Path], stack: ExitStack, audit_file: Path | None = None
) -> dict[str, Site]:
    """Open all catalogs; they are closed with the stack."""
    found: dict[str, Site] = {}
    for name, path in catalogs.items():
        found[name] = site = open_site(name, path, audit_file)
        stack.callback(site.close)
    return found


def open_added(
    sites: dict[str, Site], settings: Settings, stack: ExitStack, tell: Callable[[str], None]
) -> None:
    """Open the data sets that were added on the page. One that cannot be opened is left out."""
    if settings.catalog_folder is None:
        return
    for name, path in added_catalogs(made_folder(settings.catalog_folder)).items():
        if name in sites:
            tell(f"{path} is not served: another catalog has the name {name}.")
            continue
        try:
            site = open_site(name, path, settings.audit_file, is_added=True)
        except DiscreetError as error:
            tell(f"{path} is not served: {error.what}.")
            continue
        sites[name] = site
        stack.callback(site.close)


def owners_of(sites: Mapping[str, Site]) -> Sequence[str]:
    """Return the names of the catalogs that have an owner who can sign in."""
    return [
        name
        for name, site in sites.items()
        if any(each.role == "owner" and each.enabled for each in site.ledger.analysts())
    ]


DEMO_OWNER = "demo"
DEMO_QUERY = "SELECT region, COUNT(*) AS visits FROM visits GROUP BY region"


def serve(  # noqa: PLR0913 - each is an option
    catalogs: Mapping[str, Path],
    *,
    place: Listening,
    settings: Settings,
    is_demo: bool,
    tell: Callable[[str], None],
    pg_place: Listening | None = None,
) -> None:
    """Serve catalogs until the process is told to stop; `tell` says where, and how to sign in.

    At `pg_place`, PostgreSQL's clients can connect.
    """
    address = place.address
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        sites = open_sites(catalogs, stack, settings.audit_file)
        paths = {**added_catalogs(settings.catalog_folder), **catalogs}
        open_added(sites, settings, stack, tell)
        running = Running(sites=sites, address=address, settings=settings)
        wire = None if pg_place is None else _wire(pg_place, settings, sites, stack)
        tell(f"Serving {', '.join(sites)} at {address.url}. Stop with Ctrl-C.")
        if pg_place is not None:
            tell(f"PostgreSQL clients can connect to {_shown(pg_place.address)}.")
        if settings.series and (found := sum(map(_series_of, sites.values()))):
            tell(f"Ticks of {found} series are released when they are due.")
        if settings.agents:
            tell(f"Agents can ask at {address.url}/mcp")
        if is_demo:
            _welcome(running, tell, pg_place)
        if not (is_loopback(address.host) or address.host_names or settings.hosts):
            tell("Other machines cannot reach this server yet. Add --host-name NAME.")
        for name in sites.keys() - set(owners_of(sites)):
            tell(
                f"Nobody can sign in to {name} as its owner. Run: "
                f"discreet analyst add NAME --role owner --catalog {quote(str(paths[name]))}"
            )
        running.run(place.heard, wire)
    tell("Stopped. All charges and answers are saved.")


def _wire(
    place: Listening, settings: Settings, sites: Mapping[str, Site], stack: ExitStack
) -> Listener:
    """Return what accepts connections of PostgreSQL's clients."""
    wire = Listener(settings=settings, heard=place.heard)
    stack.callback(wire.forget)
    wire.describe(sites.values())
    return wire


def _series_of(site: Site) -> int:
    return len(site.curator.catalog.series)


def _shown(address: Address) -> str:
    host = address.host_names[0] if address.host_names else address.host
    return f"host {host}, port {address.port}"


def _welcome(
    running: Running, tell: Callable[[str], None], pg_place: Listening | None = None
) -> None:
    """Add an owner to the synthetic clinics, and say how to sign in."""
    (site,) = running.sites.values()
    token = make_token()
    site.ledger.declare_analyst(DEMO_OWNER, token_hash=token.hash, scram=token.scram, role="owner")
    caller = Caller(name=DEMO_OWNER, role="owner", site=site)
    minutes = int(LINK_LASTS.total_seconds() // 60)
    tell(f"Sign in (once, within {minutes} minutes): {running.link({site.name: caller})}")
    tell(
        "Or ask from another terminal:\n"
        f"  export DISCREET_SERVER={running.address.url}\n"
        f"  export DISCREET_TOKEN={token.text}\n"
        f'  discreet ask "{DEMO_QUERY}" --epsilon 0.5'
    )
    if pg_place is not None:
        address = pg_place.address
        tell(
            "Or with a PostgreSQL client:\n"
            f"  PGPASSWORD={token.text} PGOPTIONS='-c discreet.epsilon=0.5' \\\n"
            f"  psql -h {address.host} -p {address.port} -U {DEMO_OWNER} -d {site.name} "
            f'-c "{DEMO_QUERY}"'
        )
