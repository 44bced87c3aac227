"""Requests and decisions: each is decided once, and a cap is granted with its decision or not."""

import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import Budget
from discreet.errors import AccountError, DiscreetError, LedgerError, ParameterError
from discreet.ledger import Analyst, Request, SqliteLedger
from discreet.ledger.requests import MOST_OPEN, MOST_QUESTION, MOST_REASON
from discreet.ledger.state import LedgerState, NewEntry
from discreet.ledger.stored import StoredLedger
from tests.ledger.stores import TENTH, Store, child, die, end_of, told_by_children

QUERY = '{"epsilon":"1","sql":"SELECT COUNT(*) FROM visits"}'


def with_eve(store: Store, budget: Budget = Budget(epsilon=4)) -> StoredLedger:  # noqa: B008 - frozen
    ledger = store.open(budget)
    ledger.declare_analyst("eve", epsilon=Fraction(1, 2))
    return ledger


def kinds(ledger: StoredLedger) -> list[str]:
    return [each.kind for each in ledger.entries()]


# --------------------------------------------------------------------------- caps


def test_a_cap_is_asked_for_granted_and_in_force(store: Store) -> None:
    ledger = with_eve(store)
    asked = ledger.request_budget("eve", epsilon=2, reason="the paper\tneeds it\x1b[31m")
    assert asked == Request(
        number=3,
        written=asked.written,
        account="eve",
        kind="cap",
        epsilon=Fraction(2),
        reason="the paper\tneeds it\x1b[31m",
    )
    assert ledger.requests() == ledger.requests("eve") == (asked,)
    assert ledger.requests("max") == ()
    assert ledger.cap("eve").epsilon == Fraction(1, 2)
    decided = ledger.decide(asked.number, granted=True, by="ann", reason="go on")
    assert (decided.state, decided.by, decided.answer) == ("granted", "ann", "go on")
    assert decided.granted_epsilon == 2
    assert decided.granted_delta is None
    assert decided.decided is not None
    assert ledger.cap("eve").epsilon == 2
    assert ledger.requests() == (decided,)
    assert kinds(ledger) == ["policy", "analyst", "request", "decision", "analyst"]
    with ledger.view() as view:
        assert view.requests("eve") == (decided,)
    ledger.verify()


def test_another_cap_may_be_granted_and_a_delta_that_nobody_names_stays(store: Store) -> None:
    ledger = store.open(Budget(epsilon=8, delta=1e-6))
    ledger.declare_analyst("eve", epsilon=1, delta=1e-8)
    first = ledger.request_budget("eve", epsilon=4, reason="more")
    assert ledger.decide(first.number, granted=True, by="owner", epsilon=2).granted_epsilon == 2
    assert ledger.analysts()[0].epsilon == 2
    assert ledger.analysts()[0].delta == Fraction(1, 10**8)
    second = ledger.request_budget("eve", epsilon=2, delta=1e-7, reason="groups")
    ledger.decide(second.number, granted=True, by="owner")
    assert ledger.analysts()[0].delta == Fraction(1, 10**7)
    third = ledger.request_budget("eve", epsilon=3, reason="more")
    with pytest.raises(ParameterError, match="delta must be more than 0"):
        ledger.decide(third.number, granted=True, by="owner", delta=0)
    assert ledger.requests()[-1].state == "open"
    ledger.decide(third.number, granted=True, by="owner", delta=1e-9)
    assert ledger.analysts()[0].delta == Fraction(1, 10**9)


def test_a_declined_request_changes_nothing(store: Store) -> None:
    ledger = with_eve(store)
    number = ledger.request_budget("eve", epsilon=2, reason="please").number
    declined = ledger.decide(number, granted=False, by="owner", reason="not this year")
    assert (declined.state, declined.granted_epsilon) == ("declined", None)
    assert ledger.cap("eve").epsilon == Fraction(1, 2)
    assert kinds(ledger) == ["policy", "analyst", "request", "decision"]
    assert ledger.request_budget("eve", epsilon=2, reason="please").state == "open"


def test_a_cap_keeps_token_role_and_that_the_account_is_disabled(store: Store) -> None:
    ledger = with_eve(store)
    number = ledger.request_budget("eve", epsilon=2, reason="please").number
    ledger.declare_analyst("eve", epsilon=Fraction(1, 2), enabled=False)
    ledger.decide(number, granted=True, by="owner")
    (eve,) = ledger.analysts()
    assert eve == Analyst(
        name="eve", epsilon=Fraction(2), delta=None, token_hash=None, enabled=False
    )


def test_a_grant_is_rejected_once_the_account_is_a_reader_and_a_decline_is_not(
    store: Store,
) -> None:
    ledger = with_eve(store)
    numbers = [ledger.request_budget("eve", epsilon=2, reason="cap").number]
    numbers += [ledger.request_budget("eve", question=QUERY, price="ε = 1", reason="q").number]
    ledger.declare_analyst("eve", role="reader")
    for number in numbers:
        with pytest.raises(AccountError, match="A reader may read saved answers"):
            ledger.decide(number, granted=True, by="owner")
        assert ledger.decide(number, granted=False, by="owner").state == "declined"


# --------------------------------------------------------------------------- queries


def test_leave_for_a_query_is_for_this_account_and_this_text(store: Store) -> None:
    ledger = with_eve(store)
    ledger.declare_analyst("max", epsilon=1)
    asked = ledger.request_budget("eve", question=QUERY, price="ε = 1", reason="once")
    assert (asked.kind, asked.question, asked.price) == ("question", QUERY, "ε = 1")
    assert not ledger.is_approved("eve", QUERY)
    ledger.decide(asked.number, granted=True, by="ann")
    assert ledger.is_approved("eve", QUERY)
    assert not ledger.is_approved("max", QUERY)
    assert not ledger.is_approved("eve", QUERY + " ")
    assert ledger.cap("eve").epsilon == Fraction(1, 2)
    assert kinds(ledger)[-1] == "decision"
    with ledger.view() as view:
        assert view.is_approved("eve", QUERY)


def test_the_last_decision_about_a_query_counts(store: Store) -> None:
    ledger = with_eve(store)
    for granted in (True, False, True):
        asked = ledger.request_budget("eve", question=QUERY, price="ε = 1", reason="again")
        ledger.decide(asked.number, granted=granted, by="ann")
        assert ledger.is_approved("eve", QUERY) is granted


def test_requests_are_there_when_the_ledger_is_opened_again(durable: Store) -> None:
    with with_eve(durable) as ledger:
        first = ledger.request_budget("eve", epsilon=2, reason="é\0\u202e")
        ledger.request_budget("eve", question=QUERY, price="ε = 1", reason="once")
        ledger.request_budget("eve", epsilon=3, reason="open")
        ledger.decide(first.number, granted=True, by="ann", epsilon=1)
        ledger.decide(first.number + 1, granted=True, by="ann")
        known, state = ledger.requests(), ledger._state
    with durable.existing() as ledger:
        ledger.verify()
        assert ledger.requests() == known
        assert [each.state for each in known] == ["granted", "granted", "open"]
        assert ledger.is_approved("eve", QUERY)
        assert ledger._state == state


# --------------------------------------------------------------------------- rejections


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        ({}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "2"}, "epsilon"),
        ({"epsilon": 2, "delta": 1}, "delta"),
        ({"epsilon": 2, "reason": ""}, "reason"),
        ({"epsilon": 2, "reason": None}, "reason"),
        ({"epsilon": 2, "reason": "x" * (MOST_REASON + 1)}, "reason"),
        ({"epsilon": 2, "reason": "\ud800"}, "reason"),
        ({"epsilon": 2, "price": "ε = 1"}, "price"),
        ({"epsilon": 2, "question": QUERY, "price": "ε = 1"}, "epsilon"),
        ({"delta": 0, "question": QUERY, "price": "ε = 1"}, "delta"),
        ({"question": QUERY}, "price"),
        ({"question": "", "price": "ε = 1"}, "question"),
        ({"question": "x" * (MOST_QUESTION + 1), "price": "ε = 1"}, "question"),
    ],
)
def test_what_cannot_be_asked_for_is_rejected_by_name(asked: dict[str, Any], wrong: str) -> None:
    ledger = SqliteLedger(budget=Budget(epsilon=4))
    ledger.declare_analyst("eve", epsilon=1)
    with pytest.raises(ParameterError, match=f"^{wrong} must"):
        ledger.request_budget("eve", **{"reason": "why", **asked})
    assert kinds(ledger) == ["policy", "analyst"]


def test_an_increase_in_place_of_a_total_is_rejected(store: Store) -> None:
    ledger = with_eve(store)
    with pytest.raises(ParameterError) as refusal:
        ledger.request_budget("eve", epsilon=0.25, reason="a bit more")
    assert str(refusal.value) == (
        "epsilon must be more than the present cap, 0.5, but 0.25 was given. "
        "Request the new total cap of the account, not the increase."
    )


def test_a_cap_that_the_filter_cannot_hold_cannot_be_asked_for(store: Store) -> None:
    ledger = with_eve(store, Budget(epsilon=8, delta=1e-6))
    with pytest.raises(ParameterError, match="delta must be more than 0"):
        ledger.request_budget("eve", epsilon=2, delta=0, reason="no delta")


def test_only_an_enabled_analyst_asks(store: Store) -> None:
    ledger = with_eve(store)
    ledger.declare_analyst("max", epsilon=1, enabled=False)
    for account, match in (
        ("max", "account is disabled"),
        ("nobody", "There is no analyst"),
        ("owner", "The owner's account has no cap of its own"),
    ):
        with pytest.raises(AccountError, match=match):
            ledger.request_budget(account, epsilon=2, reason="please")
    assert ledger.requests() == ()


@pytest.mark.parametrize(
    ("made", "wrong"),
    [
        ({"granted": 1}, "granted"),
        ({"by": ""}, "by"),
        ({"reason": "x" * (MOST_REASON + 1)}, "reason"),
        ({"reason": None}, "reason"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 2}, "delta"),
        ({"granted": False, "epsilon": 1}, "epsilon"),
    ],
)
def test_what_cannot_be_decided_is_rejected_by_name(made: dict[str, Any], wrong: str) -> None:
    ledger = SqliteLedger(budget=Budget(epsilon=4))
    ledger.declare_analyst("eve", epsilon=1)
    number = ledger.request_budget("eve", epsilon=2, reason="why").number
    with pytest.raises(ParameterError, match=f"^{wrong} must"):
        ledger.decide(number, **{"granted": True, "by": "ann", **made})
    assert [each.state for each in ledger.requests()] == ["open"]
    assert ledger.cap("eve").epsilon == 1


def test_what_is_decided_or_is_no_request_cannot_be_decided(store: Store) -> None:
    ledger = with_eve(store)
    number = ledger.request_budget("eve", epsilon=2, reason="why").number
    ledger.decide(number, granted=False, by="ann")
    for other in (number, 1, 99, 0, -1):
        with pytest.raises(ParameterError, match=r"^number must be the number of an open request"):
            ledger.decide(other, granted=True, by="ann")
    with pytest.raises(ParameterError, match=r"This one was declined\. See discreet analyst req"):
        ledger.decide(number, granted=True, by="ann")
    assert ledger.cap("eve").epsilon == Fraction(1, 2)


def test_the_same_is_asked_for_once(store: Store) -> None:
    ledger = with_eve(store)
    first = ledger.request_budget("eve", epsilon=2, reason="please")
    assert ledger.request_budget("eve", epsilon=2.0, reason="please") == first
    assert ledger.request_budget("eve", epsilon=2, reason="please!") != first
    assert kinds(ledger).count("request") == 2


def test_an_account_has_so_many_open_requests_and_no_more() -> None:
    ledger = SqliteLedger(budget=Budget(epsilon=4))
    for name in ("eve", "max"):
        ledger.declare_analyst(name, epsilon=1)
    numbers = [
        ledger.request_budget("eve", epsilon=2, reason=str(i)).number for i in range(MOST_OPEN)
    ]
    with pytest.raises(AccountError, match=f"This account has {MOST_OPEN} open requests"):
        ledger.request_budget("eve", epsilon=2, reason="one more")
    ledger.request_budget("max", epsilon=2, reason="another account")
    ledger.decide(numbers[5], granted=False, by="owner")
    ledger.request_budget("eve", epsilon=2, reason="one more")


@pytest.mark.parametrize(
    ("kind", "about"),
    [
        ("request", {"kind": "cap", "epsilon": "2", "delta": "none"}),
        ("request", {"kind": "cap", "epsilon": "2", "delta": "none", "reason": "a", "until": "1"}),
        ("request", {"kind": "wish", "question": "q", "price": "1", "reason": "a"}),
        ("decision", {"request": "3", "granted": "yes", "by": "ann", "reason": ""}),
        ("decision", {"request": "3", "granted": "maybe", "by": "ann", "reason": ""}),
        ("decision", {"request": "2", "granted": "no", "by": "ann", "reason": ""}),
        ("decision", {"request": "3", "granted": "no", "by": "ann"}),
        (
            "decision",
            {"request": "3", "granted": "no", "by": "a", "reason": "", "epsilon": "1"},
        ),
    ],
)
def test_an_entry_that_this_version_does_not_know_is_not_read_in_part(
    kind: Any, about: dict[str, str]
) -> None:
    ledger = SqliteLedger(budget=Budget(epsilon=4))
    ledger.declare_analyst("eve", epsilon=1)
    ledger.request_budget("eve", epsilon=2, reason="why")
    with (
        pytest.raises(LedgerError, match="an entry that this version does not know"),
        ledger._turn("write") as turn,
    ):
        turn.append(NewEntry(kind=kind, account="eve", about=about))


# --------------------------------------------------------------------------- a model


@dataclass
class Model:
    """What a ledger should say after a sequence of operations, computed in the plainest way."""

    caps: dict[str, Fraction] = field(default_factory=lambda: {"eve": Fraction(1)})
    roles: dict[str, str] = field(default_factory=lambda: {"eve": "analyst"})
    requests: list[tuple[str, Fraction | str, str]] = field(default_factory=list)
    approved: dict[tuple[str, str], bool] = field(default_factory=dict)

    def can_ask(self, name: str, wanted: Fraction | str) -> bool:
        is_more = isinstance(wanted, str) or wanted > self.caps.get(name, 0)
        return self.roles.get(name) == "analyst" and is_more

    def ask(self, name: str, wanted: Fraction | str) -> None:
        if (name, wanted, "open") not in self.requests:
            self.requests.append((name, wanted, "open"))

    def can_decide(self, i: int, granted: bool) -> bool:
        is_open = i < len(self.requests) and self.requests[i][2] == "open"
        return is_open and (not granted or self.roles[self.requests[i][0]] == "analyst")

    def decide(self, i: int, granted: bool) -> None:
        name, wanted, _ = self.requests[i]
        self.requests[i] = (name, wanted, "granted" if granted else "declined")
        if isinstance(wanted, str):
            self.approved[name, wanted] = granted
        elif granted:
            self.caps[name] = wanted


names = st.sampled_from(["eve", "max", "nobody"])
wanted = st.one_of(st.integers(1, 4).map(Fraction), st.sampled_from(["q1", "q2"]))
operations = st.one_of(
    st.tuples(st.just("ask"), names, wanted),
    st.tuples(st.just("decide"), st.integers(0, 5), st.booleans()),
    st.tuples(st.just("declare"), names, st.sampled_from(["analyst", "reader", "owner"])),
    st.tuples(st.just("charge"), names, st.integers(0, 9)),
)


def perform(ledger: SqliteLedger, operation: tuple[str, Any, Any]) -> None:
    match operation:
        case ("ask", name, Fraction() as epsilon):
            ledger.request_budget(name, epsilon=epsilon, reason="why")
        case ("ask", name, question):
            ledger.request_budget(name, question=question, price="ε = 1", reason="why")
        case ("decide", i, granted):
            known = ledger.requests()
            number = known[i].number if i < len(known) else 1
            ledger.decide(number, granted=granted, by="ann")
        case ("declare", name, role):
            cap = 1 if role == "analyst" else None
            ledger.declare_analyst(name, epsilon=cap, role=role)
        case ("charge", name, i):
            ledger.charge(f"q{i}", [TENTH], account=name)


def expect(model: Model, operation: tuple[str, Any, Any]) -> bool:
    """Perform an operation on the model; return whether the ledger may not reject it."""
    match operation:
        case ("ask", name, asked):
            if can := model.can_ask(name, asked):
                model.ask(name, asked)
            return can
        case ("decide", i, granted):
            if can := model.can_decide(i, granted):
                model.decide(i, granted)
            return can
        case ("declare", name, role):
            model.roles[name] = role
            model.caps[name] = Fraction(role == "analyst")
            return True
        case (_, name, _):
            return model.roles.get(name) == "analyst"
    raise AssertionError(operation)


@settings(max_examples=150, deadline=None)
@given(st.lists(operations, max_size=25))
def test_any_sequence_of_operations_leaves_what_a_model_says(
    sequence: list[tuple[str, Any, Any]],
) -> None:
    model, ledger = Model(), SqliteLedger(budget=Budget(epsilon=100))
    ledger.declare_analyst("eve", epsilon=1)
    for each in sequence:
        is_allowed = expect(model, each)
        try:
            perform(ledger, each)
            assert is_allowed, each
        except DiscreetError:
            assert not is_allowed, each
    found = [
        (each.account, each.epsilon or each.question, each.state) for each in ledger.requests()
    ]
    assert found == model.requests
    assert {each.name: each.epsilon for each in ledger.analysts()} == model.caps
    assert {each.name: each.role for each in ledger.analysts()} == model.roles
    for name in ("eve", "max"):
        for question in ("q1", "q2"):
            known = model.approved.get((name, question), False)
            assert ledger.is_approved(name, question) is known
    with ledger._turn("read") as turn:
        assert LedgerState().after(turn.transaction.rows(1)) == turn.state
    ledger.verify()


# --------------------------------------------------------------------------- races and crashes


def decided(ledger: StoredLedger, number: int, granted: bool, by: str) -> str:
    try:
        ledger.decide(number, granted=granted, by=by)
    except ParameterError:
        return "late"
    return by


def test_of_many_threads_and_processes_one_decides(durable: Store) -> None:
    with with_eve(durable) as ledger:
        numbers = [ledger.request_budget("eve", epsilon=2 + i, reason="r").number for i in range(4)]

    def work(process: int) -> list[str]:
        def decide(turn: int) -> str:
            return decided(ledger, numbers[turn % 4], turn % 2 == 0, f"{process}-{turn}")

        with durable.existing() as ledger, ThreadPoolExecutor(4) as pool:
            return list(pool.map(decide, range(8)))

    told = told_by_children(3, work)
    assert told.count("late") == len(told) - len(numbers) == 20
    with durable.existing() as ledger:
        ledger.verify()
        found = ledger.requests()
        assert {each.by for each in found} == set(told) - {"late"}
        assert kinds(ledger).count("decision") == 4
        granted = [each.epsilon for each in found if each.state == "granted"]
        assert ledger.cap("eve").epsilon in granted


def test_killed_at_any_statement_a_cap_is_granted_whole_or_not_at_all(durable: Store) -> None:
    seen = []
    for statement in range(1, 100):
        durable.renew()
        ledger = with_eve(durable)
        number = ledger.request_budget("eve", epsilon=2, reason="r").number
        crash = child(lambda: grant_dying_at(durable, ledger, number, statement))  # noqa: B023 - waited for
        status = end_of(crash)
        (request,) = ledger.requests()
        seen.append(request.state)
        assert ledger.cap("eve").epsilon == (2 if request.state == "granted" else Fraction(1, 2))
        ledger.verify()
        ledger.close()
        if status == 0:
            break
        assert status == -signal.SIGKILL
    assert status == 0
    assert seen[0] == "open"
    assert seen[-1] == "granted"


def grant_dying_at(store: Store, ledger: StoredLedger, number: int, statement: int) -> None:
    """Grant a request, but die when the store starts that statement."""
    begun = 0

    def count() -> None:
        nonlocal begun
        begun += 1
        if begun == statement:
            die()

    store.trace(ledger, count)
    ledger.decide(number, granted=True, by="ann")
