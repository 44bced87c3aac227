"""Events for tests: one of every kind, short names for the common ones, and strategies."""

from fractions import Fraction

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
    NoisyMaxEvent,
    PermuteAndFlipEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    RepeatedEvent,
    SparseVectorEvent,
    StaircaseEvent,
)

Number = int | float | str | Fraction


def laplace(epsilon: Number) -> LaplaceEvent:
    return LaplaceEvent(sensitivity=Fraction(1), scale=1 / Fraction(epsilon))


def discrete_laplace(epsilon: Number, sensitivity: int = 1) -> DiscreteLaplaceEvent:
    return DiscreteLaplaceEvent(sensitivity=sensitivity, scale=sensitivity / Fraction(epsilon))


def gaussian(noise_multiplier: Number) -> GaussianEvent:
    return GaussianEvent(noise_multiplier=Fraction(noise_multiplier))


def pure(epsilon: Number) -> PureEvent:
    return PureEvent(epsilon=Fraction(epsilon))


def sampled(event: Event, probability: Number) -> PoissonSampledEvent:
    return PoissonSampledEvent(event=event, probability=Fraction(probability))


def tenth(power: int) -> Fraction:
    return Fraction(1, 10**power)


third = Fraction(1, 3)

ONE_OF_EACH: tuple[Event, ...] = (
    laplace("1/3"),
    DiscreteLaplaceEvent(sensitivity=2, scale=Fraction(7), answers=3),
    StaircaseEvent(epsilon=third),
    gaussian(2),
    DiscreteGaussianEvent(sensitivity_squared=Fraction(5), variance=Fraction(100), answers=2),
    ExponentialEvent(epsilon=third),
    PermuteAndFlipEvent(epsilon=third),
    NoisyMaxEvent(epsilon=third),
    SparseVectorEvent(epsilon=third),
    RandomizedResponseEvent(epsilon=third, categories=4),
    pure(third),
    ApproximateEvent(epsilon=third, delta=tenth(9)),
    ConcentratedEvent(rho=Fraction(1, 50)),
    sampled(gaussian(2), "1/10"),
    FixedSampleEvent(event=gaussian(2), size=10, population=100),
    RepeatedEvent(event=laplace("1/10"), count=3),
    ComposedEvent(events=(laplace("1/10"), pure("1/5"))),
)

epsilons = st.builds(Fraction, st.integers(4, 400), st.sampled_from([100, 143, 188, 199, 200]))
deltas = st.integers(min_value=2, max_value=40).map(tenth)
counts = st.integers(min_value=1, max_value=60)

pure_events = st.one_of(
    epsilons.map(laplace),
    st.builds(discrete_laplace, epsilons, st.integers(1, 9)),
    epsilons.map(pure),
    st.builds(RandomizedResponseEvent, epsilon=epsilons),
    st.builds(ExponentialEvent, epsilon=epsilons),
)
gaussians = epsilons.map(lambda epsilon: gaussian(1 / epsilon))
simple_events = st.one_of(pure_events, gaussians)
mixes = st.lists(st.builds(lambda e, k: e * k, simple_events, st.integers(1, 20)), max_size=5)
