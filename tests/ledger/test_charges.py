"""Prices from stored text are those of the events, and sums are never less than exact."""

import json
from collections import Counter
from fractions import Fraction
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import (
    Budget,
    Charge,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    PureEvent,
    event_from_record,
    record_from_event,
)
from discreet.errors import LedgerError, ParameterError, UnsupportedEventError
from discreet.ledger.charges import FINEST, one_event, simple_costs, total_of

FILTERS = [
    Budget(epsilon=1),
    Budget(epsilon=1, delta=1e-6, filter="basic"),
    Budget(epsilon=1, delta=1e-6, set_aside=1e-7),
]

fractions = st.one_of(
    st.fractions(Fraction(1, 10**6), 10**6),
    st.fractions(Fraction(1, 10**100), 10**100),
)
events = st.one_of(
    st.builds(PureEvent, epsilon=st.one_of(st.just(Fraction(0)), fractions)),
    st.builds(
        DiscreteLaplaceEvent,
        sensitivity=st.integers(1, 10**100),
        scale=fractions,
        answers=st.integers(1, 10**15),
    ),
    st.builds(
        DiscreteGaussianEvent,
        sensitivity_squared=fractions,
        variance=fractions,
        answers=st.integers(1, 10**15),
    ),
)


def text_of(*given: Event) -> str:
    return json.dumps([record_from_event(each) for each in given])


def price_of(budget: Budget, *given: Event) -> Charge | None:
    try:
        return budget.price(one_event(given))
    except UnsupportedEventError:
        return None


@pytest.mark.parametrize("budget", FILTERS)
@given(given_events=st.lists(events, min_size=1, max_size=4), count=st.integers(1, 5))
def test_a_price_from_text_is_the_price_of_its_events(
    budget: Budget, given_events: list[Event], count: int
) -> None:
    price = price_of(budget, *given_events)
    paid = {text_of(*given_events): count}
    if price is None:
        with pytest.raises(LedgerError, match="does not know"):
            total_of(budget, paid)
        return
    total = total_of(budget, paid)
    for name in ("epsilon", "rho", "delta"):
        exact, found = getattr(price, name) * count, getattr(total, name)
        assert found == inf if exact == inf else exact <= found <= exact + Fraction(2, 2**FINEST)
    assert total.sampling == price.sampling


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=30))
def test_sums_of_short_fractions_are_exact(ratios: list[tuple[int, int]]) -> None:
    paid = Counter(text_of(PureEvent(epsilon=Fraction(*each))) for each in ratios)
    exact = sum((Fraction(*each) for each in ratios), Fraction(0))
    assert total_of(Budget(epsilon=1), paid).epsilon == exact


def test_sums_of_unlike_fractions_are_rounded_up_and_stay_short() -> None:
    unlike = [Fraction(1, 10**6 + i) for i in range(1, 2000)]
    paid = {text_of(PureEvent(epsilon=each)): 1 for each in unlike}
    total = Fraction(total_of(Budget(epsilon=1), paid).epsilon)
    assert sum(unlike) <= total <= sum(unlike) + Fraction(2001, 2**FINEST)
    assert total.denominator.bit_length() <= 1024


PLAIN = record_from_event(DiscreteLaplaceEvent(sensitivity=1, scale=Fraction(4)))

ODD: list[object] = [
    {**PLAIN, "scale": "0/1"},
    {**PLAIN, "scale": "1/0"},
    {**PLAIN, "scale": "-4/1"},
    {**PLAIN, "scale": "٤/1"},
    {**PLAIN, "scale": "4/1 "},
    {**PLAIN, "scale": "4"},
    {**PLAIN, "scale": 4},
    {**PLAIN, "scale": "9" * 200 + "/1"},
    {**PLAIN, "sensitivity": 0},
    {**PLAIN, "sensitivity": -1},
    {**PLAIN, "sensitivity": True},
    {**PLAIN, "sensitivity": "1/1"},
    {**PLAIN, "sensitivity": 1.0},
    {**PLAIN, "answers": 0},
    {**PLAIN, "answers": 10**16},
    {**PLAIN, "more": 1},
    {**PLAIN, "tag": "discrete-laplace/2"},
    {"tag": "pure/1", "epsilon": "-1/10"},
    {"tag": "pure/1", "epsilon": "1e-1"},
    {"tag": "pure/1", "epsilon": "1/10", "delta": "0/1"},
    {"tag": ["pure/1"]},
    {},
    [],
    None,
    7,
]


@pytest.mark.parametrize("record", ODD, ids=str)
def test_what_is_not_plainly_written_is_left_to_the_events(record: object) -> None:
    text = json.dumps([record])
    for budget in FILTERS:
        assert simple_costs(text, is_basic=budget.filter is FILTERS[0].filter) is None
    try:
        event = event_from_record(record)  # type: ignore[arg-type]
    except ParameterError:
        with pytest.raises(LedgerError, match="does not know"):
            total_of(FILTERS[0], {text: 1})
    else:
        assert total_of(FILTERS[0], {text: 1}) == FILTERS[0].price(event)


def test_events_within_events_are_priced_as_events() -> None:
    nested = ComposedEvent(events=(PureEvent(epsilon=Fraction(1, 4)) * 3,))
    assert simple_costs(text_of(nested), is_basic=True) is None
    assert total_of(FILTERS[0], {text_of(nested): 2}).epsilon == Fraction(3, 2)
