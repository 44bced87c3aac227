"""Coins whose bias is any computable real, and responses made of them."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import overload

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.noise.enclosures import Enclosure, exp_neg, ratio, share_against_exp_neg
from discreet.noise.source import SYSTEM, Entropy
from discreet.noise.uniform import (
    CHUNK,
    BoolArray,
    FloatArray,
    IntArray,
    LazyUniform,
    checked_integers,
    checked_size,
    fill,
    uniform_integers,
    words,
)
from discreet.parameters import Real, integer, rational

TOLERANCE = 2.0**-42
"""Most by which float arithmetic may misplace a probability exp(-x)."""

STEEPEST = Fraction(1 << 10)
"""Floats take a steeper rate for this one: exp(-rate · n) is 1 at n = 0 and else below e^-1024."""


@overload
def bernoulli(probability: Real, size: None = None, *, entropy: Entropy = SYSTEM) -> bool: ...
@overload
def bernoulli(probability: Real, size: int, *, entropy: Entropy = SYSTEM) -> BoolArray: ...
def bernoulli(
    probability: Real, size: int | None = None, *, entropy: Entropy = SYSTEM
) -> bool | BoolArray:
    """Flip coins that fall True with exactly this rational probability."""
    p = ratio(rational("probability", probability, least=0, most=1))
    if size is None:
        return LazyUniform(entropy).is_below(p)
    return flips(p, checked_size(size), entropy)


def bernoulli_exp(exponents: IntArray, rate: Real, *, entropy: Entropy = SYSTEM) -> BoolArray:
    """Flip one coin for each exponent n ≥ 0, True with probability exactly exp(-rate · n)."""
    rate = rational("rate", rate, least=0)
    exponents = checked_integers("exponents", exponents)
    if len(exponents) and exponents.min() < 0:
        raise ParameterError("exponents", int(exponents.min()), "must be 0 or more")
    return flips_exp(exponents.view(np.uint64), rate, entropy)


def responses(
    values: IntArray, categories: int, epsilon: Real, *, entropy: Entropy = SYSTEM
) -> IntArray:
    """Keep each value, e^epsilon times as likely as each other one of `categories` values."""
    categories = integer("categories", categories, least=2, most=1 << 62)
    epsilon = rational("epsilon", epsilon, least=0)
    values = checked_integers("values", values)
    if len(values) and not (values.min() >= 0 and values.max() < categories):
        raise ParameterError("values", "one outside", f"must lie in 0, …, {categories - 1}")
    kept = share_against_exp_neg(Fraction(1), Fraction(categories - 1), epsilon)
    return respond(values, categories, kept, entropy)


def respond(values: IntArray, categories: int, kept: Enclosure, entropy: Entropy) -> IntArray:
    """Keep each checked value with the enclosed probability; otherwise report any other one."""
    out = np.empty_like(values)
    for start in range(0, len(values), CHUNK):
        piece = values[start : start + CHUNK]
        other = uniform_integers(categories - 1, len(piece), entropy=entropy)
        other += other >= piece
        np.copyto(other, piece, where=flips(kept, len(piece), entropy))
        out[start : start + CHUNK] = other
    return out


def flips(p: Enclosure, size: int, entropy: Entropy) -> BoolArray:
    """Flip coins of one enclosed probability: 32 random bits each, more for the few ties."""
    low, high = p(32)

    def draw(count: int) -> BoolArray:
        u = words(count, np.uint32, entropy)
        out = u < low
        is_open = u < high
        if np.count_nonzero(out) != np.count_nonzero(is_open):
            for j in np.flatnonzero(out ^ is_open):
                out[j] = LazyUniform(entropy, int(u[j]), 32).is_below(p)
        return out

    return fill(size, np.bool_, draw)


def flips_exp(exponents: NDArray[np.uint64], rate: Fraction, entropy: Entropy) -> BoolArray:
    """Flip a coin of probability exp(-rate · n) for each unsigned integer n."""
    minus_rate = -float(min(rate, STEEPEST))
    out = np.empty(len(exponents), np.bool_)
    for start in range(0, len(exponents), CHUNK):
        piece = exponents[start : start + CHUNK]
        exact = partial(_exp_neg_of, piece, rate)
        log_p = piece.astype(np.float64)
        log_p *= minus_rate
        p = np.exp(log_p, out=log_p)
        out[start : start + CHUNK] = flips_near(p, TOLERANCE, exact, entropy)
    return out


def _exp_neg_of(exponents: NDArray[np.uint64], rate: Fraction, j: int) -> Enclosure:
    return partial(exp_neg, int(exponents[j]) * rate)


def flips_near(
    p: FloatArray, tolerance: float, exact: Callable[[int], Enclosure], entropy: Entropy
) -> BoolArray:
    """Flip a coin of probability exact(j) for each j, where p[j] is within tolerance of it.

    U begins with a 32-bit word u; where p is clear of [u, u + 1) / 2**32 by the tolerance, the coin
    has fallen. p is used up.
    """
    u = words(len(p), np.uint32, entropy)
    p_minus_u = p
    p_minus_u -= u * 2.0**-32
    out = p_minus_u > 2.0**-32 + tolerance
    open_still = p_minus_u > -tolerance
    if np.count_nonzero(out) != np.count_nonzero(open_still):
        for j in np.flatnonzero(out ^ open_still):
            out[j] = LazyUniform(entropy, int(u[j]), 32).is_below(exact(int(j)))
    return out
