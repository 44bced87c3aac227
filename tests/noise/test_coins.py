"""Coins and responses: each falls as often as it claims, however few bits decide it."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from discreet.noise import SYSTEM, bernoulli, bernoulli_exp, coins, responses
from discreet.noise.uniform import IntArray
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, coins_misfit, counts_misfit, share_misfit

PROBABILITIES = [
    (Fraction(1, 3), 1.01),
    (Fraction(1, 2), 1.01),
    (Fraction(255, 256), 0.999),
    (Fraction(999, 1000), 0.999),
    (Fraction(1, 10**4), 1.5),
]
"""A probability, and by how much the broken twin misstates it."""


@pytest.mark.parametrize(("probability", "off"), PROBABILITIES, ids=str)
def test_coins_fall_true_as_often_as_they_claim(probability: Fraction, off: float) -> None:
    """A fresh seed cries wolf once in 10^6."""
    tosses = 2_000_000
    heads = int(bernoulli(probability, tosses, entropy=ReplayableEntropy(seed=51)).sum())
    assert share_misfit(heads, tosses, float(probability)) > FALSE_ALARM
    assert share_misfit(heads, tosses, off * float(probability)) < FALSE_ALARM


@pytest.mark.parametrize("probability", [Fraction(1, 3), Fraction(7, 11)], ids=str)
def test_single_coins_fall_true_as_often_as_they_claim(probability: Fraction) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin is off by 10 %."""
    entropy, tosses = ReplayableEntropy(seed=52), 30_000
    heads = sum(bernoulli(probability, entropy=entropy) for _ in range(tosses))
    assert share_misfit(heads, tosses, float(probability)) > FALSE_ALARM
    assert share_misfit(heads, tosses, 1.1 * float(probability)) < FALSE_ALARM


@pytest.mark.parametrize("certain", [0, 1])
def test_a_certain_coin_has_one_side(certain: int) -> None:
    assert bernoulli(certain) is bool(certain)
    assert set(bernoulli(certain, 1000).tolist()) == {bool(certain)}


def test_a_byte_that_ties_is_settled_by_more_bits() -> None:
    """A probability below 2^-32 leaves byte 0 and most of its 32 bits more undecided."""
    rare = Fraction(1, 1 << 39)
    assert bernoulli(rare, 8, entropy=_Zeros()).all()
    assert not bernoulli(rare, 100_000, entropy=ReplayableEntropy(seed=53)).any()


class _Zeros:
    def draw(self, count: int) -> bytes:
        return bytes(count)


@pytest.mark.parametrize("forced", [False, True], ids=["floats", "brackets"])
def test_exponential_coins_fall_true_as_often_as_they_claim(
    forced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin claims a rate off by 10 %."""
    if forced:
        monkeypatch.setattr(coins, "TOLERANCE", 2.0)
    tosses = 300 if forced else 5_000
    exponents = np.arange(1, 101, dtype=np.int64)
    tossed = bernoulli_exp(
        np.tile(exponents, tosses), Fraction(1, 40), entropy=ReplayableEntropy(seed=54)
    )
    heads: IntArray = tossed.reshape(tosses, -1).sum(axis=0)
    assert coins_misfit(heads, tosses, np.exp(-exponents / 40)) > FALSE_ALARM
    assert coins_misfit(heads, tosses, np.exp(-exponents / 36)) < FALSE_ALARM


def test_the_exponent_zero_always_falls_true() -> None:
    assert bernoulli_exp(np.zeros(100_000, np.int64), 3).all()
    assert bernoulli_exp(np.arange(100_000), 0).all()


def test_rates_that_no_float_holds_are_served() -> None:
    exponents = np.array([0, 1, 1 << 62])
    steep = bernoulli_exp(exponents, Fraction(10**400))
    flat = bernoulli_exp(exponents, Fraction(1, 10**400))
    assert steep.tolist() == [True, False, False]
    assert flat.all()
    assert bernoulli_exp(exponents, 1e300).tolist() == [True, False, False]


@pytest.mark.parametrize("categories", [2, 4])
def test_responses_keep_and_spread_as_they_claim(categories: int) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin claims epsilon = 1.05 for 1."""
    times = 600_000 // categories
    values = np.tile(np.arange(categories), times)
    given = responses(values, categories, 1, entropy=ReplayableEntropy(seed=55))
    for value in range(categories):
        counts = np.bincount(given[values == value], minlength=categories)
        assert counts_misfit(counts, _response_law(value, categories, 1)) > FALSE_ALARM
        assert counts_misfit(counts, _response_law(value, categories, 1.05)) < FALSE_ALARM


def _response_law(value: int, categories: int, epsilon: float) -> list[float]:
    kept = exp(epsilon) / (exp(epsilon) + categories - 1)
    return [kept if i == value else (1 - kept) / (categories - 1) for i in range(categories)]


def test_no_epsilon_leaves_no_trace_of_the_value() -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin keeps with probability 0.26."""
    given = responses(np.zeros(400_000, np.int64), 4, 0, entropy=ReplayableEntropy(seed=56))
    counts = np.bincount(given, minlength=4)
    assert counts_misfit(counts, [0.25] * 4) > FALSE_ALARM
    assert counts_misfit(counts, [0.26, *[0.74 / 3] * 3]) < FALSE_ALARM


def test_a_great_epsilon_keeps_every_value() -> None:
    values = np.arange(1000)
    assert np.array_equal(responses(values, 1000, 10**6), values)


def test_responses_among_astronomically_many_categories_are_in_range() -> None:
    values = np.full(1000, (1 << 62) - 1)
    given = responses(values, 1 << 62, 43, entropy=ReplayableEntropy(seed=57))
    assert given.min() >= 0
    assert given.max() < 1 << 62
    kept = np.count_nonzero(given == values)
    assert share_misfit(int(kept), 1000, exp(43) / (exp(43) + (1 << 62) - 1)) > FALSE_ALARM


@pytest.mark.slow
def test_ten_million_fresh_coins_fall_true_as_often_as_they_claim() -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin is off by 0.5 %."""
    heads = int(bernoulli(Fraction(1, 3), 10_000_000, entropy=SYSTEM).sum())
    assert share_misfit(heads, 10_000_000, 1 / 3) > FALSE_ALARM
    assert share_misfit(heads, 10_000_000, 1.005 / 3) < FALSE_ALARM
