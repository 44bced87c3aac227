"""What a ledger holds, read in one transaction: the same as its methods tell one by one."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from discreet.errors import AccountError, BudgetError, LedgerError, ParameterError
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


def test_what_is_read_while_a_view_is_held_is_of_its_moment(durable: Store) -> None:
    with durable.open() as ledger, durable.open() as other:
        with ledger.view() as view:
            assert view.find("q") is None
            other.charge("q", [TENTH])
            with ledger.view() as inner:
                assert inner.find("q") is None
            assert ledger.find("q") is None
            assert ledger.remaining().epsilon == 1
            assert view.find("q") is None
        assert ledger.find("q") is not None
        assert ledger.remaining().epsilon == Fraction(9, 10)


def test_who_writes_while_it_holds_a_view_is_rejected_and_the_ledger_goes_on(store: Store) -> None:
    ledger = store.open()
    with ledger.view() as view:
        with pytest.raises(ParameterError, match="must not be written in its own view"):
            ledger.charge("q", [TENTH])
        assert view.find("q") is None
    with pytest.raises(ParameterError), ledger.view():
        ledger.declare_analyst("eve", epsilon=1)
    ledger.charge("q", [TENTH])
    assert ledger.analysts() == ()


def test_a_view_is_not_read_after_its_end(store: Store) -> None:
    ledger = filled(store)
    with ledger.view() as view:
        entries = view.entries()
        next(entries)
    reads: list[Callable[[], object]] = [
        view.check,
        view.remaining,
        view.balance,
        view.analysts,
        view.report,
        view.entries,
        lambda: view.find("a:1"),
        lambda: view.pin_of("a:3"),
        lambda: view.charges_with_prefix("a:", 1),
        lambda: next(entries),
    ]
    for read in reads:
        with pytest.raises(ParameterError, match="after its end"):
            read()


def test_entries_that_were_not_read_to_the_end_hide_nothing_from_later_views(
    durable: Store,
) -> None:
    """A statement that is left open would show its own moment to all that follow it."""
    with durable.open() as ledger, durable.open() as other:
        ledger.declare_analyst("eve", epsilon=1)
        with ledger.view() as view:
            entries = view.entries()
            next(entries)
        other.declare_analyst("eve", epsilon=1, enabled=False)
        with pytest.raises(AccountError, match="disabled"):
            ledger.check(account="eve")
        ledger.charge("q", [TENTH])
        assert other.find("q") is not None
