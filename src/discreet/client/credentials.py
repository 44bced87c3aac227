"""Where `discreet login` keeps tokens: a file that only its owner may read."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeAlias

from discreet.client.calls import ServerError


def credentials_file() -> Path:
    """Return the file of tokens."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "discreet" / "credentials.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """What a sign-in at an OpenID provider gave: a token for some minutes, and one to renew it."""

    access_token: str = field(repr=False)
    expires: float
    """By the clock, in seconds since 1970."""
    refresh_token: str | None = field(default=None, repr=False)
    issuer: str
    client_id: str


Credential: TypeAlias = str | SignedIn


def credential_for(url: str) -> Credential:
    """Return the credential of a server: DISCREET_TOKEN, or what `discreet login` kept."""
    given = os.environ.get("DISCREET_TOKEN")
    found = given or read_credentials().get(_place(url))
    if not found:
        what = f"There is no token for {_place(url)}"
        raise ServerError(what, f"Run discreet login {_place(url)}, or set DISCREET_TOKEN")
    return found


def read_credentials() -> dict[str, Credential]:
    """Return the credentials that are kept, by server."""
    path = credentials_file()
    try:
        state = path.stat()
        if state.st_mode & 0o077:
            what = f"Others may read the tokens in {path}"
            raise ServerError(what, f"Run chmod 600 {path}, and ask for new tokens")
        content = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): _credential(each) for name, each in content.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ServerError(f"The tokens in {path} cannot be read", "Remove the file") from error


def _credential(content: object) -> Credential:
    return SignedIn(**content) if isinstance(content, dict) else str(content)


def keep_credential(url: str, credential: Credential | None) -> Path:
    """Keep the credential of a server, or forget it."""
    path = credentials_file()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    others = {name: each for name, each in read_credentials().items() if name != _place(url)}
    given = {} if credential is None else {_place(url): credential}
    written = {
        name: asdict(each) if isinstance(each, SignedIn) else each
        for name, each in {**others, **given}.items()
    }
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(written, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    return path


@contextmanager
def locked() -> Iterator[None]:
    """Let one process at a time renew tokens: a token to renew is often good for one use."""
    path = credentials_file().with_suffix(".lock")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _place(url: str) -> str:
    return url.rstrip("/")
