"""Rényi differential privacy: one curve of epsilon over the order alpha for each event.

A curve is an array of upper bounds, one for each alpha > 1. Curves add up (Mironov 2017,
Proposition 1) and are converted to (epsilon, delta) at the best order.
"""

from collections.abc import Callable, Iterable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, singledispatch
from math import comb, inf

import numpy as np
from scipy.special import gammaln, logsumexp

from discreet.accounting.approximate import Floats
from discreet.accounting.events import (
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
    check_event,
    check_events,
    counted,
)
from discreet.accounting.gdp import gdp_mu_squared
from discreet.accounting.pure import pure_epsilon
from discreet.accounting.rounding import TRUST, float_up, log_up, positive_delta
from discreet.accounting.zcdp import zcdp_rho
from discreet.errors import UnsupportedEventError
from discreet.parameters import rational

ORDERS: Floats = np.union1d(1 + np.geomspace(2.0**-7, 2.0**17, 400), np.arange(2.0, 65.0))
"""The orders among which the best is chosen. Any set gives a valid cost."""

MOST_ALPHA = 10**6
"""The largest order."""

NODES: Floats = np.union1d(np.arange(2.0, 65.0), np.round(np.geomspace(64, 1024, 48)))
"""Whole orders at which sampled Gaussians are computed; between them, by convexity."""


def rdp_epsilon(event: Event, alpha: object) -> float:
    """Return epsilon, rounded up, for which the event is proved (alpha, epsilon)-RDP."""
    # A curve never falls, so an order rounded up is safe.
    order = float_up(rational("alpha", alpha, above=1, most=MOST_ALPHA))
    return float(rdp_curve(check_event("event", event), np.array([order]))[0])


def epsilon_from_rdp(events: Event | Iterable[Event], delta: Fraction) -> float:
    """Return the smallest epsilon over all orders that proves (epsilon, delta)-DP, rounded up.

    Canonne, Kamath, Steinke 2020, Proposition 12.
    """
    log_inverse = log_up(1 / positive_delta(delta))
    curve = rdp_curve(ComposedEvent(events=check_events(events)), ORDERS)
    if not curve.any():
        return 0.0
    x, log_alpha = ORDERS - 1, np.log(ORDERS)
    price = curve + np.log(x) - log_alpha + (log_inverse - log_alpha) / x
    size = curve + np.abs(np.log(x)) + log_alpha + (log_inverse + log_alpha) / x
    prices = price + 8 * TRUST * (1 + size)
    # An order whose cost is NaN proves nothing.
    return max(0.0, float(np.min(np.where(np.isnan(prices), inf, prices))))


@singledispatch
def rdp_curve(event: Event, alphas: Floats) -> Floats:  # noqa: ARG001 - the fallback refuses
    """Return epsilon, rounded up, at each order alpha > 1."""
    raise UnsupportedEventError(
        event, accountant="RDP", instead="compute its cost by (epsilon, delta) or by PLD"
    )


@rdp_curve.register
def _(event: GaussianEvent | DiscreteGaussianEvent | ConcentratedEvent, alphas: Floats) -> Floats:
    # Mironov 2017, Proposition 7; Canonne, Kamath, Steinke 2020, Theorem 14.
    return alphas * float_up(zcdp_rho(event)) * (1 + TRUST)


@rdp_curve.register
def _(event: LaplaceEvent, alphas: Floats) -> Floats:
    # Mironov 2017, Proposition 6; vectors cost no more than a number (docs/proofs/composition.md):
    # (alpha-1) e + ln(alpha/(2 alpha-1) + (alpha-1)/(2 alpha-1) exp(-(2 alpha-1) e))
    epsilon, twice = float_up(pure_epsilon(event)), 2 * alphas - 1
    inner = (alphas + (alphas - 1) * np.exp(-twice * epsilon)) / twice
    return _divided((alphas - 1) * epsilon + np.log(inner), alphas, epsilon)


@rdp_curve.register
def _(event: DiscreteLaplaceEvent, alphas: Floats) -> Floats:
    # With a = e^(-1/scale) and r = a^(2 alpha-1), the sum of p^alpha q^(1-alpha) over the integers
    # is e^((alpha-1) e)/(1+a) · (1 + (1-a) r (1 - r^(S-1))/(1-r) + a^S e^(-2 (alpha-1) e)).
    epsilon, rate = float_up(pure_epsilon(event)), float_up(1 / event.scale)
    decay = (2 * alphas - 1) * rate
    between = np.expm1(-rate) * np.expm1(-decay * float(event.sensitivity - 1)) / -np.expm1(-decay)
    inner = 1 + np.exp(-decay) * between + np.exp(-(2 * alphas - 1) * epsilon)
    moment = (alphas - 1) * epsilon + np.log(inner / (1 + np.exp(-rate)))
    return _divided(moment, alphas, epsilon)


@rdp_curve.register
def _(
    event: StaircaseEvent
    | PermuteAndFlipEvent
    | NoisyMaxEvent
    | SparseVectorEvent
    | RandomizedResponseEvent
    | PureEvent,
    alphas: Floats,
) -> Floats:
    return _response_curve(pure_epsilon(event), alphas)


@rdp_curve.register
def _(event: ExponentialEvent, alphas: Floats) -> Floats:
    concentrated = alphas * float_up(zcdp_rho(event)) * (1 + TRUST)
    return np.minimum(concentrated, _response_curve(event.epsilon, alphas))


@rdp_curve.register
def _(event: PoissonSampledEvent, alphas: Floats) -> Floats:
    if float_up(event.probability) == 1.0:
        return rdp_curve(event.event, alphas)
    return _sampled_curve(event, event.event, _poisson_moments, event.probability, alphas)


@rdp_curve.register
def _(event: FixedSampleEvent, alphas: Floats) -> Floats:
    share = Fraction(event.size, event.population)
    if float_up(share) == 1.0:
        return rdp_curve(event.event, alphas)
    return _sampled_curve(event, event.event, _fixed_size_moments, share, alphas)


@rdp_curve.register
def _(event: RepeatedEvent | ComposedEvent, alphas: Floats) -> Floats:
    # Mironov 2017, Proposition 1. Each product and each sum is rounded once.
    counts = counted(event)
    curve = sum((rdp_curve(each, alphas) * k for each, k in counts.items()), np.zeros_like(alphas))
    return curve * (1 + (1 + len(counts)) * TRUST)


def _response_curve(epsilon: Fraction, alphas: Floats) -> Floats:
    """Return the curve of randomized response, which no epsilon-DP release exceeds.

    Mironov 2017, Proposition 5, and Kairouz, Oh, Viswanath 2015, Theorem 3.1 for the worst case.
    """
    e = float_up(epsilon)
    moment = (alphas - 1) * e + np.log1p(np.exp(-(2 * alphas - 1) * e)) - np.log1p(np.exp(-e))
    return _divided(moment, alphas, e)


def _divided(moment: Floats, alphas: Floats, epsilon: float) -> Floats:
    """Return moment / (alpha - 1) rounded up, for moments made of terms below 1 + alpha epsilon."""
    slack = 8 * TRUST * (1 + alphas * epsilon)
    return np.minimum(epsilon, (moment + slack) / (alphas - 1) * (1 + TRUST))


# ------------------------------------------------------------------------- sampled Gaussians


MOST_MOMENT = 100.0
"""Up to this mu² the finer gains of a fixed-size sample are computed."""

Moments = Callable[[float, float], Floats]


def _sampled_curve(
    event: Event, inner: Event, moments: Moments, share: Fraction, alphas: Floats
) -> Floats:
    """Return the curve of a Gaussian on a sample, or of a pure release on it."""
    try:
        return _response_curve(pure_epsilon(event), alphas)
    except UnsupportedEventError:
        mu_squared = float_up(_sampled_mu_squared(event, inner))
    at_nodes = moments(float_up(share), mu_squared)
    # (alpha - 1) epsilon(alpha) is convex in alpha and 0 at 1 (van Erven, Harremoës 2014,
    # Corollary 2), so a chord between whole orders lies above it. Past the last one: no bound.
    moment = np.interp(alphas, np.append(1.0, NODES), np.append(0.0, at_nodes), right=inf)
    return np.asarray(moment / (alphas - 1) * (1 + TRUST))


def _sampled_mu_squared(event: Event, inner: Event) -> Fraction:
    try:
        return gdp_mu_squared(inner)
    except UnsupportedEventError as cause:
        raise UnsupportedEventError(
            event, accountant="RDP", instead="sample only Gaussians or pure epsilon"
        ) from cause


@lru_cache(maxsize=1024)
def _poisson_moments(p: float, mu_squared: float) -> Floats:
    """Return ln Σ_k C(alpha,k) (1-p)^(alpha-k) p^k e^(k(k-1) mu²/2) at NODES, rounded up.

    Mironov, Talwar, Zhang 2019, Section 3.3, for add-remove neighbours, both directions.
    """

    def moment(alpha: float) -> float:
        k = np.arange(alpha + 1)
        weights = (alpha - k) * np.log1p(-p) + k * np.log(p)
        return _log_sum(_log_choose(alpha, k), weights, k * (k - 1) * mu_squared / 2)

    return np.array([moment(alpha) for alpha in NODES])


@lru_cache(maxsize=1024)
def _fixed_size_moments(share: float, mu_squared: float) -> Floats:
    """Return ln(1 + Σ_(j≥2) share^j C(alpha,j) gain_j) at NODES, rounded up; replace neighbours.

    Wang, Balle, Kasiviswanathan 2019: gain_2 = min(4 (e^(e2) - 1), 2 e^(e2)) and gain_j ≤ 2
    e^((j-1) e_j) by Theorem 9, with e_j = j mu²/2; gain_j ≤ 4 sqrt(B(j') B(j'')) by Theorem 27,
    where j' and j'' are the even numbers around j and B(l) = E[(P/Q - 1)^l].
    """
    j = np.arange(2.0, NODES[-1] + 1)
    gains = np.log(2) + j * (j - 1) * mu_squared / 2
    even: list[float] = []
    if mu_squared < MOST_MOMENT:  # above, the plain gains are the least anyway
        gains[0] = min(np.log(4) + np.log(np.expm1(mu_squared)), gains[0])
        even = _even_moments(mu_squared)
    for at in range(1, 2 * len(even) - 2):
        low, high = even[(at + 2) // 2 - 1], even[(at + 3) // 2 - 1]
        gains[at] = min(gains[at], np.log(4) + (low + high) / 2)
    powers = j * np.log(share)

    def moment(alpha: float) -> float:
        used = slice(int(alpha) - 1)
        parts = (gains[used], powers[used], _log_choose(alpha, j[used]))
        return _log_sum(*(np.append(0.0, part) for part in parts))

    return np.array([moment(alpha) for alpha in NODES])


def _even_moments(mu_squared: float) -> list[float]:
    """Return ln E[(P/Q - 1)^l], rounded up, for l = 2, 4, ..., 64 and Gaussians mu apart.

    The sum Σ_i (-1)^i C(l,i) e^(i(i-1) mu²/2) cancels badly, so it is done with 200 digits; what
    they cannot resolve is added.
    """
    with localcontext(Context(prec=200, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        powers = [(Decimal(mu_squared) * i * (i - 1) / 2).exp() for i in range(65)]
        unit = Decimal(10) ** -195
        rows = [[comb(size, i) * powers[i] for i in range(size + 1)] for size in range(2, 65, 2)]
        sums = [sum(row[::2]) - sum(row[1::2]) + unit * sum(row) for row in rows]
        return [float(each.ln()) + 1e-12 * (1 + abs(float(each.ln()))) for each in sums]


def _log_choose(n: float, k: Floats) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _log_sum(*parts: Floats) -> float:
    """Return ln Σ e^(sum of the parts), rounded up."""
    # Each part is good to a few TRUST of its own size or, for ln C(n,k), of ln n! < 6000.
    size = float(np.max(np.sum(np.abs(parts), axis=0))) + 2 * float(gammaln(len(parts[0]) + 2.0))
    return float(logsumexp(np.sum(parts, axis=0))) + 4 * TRUST * (1 + size)
