"""Budgets: exact to the last digit, and never exceeded however the charges are chosen."""

from fractions import Fraction
from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import (
    ApproximateEvent,
    Budget,
    Charge,
    ComposedEvent,
    ConcentratedEvent,
    Event,
    Filter,
    Remaining,
    basic_cost,
    compose,
    epsilon_from_rho,
    pure_epsilon,
    rho_for_budget,
    zcdp_rho,
)
from discreet.errors import BudgetError, ParameterError, UnsupportedEventError
from tests.accounting.made import deltas, epsilons, gaussian, laplace, pure, simple_events, tenth

ZERO = Fraction(0)
TINY = tenth(30)

approximate_events = st.builds(
    ApproximateEvent, epsilon=epsilons, delta=st.integers(6, 12).map(tenth)
)
any_events = st.one_of(
    simple_events,
    approximate_events,
    st.builds(lambda e, k: e * k, simple_events, st.integers(0, 9)),
)


def charged_to(budget: Budget, wanted: list[Event]) -> tuple[Budget, list[Event]]:
    """Charge what the budget affords, and skip the rest, as an adaptive analyst would."""
    charged = []
    for event in wanted:
        if budget.affords(event):
            budget = budget.charge(event)
            charged.append(event)
        else:
            with pytest.raises(BudgetError):
                budget.charge(event)
    return budget, charged


@settings(max_examples=200, deadline=None)
@given(epsilons, st.lists(epsilons.map(laplace), max_size=9))
def test_basic_filters_are_never_exceeded(epsilon: Fraction, wanted: list[Event]) -> None:
    budget, charged = charged_to(Budget(epsilon=epsilon), wanted)
    assert sum(map(pure_epsilon, charged), ZERO) == budget.charged.epsilon or not charged
    assert sum(map(pure_epsilon, charged), ZERO) <= epsilon


@settings(max_examples=200, deadline=None)
@given(epsilons, deltas, st.lists(any_events, max_size=9))
def test_one_of_the_two_bounds_always_holds(
    epsilon: Fraction, delta: Fraction, wanted: list[Event]
) -> None:
    budget = Budget(epsilon=epsilon, delta=delta, set_aside=delta / 2)
    _, charged = charged_to(budget, wanted)
    by_rho = _is_within_rho(charged, rho_for_budget(epsilon, delta / 2), delta / 2)
    assert by_rho or sum(map(pure_epsilon, charged), ZERO) <= epsilon


def _is_within_rho(charged: list[Event], rho_limit: Fraction, aside: Fraction) -> bool:
    rho = taken = ZERO
    for event in charged:
        if isinstance(event, ApproximateEvent):
            rho, taken = rho + event.epsilon**2 / 2, taken + event.delta
        else:
            rho += zcdp_rho(event)
    return rho <= rho_limit and taken <= aside


@settings(max_examples=200, deadline=None)
@given(epsilons, deltas, st.lists(any_events, max_size=9), any_events)
def test_what_fits_can_be_read_from_what_remains(
    epsilon: Fraction, delta: Fraction, wanted: list[Event], event: Event
) -> None:
    start = Budget(epsilon=epsilon, delta=delta, set_aside=delta / 2)
    budget, _ = charged_to(start, wanted)
    left, price = budget.remaining(), budget.price(event)
    fits = price.epsilon <= left.epsilon or price.rho <= left.rho
    assert budget.affords(event) is (fits and price.delta <= left.delta)


@settings(max_examples=200, deadline=None)
@given(epsilons, deltas, st.lists(simple_events, max_size=9), simple_events)
def test_a_delta_never_affords_less(
    epsilon: Fraction, delta: Fraction, wanted: list[Event], event: Event
) -> None:
    """Neither than sums of epsilon alone, nor than sums of rho alone."""
    everything = [*wanted, event]
    either = Budget(epsilon=epsilon, delta=delta)
    if _is_within_rho(everything, rho_for_budget(epsilon, delta), ZERO) or (
        _pure_sum(everything) <= epsilon
    ):
        assert charged_to(either, everything)[1] == everything


def _pure_sum(events: list[Event]) -> Fraction | float:
    try:
        return sum(map(pure_epsilon, events), ZERO)
    except UnsupportedEventError:
        return inf


def test_one_count_of_a_third_of_epsilon_fits() -> None:
    budget = Budget(epsilon=3, delta=1e-6)
    assert zcdp_rho(laplace(1)) > budget.remaining().rho
    for left in (2, 1, 0):
        budget = budget.charge(laplace(1))
        assert budget.remaining() == Remaining(epsilon=Fraction(left), rho=ZERO, delta=ZERO)
    assert not budget.affords(pure(TINY))


# ----------------------------------------------------------------------------- the last digit


def test_the_last_digit_of_epsilon_decides() -> None:
    for budget in (Budget(epsilon=3), Budget(epsilon=3, delta=1e-6)):
        after = budget.charge(laplace(2))
        assert after.charge(pure(1)).remaining().epsilon == 0
        one_more = pure(1 + TINY)
        assert not after.affords(one_more)
        with pytest.raises(BudgetError, match=r"cost ε = 1.*, and ε = 1 .*, which is 1e-30 too"):
            after.charge(one_more)


def test_the_last_digit_of_rho_decides() -> None:
    budget = Budget(epsilon=3, delta=1e-6).charge(gaussian(5))
    left = budget.remaining().rho
    assert left == rho_for_budget(Fraction(3), tenth(6)) - Fraction(1, 50)
    assert budget.charge(ConcentratedEvent(rho=left)).remaining().rho == 0
    one_more = ConcentratedEvent(rho=left + TINY)
    assert not budget.affords(one_more)
    with pytest.raises(BudgetError, match=r"which is 1e-30 too little\. Use a smaller"):
        budget.charge(one_more)


def test_a_refusal_says_what_was_short_in_both_units() -> None:
    budget = Budget(epsilon=3, delta=1e-6).charge(laplace(2))
    with pytest.raises(BudgetError) as refused:
        budget.charge(laplace("1.5"))
    assert str(refused.value) == (
        "Not enough budget: this would cost ε = 1.5 or ρ = 1.125, and ε = 1 or ρ = 0 remains. "
        "Use a smaller epsilon. Nothing was spent."
    )
    assert refused.value.requested == {"epsilon": Fraction(3, 2), "rho": Fraction(9, 8)}
    assert refused.value.remaining == {"epsilon": 1, "rho": 0}


def test_charging_leaves_the_old_state_alone() -> None:
    before = Budget(epsilon=3)
    assert before.charge(pure(1)).charged.epsilon == 1
    assert before.charged == Charge()


def test_floats_mean_what_they_print() -> None:
    budget = Budget(epsilon=0.3)
    for _ in range(3):
        budget = budget.charge(pure("0.1"))
    assert budget.remaining().epsilon == 0


# ---------------------------------------------------------------------------- mixing the bounds


def test_the_concentrated_filter_is_the_default_with_a_delta() -> None:
    budget = Budget(epsilon=3, delta=1e-6)
    assert budget.filter is Filter.CONCENTRATED
    assert budget.charge(gaussian(5)).charged == Charge(epsilon=inf, rho=Fraction(1, 50))
    assert Budget(epsilon=3).filter is Filter.BASIC
    assert Budget(epsilon=3, delta=1e-6, filter="basic").filter is Filter.BASIC


def test_a_gaussian_ends_the_use_of_sums_for_good() -> None:
    budget = Budget(epsilon=3, delta=1e-6)
    after = budget.charge(gaussian(5))
    assert after.remaining().epsilon == 0
    assert budget.affords(laplace(1))
    assert not after.affords(laplace(1))
    assert after.affords(laplace("0.5"))  # a rho of 0.125


def test_after_rho_is_exceeded_no_gaussian_fits() -> None:
    budget = Budget(epsilon=3, delta=1e-6).charge(laplace(1))
    assert not budget.affords(gaussian(10**6))
    assert budget.affords(laplace(2))


@pytest.mark.parametrize("first", [0, 1])
def test_laplace_and_gaussian_mix_in_any_order_within_rho(first: int) -> None:
    events = [laplace("0.5"), gaussian(5)]
    budget = Budget(epsilon=3, delta=1e-6)
    for event in (events[first], events[1 - first]):
        budget = budget.charge(event)
    assert budget.charged == Charge(epsilon=inf, rho=Fraction(1, 8) + Fraction(1, 50))


def test_one_event_of_both_kinds_is_held_by_rho_alone() -> None:
    budget = Budget(epsilon=3, delta=1e-6)
    assert budget.affords(laplace(1) * 3)
    assert not budget.affords(ComposedEvent(events=(laplace(1), gaussian(10**6))))
    assert budget.affords(ComposedEvent(events=(laplace("0.5"), gaussian(5))))


def test_small_questions_go_further_with_a_delta() -> None:
    """What the concentrated filter is for."""
    basic = Budget(epsilon=3)
    concentrated = Budget(epsilon=3, delta=1e-6)
    small = laplace("0.01") * 1000
    assert not basic.affords(small)
    assert concentrated.affords(small)
    assert compose(small, 1e-6).epsilon < 3


def test_releases_with_a_delta_need_some_set_aside() -> None:
    event = ApproximateEvent(epsilon=Fraction(1, 10), delta=tenth(8))
    with pytest.raises(BudgetError, match="would cost δ"):
        Budget(epsilon=3, delta=1e-6).charge(event)
    budget = Budget(epsilon=3, delta=1e-6, set_aside=5e-8)
    assert budget.remaining().rho == rho_for_budget(Fraction(3), tenth(6) - 5 * tenth(8))
    after = budget.charge(event * 5)
    assert after.remaining().delta == after.remaining().epsilon == 0
    assert not budget.affords(event * 6)
    assert not budget.charge(laplace(1)).affords(event)


def test_a_basic_filter_with_a_delta_adds_both() -> None:
    budget = Budget(epsilon=1, delta=1e-6, filter=Filter.BASIC)
    budget = budget.charge(ApproximateEvent(epsilon=Fraction(1, 2), delta=tenth(6)))
    assert budget.affords(pure("0.5"))
    assert not budget.affords(ApproximateEvent(epsilon=ZERO, delta=TINY))
    with pytest.raises(UnsupportedEventError):
        budget.charge(gaussian(1))


@given(epsilons, deltas, approximate_events)
def test_an_event_without_its_delta_is_charged_as_a_pure_one(
    epsilon: Fraction, delta: Fraction, event: ApproximateEvent
) -> None:
    bare = ApproximateEvent(epsilon=event.epsilon, delta=ZERO)
    assert Budget(epsilon=epsilon, delta=delta).price(bare).epsilon == basic_cost(bare)[0]
    assert Budget(epsilon=epsilon, delta=delta).price(event).epsilon == inf


@given(epsilons, deltas)
def test_conversion_to_rho_rounds_down_and_back_up(epsilon: Fraction, delta: Fraction) -> None:
    rho = rho_for_budget(epsilon, delta)
    assert epsilon * Fraction(999, 1000) <= epsilon_from_rho(rho, delta) <= epsilon


BAD = [0, -1, float("nan"), float("inf"), True, "3", None]


@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_an_epsilon_that_is_none_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        Budget(epsilon=bad)


@pytest.mark.parametrize("bad", [1, -1, float("nan"), True, "0"], ids=repr)
def test_a_delta_that_is_none_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="delta"):
        Budget(epsilon=Fraction(1), delta=bad)


def test_filters_without_their_delta_are_refused() -> None:
    with pytest.raises(ParameterError, match="delta"):
        Budget(epsilon=Fraction(1), filter=Filter.CONCENTRATED)
    with pytest.raises(ParameterError, match="set_aside"):
        Budget(epsilon=Fraction(1), delta=tenth(6), set_aside=tenth(6))
    with pytest.raises(ParameterError, match="set_aside must be 0 for the basic filter"):
        Budget(epsilon=Fraction(1), delta=tenth(6), set_aside=tenth(7), filter="basic")
    for nonsense in ("laplace", 3, True):
        with pytest.raises(ParameterError, match="filter must be 'basic' or 'concentrated'"):
            Budget(epsilon=1, filter=nonsense)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [3, None, Fraction(1)], ids=repr)
def test_a_state_that_is_none_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="charged"):
        Budget(epsilon=1, charged=bad)


@pytest.mark.parametrize("bad", [-1, -inf, float("nan"), "1", None], ids=repr)
def test_a_charge_that_is_none_is_refused(bad: Any) -> None:
    for name in ("epsilon", "rho", "delta"):
        with pytest.raises(ParameterError, match=name):
            Charge(**{name: bad})


def test_what_is_no_event_is_not_charged() -> None:
    with pytest.raises(ParameterError, match="event"):
        Budget(epsilon=Fraction(1)).charge(0.5)  # type: ignore[arg-type]
