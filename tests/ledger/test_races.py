"""Many threads of many processes on one book: what fits is answered, and nothing more."""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from functools import partial

import pytest

from discreet.accounting import Budget, PureEvent
from discreet.errors import BudgetError
from discreet.ledger import Item, Ledger, SavedAnswer, SqliteLedger
from tests.ledger.stores import TENTH, Store, child, end_of, told_by_children


def answered(ledger: Ledger, question: str, event: PureEvent) -> str:
    try:
        return ledger.keep(ledger.charge(question, [event]), question.encode()).decode()
    except BudgetError as refusal:
        asked, left = refusal.requested["epsilon"], refusal.remaining["epsilon"]
        return "refused" if asked == event.epsilon > left else "refused wrongly"


def race(durable: Store, *, processes: int, threads: int, asks: int, fits: int) -> list[str]:
    """Let every thread ask questions of its own until the budget is used up, and beyond."""
    budget = Budget(epsilon=Fraction(fits, 10))

    def work(process: int) -> list[str]:
        with durable.open(budget) as ledger, ThreadPoolExecutor(threads) as pool:
            questions = [f"{process}-{i}" for i in range(threads * asks)]
            return list(pool.map(lambda question: answered(ledger, question, TENTH), questions))

    return told_by_children(processes, work)


def check_race(durable: Store, *, processes: int, threads: int, asks: int, fits: int) -> None:
    told = race(durable, processes=processes, threads=threads, asks=asks, fits=fits)
    assert len(told) == processes * threads * asks
    assert told.count("refused") == len(told) - fits
    with durable.existing() as ledger:
        ledger.verify()
        kinds = Counter(entry.kind for entry in ledger.entries())
        assert kinds == {"policy": 1, "charge": fits, "answer": fits}
        assert ledger.remaining().epsilon == 0


def test_exactly_what_the_budget_allows_is_answered(durable: Store) -> None:
    check_race(durable, processes=4, threads=4, asks=2, fits=20)


def test_exactly_what_the_budget_allows_is_answered_to_32_processes(durable: Store) -> None:
    check_race(durable, processes=32, threads=1, asks=1, fits=20)


def test_exactly_what_the_budget_allows_is_answered_to_32_threads(durable: Store) -> None:
    check_race(durable, processes=1, threads=32, asks=2, fits=33)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("processes", "threads", "asks", "fits"),
    [(8, 20, 1, 50), (8, 20, 10, 501), (32, 32, 1, 777)],
)
def test_exactly_what_the_budget_allows_is_answered_to_a_crowd(
    durable: Store, processes: int, threads: int, asks: int, fits: int
) -> None:
    check_race(durable, processes=processes, threads=threads, asks=asks, fits=fits)


def test_colluding_analysts_get_what_their_caps_and_the_total_allow(durable: Store) -> None:
    """Four with caps of 0.3 each share a total of 1: each gets 3 answers at most, all get 10."""
    with durable.open() as ledger:
        for i in range(4):
            ledger.declare_analyst(f"analyst {i}", epsilon=Fraction(3, 10))

    def work(process: int) -> list[str]:
        told, account = [], f"analyst {process}"
        with durable.open() as ledger:
            for i in range(5):
                try:
                    ledger.charge(f"{process}-{i}", [TENTH], account=account)
                    told.append("charged")
                except BudgetError as refusal:
                    told.append("cap" if refusal.analyst else "total")
        return told

    told = Counter(told_by_children(4, work))
    assert told["charged"] == 10
    with durable.open() as ledger:
        charged = Counter(entry.account for entry in ledger.entries() if entry.kind == "charge")
        assert sorted(charged.values()) in ([1, 3, 3, 3], [2, 2, 3, 3])
        assert ledger.remaining().epsilon == 0


@pytest.mark.slow
def test_unlike_prices_never_overspend_together(durable: Store) -> None:
    def work(process: int) -> list[str]:
        with durable.open() as ledger:
            prices = [Fraction(1, 7 + 13 * process + i) for i in range(60)]
            return [answered(ledger, f"{x}", PureEvent(epsilon=x)) for x in prices]

    told = told_by_children(8, work)
    paid = sum((Fraction(each) for each in {*told} - {"refused"}), Fraction(0))
    with durable.open() as ledger:
        assert ledger.charged().epsilon == paid <= 1
        ledger.verify()


def test_all_who_ask_the_same_at_once_get_the_same_answer_and_one_pays(durable: Store) -> None:
    def work(process: int) -> list[str]:
        with durable.open() as ledger, ThreadPoolExecutor(4) as pool:

            def ask(i: int) -> str:
                receipt = ledger.charge("q", [TENTH])
                return ledger.keep(receipt, f"{process}-{i}".encode()).decode()

            return list(pool.map(ask, range(8)))

    told = told_by_children(4, work)
    assert len(told) == 32
    assert len(set(told)) == 1
    with durable.open() as ledger:
        assert ledger.remaining().epsilon == Fraction(9, 10)


def test_processes_that_open_and_close_all_the_time_do_not_hinder_each_other(
    durable: Store,
) -> None:
    def work(process: int) -> list[str]:
        told = []
        for i in range(10):
            with durable.open(Budget(epsilon=100)) as ledger:
                told.append(answered(ledger, f"{process}-{i}", TENTH))
        return told

    assert len(set(told_by_children(4, work))) == 40
    with durable.open(Budget(epsilon=100)) as ledger:
        assert ledger.charged().epsilon == 4
        ledger.verify()


def test_a_child_goes_on_with_the_ledger_of_its_parent(durable: Store) -> None:
    with durable.open() as ledger:
        ledger.charge("parent", [TENTH])
        told_by_children(3, lambda i: [answered(ledger, f"child-{i}", TENTH)])
        ledger.charge("afterwards", [TENTH])
        assert ledger.remaining().epsilon == Fraction(5, 10)
        ledger.verify()


def test_threads_may_be_writing_when_a_child_is_made(durable: Store) -> None:
    with durable.open(Budget(epsilon=100)) as ledger, ThreadPoolExecutor(2) as pool:
        written = pool.map(lambda i: answered(ledger, f"thread-{i}", TENTH), range(40))
        for i in range(5):
            assert told_by_children(1, lambda _, i=i: [answered(ledger, f"c-{i}", TENTH)]) == [  # type: ignore[misc]
                f"c-{i}"
            ]
        assert len(list(written)) == 40
        assert ledger.charged().epsilon == Fraction(45, 10)
        ledger.verify()


def test_a_child_cannot_spend_the_memory_of_its_parent_a_second_time() -> None:
    ledger = SqliteLedger(budget=Budget(epsilon=1))

    def work() -> None:
        with pytest.raises(Exception, match="opened by another process"):
            ledger.charge("q", [TENTH])
        ledger.close()

    assert end_of(child(work)) == 0
    ledger.charge("q", [TENTH])


def test_a_child_keeps_its_hold_on_the_file_when_its_parent_lets_go(durable: Store) -> None:
    """Locks are not inherited: with the parent's connection the child would hold none."""
    charged, closed = os.pipe(), os.pipe()
    ledger = durable.open()

    def work() -> None:
        ledger.charge("before", [TENTH])
        os.write(charged[1], b"x")
        os.read(closed[0], 1)
        ledger.charge("after", [TENTH])

    number = child(work)
    os.read(charged[0], 1)
    ledger.charge("parent", [TENTH])
    ledger.close()
    os.write(closed[1], b"x")
    assert end_of(number) == 0
    for end in (*charged, *closed):
        os.close(end)
    with durable.open() as ledger:
        assert ledger.remaining().epsilon == Fraction(7, 10)
        ledger.verify()


# --------------------------------------------------------------------------- several items at once


def test_questions_of_several_items_are_paid_whole_or_not_at_all_and_each_item_once(
    durable: Store,
) -> None:
    """32 ask pairs of the same 16 items in a row, of which the budget allows ten."""
    durable.open().close()

    def pair(number: int) -> list[Item]:
        names = sorted({f"item {number % 16}", f"item {(number + 1) % 16}"})
        return [Item(question=name, events=[TENTH]) for name in names]

    def ask(number: int) -> None:
        with durable.existing() as ledger, suppress(BudgetError):
            receipts = ledger.charge_all(pair(number))
            assert [each.question for each in receipts] == [e.question for e in pair(number)]
            for receipt in receipts:
                ledger.keep(receipt, f"{number} {receipt.question}".encode())

    children = [child(partial(ask, number)) for number in range(32)]
    assert [end_of(each) for each in children] == [0] * 32
    with durable.existing() as ledger:
        ledger.verify()
        paid = [each.question for each in ledger.entries() if each.kind == "charge"]
        assert len(paid) == len(set(paid)) == 10
        assert ledger.remaining().epsilon == 0
        for name in paid:
            assert isinstance(ledger.find(name), SavedAnswer)


def test_of_items_that_do_not_fit_together_none_is_charged(store: Store) -> None:
    with store.open() as ledger:
        items = [Item(question=str(i), events=[TENTH * 4]) for i in range(3)]
        with pytest.raises(BudgetError) as refusal:
            ledger.charge_all(items)
        assert refusal.value.requested == {"epsilon": Fraction(12, 10)}
        assert refusal.value.remaining == {"epsilon": Fraction(1)}
        assert [each.kind for each in ledger.entries()] == ["policy"]
        receipts = ledger.charge_all([items[0], items[1], items[0]])
        assert [each.already_paid for each in receipts] == [False, False, True]
        with pytest.raises(BudgetError) as refusal:
            ledger.charge_all(items)
        assert refusal.value.requested == {"epsilon": Fraction(4, 10)}
        assert ledger.charge_all([]) == ()
