"""SCRAM verifiers and limits follow their accounts, whoever makes, changes or copies these."""

from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from discreet.ledger import Analyst, SqliteLedger, make_token
from discreet.server.callers import Caller
from discreet.server.data_sets import _make_owner
from discreet.server.oidc import _by_rule
from discreet.server.oidc_settings import RoleRule
from discreet.server.sites import open_site
from tests.server.running import BASE, serving, write_catalog


def test_an_account_over_http_has_the_verifier_of_its_token_and_no_reply_shows_it(
    tmp_path: Path,
) -> None:
    catalog = write_catalog(tmp_path)

    def eve() -> Analyst:
        with SqliteLedger.existing(catalog.with_suffix(".ledger")) as ledger:
            return {each.name: each for each in ledger.analysts()}["eve"]

    with serving(catalog) as served:
        body = {"name": "eve", "epsilon": 1, "per_day": 0.5, "confirm_above": 0}
        replies = [served.call("POST", f"{BASE}/analysts", "boss", json=body)]
        made = eve()
        changes: list[dict[str, object]] = [
            {"epsilon": 2},
            {"enabled": False},
            {"per_query": "1/3"},
        ]
        path = f"{BASE}/analysts/eve"
        replies += [served.call("PATCH", path, "boss", json=each) for each in changes]
        changed = eve()
        replies.append(served.call("PATCH", path, "boss", json={"rotate": True}))
        rotated = eve()
        replies.append(served.call("GET", f"{BASE}/analysts", "boss"))
    assert made.scram is not None
    assert changed == replace(made, epsilon=Fraction(2), enabled=False, per_query=Fraction(1, 3))
    assert rotated == replace(changed, token_hash=rotated.token_hash, scram=rotated.scram)
    assert rotated.token_hash != made.token_hash
    assert rotated.scram not in {None, made.scram}
    assert [each.status_code for each in replies] == [201, 200, 200, 200, 200, 200]
    assert not any("SCRAM" in each.text for each in replies)


def test_the_owner_of_a_new_data_set_signs_in_as_elsewhere(tmp_path: Path) -> None:
    token = make_token()
    first = open_site("clinic", write_catalog(tmp_path / "first"))
    second = open_site("added", write_catalog(tmp_path / "second"), is_added=True)
    with closing(first.curator), closing(second.curator):
        first.ledger.declare_analyst("boss", token_hash=token.hash, scram=token.scram, role="owner")
        owner = Caller(name="boss", role="owner", site=first, token_hash=token.hash)
        _make_owner(second, owner)
        (made,) = [each for each in second.ledger.analysts() if each.name == "boss"]
        assert (made.token_hash, made.scram, made.role) == (token.hash, token.scram, "owner")


def test_a_rule_of_a_provider_changes_the_role_and_leaves_the_limits() -> None:
    rule = RoleRule(claim="group", value="x", catalog="clinic", role="reader")
    known = Analyst(
        name="oidc:eve",
        epsilon=Fraction(1),
        delta=None,
        token_hash=None,
        enabled=True,
        per_query=Fraction(1, 10),
        per_day=Fraction(1, 2),
    )
    assert _by_rule(known, "oidc:eve", rule) == replace(known, role="reader")
    assert _by_rule(None, "oidc:eve", rule).scram is None
