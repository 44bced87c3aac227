"""Sign-on from the command line: the device flow of an OpenID provider, and renewing its tokens."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import httpx

from discreet.client.calls import ServerError
from discreet.client.credentials import (
    Credential,
    SignedIn,
    credential_for,
    keep_credential,
    locked,
)

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
PATIENCE = 30.0

INTERVAL, LONGER, LONGEST = 5.0, 5.0, 60.0
"""Seconds between two questions whether somebody signed in: at first, more each time that the
provider is asked too often, and at most."""

MOST_SECONDS = 1800.0
SPARE = 30.0
"""A token is renewed so many seconds before it ends."""

DEFAULT_LASTS = 300.0

UNREADABLE = ("The OpenID provider cannot be reached or read", "Try again, or use a token")
ENDED = "The sign-in has ended"
DECLINED = ("The sign-in was declined or took too long", "Run discreet login again")


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """How a server says that the command line signs in."""

    issuer: str
    client_id: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What somebody is to do in a browser."""

    url: str
    code: str


def device_of(url: str, http: httpx.Client | None = None) -> Device | None:
    """Return how to sign in to a server; None where it has no OpenID provider."""
    check_encrypted(url)
    with http or httpx.Client(timeout=PATIENCE) as client:
        try:
            reply = client.get(f"{url.rstrip('/')}/v1/oidc")
            given = reply.json()["device"] if reply.status_code == 200 else None
            if given is None:
                return None
            return Device(
                issuer=_checked(str(given["issuer"])),
                client_id=str(given["client_id"]),
                scopes=tuple(map(str, given["scopes"])),
            )
        except httpx.TransportError as error:
            what = f"The server cannot be reached ({type(error).__name__})"
            raise ServerError(what, "Check its address and the network") from None
        except (ValueError, KeyError, TypeError):
            return None


def sign_in(
    device: Device,
    *,
    tell: Callable[[Prompt], object],
    sleep: Callable[[float], object] = time.sleep,
    http: httpx.Client | None = None,
) -> SignedIn:
    """Sign in: `tell` says where and with which code, then the provider is asked until it is done.

    It is asked as often as it says, less often when it says so, and until the code ends.
    """
    with http or httpx.Client(timeout=PATIENCE) as client:
        about = _about(client, device.issuer)
        scope = {"client_id": device.client_id, "scope": " ".join(device.scopes)}
        begun = _posted(client, about.get("device_authorization_endpoint"), scope)
        try:
            given = {"grant_type": DEVICE, "device_code": str(begun["device_code"])}
            prompt = Prompt(url=_shown(begun["verification_uri"]), code=_shown(begun["user_code"]))
        except KeyError:
            raise ServerError(*UNREADABLE) from None
        _checked(prompt.url)
        tell(prompt)
        left = min(_number(begun.get("expires_in"), MOST_SECONDS), MOST_SECONDS)
        interval = min(max(_number(begun.get("interval"), INTERVAL), 1.0), LONGEST)
        while left > 0:
            sleep(interval)
            left -= interval
            try:
                reply = _posted(
                    client, about.get("token_endpoint"), {**given, "client_id": device.client_id}
                )
            except httpx.TransportError:
                interval = min(2 * interval, LONGEST)
                continue
            match reply.get("error"):
                case None:
                    return _signed_in(reply, device.issuer, device.client_id, None)
                case "authorization_pending":
                    pass
                case "slow_down":
                    interval = min(interval + LONGER, LONGEST)
                case _:
                    break
    raise ServerError(*DECLINED)


def renewed(old: SignedIn, http: httpx.Client | None = None) -> SignedIn:
    """Return new tokens for those that have ended."""
    if old.refresh_token is None:
        raise ServerError(ENDED, "Run discreet login again")
    with http or httpx.Client(timeout=PATIENCE) as client:
        about = _about(client, old.issuer)
        given = {
            "grant_type": "refresh_token",
            "refresh_token": old.refresh_token,
            "client_id": old.client_id,
        }
        try:
            reply = _posted(client, about.get("token_endpoint"), given)
        except httpx.TransportError:
            raise ServerError(*UNREADABLE) from None
    if "error" in reply:
        raise ServerError(ENDED, "Run discreet login again")
    return _signed_in(reply, old.issuer, old.client_id, old.refresh_token)


def token_for(url: str) -> str:
    """Return the token of a server: from DISCREET_TOKEN, or of `discreet login`, renewed."""
    return _token_of(credential_for(url)) or _renewed_for(url)


def _token_of(found: Credential) -> str | None:
    if isinstance(found, str):
        return found
    return found.access_token if found.expires - SPARE > time.time() else None


def _renewed_for(url: str) -> str:
    with locked():
        found = credential_for(url)  # another process may have been faster
        token = _token_of(found)
        if token is not None or isinstance(found, str):
            return token or str(found)
        new = renewed(found)
        keep_credential(url, new)
        return new.access_token


class BearerToken(httpx.Auth):
    """Sends a token that was given, or the one that is kept, renewed when it has ended."""

    def __init__(self, url: str, token: str | None) -> None:
        check_encrypted(url)
        self._url = url
        self._kept: Credential = token or credential_for(url)

    def current(self) -> str:
        """Return the token to be sent now."""
        token = _token_of(self._kept)
        if token is None:
            token = token_for(self._url)
            self._kept = credential_for(self._url)
        return token

    def sync_auth_flow(
        self, request: httpx.Request
    ) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self.current()}"
        yield request

    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        token = await asyncio.to_thread(self.current)
        request.headers["Authorization"] = f"Bearer {token}"
        yield request


def _about(client: httpx.Client, issuer: str) -> Mapping[str, Any]:
    try:
        reply = client.get(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        content = reply.json()
    except (httpx.TransportError, ValueError):
        raise ServerError(*UNREADABLE) from None
    if not isinstance(content, dict) or content.get("issuer") != issuer:
        raise ServerError(*UNREADABLE)
    return content


def _posted(client: httpx.Client, url: object, data: Mapping[str, str]) -> Mapping[str, Any]:
    if not isinstance(url, str):
        raise ServerError(*UNREADABLE)
    reply = client.post(_checked(url), data=dict(data), headers={"Accept": "application/json"})
    try:
        content = reply.json()
    except ValueError:
        raise ServerError(*UNREADABLE) from None
    if not isinstance(content, dict) or (reply.status_code >= 400 and "error" not in content):
        raise ServerError(*UNREADABLE)
    return content


def _signed_in(
    reply: Mapping[str, Any], issuer: str, client_id: str, refresh_token: str | None
) -> SignedIn:
    token = reply.get("access_token")
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise ServerError(*UNREADABLE)
    new = reply.get("refresh_token", refresh_token)
    return SignedIn(
        access_token=token,
        expires=time.time() + _number(reply.get("expires_in"), DEFAULT_LASTS),
        refresh_token=new if isinstance(new, str) else None,
        issuer=issuer,
        client_id=client_id,
    )


def _checked(url: str) -> str:
    """Return an address that is encrypted or on this machine."""
    try:
        is_safe = _is_safe(url)
    except ValueError:
        raise ServerError(*UNREADABLE) from None
    if is_safe:
        return url
    raise ServerError(f"The OpenID provider has an address without encryption: {_shown(url)}")


def check_encrypted(url: str) -> None:
    """Reject the address of a server to which a token would be sent in the clear."""
    try:
        is_safe = _is_safe(url)
    except ValueError:
        is_safe = False
    if not is_safe:
        what = f"A token would be sent without encryption to {url}"
        raise ServerError(what, "Use the address that begins with https://")


def _is_safe(url: str) -> bool:
    place = urlsplit(url)
    return place.scheme == "https" or (place.scheme == "http" and _is_here(place.hostname or ""))


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(text: object) -> str:
    """Return a text of the provider that can be printed without moving the cursor."""
    if not isinstance(text, str) or not text.isprintable() or len(text) > 500:
        raise ServerError(*UNREADABLE)
    return text


def _number(value: object, usual: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and value > 0 else usual  # type: ignore[arg-type, operator]
