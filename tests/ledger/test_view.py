"""What a ledger holds, read in one transaction: the same as its methods tell one by one."""

from fractions import Fraction

import pytest

from discreet.errors import AccountError, BudgetError, LedgerError
from discreet.ledger import AccountBalance, Item, Ledger, SavedAnswer
from tests.ledger.stores import TENTH, FileStore, Store


def filled(store: Store) -> Ledger:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=Fraction(3, 10))
    ledger.keep(ledger.charge("a:1", [TENTH]), b"42")
    ledger.charge("a:2", [TENTH], account="eve")
    ledger.charge_all([], pins={"a:3": "a:1"})
    return ledger


def test_a_view_tells_what_the_ledger_tells(store: Store) -> None:
    ledger = filled(store)
    with ledger.view() as view:
        found = view.find("a:1"), view.find("a:2"), view.find("a:3"), view.pin_of("a:3")
        charges, entries = view.charges_with_prefix("a:", 10), list(view.entries())
        left, own = view.remaining(), view.remaining("eve")
        analysts, report = view.analysts(), view.report()
    assert isinstance(found[0], SavedAnswer)
    assert found == (*map(ledger.find, ("a:1", "a:2", "a:3")), ledger.pin_of("a:3"))
    assert charges == ledger.charges_with_prefix("a:", 10)
    assert entries == list(ledger.entries())
    assert (left, own) == (ledger.remaining(), ledger.remaining("eve"))
    assert (analysts, report) == (ledger.analysts(), ledger.report())


def test_a_view_rejects_what_the_ledger_rejects(store: Store) -> None:
    ledger = filled(store)
    with ledger.view() as view:
        view.check()
        view.check([Item(question="q", events=[TENTH] * 2)], account="eve")
        with pytest.raises(BudgetError, match="eve"):
            view.check([Item(question="q", events=[TENTH] * 3)], account="eve")
        with pytest.raises(AccountError, match="no analyst"):
            view.check(account="mallory")


def test_a_balance_is_of_the_cap_or_of_the_total_where_that_is_less(store: Store) -> None:
    ledger = filled(store)
    with ledger.view() as view:
        owner, eve = view.balance(), view.balance("eve")
    assert (owner.remaining.epsilon, owner.limit.epsilon) == (Fraction(8, 10), Fraction(1))
    assert (eve.remaining.epsilon, eve.limit.epsilon) == (Fraction(2, 10), Fraction(3, 10))
    ledger.charge("b", [TENTH] * 7)
    with ledger.view() as view:
        assert view.balance("eve").remaining.epsilon == Fraction(1, 10)


def test_a_receipt_carries_the_balance_of_who_asked(store: Store) -> None:
    ledger = filled(store)

    def balance(account: str) -> AccountBalance:
        with ledger.view() as view:
            return view.balance(account)

    assert ledger.charge("b", [TENTH], account="eve").balance == balance("eve")
    assert ledger.charge("b", [TENTH]).balance == balance("owner")  # eve has paid for it
    receipt = ledger.find("b")
    assert receipt is not None
    assert not isinstance(receipt, SavedAnswer)
    assert receipt.balance is None


def test_a_view_is_of_one_moment(file: FileStore) -> None:
    with file.open() as ledger, file.open() as other, ledger.view() as view:
        before = view.remaining()
        other.charge("q", [TENTH])
        assert view.find("q") is None
        assert view.remaining() == before


def test_who_may_not_ask_is_rejected_early_if_that_is_known(durable: Store) -> None:
    with durable.open() as ledger, durable.open() as other:
        ledger.check_early()
        other.declare_analyst("eve", epsilon=1)
        ledger.check_early("eve")  # looked up, as it was not known
        ledger.declare_analyst("eve", epsilon=1, enabled=False)
        for account, says in (("eve", "disabled"), ("mallory", "no analyst .mallory.")):
            with pytest.raises(AccountError, match=says):
                ledger.check_early(account)
    with pytest.raises(LedgerError, match="closed"):
        ledger.check_early()
