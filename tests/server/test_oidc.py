"""Signing in at a real OpenID provider: the page, programs, the command line, and attackers."""

import hmac
import json
import os
import re
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc.jwk import RSAKey
from joserfc.jwt import encode

from discreet.client import connect
from tests.server.forked import run_command
from tests.server.providing import (
    AUDIENCE,
    SECRET_VARIABLE,
    Browser,
    Provided,
    asked_of,
    providing,
)
from tests.server.running import BASE, Served, free_port, serving, write_catalog

pytestmark = pytest.mark.xdist_group("oidc")

COUNT = "SELECT COUNT(*) AS n FROM visits"
CALLBACK = "/v1/oidc/callback"


@pytest.fixture(scope="module")
def provided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provided]:
    server = f"http://127.0.0.1:{free_port()}"
    with providing(tmp_path_factory.mktemp("provider"), server=server) as found:
        yield found


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, provided: Provided) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("clinic")
    config = folder / "server.toml"
    limits = "[limits]\nsign_ins_per_minute = 10000\nburst = 1000\n"
    (folder / "data").mkdir()
    (folder / "data" / "trips.csv").write_text("rider_id,town\n1,Aba\n2,Ebo\n")
    adding = f'add_data_from = ["{folder}/data"]\ncatalog_folder = "{folder}/added"\n'
    config.write_text(adding + limits + provided.settings())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET_VARIABLE, provided.secret)
        port = urlsplit(provided.server).port
        with serving(write_catalog(folder), "--config", str(config), port=port) as found:
            yield found


def called(
    served: Served, token: str, method: str = "GET", path: str = "/v1/me", **more: Any
) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    return served.call(method, path, None, headers=headers, **more)


def accounts(served: Served) -> dict[str, Any]:
    listed = served.call("GET", f"{BASE}/analysts", "boss").json()["analysts"]
    return {each["name"]: each for each in listed}


# ----------------------------------------------------------------------------- the page


def signed_in(served: Served, who: str) -> tuple[Browser, httpx.Response]:
    """Sign in from the page; return the browser and the reply to its callback."""
    browser = Browser(who)
    back = browser.sign_in(f"{served.url}/v1/oidc/login", until=served.url + CALLBACK)
    return browser, browser.open(back)


def test_the_page_signs_in_and_asks(served: Served) -> None:
    browser, reply = signed_in(served, "analysts-pia")
    assert reply.status_code == 303
    assert reply.headers["location"] == "/"
    cookie = next(
        each for each in reply.headers.get_list("set-cookie") if each.startswith("__Host-discreet=")
    )
    for each in ("HttpOnly", "Secure", "SameSite=strict", "Path=/"):
        assert each in cookie
    assert list(browser.own[urlsplit(served.url).netloc]) == ["__Host-discreet"]
    headers = {"Cookie": cookie.partition(";")[0]}
    session = served.call("GET", "/v1/session", None, headers=headers).json()
    assert session["catalogs"] == [
        {"name": "clinic", "role": "analyst", "who": "oidc:analysts-pia"}
    ]
    asked = {"json": {"sql": COUNT, "epsilon": 1}}
    assert served.call("POST", f"{BASE}/ask", None, headers=headers, **asked).status_code == 403
    headers["X-CSRF-Token"] = session["csrf"]
    assert served.call("POST", f"{BASE}/ask", None, headers=headers, **asked).status_code == 200
    assert accounts(served)["oidc:analysts-pia"]["epsilon"] == "3"


def test_another_site_cannot_read_the_csrf_token(served: Served) -> None:
    browser, _ = signed_in(served, "analysts-pia")
    cookie = browser.own[urlsplit(served.url).netloc]["__Host-discreet"]
    headers = {"Cookie": f"__Host-discreet={cookie}", "Sec-Fetch-Site": "cross-site"}
    assert served.call("GET", "/v1/session", None, headers=headers).status_code == 403


def test_the_redirect_has_a_challenge_and_no_secret(served: Served, provided: Provided) -> None:
    reply = served.call("GET", "/v1/oidc/login", None)
    asked = asked_of(reply.headers["location"])
    assert reply.headers["location"].startswith(f"{provided.issuer}/auth?")
    assert asked["code_challenge_method"] == "S256"
    assert asked["response_type"] == "code"
    assert asked["redirect_uri"] == f"{served.url}{CALLBACK}"
    assert {"state", "nonce", "code_challenge"} <= asked.keys()
    assert "code_verifier" not in asked
    assert provided.secret not in reply.headers["location"]
    cookie = reply.headers["set-cookie"]
    for each in ("__Host-discreet-oidc=", "HttpOnly", "Secure", "SameSite=lax", "Path=/"):
        assert each in cookie


def test_somebody_without_a_rule_is_told_so(served: Served, provided: Provided) -> None:
    _, reply = signed_in(served, "nobody")
    assert reply.status_code == 403
    assert "no rule" in reply.json()["error"]["message"]
    assert "set-cookie" not in reply.headers
    assert called(served, provided.token("others-oz")).json() == reply.json()
    assert "oidc:nobody" not in accounts(served)


def test_a_state_is_used_once(served: Served) -> None:
    browser = Browser("analysts-pia")
    back = browser.sign_in(f"{served.url}/v1/oidc/login", until=served.url + CALLBACK)
    jar = dict(browser.own[urlsplit(served.url).netloc])
    assert browser.open(back).status_code == 303
    browser.own[urlsplit(served.url).netloc] = jar
    again = browser.open(back)
    assert again.status_code == 403
    assert "set-cookie" not in again.headers


def test_a_callback_that_another_browser_began_signs_nobody_in(served: Served) -> None:
    attacker = Browser("analysts-eve")
    back = attacker.sign_in(f"{served.url}/v1/oidc/login", until=served.url + CALLBACK)
    victim = Browser("analysts-pia")
    assert victim.open(back).status_code == 403
    victim.open(f"{served.url}/v1/oidc/login")  # has a cookie, of a sign-in of its own
    assert victim.open(back).status_code == 403
    assert "__Host-discreet" not in victim.own[urlsplit(served.url).netloc]
    assert attacker.open(back).status_code == 403  # the first callback used it up


def test_a_code_of_another_sign_in_is_worth_nothing(served: Served) -> None:
    attacker, victim = Browser("analysts-eve"), Browser("analysts-pia")
    stolen = asked_of(victim.sign_in(f"{served.url}/v1/oidc/login", until=served.url + CALLBACK))[
        "code"
    ]
    own = attacker.sign_in(f"{served.url}/v1/oidc/login", until=served.url + CALLBACK)
    reply = attacker.open(own.replace(asked_of(own)["code"], stolen))
    assert reply.status_code == 403
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?state=&code=",
        "?state=x&code=y",
        "?error=access_denied&error_description=%3Cscript%3E",
        f"?state={'a' * 64}&code=y&iss=https://evil.example",
    ],
)
def test_a_callback_that_nothing_began_is_rejected(served: Served, query: str) -> None:
    reply = served.call("GET", CALLBACK + query, None)
    assert reply.status_code == 403
    assert reply.json()["error"]["code"] == "sign_in_failed"
    assert "script" not in reply.text


def test_the_issuer_in_a_callback_is_checked(served: Served) -> None:
    browser = Browser("analysts-pia")
    back = browser.sign_in(f"{served.url}/v1/oidc/login", until=served.url + CALLBACK)
    assert asked_of(back)["iss"]
    other = re.sub(r"iss=[^&]+", "iss=https%3A%2F%2Fevil.example", back)
    assert browser.open(other).status_code == 403


@pytest.mark.parametrize("name", ["next", "redirect_uri", "return_to", "url"])
@pytest.mark.parametrize("place", ["https://evil.example", "//evil.example", "/\\evil.example"])
def test_no_call_names_where_the_browser_goes(served: Served, name: str, place: str) -> None:
    headers = {"Referer": place, "X-Forwarded-Host": "evil.example"}
    begun = httpx.get(f"{served.url}/v1/oidc/login", params={name: place}, headers=headers)
    assert "evil.example" not in begun.headers["location"]


def test_the_callback_leads_to_the_page_only(served: Served) -> None:
    browser = Browser("analysts-pia")
    back = browser.sign_in(f"{served.url}/v1/oidc/login", until=served.url + CALLBACK)
    reply = browser.open(f"{back}&next=https://evil.example&redirect_uri=//evil.example")
    assert reply.status_code == 303
    assert reply.headers["location"] == "/"


def test_what_is_no_session_is_no_cookie(served: Served) -> None:
    state = asked_of(served.call("GET", "/v1/oidc/login", None).headers["location"])["state"]
    for each in (state, f"oidc {state}"):
        reply = served.call("GET", "/v1/me", None, headers={"Cookie": f"__Host-discreet={each}"})
        assert reply.status_code == 401
    assert served.call("POST", "/v1/session", None, json={"code": state}).status_code == 401


# ----------------------------------------------------------------------------- programs


def test_groups_decide_the_role(served: Served, provided: Provided) -> None:
    owner, analyst, reader = (
        provided.token(f"{each}-kim") for each in ("owners", "analysts", "readers")
    )
    assert called(served, owner, path=f"{BASE}/analysts").status_code == 200
    assert called(served, analyst, path=f"{BASE}/analysts").status_code == 403
    asked = {"json": {"sql": f"{COUNT} WHERE age > 20", "epsilon": 1}}
    assert called(served, analyst, "POST", f"{BASE}/ask", **asked).status_code == 200
    assert called(served, reader, "POST", f"{BASE}/ask", **asked).status_code == 403
    with connect(served.url, analyst) as remote:
        assert remote.remaining.epsilon == 2
    assert called(served, owner).json()["catalogs"][0]["who"] == "oidc:owners-kim"


def test_the_cap_is_the_rules_at_first_and_the_owners_later(
    served: Served, provided: Provided
) -> None:
    token = provided.token("analysts-liz")
    assert called(served, token).status_code == 200
    path = f"{BASE}/analysts/oidc:analysts-liz"
    for cap in (9, 1):
        assert served.call("PATCH", path, "boss", json={"epsilon": cap}).status_code == 200
        assert called(served, token).status_code == 200
        assert accounts(served)["oidc:analysts-liz"]["epsilon"] == str(cap)


def test_a_disabled_account_stays_disabled(served: Served, provided: Provided) -> None:
    browser, _ = signed_in(served, "analysts-max")
    cookie = browser.own[urlsplit(served.url).netloc]["__Host-discreet"]
    headers = {"Cookie": f"__Host-discreet={cookie}"}
    assert served.call("GET", "/v1/me", None, headers=headers).status_code == 200
    path = f"{BASE}/analysts/oidc:analysts-max"
    served.call("PATCH", path, "boss", json={"enabled": False})
    assert called(served, provided.token("analysts-max")).status_code == 401
    assert called(served, provided.token("analysts-max", groups=["owners"])).status_code == 401
    assert served.call("GET", "/v1/me", None, headers=headers).status_code == 401
    assert signed_in(served, "analysts-max")[1].status_code == 401
    assert accounts(served)["oidc:analysts-max"]["enabled"] is False


def test_who_adds_data_is_their_owner_at_each_sign_in(served: Served, provided: Provided) -> None:
    browser, _ = signed_in(served, "owners-ida")
    cookie = browser.own[urlsplit(served.url).netloc]["__Host-discreet"]
    headers = {"Cookie": f"__Host-discreet={cookie}"}
    body = {"name": "trips", "source": {"file": "data/trips.csv"}, "unit": None, "epsilon": 1}
    added = called(served, provided.token("owners-ida"), "POST", "/v1/datasets", json=body)
    assert added.status_code == 201, added.text
    own = {"name": "trips", "role": "owner", "who": "oidc:owners-ida"}
    assert own in called(served, provided.token("owners-ida")).json()["catalogs"]
    assert own in served.call("GET", "/v1/me", None, headers=headers).json()["catalogs"]
    others = called(served, provided.token("owners-kim")).json()["catalogs"]
    assert [each["name"] for each in others] == ["clinic"]
    no_rule = provided.token("owners-ida", groups=["nobody"])
    assert called(served, no_rule).status_code == 403


def test_the_newest_claims_decide_the_role(served: Served, provided: Provided) -> None:
    now = int(time.time())
    old = provided.token("owners-zoe", iat=now - 60)
    new = provided.token("owners-zoe", groups=["readers"], iat=now)
    roles = [called(served, each).json()["catalogs"][0]["role"] for each in (old, new, old)]
    assert roles == ["owner", "reader", "reader"]


def test_a_role_that_is_charged_gets_the_cap_of_its_rule(
    served: Served, provided: Provided
) -> None:
    now = int(time.time())
    called(served, provided.token("readers-tom", iat=now - 60))
    called(served, provided.token("readers-tom", groups=["analysts"], iat=now))
    assert accounts(served)["oidc:readers-tom"]["epsilon"] == "3"


def test_a_name_at_the_provider_is_never_that_of_another_account(
    served: Served, provided: Provided
) -> None:
    reply = called(served, provided.token("boss", groups=["readers"]))
    assert reply.json()["catalogs"][0] == {
        "name": "clinic",
        "role": "reader",
        "who": "oidc:boss",
    }


def part(content: Any) -> str:
    return urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def forged(provided: Provided, head: dict[str, Any], key: bytes | None) -> str:
    """Return a good token under another head, signed with what everybody can read."""
    signed = f"{part(head)}.{provided.token().split('.')[1]}"
    if key is None:
        return f"{signed}."
    mark = hmac.new(key, signed.encode(), sha256).digest()
    return f"{signed}.{urlsafe_b64encode(mark).decode().rstrip('=')}"


def by_hand(provided: Provided, head: dict[str, Any], claims: Any) -> str:
    """Return what the provider's own key signs, however odd."""
    signed = f"{part(head)}.{part(claims)}"
    mark = provided.key.private_key.sign(signed.encode(), PKCS1v15(), SHA256())  # type: ignore[union-attr]
    return f"{signed}.{urlsafe_b64encode(mark).decode().rstrip('=')}"


def bad_tokens(provided: Provided) -> dict[str, str]:
    """Return tokens with one mistake each."""
    now = int(time.time())
    other = RSAKey.generate_key(2048, private=True)
    public = provided.key.as_pem(private=False)
    good = provided.token()
    head = {"typ": "at+jwt", "kid": "first"}
    claims = {"iss": provided.issuer, "aud": AUDIENCE, "sub": "owners-eve", "exp": now + 60}
    own = {"alg": "RS256", "jwk": other.as_dict(private=False)}
    return {
        "none": forged(provided, {**head, "alg": "none"}, None),
        "None": forged(provided, {**head, "alg": "None"}, None),
        "no algorithm": forged(provided, head, None),
        "public key as a secret": forged(provided, {**head, "alg": "HS256"}, public),
        "set of keys as a secret": forged(
            provided, {**head, "alg": "HS256"}, json.dumps(provided.key.as_dict(False)).encode()
        ),
        "empty secret": forged(provided, {**head, "alg": "HS256"}, b""),
        "another algorithm": provided.token(head={"alg": "PS256"}),
        "another key": encode({"alg": "RS256", "kid": "first"}, claims, other),
        "own key in the head": encode({**own, "kid": "first"}, claims, other),
        "own key and name": encode({**own, "kid": "mine"}, claims, other),
        "no name of a key": encode({"alg": "RS256"}, claims, provided.key),
        "another audience": provided.token(aud="urn:other"),
        "audience of the page": provided.token(aud="page"),
        "no audience": provided.token(aud=None),
        "audience in part": provided.token(aud=AUDIENCE[:-1]),
        "another issuer": provided.token(iss="https://evil.example"),
        "issuer with a slash": provided.token(iss=f"{provided.issuer}/"),
        "no issuer": provided.token(iss=None),
        "ended": provided.token(exp=now - 60),
        "no end": provided.token(exp=None),
        "end as a text": provided.token(exp=str(now + 60)),
        "not yet": provided.token(nbf=now + 300),
        "from the future": provided.token(iat=now + 300),
        "no subject": provided.token(sub=None),
        "subject as a number": provided.token(sub=7),
        "control characters": provided.token("analysts-\x1b[2J\n"),
        "logout token": provided.token(head={"typ": "logout+jwt"}),
        "critical head": by_hand(
            provided, {"alg": "RS256", "kid": "first", "crit": ["new"], "new": 1}, claims
        ),
        "no claims": by_hand(provided, {"alg": "RS256", "kid": "first"}, [claims]),
        "signature cut": good[:-10],
        "signature of another": ".".join(
            [*good.split(".")[:2], provided.token("owners-eve").split(".")[2]]
        ),
        "no form": "ey.ey.ey",
        "long": f"eyJ{'A' * 20_000}.e.e",
        "nested": f"{urlsafe_b64encode(b'[' * 6000).decode().rstrip('=')}.e.e",
    }


def test_any_mistake_in_a_token_is_the_same_rejection(served: Served, provided: Provided) -> None:
    assert called(served, provided.token()).status_code == 200
    assert called(served, provided.token(aud=[AUDIENCE, "urn:x"])).status_code == 200
    expected = called(served, "discreet_0123456789abcdef_" + "A" * 43)
    assert expected.status_code == 401
    for name, token in bad_tokens(provided).items():
        reply = called(served, token)
        assert (reply.status_code, reply.content) == (401, expected.content), name
        assert reply.headers["WWW-Authenticate"] == "Bearer", name
    assert not [name for name in accounts(served) if "eve" in name and "owners" in name]


def test_tokens_of_the_ledger_still_work(served: Served) -> None:
    assert served.call("GET", "/v1/me").status_code == 200


# ----------------------------------------------------------------------------- the command line


def test_the_command_signs_in_by_a_code_and_renews_its_token(
    served: Served, provided: Provided, tmp_path: Path
) -> None:
    home = {"XDG_CONFIG_HOME": str(tmp_path), "DISCREET_SERVER": served.url}
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "discreet", "login", served.url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **home},
    ) as process:
        assert process.stderr is not None
        told = re.search(r"Open (\S+) and enter the code (\S+)", process.stderr.readline())
        assert told
        assert told[1] == f"{provided.issuer}/device"
        browser = Browser("analysts-cli")
        browser.sign_in(f"{told[1]}?user_code={told[2]}", until="Sign-in Success")
        out, words = process.communicate(timeout=60)
    assert process.returncode == 0, words
    assert "clinic" in out
    kept = tmp_path / "discreet" / "credentials.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    first = json.loads(kept.read_text())[served.url]
    assert first["refresh_token"]

    def budget() -> str:
        done = run_command("budget", folder=tmp_path, environment={**os.environ, **home})
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "Remaining: ε = 3" in budget()
    assert json.loads(kept.read_text())[served.url] == first
    kept.write_text(json.dumps({served.url: {**first, "expires": 0}}))
    assert "Remaining: ε = 3" in budget()
    second = json.loads(kept.read_text())[served.url]
    assert second["access_token"] != first["access_token"]
    assert second["expires"] > time.time()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert "oidc:analysts-cli" in accounts(served)


def test_a_server_says_how_to_sign_in(served: Served, provided: Provided) -> None:
    assert served.call("GET", "/v1/oidc", None).json() == {
        "login": "/v1/oidc/login",
        "device": {
            "issuer": provided.issuer,
            "client_id": "command",
            "scopes": ["openid", "groups", "offline_access"],
        },
    }
