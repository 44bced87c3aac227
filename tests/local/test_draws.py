"""Probabilities in 64 bits, coins by bytes, responses by words, random bits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.local.draws import (
    WORD,
    coins,
    epsilon_up,
    exp_down,
    pick_or_keep,
    probability_down,
    probability_up,
    random_bits,
    threshold,
)
from discreet.local.mechanism import is_within
from discreet.noise import SYSTEM
from tests.local.certify import keeps
from tests.statistics import FALSE_ALARM, counts_misfit, share_misfit

probabilities = st.fractions(min_value=0, max_value=1)


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=30))
def test_rounded_powers_of_e_are_below_the_exact_ones_by_a_hair(epsilon: Fraction) -> None:
    ratio = exp_down(epsilon)
    assert is_within(ratio, epsilon)
    assert not is_within(ratio * (1 + Fraction(1, 1 << 200)), epsilon)


@given(probabilities)
def test_probabilities_are_rounded_to_the_next_words(probability: Fraction) -> None:
    low, high = probability_down(probability), probability_up(probability)
    assert low <= probability <= high
    assert threshold(high) - threshold(low) == (0 if probability * WORD % 1 == 0 else 1)


@given(st.fractions(min_value=1, max_value=10**6))
def test_prices_are_rounded_up_by_less_than_two_steps(odds: Fraction) -> None:
    found = epsilon_up(odds)
    assert keeps(odds, found)
    assert found < 3 * Fraction(1, 1 << 40) or not keeps(odds, found - Fraction(3, 1 << 40))


DRAWS = 4_000_000


@pytest.mark.parametrize("chance", [Fraction(0), Fraction(1)])
def test_certain_coins_fall_as_they_must(chance: Fraction) -> None:
    assert np.all(coins(chance, 1000, SYSTEM) == bool(chance))


@pytest.mark.parametrize(
    ("chance", "claimed", "fits"),
    [
        (Fraction(255, 512), Fraction(255, 512), True),
        (Fraction(255, 512), Fraction(1, 2), False),
        (Fraction(1, 512), Fraction(1, 512), True),
        (Fraction(1, 512), Fraction(1, 256), False),
        (probability_up(Fraction(1, 3)), Fraction(1, 3), True),
    ],
)
def test_coins_have_the_stated_chance(chance: Fraction, claimed: Fraction, *, fits: bool) -> None:
    """A fresh seed cries wolf three times in 10^6; twins leave out all but the first byte."""
    hits = int(np.count_nonzero(coins(chance, DRAWS, SYSTEM)))
    assert (share_misfit(hits, DRAWS, float(claimed)) > FALSE_ALARM) is fits


class Words:
    """Entropy that hands out the words it was given."""

    def __init__(self, *words: int) -> None:
        self._words = words

    def draw(self, count: int) -> bytes:
        assert count == 8 * len(self._words)
        return np.array(self._words, np.uint64).tobytes()


def test_each_lie_stands_for_exactly_its_share_of_words() -> None:
    share = WORD // 10
    ends = Words(0, share - 1, share, 3 * share - 1, 3 * share, WORD - 1)
    out = np.zeros(6, np.uint8)
    pick_or_keep(np.full(6, 9), 3, Fraction(share, WORD), out, ends)
    assert out.tolist() == [0, 0, 1, 2, 9, 9]


def test_a_byte_that_equals_the_threshold_is_decided_by_the_bits_after_it() -> None:
    class Ties:
        def draw(self, count: int) -> bytes:
            if count == 3:
                return bytes([0x7F, 0x80, 0x81])
            assert count == 8
            return (0x12 << 8).to_bytes(8, "little")

    assert coins(Fraction((0x80 << 56) + 0x13, WORD), 3, Ties()).tolist() == [True, True, False]
    assert coins(Fraction((0x80 << 56) + 0x12, WORD), 3, Ties()).tolist() == [True, False, False]


@pytest.mark.parametrize(("bits", "fits"), [(3, True), (4, False)])
def test_random_bits_are_uniform(bits: int, *, fits: bool) -> None:
    """A fresh seed cries wolf once in 10^6; the second row has a bit that is never set."""
    drawn = random_bits(10_000, 3, np.dtype(np.uint8), SYSTEM)
    counts = np.bincount(drawn, minlength=1 << bits)
    assert (counts_misfit(counts, [2.0**-bits] * (1 << bits)) > FALSE_ALARM) is fits
