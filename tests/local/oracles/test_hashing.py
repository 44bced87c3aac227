"""Local hashing: how often two values share a hash, and two ways of counting."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.local import LocalHashing
from discreet.local.base import mean_variance
from discreet.local.odds import chance_up, odds_down
from discreet.local.oracles import hashing
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
        lie = chance_up(1 / (odds_down(mechanism.epsilon) + g - 1))
        return mean_variance(1 - (g - 1) * lie, Fraction(1, g), 1000)

    taken = mean_variance(mechanism.own, mechanism.other, 1000)
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
