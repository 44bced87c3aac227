"""Routes of sign-on: the page by a code with PKCE, and what the command line must know.

Of a sign-in that has begun, a record is kept for some minutes and used up by the first callback. It
belongs to the browser that began, by a cookie. No address of another site is ever taken from a
call, and no token is part of an address.
"""

import asyncio
from datetime import timedelta
from hashlib import sha256
from hmac import compare_digest
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse
from pydantic import BaseModel

from discreet.server.callers import NOWHERE
from discreet.server.faults import CallError
from discreet.server.oidc import OidcCallers
from discreet.server.reading import OneReading
from discreet.server.signing import SignIns, new_secret, set_session

router = APIRouter(prefix="/v1/oidc", tags=["everybody"], route_class=OneReading)

COOKIE = "__Host-discreet-oidc"
LASTS = timedelta(minutes=10)
"""How long somebody may take to sign in at the provider."""

FAILED = CallError(
    status=403,
    code="sign_in_failed",
    what="This sign-in did not begin here, was used before, took too long or was declined",
    fix="Sign in again from the page",
)


class DeviceClient(BaseModel):
    """How the command line signs in."""

    issuer: str
    client_id: str
    scopes: list[str]


class SignOn(BaseModel):
    """How one may sign in besides a token; nothing is set where there is no provider."""

    login: str | None = None
    device: DeviceClient | None = None


@router.get("")
async def sign_on(request: Request) -> SignOn:
    """Return how to sign in with an OpenID provider."""
    oidc: OidcCallers | None = request.app.state.sign_ins.oidc
    if oidc is None:
        return SignOn()
    given = oidc.settings
    if given.device_client_id is None:
        return SignOn(login="/v1/oidc/login")
    device = DeviceClient(
        issuer=given.issuer, client_id=given.device_client_id, scopes=list(given.device_scopes)
    )
    return SignOn(login="/v1/oidc/login", device=device)


@router.get("/login", status_code=303, response_class=RedirectResponse)
async def login(request: Request) -> RedirectResponse:
    """Begin a sign-in: sends the browser to the provider."""
    sign_ins, oidc = _oidc_of(request)
    sign_ins.count_stranger(request)
    state, nonce, verifier, browser = (new_secret() for _ in range(4))
    url = await oidc.provider.login_url(state=state, nonce=nonce, verifier=verifier)
    about = {"kind": "oidc", "nonce": nonce, "verifier": verifier, "browser": _digest(browser)}
    await asyncio.to_thread(sign_ins.records.open_session, _key(state), about, LASTS)
    reply = RedirectResponse(url, status_code=303)
    # The way back from the provider begins at another site, so that a strict cookie stays away.
    reply.set_cookie(
        COOKIE,
        browser,
        max_age=int(LASTS.total_seconds()),
        secure=True,
        httponly=True,
        samesite="lax",
        path="/",
    )
    return reply


Value = Annotated[str, Query(max_length=4096)]


@router.get("/callback", status_code=303, response_class=RedirectResponse)
async def callback(
    request: Request, state: Value = "", code: Value = "", iss: Value | None = None
) -> RedirectResponse:
    """End a sign-in at the provider: sets the cookie of a session and opens the page."""
    sign_ins, oidc = _oidc_of(request)
    about = await asyncio.to_thread(sign_ins.records.end_session, _key(state))
    browser = _digest(request.cookies.get(COOKIE, ""))
    if (
        about is None
        or about["kind"] != "oidc"
        or not compare_digest(browser, about["browser"])
        or iss not in (None, oidc.settings.issuer)
        or not code
    ):
        sign_ins.count_stranger(request)
        raise FAILED
    token = await oidc.provider.id_token(code, about["verifier"])
    claims = None if token is None else await oidc.provider.id_claims(token, about["nonce"])
    if claims is None:
        raise FAILED
    callers = await oidc.with_claims(claims)
    secret, _ = await asyncio.to_thread(sign_ins.open_session, callers)
    reply = RedirectResponse("/", status_code=303)
    reply.delete_cookie(COOKIE, secure=True, httponly=True, samesite="lax", path="/")
    set_session(reply, secret)
    return reply


def _oidc_of(request: Request) -> tuple[SignIns, OidcCallers]:
    sign_ins: SignIns = request.app.state.sign_ins
    if sign_ins.oidc is None:
        raise NOWHERE
    return sign_ins, sign_ins.oidc


def _key(state: str) -> str:
    return f"oidc {state}"


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
