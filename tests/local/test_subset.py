"""Subset selection: sizes, and sets that are uniform for any coins."""

from itertools import combinations

import numpy as np
import pytest

from discreet.local import SubsetSelection, subset
from discreet.local.draws import exp_down, probability_down
from discreet.local.mechanism import mean_variance
from discreet.noise import SYSTEM, Entropy, uniform_integers
from discreet.noise.uniform import IntArray
from tests.statistics import FALSE_ALARM, counts_misfit

DRAWS = 30_000


@pytest.mark.parametrize("epsilon", [0.1, 1, 3, 10])
@pytest.mark.parametrize("categories", [2, 7, 40])
def test_no_other_size_has_less_variance(epsilon: float, categories: int) -> None:
    mechanism = SubsetSelection(epsilon=epsilon, categories=categories)
    odds = exp_down(mechanism.epsilon)
    variances = {}
    for size in range(1, categories):
        own = probability_down(size * odds / (size * odds + categories - size))
        variances[size] = mean_variance(own, (size - own) / (categories - 1), categories)
    assert variances[mechanism.size] == min(variances.values())


@pytest.mark.parametrize(("is_broken", "fits"), [(False, True), (True, False)])
def test_sets_are_uniform_whatever_the_coins(
    *, is_broken: bool, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh seed cries wolf once in 10^6; the twin prefers the first places."""
    if is_broken:
        monkeypatch.setattr(subset, "uniform_integers", _low_places)
    values = np.full(DRAWS, 2)
    sets = subset.uniform_sets(values, 7, np.full(DRAWS, 3), SYSTEM)
    place = {str(list(each)): i for i, each in enumerate(combinations([0, 1, 3, 4, 5, 6], 3))}
    found = [place[str(np.flatnonzero(each).tolist())] for each in sets]
    counts = np.bincount(found, minlength=len(place))
    assert (counts_misfit(counts, [1 / len(place)] * len(place)) > FALSE_ALARM) is fits


def _low_places(below: int, size: int, *, entropy: Entropy) -> IntArray:
    one, other = (uniform_integers(below, size, entropy=entropy) for _ in range(2))
    return np.minimum(one, other)


def test_large_sets_have_their_size() -> None:
    mechanism = SubsetSelection(epsilon=1, categories=1001)
    rows = mechanism.draw(np.arange(1001), SYSTEM)
    assert mechanism.are_valid(rows)
    assert mechanism.size == 269
