"""Geometric and discrete Laplace noise: one random word, one logarithm, no rejection.

A word gives a uniform real W in [-1, 1). With K = ⌊shift - scale · ln|W|⌋,

    P(K ≥ k) = P(|W| ≤ exp((shift - k) / scale)) = min(1, exp((shift - k) / scale)),

and the sign of W is a fair coin independent of K. Floats compute K wherever its fractional part
proves that no rounding can have changed it; the few other draws get more bits of the same W and are
settled by integer brackets. Proof and error budget: docs/proofs/samplers.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import copysign, exp, floor, log
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.noise.coins import flips_exp
from discreet.noise.enclosures import Enclosure, ceil_div, exp_neg, laplace_tail, ratio
from discreet.noise.source import SYSTEM, Entropy
from discreet.noise.uniform import (
    FloatArray,
    IntArray,
    LazyUniform,
    checked_size,
    fill,
    uniform_integers,
    words,
)
from discreet.parameters import Real, integer, rational

SCALE_LEAST = Fraction(1, 1 << 8)


SCALE_MOST = Fraction(10**17)


TOLERANCE = 2.0**-42
"""Most by which float arithmetic may misplace shift - scale · ln|W|, as a share of scale."""


FAR = 2.0**-20
"""Below this |W| a 64-bit word holds too few bits of it for TOLERANCE."""


ONE_PASS_MOST = Fraction(1 << 26)
"""Largest scale that one pass serves: beyond it too many draws would be undecided."""


LARGEST = (1 << 62) - 1
"""Arrays hold 64-bit integers: noise beyond ±LARGEST is moved to within 2**32 of it. At the largest
scale that has probability e^-46; single draws are unbounded."""


SMALL = 8
"""Fewer draws than this skip NumPy, whose calls cost more than the arithmetic."""


@overload
def geometric(scale: Real, size: None = None, *, entropy: Entropy = SYSTEM) -> int: ...
@overload
def geometric(scale: Real, size: int, *, entropy: Entropy = SYSTEM) -> IntArray: ...
def geometric(scale: Real, size: int | None = None, *, entropy: Entropy = SYSTEM) -> int | IntArray:
    """Draw K with exactly P(K = k) = (1 - q) q**k on k = 0, 1, …, where q = exp(-1 / scale)."""
    scale = checked_scale(scale)
    is_wide = scale > ONE_PASS_MOST
    if size is None:
        one = _wide_one(_wide(scale), entropy) if is_wide else _one(_geometric(scale), entropy)
        return one[1]
    if is_wide:
        return _filled(size, lambda count: _unsigned(_run_wide(_wide(scale), count, entropy)))
    return _filled(size, lambda count: np.abs(_run(_geometric(scale), count, entropy)))


@overload
def discrete_laplace(scale: Real, size: None = None, *, entropy: Entropy = SYSTEM) -> int: ...
@overload
def discrete_laplace(scale: Real, size: int, *, entropy: Entropy = SYSTEM) -> IntArray: ...
def discrete_laplace(
    scale: Real, size: int | None = None, *, entropy: Entropy = SYSTEM
) -> int | IntArray:
    """Draw X with exactly P(X = x) ∝ exp(-|x| / scale) on the integers."""
    scale = checked_scale(scale)
    if scale <= ONE_PASS_MOST:
        race = _laplace(scale)
        if size is not None:
            return _filled(size, lambda count: _run(race, count, entropy))
        is_negative, k = _one(race, entropy)
        return -k if is_negative else k
    wide = _wide(scale)
    if size is not None:
        return _filled(size, lambda count: _without_minus_zero(_run_wide(wide, count, entropy)))
    is_negative, k = _wide_one(wide, entropy)
    while is_negative and k == 0:
        is_negative, k = _wide_one(wide, entropy)
    return -k if is_negative else k


def checked_scale(scale: object) -> Fraction:
    """Return a scale that the samplers' proof covers."""
    return rational("scale", scale, least=SCALE_LEAST, most=SCALE_MOST)


def _filled(size: object, draw: Callable[[int], NDArray[Any]]) -> IntArray:
    return fill(checked_size(size), np.int64, draw)


# --------------------------------------------------------------------------- scales up to 2**26


@dataclass(frozen=True, slots=True)
class Race:
    """The distribution of sign · K, P(K ≥ k) = tail(k), as floats for the filter and exactly."""

    scale: float
    shift: float
    tail: Callable[[int], Enclosure]


@lru_cache(maxsize=1024)
def _geometric(scale: Fraction) -> Race:
    def tail(k: int) -> Enclosure:
        return partial(exp_neg, k / scale)

    return Race(float(scale), 0.0, tail)


@lru_cache(maxsize=1024)
def _laplace(scale: Fraction) -> Race:
    """Return the race of discrete Laplace noise, whose sign and K make X: +0 and -0 are one value.

    With q = exp(-1 / scale), P(|X| ≥ k) = 2 q**k / (1 + q) for k ≥ 1, so the shift is
    -scale · ln((1 + q) / 2).
    """

    def tail(k: int) -> Enclosure:
        return laplace_tail(scale, k) if k else ratio(Fraction(1))

    width = float(scale)
    return Race(width, -width * log((1 + exp(-1 / width)) / 2), tail)


def _run(race: Race, count: int, entropy: Entropy) -> FloatArray:
    """Return `count` values sign · K as floats, -0.0 included: exact, as K is far below 2**53."""
    if count < SMALL:
        draws = words(count, np.int64, entropy).tolist()
        return np.array([copysign(_decided(race, word, entropy), word) for word in draws])
    drawn = words(count, np.int64, entropy)
    w = drawn * 2.0**-63
    z: FloatArray = np.abs(w)
    is_far = z.min() < FAR
    if is_far:
        np.maximum(z, FAR, out=z)  # these are resolved below; the logarithm of 0 would warn
    np.log(z, out=z)
    z *= -race.scale
    z += race.shift
    k: FloatArray = np.floor(z)
    z -= k
    margin = race.scale * TOLERANCE
    if is_far or z.min() < margin or z.max() > 1 - margin:
        for j in np.flatnonzero((np.abs(w) < FAR) | (z < margin) | (z > 1 - margin)):
            k[j] = _resolved(race, int(drawn[j]), entropy)
    np.copysign(k, w, out=k)
    return k


def _one(race: Race, entropy: Entropy) -> tuple[bool, int]:
    """Return whether W is negative, and K."""
    word = int.from_bytes(entropy.draw(8), "little", signed=True)
    return word < 0, _decided(race, word, entropy)


def _decided(race: Race, word: int, entropy: Entropy) -> int:
    """Return K for the W that begins with this word, by floats if they prove it."""
    w = abs(word) * 2.0**-63
    z = race.shift - race.scale * log(w) if w >= FAR else 0.0
    k = floor(z)
    margin = race.scale * TOLERANCE
    return k if margin <= z - k <= 1 - margin else _resolved(race, word, entropy)


def _resolved(race: Race, word: int, entropy: Entropy) -> int:
    """Return K for the W that begins with this word: the k with tail(k + 1) ≤ |W| < tail(k)."""
    u = LazyUniform(entropy, word if word >= 0 else ~word, 63)
    u.refine()
    # The guess only saves steps; the comparisons decide.
    k = max(0, floor(race.shift + race.scale * (u.bits * log(2) - log(u.drawn or 1))))
    while u.is_below(race.tail(k + 1)):
        k += 1
    while k and not u.is_below(race.tail(k)):
        k -= 1
    return k


# --------------------------------------------------------------------------- scales beyond 2**26


@dataclass(frozen=True, slots=True)
class Wide:
    """K = 2**bits · H + L, H and L independent, as exp(-K / scale) is a product.

    H is geometric of scale / 2**bits; L < 2**bits is uniform, accepted with probability
    exp(-L / scale) > 1 - 2**-25.
    """

    scale: Fraction
    bits: int
    high: Race
    always_kept: int
    """A word below this keeps any L, as exp(-L / scale) > 1 - 2**bits / scale."""


@lru_cache(maxsize=1024)
def _wide(scale: Fraction) -> Wide:
    bits = int(scale / ONE_PASS_MOST).bit_length()
    always_kept = (1 << 64) - ceil_div((1 << 64 + bits) * scale.denominator, scale.numerator)
    return Wide(scale, bits, _geometric(scale / (1 << bits)), always_kept)


def _run_wide(wide: Wide, count: int, entropy: Entropy) -> IntArray:
    """Return `count` signs and Ks, coded as K or -1 - K."""
    h = _run(wide.high, count, entropy)
    low = words(count, np.uint64, entropy) >> np.uint64(64 - wide.bits)
    coin = words(count, np.uint64, entropy)
    for j in np.flatnonzero(coin >= np.uint64(wide.always_kept)):
        low[j] = _kept_low(wide, int(low[j]), LazyUniform(entropy, int(coin[j]), 64))
    top = np.minimum(np.abs(h), LARGEST >> wide.bits).astype(np.int64)
    k = (top << wide.bits) + low.view(np.int64)
    return np.where(np.signbit(h), -1 - k, k)


def _wide_one(wide: Wide, entropy: Entropy) -> tuple[bool, int]:
    """Return a sign and a K of any size."""
    is_negative, high = _one(wide.high, entropy)
    low, coin = (int.from_bytes(entropy.draw(8), "little") for _ in range(2))
    low >>= 64 - wide.bits
    if coin >= wide.always_kept:
        low = _kept_low(wide, low, LazyUniform(entropy, coin, 64))
    return is_negative, (high << wide.bits) + low


def _kept_low(wide: Wide, low: int, u: LazyUniform) -> int:
    while not u.is_below(partial(exp_neg, low / wide.scale)):
        low = int.from_bytes(u.entropy.draw(8), "big") >> 64 - wide.bits
        u = LazyUniform(u.entropy)
    return low


def _unsigned(signed: IntArray) -> IntArray:
    return np.where(signed < 0, -1 - signed, signed)


def _without_minus_zero(signed: IntArray) -> IntArray:
    # Rejecting -0 keeps 0 from being counted twice (Canonne, Kamath, Steinke 2020, Algorithm 2).
    kept: IntArray = np.where(signed < 0, signed + 1, signed)[signed != -1]
    return kept


REACH_MOST = 1 << 60


def truncated_laplace(scale: Real, reach: int, size: int, *, entropy: Entropy = SYSTEM) -> IntArray:
    """Draw X with exactly P(X = x) ∝ exp(-|x| / scale) on the integers from -reach to reach.

    Rejection: discrete Laplace noise is accepted if it is within reach. If the reach is less than
    the scale, uniform noise is accepted with probability exp(-|x| / scale). Either accepts more
    than 63%, and the number of rejected draws is independent of the accepted ones.
    """
    scale = checked_scale(scale)
    reach = integer("reach", reach, least=0, most=REACH_MOST)

    def draw(count: int) -> IntArray:
        if reach >= scale:
            x = discrete_laplace(scale, count, entropy=entropy)
            return x[np.abs(x) <= reach]
        x = uniform_integers(2 * reach + 1, count, entropy=entropy) - reach
        return x[flips_exp(np.abs(x).view(np.uint64), 1 / scale, entropy)]

    return fill(checked_size(size), np.int64, draw)
