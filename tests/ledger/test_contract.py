"""What every ledger promises, whatever it is stored in."""

import tempfile
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import (
    ApproximateEvent,
    Budget,
    Charge,
    ConcentratedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    Filter,
    FixedSampleEvent,
    PoissonSampledEvent,
    PureEvent,
    compose,
)
from discreet.catalog.catalog import Accounting, BudgetPolicy, budget_from
from discreet.errors import (
    BudgetError,
    DiscreetError,
    LedgerError,
    ParameterError,
    UnsupportedEventError,
)
from discreet.ledger import Entry, Item, Ledger, Receipt, SavedAnswer
from discreet.ledger.charges import FINEST, shortened
from discreet.ledger.policy import Policy
from discreet.ledger.state import LedgerState, NewEntry
from tests.ledger.stores import STORES, TENTH, Store


def numbered(ledger: Ledger) -> list[tuple[int, str]]:
    return [(entry.number, entry.kind) for entry in ledger.entries()]


def test_a_new_ledger_has_everything_left_and_knows_no_question(store: Store) -> None:
    ledger = store.open()
    assert ledger.find("q") is None
    assert ledger.remaining().epsilon == 1
    assert ledger.charged() == Charge()
    assert numbered(ledger) == [(1, "policy")]


def test_a_charge_gives_a_receipt_that_says_what_is_left(store: Store) -> None:
    receipt = store.open().charge("q", [TENTH, TENTH])
    assert receipt.events == (TENTH, TENTH)
    assert (receipt.question, receipt.account, receipt.number) == ("q", "owner", 2)
    assert not receipt.already_paid
    assert receipt.remaining.epsilon == Fraction(8, 10)


def test_a_question_is_paid_once_whoever_asks(store: Store) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=1)
    ledger.declare_analyst("mallory", epsilon=1)
    first = ledger.charge("q", [TENTH], account="eve")
    again = ledger.charge("q", [TENTH], account="mallory")
    assert again.already_paid
    assert (again.number, again.account) == (first.number, "eve")
    assert ledger.remaining().epsilon == Fraction(9, 10)


def test_a_question_that_was_paid_for_cannot_get_other_events_for_nothing(store: Store) -> None:
    ledger = store.open()
    ledger.charge("q", [PureEvent(epsilon=Fraction(1, 1000))])
    with pytest.raises(ParameterError, match="events must be those"):
        ledger.charge("q", [PureEvent(epsilon=Fraction(9, 10))])
    assert ledger.remaining().epsilon == Fraction(999, 1000)


def test_an_answer_is_found_only_after_it_was_kept(store: Store) -> None:
    ledger = store.open()
    receipt = ledger.charge("q", [TENTH])
    unanswered = ledger.find("q")
    assert isinstance(unanswered, Receipt)
    assert unanswered.already_paid
    assert ledger.keep(receipt, b"42") == b"42"
    found = ledger.find("q")
    assert isinstance(found, SavedAnswer)
    assert found.answer == b"42"
    assert found.receipt == unanswered


def test_the_first_answer_is_the_answer(store: Store) -> None:
    ledger = store.open()
    receipt, again = ledger.charge("q", [TENTH]), ledger.charge("q", [TENTH])
    assert ledger.keep(receipt, b"first") == b"first"
    assert ledger.keep(again, b"second") == b"first"
    assert numbered(ledger) == [(1, "policy"), (2, "charge"), (3, "answer")]


def test_an_empty_answer_is_an_answer(store: Store) -> None:
    ledger = store.open()
    ledger.keep(ledger.charge("q", [TENTH]), b"")
    assert isinstance(found := ledger.find("q"), SavedAnswer)
    assert found.answer == b""


def test_the_budget_can_be_used_up_to_the_last_digit_and_no_further(store: Store) -> None:
    ledger = store.open()
    for i in range(10):
        ledger.charge(f"q{i}", [TENTH])
    assert ledger.remaining().epsilon == 0
    with pytest.raises(BudgetError):
        ledger.charge("one more", [PureEvent(epsilon=Fraction(1, 10**90))])
    assert ledger.find("one more") is None


@pytest.mark.parametrize(
    "spent", [Fraction(1, 3), Fraction(2, 7), Fraction(10**40, 3 * 10**40 + 1)]
)
def test_exactly_what_is_left_is_allowed_and_the_least_bit_more_is_not(
    store: Store, spent: Fraction
) -> None:
    ledger = store.open()
    ledger.charge("q", [PureEvent(epsilon=spent)])
    least = Fraction(1, 10**90)
    with pytest.raises(BudgetError) as refusal:
        ledger.charge("more", [PureEvent(epsilon=1 - spent + least)])
    (asked,), (left,) = refusal.value.requested.values(), refusal.value.remaining.values()
    assert asked - left == least
    ledger.charge("rest", [PureEvent(epsilon=1 - spent)])
    assert ledger.remaining().epsilon == 0


@pytest.mark.parametrize("count", [2003])
def test_thousands_of_tiny_charges_neither_drift_nor_lose_anything(
    durable: Store, count: int
) -> None:
    event = PureEvent(epsilon=Fraction(1, count))
    with durable.open() as ledger:
        items = [Item(question=f"q{i}", events=[event]) for i in range(count - 20)]
        ledger.charge_all(items)
        for i in range(count - 20, count):
            assert ledger.remaining().epsilon == Fraction(count - i, count)
            ledger.charge(f"q{i}", [event])
    with durable.open() as ledger:
        assert ledger.remaining().epsilon == 0
        assert ledger.charged().epsilon == 1
        with pytest.raises(BudgetError):
            ledger.charge("more", [PureEvent(epsilon=Fraction(1, 10**90))])


def test_what_does_not_fit_as_a_whole_is_not_charged_in_part(store: Store) -> None:
    ledger = store.open()
    with pytest.raises(BudgetError, match=r"would cost ε = 1\.1"):
        ledger.charge("q", [TENTH] * 11)
    assert ledger.remaining().epsilon == 1
    assert numbered(ledger) == [(1, "policy")]


@pytest.mark.parametrize(
    ("events", "error"),
    [
        ([], ParameterError),
        (TENTH, ParameterError),
        ([0.1], ParameterError),
        ([ConcentratedEvent(rho=Fraction(1, 10))], UnsupportedEventError),
        (
            [
                PoissonSampledEvent(event=TENTH, probability=Fraction(1, 2)),
                FixedSampleEvent(event=TENTH, size=1, population=2),
            ],
            ParameterError,
        ),
    ],
)
def test_what_cannot_be_priced_is_refused_and_nothing_is_written(
    store: Store, events: list[Event], error: type[DiscreetError]
) -> None:
    ledger = store.open()
    with pytest.raises(error):
        ledger.charge("q", events)
    assert numbered(ledger) == [(1, "policy")]
    ledger.charge("q", [TENTH])


@pytest.mark.parametrize("question", ["", "x" * 1001, "\ud800", None, 7, b"q"])
def test_names_that_cannot_be_stored_are_refused(store: Store, question: str) -> None:
    ledger = store.open()
    with pytest.raises(ParameterError):
        ledger.charge(question, [TENTH])
    with pytest.raises(ParameterError):
        ledger.charge("q", [TENTH], account=question)
    with pytest.raises(ParameterError):
        ledger.find(question)
    assert ledger.remaining().epsilon == 1


@pytest.mark.parametrize("items", [None, 5, [None], "items"])
def test_what_are_no_items_is_refused_in_one_sentence(store: Store, items: Any) -> None:
    with store.open() as ledger:
        for call in (ledger.charge_all, ledger.check):
            with pytest.raises(ParameterError, match="items must be Items"):
                call(items)


@pytest.mark.parametrize("head", [[], 5, b"00", {}])
def test_a_head_that_is_no_text_is_refused_in_one_sentence(store: Store, head: Any) -> None:
    with (
        store.open() as ledger,
        pytest.raises(ParameterError, match=r"head must be the text that head\(\) returned"),
    ):
        ledger.verify(head)


@pytest.mark.parametrize("about", [{"sql": 1}, {1: "x"}, [("a", "b")], {"x": "y" * 2**20}])
def test_notes_that_are_not_short_text_are_refused(store: Store, about: dict[str, str]) -> None:
    with pytest.raises(ParameterError, match="about must map text to text"):
        store.open().charge("q", [TENTH], about=about)


@pytest.mark.parametrize("answer", ["text", 42, None, bytearray(b"x")])
def test_answers_that_are_not_bytes_are_refused_unseen(store: Store, answer: bytes) -> None:
    ledger = store.open()
    with pytest.raises(ParameterError, match="must be bytes") as refusal:
        ledger.keep(ledger.charge("q", [TENTH]), answer)
    assert "given" not in str(refusal.value)


def test_an_answer_needs_a_receipt_of_this_ledger(store: Store, tmp_path: Path) -> None:
    ledger, other = store.open(), STORES["memory"](tmp_path).open()
    other.charge("p", [TENTH])
    for receipt in (other.charge("q", [TENTH]), "q"):
        with pytest.raises(ParameterError, match="receipt must"):
            ledger.keep(receipt, b"42")  # type: ignore[arg-type]


NAMES = [
    "ε ≤ 3",
    "a\x00b",
    "a\x00c",
    "naïve",
    "nai\u0308ve",
    "'; DROP TABLE entries; --",
    "😀",
    "A",
    "a",
]


def test_questions_are_told_apart_to_the_last_character(store: Store) -> None:
    ledger = store.open()
    for name in NAMES:
        ledger.keep(ledger.charge(name, [TENTH], about={name: name}), name.encode())
    for name in NAMES:
        assert isinstance(found := ledger.find(name), SavedAnswer)
        assert found.answer.decode() == found.receipt.question == name
    assert {entry.question for entry in ledger.entries()} == {"", *NAMES}
    ledger.verify()


def test_data_versions_are_known_in_the_order_in_which_they_were_noted(store: Store) -> None:
    ledger = store.open()
    ledger.note_version("v0", earlier="a")  # nothing was charged for it, so nothing is noted
    assert [each.kind for each in ledger.entries()] == ["policy"]
    ledger.charge("p", [TENTH])
    ledger.charge("q", [TENTH], about={"data_version": "v1"})
    ledger.charge("r", [TENTH], about={"data_version": "v1"})
    for _ in range(2):
        ledger.note_version("v2", earlier="b")
        ledger.note_version("v1", earlier="c")
    again = store.open()
    for opened in (ledger, again) if again.find("q") else (ledger,):  # memory is not shared
        with opened.view() as view:
            known = view.versions()
        assert [(each, known[each].earlier) for each in known] == [("v1", ""), ("v2", "b")]
        entries = list(opened.entries())
        assert [each.kind for each in entries] == ["policy", *["charge"] * 3, "policy"]
        assert [known[each].since for each in known] == [entries[2].written, entries[4].written]
        noted = {"data_version": "v2", "earlier_version": "b"}
        assert entries[4].about == {**entries[0].about, **noted}
        assert opened.remaining().epsilon == ledger.remaining().epsilon
        opened.verify()
    with pytest.raises(ParameterError):
        ledger.note_version("")


def test_entries_say_what_was_written_and_when(store: Store) -> None:
    ledger = store.open(Budget(epsilon=3, delta=1e-6))
    ledger.declare_analyst("eve", epsilon=0.5)
    ledger.keep(ledger.charge("q", [TENTH], account="eve", about={"sql": "SELECT"}), b"42")
    policy, analyst, charge, answer = ledger.entries()
    assert policy.about == {
        "epsilon": "3",
        "delta": "1/1000000",
        "neighbours": "add-remove",
        "filter": "concentrated",
        "set_aside": "0",
    }
    assert (analyst.question, analyst.account, analyst.events) == ("", "eve", ())
    assert analyst.about == {"epsilon": "1/2", "delta": "none", "token": "none", "enabled": "yes"}
    assert (charge.question, charge.account, charge.events) == ("q", "eve", (TENTH,))
    assert charge.about == {"sql": "SELECT"}
    assert (answer.question, answer.account, answer.events) == ("q", "eve", ())
    assert list(answer.about) == ["sha256"]
    assert all(soon(entry) for entry in (policy, analyst, charge, answer))
    assert ledger.head() == answer.digest


def soon(entry: Entry) -> bool:
    return abs(datetime.now(UTC) - entry.written) < timedelta(minutes=1)


@pytest.mark.parametrize("year", [1970, 2099])
def test_a_clock_that_jumps_changes_nothing_but_what_is_noted(
    store: Store, monkeypatch: pytest.MonkeyPatch, year: int
) -> None:
    ledger = store.open()
    ledger.charge("before", [TENTH])

    class Jumped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Jumped":
            return cls(year, 1, 1, tzinfo=tz)

    monkeypatch.setattr("discreet.ledger.storage.datetime", Jumped)
    ledger.keep(ledger.charge("after", [TENTH]), b"42")
    assert ledger.remaining().epsilon == Fraction(8, 10)
    assert [entry.written.year for entry in ledger.entries()][2:] == [year, year]
    ledger.verify()


def test_a_report_tells_the_least_that_an_accountant_proves(store: Store) -> None:
    ledger = store.open(Budget(epsilon=20, delta=1e-6))
    event = DiscreteGaussianEvent(sensitivity_squared=Fraction(1), variance=Fraction(100))
    ledger.declare_analyst("eve", epsilon=5)
    for i in range(20):
        ledger.charge(f"q{i}", [event, TENTH], account="eve" if i % 2 else "owner")
    report = ledger.report()
    assert report.price == compose([event * 20, TENTH * 20], Fraction(1, 10**6))
    assert report.price.accountant == "PLD"
    assert report.questions == 20
    assert report.total == Budget(epsilon=20, delta=1e-6)
    assert report.charged == ledger.charged()
    assert sorted(report.accounts) == ["eve", "owner"]
    assert report.accounts["eve"] == report.accounts["owner"]
    assert ledger.report(1e-9).price.delta == Fraction(1, 10**9)
    assert ledger.report(1e-9).price.epsilon > report.price.epsilon


def test_a_report_of_nothing_is_nothing(store: Store) -> None:
    report = store.open().report()
    assert (report.price.epsilon, report.questions, dict(report.accounts)) == (0, 0, {})


def test_a_check_refuses_what_a_charge_would_and_writes_nothing(store: Store) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=Fraction(2, 10))
    ledger.check()
    ledger.check([Item(question="q", events=[TENTH] * 10)])
    ledger.check([Item(question="q", events=[TENTH] * 2)], account="eve")
    for account, count in (("owner", 11), ("eve", 3)):
        with pytest.raises(BudgetError) as refusal:
            ledger.check([Item(question="q", events=[TENTH] * count)], account=account)
        assert refusal.value.analyst == (None if account == "owner" else account)
    assert numbered(ledger) == [(1, "policy"), (2, "analyst")]
    assert ledger.charged() == Charge()


def test_charges_are_found_by_how_their_questions_begin_the_newest_first(store: Store) -> None:
    ledger = store.open()
    for question in ("a:1", "a:2", "b:1", "a", "a;", "A:1", "a:3", "aa:1", "a:é"):
        ledger.charge(question, [TENTH], about={"sql": f"about {question}"})
        ledger.keep(ledger.charge(question, [TENTH]), b"42")
    found = ledger.charges_with_prefix("a:", 10)
    assert [each.question for each in found] == ["a:é", "a:3", "a:2", "a:1"]
    assert found[1].about == {"sql": "about a:3"}
    assert {each.kind for each in found} == {"charge"}
    assert [each.question for each in ledger.charges_with_prefix("a:", 2)] == ["a:é", "a:3"]
    assert ledger.charges_with_prefix("c", 10) == ()
    for prefix in ("", "é", "x" * 1001):
        with pytest.raises(ParameterError, match="prefix"):
            ledger.charges_with_prefix(prefix, 1)


def test_a_ledger_has_no_way_back(store: Store) -> None:
    verbs = {name for name in dir(store.open()) if not name.startswith("_")}
    reading = {"find", "remaining", "charged", "entries", "head", "verify", "report", "analysts"}
    reading |= {"check", "charges_with_prefix", "cap", "incidents", "suspended", "pin_of", "keyed"}
    reading |= {"view", "check_early", "charges_under", "holder", "knows_token", "requests"}
    reading |= {"is_approved", "limits_of", "ticks"}
    assert verbs - reading == {
        "charge",
        "charge_all",
        "keep",
        "keep_tick",
        "record_incident",
        "note_version",
        "resume",
        "declare_analyst",
        "replace_analyst",
        "request_budget",
        "decide",
        "declare_cap",
        "declare_limits",
        "authenticate",
        "close",
        "existing",
    }


def test_a_closed_ledger_answers_nothing(store: Store) -> None:
    ledger = store.open()
    ledger.close()
    ledger.close()
    for act in (ledger.remaining, ledger.verify, lambda: ledger.charge("q", [TENTH])):
        with pytest.raises(LedgerError, match="closed"):
            act()


events = st.one_of(
    st.builds(
        DiscreteLaplaceEvent,
        sensitivity=st.integers(1, 5),
        scale=st.fractions(Fraction(1), Fraction(500)),
    ),
    st.builds(
        DiscreteGaussianEvent,
        sensitivity_squared=st.integers(1, 5),
        variance=st.fractions(Fraction(10), Fraction(5000)),
    ),
    st.builds(
        ApproximateEvent,
        epsilon=st.fractions(Fraction(1, 100), Fraction(1, 2)),
        delta=st.fractions(Fraction(1, 10**9), Fraction(1, 10**7)),
    ),
)


@settings(max_examples=25)
@given(st.lists(st.lists(events, min_size=1, max_size=3), max_size=12), st.data())
def test_a_ledger_allows_what_its_budget_allows_however_often_it_is_opened(
    questions: list[list[Event]], data: st.DataObject
) -> None:
    budget = Budget(epsilon=2, delta=1e-6, set_aside=Fraction(1, 10**7))
    with tempfile.TemporaryDirectory() as folder:
        store = STORES["file"](Path(folder))
        ledger, model = store.open(budget), budget
        for i, question in enumerate(questions):
            try:
                after = model
                for event in question:
                    after = after.charge(event)
            except BudgetError:
                with pytest.raises(BudgetError):
                    ledger.charge(f"q{i}", question)
            else:
                model = after
                assert ledger.charge(f"q{i}", question).remaining == model.remaining()
            if data.draw(st.booleans()):
                ledger.close()
                ledger = store.open(budget)
            assert ledger.charged() == model.charged
        ledger.close()


def test_endless_fractions_are_rounded_up_and_no_sum_grows_without_end() -> None:
    exact = rounded = Fraction(0)
    for i in range(1, 400):
        exact += Fraction(1, 10**6 + i)
        rounded = Fraction(shortened(rounded + Fraction(1, 10**6 + i)))
    assert rounded.denominator.bit_length() < 1100 < exact.denominator.bit_length()
    assert exact <= rounded <= exact + Fraction(400, 2**FINEST)
    assert shortened(Fraction(1, 3)) == Fraction(1, 3)


# --------------------------------------------------------------------------- opened again


def test_all_is_there_when_the_ledger_is_opened_again(durable: Store) -> None:
    ledger = durable.open()
    ledger.keep(ledger.charge("answered", [TENTH]), b"42")
    ledger.charge("unanswered", [TENTH])
    before = list(ledger.entries())
    ledger.close()
    ledger = durable.open()
    assert isinstance(ledger.find("answered"), SavedAnswer)
    assert isinstance(ledger.find("unanswered"), Receipt)
    assert ledger.remaining().epsilon == Fraction(8, 10)
    assert list(ledger.entries()) == before
    assert ledger.charge("unanswered", [TENTH]).already_paid


def test_two_that_have_it_open_see_what_the_other_writes(durable: Store) -> None:
    one, other = durable.open(), durable.open()
    receipt = one.charge("q", [TENTH])
    assert other.remaining().epsilon == Fraction(9, 10)
    assert other.keep(receipt, b"42") == b"42"
    assert isinstance(one.find("q"), SavedAnswer)
    assert one.head() == other.head()


def test_a_changed_total_is_recorded_and_holds_for_all(durable: Store) -> None:
    one = durable.open()
    one.charge("q", [TENTH])
    other = durable.open(Budget(epsilon=3))
    assert one.remaining().epsilon == other.remaining().epsilon == Fraction(29, 10)
    assert [entry.about.get("epsilon") for entry in one.entries()] == ["1", None, "3"]


def test_the_same_total_is_not_recorded_twice(durable: Store) -> None:
    durable.open().close()
    assert numbered(durable.open()) == [(1, "policy")]


def test_a_total_below_what_is_charged_allows_nothing_more(durable: Store) -> None:
    ledger = durable.open()
    paid = ledger.charge("q", [TENTH] * 5)
    ledger = durable.open(Budget(epsilon=Fraction(1, 4)))
    assert ledger.remaining().epsilon == 0
    with pytest.raises(BudgetError):
        ledger.charge("free", [TENTH * 0])
    assert ledger.charge("q", [TENTH] * 5).already_paid
    assert ledger.keep(paid, b"42") == b"42"


@pytest.mark.parametrize(
    ("budget", "neighbours", "words"),
    [
        (Budget(epsilon=1, delta=1e-6), "add-remove", "created with filter = basic"),
        (Budget(epsilon=1), "replace", "created with neighbours = add-remove"),
    ],
)
def test_what_old_prices_depend_on_cannot_change(
    durable: Store, budget: Budget, neighbours: str, words: str
) -> None:
    durable.open().close()
    with pytest.raises(LedgerError, match=words):
        durable.open(budget, neighbours=neighbours)
    assert numbered(durable.open()) == [(1, "policy")]


def test_what_is_set_aside_cannot_change(durable: Store) -> None:
    durable.open(Budget(epsilon=1, delta=1e-6, set_aside=1e-7)).close()
    with pytest.raises(LedgerError, match="created with set_aside = 1/10000000"):
        durable.open(Budget(epsilon=1, delta=1e-6))


@pytest.mark.parametrize("other", [Fraction(1, 10**5), Fraction(1, 10**8)])
def test_delta_may_change_under_the_concentrated_filter(durable: Store, other: Fraction) -> None:
    """A catalog sets half of delta aside: more or less delta, and the same half."""
    carried = ApproximateEvent(epsilon=Fraction(1, 10), delta=Fraction(1, 10**9))
    first = durable.open(budget_from(_concentrated(Fraction(1, 10**6))))
    first.charge("q", [carried])
    charged = first.charged()
    first.close()
    ledger = durable.open(total := budget_from(_concentrated(other)))
    assert ledger.charged() == charged
    assert ledger.remaining().delta == other / 2 - carried.delta
    assert ledger.remaining() == replace(total, charged=charged).remaining()
    ledger.close()
    assert durable.open(budget_from(_concentrated(Fraction(1, 10**6)))).charged() == charged


def _concentrated(delta: Fraction) -> BudgetPolicy:
    return BudgetPolicy(epsilon=Fraction(2), delta=delta, accounting=Accounting.CONCENTRATED)


def test_a_delta_below_what_is_charged_allows_nothing_more(durable: Store) -> None:
    carried = ApproximateEvent(epsilon=Fraction(1, 10), delta=Fraction(1, 10**7))
    durable.open(budget_from(_concentrated(Fraction(1, 10**6)))).charge("q", [carried])
    ledger = durable.open(budget_from(_concentrated(Fraction(1, 10**8))))
    assert ledger.remaining().delta == 0
    with pytest.raises(BudgetError):
        ledger.charge("q2", [replace(carried, delta=Fraction(1, 10**12))])
    with pytest.raises(BudgetError):
        ledger.charge(
            "q3", [DiscreteGaussianEvent(sensitivity_squared=Fraction(1), variance=Fraction(10**9))]
        )


parts = st.fractions(min_value=0, max_value=Fraction(9, 10), max_denominator=10)
deltas = st.fractions(min_value=Fraction(1, 100), max_value=Fraction(1, 2), max_denominator=100)


@settings(max_examples=60)
@given(st.lists(st.tuples(deltas, parts), min_size=1, max_size=6), st.booleans())
def test_no_order_of_totals_promises_more_than_the_largest_of_them(
    declared: list[tuple[Fraction, Fraction]], is_one_part: bool
) -> None:
    """All that is ever charged is within the largest part set aside and the largest rest."""
    if is_one_part:
        declared = [(delta, declared[0][1]) for delta, _ in declared]
    book, accepted = LedgerState(), []
    for delta, part in declared:
        total = Budget(epsilon=1, delta=delta, set_aside=part * delta, filter="concentrated")
        policy = Policy(total=total, neighbours="add-remove")
        with suppress(LedgerError):
            book.check_policy(policy)
            row = book.row(NewEntry(kind="policy", about=policy.record), datetime.now(UTC))
            book = book.after([row])
            accepted.append(total)
    promised = max(each.set_aside for each in accepted)
    promised += max(each.delta - each.set_aside for each in accepted)
    assert promised == max(each.delta for each in accepted)
    assert len(accepted) == len(declared) or not is_one_part


def test_delta_may_change_under_the_same_filter(durable: Store) -> None:
    durable.open().close()
    ledger = durable.open(Budget(epsilon=1, delta=1e-6, filter=Filter.BASIC))
    ledger.charge("q", [ApproximateEvent(epsilon=Fraction(1, 2), delta=Fraction(1, 10**6))])
    assert ledger.remaining().delta == 0


@pytest.mark.parametrize("budget", [Budget(epsilon=1).charge(TENTH), 1, None])
def test_a_budget_that_is_charged_already_is_refused(store: Store, budget: Budget) -> None:
    with pytest.raises(ParameterError, match="budget must be a Budget without charges"):
        store.open(budget)


def test_unknown_neighbours_are_refused(store: Store) -> None:
    with pytest.raises(ParameterError, match="neighbours must be 'add-remove' or 'replace'"):
        store.open(neighbours="none")
