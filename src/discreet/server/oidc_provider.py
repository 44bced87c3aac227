"""The OpenID provider: its addresses and keys, the tokens that it signs, and codes for tokens.

What it says of itself is fetched, kept for an hour and bounded in size. A token that names an
unknown key has the keys fetched again, once a minute at most, however many such tokens come.
"""

import asyncio
import json
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, TypeAlias
from urllib.parse import quote

import httpx
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc.errors import JoseError, UnsupportedAlgorithmError
from joserfc.jwk import ECKey, JWKRegistry, OKPKey, RSAKey
from joserfc.jws import JWSRegistry
from joserfc.jwt import JWTClaimsRegistry, decode

from discreet.errors import ParameterError
from discreet.server.faults import CallError
from discreet.server.oidc_settings import OidcSettings, check_url

Key: TypeAlias = RSAKey | ECKey | OKPKey
Content: TypeAlias = Mapping[str, Any]

ALGORITHMS = frozenset({"RS256", "ES256", "EdDSA"})
"""How tokens may be signed: by private keys only, so that what everybody can read signs nothing."""

TYPES = frozenset({None, "jwt", "at+jwt", "application/at+jwt"})
LEEWAY = 30
"""Seconds by which clocks may differ."""

LASTS, UNKNOWN_PAUSE, FAILED_PAUSE = 3600.0, 60.0, 5.0
"""Seconds: keys are kept, are fetched again for an unknown name, are tried again after failing."""

BASIC = "client_secret_basic"
PATIENCE = 10.0
MOST_BYTES, MOST_KEYS, MOST_TOKEN = 1 << 19, 100, 1 << 14
LEAST_RSA_BITS = 2048

FETCH_ERRORS = (httpx.HTTPError, httpx.InvalidURL, TimeoutError, TypeError, ValueError)
"""Of a provider that is away or sends what cannot be read."""

AWAY = CallError(
    status=503,
    code="provider_away",
    what="The OpenID provider of this server cannot be reached or read",
    fix="Try again later; a token of the data owner works meanwhile",
    headers={"Retry-After": "10"},
)


class Signatures(JWSRegistry):
    """Checks signatures of the fixed algorithms, and nothing else."""

    max_header_length = 2048

    def get_alg(self, name: str) -> Any:
        if name not in ALGORITHMS:
            raise UnsupportedAlgorithmError
        return self.algorithms[name]


class Provider:
    """One provider, as its settings name it. For one event loop."""

    def __init__(
        self,
        settings: OidcSettings,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._settings, self._transport, self._clock = settings, transport, clock
        self._lock = asyncio.Lock()
        self._about: Content = {}
        self._keys: dict[str, Key] = {}
        self._fetched = self._failed = float("-inf")

    # ----------------------------------------------------------------------- what it says

    async def about(self) -> Content:
        """Return its addresses."""
        await self._refresh(LASTS)
        return self._about

    async def key(self, name: str) -> Key | None:
        """Return the key with a name; keys are fetched again if there is none."""
        await self._refresh(LASTS)
        if name not in self._keys:
            try:
                await self._refresh(UNKNOWN_PAUSE)
            except CallError:
                return None
        return self._keys.get(name)

    async def _refresh(self, age: float) -> None:
        """Fetch what was fetched longer ago than some seconds."""
        if self._clock() - self._fetched <= age:
            return
        async with self._lock:
            if self._clock() - self._fetched <= age:
                return
            if self._clock() - self._failed <= FAILED_PAUSE:
                raise AWAY
            try:
                self._about = about = await self._addresses()
                self._keys = keys_from(await self._fetch(about["jwks_uri"]))
            except FETCH_ERRORS as error:
                self._failed = self._clock()
                raise AWAY from error
            self._fetched = self._clock()

    async def _addresses(self) -> Content:
        issuer = self._settings.issuer
        content = await self._fetch(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if content.get("issuer") != issuer:
            raise ParameterError("issuer", content.get("issuer"), f"must be {issuer}")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            check_url(name, str(content.get(name)))
        return content

    async def _fetch(self, url: str) -> Content:
        status, content = await self._call("GET", url)
        if status != 200:
            raise ValueError(status)
        return content

    async def _call(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: str | None = None,
    ) -> tuple[int, Content]:
        """Make a call that follows no redirect; return its status and its JSON."""
        read = b""
        accepted = {"Accept": "application/json", **(headers or {})}
        async with (
            httpx.AsyncClient(transport=self._transport, timeout=PATIENCE) as http,
            asyncio.timeout(PATIENCE),
            http.stream(method, url, headers=accepted, content=content) as reply,
        ):
            async for part in reply.aiter_bytes():
                read += part
                if len(read) > MOST_BYTES:
                    raise ValueError(len(read))
        found = json.loads(read)
        if not isinstance(found, dict):
            raise TypeError(url)
        return reply.status_code, found

    # ----------------------------------------------------------------------- tokens

    async def claims(self, token: str, *, audience: str) -> Content | None:
        """Return what a token for an audience says of its holder; None if anything is wrong."""
        name = key_name_in(token)
        key = None if name is None else await self.key(name)
        if key is None:
            return None
        try:
            found = decode(token, key, registry=Signatures(strict_check_header=False)).claims
            _claims_for(self._settings.issuer, audience).validate(found)
        except (JoseError, ValueError, TypeError, OverflowError):
            return None
        subject = found.get(self._settings.name_claim)
        return found if isinstance(subject, str) and subject else None

    async def id_claims(self, token: str, nonce: str) -> Content | None:
        """Return what an ID token says; None if it is not for this client and this sign-in."""
        client = self._settings.client_id
        found = await self.claims(token, audience=client)
        if found is None or found.get("nonce") != nonce or found.get("azp", client) != client:
            return None
        return found

    # ----------------------------------------------------------------------- codes

    async def login_url(self, *, state: str, nonce: str, verifier: str) -> str:
        """Return where a browser signs in."""
        about, given = await self.about(), self._settings
        url = prepare_grant_uri(
            about["authorization_endpoint"],
            given.client_id,
            "code",
            redirect_uri=given.redirect_uri,
            scope=" ".join(given.scopes),
            state=state,
            nonce=nonce,
            code_challenge=create_s256_code_challenge(verifier),  # type: ignore[no-untyped-call]
            code_challenge_method="S256",
        )
        return str(url)

    async def id_token(self, code: str, verifier: str) -> str | None:
        """Return the ID token for a code; None if the provider gives none."""
        about = await self.about()
        body = prepare_token_request(
            "authorization_code",
            redirect_uri=self._settings.redirect_uri,
            code=code,
            code_verifier=verifier,
        )
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        url, headers, body = self._client(about).prepare(  # type: ignore[no-untyped-call]
            "POST", about["token_endpoint"], headers, body
        )
        try:
            status, tokens = await self._call("POST", url, headers=headers, content=body)
        except FETCH_ERRORS as error:
            raise AWAY from error
        found = tokens.get("id_token") if status == 200 else None
        return found if isinstance(found, str) else None

    def _client(self, about: Content) -> ClientAuth:
        """Return how this server proves to the provider who it is."""
        given = self._settings
        if given.client_secret is None:
            return ClientAuth(given.client_id, None, "none")
        known = about.get("token_endpoint_auth_methods_supported", [BASIC])
        if BASIC not in known:
            return ClientAuth(given.client_id, given.client_secret, "client_secret_post")
        return ClientAuth(quote(given.client_id, ""), quote(given.client_secret, ""), BASIC)


def key_name_in(token: str) -> str | None:
    """Return the key that a token names, if its head is one that may be checked."""
    if len(token) > MOST_TOKEN or not token.isascii() or token.count(".") != 2:
        return None
    part = token.partition(".")[0]
    try:
        head = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        return None
    if not isinstance(head, dict) or head.get("alg") not in ALGORITHMS:
        return None
    kind, name = head.get("typ"), head.get("kid")
    if (kind.casefold() if isinstance(kind, str) else kind) not in TYPES:
        return None
    return name if isinstance(name, str) else None


def keys_from(content: Content) -> dict[str, Key]:
    """Return the public keys in a set that may check signatures; others are passed over."""
    listed = content.get("keys")
    if not isinstance(listed, list):
        raise TypeError("keys")
    found: dict[str, Key] = {}
    for each in listed[:MOST_KEYS]:
        if not isinstance(each, dict) or each.get("use", "sig") != "sig":
            continue
        if each.get("kty") not in {"RSA", "EC", "OKP"}:
            continue
        try:
            key = JWKRegistry.import_key(each)
        except (JoseError, ValueError, TypeError, KeyError):
            continue
        if isinstance(key, KEYS) and isinstance(each.get("kid"), str) and _is_strong(key):
            found.setdefault(each["kid"], key)
    return found


KEYS = (RSAKey, ECKey, OKPKey)


def _is_strong(key: Key) -> bool:
    if isinstance(key, RSAKey):
        return key.public_key.key_size >= LEAST_RSA_BITS
    return key.curve_name in {"P-256", "Ed25519"}


def _claims_for(issuer: str, audience: str) -> JWTClaimsRegistry:
    return JWTClaimsRegistry(
        leeway=LEEWAY,
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": audience},
        exp={"essential": True},
        sub={"essential": True},
    )
