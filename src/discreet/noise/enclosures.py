"""Computable reals: integer brackets of 2**bits · p, as tight as one asks.

Everything here is integer arithmetic with outward rounding, so a bracket is a proof.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

Bracket: TypeAlias = tuple[int, int]
"""Integers (low, high) with low ≤ 2**bits · p ≤ high."""

Enclosure: TypeAlias = Callable[[int], Bracket]
"""A real p in [0, 1], given by its bracket for any number of bits."""


def exp_neg(x: Fraction, bits: int) -> Bracket:
    """Bracket 2**bits · exp(-x) for x ≥ 0, at most 3 apart.

    exp(-x) = (1 / exp(y)) ** 2**k with y = x / 2**k < 1/64, so the Taylor series of exp(y)
    converges fast. Each squaring doubles the relative error, which the k extra bits absorb.
    """
    k = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 8)
    work = bits + k + 8
    numerator, denominator = x.numerator, x.denominator << k
    low = high = term_low = term_high = 1 << work
    j = 0
    while term_high > 1:
        j += 1
        term_low = term_low * numerator // (denominator * j)
        term_high = ceil_div(term_high * numerator, denominator * j)
        low, high = low + term_low, high + term_high
    # The terms left out sum to less than the last one, which is at most 1: hence high + 1.
    low, high = (1 << 2 * work) // (high + 1), ceil_div(1 << 2 * work, low)
    for _ in range(k):
        low, high = low * low >> work, ceil_div(high * high, 1 << work)
    return low >> work - bits, ceil_div(high, 1 << work - bits)


def ratio(p: Fraction) -> Enclosure:
    """Enclose a fraction."""
    return lambda bits: (
        (p.numerator << bits) // p.denominator,
        ceil_div(p.numerator << bits, p.denominator),
    )


def scaled_exp_neg(factor: Fraction, x: Fraction) -> Enclosure:
    """Enclose factor · exp(-x) for factor > 0 and x ≥ 0, where that is at most 1."""
    extra = max(0, factor.numerator.bit_length() - factor.denominator.bit_length() + 1)

    def enclose(bits: int) -> Bracket:
        low, high = exp_neg(x, bits + extra)
        scale = factor.denominator << extra
        return low * factor.numerator // scale, ceil_div(high * factor.numerator, scale)

    return enclose


def excess_exp_neg(height: int, base: int, span: int, x: Fraction) -> Enclosure:
    """Enclose (height · exp(-x) - base) / span for x ≥ 0, where that lies between 0 and 1."""
    extra = height.bit_length()

    def enclose(bits: int) -> Bracket:
        low, high = exp_neg(x, bits + extra)
        ground = base << bits + extra
        return (height * low - ground) // (span << extra), ceil_div(
            height * high - ground, span << extra
        )

    return enclose


def share_against_exp_neg(kept: Fraction, other: Fraction, x: Fraction) -> Enclosure:
    """Enclose kept / (kept + other · exp(-x)) for kept > 0, other ≥ 0, x ≥ 0."""
    weight = other / kept
    # So many bits more keep weight · exp(-x) in a bracket as narrow as that of exp(-x).
    extra = max(0, weight.numerator.bit_length() - weight.denominator.bit_length() + 1)

    def enclose(bits: int) -> Bracket:
        low, high = exp_neg(x, bits + extra)
        one = weight.denominator << bits + extra
        least = one + weight.numerator * low
        most = one + weight.numerator * high
        return (one << bits) // most, ceil_div(one << bits, least)

    return enclose


def laplace_tail(scale: Fraction, k: int) -> Enclosure:
    """Enclose P(|X| ≥ k) = 2 q**k / (1 + q), q = exp(-1 / scale), for discrete Laplace X, k ≥ 1."""

    def enclose(bits: int) -> Bracket:
        work = bits + 2
        power_low, power_high = exp_neg(k / scale, work)
        q_low, q_high = exp_neg(1 / scale, work)
        one = 1 << work
        return (
            (power_low << bits + 1) // (one + q_high),
            ceil_div(power_high << bits + 1, one + q_low),
        )

    return enclose


def is_at_most(p: Enclosure, bound: Fraction) -> bool:
    """Decide p ≤ bound exactly; ends unless p is an irrational number equal to bound."""
    bits = 64
    while True:
        low, high = p(bits)
        if high * bound.denominator <= bound.numerator << bits:
            return True
        if low * bound.denominator > bound.numerator << bits:
            return False
        bits *= 2


def ceil_div(a: int, b: int) -> int:
    """Return ⌈a / b⌉ for b > 0."""
    return -(-a // b)
