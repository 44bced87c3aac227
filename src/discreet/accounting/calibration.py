"""Calibration: the noise for a target cost. It is always rounded towards more noise."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import exp, inf, isinf, nextafter

from discreet.accounting.compose import compose
from discreet.accounting.events import LARGEST_NUMBER, LEAST_NUMBER, Event
from discreet.accounting.gdp import delta_from_mu, gaussian_delta
from discreet.accounting.rounding import (
    TRUST,
    float_down,
    float_up,
    least_float,
    log_up,
    positive_delta,
    short_up,
)
from discreet.errors import ParameterError
from discreet.parameters import rational


def analytic_gaussian_multiplier(
    epsilon: Fraction, delta: Fraction, *, variation: Fraction = Fraction(0)
) -> Fraction:
    """Return the smallest noise multiplier, rounded up, that makes a Gaussian (epsilon, delta)-DP.

    `variation` is the total variation distance between the noise that is drawn and a rounding of
    the continuous Gaussian. The result satisfies delta(epsilon) + (1 + e^epsilon) variation ≤ delta
    and exceeds the smallest real one by a factor of at most 1 + 2^-30 (Balle, Wang 2018,
    Algorithm 1, with the bracket on the safe side).
    """
    epsilon = rational("epsilon", epsilon, above=0)
    delta = positive_delta(delta)
    variation = rational("variation", variation, least=0, below=1)
    return _analytic_multiplier(epsilon, delta, variation)


@lru_cache(maxsize=1024)
def _analytic_multiplier(epsilon: Fraction, delta: Fraction, variation: Fraction) -> Fraction:
    allowed = _left_for_the_continuous(epsilon, delta, variation)
    epsilon_down = float_down(epsilon)
    least = least_float(lambda m: _delta_with(m, epsilon_down) <= allowed)
    multiplier = short_up(least)
    while gaussian_delta(epsilon, 1 / multiplier**2) > allowed:
        multiplier *= 1 + Fraction(1, 2**32)
    return multiplier


def classical_gaussian_multiplier_squared(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return 2 ln(1.25/delta) / epsilon², rounded up; proved for epsilon < 1 only.

    Dwork, Roth 2014, Theorem A.1. The analytic multiplier is smaller and has no such limit.
    """
    epsilon = rational("epsilon", epsilon, above=0, below=1)
    delta = positive_delta(delta)
    return 2 * short_up(log_up(Fraction(5, 4) / delta), bits=50) / epsilon**2


def _left_for_the_continuous(epsilon: Fraction, delta: Fraction, variation: Fraction) -> float:
    """Return delta - (1 + e^epsilon) variation, rounded down, or raise if nothing remains."""
    delta_down = float_down(delta)
    if variation == 0:
        return delta_down
    taken_up = (1 + _exp_up(epsilon)) * float_up(variation) * (1 + TRUST)
    left = (delta_down - taken_up) * (1 - TRUST)
    if taken_up >= 1:
        raise ParameterError(
            "epsilon", epsilon, "must be smaller, because the grid takes all of delta"
        )
    if left <= 0:
        rule = (
            f"must be more than {taken_up:.3g} at this epsilon, because the grid takes that much "
            "(use a smaller epsilon or a larger delta)"
        )
        raise ParameterError("delta", delta, rule)
    return left


def _exp_up(epsilon: Fraction) -> float:
    exponent = float_up(epsilon)
    return inf if exponent > 709 else exp(exponent) * (1 + TRUST)


def _delta_with(multiplier: float, epsilon_down: float) -> float:
    if multiplier == 0.0 or isinf(1 / multiplier):
        return 1.0
    return delta_from_mu(epsilon_down, nextafter(1 / multiplier, inf))


def calibrate(
    make_event: Callable[[Fraction], Event], *, epsilon: object, delta: object = 0
) -> Fraction:
    """Return nearly the least noise for which an event costs at most epsilon.

    `make_event` takes the amount of noise (a scale, a multiplier, a variance) and returns an event.
    More noise must never cost more. The cost of the returned amount was computed and fits. It
    exceeds the least amount by a factor of at most 1 + 2^-20.
    """
    target = rational("epsilon", epsilon, above=0)
    if not callable(make_event):
        raise ParameterError("make_event", make_event, "must be a function from noise to an event")

    def fits(noise: float) -> bool:
        is_sensible = LEAST_NUMBER <= noise <= LARGEST_NUMBER
        return is_sensible and compose(make_event(Fraction(noise)), delta).epsilon <= target

    noise = least_float(fits, relative=2.0**-21)
    if isinf(noise):
        raise ParameterError("epsilon", epsilon, "is below what any amount of this noise costs")
    return Fraction(noise)
