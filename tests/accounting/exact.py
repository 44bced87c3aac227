"""Prices by enumeration in 50 digits: what an accountant must never be below."""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from math import isqrt

from mpmath import mp, mpf

mp.dps = 50

Law = dict[Fraction, mpf]
"""Probability under P of each privacy loss."""


def response_law(epsilon: Fraction, categories: int = 2) -> Law:
    """Return the law of randomized response, for two of its values."""
    lie = 1 / (mp.exp(_mpf(epsilon)) + categories - 1)
    ends = {epsilon: 1 - (categories - 1) * lie, -epsilon: lie}
    return ends | {Fraction(0): (categories - 2) * lie} if categories > 2 else ends


def discrete_laplace_law(sensitivity: int, scale: Fraction) -> Law:
    """Return that of discrete Laplace noise, neighbours `sensitivity` apart, number by number."""
    a = mp.exp(-1 / _mpf(scale))
    law: Law = defaultdict(lambda: mpf(0))
    for z in range(1, sensitivity):
        law[Fraction(sensitivity - 2 * z) / scale] += (1 - a) / (1 + a) * a**z
    law[sensitivity / scale] += 1 / (1 + a)
    law[-sensitivity / scale] += a**sensitivity / (1 + a)
    return dict(law)


def discrete_gaussian_law(shift: int, variance: Fraction) -> Law:
    """Return that of discrete Gaussian noise, neighbours `shift` apart."""
    far = 12 * isqrt(int(variance) + 1) + 12 + shift
    weights = {z: mp.exp(-(z**2) / (2 * _mpf(variance))) for z in range(-far, far + 1)}
    total = mp.fsum(weights.values())
    return {shift * (shift - 2 * z) / (2 * variance): w / total for z, w in weights.items()}


def summed(laws: Iterable[Law]) -> Law:
    """Return the law of the sum of independent losses."""
    total: Law = {Fraction(0): mpf(1)}
    for law in laws:
        following: Law = defaultdict(lambda: mpf(0))
        for left, p in total.items():
            for right, q in law.items():
                following[left + right] += p * q
        total = dict(following)
    return total


def delta_of(law: Law, epsilon: float) -> mpf:
    """Return E[(1 - e^(epsilon - loss))₊]."""
    terms = [p * (1 - mp.exp(mpf(epsilon) - _mpf(x))) for x, p in law.items() if x > epsilon]
    return mp.fsum(terms)


def gaussian_delta_of(epsilon: float | Fraction, mu: Fraction) -> mpf:
    """Return the closed form of Balle and Wang 2018."""
    e, m = _mpf(Fraction(epsilon)), _mpf(mu)
    return mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)


def _mpf(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator
