"""Group privacy: the same release, seen by several units at once."""

from fractions import Fraction
from math import exp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import (
    ApproximateEvent,
    ConcentratedEvent,
    DiscreteGaussianEvent,
    Event,
    ExponentialEvent,
    compose,
    for_group,
    pure_epsilon,
    zcdp_rho,
)
from discreet.errors import ParameterError, UnsupportedEventError
from tests.accounting.made import (
    ONE_OF_EACH,
    discrete_laplace,
    epsilons,
    gaussian,
    laplace,
    pure_events,
    tenth,
)

SAMPLED = {"poisson-sampled/1", "fixed-sample/1"}


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: event.tag)
def test_every_kind_is_turned_or_refused(event: Event) -> None:
    assert for_group(event, 1) is not None
    if event.tag in SAMPLED:
        with pytest.raises(UnsupportedEventError, match="sampled"):
            for_group(event, 2)
    else:
        assert compose(for_group(event, 2), 1e-6).epsilon > compose(event, 1e-6).epsilon


@given(pure_events, st.integers(1, 20))
def test_pure_epsilon_is_multiplied(event: Event, size: int) -> None:
    assert pure_epsilon(for_group(event * 3, size)) == 3 * size * pure_epsilon(event)


@given(st.integers(1, 20))
def test_rho_grows_with_the_square(size: int) -> None:
    noisy = DiscreteGaussianEvent(sensitivity_squared=Fraction(2), variance=Fraction(9))
    for event in (gaussian(3), noisy, ConcentratedEvent(rho=Fraction(1, 7))):
        assert zcdp_rho(for_group(event, size)) == size**2 * zcdp_rho(event)


def test_noise_keeps_its_kind() -> None:
    for event in (laplace(1), discrete_laplace(1, 4), ExponentialEvent(epsilon=Fraction(1))):
        assert type(for_group(event, 3)) is type(event)


@given(epsilons, st.integers(2, 9))
def test_deltas_grow_by_a_geometric_sum(epsilon: Fraction, size: int) -> None:
    group = for_group(ApproximateEvent(epsilon=epsilon, delta=tenth(30)), size)
    assert isinstance(group, ApproximateEvent)
    true = sum(exp(float(epsilon) * step) for step in range(size)) * 1e-30
    assert float(group.delta) == pytest.approx(true, rel=1e-12)
    assert group.epsilon == size * epsilon


def test_a_group_too_large_for_its_delta_is_refused() -> None:
    event = ApproximateEvent(epsilon=Fraction(1), delta=tenth(6))
    for size in (20, 10_000):
        with pytest.raises(ParameterError, match="smaller group"):
            for_group(event, size)


@pytest.mark.parametrize("bad", [0, -1, 1.5, float("nan"), True, "2", None], ids=repr)
def test_a_size_that_is_none_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="size"):
        for_group(laplace(1), bad)
