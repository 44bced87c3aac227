"""Signing in: bearer tokens for programs, session cookies for the page.

A cookie is accepted with the session's CSRF token in a header for calls that change something. The
cookie is out of reach of scripts, and the page gets the token in the reply to its sign-in.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from hmac import compare_digest
from ipaddress import ip_address, ip_network
from typing import Annotated, TypeVar

from fastapi import APIRouter, Header, Path, Request, Response

from discreet.ledger.inputs import selector_in
from discreet.noise import SYSTEM
from discreet.server.admission import Rates
from discreet.server.bodies import CatalogContent, Health, JsonObject, Me, SignInBody
from discreet.server.callers import (
    NOWHERE,
    RANK,
    STRANGER,
    Caller,
    Role,
    caller_elsewhere,
    caller_named,
    callers_with,
)
from discreet.server.faults import CallError
from discreet.server.oidc import OidcCallers, looks_signed
from discreet.server.reading import OneReading
from discreet.server.records import Records
from discreet.server.settings import Settings
from discreet.server.sites import Site

router = APIRouter(tags=["everybody"], route_class=OneReading)

T = TypeVar("T")

COOKIE = "__Host-discreet"

FORGED = CallError(
    status=403,
    code="csrf",
    what="This call needs the header X-CSRF-Token of the session",
    fix="Sign in again",
)

SAFE = {"GET", "HEAD", "OPTIONS"}


def new_secret() -> str:
    """Return a new secret of 256 bits."""
    return SYSTEM.draw(32).hex()


class SignIns:
    """Finds out who calls."""

    def __init__(self, sites: dict[str, Site], settings: Settings) -> None:
        self.sites, self._settings = sites, settings
        limit = settings.limits.sign_ins_per_minute
        self._strangers = Rates(per_minute=limit, burst=limit)
        self._calls = Rates(
            per_minute=settings.limits.requests_per_minute, burst=settings.limits.burst
        )
        self.oidc = None if settings.oidc is None else OidcCallers(settings.oidc, sites)

    def count_stranger(self, request: Request) -> None:
        """Count a call of somebody who has not signed in, or send it away."""
        self._strangers.check(_address(request))

    def check_address(self, host: str) -> None:
        """Send somebody away whose address has guessed too often."""
        self._strangers.check_left(network_of(host))

    def count_address(self, host: str) -> None:
        """Count a failed attempt to sign in, by any protocol."""
        self._strangers.check(network_of(host))

    @property
    def records(self) -> Records:
        """Where sessions are: the records of the first catalog."""
        return next(iter(self.sites.values())).records

    async def caller(self, request: Request, catalog: str) -> Caller:
        """Return who calls a route of a catalog."""
        found = await self.callers(request)
        caller = found.get(catalog)
        if caller is None:
            self.count(found)
            raise NOWHERE
        self.count({catalog: caller})
        return caller

    def count(self, callers: Mapping[str, Caller]) -> None:
        """Count a call of somebody who has signed in, or send it away."""
        for catalog, caller in callers.items():
            self._calls.check(f"{catalog} {caller.name}")

    async def anybody(self, request: Request) -> Caller:
        """Return who calls a route that is about no catalog."""
        found = await self.callers(request)
        self.count(found)
        return next(iter(found.values()))

    async def owner(self, request: Request) -> Caller:
        """Return the caller of a route that is for owners of any catalog."""
        found = await self.callers(request)
        self.count(found)
        return max(found.values(), key=lambda each: RANK[each.role]).check("owner")

    async def callers(self, request: Request) -> dict[str, Caller]:
        """Return who calls, in every catalog that this person may use."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.casefold() == "bearer":
            return await self.with_token(token.strip(), request)
        secret = request.cookies.get(COOKIE)
        if secret is None:
            raise STRANGER
        session = await asyncio.to_thread(self.records.session, secret)
        if session is None or session["kind"] != "session":
            raise STRANGER
        given = request.headers.get("x-csrf-token", "")
        if request.method not in SAFE and not compare_digest(
            given.encode(), session["csrf"].encode()
        ):
            raise FORGED
        return await asyncio.to_thread(self._of_session, session)

    async def with_token(self, token: str, request: Request) -> dict[str, Caller]:
        """Return who holds a token. A bad one costs one slow hash, whatever is wrong with it."""
        if self.oidc is not None and looks_signed(token):
            return await self._signed(self.oidc, token, request)
        sites = list(self.sites.values())
        is_known = await asyncio.to_thread(_is_known, token, sites)
        # Before the hash, which takes its time. Whoever knows the public part of a token and
        # guesses the rest is sent away, and nobody else with this address or this token.
        who = f"{_address(request)} {selector_in(token)}"
        if is_known:
            self._strangers.check_left(who)
        else:
            self.count_stranger(request)
        found = await asyncio.to_thread(callers_with, token, sites)
        if not found and is_known:
            self._strangers.check(who)
        if not found:
            raise STRANGER
        return {each.site.name: each for each in found}

    async def _signed(self, oidc: OidcCallers, token: str, request: Request) -> dict[str, Caller]:
        try:
            return await oidc.with_token(token)
        except CallError as error:
            if error is STRANGER:
                self.count_stranger(request)
            raise

    def _of_session(self, session: dict[str, str]) -> dict[str, Caller]:
        signed_in: dict[str, list[str]] = json.loads(session["callers"])
        sites = dict(self.sites)
        tried = {
            name: caller_named(sites[name], *who)
            for name, who in signed_in.items()
            if name in sites
        }
        for name in sites.keys() - signed_in.keys():
            others = (caller_elsewhere(sites[name], *who) for who in signed_in.values())
            tried[name] = next((each for each in others if each is not None), None)
        found = {name: each for name in sites if (each := tried.get(name)) is not None}
        if not found:
            raise STRANGER
        return found

    def open_session(self, callers: dict[str, Caller]) -> tuple[str, str]:
        """Begin a session; return its secret and its CSRF token."""
        secret, csrf = new_secret(), new_secret()
        about = {"kind": "session", "csrf": csrf, "callers": self._signed_in(callers)}
        self.records.open_session(secret, about, timedelta(hours=self._settings.session_hours))
        return secret, csrf

    def open_code(self, callers: dict[str, Caller], lasts: timedelta) -> str:
        """Return a code that signs in once."""
        code = new_secret()
        about = {"kind": "code", "callers": self._signed_in(callers)}
        self.records.open_session(code, about, lasts)
        return code

    async def with_code(self, code: str, request: Request) -> dict[str, Caller]:
        """Use up a code."""
        about = await asyncio.to_thread(self.records.end_session, code)
        if about is None or about["kind"] != "code":
            self.count_stranger(request)
            raise STRANGER
        return await asyncio.to_thread(self._of_session, about)

    @staticmethod
    def _signed_in(callers: dict[str, Caller]) -> str:
        found = {}
        for name, caller in callers.items():
            for each in caller.site.ledger.analysts():
                if each.name == caller.name:
                    found[name] = [each.name, caller.site.fingerprint(each)]
        return json.dumps(found)


def _is_known(token: str, sites: Sequence[Site]) -> bool:
    """Return whether an account has the public part of a token."""
    return any(each.ledger.knows_token(token) for each in sites)


def _address(request: Request) -> str:
    return network_of(request.client.host if request.client else "")


def network_of(host: str) -> str:
    """Return who is counted as one caller: an address, or of IPv6 the network that one has."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return str(ip_network((address, 64), strict=False)) if address.version == 6 else host


CatalogName = Annotated[str, Path(max_length=64, description="The name of a catalog")]


async def planned(request: Request, caller: Caller, act: Callable[[], T]) -> T:
    """Do what reads no private data, in a thread, when it is the caller's turn."""
    async with request.app.state.planning.turn(caller.place, request.is_disconnected):
        return await asyncio.to_thread(act)


async def any_owner(request: Request) -> Caller:
    """Return the caller, who must be the owner of a catalog, in the first one."""
    signed_in: SignIns = request.app.state.sign_ins
    return await signed_in.owner(request)


def caller_in(least: Role) -> Callable[[Request, str], Awaitable[Caller]]:
    """Return a dependency: the caller of a route of a catalog, who has at least a role."""

    async def caller(request: Request, catalog: CatalogName) -> Caller:
        signed_in: SignIns = request.app.state.sign_ins
        found = await signed_in.caller(request, catalog)
        try:
            return found.check(least)
        except CallError as error:
            await asyncio.to_thread(_log_rejection, found, request, error)
            raise

    return caller


def _log_rejection(caller: Caller, request: Request, error: CallError) -> None:
    """Log a call that the caller's role does not allow."""
    route = getattr(request.scope.get("route"), "path", "")
    caller.site.records.log(caller.name, "call", error.code, method=request.method, route=route)


@router.get("/health")
async def health(request: Request) -> Health:
    """Return whether the server is up."""
    return Health(status="stopping" if request.app.state.turns.is_stopping else "ok")


@router.get("/v1/me")
async def me(request: Request) -> Me:
    """Return the catalogs that you may use, and your role in each."""
    sign_ins: SignIns = request.app.state.sign_ins
    found = await sign_ins.callers(request)
    sign_ins.count(found)
    return Me(
        catalogs=[
            CatalogContent(name=name, role=each.role, who=each.name) for name, each in found.items()
        ]
    )


@router.post("/v1/session")
async def sign_in(
    request: Request,
    response: Response,
    body: SignInBody,
    site: Annotated[str | None, Header(alias="Sec-Fetch-Site")] = None,
) -> JsonObject:
    """Begin a session with a token or the code of a link: sets a cookie for the page."""
    if site not in (None, "same-origin", "none"):
        raise FORGED
    sign_ins: SignIns = request.app.state.sign_ins
    if body.code is not None:
        callers = await sign_ins.with_code(body.code, request)
    else:
        callers = await sign_ins.with_token(body.token or "", request)
    sign_ins.count(callers)
    secret, csrf = await asyncio.to_thread(sign_ins.open_session, callers)
    set_session(response, secret)
    return _begun(csrf, callers)


@router.get("/v1/session")
async def session(
    request: Request, site: Annotated[str | None, Header(alias="Sec-Fetch-Site")] = None
) -> JsonObject:
    """Return who is signed in, and the CSRF token of the session; no catalog for nobody."""
    if site not in (None, "same-origin", "none"):
        raise FORGED
    sign_ins: SignIns = request.app.state.sign_ins
    secret = request.cookies.get(COOKIE, "")
    about = await asyncio.to_thread(sign_ins.records.session, secret)
    try:
        callers = await sign_ins.callers(request)
    except CallError as error:
        if error is not STRANGER:
            raise
        return _begun("", {})
    sign_ins.count(callers)
    if about is None or about["kind"] != "session":
        raise STRANGER
    return _begun(about["csrf"], callers)


def set_session(response: Response, secret: str) -> None:
    """Set the cookie of a session, which scripts and other sites cannot use."""
    response.set_cookie(COOKIE, secret, secure=True, httponly=True, samesite="strict", path="/")


def _begun(csrf: str, callers: dict[str, Caller]) -> JsonObject:
    names = [{"name": name, "role": each.role, "who": each.name} for name, each in callers.items()]
    return {"csrf": csrf, "catalogs": names}


@router.delete("/v1/session", status_code=204)
async def sign_out(request: Request, response: Response) -> None:
    """End the session."""
    secret = request.cookies.get(COOKIE)
    if secret is not None:
        await request.app.state.sign_ins.callers(request)  # with the CSRF token
        await asyncio.to_thread(request.app.state.sign_ins.records.end_session, secret)
    response.delete_cookie(COOKIE, secure=True, httponly=True, samesite="strict", path="/")
