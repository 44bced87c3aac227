"""Where `discreet login` keeps tokens: a file that only its owner may read."""

import json
import os
from pathlib import Path

from discreet.client.calls import ServerError


def credentials_file() -> Path:
    """Return the file of tokens."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "discreet" / "credentials.json"


def token_for(url: str) -> str:
    """Return the token of a server: from DISCREET_TOKEN, or as `discreet login` kept it."""
    given = os.environ.get("DISCREET_TOKEN")
    found = given or read_tokens().get(_place(url))
    if not found:
        what = f"There is no token for {_place(url)}"
        raise ServerError(what, f"Run discreet login {_place(url)}, or set DISCREET_TOKEN")
    return found


def read_tokens() -> dict[str, str]:
    """Return the tokens that are kept, by server."""
    path = credentials_file()
    try:
        state = path.stat()
        if state.st_mode & 0o077:
            what = f"Others may read the tokens in {path}"
            raise ServerError(what, f"Run chmod 600 {path}, and ask for new tokens")
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ServerError(f"The tokens in {path} cannot be read", "Remove the file") from error
    return {str(name): str(token) for name, token in content.items()}


def keep_token(url: str, token: str | None) -> Path:
    """Keep the token of a server, or forget it."""
    path = credentials_file()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    tokens = {name: each for name, each in read_tokens().items() if name != _place(url)}
    if token is not None:
        tokens[_place(url)] = token
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(tokens, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    return path


def _place(url: str) -> str:
    return url.rstrip("/")
