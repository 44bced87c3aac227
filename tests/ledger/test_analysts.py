"""Analysts: caps inside the total, accounts that are disabled, tokens that let nobody else in."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import (
    ApproximateEvent,
    Budget,
    DiscreteGaussianEvent,
    PureEvent,
    rho_for_budget,
)
from discreet.errors import AccountError, BudgetError, LedgerError, ParameterError
from discreet.ledger import Analyst, Ledger, SqliteLedger, Token, make_token
from discreet.ledger.inputs import is_token_of
from discreet.ledger.state import NewEntry
from tests.ledger.stores import TENTH, Store

HALF = PureEvent(epsilon=Fraction(1, 2))
SOME = Budget(epsilon=10, delta=1e-6, filter="basic")


@pytest.fixture(scope="module")
def token() -> Token:
    return make_token()


def test_an_account_is_charged_to_its_cap_and_no_further(store: Store) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=Fraction(3, 10))
    for i in range(3):
        ledger.charge(f"q{i}", [TENTH], account="eve")
    with pytest.raises(BudgetError) as refusal:
        ledger.charge("q3", [TENTH], account="eve")
    assert str(refusal.value) == (
        "Not enough budget: this would cost ε = 0.1, and ε = 0 remains in the cap of analyst "
        "'eve'. Ask the data owner to raise the cap, or repeat a query that was answered before, "
        "which costs nothing. Nothing was spent."
    )
    assert refusal.value.analyst == "eve"
    assert refusal.value.requested == {"epsilon": Fraction(1, 10)}
    assert refusal.value.remaining == {"epsilon": 0}
    assert ledger.remaining().epsilon == Fraction(7, 10)
    ledger.charge("q3", [TENTH])


def test_the_total_holds_besides_every_cap_and_is_named(store: Store) -> None:
    """Caps may add up to more than the total; what is charged may not."""
    ledger = store.open()
    for name in ("eve", "mallory", "trudy"):
        ledger.declare_analyst(name, epsilon=Fraction(9, 10))
    ledger.charge("q0", [HALF], account="eve")
    ledger.charge("q1", [HALF], account="mallory")
    with pytest.raises(BudgetError, match=r"^Not enough budget: .* remains\. ") as refusal:
        ledger.charge("q2", [HALF], account="trudy")
    assert refusal.value.analyst is None
    assert ledger.remaining("trudy").epsilon == Fraction(9, 10)


def test_what_is_left_of_an_account_is_what_is_left_of_its_cap(store: Store) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=Fraction(3, 10))
    assert ledger.remaining("eve").epsilon == Fraction(3, 10)
    ledger.charge("q0", [TENTH], account="eve")
    ledger.charge("q1", [PureEvent(epsilon=Fraction(8, 10))])
    assert ledger.remaining("eve").epsilon == Fraction(2, 10)
    assert ledger.remaining("owner") == ledger.remaining()
    assert ledger.remaining().epsilon == Fraction(1, 10)


def test_what_somebody_paid_for_is_free_for_everybody(store: Store) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=Fraction(1, 2))
    ledger.declare_analyst("mallory", epsilon=Fraction(1, 100))
    ledger.charge("q", [HALF], account="eve")
    assert ledger.charge("q", [HALF], account="mallory").already_paid
    assert ledger.remaining("mallory").epsilon == Fraction(1, 100)


def test_a_cap_in_delta_holds_beside_that_in_epsilon(store: Store) -> None:
    ledger = store.open(SOME)
    ledger.declare_analyst("eve", epsilon=5, delta=1e-7)
    event = ApproximateEvent(epsilon=Fraction(1, 10), delta=Fraction(6, 10**8))
    ledger.charge("q0", [event], account="eve")
    with pytest.raises(BudgetError, match=r"would cost δ = 6e-08, .* in the cap of analyst 'eve'"):
        ledger.charge("q1", [event], account="eve")
    ledger.charge("q1", [TENTH], account="eve")


def test_without_a_cap_in_delta_that_of_the_total_holds(store: Store) -> None:
    ledger = store.open(SOME)
    ledger.declare_analyst("eve", epsilon=5)
    event = ApproximateEvent(epsilon=Fraction(1, 10), delta=Fraction(1, 10**6))
    ledger.charge("q0", [event], account="eve")
    with pytest.raises(BudgetError, match="would cost δ"):
        ledger.charge("q1", [event], account="eve")


def test_a_cap_is_held_by_the_theorem_of_the_total(store: Store) -> None:
    """Under the concentrated filter a cap buys the rho that its epsilon and delta imply."""
    ledger = store.open(Budget(epsilon=8, delta=1e-6))
    ledger.declare_analyst("eve", epsilon=1)
    rho = rho_for_budget(Fraction(1), Fraction(1, 10**6))
    fits = DiscreteGaussianEvent(sensitivity_squared=Fraction(1), variance=1 / (2 * rho))
    ledger.charge("q0", [fits], account="eve")
    assert ledger.remaining("eve").rho == 0
    with pytest.raises(BudgetError, match="cap of analyst 'eve'"):
        ledger.charge("q1", [replace(fits, variance=Fraction(10**9))], account="eve")


def test_a_cap_means_what_it_meant_when_it_was_set(durable: Store) -> None:
    """Another delta of the total, of which as much is set aside, is another part of it."""
    aside = Fraction(1, 10**7)
    first = durable.open(Budget(epsilon=8, delta=1e-6, set_aside=aside))
    first.declare_analyst("eve", epsilon=1, delta=1e-7)
    cap = first.cap("eve")
    assert cap.set_aside == Fraction(1, 10**8)
    first.close()
    ledger = durable.open(Budget(epsilon=8, delta=4e-6, set_aside=aside))
    assert ledger.cap("eve") == cap
    ledger.declare_cap("eve", epsilon=2, delta=1e-7)
    assert ledger.cap("eve") == replace(cap, epsilon=Fraction(2))
    ledger.close()
    assert durable.existing().cap("eve") == replace(cap, epsilon=Fraction(2))


def test_a_cap_without_a_delta_has_that_of_the_total(durable: Store) -> None:
    first = durable.open(Budget(epsilon=8, delta=1e-6, set_aside=5e-7))
    first.declare_analyst("eve", epsilon=1)
    first.close()
    ledger = durable.open(Budget(epsilon=8, delta=1e-4, set_aside=5e-5))
    assert ledger.cap("eve") == Budget(epsilon=1, delta=1e-4, set_aside=5e-5)


def test_a_cap_that_the_filter_cannot_hold_is_refused(store: Store) -> None:
    ledger = store.open(Budget(epsilon=8, delta=1e-6))
    with pytest.raises(ParameterError, match="delta must be more than 0"):
        ledger.declare_analyst("eve", epsilon=1, delta=0)
    assert ledger.analysts() == ()


def test_who_is_not_declared_or_is_disabled_is_refused_even_what_is_free(store: Store) -> None:
    ledger = store.open()
    ledger.charge("q", [TENTH])
    with pytest.raises(AccountError, match="There is no analyst"):
        ledger.charge("q", [TENTH], account="eve")
    with pytest.raises(AccountError, match="There is no analyst"):
        ledger.remaining("eve")
    ledger.declare_analyst("eve", epsilon=1, enabled=False)
    with pytest.raises(AccountError, match="account is disabled"):
        ledger.charge("q", [TENTH], account="eve")
    assert ledger.remaining().epsilon == Fraction(9, 10)


def test_the_last_declaration_is_in_force_and_what_was_charged_stays(store: Store) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=Fraction(1, 2))
    ledger.charge("q", [TENTH] * 3, account="eve")
    ledger.declare_analyst("eve", epsilon=Fraction(2, 10))
    assert ledger.remaining("eve").epsilon == 0
    ledger.declare_analyst("eve", epsilon=Fraction(4, 10))
    assert ledger.remaining("eve").epsilon == Fraction(1, 10)
    assert [each.kind for each in ledger.entries()].count("analyst") == 3
    ledger.verify()


def test_a_new_cap_leaves_token_charges_and_refusals_as_they_are(
    store: Store, token: Token
) -> None:
    ledger = store.open()
    ledger.declare_cap("eve", epsilon=Fraction(3, 10))
    assert ledger.analysts()[0].token_hash is None
    ledger.declare_analyst("eve", epsilon=Fraction(3, 10), token_hash=token.hash)
    ledger.charge("q", [TENTH], account="eve")
    ledger.declare_cap("eve", epsilon=Fraction(5, 10), delta=0)
    assert ledger.authenticate(token.text) == "eve"
    assert ledger.remaining("eve").epsilon == Fraction(4, 10)
    ledger.declare_analyst("eve", epsilon=1, token_hash=token.hash, enabled=False)
    ledger.declare_cap("eve", epsilon=Fraction(6, 10))
    for act in (lambda: ledger.authenticate(token.text), lambda: ledger.check(account="eve")):
        with pytest.raises(AccountError, match="disabled"):
            act()
    entries = len(list(ledger.entries()))
    ledger.declare_cap("eve", epsilon=Fraction(6, 10))
    assert len(list(ledger.entries())) == entries


def test_what_is_declared_again_as_it_is_writes_nothing(store: Store) -> None:
    ledger = store.open()
    for _ in range(2):
        ledger.declare_analyst("eve", epsilon=Fraction(1, 2))
    assert [each.kind for each in ledger.entries()] == ["policy", "analyst"]


def test_accounts_are_there_when_the_ledger_is_opened_again(durable: Store, token: Token) -> None:
    ledger = durable.open()
    ledger.declare_analyst("eve", epsilon=Fraction(3, 10), delta=0, token_hash=token.hash)
    ledger.charge("q", [TENTH], account="eve")
    ledger.close()
    ledger = durable.open()
    assert ledger.analysts() == (
        Analyst(
            name="eve",
            epsilon=Fraction(3, 10),
            delta=Fraction(0),
            token_hash=token.hash,
            enabled=True,
        ),
    )
    assert ledger.remaining("eve").epsilon == Fraction(2, 10)
    assert ledger.authenticate(token.text) == "eve"


@pytest.mark.parametrize(
    ("name", "given", "refused"),
    [
        ("owner", {}, "name"),
        ("", {}, "name"),
        (None, {}, "name"),
        ("eve", {"epsilon": 0}, "epsilon"),
        ("eve", {"epsilon": -1}, "epsilon"),
        ("eve", {"epsilon": float("nan")}, "epsilon"),
        ("eve", {"epsilon": "1"}, "epsilon"),
        ("eve", {"delta": 1}, "delta"),
        ("eve", {"delta": -1e-9}, "delta"),
        ("eve", {"enabled": 1}, "enabled"),
        ("eve", {"token_hash": "secret"}, "token_hash"),
    ],
)
def test_what_cannot_be_an_account_is_refused_by_name(
    store: Store, name: str, given: dict[str, object], refused: str
) -> None:
    ledger = store.open()
    with pytest.raises(ParameterError, match=f"^{refused} ") as refusal:
        ledger.declare_analyst(name, **{"epsilon": 1, **given})  # type: ignore[arg-type]
    assert "secret" not in str(refusal.value)
    assert ledger.analysts() == ()


prices = st.lists(
    st.tuples(st.sampled_from(["eve", "mallory", "owner"]), st.fractions(Fraction(1, 50), 1)),
    max_size=20,
)


@settings(max_examples=40)
@given(prices)
def test_no_account_passes_its_cap_and_all_together_never_pass_the_total(
    asked: list[tuple[str, Fraction]],
) -> None:
    caps = {"eve": Fraction(3, 4), "mallory": Fraction(5, 4), "owner": Fraction(2)}
    ledger = SqliteLedger(budget=Budget(epsilon=2))
    for name in ("eve", "mallory"):
        ledger.declare_analyst(name, epsilon=caps[name])
    spent = dict.fromkeys(caps, Fraction(0))
    for i, (name, price) in enumerate(asked):
        fits = spent[name] + price <= caps[name] and sum(spent.values()) + price <= 2
        try:
            ledger.charge(f"q{i}", [PureEvent(epsilon=price)], account=name)
            spent[name] += price
            assert fits
        except BudgetError:
            assert not fits
    assert {**dict.fromkeys(caps, 0), **_spent(ledger)} == spent
    assert ledger.charged().epsilon == sum(spent.values()) <= 2


def _spent(ledger: Ledger) -> dict[str, Fraction]:
    spent: dict[str, Fraction] = {}
    for entry in ledger.entries():
        for event in entry.events:
            assert isinstance(event, PureEvent)
            spent[entry.account] = spent.get(entry.account, Fraction(0)) + event.epsilon
    return spent


# --------------------------------------------------------------------------- tokens


def test_a_token_lets_in_its_analyst_and_is_nowhere_in_the_ledger(
    store: Store, token: Token
) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=1, token_hash=token.hash)
    assert ledger.authenticate(token.text) == "eve"
    assert ledger.authenticate(token.text) == "eve"
    secret = token.text.split("_", 2)[2]
    assert not any(secret in str(entry) for entry in ledger.entries())
    assert secret not in f"{token!r}{ledger.analysts()!r}"


def test_no_other_token_lets_anybody_in(store: Store, token: Token) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=1, token_hash=token.hash)
    ledger.declare_analyst("mallory", epsilon=1)
    end = "A" if token.text[-2] != "A" else "B"
    others = [
        make_token().text,
        token.text[:-2] + end + token.text[-1],
        token.text[:-1],
        token.text + "=",
        token.text.upper(),
        token.hash,
        "",
        "eve",
        None,
        token.text.encode(),
    ]
    for _ in range(2):  # before and after the right one was seen
        for other in others:
            with pytest.raises(AccountError, match="This token is not valid"):
                ledger.authenticate(other)  # type: ignore[arg-type]
        ledger.authenticate(token.text)


def test_a_new_token_ends_the_old_one_and_a_disabled_account_ends_both(store: Store) -> None:
    ledger, old, new = store.open(), make_token(), make_token()
    ledger.declare_analyst("eve", epsilon=1, token_hash=old.hash)
    assert ledger.authenticate(old.text) == "eve"
    ledger.declare_analyst("eve", epsilon=1, token_hash=new.hash)
    with pytest.raises(AccountError, match="This token is not valid"):
        ledger.authenticate(old.text)
    assert ledger.authenticate(new.text) == "eve"
    ledger.declare_analyst("eve", epsilon=1, token_hash=new.hash, enabled=False)
    with pytest.raises(AccountError, match="account is disabled"):
        ledger.authenticate(new.text)


def test_two_analysts_cannot_share_a_token(store: Store, token: Token) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=1, token_hash=token.hash)
    with pytest.raises(ParameterError, match="token_hash must not belong to another analyst"):
        ledger.declare_analyst("mallory", epsilon=1, token_hash=token.hash)


def test_tokens_and_their_hashes_are_all_different(token: Token) -> None:
    other = make_token()
    assert len({token.text, token.hash, other.text, other.hash}) == 4
    assert not is_token_of(token.text, other.hash)
    assert token.hash.startswith("scrypt:32768:8:1:")


def test_an_account_of_a_later_version_is_refused_by_name() -> None:
    """A ledger whose entry says more than this version knows of accounts is not read in part."""
    ledger = SqliteLedger(budget=Budget(epsilon=1))
    ledger.declare_analyst("eve", epsilon=1)
    entry = list(ledger.entries())[-1]
    assert sorted(entry.about) == ["delta", "enabled", "epsilon", "token"]
    with pytest.raises(LedgerError, match="an entry that this version does not know"):
        _declared_with(ledger, {**entry.about, "until": "2030"})


def _declared_with(ledger: SqliteLedger, about: dict[str, str]) -> None:
    with ledger._turn("write") as turn:
        turn.append(NewEntry(kind="analyst", account="eve", about=about))


def test_a_change_does_not_undo_another_one_that_was_made_since(store: Store) -> None:
    ledger = store.open()
    known = ledger.declare_analyst("ann", epsilon=1)
    disabled = ledger.declare_analyst("ann", epsilon=1, enabled=False)
    assert ledger.replace_analyst(known, replace(known, role="reader")) == disabled
    assert ledger.analysts() == (disabled,)
    assert ledger.replace_analyst(None, replace(known, role="reader")) == disabled
    changed = replace(disabled, role="reader")
    assert ledger.replace_analyst(disabled, changed) == changed
    assert ledger.analysts() == (changed,)


def test_a_change_of_somebody_unknown_is_rejected(store: Store) -> None:
    ledger = store.open()
    known = Analyst(
        name="ann", epsilon=Fraction(1), delta=None, token_hash=None, enabled=True, role="analyst"
    )
    with pytest.raises(AccountError, match="There is no analyst"):
        ledger.replace_analyst(known, replace(known, enabled=False))
    assert ledger.replace_analyst(None, known) == known
