"""Pure differential privacy: exact fractions, basic composition, fully adaptive."""

from fractions import Fraction
from functools import singledispatch
from math import exp, expm1, log, log1p

from discreet.accounting.events import (
    ComposedEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    FixedSampleEvent,
    LaplaceEvent,
    NoisyMaxEvent,
    PermuteAndFlipEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    RepeatedEvent,
    SparseVectorEvent,
    StaircaseEvent,
    counted,
)
from discreet.accounting.rounding import TRUST, float_up
from discreet.errors import UnsupportedEventError


@singledispatch
def pure_epsilon(event: Event) -> Fraction:
    """Return the smallest epsilon for which the event is proved epsilon-DP."""
    raise UnsupportedEventError(
        event, accountant="pure", instead="give a delta above 0, or use Laplace noise"
    )


@pure_epsilon.register
def _(event: LaplaceEvent | DiscreteLaplaceEvent) -> Fraction:
    # | ‖z - x‖₁ - ‖z - x'‖₁ | ≤ ‖x - x'‖₁ ≤ sensitivity; the privacy loss is that / scale.
    return event.sensitivity / event.scale


@pure_epsilon.register
def _(
    event: StaircaseEvent
    | ExponentialEvent
    | PermuteAndFlipEvent
    | NoisyMaxEvent
    | SparseVectorEvent
    | RandomizedResponseEvent
    | PureEvent,
) -> Fraction:
    return event.epsilon


@pure_epsilon.register
def _(event: PoissonSampledEvent) -> Fraction:
    # Balle, Barthe, Gaboardi 2018, Theorem 8.
    return _amplified(pure_epsilon(event.event), event.probability)


@pure_epsilon.register
def _(event: FixedSampleEvent) -> Fraction:
    # Balle, Barthe, Gaboardi 2018, Theorem 9.
    return _amplified(pure_epsilon(event.event), Fraction(event.size, event.population))


@pure_epsilon.register
def _(event: RepeatedEvent | ComposedEvent) -> Fraction:
    # Dwork, Roth 2014, Theorem 3.16.
    return sum((pure_epsilon(each) * k for each, k in counted(event).items()), Fraction(0))


def _amplified(epsilon: Fraction, probability: Fraction) -> Fraction:
    """Return ln(1 + p (e^epsilon - 1)), rounded up to a dyadic fraction."""
    if probability == 1:
        return epsilon
    x, p = float_up(epsilon), float_up(probability)
    # Both forms grow in x and p. The first is made of positive numbers, so a few roundings are all
    # it loses; the sum in the second may cancel, and is given the rounding of its larger term.
    result = log1p(p * expm1(x)) if x < 700 else x + log(p + (1 - p) * exp(-x)) + x * TRUST
    # The last term covers the absolute error of subnormal numbers.
    return min(epsilon, Fraction(result * (1 + 4 * TRUST) + 1e-320))
