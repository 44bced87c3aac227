"""The keys of a provider: how often they are fetched, and which may check a signature."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import httpx
import pytest
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from joserfc.jwt import encode

from discreet.server.faults import CallError
from discreet.server.oidc_provider import (
    FAILED_PAUSE,
    LASTS,
    MOST_BYTES,
    UNKNOWN_PAUSE,
    Provider,
    keys_from,
)
from discreet.server.oidc_settings import OidcSettings, oidc_from

ISSUER = "https://login.example"
AUDIENCE = "urn:discreet"
AnyKey: TypeAlias = RSAKey | ECKey | OKPKey | OctKey


def settings() -> OidcSettings:
    rule = {"claim": "groups", "value": "a", "catalog": "clinic", "role": "reader"}
    return oidc_from(
        {
            "issuer": ISSUER,
            "client_id": "page",
            "audience": AUDIENCE,
            "server_url": "https://discreet.example",
            "roles": [rule],
        }
    )


@dataclass
class Stub:
    """A provider in memory that counts what is fetched, with a clock that is set by hand."""

    keys: dict[str, AnyKey]
    now: float = 0.0
    fetched: list[str] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    is_away: bool = False

    def provider(self) -> Provider:
        return Provider(settings(), transport=httpx.MockTransport(self), clock=lambda: self.now)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.fetched.append(request.url.path)
        if self.is_away:
            raise httpx.ConnectError("away")
        if request.url.path == "/jwks":
            listed = [each.as_dict(private=False) for each in self.keys.values()]
            return httpx.Response(200, json={"keys": listed})
        about = {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/auth",
            "token_endpoint": f"{ISSUER}/token",
            "jwks_uri": f"{ISSUER}/jwks",
            **self.about,
        }
        return httpx.Response(200, json=about)

    @property
    def times(self) -> int:
        return self.fetched.count("/jwks")


def rsa(name: str, bits: int = 2048, **more: Any) -> RSAKey:
    about: Any = {"kid": name, **more}
    return RSAKey.generate_key(bits, parameters=about, private=True)


def token(key: AnyKey, algorithm: str = "RS256", **changed: Any) -> str:
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": int(time.time()) + 60}
    head = {"alg": algorithm, "kid": key.kid}
    return encode(head, {**claims, **changed}, key, algorithms=[algorithm])


def claims_of(provider: Provider, text: str) -> Mapping[str, Any] | None:
    return asyncio.run(provider.claims(text, audience=AUDIENCE))


@pytest.fixture(scope="module")
def key() -> RSAKey:
    return rsa("one")


def test_keys_are_fetched_once_and_again_after_their_time(key: RSAKey) -> None:
    stub = Stub({"one": key})
    provider = stub.provider()
    for _ in range(10):
        assert claims_of(provider, token(key))
    assert stub.times == 1
    stub.now += LASTS + 1
    assert claims_of(provider, token(key))
    assert stub.times == 2


def test_a_new_key_is_found_and_a_withdrawn_one_is_not(key: RSAKey) -> None:
    stub, new = Stub({"one": key}), rsa("two")
    provider = stub.provider()
    assert claims_of(provider, token(key))
    stub.keys = {"two": new}
    stub.now += UNKNOWN_PAUSE + 1
    assert claims_of(provider, token(new))
    assert claims_of(provider, token(key)) is None


def test_a_flood_of_unknown_keys_fetches_once_a_minute(key: RSAKey) -> None:
    stub = Stub({"one": key})
    provider = stub.provider()

    async def flood() -> None:
        texts = [encode({"alg": "RS256", "kid": f"k{i}"}, {}, key) for i in range(300)]
        found = await asyncio.gather(*(provider.claims(each, audience="x") for each in texts))
        assert set(found) == {None}

    for minute in range(3):
        stub.now = minute * (UNKNOWN_PAUSE + 1)
        asyncio.run(flood())
        assert stub.times == minute + 1
    assert claims_of(provider, token(key))


def test_a_provider_that_is_away_is_not_asked_by_every_call(key: RSAKey) -> None:
    stub = Stub({"one": key}, is_away=True)
    provider = stub.provider()
    for _ in range(20):
        with pytest.raises(CallError) as caught:
            claims_of(provider, token(key))
        assert caught.value.status == 503
    assert len(stub.fetched) == 1
    stub.now += FAILED_PAUSE + 1
    stub.is_away = False
    assert claims_of(provider, token(key))


def test_known_keys_are_used_while_the_provider_is_away(key: RSAKey) -> None:
    stub = Stub({"one": key})
    provider = stub.provider()
    assert claims_of(provider, token(key))
    stub.is_away = True
    stub.now += UNKNOWN_PAUSE + 1
    assert claims_of(provider, token(rsa("two"))) is None
    assert claims_of(provider, token(key))


@pytest.mark.parametrize(
    "about",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"jwks_uri": "http://login.example/jwks"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": None},
        {"token_endpoint": "http://login.example/token"},
        {"padding": "x" * MOST_BYTES},
    ],
    ids=["issuer", "none", "clear", "file", "no keys", "token", "long"],
)
def test_what_a_provider_says_is_checked(key: RSAKey, about: dict[str, Any]) -> None:
    stub = Stub({"one": key}, about=about)
    with pytest.raises(CallError) as caught:
        claims_of(stub.provider(), token(key))
    assert caught.value.code == "provider_away"
    assert "/jwks" not in stub.fetched


def test_redirects_of_a_provider_are_not_followed(key: RSAKey) -> None:
    seen = []

    def away(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(302, headers={"Location": "http://169.254.169.254/"})

    provider = Provider(settings(), transport=httpx.MockTransport(away))
    with pytest.raises(CallError):
        claims_of(provider, token(key))
    assert len(seen) == 1


def test_three_algorithms_are_accepted_and_others_are_not(key: RSAKey) -> None:
    curve = ECKey.generate_key("P-256", parameters={"kid": "ec"}, private=True)
    edwards = OKPKey.generate_key("Ed25519", parameters={"kid": "ed"}, private=True)
    provider = Stub({"one": key, "ec": curve, "ed": edwards}).provider()
    with pytest.warns(UserWarning, match="EdDSA"):  # of the maker's side
        signed = token(edwards, "EdDSA")
    for good in (token(key), token(curve, "ES256"), signed):
        assert claims_of(provider, good)
    for algorithm in ("RS384", "RS512", "PS256"):
        assert claims_of(provider, token(key, algorithm)) is None
    assert claims_of(provider, token(edwards, "Ed25519")) is None


def test_a_key_of_one_kind_checks_no_signature_of_another(key: RSAKey) -> None:
    curve = ECKey.generate_key("P-256", parameters={"kid": "one"}, private=True)
    assert claims_of(Stub({"one": key}).provider(), token(curve, "ES256")) is None


@pytest.mark.filterwarnings("ignore:Key size")
def test_weak_keys_secrets_and_keys_for_other_uses_are_passed_over(key: RSAKey) -> None:
    listed = [
        {"kty": "oct", "k": "c2VjcmV0", "kid": "secret"},
        rsa("short", 1024).as_dict(private=False),
        rsa("encrypts", use="enc").as_dict(private=False),
        ECKey.generate_key("P-384", parameters={"kid": "curve"}).as_dict(private=False),
        {name: each for name, each in rsa("x").as_dict(private=False).items() if name != "kid"},
        {"kty": "new", "kid": "new"},
        {"kty": "RSA", "kid": "broken", "n": "!", "e": "AQAB"},
        "text",
        key.as_dict(private=False),
    ]
    assert list(keys_from({"keys": listed})) == ["one"]


def test_an_id_token_belongs_to_its_client_and_its_sign_in(key: RSAKey) -> None:
    provider = Stub({"one": key}).provider()

    def found(**changed: Any) -> object:
        text = token(key, aud="page", **{"nonce": "n", **changed})
        return asyncio.run(provider.id_claims(text, "n"))

    assert found()
    assert found(azp="page")
    assert not found(nonce="other")
    assert not found(nonce=None)
    assert not found(azp="another client")
    assert asyncio.run(provider.id_claims(token(key, nonce="n"), "n")) is None
