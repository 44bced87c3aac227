"""Exact draws: probabilities are multiples of 2**-64, so comparing integers decides each draw.

Likelihood ratios are fractions that never exceed e^epsilon. Drawing is done in pieces that fit into
the processor's cache.
"""

from fractions import Fraction
from functools import partial
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.local.mechanism import ReportArray
from discreet.noise import Entropy
from discreet.noise.enclosures import ceil_div, exp_neg, is_at_most
from discreet.noise.uniform import BoolArray, IntArray, words

WORD = 1 << 64
"""Probabilities are multiples of 1 / WORD, so a 64-bit word decides them exactly."""

PRECISION = 256

EPSILON_STEP = Fraction(1, 1 << 40)
"""Computed epsilons are rounded up to multiples of it."""

PIECE = 1 << 15
"""Words per pass: 256 KiB (benchmarks/local.py)."""

TAIL = (1 << 56) - 1


def exp_down(epsilon: Fraction) -> Fraction:
    """Return a fraction just below e^epsilon, with a relative error below 2**-200."""
    return Fraction(1 << PRECISION, exp_neg(epsilon, PRECISION)[1])


def epsilon_up(likelihood_ratio: Fraction) -> Fraction:
    """Return a multiple of 2**-40 just above ln(likelihood_ratio), for ratios of 1 or more."""
    guess = log(likelihood_ratio.numerator) - log(likelihood_ratio.denominator)
    found = max(0, round(guess / EPSILON_STEP) - 1) * EPSILON_STEP
    while not is_at_most(partial(exp_neg, found), 1 / likelihood_ratio):
        found += EPSILON_STEP
    return found


def probability_up(probability: Fraction) -> Fraction:
    """Return a probability rounded up to a multiple of 2**-64."""
    return Fraction(ceil_div(probability.numerator * WORD, probability.denominator), WORD)


def probability_down(probability: Fraction) -> Fraction:
    """Return a probability rounded down to a multiple of 2**-64."""
    return Fraction(probability.numerator * WORD // probability.denominator, WORD)


def threshold(probability: Fraction) -> int:
    """Return how many of the 2**64 words have this probability, a multiple of 2**-64."""
    return int(probability * WORD)


def coins(probability: Fraction, count: int, entropy: Entropy) -> BoolArray:
    """Flip coins that are True with exactly this probability, a multiple of 2**-64.

    One byte decides, unless it equals the first byte of the threshold. Then 56 more bits decide.
    """
    most = threshold(probability)
    if most == 1 << 64:
        return np.ones(count, np.bool_)
    first = np.uint8(most >> 56)
    u = words(count, np.uint8, entropy)
    fallen = u < first
    if tail := most & TAIL:
        ties = np.flatnonzero(u == first)
        fallen[ties] = (words(len(ties), np.uint64, entropy) >> np.uint64(8)) < np.uint64(tail)
    return fallen


def pick_or_keep(
    values: IntArray | ReportArray,
    categories: int,
    lie: Fraction,
    out: NDArray[Any],
    entropy: Entropy,
) -> None:
    """Write to out, for each person, each of `categories` values with probability `lie`.

    Otherwise write the person's own value. With lie = m / 2**64, word w selects the value ⌊w / m⌋
    if there is such a value, and the person's own value otherwise: one word and one division.
    """
    share, first_true = np.uint64(threshold(lie)), np.uint64(categories)
    named = np.empty(min(PIECE, len(values)), np.uint64)
    for start in range(0, len(values), PIECE):
        piece = values[start : start + PIECE]
        chosen = named[: len(piece)]
        np.floor_divide(words(len(piece), np.uint64, entropy), share, out=chosen)
        is_true = chosen >= first_true
        target = out[start : start + PIECE]
        target[...] = chosen
        np.copyto(target, piece, where=is_true, casting="unsafe")


def random_bits(
    count: int, bits: int, dtype: np.dtype[np.unsignedinteger[Any]], entropy: Entropy
) -> ReportArray:
    """Draw uniform integers of `bits` bits."""
    drawn: ReportArray = words(count, dtype.type, entropy) & dtype.type((1 << bits) - 1)
    return drawn
