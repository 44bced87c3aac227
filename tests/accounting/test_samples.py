"""Releases on samples: priced up to certainty, and never with two kinds of neighbours at once."""

from fractions import Fraction
from math import nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import (
    Budget,
    DiscreteGaussianEvent,
    Event,
    FixedSampleEvent,
    GaussianEvent,
    LaplaceEvent,
    PoissonSampledEvent,
    PureEvent,
    compose,
    event_from_record,
)
from discreet.errors import ParameterError

NEAR_CERTAIN = [
    *(1 - Fraction(1, 10**digits) for digits in (9, 12, 15, 16, 17, 20, 60)),
    Fraction(nextafter(1.0, 0.0)),
    Fraction("0.9999999999999999"),
]
INNER: list[Event] = [
    GaussianEvent(noise_multiplier=Fraction(1)),
    GaussianEvent(noise_multiplier=Fraction(1, 10)),
    LaplaceEvent(sensitivity=Fraction(1), scale=Fraction(2)),
]


@pytest.mark.parametrize("inner", INNER, ids=str)
@pytest.mark.parametrize("probability", NEAR_CERTAIN, ids=float)
def test_a_nearly_certain_sample_costs_nearly_what_the_whole_costs(
    inner: Event, probability: Fraction
) -> None:
    """A probability that rounds to 1 once made the price of a sample no number, and then 0."""
    whole = compose(inner * 10, delta=1e-6)
    sample = compose(PoissonSampledEvent(event=inner, probability=probability) * 10, delta=1e-6)
    for accountant, epsilon in sample.alternatives.items():
        assert float(epsilon) >= 0.99 * float(whole.epsilon), accountant


@pytest.mark.parametrize("answers", [1, 50])
@pytest.mark.parametrize("probability", [Fraction(1, 100), Fraction(1, 2), 1 - Fraction(1, 10**17)])
def test_a_sample_of_what_our_gaussian_releases_is_priced_as_its_ideal(
    answers: int, probability: Fraction
) -> None:
    """The bridge costs a little more than the ideal, and next to nothing on so fine a grid."""
    drawn = DiscreteGaussianEvent(
        sensitivity_squared=Fraction(2**52), variance=Fraction(2**54), answers=answers
    )
    ideal = GaussianEvent(noise_multiplier=Fraction(2))
    known = compose(PoissonSampledEvent(event=ideal, probability=probability) * 100, delta=1e-6)
    ours = compose(PoissonSampledEvent(event=drawn, probability=probability) * 100, delta=1e-6)
    assert (
        known.alternatives["PLD"] <= ours.epsilon <= float(known.alternatives["PLD"]) * (1 + 1e-6)
    )


def test_a_sample_of_a_small_discrete_gaussian_is_priced_from_its_own_law() -> None:
    """A deviation of 8 integers is still close to the continuous one, and not the same."""
    drawn = DiscreteGaussianEvent(sensitivity_squared=Fraction(1), variance=Fraction(64))
    ideal = GaussianEvent(noise_multiplier=Fraction(8))
    ours = compose(PoissonSampledEvent(event=drawn, probability=Fraction(1, 10)) * 100, delta=1e-6)
    known = compose(PoissonSampledEvent(event=ideal, probability=Fraction(1, 10)) * 100, delta=1e-6)
    assert float(ours.epsilon) == pytest.approx(float(known.epsilon), rel=1e-2)


@given(st.sampled_from(INNER), st.fractions(Fraction(1, 100), 1, max_denominator=10**18))
def test_a_larger_sample_never_costs_less(inner: Event, probability: Fraction) -> None:
    small = compose(PoissonSampledEvent(event=inner, probability=probability / 2), delta=1e-5)
    large = compose(PoissonSampledEvent(event=inner, probability=probability), delta=1e-5)
    assert float(large.epsilon) >= float(small.epsilon) * (1 - 1e-6)


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_budget_refuses_samples_with_different_neighbours(delta: float) -> None:
    poisson = PoissonSampledEvent(
        event=PureEvent(epsilon=Fraction(1, 10)), probability=Fraction(1, 2)
    )
    fixed = FixedSampleEvent(event=PureEvent(epsilon=Fraction(1, 10)), size=1, population=10)
    budget = Budget(epsilon=1, delta=delta).charge(poisson).charge(poisson)
    with pytest.raises(ParameterError, match="must share their neighbours"):
        budget.charge(fixed * 2)
    with pytest.raises(ParameterError, match="must share their neighbours"):
        compose([poisson, fixed], delta=delta)


@pytest.mark.parametrize("number", [1e-400, 0.5])
def test_a_stored_number_is_a_fraction_and_no_float(number: float) -> None:
    """1e-400 is read as 0, and would be free."""
    with pytest.raises(ParameterError, match="not as a float"):
        event_from_record({"tag": "pure/1", "epsilon": number})
