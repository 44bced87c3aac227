"""Gaussian differential privacy, and the bridge to it from the discrete Gaussian that is drawn.

**The bridge.** Let d be the discrete Gaussian of variance v on the integers, r a continuous
Gaussian of the same variance rounded to the nearest integer, and x = 1/(24 v). Then at every
integer z

    d(z) ≤ e^x r(z)   and   r(z) ≤ S e^(x z²/v) d(z),   S = Σ_k e^(-2 π² v k²),

and the total variation distance of d and r is at most x. Neighbouring exact values are integers
apart, so rounding commutes with the shift and is post-processing of the continuous release. The
proof is in docs/proofs/composition.md. It gives two bounds on the cost of a composition whose ideal
form, with continuous noise, is (epsilon, delta)-DP:

by variation    (epsilon, delta + (1 + e^epsilon) X)                  with X = Σ x over all answers,
by ratio        (epsilon + X + B + Σ ln S, e^X (delta + e^(epsilon - y)))          for any y > 0,

where Σ x z²/v ≤ B except with probability e^-y.

**Composition.** Gaussians compose exactly, into one Gaussian. Releases with noise multipliers m_i
cost together what one with mu = sqrt(Σ 1/m_i²) costs (Dong, Roth, Su 2022, Corollary 3.3), and its
curve has a closed form (Balle, Wang 2018, Theorem 8):

    delta(epsilon) = Φ(mu/2 - epsilon/mu) - e^epsilon Φ(-mu/2 - epsilon/mu).

Discrete Gaussians of large variance are covered by the two bounds above.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from math import exp, expm1, fsum, inf, log, nextafter, pi, sqrt
from typing import Self

from discreet import on_use
from discreet.accounting.events import (
    ComposedEvent,
    DiscreteGaussianEvent,
    Event,
    GaussianEvent,
    RepeatedEvent,
    counted,
)
from discreet.accounting.rounding import TRUST, float_down, float_up, least_float, positive_delta
from discreet.errors import UnsupportedEventError
from discreet.parameters import rational

WASTE = 2.0**-30
"""The part of delta given to noise too far out for the ratio to be bounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """The extra cost of computing discrete Gaussians as if they were continuous."""

    mu_squared: Fraction
    variation: Fraction  # X
    squares: float  # Σ x²
    largest: float  # max x
    fixed: float  # Σ ln S and what rounding adds to z²

    @classmethod
    def over(cls, counts: Mapping[DiscreteGaussianEvent, int]) -> Self:
        """Return the bridge for these events and their numbers. Variances must be 1 or more."""
        for event in counts:
            if event.variance < 1:
                raise UnsupportedEventError(
                    event, accountant="GDP", instead="use zCDP for a variance below 1"
                )
        answers = {event: event.answers * count for event, count in counts.items()}
        x = {event: float_up(1 / (24 * event.variance)) for event in counts}
        return cls(
            mu_squared=sum((ideal_mu_squared(e) * k for e, k in counts.items()), Fraction(0)),
            variation=sum((n / (24 * e.variance) for e, n in answers.items()), Fraction(0)),
            squares=fsum(n * x[event] ** 2 for event, n in answers.items()) * (1 + TRUST),
            largest=max(x.values(), default=0.0),
            fixed=fsum(n * _fixed(event) for event, n in answers.items()) * (1 + TRUST),
        )

    def widening(self, y: float) -> float:
        """Return X + B + Σ ln S, rounded up, where B holds except with probability e^-y.

        With z = round(sqrt(v) g), z²/v ≤ (5/4) (g² + 1/v), and Σ x g² ≤ Σ x + 2 sqrt(Σ x² y) + 2
        y max x except with probability e^-y (Laurent, Massart 2000, Lemma 1).
        """
        total = float_up(self.variation)
        bulge = total + 2 * sqrt(self.squares * y) + 2 * self.largest * y
        return (total + 1.25 * bulge + self.fixed) * (1 + 8 * TRUST)

    def epsilon(self, ideal: Callable[[float], float], delta: Fraction) -> float:
        """Return epsilon by ratio, rounded up, from the ideal epsilon as a function of delta."""
        if not self.variation:
            return ideal(float_down(delta))
        left = float_down(delta) * exp(-float_up(self.variation)) * (1 - 8 * TRUST)
        if left * WASTE <= 0.0:
            return inf
        epsilon = ideal(left * (1 - WASTE))
        y = epsilon - log(left * WASTE) + 1e-9
        return (epsilon + self.widening(y)) * (1 + TRUST)

    def delta(self, ideal: Callable[[float], float], epsilon: float) -> float:
        """Return delta by ratio, rounded up, from the ideal delta as a function of epsilon."""
        if not self.variation:
            return ideal(epsilon)
        if self.variation > 1:
            return 1.0
        growth = 1 + expm1(float_up(self.variation))

        def at(beyond: float) -> float:
            y = epsilon + beyond
            inner = epsilon - self.widening(y) - TRUST * epsilon
            return growth * (ideal(inner) + exp(inner - y)) * (1 + 8 * TRUST) if inner >= 0 else 1.0

        return min(1.0, *(at(beyond) for beyond in (10.0, 30.0, 100.0)))


def ideal_mu_squared(event: DiscreteGaussianEvent) -> Fraction:
    """Return mu² of the continuous Gaussian that corresponds to a discrete one."""
    return event.sensitivity_squared / event.variance


def _fixed(event: DiscreteGaussianEvent) -> float:
    # ln S ≤ S - 1 = 2 (q + q⁴ + q⁹ + ...) ≤ 3 q for q = e^(-2 π² v) ≤ 1/2.
    v = float_down(event.variance)
    return (3 * exp(-2 * pi * pi * v) + 1.25 / (24 * v * v)) * (1 + 2.0**-40)


@singledispatch
def gdp_mu_squared(event: Event) -> Fraction:
    """Return the smallest mu² for which the event is proved mu-GDP, exactly."""
    raise UnsupportedEventError(event, accountant="GDP", instead="compute its cost by PLD or RDP")


@gdp_mu_squared.register
def _(event: GaussianEvent) -> Fraction:
    return 1 / event.noise_multiplier**2  # Dong, Roth, Su 2022, Theorem 2.7


@gdp_mu_squared.register
def _(event: RepeatedEvent | ComposedEvent) -> Fraction:
    # Dong, Roth, Su 2022, Corollary 3.3.
    return sum((gdp_mu_squared(each) * k for each, k in counted(event).items()), Fraction(0))


def gdp_epsilon(events: Event | Iterable[Event], delta: Fraction) -> float:
    """Return the smallest epsilon, rounded up, of Gaussians and discrete Gaussians together."""
    delta = positive_delta(delta)
    mu_squared, bridge = _all_gaussians(counted(events))
    mu, delta_down, variation = mu_up(mu_squared), float_down(delta), float_up(bridge.variation)

    def fits(epsilon: float) -> bool:
        if epsilon > 700:
            return False
        taken = (1 + exp(epsilon)) * variation
        return (delta_from_mu(epsilon, mu) + taken) * (1 + 8 * TRUST) <= delta_down

    by_ratio = bridge.epsilon(lambda d: gaussian_epsilon(Fraction(d), mu_squared), delta)
    return min(by_ratio, least_float(fits)) if variation else by_ratio


def gdp_delta(events: Event | Iterable[Event], epsilon: Fraction) -> float:
    """Return the smallest delta, rounded up, of Gaussians and discrete Gaussians together."""
    epsilon_down = float_down(rational("epsilon", epsilon, least=0))
    mu_squared, bridge = _all_gaussians(counted(events))
    mu, variation = mu_up(mu_squared), float_up(bridge.variation)
    by_ratio = bridge.delta(lambda e: delta_from_mu(e, mu), epsilon_down)
    if not variation or epsilon_down > 700:
        return by_ratio
    taken = (1 + exp(epsilon_down) * (1 + 2.0**-50 * epsilon_down)) * variation
    return min(by_ratio, (delta_from_mu(epsilon_down, mu) + taken) * (1 + 8 * TRUST))


def _all_gaussians(counts: Mapping[Event, int]) -> tuple[Fraction, Bridge]:
    discrete = {e: k for e, k in counts.items() if isinstance(e, DiscreteGaussianEvent)}
    bridge = Bridge.over(discrete)
    others = (gdp_mu_squared(e) * k for e, k in counts.items() if e not in discrete)
    return sum(others, bridge.mu_squared), bridge


def gaussian_delta(epsilon: Fraction, mu_squared: Fraction) -> float:
    """Return an upper bound, tight to about 1e-11, of delta at epsilon for mu-GDP."""
    return delta_from_mu(float_down(epsilon), mu_up(mu_squared))


def gaussian_epsilon(delta: Fraction, mu_squared: Fraction) -> float:
    """Return the smallest epsilon, rounded up, at which mu-GDP implies (epsilon, delta)-DP."""
    mu, delta_down = mu_up(mu_squared), float_down(rational("delta", delta, least=0, below=1))
    if mu_squared == 0:
        return 0.0
    return least_float(lambda epsilon: delta_from_mu(epsilon, mu) <= delta_down)


def mu_up(mu_squared: Fraction) -> float:
    """Return an upper bound of the square root, even if the square itself would underflow."""
    if mu_squared == 0:
        return 0.0
    halves = (mu_squared.numerator.bit_length() - mu_squared.denominator.bit_length()) // 2
    # sqrt is correctly rounded, so one step covers its half ulp; so is the scaling by 2^halves.
    root = nextafter(sqrt(float_up(mu_squared / Fraction(4) ** halves)), inf)
    return float_up(Fraction(root) * Fraction(2) ** halves)


def delta_from_mu(epsilon: float, mu: float) -> float:
    """Return an upper bound of delta for mu-GDP; delta falls in epsilon and grows in mu.

    With a = epsilon/mu - mu/2 and b = a + mu, b² - a² = 2 epsilon turns the closed form into
    φ(a) (R(a) - R(b)), where R = Φ(-x)/φ(x) is Mills' ratio. All factors are of ordinary size
    however small delta is.
    """
    if mu == 0.0:
        return 0.0
    left, right = epsilon / mu, mu / 2
    # Two divisions and a subtraction err by less than 2^-51 (left + right); delta falls in a.
    a = (left - right) - 2.0**-51 * (left + right)
    b = nextafter(a + mu, inf)
    if a < -1:
        return min(
            1.0,
            float(on_use.special.ndtr(-a)) * (1 + TRUST) - _density(a) * _mills(b) * (1 - 2.0**-40),
        )
    # a² / 2 ≤ 745 where exp does not underflow: its relative error is below 745 · 2^-52 < 2^-41.
    # The last term covers the absolute error of subnormal numbers.
    return _density(a) * _fall(a, b, mu) * (1 + 2.0**-40) + 1e-320


def _density(x: float) -> float:
    return exp(-x * x / 2) / sqrt(2 * pi)


def _mills(x: float) -> float:
    return sqrt(pi / 2) * float(on_use.special.erfcx(x / sqrt(2)))


def _fall(a: float, b: float, mu: float) -> float:
    """Return an upper bound of R(a) - R(b): the difference, or mu times the slope when b is near.

    R is convex, so R(a) - R(a + mu) ≤ -mu R'(a) = mu (1 - a R(a)). The difference suffers from
    cancellation when mu is small, the slope does not.
    """
    at_a, at_b = _mills(a), _mills(b)
    difference = at_a - at_b + 4 * TRUST * (at_a + at_b)
    slope = 1 - a * at_a + 4 * TRUST * (1 + abs(a) * at_a)
    return min(difference, mu * slope * (1 + TRUST))
