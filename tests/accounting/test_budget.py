"""Budgets: exact to the last digit, and never overspent however the charges are chosen."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import (
    ApproximateEvent,
    Budget,
    Event,
    Filter,
    compose,
    epsilon_from_rho,
    pure_epsilon,
    rho_for_budget,
    zcdp_rho,
)
from discreet.errors import BudgetError, ParameterError, UnsupportedEventError
from tests.accounting.made import deltas, epsilons, gaussian, laplace, pure, simple_events, tenth


def spent_by(budget: Budget, wanted: list[Event]) -> tuple[Budget, list[Event]]:
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


@settings(max_examples=500, deadline=None)
@given(epsilons, st.lists(epsilons.map(laplace), max_size=9))
def test_basic_filters_are_never_overspent(epsilon: Fraction, wanted: list[Event]) -> None:
    budget, charged = spent_by(Budget(epsilon=epsilon), wanted)
    assert sum((pure_epsilon(event) for event in charged), Fraction(0)) == budget.spent <= epsilon


@settings(max_examples=500, deadline=None)
@given(epsilons, deltas, st.lists(simple_events, max_size=9))
def test_concentrated_filters_are_never_overspent(
    epsilon: Fraction, delta: Fraction, wanted: list[Event]
) -> None:
    budget, charged = spent_by(Budget(epsilon=epsilon, delta=delta), wanted)
    rho = sum((zcdp_rho(event) for event in charged), Fraction(0))
    assert rho == budget.spent <= budget.limit
    assert epsilon_from_rho(rho, delta) <= epsilon


def test_the_last_digit_decides() -> None:
    budget = Budget(epsilon=Fraction(3)).charge(laplace(2))
    assert budget.affords(pure(1))
    assert budget.charge(pure(1)).remaining().amount == 0
    one_more = pure(1 + Fraction(1, 10**30))
    assert not budget.affords(one_more)
    with pytest.raises(BudgetError, match="requested epsilon = 1, remaining epsilon = 1"):
        budget.charge(one_more)


def test_charging_leaves_the_old_state_alone() -> None:
    before = Budget(epsilon=Fraction(3))
    assert before.charge(pure(1)).spent == 1
    assert before.spent == 0


def test_floats_mean_what_they_print() -> None:
    budget = Budget(epsilon=0.3)
    for _ in range(3):
        budget = budget.charge(pure(Fraction("0.1")))
    assert budget.epsilon_left() == 0


def test_the_concentrated_filter_is_the_default_with_a_delta() -> None:
    budget = Budget(epsilon=Fraction(3), delta=tenth(6))
    assert budget.filter is Filter.CONCENTRATED
    assert budget.charge(gaussian(5)).spent == Fraction(1, 50)
    assert budget.limit == rho_for_budget(Fraction(3), tenth(6))
    assert Budget(epsilon=Fraction(3)).filter is Filter.BASIC


def test_small_questions_go_further_with_a_delta() -> None:
    """What the concentrated filter is for."""
    basic = Budget(epsilon=Fraction(3))
    concentrated = Budget(epsilon=Fraction(3), delta=tenth(6))
    small = laplace("0.01") * 1000
    assert not basic.affords(small)
    assert concentrated.affords(small)
    assert compose(small, 1e-6).epsilon < 3


def test_releases_with_a_delta_need_some_set_aside() -> None:
    event = ApproximateEvent(epsilon=Fraction(1, 10), delta=tenth(8))
    with pytest.raises(BudgetError, match="delta"):
        Budget(epsilon=Fraction(3), delta=tenth(6)).charge(event)
    budget = Budget(epsilon=Fraction(3), delta=tenth(6), set_aside=5 * tenth(8))
    assert budget.charge(event * 5).remaining().delta == 0
    assert not budget.affords(event * 6)
    assert budget.limit == rho_for_budget(Fraction(3), tenth(6) - 5 * tenth(8))


def test_a_basic_filter_with_a_delta_adds_both() -> None:
    budget = Budget(epsilon=Fraction(1), delta=tenth(6), filter=Filter.BASIC)
    budget = budget.charge(ApproximateEvent(epsilon=Fraction(1, 2), delta=tenth(6)))
    assert budget.affords(pure("0.5"))
    assert not budget.affords(ApproximateEvent(epsilon=Fraction(0), delta=tenth(30)))
    with pytest.raises(UnsupportedEventError):
        budget.charge(gaussian(1))


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
    with pytest.raises(ParameterError, match="filter"):
        Budget(epsilon=Fraction(1), filter="basic")  # type: ignore[arg-type]


def test_what_is_no_event_is_not_charged() -> None:
    with pytest.raises(ParameterError, match="event"):
        Budget(epsilon=Fraction(1)).charge(0.5)  # type: ignore[arg-type]
