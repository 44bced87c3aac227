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
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from discreet.noise.enclosures import Enclosure, ceil_div, exp_neg, laplace_tail, ratio
from discreet.noise.source import SYSTEM, Entropy
from discreet.noise.uniform import FloatArray, IntArray, LazyUniform, checked_size, fill, words
from discreet.parameters import Real, rational

SCALE_LEAST = Fraction(1, 1 << 8)
SCALE_MOST = Fraction(10**17)

TOLERANCE = 2.0**-42
"""Most by which float arithmetic may misplace shift - scale · ln|W|, as a share of scale."""

FAR = 2.0**-20
"""Below this |W| a 64-bit word holds too few bits of it for TOLERANCE."""

ONE_PASS_MOST = Fraction(1 << 26)
"""Largest scale that one pass serves: beyond it too many draws would be undecided."""

LARGEST = (1 << 62) - 1
"""Noise beyond ±LARGEST is moved there; at the largest scale that has probability below e^-46."""

SMALL = 8
"""Fewer draws than this skip NumPy, whose calls cost more than the arithmetic."""

Draw: TypeAlias = Callable[[int, Entropy], NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Race:
    """The law of sign · K with P(K ≥ k) = tail(k), as floats for the filter and exactly."""

    scale: float
    shift: float
    tail: Callable[[int], Enclosure]


@overload
def geometric(scale: Real, size: None = None, *, entropy: Entropy = SYSTEM) -> int: ...
@overload
def geometric(scale: Real, size: int, *, entropy: Entropy = SYSTEM) -> IntArray: ...
def geometric(scale: Real, size: int | None = None, *, entropy: Entropy = SYSTEM) -> int | IntArray:
    """Draw K with exactly P(K = k) = (1 - q) q**k on k = 0, 1, …, where q = exp(-1 / scale)."""
    draw = _magnitudes(checked_scale("scale", scale))
    if size is None:
        return int(draw(1, entropy)[0])
    return fill(checked_size(size), np.int64, lambda count: draw(count, entropy))


@overload
def discrete_laplace(scale: Real, size: None = None, *, entropy: Entropy = SYSTEM) -> int: ...
@overload
def discrete_laplace(scale: Real, size: int, *, entropy: Entropy = SYSTEM) -> IntArray: ...
def discrete_laplace(
    scale: Real, size: int | None = None, *, entropy: Entropy = SYSTEM
) -> int | IntArray:
    """Draw X with exactly P(X = x) ∝ exp(-|x| / scale) on the integers."""
    draw = laplace_draw(checked_scale("scale", scale))
    if size is None:
        found = draw(1, entropy)
        while not len(found):
            found = draw(1, entropy)
        return int(found[0])
    return fill(checked_size(size), np.int64, lambda count: draw(count, entropy))


def checked_scale(name: str, scale: object) -> Fraction:
    """Return a scale that the samplers' proof covers."""
    return rational(name, scale, least=SCALE_LEAST, most=SCALE_MOST)


@lru_cache(maxsize=1024)
def laplace_draw(scale: Fraction) -> Draw:
    """Return the sampler of discrete Laplace noise; it may give fewer draws than asked, at random.

    With q = exp(-1 / scale), P(|X| ≥ k) = 2 q**k / (1 + q) for k ≥ 1: a race whose shift is
    -scale · ln((1 + q) / 2).
    """
    if scale > ONE_PASS_MOST:
        signed = _signed_wide(scale)
        return lambda count, entropy: _without_minus_zero(signed(count, entropy))

    def tail(k: int) -> Enclosure:
        return laplace_tail(scale, k) if k else ratio(Fraction(1))

    width = float(scale)
    race = Race(width, -width * log((1 + exp(-1 / width)) / 2), tail)
    return lambda count, entropy: _run(race, count, entropy)


@lru_cache(maxsize=1024)
def _magnitudes(scale: Fraction) -> Draw:
    if scale > ONE_PASS_MOST:
        signed = _signed_wide(scale)
        return lambda count, entropy: _unsigned(signed(count, entropy))
    race = _geometric_race(scale)
    return lambda count, entropy: np.abs(_run(race, count, entropy))


def _geometric_race(scale: Fraction) -> Race:
    def tail(k: int) -> Enclosure:
        return partial(exp_neg, k / scale)

    return Race(float(scale), 0.0, tail)


# --------------------------------------------------------------------------- scales up to 2**26


def _run(race: Race, count: int, entropy: Entropy) -> FloatArray:
    """Return `count` values sign · K as floats, -0.0 included: exact, as K is far below 2**53."""
    if count < SMALL:
        draws = words(count, np.int64, entropy).tolist()
        return np.array([_run_one(race, word, entropy) for word in draws])
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


def _run_one(race: Race, word: int, entropy: Entropy) -> float:
    w = abs(word) * 2.0**-63
    z = race.shift - race.scale * log(w) if w >= FAR else 0.0
    k = floor(z)
    margin = race.scale * TOLERANCE
    if not margin <= z - k <= 1 - margin:
        k = _resolved(race, word, entropy)
    return copysign(k, word)


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


@lru_cache(maxsize=1024)
def _signed_wide(scale: Fraction) -> Callable[[int, Entropy], IntArray]:
    """Return a sampler of sign and K for wide scales, coded as K or -1 - K.

    K = 2**b · H + L with H and L independent, as exp(-K / scale) is a product: H is geometric of
    scale / 2**b, and L < 2**b is uniform, kept with probability exp(-L / scale) > 1 - 2**-25.
    """
    b = int(scale / ONE_PASS_MOST).bit_length()
    high = _geometric_race(scale / (1 << b))
    # exp(-L / scale) > 1 - 2**b / scale, so that a word below this keeps any L.
    always_kept = (1 << 64) - ceil_div((1 << 64 + b) * scale.denominator, scale.numerator)

    def draw(count: int, entropy: Entropy) -> IntArray:
        h = _run(high, count, entropy)
        low = words(count, np.uint64, entropy) >> np.uint64(64 - b)
        coin = words(count, np.uint64, entropy)
        for j in np.flatnonzero(coin >= np.uint64(always_kept)):
            low[j] = _kept_low(scale, b, int(low[j]), LazyUniform(entropy, int(coin[j]), 64))
        top = np.minimum(np.abs(h), LARGEST >> b).astype(np.int64)
        k = (top << b) + low.view(np.int64)
        return np.where(np.signbit(h), -1 - k, k)

    return draw


def _kept_low(scale: Fraction, b: int, low: int, u: LazyUniform) -> int:
    while not u.is_below(partial(exp_neg, low / scale)):
        low = int.from_bytes(u.entropy.draw(8), "big") >> 64 - b
        u = LazyUniform(u.entropy)
    return low


def _unsigned(signed: IntArray) -> IntArray:
    return np.where(signed < 0, -1 - signed, signed)


def _without_minus_zero(signed: IntArray) -> IntArray:
    # Rejecting -0 keeps 0 from being counted twice (Canonne, Kamath, Steinke 2020, Algorithm 2).
    kept: IntArray = np.where(signed < 0, signed + 1, signed)[signed != -1]
    return kept
