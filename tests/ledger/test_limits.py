"""Limits of accounts within their caps: per query and per day, in the transaction of the charge."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from typing import Any

import pytest

from discreet.account_limits import LIMITS, AccountLimits
from discreet.accounting import (
    ApproximateEvent,
    Budget,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    PureEvent,
    epsilon_from_rho,
)
from discreet.errors import (
    AccountError,
    BudgetError,
    ParameterError,
    PerDayLimitError,
    PerQueryLimitError,
)
from discreet.ledger import Item, SqliteLedger
from discreet.ledger.analysts import LimitTerms
from discreet.ledger.inputs import analyst_from_record, record_from_analyst
from discreet.ledger.stored import StoredLedger
from tests.ledger.stores import TENTH, Store, told_by_children

TEN = Budget(epsilon=10)
SOME = Budget(epsilon=10, delta=1e-6)
GAUSSIAN = DiscreteGaussianEvent(sensitivity_squared=Fraction(1), variance=Fraction(100), answers=1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """The time that the ledger sees."""

    def __init__(self) -> None:
        self.now = NOON


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()

    class Fixed(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return clock.now.astimezone(tz)

    monkeypatch.setattr("discreet.ledger.storage.datetime", Fixed)
    return clock


def charge(ledger: StoredLedger, name: str, tenths: int = 1, account: str = "eve") -> None:
    events = [PureEvent(epsilon=Fraction(tenths, 10))]
    ledger.charge(name, events, account=account)


def entries(ledger: StoredLedger) -> Counter[str]:
    return Counter(each.kind for each in ledger.entries())


def test_one_query_costs_no_more_than_the_limit_per_query(store: Store) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=1, per_query=Fraction(1, 5))
    charge(ledger, "a", 2)
    with pytest.raises(PerQueryLimitError) as rejection:
        charge(ledger, "b", 3)
    assert str(rejection.value) == (
        "This query would cost ε = 0.3, and analyst 'eve' may spend at most ε = 0.2 per query. "
        "Use a smaller epsilon, or ask the data owner to raise this limit. Nothing was spent."
    )
    assert rejection.value.analyst == "eve"
    assert rejection.value.requested == {"epsilon": Fraction(3, 10)}
    assert rejection.value.remaining == {"epsilon": Fraction(1, 5)}
    assert entries(ledger)["charge"] == 1
    charge(ledger, "b", 3, "owner")


def test_items_that_are_charged_together_are_one_query(store: Store) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=1, per_query=Fraction(2, 10))
    items = [Item(question=f"q{i}", events=[TENTH]) for i in range(3)]
    for act in (ledger.charge_all, ledger.check):
        with pytest.raises(PerQueryLimitError) as rejection:
            act(items, account="eve")
        assert rejection.value.requested == {"epsilon": Fraction(3, 10)}
    ledger.charge_all(items[:2], account="eve")
    # Of the three only one is due by now, so they may be charged together.
    assert [each.already_paid for each in ledger.charge_all(items, account="eve")] == [
        True,
        True,
        False,
    ]


def test_a_day_costs_no_more_than_the_limit_per_day(store: Store, clock: Clock) -> None:
    ledger = store.open(TEN)
    ledger.declare_analyst("eve", epsilon=5, per_day=Fraction(3, 10))
    charge(ledger, "a", 2)
    assert ledger.limits_of("eve") == AccountLimits(
        per_day=Fraction(3, 10),
        remaining_today=Fraction(1, 10),
        renewed=datetime(2026, 3, 2, tzinfo=UTC),
    )
    with pytest.raises(PerDayLimitError) as rejection:
        charge(ledger, "b", 2)
    assert str(rejection.value) == (
        "This query would cost ε = 0.2, and ε = 0.1 of the ε = 0.3 per day remains today for "
        "analyst 'eve'. Use a smaller epsilon, or wait until 2026-03-02 00:00 UTC, or ask the data "
        "owner to raise this limit. Nothing was spent."
    )
    charge(ledger, "b", 1)
    with pytest.raises(PerDayLimitError, match="Wait until 2026-03-02 00:00 UTC"):
        charge(ledger, "c")
    clock.now = datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC)
    with pytest.raises(PerDayLimitError):
        charge(ledger, "c")
    clock.now += timedelta(seconds=1)
    charge(ledger, "c", 3)
    with pytest.raises(PerDayLimitError) as rejection:
        charge(ledger, "d", 4)
    assert "ait until" not in str(rejection.value)  # it is more than a whole day allows
    assert entries(ledger)["charge"] == 3


def test_a_day_is_one_by_utc_wherever_the_clock_is(store: Store, clock: Clock) -> None:
    ledger = store.open(TEN)
    ledger.declare_analyst("eve", epsilon=5, per_day=Fraction(1, 10))
    clock.now = datetime.fromisoformat("2026-03-02T01:00:00+02:00")
    charge(ledger, "a")
    clock.now = datetime.fromisoformat("2026-03-02T01:59:00+02:00")
    with pytest.raises(PerDayLimitError):
        charge(ledger, "b")
    clock.now = datetime.fromisoformat("2026-03-02T02:00:00+02:00")
    charge(ledger, "b")


def test_a_clock_that_jumps_back_gives_no_second_allowance(store: Store, clock: Clock) -> None:
    ledger = store.open(TEN)
    ledger.declare_analyst("eve", epsilon=5, per_day=Fraction(2, 10))
    charge(ledger, "a")
    clock.now = NOON - timedelta(days=40)
    assert ledger.limits_of("eve").remaining_today == Fraction(1, 10)
    charge(ledger, "b")
    for back in (0, 1, 40, 4000):
        clock.now = NOON - timedelta(days=back)
        with pytest.raises(PerDayLimitError, match="2026-03-02 00:00 UTC"):
            charge(ledger, "c")
    clock.now = NOON + timedelta(days=1)
    charge(ledger, "c")


def test_a_clock_that_jumps_forward_and_back_gives_one_allowance_more_at_most(
    store: Store, clock: Clock
) -> None:
    ledger = store.open(TEN)
    ledger.declare_analyst("eve", epsilon=5, per_day=Fraction(1, 10))
    charge(ledger, "a")
    clock.now = datetime(2030, 1, 1, tzinfo=UTC)
    charge(ledger, "b")
    for day in range(5):
        clock.now = NOON + timedelta(days=day)
        with pytest.raises(PerDayLimitError, match="2030-01-02 00:00 UTC"):
            charge(ledger, "c")
    clock.now = datetime(2030, 1, 2, tzinfo=UTC)
    charge(ledger, "c")


def test_days_are_read_from_the_entries_of_a_ledger_that_is_opened_again(
    durable: Store, clock: Clock
) -> None:
    with durable.open(TEN) as ledger:
        ledger.declare_analyst("eve", epsilon=5, per_day=Fraction(5, 10))
        ledger.declare_analyst("max", epsilon=5, per_day=Fraction(5, 10))
        for day in range(3):
            clock.now = NOON + timedelta(days=day)
            charge(ledger, f"{day}", 2)
            charge(ledger, f"{day} again", 1 + day)
        clock.now = NOON
        charge(ledger, "of Max", 1, "max")
        known = ledger.limits_of("eve"), ledger.limits_of("max")
    assert known[0].remaining_today == 0
    assert known[1].remaining_today == Fraction(4, 10)
    with durable.existing() as ledger:
        assert (ledger.limits_of("eve"), ledger.limits_of("max")) == known
        ledger.verify()


def test_a_limit_that_is_set_during_a_day_counts_what_was_charged_before(
    store: Store, clock: Clock
) -> None:
    ledger = store.open(TEN)
    ledger.declare_analyst("eve", epsilon=5)
    charge(ledger, "a", 2)
    ledger.declare_limits("eve", per_day=Fraction(3, 10))
    assert ledger.limits_of("eve").remaining_today == Fraction(1, 10)
    ledger.declare_limits("eve", per_day=Fraction(1, 10))
    assert ledger.limits_of("eve").remaining_today == 0
    ledger.declare_limits("eve", per_day=None)
    assert ledger.limits_of("eve") == AccountLimits()
    charge(ledger, "b", 9)
    assert clock.now == NOON


def test_repeats_are_free_on_an_exhausted_day_and_however_little_a_query_may_cost(
    store: Store,
) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=1)
    events = [PureEvent(epsilon=Fraction(1, 2))]
    ledger.keep(ledger.charge("a", events, account="eve"), b"42")
    ledger.charge("unanswered", [TENTH], account="eve")
    ledger.declare_limits("eve", per_day=Fraction(1, 10), per_query=Fraction(1, 100))
    for name, paid in (("a", events), ("unanswered", [TENTH])):
        assert ledger.charge(name, paid, account="eve").already_paid
    ledger.charge_all([], pins={"read off": "a"}, account="eve")
    with pytest.raises(PerQueryLimitError):
        charge(ledger, "b", 1)


def test_the_cap_and_the_total_hold_besides(store: Store) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=Fraction(1, 10), per_query=5, per_day=5)
    with pytest.raises(BudgetError, match="in the cap of analyst 'eve'"):
        charge(ledger, "a", 2)
    ledger.declare_cap("eve", epsilon=5)
    with pytest.raises(BudgetError, match=r"ε = 1 remains\."):
        charge(ledger, "a", 20)
    assert ledger.limits_of("eve").per_query == 5
    assert ledger.limits_of("eve").remaining_today == 5


# --------------------------------------------------------------------------- races


@pytest.mark.usefixtures("clock")
def test_threads_reach_the_limit_per_day_exactly_and_no_more(store: Store) -> None:
    with store.open(TEN) as ledger, ThreadPoolExecutor(8) as pool:
        ledger.declare_analyst("eve", epsilon=5, per_day=Fraction(7, 10))

        def tried(number: int) -> str:
            try:
                charge(ledger, f"q{number}")
            except PerDayLimitError:
                return "rejected"
            return "charged"

        told = Counter(pool.map(tried, range(24)))
        assert told == {"charged": 7, "rejected": 17}
        assert ledger.limits_of("eve").remaining_today == 0
        assert ledger.charged().epsilon == Fraction(7, 10)


@pytest.mark.usefixtures("clock")
def test_processes_reach_the_limit_per_day_exactly_and_no_more(durable: Store) -> None:
    with durable.open(TEN) as ledger:
        ledger.declare_analyst("eve", epsilon=5, per_day=Fraction(7, 10))

    def work(process: int) -> list[str]:
        told = []
        with durable.open(TEN) as ledger:
            for number in range(4):
                try:
                    charge(ledger, f"{process}-{number}")
                    told.append("charged")
                except PerDayLimitError:
                    told.append("rejected")
        return told

    assert Counter(told_by_children(8, work)) == {"charged": 7, "rejected": 25}
    with durable.existing() as ledger:
        assert ledger.limits_of("eve").remaining_today == 0
        ledger.verify()


# --------------------------------------------------------------------------- what counts


def test_a_charge_counts_as_the_sum_of_its_epsilons(store: Store) -> None:
    ledger = store.open(Budget(epsilon=10, delta=1e-3, filter="basic"))
    ledger.declare_analyst("eve", epsilon=9, per_day=5)
    events = [
        DiscreteLaplaceEvent(sensitivity=3, scale=Fraction(10), answers=4),
        ApproximateEvent(epsilon=Fraction(1, 4), delta=Fraction(1, 10**6)),
        PureEvent(epsilon=Fraction(1, 7)),
    ]
    ledger.charge("q", events, account="eve")
    spent = Fraction(3, 10) + Fraction(1, 4) + Fraction(1, 7)
    assert ledger.limits_of("eve").remaining_today == 5 - spent


def test_noise_without_an_epsilon_counts_as_the_epsilon_that_was_stated(durable: Store) -> None:
    stated = Fraction(3, 10)
    with durable.open(SOME) as ledger:
        ledger.declare_analyst("eve", epsilon=9, per_query=stated, per_day=1)
        item = Item(question="q", events=[GAUSSIAN], epsilon=stated, about={"sql": "SELECT"})
        ledger.charge_all([item], account="eve")
        more = Item(question="r", events=[GAUSSIAN], epsilon=stated + 1)
        with pytest.raises(PerQueryLimitError):
            ledger.charge_all([more], account="eve")
        assert ledger.limits_of("eve").remaining_today == Fraction(7, 10)
        assert dict([*ledger.entries()][-1].about) == {"sql": "SELECT", "stated_epsilon": "3/10"}
    with durable.existing() as ledger:
        assert ledger.limits_of("eve").remaining_today == Fraction(7, 10)


def test_noise_without_any_epsilon_counts_as_what_its_rho_implies(store: Store) -> None:
    ledger = store.open(SOME)
    ledger.declare_analyst("eve", epsilon=9, per_day=5)
    ledger.charge("q", [GAUSSIAN], account="eve")
    implied = Fraction(epsilon_from_rho(Fraction(1, 200), Fraction(1, 10**6)))
    assert ledger.limits_of("eve").remaining_today == 5 - implied


def test_an_epsilon_that_the_events_say_themselves_is_not_noted(store: Store) -> None:
    ledger = store.open()
    item = Item(question="q", events=[TENTH, TENTH], epsilon=Fraction(2, 10))
    ledger.charge_all([item])
    assert dict([*ledger.entries()][-1].about) == {}
    with pytest.raises(ParameterError, match="'stated_epsilon', which the ledger writes itself"):
        ledger.charge("r", [TENTH], about={"stated_epsilon": "0"})
    with pytest.raises(ParameterError, match="epsilon"):
        ledger.charge_all([Item(question="r", events=[TENTH], epsilon=Fraction(-1))])


# --------------------------------------------------------------------------- stored form


def test_limits_are_stored_only_if_there_are_any(durable: Store) -> None:
    given: LimitTerms = {
        "per_query": Fraction(1, 10),
        "per_day": Fraction(1, 3),
        "default_epsilon": Fraction(1, 20),
        "confirm_above": Fraction(0),
    }
    with durable.open() as ledger:
        plain = ledger.declare_analyst("max", epsilon=1)
        limited = ledger.declare_analyst("eve", epsilon=1, **given)
        first, second = [dict(each.about) for each in ledger.entries()][-2:]
    assert first == {"epsilon": "1", "delta": "none", "token": "none", "enabled": "yes"}
    assert second == {**first, **{name: str(each) for name, each in given.items()}}
    assert {name: getattr(limited, name) for name in LIMITS} == given
    with durable.existing() as ledger:
        assert ledger.analysts() == (plain, limited)
    assert analyst_from_record("eve", record_from_analyst(limited)) == limited


def test_what_changes_of_an_account_leaves_its_limits(store: Store) -> None:
    ledger = store.open()
    made = ledger.declare_analyst("eve", epsilon=1, per_query=Fraction(1, 10), confirm_above=0)
    ledger.declare_cap("eve", epsilon=2)
    asked = ledger.request_budget("eve", epsilon=3, reason="a study")
    ledger.decide(asked.number, granted=True, by="owner")
    ledger.declare_limits("eve", per_day=1)
    (found,) = ledger.analysts()
    assert found.epsilon == 3
    assert (found.per_query, found.confirm_above) == (made.per_query, made.confirm_above)
    assert found.per_day == 1
    ledger.declare_limits("eve", per_query=None)
    assert ledger.analysts()[0].per_query is None
    before = entries(ledger)
    ledger.declare_limits("eve", per_query=None)
    assert entries(ledger) == before  # nothing changed


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("value", [-1, "1", float("nan"), True, object()])
def test_a_limit_is_an_amount_or_none(name: str, value: Any) -> None:
    with SqliteLedger(budget=TEN) as ledger, pytest.raises(ParameterError, match=name):
        ledger.declare_analyst("eve", epsilon=1, **{name: value})


def test_limits_fit_together_and_belong_to_a_declared_account(store: Store) -> None:
    ledger = store.open()
    ledger.declare_analyst("eve", epsilon=1, default_epsilon=Fraction(1, 2))
    with pytest.raises(ParameterError, match=r"default_epsilon must be at most per_query, 0\.1"):
        ledger.declare_limits("eve", per_query=0.1)
    with pytest.raises(ParameterError, match="must be among 'per_query'"):
        ledger.declare_limits("eve", per_week=1)  # type: ignore[call-arg]
    for act in (lambda: ledger.declare_limits("max", per_day=1), lambda: ledger.limits_of("max")):
        with pytest.raises(AccountError, match="There is no analyst 'max'"):
            act()
    assert ledger.limits_of("owner") == AccountLimits()
