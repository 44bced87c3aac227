"""Zero-concentrated differential privacy: exact fractions of rho, fully adaptive."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, singledispatch
from math import exp, inf, isinf, isnan, log, log1p, sqrt

from discreet.accounting.approximate import Cost, summed_costs
from discreet.accounting.events import (
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
    counted,
)
from discreet.accounting.pure import pure_epsilon
from discreet.accounting.rounding import (
    TRUST,
    float_down,
    float_up,
    golden_minimum,
    least_float,
    log_up,
    positive_delta,
    short_down,
)
from discreet.errors import UnsupportedEventError
from discreet.parameters import rational


@singledispatch
def zcdp_rho(event: Event) -> Fraction:
    """Return the smallest rho for which the event is proved rho-zCDP."""
    raise UnsupportedEventError(
        event, accountant="zCDP", instead="compute its cost by (epsilon, delta) or by PLD"
    )


@zcdp_rho.register
def _(event: GaussianEvent) -> Fraction:
    return Fraction(1, 2) / event.noise_multiplier**2  # Bun, Steinke 2016, Proposition 1.6


@zcdp_rho.register
def _(event: DiscreteGaussianEvent) -> Fraction:
    # Canonne, Kamath, Steinke 2020, Theorem 14, for vectors too.
    return event.sensitivity_squared / (2 * event.variance)


@zcdp_rho.register
def _(
    event: LaplaceEvent
    | DiscreteLaplaceEvent
    | StaircaseEvent
    | PermuteAndFlipEvent
    | NoisyMaxEvent
    | SparseVectorEvent
    | RandomizedResponseEvent
    | PureEvent,
) -> Fraction:
    return pure_epsilon(event) ** 2 / 2  # Bun, Steinke 2016, Proposition 1.4


@zcdp_rho.register
def _(event: ExponentialEvent) -> Fraction:
    # Privacy losses of range epsilon are epsilon²/8-zCDP by Hoeffding's lemma (Cesar, Rogers 2021,
    # Lemma 3.4): a quarter of what any epsilon-DP release costs.
    return event.epsilon**2 / 8


@zcdp_rho.register
def _(event: PoissonSampledEvent | FixedSampleEvent) -> Fraction:
    # Sampling does not make a Gaussian's rho smaller (Bun et al. 2018); it does for pure epsilon.
    try:
        return pure_epsilon(event) ** 2 / 2
    except UnsupportedEventError as cause:
        raise UnsupportedEventError(
            event, accountant="zCDP", instead="compute the cost of sampled Gaussians by RDP or PLD"
        ) from cause


@zcdp_rho.register
def _(event: ConcentratedEvent) -> Fraction:
    return event.rho


@zcdp_rho.register
def _(event: RepeatedEvent | ComposedEvent) -> Fraction:
    # Bun, Steinke 2016, Lemma 1.7.
    return sum((zcdp_rho(each) * k for each, k in counted(event).items()), Fraction(0))


@singledispatch
def concentrated_cost(event: Event) -> Cost:
    """Return (rho, delta) for which the event is proved delta-approximately rho-zCDP."""
    return zcdp_rho(event), Fraction(0)


@concentrated_cost.register
def _(event: ApproximateEvent) -> Cost:
    # With probability 1 - delta it is an epsilon-DP release (Bun, Steinke 2016, Section 8).
    return event.epsilon**2 / 2, event.delta


@concentrated_cost.register
def _(event: RepeatedEvent | ComposedEvent) -> Cost:
    return summed_costs((concentrated_cost(each), k) for each, k in counted(event).items())


def epsilon_from_rho(rho: Fraction, delta: Fraction) -> float:
    """Return an epsilon, rounded up, such that rho-zCDP implies (epsilon, delta)-DP.

    Canonne, Kamath, Steinke 2020, Proposition 12: any alpha > 1 gives a valid epsilon, and the
    smallest is used.
    """
    rho = rational("rho", rho, least=0)
    delta = positive_delta(delta)
    return 0.0 if rho == 0 else _epsilon_from_rho(float_up(rho), log_up(1 / delta))


def rho_for_budget(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho, rounded down, that implies (epsilon, delta)-DP."""
    return _rho_for_budget(rational("epsilon", epsilon, least=0), positive_delta(delta))


@lru_cache(maxsize=256)
def _rho_for_budget(epsilon: Fraction, delta: Fraction) -> Fraction:
    epsilon_down = float_down(epsilon)
    log_inverse_delta = log_up(1 / delta)

    def affordable(inverse: float) -> bool:
        rho = inf if inverse == 0 else (1 / inverse) * (1 + TRUST)
        return not isinf(rho) and _epsilon_from_rho(rho, log_inverse_delta) <= epsilon_down

    inverse = least_float(affordable)
    rho = Fraction(0) if isinf(inverse) else short_down(1 / inverse, bits=48)
    while epsilon_from_rho(rho, delta) > epsilon_down:
        rho *= 1 - Fraction(1, 2**20)
    return rho


def _epsilon_from_rho(rho_up: float, log_inverse_delta: float) -> float:
    if isinf(rho_up):
        return inf
    epsilon_at = _renyi_line(rho_up, log_inverse_delta)
    # Without the logarithms the best alpha - 1 would be sqrt(ln(1/delta) / rho).
    near = log(sqrt(max(log_inverse_delta, 1e-3) / rho_up))
    epsilon = epsilon_at(golden_minimum(epsilon_at, near - 6, near + 3))
    return inf if isnan(epsilon) else max(0.0, epsilon)


def _renyi_line(rho_up: float, log_inverse_delta: float) -> Callable[[float], float]:
    """Return epsilon as a function of ln(alpha - 1), each value rounded up."""

    def epsilon_at(log_x: float) -> float:
        # alpha rho + ln((alpha - 1)/alpha) + (ln(1/delta) - ln alpha)/(alpha - 1)
        x = exp(log_x)
        alpha, log_alpha = 1 + x, log1p(x)
        terms = (alpha * rho_up, log_x - log_alpha, (log_inverse_delta - log_alpha) / x)
        # log_x stands for the logarithm of x, which exp leaves off by TRUST (1 + |log_x|) at most.
        size = terms[0] + abs(log_x) + log_alpha + (log_inverse_delta + log_alpha) / x
        return sum(terms) + 4 * TRUST * (1 + size)

    return epsilon_at
