"""Each mistake in the settings of sign-on is one sentence."""

# ruff: noqa: S105, S106 - made-up secrets

import asyncio
import copy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest

from discreet.errors import CatalogError, MissingExtraError, ParameterError
from discreet.server.faults import CallError
from discreet.server.oidc import OidcCallers
from discreet.server.oidc_settings import RoleRule, oidc_from
from discreet.server.settings import read_settings, settings_from
from discreet.server.sites import open_site
from tests.server.running import write_catalog

GOOD: dict[str, Any] = {
    "issuer": "https://login.example",
    "client_id": "page",
    "audience": "urn:discreet",
    "server_url": "https://discreet.example/",
    "scopes": ["openid", "groups"],
    "roles": [
        {"claim": "groups", "value": "a", "catalog": "clinic", "role": "analyst", "epsilon": 0.5}
    ],
}


SHOWN = """
[oidc]
issuer = "https://login.example"
client_id = "page"
audience = "urn:discreet"
server_url = "https://discreet.example"

[[oidc.roles]]
claim = "groups"
value = "a"
"""


def changed(**given: Any) -> dict[str, Any]:
    made = {**copy.deepcopy(GOOD), **given}
    return {name: each for name, each in made.items() if each is not None}


def ruled(**given: Any) -> dict[str, Any]:
    made = {**GOOD["roles"][0], **given}
    return changed(roles=[{name: each for name, each in made.items() if each is not None}])


def test_good_settings_are_read() -> None:
    found = settings_from({"oidc": GOOD})
    assert found.oidc is not None
    assert found.oidc.redirect_uri == "https://discreet.example/v1/oidc/callback"
    assert found.oidc.roles[0].epsilon == 1 / 2
    assert found.oidc.device_client_id == "page"  # it has no secret
    assert found.oidc.device_scopes == ("openid", "groups", "offline_access")
    assert found.hosts == ("discreet.example",)


def test_a_client_with_a_secret_is_not_that_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_TEST", "abc")
    found = oidc_from(changed(client_secret_env="SECRET_OF_TEST"))
    assert found.client_secret == "abc"
    assert "abc" not in repr(found)
    assert found.device_client_id is None


def test_the_settings_on_the_page_are_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_OIDC_SECRET", "abc")
    page = Path(__file__).parents[2] / "docs" / "how-to" / "sign-on.md"
    shown = page.read_text(encoding="utf-8").split("```toml\n")[1].partition("```")[0]
    found = settings_from(tomllib.loads(shown)).oidc
    assert found is not None
    assert [each.role for each in found.roles] == ["owner", "analyst", "reader"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("text", "oidc must be a table"),
        (changed(isuer="x"), "oidc must be among audience"),
        (changed(issuer=None), "oidc.issuer must be a text"),
        (changed(issuer="login.example"), "oidc.issuer must be an address"),
        (changed(issuer="http://login.example"), "oidc.issuer must begin with https://"),
        (changed(issuer="https://a:b@login.example"), "oidc.issuer must not contain"),
        (changed(issuer="https://login.example:x"), "oidc.issuer must be an address"),
        (changed(server_url="https://d.example/?x=1"), "oidc.server_url must be an address"),
        (changed(client_id=" "), "oidc.client_id must be a text"),
        (changed(audience="page"), "oidc.audience must not be the name of a client"),
        (changed(audience="cli", device_client_id="cli"), "oidc.audience must not be the name"),
        (changed(client_secret_env="NOT_SET_AT_ALL"), "must name an environment variable"),
        (changed(scopes="openid"), "oidc.scopes must be a list of scopes"),
        (changed(scopes=["groups"]), "oidc.scopes must be a list of scopes"),
        (changed(scopes=["openid", "a b"]), "oidc.scopes must be a list of scopes"),
        (changed(roles=None), "oidc.roles must be one or more tables"),
        (changed(roles=[]), "oidc.roles must be one or more tables"),
        (ruled(role="admin"), r"oidc.roles\[1\].role must be one of"),
        (ruled(value=1), r"oidc.roles\[1\].value must be a text"),
        (ruled(claim=None), r"oidc.roles\[1\].claim must be a text"),
        (ruled(epsilon=None), r"oidc.roles\[1\].epsilon must be given"),
        (ruled(epsilon=0), r"oidc.roles\[1\].epsilon must be more than 0"),
        (ruled(delta=1), r"oidc.roles\[1\].delta must be less than 1"),
        (ruled(role="owner"), r"oidc.roles\[1\].epsilon must be left out"),
        (ruled(group="x"), r"oidc.roles\[1\] must be among catalog"),
    ],
)
def test_a_mistake_is_one_sentence(content: object, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        settings_from({"oidc": content})


def test_a_mistake_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "server.toml"
    path.write_text('[oidc]\nissuer = "x"\n')
    with pytest.raises(CatalogError, match=r"server\.toml"):
        read_settings(path)


def test_a_rule_names_a_catalog_that_is_served() -> None:
    with pytest.raises(ParameterError, match=r"oidc.roles\[1\].catalog must be a catalog"):
        OidcCallers(oidc_from(GOOD), {})


def test_a_role_that_changes_while_the_owner_disables_the_account_leaves_it_disabled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = open_site("clinic", write_catalog(tmp_path))
    callers = OidcCallers(oidc_from(ruled(role="owner", epsilon=None)), {"clinic": site})
    before = site.ledger.declare_analyst("oidc:ann", epsilon=1)
    site.ledger.declare_analyst("oidc:ann", epsilon=1, enabled=False)
    monkeypatch.setattr(site.ledger, "analysts", lambda: (before,))  # as read a moment ago
    with pytest.raises(CallError) as caught:
        asyncio.run(callers.with_claims({"sub": "ann", "groups": ["a"]}))
    assert caught.value.status == 401
    monkeypatch.undo()
    assert [(each.enabled, each.role) for each in site.ledger.analysts()] == [(False, "analyst")]
    site.close()


def test_a_server_with_a_mistake_in_its_rules_does_not_start(tmp_path: Path) -> None:
    config, catalog = tmp_path / "server.toml", write_catalog(tmp_path / "data")
    config.write_text(f"{SHOWN}catalog = 'other'\nrole = 'reader'\n")
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "discreet", "serve", f"clinic={catalog}", "--config", str(config)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "oidc.roles[1].catalog must be a catalog that is served: clinic" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "discreet.server.oidc_provider", raising=False)
    monkeypatch.setitem(sys.modules, "joserfc", None)
    monkeypatch.setitem(sys.modules, "joserfc.errors", None)
    with pytest.raises(MissingExtraError, match=r"discreet\[oidc\]"):
        OidcCallers(oidc_from(GOOD), cast("Any", {"clinic": None}))


@pytest.mark.parametrize(
    ("claim", "claims", "is_match"),
    [
        ("groups", {"groups": ["a", "b"]}, True),
        ("groups", {"groups": "a"}, True),
        ("groups", {"groups": "ab"}, False),
        ("groups", {"groups": ["ab"]}, False),
        ("groups", {"groups": {"a": 1}}, False),
        ("groups", {}, False),
        ("realm.roles", {"realm": {"roles": ["a"]}}, True),
        ("realm.roles", {"realm": "a"}, False),
        ("https://x.example/groups", {"https://x.example/groups": ["a"]}, True),
        ("realm.roles", {"realm.roles": ["b"], "realm": {"roles": ["a"]}}, False),
    ],
)
def test_a_claim_is_the_value_or_contains_it(
    claim: str, claims: dict[str, Any], is_match: bool
) -> None:
    rule = RoleRule(claim=claim, value="a", catalog="clinic", role="reader")
    assert rule.matches(claims) is is_match
