"""From the discrete Gaussian that is drawn to the continuous one that has a closed form.

Let d be the discrete Gaussian of variance v on the integers, r a continuous Gaussian of the same
variance rounded to the nearest integer, and x = 1/(24 v). Then at every integer z

    d(z) ≤ e^x r(z)   and   r(z) ≤ S e^(x z²/v) d(z),   S = Σ_k e^(-2 π² v k²),

and the total variation distance of d and r is at most x. Neighbouring exact values are integers
apart, so rounding commutes with the shift and is post-processing of the continuous release. The
proof is in docs/proofs/composition.md. It gives two bounds on the cost of a composition whose ideal
form, with continuous noise, is (epsilon, delta)-DP:

by variation    (epsilon, delta + (1 + e^epsilon) X)                  with X = Σ x over all answers,
by ratio        (epsilon + X + B + Σ ln S, e^X (delta + e^(epsilon - y)))          for any y > 0,

where Σ x z²/v ≤ B except with probability e^-y.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, fsum, inf, log, pi, sqrt
from typing import Self

from discreet.accounting.events import DiscreteGaussianEvent
from discreet.accounting.rounding import TRUST, float_down, float_up
from discreet.errors import UnsupportedEventError

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
