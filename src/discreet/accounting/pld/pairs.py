"""Dominating pairs: for each event, two distributions that bound its privacy loss.

A pair (P, Q) dominates a release if the hockey-stick divergence of any two neighbours is at most
that of P and Q, at every order (Zhu, Dong, Wang 2022, Definition 7). Dominating pairs compose, even
if each release is chosen after the previous answer, as long as the pairs are fixed in advance
(Theorem 10). Only the distribution of the privacy loss ln(P/Q) matters. It is stored in parts:
atoms, and stretches whose mass between two losses has a closed form.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from math import exp, expm1, isqrt
from typing import TypeGuard

import numpy as np
from scipy.special import expit

from discreet.accounting.approximate import Floats
from discreet.accounting.events import (
    ApproximateEvent,
    ComposedEvent,
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
from discreet.accounting.gdp import gdp_mu_squared, ideal_mu_squared, mu_up
from discreet.accounting.pld.stretches import (
    DiscreteLaplaceStretch,
    GaussianStretch,
    LaplaceStretch,
    SampledStretch,
    Stretch,
    sampled_loss,
)
from discreet.accounting.pure import pure_epsilon
from discreet.accounting.rounding import TRUST, float_up
from discreet.errors import UnsupportedEventError

MOST_ATOMS = 4096
"""Discrete Laplace noise with a larger sensitivity is summed in stretches, not number by number."""

MOST_EXACT_VARIANCE = 2**20
"""Discrete Gaussians with a larger variance are bounded by continuous ones (`accounting.gdp`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Atoms:
    """Losses that occur with positive probability: their mass under P and under Q, rounded up."""

    losses: Floats
    p: Floats
    q: Floats

    @property
    def spread(self) -> float:
        mean = self.p @ self.losses
        return float(self.p @ (self.losses - mean) ** 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """P against Q by their loss; unit divides every loss where that is known."""

    parts: tuple[Atoms | Stretch, ...]
    infinite: float = 0.0
    unit: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The pairs for a unit removed and for a unit added; equal for noise that is symmetric."""

    removed: Pair
    added: Pair


@singledispatch
def dominating_pair(event: Event) -> Pair:
    """Return a pair that dominates the event in both directions."""
    raise UnsupportedEventError(event, accountant="PLD", instead="compute its cost by zCDP or RDP")


@dominating_pair.register
def _(
    event: StaircaseEvent
    | ExponentialEvent
    | PermuteAndFlipEvent
    | NoisyMaxEvent
    | SparseVectorEvent
    | PureEvent,
) -> Pair:
    return _response(event.epsilon)


@dominating_pair.register
def _(event: RandomizedResponseEvent) -> Pair:
    return _response(event.epsilon, others=max(0, event.categories - 2))


@dominating_pair.register
def _(event: ApproximateEvent) -> Pair:
    # Kairouz, Oh, Viswanath 2015, Theorem 3.1: randomized response that reveals its input with
    # probability delta.
    atoms = _response_atoms(event.epsilon)
    keep, infinite = 1 - float(event.delta), float_up(event.delta)
    scaled = Atoms(losses=atoms.losses, p=atoms.p * keep * (1 + TRUST), q=atoms.q * keep)
    return Pair(parts=(scaled,), infinite=infinite, unit=event.epsilon or None)


@dominating_pair.register
def _(event: GaussianEvent) -> Pair:
    return gaussian_pair(gdp_mu_squared(event))


@dominating_pair.register
def _(event: LaplaceEvent) -> Pair:
    # Vectors of the same L1 sensitivity are dominated by the number (docs/proofs/composition.md).
    epsilon = float_up(pure_epsilon(event))
    ends = _ends(epsilon, np.array([exp(-epsilon) / 2, 0.5]))
    return Pair(parts=(ends, LaplaceStretch(epsilon=epsilon)), unit=pure_epsilon(event))


@dominating_pair.register
def _(event: DiscreteLaplaceEvent) -> Pair:
    # Vectors of the same L1 sensitivity are dominated by the number (docs/proofs/composition.md).
    epsilon = pure_epsilon(event)
    if event.sensitivity == 1:
        return _response(epsilon)
    if event.sensitivity <= MOST_ATOMS:
        return _discrete_laplace_atoms(event)
    rate = float_up(1 / event.scale)
    inner = 1 / (1 + exp(-rate))
    ends = _ends(float_up(epsilon), np.array([exp(-float_up(epsilon)) * inner, inner]))
    stretch = DiscreteLaplaceStretch(sensitivity=event.sensitivity, rate=rate)
    return Pair(parts=(ends, stretch), unit=epsilon)


@dominating_pair.register
def _(event: DiscreteGaussianEvent) -> Pair:
    # The likelihood ratio of two shifts is monotone, so half-lines are the best tests, and they
    # tell a larger shift from 0 at least as well: the largest integer shift dominates.
    if is_beyond_the_bridge(event):
        raise UnsupportedEventError(
            event, accountant="exact PLD", instead="cross the bridge to the continuous Gaussian"
        )
    shift = isqrt(event.sensitivity_squared.numerator // event.sensitivity_squared.denominator)
    if shift > MOST_ATOMS:
        raise UnsupportedEventError(event, accountant="PLD", instead="compute its cost by zCDP")
    return _discrete_gaussian_atoms(shift, event.variance)


@dominating_pair.register
def _(event: FixedSampleEvent) -> Pair:
    return _response(_pure_or_refused(event))


@dominating_pair.register
def _(event: RepeatedEvent | ComposedEvent) -> Pair:
    # Several releases on one sample: Gaussians are one Gaussian, others go by their pure epsilon.
    try:
        return gaussian_pair(gdp_mu_squared(event))
    except UnsupportedEventError:
        return _response(_pure_or_refused(event))


def dominating_pairs(event: Event) -> Pairs:
    """Return the pairs that dominate the event for a unit removed and for a unit added.

    A discrete Gaussian beyond the bridge is treated as continuous. The caller adds that cost.
    """
    if isinstance(event, PoissonSampledEvent) and float_up(event.probability) < 1.0:
        share, whole = float_up(event.probability), _ideal_pair(event.event)
        if whole.infinite and not isinstance(event.event, DiscreteGaussianEvent):
            raise UnsupportedEventError(event, accountant="PLD", instead="sample pure releases")
        return Pairs(
            removed=_sampled(whole, share, added=False), added=_sampled(whole, share, added=True)
        )
    pair = _ideal_pair(event.event if isinstance(event, PoissonSampledEvent) else event)
    return Pairs(removed=pair, added=pair)


def is_beyond_the_bridge(event: Event) -> TypeGuard[DiscreteGaussianEvent]:
    """Return whether an event is a discrete Gaussian that is treated as continuous."""
    return isinstance(event, DiscreteGaussianEvent) and (
        event.answers > 1 or event.variance > MOST_EXACT_VARIANCE
    )


def _ideal_pair(event: Event) -> Pair:
    if is_beyond_the_bridge(event):
        return gaussian_pair(ideal_mu_squared(event))
    return dominating_pair(event)


def gaussian_pair(mu_squared: Fraction) -> Pair:
    """Return the pair of all Gaussians together."""
    return Pair(parts=(GaussianStretch(mu=mu_up(mu_squared)),))


def _pure_or_refused(event: Event) -> Fraction:
    try:
        return pure_epsilon(event)
    except UnsupportedEventError as cause:
        raise UnsupportedEventError(
            event, accountant="PLD", instead="compute its cost by RDP"
        ) from cause


def _sampled(pair: Pair, share: float, *, added: bool) -> Pair:
    """Return the pair on a Poisson sample (Zhu, Dong, Wang 2022, Theorem 11)."""
    parts = tuple(_sampled_part(part, share, added=added) for part in pair.parts)
    # What a discrete Gaussian's atoms leave out is as rare on a sample, in either direction.
    return Pair(parts=parts, infinite=pair.infinite)


def _sampled_part(part: Atoms | Stretch, share: float, *, added: bool) -> Atoms | Stretch:
    if not isinstance(part, Atoms):
        return SampledStretch(whole=part, share=share, added=added)
    mixed = ((1 - share) * part.q + share * part.p) * (1 + TRUST)
    losses = sampled_loss(part.losses, share)
    if added:
        return Atoms(losses=-losses, p=part.q, q=mixed)
    return Atoms(losses=losses, p=mixed, q=part.q)


def _response(epsilon: Fraction, others: int = 0) -> Pair:
    """Return randomized response, which among two values dominates all that is epsilon-DP.

    Kairouz, Oh, Viswanath 2015, Theorem 3.1. With more than two values, only two reports
    distinguish any two of them. All others have the same probability under both, so their loss is
    0.
    """
    return Pair(parts=(_response_atoms(epsilon, others),), unit=epsilon or None)


def _response_atoms(epsilon: Fraction, others: int = 0) -> Atoms:
    # A response of smaller epsilon is this one seen through another: rounding up dominates.
    e = float_up(epsilon)
    if not others:
        return _ends(e, np.array([expit(-e), expit(e)]))
    truth = 1 / (1 + (others + 1) * exp(-e))
    lie = truth * exp(-e)
    p = np.array([lie, others * lie, truth]) * (1 + 8 * TRUST)
    return Atoms(losses=np.array([-e, 0.0, e]), p=p, q=p[::-1].copy())


def _ends(epsilon: float, p: Floats) -> Atoms:
    p = p * (1 + 4 * TRUST)
    return Atoms(losses=np.array([-epsilon, epsilon]), p=p, q=p[::-1].copy())


def _discrete_laplace_atoms(event: DiscreteLaplaceEvent) -> Pair:
    """Return the losses (S - 2 j)/scale with their exact masses; j counts how far P has to go."""
    size, rate = event.sensitivity, float_up(1 / event.scale)
    j = np.arange(size + 1, dtype=np.float64)
    p = -expm1(-rate) * np.exp(-j * rate) / (1 + exp(-rate))
    p[0], p[-1] = 1 / (1 + exp(-rate)), exp(-size * rate) / (1 + exp(-rate))
    p *= 1 + 8 * TRUST * (1 + size * rate)
    unit = (1 + (size + 1) % 2) / event.scale
    return Pair(parts=(Atoms(losses=(size - 2 * j) * rate, p=p, q=p[::-1].copy()),), unit=unit)


def _discrete_gaussian_atoms(shift: int, variance: Fraction) -> Pair:
    """Return the losses s (s - 2 z)/(2 v) with their exact masses, for |z| up to 38 deviations.

    Beyond, the mass is below Φ(-38) < 1e-315 because the normalizer is at least sqrt(2 π v) and
    the sum beyond is below the integral; it counts as infinite.
    """
    if shift == 0:
        return _response(Fraction(0))
    v = float(variance)
    reach = int(38 * v**0.5) + 2
    z = np.arange(-reach, reach + shift + 1, dtype=np.float64)
    weights, shifted = np.exp(-z * z / (2 * v)), np.exp(-((z - shift) ** 2) / (2 * v))
    total = float(weights.sum())
    # The exponent is at most 745 where exp is not 0: a relative error of 2^-41, and 2^-40 with sum.
    p, q = weights / total * (1 + 2.0**-39), shifted / total * (1 + 2.0**-39)
    losses = shift * (shift - 2 * z) / (2 * v)
    unit = Fraction(shift * (1 + (shift + 1) % 2)) / (2 * variance)
    return Pair(parts=(Atoms(losses=losses, p=p, q=q),), infinite=1e-310, unit=unit)
