"""Group privacy: the cost of an event for `size` units at once.

An event is converted into one that describes the same release for a group. Every accountant can
compute the cost of that event.
"""

from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from math import expm1

from discreet.accounting.events import (
    MOST_COUNTED,
    ApproximateEvent,
    ComposedEvent,
    ConcentratedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    NoisyMaxEvent,
    PermuteAndFlipEvent,
    PureEvent,
    RandomizedResponseEvent,
    RepeatedEvent,
    SparseVectorEvent,
    StaircaseEvent,
    check_event,
)
from discreet.accounting.rounding import TRUST, float_up
from discreet.errors import ParameterError, UnsupportedEventError
from discreet.parameters import integer


def for_group(event: Event, size: object) -> Event:
    """Return the event for neighbours that differ in up to `size` units."""
    return _for_group(
        check_event("event", event), integer("size", size, least=1, most=MOST_COUNTED)
    )


@singledispatch
def _for_group(event: Event, size: int) -> Event:
    if size == 1:
        return event
    raise UnsupportedEventError(
        event, accountant="group", instead="use the event that is sampled for the group"
    )


@_for_group.register
def _(event: LaplaceEvent, size: int) -> Event:
    return replace(event, sensitivity=event.sensitivity * size)


@_for_group.register
def _(event: DiscreteLaplaceEvent, size: int) -> Event:
    return replace(event, sensitivity=event.sensitivity * size)


@_for_group.register
def _(event: GaussianEvent, size: int) -> Event:
    return GaussianEvent(noise_multiplier=event.noise_multiplier / size)


@_for_group.register
def _(event: DiscreteGaussianEvent, size: int) -> Event:
    return replace(event, sensitivity_squared=event.sensitivity_squared * size**2)


@_for_group.register
def _(event: ExponentialEvent, size: int) -> Event:
    # Privacy losses of steps with range epsilon each have a range of size · epsilon in total.
    return ExponentialEvent(epsilon=event.epsilon * size)


@_for_group.register
def _(
    event: StaircaseEvent
    | PermuteAndFlipEvent
    | NoisyMaxEvent
    | SparseVectorEvent
    | RandomizedResponseEvent
    | PureEvent,
    size: int,
) -> Event:
    return PureEvent(epsilon=event.epsilon * size)  # Dwork, Roth 2014, Theorem 2.2


@_for_group.register
def _(event: ConcentratedEvent, size: int) -> Event:
    return ConcentratedEvent(rho=event.rho * size**2)  # Bun, Steinke 2016, Proposition 1.9


@_for_group.register
def _(event: ApproximateEvent, size: int) -> Event:
    # Vadhan 2017, Lemma 2.2: delta (1 + e^epsilon + ... + e^((size-1) epsilon)).
    delta = event.delta * _geometric_sum_up(event.epsilon, size)
    if delta >= 1:
        raise ParameterError("size", size, "leaves a delta of 1 or more (use a smaller group)")
    return ApproximateEvent(epsilon=event.epsilon * size, delta=delta)


@_for_group.register
def _(event: RepeatedEvent, size: int) -> Event:
    return _for_group(event.event, size) * event.count


@_for_group.register
def _(event: ComposedEvent, size: int) -> Event:
    return ComposedEvent(events=tuple(_for_group(each, size) for each in event.events))


def _geometric_sum_up(epsilon: Fraction, size: int) -> Fraction:
    """Return (e^(size epsilon) - 1)/(e^epsilon - 1), rounded up to a dyadic fraction."""
    e = float_up(epsilon)
    if e * size > 700:
        raise ParameterError(
            "size", size, "makes e^(size · epsilon) too large (use a smaller group)"
        )
    if e == 0 or size == 1:
        return Fraction(size)
    # The quotient grows in epsilon, so rounding epsilon up is safe; e · size ≤ 700 in the exponent.
    return Fraction(expm1(e * size) / expm1(e) * (1 + (8 + e * size) * TRUST))
