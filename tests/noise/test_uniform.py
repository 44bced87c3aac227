"""Uniform integers, orders and reals."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from discreet.noise import Entropy, permutation, uniform_integers
from discreet.noise.enclosures import ratio
from discreet.noise.uniform import LazyUniform
from tests.noise.entropies import ChosenEntropy
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, counts_misfit, curve_misfit


@pytest.mark.parametrize("below", [2, 3, 15, 1000, 1 << 16, (1 << 16) + 1])
def test_integers_are_uniform(below: int) -> None:
    """A fresh seed cries wolf once in 10^6."""
    drawn = uniform_integers(below, 700_000, entropy=ReplayableEntropy(seed=61))
    assert counts_misfit(np.bincount(drawn, minlength=below), [1 / below] * below) > FALSE_ALARM


def test_the_remainder_of_a_byte_is_caught() -> None:
    """The broken twin of the test above: 256 is no multiple of 200."""
    drawn = np.frombuffer(ReplayableEntropy(seed=62).draw(700_000), np.uint8) % 200
    assert counts_misfit(np.bincount(drawn), [1 / 200] * 200) < FALSE_ALARM


@pytest.mark.parametrize("below", [3 << 30, 3 << 61, (1 << 63) // 3, 1 << 63])
def test_integers_below_a_huge_bound_are_uniform(below: int) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin has a bound 1 % too large."""
    drawn = uniform_integers(below, 200_000, entropy=ReplayableEntropy(seed=63))
    assert drawn.min() >= 0
    assert int(drawn.max()) < below
    assert curve_misfit(drawn / below, lambda x: x) > FALSE_ALARM
    assert curve_misfit(drawn / below, lambda x: np.minimum(1, 1.01 * x)) < FALSE_ALARM


@pytest.mark.parametrize("below", [1, 3, 7])
def test_single_integers_are_uniform(below: int) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin never gives the last value."""
    entropy = ReplayableEntropy(seed=64)
    drawn = [uniform_integers(below, entropy=entropy) for _ in range(20_000)]
    if below == 1:
        assert set(drawn) == {0}
        return
    counts = np.bincount(drawn, minlength=below)
    assert counts_misfit(counts, [1 / below] * below) > FALSE_ALARM
    shifted = np.bincount(np.array(drawn) % (below - 1), minlength=below)
    assert counts_misfit(shifted, [1 / below] * below) < FALSE_ALARM


def test_words_beyond_the_last_whole_share_are_drawn_again() -> None:
    """2^32 is 1 more than a multiple of 3: the largest word belongs to no value."""
    entropy = ChosenEntropy(b"\xff" * 4 + b"\x00" * 4, b"\xff" * 4, b"\x00" * 4)
    assert uniform_integers(3, 2, entropy=entropy).tolist() == [0, 0]


def test_orders_of_four_are_uniform() -> None:
    """A fresh seed cries wolf once in 10^6."""
    entropy = ReplayableEntropy(seed=65)
    drawn = [tuple(permutation(4, entropy=entropy).tolist()) for _ in range(20_000)]
    assert counts_misfit(_order_counts(drawn), [1 / 24] * 24) > FALSE_ALARM


def test_an_order_by_careless_swaps_is_caught() -> None:
    """The broken twin of the test above: every place swapped with any place."""
    entropy = ReplayableEntropy(seed=66)
    drawn = [_careless_order(entropy) for _ in range(20_000)]
    assert counts_misfit(_order_counts(drawn), [1 / 24] * 24) < FALSE_ALARM


def _careless_order(entropy: Entropy) -> tuple[int, ...]:
    order = [0, 1, 2, 3]
    for i in range(4):
        j = uniform_integers(4, entropy=entropy)
        order[i], order[j] = order[j], order[i]
    return tuple(order)


def _order_counts(drawn: list[tuple[int, ...]]) -> list[int]:
    return [drawn.count(order) for order in permutations(range(4))]


def test_equal_keys_are_drawn_anew() -> None:
    distinct = np.array([3, 1, 2], np.uint64).tobytes()
    order = permutation(3, entropy=ChosenEntropy(bytes(24), distinct))
    assert order.tolist() == [1, 2, 0]


@pytest.mark.parametrize("size", [0, 1, 2, 1000])
def test_an_order_holds_each_place_once(size: int) -> None:
    assert sorted(permutation(size).tolist()) == list(range(size))


def test_a_lazy_uniform_reads_bits_only_while_a_question_is_open() -> None:
    u = LazyUniform(ChosenEntropy(b"\x80" + bytes(7), bytes(8)))
    assert not u.is_below(ratio(Fraction(0)))
    assert u.is_below(ratio(Fraction(1)))
    assert u.bits == 0
    assert u.is_below(ratio(Fraction(3, 4)))
    assert u.bits == 64
    assert not u.is_below(ratio(Fraction(1, 2)))
    assert u.bits == 64
    assert not u.is_below(ratio(Fraction(1, 3)))
    assert u.is_below(ratio(Fraction(1, 2) + Fraction(1, 1 << 70)))
    assert u.bits == 128


def test_every_question_to_one_lazy_uniform_is_answered_alike() -> None:
    """U < p and U < p' with p < p' never contradict each other, in either order."""
    for seed in range(300):
        u = LazyUniform(ReplayableEntropy(seed), seed % 4, 2)
        answers = [u.is_below(ratio(Fraction(i, 37))) for i in range(38)]
        assert answers == sorted(answers)
        assert answers == [u.is_below(ratio(Fraction(i, 37))) for i in range(38)]
