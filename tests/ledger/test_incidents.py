"""Failures after a charge, and answers that are read off others: written down, in every store."""

from fractions import Fraction
from itertools import combinations
from math import comb, log2
from threading import Barrier, Thread

import pytest

from discreet.accounting import Budget
from discreet.errors import (
    AccountError,
    BudgetError,
    Failure,
    LedgerError,
    ParameterError,
    PinnedError,
    SuspendedError,
    UnansweredError,
)
from discreet.ledger import Item, Ledger, bits_told
from discreet.ledger.incidents import FAILURES
from discreet.ledger.state import NewEntry
from tests.ledger.stores import TENTH, Store

HUNDRED = Budget(epsilon=100)


def kinds(ledger: Ledger) -> list[str]:
    return [each.kind for each in ledger.entries()]


def with_eve(store: Store) -> Ledger:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=1)
    return ledger


# --------------------------------------------------------------------------- incidents


@pytest.mark.parametrize("failure", FAILURES)
def test_an_incident_suspends_who_caused_it_until_the_owner_has_looked(
    store: Store, failure: Failure
) -> None:
    ledger = with_eve(store)
    receipt = ledger.charge("q", [TENTH], account="eve", about={"sql": "SELECT 1"})
    ledger.record_incident(receipt, failure, account="eve")
    left = ledger.remaining().epsilon
    with pytest.raises(SuspendedError, match="This account is suspended, because"):
        ledger.charge("r", [TENTH], account="eve")
    with pytest.raises(SuspendedError):
        ledger.charge("q", [TENTH], account="eve")  # paid for, but it would run again
    with pytest.raises(SuspendedError):
        ledger.check(account="eve", to_run=True)
    ledger.check(account="eve")
    assert ledger.remaining().epsilon == left
    assert ledger.suspended() == {"eve": False}
    ledger.charge("r", [TENTH])
    (incident,) = [each for each in ledger.incidents() if each.failure != "unanswered"]
    assert (incident.account, incident.question, incident.failure) == ("eve", "q", failure)
    assert (incident.about, incident.is_resumed) == ({"sql": "SELECT 1"}, False)
    ledger.resume("eve")
    assert ledger.charge("q", [TENTH], account="eve").already_paid
    assert ledger.suspended() == {}
    assert ledger.incidents()[0].is_resumed
    assert kinds(ledger)[-2:] == ["charge", "resume"]
    ledger.verify()


def test_an_incident_can_suspend_all_accounts(store: Store) -> None:
    ledger = with_eve(store)
    ledger.record_incident(
        ledger.charge("q", [TENTH], account="eve"), "failed", account="eve", suspends="all"
    )
    with pytest.raises(SuspendedError, match="All accounts are suspended"):
        ledger.charge("r", [TENTH])
    with pytest.raises(AccountError, match=r"not suspended\. Suspended accounts: 'eve'"):
        ledger.resume("bob")
    ledger.resume("eve")
    ledger.charge("r", [TENTH])


def test_what_was_kept_stays_readable_for_a_suspended_account(store: Store) -> None:
    ledger = with_eve(store)
    ledger.keep(ledger.charge("kept", [TENTH]), b"1")
    ledger.record_incident(ledger.charge("q", [TENTH], account="eve"), "time", account="eve")
    assert ledger.charge("kept", [TENTH], account="eve").already_paid
    items = [Item(question=each, events=[TENTH]) for each in ("kept", "new")]
    with pytest.raises(SuspendedError):
        ledger.charge_all(items, account="eve")


def test_an_answer_that_stands_for_none_is_kept_with_its_incident(store: Store) -> None:
    ledger = store.open()
    receipt = ledger.charge("q", [TENTH])
    ledger.record_incident(receipt, "release", answer=b"")
    ledger.record_incident(receipt, "release", answer=b"another")
    assert kinds(ledger) == ["policy", "charge", "incident", "answer", "incident"]
    assert ledger.keep(receipt, b"third") == b""
    ledger.verify()


def test_incidents_outlive_the_process_and_are_part_of_the_chain(durable: Store) -> None:
    with durable.open() as ledger:
        ledger.record_incident(ledger.charge("q", [TENTH]), "memory")
        head = ledger.head()
    with durable.existing() as again:
        with pytest.raises(SuspendedError):
            again.charge("r", [TENTH])
        again.resume("owner")
        again.verify(head)
    with durable.open() as third:
        third.charge("r", [TENTH])


def test_one_who_has_the_ledger_open_sees_what_another_recorded(durable: Store) -> None:
    first, second = durable.open(), durable.open()
    receipt = first.charge("q", [TENTH])
    second.record_incident(receipt, "failed")
    with pytest.raises(SuspendedError):
        first.charge("r", [TENTH])
    second.resume("owner")
    first.charge("r", [TENTH])


@pytest.mark.parametrize(
    ("failure", "suspends"), [("words of an engine", "account"), ("time", "nobody")]
)
def test_nothing_else_is_written_of_a_failure(store: Store, failure: str, suspends: str) -> None:
    ledger = store.open()
    receipt = ledger.charge("q", [TENTH])
    with pytest.raises(ParameterError) as refusal:
        ledger.record_incident(receipt, failure, suspends=suspends)  # type: ignore[arg-type]
    assert "words of an engine" not in str(refusal.value)
    assert kinds(ledger) == ["policy", "charge"]


def test_who_is_not_suspended_cannot_be_resumed(store: Store) -> None:
    with pytest.raises(AccountError, match=r"not suspended\. No account is"):
        store.open().resume("owner")


def test_charges_without_an_answer_are_listed_and_limited(store: Store) -> None:
    ledger = store.open()
    for number in range(3):
        ledger.charge(f"q{number}", [TENTH])
    found = [(each.question, each.failure, each.suspends) for each in ledger.incidents()]
    assert found == [(f"q{number}", "unanswered", "") for number in range(3)]
    item = [Item(question="r", events=[TENTH])]
    with pytest.raises(UnansweredError):
        ledger.charge_all(item, most_unanswered=lambda: 3)
    old = [Item(question="q0", events=[TENTH])]
    ledger.keep(
        ledger.charge_all(old, most_unanswered=lambda: 3)[0], b"1"
    )  # to ask again is allowed
    ledger.charge_all(item, most_unanswered=lambda: 3)
    with pytest.raises(UnansweredError):
        ledger.charge_all([Item(question="s", events=[TENTH])], most_unanswered=lambda: 3)
    ledger.resume("owner")
    ledger.charge_all([Item(question="s", events=[TENTH])], most_unanswered=lambda: 3)
    assert len(ledger.incidents()) == 4


def test_late_answers_to_what_the_owner_has_looked_at_make_no_room(durable: Store) -> None:
    """Else who loses some on purpose, and is resumed, could lose as many more unseen."""
    ledger = durable.open()
    old = [ledger.charge(f"old {number}", [TENTH]) for number in range(3)]
    ledger.resume("owner")
    for number in range(3):
        item = Item(question=f"new {number}", events=[TENTH])
        ledger.charge_all([item], most_unanswered=lambda: 3)
    for receipt in old:
        ledger.keep(receipt, b"late")
    item = Item(question="one more", events=[TENTH])
    for each in (ledger, durable.open()):
        with pytest.raises(UnansweredError):
            each.charge_all([item], most_unanswered=lambda: 3)
    ledger.keep(ledger.charge("new 0", [TENTH]), b"1")
    ledger.charge_all([item], most_unanswered=lambda: 3)
    ledger.verify()


def test_of_threads_that_race_with_an_incident_none_is_charged_after_it(durable: Store) -> None:
    """The check is in the transaction of the charge: the order of entries shows it."""
    ledger = durable.open(HUNDRED)
    receipt, begin = ledger.charge("q", [TENTH]), Barrier(5)

    def charge(who: int) -> None:
        with durable.open(HUNDRED) as own:
            begin.wait()
            for number in range(12):
                try:
                    own.charge(f"{who} {number}", [TENTH])
                except SuspendedError:
                    return

    threads = [Thread(target=charge, args=(who,)) for who in range(4)]
    for each in threads:
        each.start()
    begin.wait()
    ledger.record_incident(receipt, "failed")
    for each in threads:
        each.join()
    found = kinds(ledger)
    assert "charge" not in found[found.index("incident") :]


# --------------------------------------------------------------------------- pins


def kept(ledger: Ledger, *questions: str) -> None:
    for each in questions:
        ledger.keep(ledger.charge(each, [TENTH]), each.encode())


def test_a_pin_is_free_and_for_good(store: Store) -> None:
    ledger = store.open()
    kept(ledger, "wide", "dear")
    left = ledger.remaining()
    assert ledger.charge_all([], pins={"some": "wide"}) == ()
    ledger.charge_all([], pins={"some": "wide"})
    assert ledger.pin_of("some") == "wide"
    with pytest.raises(PinnedError):
        ledger.charge_all([], pins={"some": "dear"})
    with pytest.raises(PinnedError):
        ledger.charge("some", [TENTH])
    assert ledger.remaining() == left
    assert kinds(ledger).count("pin") == 1
    ledger.verify()


def test_what_was_paid_for_is_not_pinned(store: Store) -> None:
    ledger = store.open()
    kept(ledger, "wide")
    ledger.charge("some", [TENTH])
    with pytest.raises(PinnedError):
        ledger.charge_all([Item(question="new", events=[TENTH])], pins={"some": "wide"})
    assert ledger.find("new") is None
    assert ledger.pin_of("some") is None


def test_nothing_is_pinned_to_what_has_no_answer(store: Store) -> None:
    ledger = store.open()
    ledger.charge("wide", [TENTH])
    for source in ("wide", "nothing"):
        with pytest.raises(ParameterError, match="must refer to queries with saved answers"):
            ledger.charge_all([], pins={"some": source})


def test_a_pin_is_not_written_if_what_is_asked_with_it_is_refused(store: Store) -> None:
    ledger = store.open()
    kept(ledger, "wide")
    with pytest.raises(BudgetError):
        ledger.charge_all([Item(question="q", events=[TENTH] * 20)], pins={"some": "wide"})
    assert ledger.pin_of("some") is None


def test_a_pin_that_cannot_be_read_any_more_gives_way_to_a_charge(store: Store) -> None:
    ledger = store.open()
    kept(ledger, "wide")
    ledger.charge_all([], pins={"some": "wide"})
    ledger.charge_all([Item(question="some", events=[TENTH], despite_pin=True)])
    assert ledger.find("some") is not None
    ledger.verify()


def test_pins_outlive_the_process(durable: Store) -> None:
    with durable.open() as ledger:
        kept(ledger, "wide")
        ledger.charge_all([], pins={"some": "wide"})
    with durable.existing() as again:
        assert again.pin_of("some") == "wide"
        again.verify()


def test_a_pin_to_nowhere_is_seen(store: Store) -> None:
    """As if someone had written it by hand, digests and all."""
    ledger = store.open()
    with ledger._turn("write") as turn:
        turn.append(NewEntry(kind="pin", question="some", about={"source": "nothing"}))
    with pytest.raises(LedgerError, match="has been changed since it was written"):
        ledger.verify()


# --------------------------------------------------------------------------- how much was told


@pytest.mark.parametrize("statements", range(9))
@pytest.mark.parametrize("incidents", range(10))
def test_bits_are_the_logarithm_of_the_ways_to_fail(incidents: int, statements: int) -> None:
    ways = sum(1 for most in range(incidents + 1) for _ in combinations(range(statements), most))
    bits = bits_told(incidents, statements)
    assert 2 ** Fraction(round(bits * 10), 1) >= ways**10
    assert bits < log2(ways) + 0.1


def test_bits_of_large_numbers_are_exact_and_quick() -> None:
    assert bits_told(1, 10**6) == 20.0
    assert bits_told(10**6, 10**6) == 10**6
    assert bits_told(100, 10**6) >= log2(sum(comb(10**6, i) for i in range(101)))
    assert bits_told(0, 10**6) == 0


@pytest.mark.parametrize("wrong", [-1, 1.0, True, "1"])
def test_bits_of_what_is_no_number_are_refused(wrong: object) -> None:
    with pytest.raises(ParameterError):
        bits_told(wrong, 5)  # type: ignore[arg-type]
