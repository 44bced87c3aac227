"""Local hashing: how often two values share a hash, two ways of counting, the fast transform."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.local import LocalHashing, hashing
from discreet.local.draws import exp_down, probability_up
from discreet.local.hashing import parities, transformed
from discreet.local.mechanism import mean_variance
from discreet.noise import SYSTEM


@pytest.mark.parametrize(("epsilon", "categories"), [(0.1, 9), (1, 16), (2, 11), (3, 13)])
def test_exactly_one_in_g_functions_maps_two_values_to_one_hash(
    epsilon: float, categories: int
) -> None:
    mechanism = LocalHashing(epsilon=epsilon, categories=categories)
    seeds = np.arange(1 << mechanism.seed_bits).astype(np.uint32)[:, np.newaxis]
    values = np.arange(categories).astype(np.uint32)
    found = mechanism.hashes(seeds, values)
    assert found.max() < 1 << mechanism.hash_bits
    for one in range(categories):
        for other in range(one):
            shared = int(np.count_nonzero(found[:, one] == found[:, other]))
            assert shared << mechanism.hash_bits == len(seeds)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 4])
def test_no_other_power_of_two_has_less_variance(epsilon: float) -> None:
    """The cost of powers of two: at most 6 % more variance than g near e^epsilon + 1 has."""
    mechanism = LocalHashing(epsilon=epsilon, categories=1000)

    def variance(g: int) -> Fraction:
        lie = probability_up(1 / (exp_down(mechanism.epsilon) + g - 1))
        return mean_variance(1 - (g - 1) * lie, Fraction(1, g), 1000)

    taken = mean_variance(mechanism.p, mechanism.q, 1000)
    assert taken == min(variance(1 << t) for t in range(1, 9))
    assert taken <= min(variance(g) for g in range(2, 200)) * Fraction(106, 100)


@pytest.mark.parametrize("epsilon", [1, 3])
def test_counting_by_kinds_is_counting_one_by_one(
    epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = LocalHashing(epsilon=epsilon, categories=20)
    rows = mechanism.draw(np.arange(30_000) % 20, SYSTEM)
    by_kinds = mechanism.tally(rows)
    monkeypatch.setattr(hashing, "COUNTED_BITS", 0)
    assert np.array_equal(mechanism.tally(rows), by_kinds)


@pytest.mark.parametrize("bits", [0, 1, 3, 6])
def test_the_fast_transform_is_the_slow_one(bits: int) -> None:
    size = 1 << bits
    counts = np.arange(size) ** 2 % 17
    places = np.arange(size)
    signs = 1 - 2 * (np.bitwise_count(places[:, np.newaxis] & places) % 2).astype(np.int64)
    before = counts.copy()
    assert np.array_equal(transformed(counts), signs @ counts)
    assert np.array_equal(counts, before)
    assert np.array_equal(transformed(transformed(counts)), counts * size)


def test_parities_are_of_set_bits() -> None:
    assert parities(np.array([0, 1, 2, 3, 7, 255], np.uint8)).tolist() == [0, 1, 1, 0, 1, 0]
