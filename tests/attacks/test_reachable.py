"""Which outputs floats can give: against all words of short floats, and words of long ones."""

from collections import Counter
from fractions import Fraction
from math import exp, log, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from discreet.attacks.floating_point import FloatNoise
from discreet.mechanisms import Geometric, Laplace
from discreet.noise import bernoulli, uniform_integers
from discreet.noise.uniform import FloatArray
from tests.statistics import FALSE_ALARM

DRAWS = 10_000

words = st.integers(1, 1 << 53)
answers = st.sampled_from([0.0, 1.0])
signs = st.sampled_from([-1.0, 1.0])
scales = st.fractions(min_value=Fraction(1, 4), max_value=1000).map(float)


@given(words, signs, answers, scales)
def test_what_the_noise_gives_is_reached(
    word: int, sign: float, answer: float, scale: float
) -> None:
    output = answer + sign * scale * log(word * 2.0**-53)
    assert FloatNoise(scale=scale).ways(np.array([output]), answer)[0] >= 1


@given(words, answers, scales)
def test_what_numpy_gives_is_reached(word: int, answer: float, scale: float) -> None:
    """Its generators turn a float U below 1 into noise in this way."""
    u = (word - 1) * 2.0**-53
    drawn = -scale * log((2.0 - u) - u) if u >= 0.5 else scale * log(2 * u or 1.0)
    output = answer + drawn
    noise = FloatNoise(scale=scale, bits=(52, 53))
    assert noise.ways(np.array([output]), answer)[0] >= 1


@pytest.mark.parametrize("answer", [0.0, 1.0])
def test_of_short_floats_all_words_are_found(answer: float) -> None:
    bits, scale = 10, 2.5
    found = Counter(
        answer + sign * (scale * log(word / 2**bits))
        for word in range(1, 1 << bits)
        for sign in (-1.0, 1.0)
    )
    outputs = np.array(list(found))
    ways = FloatNoise(scale=scale, bits=(bits, bits)).ways(outputs, answer)
    assert ways.tolist() == list(found.values())


def test_few_floats_are_reached() -> None:
    """Between 2 and 4 floats are 2^-51 apart, and near 3 noise of scale 1 is e^3 2^-53 apart."""
    near = [3.0]
    for _ in range(1000):
        near.append(nextafter(near[-1], 4.0))
    reached = FloatNoise(scale=1.0).ways(np.array(near), 0.0) > 0
    assert reached.mean() == pytest.approx(4 * exp(-3), abs=0.03)


def right_guesses(outputs: FloatArray, exact: FloatArray, scale: float) -> int:
    odds = FloatNoise(scale=scale).log_odds(outputs, 1.0, 0.0)
    return int(((odds > 0) == (exact == 1)).sum())


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_exact_noise_gives_its_last_bits_away_as_little_as_the_rest(epsilon: float) -> None:
    """Guesses are right with chance e^epsilon / (1 + e^epsilon) at most: false alarm 1 in 10^6.

    Noise of floats that claims as much is caught.
    """
    exact = bernoulli(0.5, DRAWS).astype(float)
    allowed, scale = exp(epsilon) / (1 + exp(epsilon)), 1 / epsilon
    real = Laplace(epsilon=epsilon, sensitivity=1, answers=DRAWS).release(exact)
    whole = Geometric(epsilon=epsilon, sensitivity=1).release(exact.astype(np.int64))
    floats = exact + [
        (2 * int(sign) - 1) * scale * log((int(word) + 1) * 2.0**-53)
        for word, sign in zip(uniform_integers(1 << 53, DRAWS), bernoulli(0.5, DRAWS), strict=True)
    ]
    for outputs, is_caught in ((real, False), (whole, False), (floats, True)):
        right = right_guesses(np.asarray(outputs, float), exact, scale)
        assert bool(binom.sf(right - 1, DRAWS, allowed) < FALSE_ALARM) is is_caught
