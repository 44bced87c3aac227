"""Extreme events and nonsense: a price or a refusal of our own, and nothing else."""

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from math import isnan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import (
    ApproximateEvent,
    ComposedEvent,
    ConcentratedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    FixedSampleEvent,
    GaussianEvent,
    LaplaceEvent,
    PoissonSampledEvent,
    PureEvent,
    RepeatedEvent,
    advanced_epsilon,
    approximate_epsilon,
    basic_cost,
    calibrate,
    compose,
    epsilon_from_rdp,
    epsilon_from_rho,
    event_from_record,
    for_group,
    gdp_delta,
    gdp_epsilon,
    gdp_mu_squared,
    heterogeneous_epsilon,
    optimal_epsilon,
    pld_delta,
    pld_epsilon,
    pure_epsilon,
    rdp_epsilon,
    record_from_event,
    rho_for_budget,
    zcdp_rho,
)
from discreet.errors import DiscreetError, ParameterError
from tests.accounting.made import discrete_laplace, gaussian, laplace, pure, tenth

powers = st.one_of(st.integers(-100, 100), st.integers(-6, 6))
numbers = st.builds(
    lambda power, digit: min(Fraction(10) ** power * digit, Fraction(10**100)),
    powers,
    st.sampled_from([Fraction(1), Fraction(10, 3), Fraction(9)]),
)
wholes = st.one_of(st.integers(1, 40), st.integers(0, 15).map(lambda power: 10**power))
probabilities = st.one_of(
    st.integers(0, 100).map(tenth), st.sampled_from([1 - tenth(30), 1 - tenth(9), Fraction(1, 2)])
)
deltas = st.one_of(
    st.just(Fraction(0)), st.integers(1, 300).map(tenth), st.just(1 - tenth(30)), probabilities
).filter(lambda delta: delta < 1)
event_deltas = st.one_of(st.integers(1, 100).map(tenth), st.just(1 - tenth(30)))

simple = st.one_of(
    st.builds(LaplaceEvent, sensitivity=numbers, scale=numbers),
    st.builds(DiscreteLaplaceEvent, sensitivity=wholes, scale=numbers),
    st.builds(GaussianEvent, noise_multiplier=numbers),
    st.builds(DiscreteGaussianEvent, sensitivity_squared=numbers, variance=numbers, answers=wholes),
    st.builds(DiscreteGaussianEvent, sensitivity_squared=numbers, variance=numbers),
    st.builds(ExponentialEvent, epsilon=numbers),
    st.builds(PureEvent, epsilon=numbers),
    st.builds(ApproximateEvent, epsilon=numbers, delta=event_deltas),
    st.builds(ConcentratedEvent, rho=numbers),
)
fixed_samples = st.builds(
    lambda event, sizes: FixedSampleEvent(event=event, size=min(sizes), population=max(sizes)),
    simple,
    st.tuples(wholes, wholes),
)
sampled = st.builds(PoissonSampledEvent, event=simple, probability=probabilities)
kinds = st.one_of(simple, simple, sampled, fixed_samples)
extremes = st.lists(st.builds(RepeatedEvent, event=kinds, count=wholes), min_size=1, max_size=3)


@settings(max_examples=60, deadline=None)
@given(extremes, deltas)
def test_extreme_events_are_priced_or_refused(events: list[Event], delta: Fraction) -> None:
    with suppress(DiscreetError):
        price = compose(events, delta)
        assert price.epsilon >= 0
        assert str(price)


@settings(max_examples=25, deadline=None)
@given(extremes, deltas.filter(bool), st.one_of(numbers, st.just(Fraction(0))))
def test_every_accountant_prices_or_refuses_the_extreme(
    events: list[Event], delta: Fraction, epsilon: Fraction
) -> None:
    together = ComposedEvent(events=tuple(events))
    prices: list[Callable[[], Any]] = [
        lambda: pld_epsilon(events, delta),
        lambda: pld_delta(events, epsilon),
        lambda: gdp_epsilon(events, delta),
        lambda: gdp_delta(events, epsilon),
        lambda: epsilon_from_rdp(events, delta),
        lambda: approximate_epsilon(events, delta),
        lambda: epsilon_from_rho(zcdp_rho(together), delta),
        lambda: rdp_epsilon(together, 1 + epsilon),
        lambda: pure_epsilon(for_group(together, 3)),
    ]
    for price in prices:
        with suppress(DiscreetError):
            found = price()
            assert found >= 0
            assert not isnan(found)


KNOWN = [
    pure("0.1") * 10**15,
    gaussian(Fraction(10) ** 100),
    gaussian(Fraction(1, 10**100)),
    ComposedEvent(events=(pure(1) * 10**15, laplace("1e-50"))),
    DiscreteGaussianEvent(sensitivity_squared=Fraction(10**100), variance=Fraction(1)),
    FixedSampleEvent(event=gaussian("1e-90"), size=1, population=10**15),
    PoissonSampledEvent(event=gaussian(1), probability=1 - tenth(30)),
]


@pytest.mark.parametrize("event", KNOWN, ids=lambda event: event.tag)
def test_what_one_accountant_cannot_hold_is_priced_by_another(event: Event) -> None:
    assert compose(event, 1e-6).epsilon >= 0


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: pure(10**400_000), "epsilon"),
        (lambda: pure(Fraction(10**5000 + 1, 10**5000)), "epsilon"),
        (lambda: pure(tenth(101)), "epsilon"),
        (lambda: gaussian(Fraction(10) ** 400), "noise_multiplier"),
        (lambda: gaussian(tenth(400)), "noise_multiplier"),
        (lambda: pure(1) * 10**18, "count"),
        (lambda: compose(pure(1) * 10**15 * 2, 1e-6), "count"),
        (lambda: compose([pure(1) * 10**15, pure(1)], 1e-6), "count"),
        (lambda: discrete_laplace(1, 10**101), "sensitivity"),
        (lambda: for_group(gaussian(tenth(99)), 100), "noise_multiplier"),
    ],
)
def test_numbers_beyond_their_range_are_refused_by_name(
    make: Callable[[], object], name: str
) -> None:
    with pytest.raises(ParameterError, match=f"^{name} must"):
        make()


class Mechanism:
    """What people hand in instead of its event."""

    event = laplace(1)


def test_a_mechanism_is_refused_with_what_to_write() -> None:
    mechanism: Any = Mechanism()
    with pytest.raises(ParameterError, match=r"an event or several \(write mechanism\.event\)"):
        compose(mechanism)
    for price in (lambda: compose([mechanism]), lambda: for_group(mechanism, 2)):
        with pytest.raises(ParameterError, match=r"must be an event \(write mechanism\.event\)"):
            price()


NONSENSE: list[Any] = [
    3,
    -0.1,
    "x",
    None,
    [3],
    {"tag": 1, 2: 3},
    (1,),
    (1, 2, 3),
    ("x", "y"),
    object(),
]

TAKES_ANYTHING: dict[str, Callable[[Any], object]] = {
    "compose": lambda bad: compose(bad, 1e-6),
    "for_group": lambda bad: for_group(bad, 2),
    "pure_epsilon": pure_epsilon,
    "basic_cost": basic_cost,
    "zcdp_rho": zcdp_rho,
    "gdp_mu_squared": gdp_mu_squared,
    "rdp_epsilon": lambda bad: rdp_epsilon(bad, 2),
    "epsilon_from_rdp": lambda bad: epsilon_from_rdp(bad, tenth(6)),
    "gdp_epsilon": lambda bad: gdp_epsilon(bad, tenth(6)),
    "pld_epsilon": lambda bad: pld_epsilon(bad, tenth(6)),
    "pld_delta": lambda bad: pld_delta(bad, 1),
    "approximate_epsilon": lambda bad: approximate_epsilon(bad, tenth(6)),
    "optimal_epsilon": lambda bad: optimal_epsilon(bad, 2, tenth(6)),
    "optimal_epsilon, count": lambda bad: optimal_epsilon((Fraction(1), Fraction(0)), bad, bad),
    "heterogeneous_epsilon": lambda bad: heterogeneous_epsilon(bad, tenth(6)),
    "advanced_epsilon": lambda bad: advanced_epsilon(bad, bad, bad),
    "epsilon_from_rho": lambda bad: epsilon_from_rho(bad, bad),
    "rho_for_budget": lambda bad: rho_for_budget(bad, bad),
    "event_from_record": event_from_record,
    "record_from_event": record_from_event,
    "calibrate": lambda bad: calibrate(bad, epsilon=1),
    "calibrate, event": lambda bad: calibrate(lambda _: bad, epsilon=1),
    "calibrate, epsilon": lambda bad: calibrate(gaussian, epsilon=bad, delta=bad),
}


@pytest.mark.parametrize("bad", NONSENSE, ids=lambda bad: type(bad).__name__)
@pytest.mark.parametrize("function", TAKES_ANYTHING.values(), ids=TAKES_ANYTHING.keys())
def test_nonsense_is_refused_with_an_error_of_ours(
    function: Callable[[Any], object], bad: Any
) -> None:
    with pytest.raises(DiscreetError):
        function(bad)
