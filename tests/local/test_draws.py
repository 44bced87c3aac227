"""Coins by bytes, responses by words, random bits."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.local.draws import coins, pick_or_keep, random_bits
from discreet.local.odds import WORD, chance_up
from discreet.noise import SYSTEM
from tests.statistics import FALSE_ALARM, counts_misfit, share_misfit

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
        (chance_up(Fraction(1, 3)), Fraction(1, 3), True),
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
