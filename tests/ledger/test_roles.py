"""Roles: readers and owners are never charged; and bad tokens take the same work."""

import hashlib
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from discreet.accounting import Budget
from discreet.errors import AccountError, DiscreetError, ParameterError
from discreet.ledger import Analyst, SqliteLedger, Token, make_token
from discreet.ledger import inputs as token_hashes
from discreet.ledger.inputs import analyst_from_record, record_from_analyst
from tests.ledger.stores import TENTH, Store

NEVER = {
    "reader": "A reader may read saved answers, and not run queries that cost. "
    "Ask the data owner for an analyst's account.",
    "owner": "The account of a person who administers is never charged. "
    'Run the query on the account "owner".',
}


@pytest.fixture(scope="module")
def token() -> Token:
    return make_token()


def sentence(act: Callable[[], object]) -> str:
    with pytest.raises(AccountError) as refusal:
        act()
    return str(refusal.value)


@pytest.mark.parametrize("role", ["reader", "owner"])
def test_who_is_no_analyst_is_never_charged_even_nothing(
    store: Store, token: Token, role: Any
) -> None:
    ledger = store.open()
    ledger.charge("q", [TENTH])
    made = ledger.declare_analyst("rea", token_hash=token.hash, role=role)
    assert made == Analyst(
        name="rea",
        epsilon=Fraction(0),
        delta=None,
        token_hash=token.hash,
        enabled=True,
        role=role,
    )
    before = [each.kind for each in ledger.entries()]
    acts: list[Callable[[], object]] = [
        lambda: ledger.charge("new", [TENTH], account="rea"),
        lambda: ledger.charge("q", [TENTH], account="rea"),
        lambda: ledger.charge_all([], account="rea"),
        lambda: ledger.check(account="rea"),
        lambda: ledger.check_early("rea"),
        lambda: ledger.cap("rea"),
        lambda: ledger.remaining("rea"),
        lambda: ledger.authenticate(token.text),
        lambda: ledger.request_budget("rea", epsilon=1, reason="why not"),
    ]
    assert [sentence(each) for each in acts] == [NEVER[role]] * len(acts)
    assert ledger.holder(token.text) == made
    assert [each.kind for each in ledger.entries()] == before
    ledger.verify()


def test_the_role_of_an_analyst_is_not_written_so_that_digests_stay(durable: Store) -> None:
    ledger = durable.open()
    plain = ledger.declare_analyst("eve", epsilon=1)
    reader = ledger.declare_analyst("rea", role="reader")
    first, second = [each.about for each in ledger.entries()][-2:]
    assert dict(first) == {"epsilon": "1", "delta": "none", "token": "none", "enabled": "yes"}
    assert dict(second) == {**first, "epsilon": "0", "role": "reader"}
    ledger.close()
    assert durable.existing().analysts() == (plain, reader)


def test_a_record_is_read_with_and_without_a_role() -> None:
    plain = {"epsilon": "1", "delta": "none", "token": "none", "enabled": "yes"}
    assert analyst_from_record("eve", plain).role == "analyst"
    assert analyst_from_record("eve", {**plain, "role": "analyst"}).role == "analyst"
    found = analyst_from_record("eve", {**plain, "role": "owner"})
    assert record_from_analyst(found) == {**plain, "role": "owner"}
    with pytest.raises(ParameterError, match="role must be one of 'analyst', 'reader', 'owner'"):
        analyst_from_record("eve", {**plain, "role": "king"})


def test_a_new_cap_keeps_the_role_and_an_analyst_needs_one(store: Store) -> None:
    ledger = store.open(Budget(epsilon=8, delta=1e-6))
    ledger.declare_analyst("rea", role="reader")
    assert ledger.declare_cap("rea", epsilon=1, delta=0).role == "reader"
    assert sentence(lambda: ledger.remaining("rea")) == NEVER["reader"]
    wrong: list[dict[str, Any]] = [
        {},
        {"epsilon": 0},
        {"epsilon": 1, "role": "king"},
        {"epsilon": 1, "role": None},
    ]
    for given in wrong:
        with pytest.raises(ParameterError, match=r"^(epsilon|role) must be"):
            ledger.declare_analyst("rea", **given)
    ledger.declare_analyst("rea", epsilon=Fraction(1, 2))
    ledger.charge("q", [TENTH], account="rea")
    ledger.declare_analyst("rea", role="reader")
    assert ledger.report().accounts["rea"].epsilon == Fraction(1, 10)


def test_a_holder_who_is_disabled_is_told_so(store: Store, token: Token) -> None:
    ledger = store.open()
    ledger.declare_analyst("ann", token_hash=token.hash, role="owner")
    assert ledger.holder(token.text).name == "ann"
    assert ledger.knows_token(token.text)
    assert not ledger.knows_token(make_token().text)
    assert not ledger.knows_token("no token")
    ledger.declare_analyst("ann", token_hash=token.hash, role="owner", enabled=False)
    with pytest.raises(AccountError, match="account is disabled"):
        ledger.holder(token.text)


# --------------------------------------------------------------------------- equal work


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by one with every slow hash, of the length of what is hashed."""
    lengths: list[int] = []
    real = hashlib.scrypt

    def counted(text: bytes, **given: Any) -> bytes:
        lengths.append(len(text))
        return real(text, **given)

    monkeypatch.setattr(token_hashes, "scrypt", counted)
    return lengths


def test_a_bad_token_takes_one_slow_hash_whatever_is_wrong_with_it(hashed: list[int]) -> None:
    good, gone, lost = make_token(), make_token(), make_token()
    ledger = SqliteLedger(budget=Budget(epsilon=1))
    ledger.declare_analyst("eve", epsilon=1, token_hash=good.hash)
    ledger.declare_analyst("max", epsilon=1, token_hash=gone.hash)
    ledger.authenticate(gone.text)
    ledger.declare_analyst("max", epsilon=1, token_hash=gone.hash, enabled=False)
    ledger.declare_analyst("rea", role="reader")
    selector = good.text.rpartition("_")[0]
    bad = {
        "no text": None,
        "empty": "",
        "form": "eve",
        "long": "x" * 10**6,
        "not ASCII": good.text[:-1] + "é",
        "unknown selector": lost.text,
        "wrong secret": f"{selector}_{'A' * 43}",
        "disabled": gone.text,
    }
    for _ in range(2):  # before and after the good token was seen
        for what, each in bad.items():
            hashed.clear()
            with pytest.raises(DiscreetError):
                ledger.holder(each)  # type: ignore[arg-type]
            assert hashed == [len(good.text)], what
        ledger.holder(good.text)
    hashed.clear()
    assert ledger.authenticate(good.text) == "eve"
    assert hashed == []


def test_a_good_token_is_hashed_once_and_its_successor_too(hashed: list[int]) -> None:
    old, new = make_token(), make_token()
    ledger = SqliteLedger(budget=Budget(epsilon=1))
    ledger.declare_analyst("eve", epsilon=1, token_hash=old.hash)
    hashed.clear()
    for _ in range(3):
        assert ledger.holder(old.text).name == "eve"
    assert len(hashed) == 1
    ledger.declare_analyst("eve", epsilon=1, token_hash=new.hash)
    for _ in range(2):
        with pytest.raises(AccountError, match="This token is not valid"):
            ledger.holder(old.text)
    assert ledger.holder(new.text).name == "eve"
    assert len(hashed) == 4
